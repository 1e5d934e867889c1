# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation validation: a program must mean the same before and after a transformation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Array, is_float
from spyre_mlir.interpreter.execution import Output, execute
from spyre_mlir.interpreter.inputs import random_inputs
from spyre_mlir.interpreter.program import Function, TensorKind, read_module

TOLERANCES: dict[str, float] = {
    "f32": 2.0**-16,
    "f16": 2.0**-8,
    "bf16": 2.0**-5,
    "f8E4M3FN": 2.0**-2,
    "f8E5M2FNUZ": 2.0**-1,
}
"""Element type -> allowed difference, relative to the larger of 1 and the value: about four times
the step of the type (128 times for f32), which is what another order of summation and one rounding
more or less may do. Integers and i1 must be equal. NaN equals NaN, infinities their like."""

ELEMENTS_MAX = 1 << 24
"""Elements of all arguments and results above which a function is not run."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one function: `status` is "same", "differs" or "not run"; `detail` says why."""

    function: str
    status: str
    detail: str = ""


def difference(before: Any, after: Any, *, through: str | None = None) -> str | None:
    """How two results differ beyond the tolerance of their element type, None if they do not.

    `through`: floats were kept in this element type on the way, so its tolerance is the least."""
    if not isinstance(before, Output) or not isinstance(after, Output):
        same = type(before) is type(after) and bool(np.array_equal(before, after, equal_nan=True))
        return None if same else f"{before} before, {after} after"
    if before.bound.element != after.bound.element or before.valid.shape != after.valid.shape:
        return f"{_described(before)} before, {_described(after)} after"
    wrong = _wrong(before.valid, after.valid, before.bound.element, through)
    if not wrong.any():
        return None
    cell = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"cell {list(cell)} is {before.valid[cell]} before and {after.valid[cell]} after;"
        f" {int(wrong.sum())} of {wrong.size} cells differ"
    )


def _described(output: Output) -> str:
    return f"{list(output.valid.shape)} of {output.bound.element}"


def _wrong(a: Array, b: Array, element: str, through: str | None) -> Array:
    if not is_float(element):
        return np.asarray(a != b)
    tolerance = max(TOLERANCES[e] for e in (element, through) if e is not None)
    x, y = a.astype(np.float64), b.astype(np.float64)
    finite = x[np.isfinite(x)]
    size = np.sqrt(np.mean(finite**2)) if finite.size else 0.0
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= tolerance * np.maximum(max(1.0, size), np.abs(x))
    near &= np.isfinite(x) & np.isfinite(y)
    return np.asarray(~(near | (x == y) | (np.isnan(x) & np.isnan(y))))


def validate(before: ir.Module, after: ir.Module, *, seeds: Sequence[int] = (0,)) -> list[Verdict]:
    """Runs every public function of `before` in both modules on the same random inputs.

    A function that cannot be run before (its meaning depends on what no random input provides, it
    is too large, or the interpreter does not know an operation) is "not run"; one that ran before
    must run after."""
    old, new = read_module(before), read_module(after)
    verdicts = []
    for name, function in old.items():
        if function.public:
            verdicts.append(_validate(before, after, function, new.get(name), seeds))
    return verdicts


def _validate(
    before: ir.Module, after: ir.Module, old: Function, new: Function | None, seeds: Sequence[int]
) -> Verdict:
    name = old.name
    size = sum(_size(kind) for kind in (*old.body.kinds, *old.results))
    if size > ELEMENTS_MAX:
        return Verdict(name, "not run", f"{size} elements, more than {ELEMENTS_MAX}")
    for seed in seeds:
        try:
            symbols, arrays = random_inputs(old, seed=seed)
            wanted = execute(before, arrays, symbols=symbols, function=name)
        except Refusal as refusal:
            return Verdict(name, "not run", f"before: {refusal}")
        if new is None:
            return Verdict(name, "differs", "the function is gone")
        kept = {s.name: symbols[s.name] for s in new.symbols if s.name in symbols}
        try:
            got = execute(after, arrays, symbols=kept, function=name)
        except Refusal as refusal:
            return Verdict(name, "differs", f"after, seed {seed}: {refusal}")
        if len(wanted) != len(got):
            return Verdict(name, "differs", f"{len(wanted)} results before, {len(got)} after")
        for number, (x, y) in enumerate(zip(wanted, got, strict=True)):
            detail = difference(x, y)
            if detail is not None:
                return Verdict(name, "differs", f"seed {seed}, result {number}: {detail}")
    return Verdict(name, "same")


def _size(kind: Any) -> int:
    if not isinstance(kind, TensorKind):
        return 1
    return int(np.prod([extent or 1 for extent in kind.shape], dtype=np.int64))
