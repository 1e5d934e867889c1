# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From one operation of the IR, divided and placed, to its SDSC."""

from __future__ import annotations

from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.forming import form_kernel
from spyre_mlir.kernels import Kernel
from spyre_mlir.operations import (
    advances_of,
    attributes,
    kernel_of,
    layout_of,
    literal,
    meaning,
    storage_of,
)
from spyre_mlir.operations import walk as walk
from spyre_mlir.optable import Op
from spyre_mlir.sdsc.model import POOL, Hbm, Sdsc


def parameter_count(function: ir.Operation) -> int:
    """Parameters of the bundle: the function's tensors, then its results."""
    signature = function.attributes["function_type"].value
    return sum(isinstance(t, ir.RankedTensorType) for t in (*signature.inputs, *signature.results))


def trips(loop: ir.Operation) -> int:
    """Trips of a counted loop with constant bounds. Refused (SPY021) where they are not."""
    low, high, step = (literal(value) for value in list(loop.operands)[:3])
    return max(0, -(-(high - low) // step))


def lower(op: ir.Operation) -> tuple[Sdsc, ...]:
    """The SDSCs of one operation, in order.

    Refused: SPY096 an operation without a device function, SPY097 without a linear access, and what alignment and
    forming refuse."""
    row = meaning(op)
    assert row is not None
    kernel = kernel_of(op)
    if kernel is None:
        raise Refusal(
            "SPY097",
            f"'{op.name}' has no access that an SDSC can state: {row.device.refusal or row.addresses}",
        )
    values = [*op.operands, *op.results]
    indexed = [value for value in values if isinstance(value.type, ir.RankedTensorType)]
    places = [_place(value, op) for value in indexed]
    kernel, places = _without_destination(row, kernel, places)
    splits = op.attributes["spyre.division"].splits
    formed = form_kernel(
        kernel,
        function=_function(op, row),
        splits={dim.symbol: split for dim, split in zip(kernel.dims, splits, strict=True)},
        places=places,
        constants=_constants(row, attributes(op, row)),
    )
    return (formed,)


def _without_destination(row: Op, kernel: Kernel, places: list[Hbm]) -> tuple[Kernel, list[Hbm]]:
    """A write reads nothing of its destination."""
    roles = {operand.name: operand.role for operand in row.operands}
    kept = [
        (access, place)
        for access, place in zip(kernel.accesses, places, strict=True)
        if roles.get(access.label) != "target"
    ]
    accesses = tuple(access for access, _ in kept)
    return (
        Kernel(kernel.name, kernel.family, kernel.dims, accesses, kernel.label),
        [place for _, place in kept],
    )


def _place(value: ir.Value, op: ir.Operation) -> Hbm:
    """Where the buffer of a value begins, and how the value's start advances with the loops around `op`."""
    owner = storage_of(value).owner
    advances = advances_of(value)
    if advances:
        advances = advances + (0,) * (_depth(op) - len(advances))
    if isinstance(owner, ir.BlockArgument):
        tensors = [a for a in owner.owner.arguments if isinstance(a.type, ir.RankedTensorType)]
        return Hbm(tensors.index(owner), 0, advances)
    place = owner.owner.attributes["spyre.place"]
    return Hbm(POOL if place.kind == "pool" else place.index, place.offset, advances)


def _depth(op: ir.Operation) -> int:
    depth, parent = 0, op.parent
    while parent is not None and parent.name == "scf.for":
        depth, parent = depth + 1, parent.parent
    return depth


def _function(op: ir.Operation, row: Op) -> str:
    """The device function, without `nonstick`, which `form` adds where the operands say so."""
    for key in _keys(op, row):
        function = row.device.function(key)
        if function is not None:
            return function.removesuffix("nonstick") if key == "nonstick" else function
    raise Refusal(
        "SPY096",
        f"the device has no function for '{op.name}'",
        notes=(row.device.refusal,) if row.device.refusal else (),
    )


def _keys(op: ir.Operation, row: Op) -> list[str]:
    """What the operation table may list its function under, the most particular first."""
    tensors = [
        encodings.read(value.type) for value in (*op.operands, *op.results) if _is_tensor(value)
    ]
    first, last = tensors[0], tensors[-1]
    stick = "stick" if layout_of(last).sparse else "nonstick"
    predicate = attributes(op, row).get("predicate", "")
    return [str(predicate), f"{first.element}->{last.element}", first.element, stick, ""]


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _constants(row: Op, given: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple(
        (name, float(given[filler])) for name, filler in row.device.constants if filler in given
    )
