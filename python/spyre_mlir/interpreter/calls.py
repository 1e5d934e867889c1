# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation about to be applied, and how its results are formed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import (
    Array,
    Bound,
    Cells,
    Mask,
    first_cell,
    outside,
    outside_of,
)
from spyre_mlir.optable import Op

Value = Cells | np.generic | int
"""What an operand may be: a tensor's cells, a scalar of the element type, or an index."""

Kind = Bound | str
"""Type of an operand: a tensor's, or the element type of a scalar, or "index"."""


@dataclass(frozen=True, slots=True)
class Call:
    """One operation about to be applied: its row of the table, operands, types and attributes."""

    op: Op
    operands: tuple[Value, ...]
    kinds: tuple[Kind, ...]
    results: tuple[Bound, ...]
    attributes: Mapping[str, Any]

    def cells(self, number: int) -> Cells:
        """Operand `number` as a tensor's cells."""
        value = self.operands[number]
        if not isinstance(value, Cells):
            raise self.broken(f"operand {number} must be a tensor")
        return value

    def bound(self, number: int) -> Bound:
        """Type of the tensor operand `number`."""
        kind = self.kinds[number]
        if not isinstance(kind, Bound):
            raise self.broken(f"operand {number} must be a tensor")
        return kind

    @property
    def indices(self) -> list[int]:
        """The values of the index operands, in order."""
        pairs = zip(self.operands, self.kinds, strict=True)
        return [int(value) for value, kind in pairs if kind == "index"]  # type: ignore[arg-type]

    @property
    def result(self) -> Bound:
        """Type of the first result."""
        return self.results[0]

    def broken(self, why: str) -> Refusal:
        """The refusal for operands, results or attributes that break the constraints."""
        return Refusal("SPY139", f"spyre.{self.op.name}: {why}")

    def refused(self, code: str, why: str, *notes: str, remedy: str | None = None) -> Refusal:
        """A refusal that names the operation."""
        return Refusal(code, f"spyre.{self.op.name}: {why}", notes=notes, remedy=remedy)


def poison_reached(call: Call, mask: Mask, number: int = 0) -> Refusal:
    """The refusal for poison in a valid cell of result `number`; `mask` is over its valid box."""
    cell = list(first_cell(mask))
    count = int(np.count_nonzero(mask))
    bound = call.results[number]
    return call.refused(
        "SPY130",
        f"a cell that holds no data reaches the valid cell {cell} of result {number}",
        f"{count} of the {mask.size} valid cells are reached",
        f"the result has shape {list(bound.shape)} and valid extents {list(bound.box)}",
        *(_described(i, kind, value) for i, (kind, value) in enumerate(_tensors(call))),
        remedy="narrow the result with spyre.set_valid_shape, or fill the operand first",
    )


def _tensors(call: Call) -> list[tuple[Kind, Value]]:
    return list(zip(call.kinds, call.operands, strict=True))


def _described(number: int, kind: Kind, value: Value) -> str:
    if not isinstance(kind, Bound) or not isinstance(value, Cells):
        return f"operand {number} is a scalar"
    text = f"operand {number} has shape {list(kind.shape)} and valid extents {list(kind.box)}"
    if value.poison is not None and value.poison[kind.region].any():
        text += f"; inside them {list(first_cell(value.poison[kind.region]))} was never written"
    return text


def computed(call: Call, values: Array, poison: Mask | None, number: int = 0) -> Cells:
    """A computed result: no cell of its valid box may be poison; what lies outside is."""
    bound = call.results[number]
    _check_shape(call, values, bound, number)
    if poison is not None:
        inside = poison[bound.region]
        if inside.any():
            raise poison_reached(call, inside, number)
    return Cells(values, outside_of(bound))


def carried(call: Call, values: Array, poison: Mask | None, beyond: Mask | None = None) -> Cells:
    """A result that only names cells: those not yet written stay so.

    `beyond` marks cells that lie outside the operand's valid box: the result may not claim them."""
    bound = call.result
    _check_shape(call, values, bound, 0)
    if beyond is not None and beyond[bound.region].any():
        raise poison_reached(call, beyond[bound.region])
    if bound.valid is None:
        return Cells(values, poison)
    own = outside(bound.shape, bound.valid)
    return Cells(values, own if poison is None else poison | own)


def _check_shape(call: Call, values: Array, bound: Bound, number: int) -> None:
    if values.shape != bound.shape:
        raise call.broken(
            f"result {number} has shape {list(bound.shape)}, its operands give {list(values.shape)}"
        )
