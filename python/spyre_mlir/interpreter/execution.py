# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a function of a module on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import arithmetic, buffers, control
from spyre_mlir.interpreter.cells import (
    Array,
    Bound,
    Cells,
    Mask,
    dtype_of,
    first_cell,
    garbage,
    outside_of,
)
from spyre_mlir.interpreter.machine import SCALARS, Frame, Handler, Machine, scalar
from spyre_mlir.interpreter.program import Function, TensorKind, read_module

HANDLERS: dict[str, Handler] = {
    **arithmetic.HANDLERS,
    **buffers.HANDLERS,
    **control.HANDLERS,
}
"""Upstream operation name -> what it does."""


@dataclass(frozen=True, slots=True)
class Output:
    """One result: its cells, and its type with the symbols bound."""

    values: Array
    poison: Mask | None
    bound: Bound

    @property
    def valid(self) -> Array:
        """The cells of the valid box."""
        return self.values[self.bound.region]


def run(
    module: ir.Module | str,
    arrays: Sequence[Any],
    *,
    symbols: Mapping[str, int] | None = None,
    function: str | None = None,
    steps: int | None = None,
) -> tuple[Any, ...]:
    """Runs a function and returns its results: arrays of the valid cells, and scalars.

    `module` is a module or its text. `arrays` are the arguments in order, without the `index`
    arguments that introduce a symbol of `symbols`. An array has the element type's numpy type
    (`DTYPES`) and the shape of its tensor or of the valid box. `function` is the one to run, by
    default the only public one, or `main`. `steps`: operations that may run (None: any number).

    Raises `Refusal` SPY130 to SPY139 where the program has no meaning on these inputs, SPY147 where
    it takes more steps or its calls nest too deep, and `mlir.ir.MLIRError` for text that does not
    parse."""
    outputs = execute(module, arrays, symbols=symbols, function=function, steps=steps)
    return tuple(o.valid if isinstance(o, Output) else o for o in outputs)


def execute(
    module: ir.Module | ir.Operation | str,
    arrays: Sequence[Any],
    *,
    symbols: Mapping[str, int] | None = None,
    function: str | None = None,
    steps: int | None = None,
) -> tuple[Any, ...]:
    """As `run`, but tensors come back whole, as `Output`."""
    if isinstance(module, str):
        with ir.Context():
            module = ir.Module.parse(module)
    functions = read_module(module)
    chosen = choose(functions, function)
    arguments = bind_arguments(chosen, arrays, symbols or {})
    machine = Machine(functions, HANDLERS, steps=steps)
    try:
        results, frame = machine.call(chosen.name, arguments, [None] * len(arguments))
    except RecursionError:
        raise Refusal("SPY147", "calls and regions nest too deep") from None
    return tuple(_output(chosen, frame, number, value) for number, value in enumerate(results))


def choose(functions: Mapping[str, Function], name: str | None) -> Function:
    """The function called `name`; without a name the only public one, or `main`."""
    if name is not None:
        if name in functions:
            return functions[name]
        raise Refusal(
            "SPY137", f"there is no function @{name} with a body", notes=(_names(functions),)
        )
    public = [f for f in functions.values() if f.public]
    if len(public) == 1:
        return public[0]
    if "main" in functions:
        return functions["main"]
    raise Refusal(
        "SPY137",
        f"{len(public)} public functions could be run",
        notes=(_names(functions),),
        remedy="name one",
    )


def _names(functions: Mapping[str, Function]) -> str:
    return "functions: " + (", ".join(f"@{name}" for name in functions) or "none")


def bind_arguments(
    function: Function, arrays: Sequence[Any], symbols: Mapping[str, int]
) -> list[Any]:
    """The arguments of `function` as cells and scalars.

    Raises `Refusal` SPY134 for symbols without a value, SPY135 for arrays that do not fit."""
    named = {symbol.argument: symbol for symbol in function.symbols}
    unknown = [name for name in symbols if name not in {s.name for s in function.symbols}]
    if unknown:
        raise Refusal("SPY134", f"@{function.name} has no argument for the symbol {unknown[0]}")
    kinds = function.body.kinds
    left = [i for i in range(len(kinds)) if i not in named or named[i].name not in symbols]
    if len(arrays) != len(left):
        raise Refusal(
            "SPY135",
            f"@{function.name} takes {len(left)} arrays besides the given symbols, got"
            f" {len(arrays)}",
            notes=tuple(
                f"symbol {s.name} has no value" for s in function.symbols if s.name not in symbols
            ),
        )
    given = dict(zip(left, arrays, strict=True))
    for number, symbol in named.items():
        given.setdefault(number, symbols.get(symbol.name))
    frame = Frame([])
    for number, symbol in named.items():
        frame.introduce(symbol.name, int(given[number]), symbol.range)
    return [_argument(function, frame, number, given[number]) for number in range(len(kinds))]


def _argument(function: Function, frame: Frame, number: int, value: Any) -> Any:
    kind = function.body.kinds[number]
    if isinstance(kind, TensorKind):
        return _tensor(f"argument {number} of @{function.name}", kind, frame, value)
    if kind not in SCALARS:
        raise Refusal("SPY135", f"argument {number} of @{function.name} has the type {kind}")
    if np.ndim(value) != 0:
        raise Refusal("SPY135", f"argument {number} of @{function.name} is a scalar, got an array")
    return scalar(value, kind)


def _tensor(what: str, kind: TensorKind, frame: Frame, value: Any) -> Cells:
    array = np.asarray(value)
    dtype = dtype_of(kind.element)
    if array.dtype.kind == "V" and array.dtype != dtype and array.dtype.itemsize == dtype.itemsize:
        # How numpy reads back what it saved of a type that it does not know.
        array = array.view(dtype)
    if array.dtype != dtype:
        raise Refusal("SPY135", f"{what} has elements of {kind.element}, the array {array.dtype}")
    bound = frame.bind(kind, array.shape)
    if array.shape == bound.shape:
        beyond = outside_of(bound)
        if beyond is None:
            return Cells(array)
        values = array.copy()
        values[beyond] = garbage(kind.element)
        return Cells(values, beyond)
    if array.shape != bound.box:
        raise Refusal(
            "SPY135",
            f"{what} has shape {list(bound.shape)} and valid extents {list(bound.box)}, the array"
            f" has shape {list(array.shape)}",
        )
    values = np.full(bound.shape, garbage(kind.element))
    values[bound.region] = array
    return Cells(values, outside_of(bound))


def _output(function: Function, frame: Frame, number: int, value: Any) -> Any:
    kind = function.results[number]
    if not isinstance(kind, TensorKind):
        return value
    bound = frame.bind(kind, value.values.shape)
    if value.poison is not None and value.poison[bound.region].any():
        cell = list(first_cell(value.poison[bound.region]))
        raise Refusal(
            "SPY138", f"the valid cell {cell} of result {number} of @{function.name} has no data"
        )
    return Output(value.values, value.poison, bound)
