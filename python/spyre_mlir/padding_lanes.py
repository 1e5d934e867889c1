# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lies in the lanes behind the last dim of a tensor, up to whole sticks.

A product reads whole sticks of its first factor and has zeros in the second one against what lies behind the reduced
dim. A zero there is not enough against an infinity: so the lanes have to hold numbers, or are filled before. The caller
passes arguments with zeros in their padding (docs/sdsc.md); functions compute on those as on any cell."""

from __future__ import annotations

from math import isfinite
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.extents import divisor
from spyre_mlir.formats import device_format
from spyre_mlir.forming import MASK_VALUES
from spyre_mlir.operations import attributes, layout_of, meaning
from spyre_mlir.optable import Op

DEEPEST = 100
"""Operations one behind the other that are looked at."""

SOME_NUMBER = 1.0
"""Stands for values of cells that hold data."""


def ends_in_stick(value: ir.Value) -> bool:
    """Whether the last dim of a tensor may end within a stick."""
    tensor = encodings.read(value.type)
    return divisor(tensor.valid[-1]) % device_format(tensor.element).elements_per_stick != 0


def hold_numbers(value: ir.Value) -> bool:
    """Whether the lanes behind the last dim of a tensor are known to hold finite numbers."""
    return _lane(value, {}, 0) is not None


Known = dict[ir.Value, "float | None"]


def _lane(value: ir.Value, known: Known, depth: int) -> float | None:
    """The number in the lanes behind, if there is one that follows from zeros in those of arguments."""
    if isinstance(value, ir.BlockArgument):
        return (
            0.0 if value.owner.owner.operation.name == "func.func" and _holds_zeros(value) else None
        )
    if value not in known:
        known[value] = None
        row = meaning(value.owner)
        if row is not None and row.scalar is not None and row.tiling == "pointwise":
            known[value] = _computed(value.owner, row, known, depth + 1)
    return known[value]


def _holds_zeros(argument: ir.Value) -> bool:
    """Whether the padding of an argument lies behind its last dim, and holds what the caller promises."""
    tensor = encodings.read(argument.type)
    whole = tensor.rank > 0 and tensor.valid[-1] == tensor.shape[-1]
    return layout_of(tensor).stride_map[-1] == 1 and (whole or tensor.pad == "zero")


def _computed(op: ir.Operation, row: Op, known: Known, depth: int) -> float | None:
    """What an elementwise operation makes of its operands' lanes."""
    if depth > DEEPEST:
        return None
    masked = MASK_VALUES.get(row.device.function() or "") if row.family == "unary" else None
    length = op.results[0].type.shape[-1] if op.results[0].type.shape else 0
    found: list[float] = []
    for operand in op.operands:
        along = isinstance(operand.type, ir.RankedTensorType) and tuple(operand.type.shape)[
            -1:
        ] == (length,)
        lane = (
            masked if masked is not None else _lane(operand, known, depth) if along else SOME_NUMBER
        )
        if lane is None:
            return None
        found.append(lane)
    return _value(row, found, attributes(op, row))


def _value(row: Op, lanes: list[float], given: dict[str, Any]) -> float | None:
    # Few programs ask, and the passes start without numpy.
    import numpy as np

    assert row.scalar is not None
    try:
        with np.errstate(all="ignore"):
            arrays = [np.full(1, lane, np.float32) for lane in lanes]
            value = float(np.asarray(row.scalar(np, *arrays, **given)).reshape(-1)[0])
    except (TypeError, ValueError):
        return None  # a function of other values than numbers
    return value if isfinite(value) else None
