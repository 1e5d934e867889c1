# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies one operation of the table to cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from spyre_mlir.optable import OPS, Op

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


def evaluate(
    name: str,
    operands: Sequence[Value],
    kinds: Sequence[Kind],
    results: Sequence[Bound],
    attributes: Mapping[str, Any] | None = None,
) -> tuple[Cells, ...]:
    """Results of `spyre.<name>`.

    `kinds` are the operands' types, `results` the results' (valid extents bound to numbers).
    Raises `Refusal` (SPY130 to SPY139) where poison reaches a valid cell, where the operation is
    not defined on the values, or where types do not fit."""
    op = OPS.get(name)
    if op is None or not op.results:
        raise Refusal("SPY136", f"spyre.{name} is not an operation that yields cells")
    call = Call(op, tuple(operands), tuple(kinds), tuple(results), {})
    try:
        filled = op.attribute_values(attributes or {})
    except KeyError as error:
        raise call.broken(str(error.args[0])) from None
    return perform(Call(op, call.operands, call.kinds, call.results, filled))


def perform(call: Call, *, in_place: bool = False) -> tuple[Cells, ...]:
    """As `evaluate`, of a call whose attributes are complete.

    `in_place` lets an insert write into its destination: only for a caller who knows that nobody
    else holds it."""
    # The meanings import this module.
    from spyre_mlir.interpreter.semantics import IN_PLACE, SEMANTICS

    _check_elements(call)
    named = call.op.name if call.op.name in SEMANTICS else call.op.family
    meaning = IN_PLACE[named] if in_place else SEMANTICS[named]
    with np.errstate(all="ignore"):
        return meaning(call)


def _check_elements(call: Call) -> None:
    for number, kind in enumerate(call.kinds):
        place = call.op.operands[min(number, len(call.op.operands) - 1)]
        if place.kind == "index":
            continue
        allowed = place.elements or call.op.elements
        element = kind.element if isinstance(kind, Bound) else kind
        if element not in allowed:
            raise call.broken(
                f"operand {number} ({place.name}) has elements of {element}; allowed are "
                + ", ".join(allowed)
            )
    if len(call.results) != len(call.op.results):
        raise call.broken(f"{len(call.results)} results instead of {len(call.op.results)}")
