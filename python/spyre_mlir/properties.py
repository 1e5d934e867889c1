# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What passes make true of the IR and others count on: predicates on single operations."""

from __future__ import annotations

from spyre_mlir import encodings, ir
from spyre_mlir.operations import meaning
from spyre_mlir.passmanager import Property


def _lacks_layout(op: ir.Operation) -> str | None:
    for kind, values in (("operand", op.operands), ("result", op.results)):
        for number, value in enumerate(values):
            type = value.type
            if isinstance(type, ir.RankedTensorType) and encodings.read(type).layout is None:
                return f"no device layout on {kind} #{number}"
    return None


def _lacks_tiling(op: ir.Operation) -> str | None:
    return "a tile plan that was not carried out" if "spyre.tile" in op.attributes else None


def computes(op: ir.Operation) -> bool:
    """Whether the operation does work of its own on the device; views and empty tensors do not."""
    row = meaning(op)
    return row is not None and row.tiling != "view" and bool(op.results) and not in_place(op)


def in_place(op: ir.Operation) -> bool:
    """Whether an insertion has nothing to do: its source was computed where it belongs."""
    if op.name != "spyre.insert_slice":
        return False
    source = op.operands[0]
    encoding = source.type.encoding
    if encoding is None or not encoding.window or not isinstance(source, ir.OpResult):
        return False
    row = meaning(source.owner)
    return row is None or row.tiling != "view"


def _lacks_division(op: ir.Operation) -> str | None:
    row = meaning(op)
    divided = row is None or row.domain is None or row.tiling == "none"
    divided = divided or not computes(op) or "spyre.division" in op.attributes
    return None if divided else "no work division"


def _lacks_place(op: ir.Operation) -> str | None:
    # An insertion writes into its destination, which has one.
    needs = computes(op) and op.name != "spyre.insert_slice"
    return "no place in memory" if needs and "spyre.place" not in op.attributes else None


LAYOUTS = Property("device layouts", _lacks_layout)
TILED = Property("operations within the span limit", _lacks_tiling)
DIVIDED = Property("work divided over cores", _lacks_division)
PLACED = Property("places in memory", _lacks_place)
