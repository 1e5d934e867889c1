# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies one operation of the table to cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.calls import Call, Kind, Value
from spyre_mlir.interpreter.cells import Bound, Cells
from spyre_mlir.interpreter.semantics import IN_PLACE, SEMANTICS
from spyre_mlir.optable import OPS


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
