# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A smaller program with the same loops, for programs too large to be run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from spyre_mlir import ir
from spyre_mlir.checking.report import Scaling
from spyre_mlir.checking.stages import Compiled, Options, compile_in_stages
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.sdsc.model import Bundle, Loop, Sdsc

ELEMENTS_MAX = 1 << 20
"""Elements of all tensors in a program above which its values are checked on a smaller one."""

KEPT = 16
"""Extents up to this one stay as they are."""

LIMITS = 64
"""Most span limits that are tried."""

SHAPE = re.compile(r"tensor<((?:\d+x)+)")


@dataclass(frozen=True, slots=True)
class Scaled:
    """A smaller program, compiled, and in what it differs."""

    compiled: Compiled
    options: Options
    scaling: Scaling


def elements_of(module: ir.Operation) -> int:
    """Elements of the tensors in a program's text, each mention counted: a bound of its size."""
    return sum(prod(shape) for shape in _shapes(str(module)))


def _shapes(text: str) -> Iterator[tuple[int, ...]]:
    for found in SHAPE.finditer(text):
        yield tuple(int(extent) for extent in found.group(1).split("x")[:-1])


def scaled(module: ir.Operation, full: Compiled, options: Options) -> Scaled | None:
    """A program of at most `ELEMENTS_MAX` elements with smaller extents, under a smaller limit, whose
    operations stand in the same loops with the same remainders if such a limit is found; None if the
    program does not survive other extents."""
    text, structure = str(module), structure_of(full.bundle.model)
    extents = sorted({e for shape in _shapes(text) for e in shape if e > KEPT})
    best: Scaled | None = None
    for rows, sticks in product((13, 12, 7, 5, 3), (2, 3, 1)):
        smaller = {extent: _smaller(extent, rows, sticks) for extent in extents}
        try:
            small = ir.Module.parse(_with(text, smaller)).operation
        except (ir.MLIRError, ValueError):
            continue
        if elements_of(small) > ELEMENTS_MAX:
            continue
        found = _compiled(small, structure, options)
        if found is not None:
            compiled, chosen, same = found
            changed = {old: new for old, new in smaller.items() if old != new}
            what = Scaling(changed, chosen.span_limit, same, elements_of(small))
            best = Scaled(compiled, chosen, what) if best is None or same else best
            if same:
                break
    return best


def _smaller(extent: int, rows: int, sticks: int) -> int:
    """Whole sticks stay whole, fewer of them. What ends within one may be rows or lanes: large ones become few rows."""
    if extent % 64 == 0:
        return min(extent, 64 * sticks)
    if extent % 32 == 0:
        return min(extent, 32 * sticks)
    return min(extent, rows) if extent > 1024 else min(extent, 64 + extent % 64)


def _with(text: str, extents: dict[int, int]) -> str:
    def shape(found: re.Match[str]) -> str:
        own = [int(extent) for extent in found.group(1).split("x")[:-1]]
        return "tensor<" + "".join(f"{extents.get(e, e)}x" for e in own)

    return SHAPE.sub(shape, text)


def structure_of(bundle: Bundle) -> tuple[object, ...]:
    """Which functions stand in which loops, without trip counts."""

    def body(nodes: tuple[Sdsc | Loop, ...]) -> tuple[object, ...]:
        return tuple(
            ("loop", body(node.body)) if isinstance(node, Loop) else node.function for node in nodes
        )

    return body(bundle.body)


def _compiled(
    module: ir.Operation, structure: tuple[object, ...], options: Options
) -> tuple[Compiled, Options, bool] | None:
    """The program under the largest limit that gives it the structure; else under the smallest one
    under which it compiles at all."""
    largest = STICK_BYTES * max(prod(shape) for shape in _shapes(str(module)))
    last: tuple[Compiled, Options, bool] | None = None
    limit, tried = min(options.span_limit, largest), 0
    while limit >= STICK_BYTES and tried < LIMITS:
        tried += 1
        chosen = replace(options, span_limit=limit)
        try:
            compiled = compile_in_stages(module, chosen)
        except (Refusal, ir.MLIRError):
            limit = limit * 3 // 4 // STICK_BYTES * STICK_BYTES
            continue
        same = structure_of(compiled.bundle.model) == structure
        last = (compiled, chosen, same)
        if same:
            return last
        limit = limit * 3 // 4 // STICK_BYTES * STICK_BYTES
    return last
