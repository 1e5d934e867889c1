# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the steps of a program on cells and scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.apply import perform
from spyre_mlir.interpreter.calls import Call
from spyre_mlir.interpreter.cells import Bound, Cells, dtype_of, outside_of
from spyre_mlir.interpreter.program import Block, Function, Kind, Step, TensorKind

Handler = Callable[["Machine", "Frame", Step, list[Any]], Sequence[Any]]
"""(machine, frame, step, operand values) -> result values."""

SCALARS = ("index", "i1", "i8", "i16", "i32", "i64", "ui8", "f16", "bf16", "f32", "f64")


@dataclass(slots=True)
class Frame:
    """One activation of a function: the values of its slots and of its symbols."""

    values: list[Any]
    symbols: dict[str, int] = field(default_factory=dict)
    bounds: dict[TensorKind, Bound] = field(default_factory=dict)

    def bind(self, kind: TensorKind, shape: tuple[int, ...] | None = None) -> Bound:
        """A tensor type with this activation's symbols."""
        if None in kind.shape:
            return kind.bind(self.symbols, shape)
        bound = self.bounds.get(kind)
        if bound is None:
            bound = self.bounds[kind] = kind.bind(self.symbols)
        return bound

    def introduce(self, name: str, value: int, limits: Sequence[int] | None) -> None:
        """Gives a symbol its value, within its declared range (inclusive)."""
        if name in self.symbols and self.symbols[name] != value:
            raise Refusal(
                "SPY134", f"symbol {name} is {self.symbols[name]} and cannot become {value}"
            )
        if value < 0:
            raise Refusal("SPY134", f"symbol {name} is {value}; an extent is 0 or more")
        if limits is not None and not limits[0] <= value <= limits[1]:
            raise Refusal("SPY134", f"symbol {name} is {value}, outside [{limits[0]}, {limits[1]}]")
        self.symbols[name] = value


def scalar(value: Any, kind: str) -> Any:
    """A number as a value of a scalar type: int for `index`, a numpy scalar otherwise."""
    if kind == "index":
        return int(value)
    return np.asarray(value).astype(dtype_of(kind))[()]


class Machine:
    """Runs functions of one program. Holds no state but the program and how many steps it took.

    `steps`: how many it may take (None: any number). A step is an operation or a trip of a loop."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        handlers: Mapping[str, Handler],
        *,
        steps: int | None = None,
    ) -> None:
        self.functions = functions
        self.handlers = handlers
        self.steps = steps
        self.taken = 0

    def call(
        self, name: str, arguments: Sequence[Any], bounds: Sequence[Bound | None]
    ) -> tuple[Any, Frame]:
        """Results of a function, and its frame. `bounds` are the caller's types of tensor
        arguments, None where they need not be compared."""
        function = self.functions.get(name)
        if function is None:
            raise Refusal("SPY137", f"there is no function @{name} with a body")
        frame = Frame([None] * function.slots)
        for symbol in function.symbols:
            frame.introduce(symbol.name, int(arguments[symbol.argument]), symbol.range)
        pairs = zip(function.body.kinds, bounds, strict=True)
        for number, (kind, given) in enumerate(pairs):
            if isinstance(kind, TensorKind) and given is not None:
                own = self._argument(function, frame, kind)
                if own is not None and own != given:
                    raise Refusal(
                        "SPY134",
                        f"argument {number} of @{name} is valid in {list(own.box)} there and in"
                        f" {list(given.box)} at the call",
                    )
        return self.block(frame, function.body, arguments), frame

    def _argument(self, function: Function, frame: Frame, kind: TensorKind) -> Bound | None:
        """An argument's type; None if it uses a symbol that the body introduces later."""
        try:
            return frame.bind(kind) if None not in kind.shape else None
        except Refusal as refusal:
            if "has no value" in refusal.message:
                return None
            raise

    def block(self, frame: Frame, block: Block, arguments: Sequence[Any]) -> Any:
        """Runs a block; returns the operands of its terminator."""
        self.taken += len(block.steps)
        if self.steps is not None and self.taken > self.steps:
            raise Refusal("SPY147", f"the program takes more than {self.steps} steps")
        values = frame.values
        for slot, value in zip(block.arguments, arguments, strict=True):
            values[slot] = value
        for step in block.steps[:-1]:
            self.step(frame, step)
        last = block.steps[-1]
        return [values[slot] for slot in last.operands]

    def step(self, frame: Frame, step: Step) -> None:
        """Runs one operation. A refusal gets the operation's location as its place."""
        values = frame.values
        operands = [values[slot] for slot in step.operands]
        try:
            if step.op is not None and step.results:
                results: Sequence[Any] = self.spyre(frame, step, operands)
            else:
                handler = self.handlers.get(step.name)
                if handler is None:
                    raise Refusal(
                        "SPY136",
                        f"{step.name} is not known to the interpreter",
                        remedy="lower it to spyre, scf, arith, affine, func and tensor",
                    )
                results = handler(self, frame, step, operands)
                if step.narrow:
                    results = self.narrowed(frame, step, results)
        except Refusal as refusal:
            if refusal.place is None:
                refusal.place = step.location
            raise
        for slot, value in zip(step.results, results, strict=True):
            values[slot] = value

    def narrowed(self, frame: Frame, step: Step, results: Sequence[Any]) -> list[Any]:
        """Results of upstream operations, which know no valid region: outside it is poison."""
        cells = []
        for value, kind in zip(results, step.result_kinds, strict=True):
            beyond = None
            if isinstance(kind, TensorKind):
                beyond = outside_of(frame.bind(kind, value.values.shape))
            if beyond is None:
                cells.append(value)
            else:
                poison = beyond if value.poison is None else value.poison | beyond
                cells.append(Cells(value.values, poison))
        return cells

    def spyre(self, frame: Frame, step: Step, operands: list[Any]) -> tuple[Cells, ...]:
        """One operation of the operation table."""
        assert step.op is not None
        kinds = tuple(
            self.kind(frame, k, v) for k, v in zip(step.operand_kinds, operands, strict=True)
        )
        bounds = tuple(frame.bind(k) for k in step.result_kinds if isinstance(k, TensorKind))
        call = Call(step.op, tuple(operands), kinds, bounds, step.attributes)
        return perform(call, in_place=step.in_place)

    def kind(self, frame: Frame, kind: Kind, value: Any) -> Bound | str:
        """A value's type in this activation."""
        if isinstance(kind, TensorKind):
            return frame.bind(kind, value.values.shape)
        return kind
