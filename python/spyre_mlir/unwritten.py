# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells that nobody has written yet, in a destination that is read as a whole while a part of it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spyre_mlir import encodings, ir
from spyre_mlir.dialects import spyre
from spyre_mlir.listings import BOUNDS
from spyre_mlir.padding import constant

Value = ir.Value[ir.Type]

Run = tuple[int, int]
"""Elements along a dim, first and behind the last."""


Use = tuple[ir.Operation, int]
"""An operation, and the number of one of its operands."""


def readable(
    op: ir.Operation,
    stick: int,
    kept: Sequence[Run],
    lay: Callable[[Value], Value],
    redo: Callable[[ir.Operation], None],
) -> Value:
    """The destination of an insertion of which some elements along the stick are read: those that nobody has written
    yet hold zeros.

    Its buffer begins as zeros where insertions at literal places did not write all that is read. `redo` lays an
    insertion into such a buffer out again, for it may have written sticks as a whole."""
    uses: list[Use] = []
    _find_unwritten((op, DESTINATION), stick, list(kept), set(), uses)
    for user, number in uses:
        made = user.operands[number].owner.operation
        with ir.InsertionPoint(made), made.location:
            zero = constant(encodings.read(made.results[0].type).element, 0.0)
            full = lay(spyre.FullOp(made.results[0].type, zero).result)
        user.operands[number] = full
    for user, _ in uses:
        laid_out = user.block == op.block and user.is_before_in_block(op)
        if laid_out and user.name == "spyre.insert_slice":
            redo(user)
    found: Value = op.operands[DESTINATION]
    return found


def _find_unwritten(
    use: Use,
    stick: int,
    kept: list[Run],
    seen: set[tuple[Value, int, tuple[Run, ...]]],
    found: list[Use],
) -> None:
    """Adds the uses of `spyre.empty` by which an operand may still hold cells among those that are kept."""
    user, number = use
    value = user.operands[number]
    state = value, stick, tuple(kept)
    if not kept or state in seen:
        return
    seen.add(state)
    made = (value.owner if isinstance(value, ir.OpResult) else value.owner.owner).operation
    place = value.result_number if isinstance(value, ir.OpResult) else value.arg_number - 1
    sources: list[Use] = []
    if made.name == "spyre.empty":
        if use not in found:
            found.append(use)
    elif made.name == "spyre.insert_slice":
        kept = _left(made, stick, kept)
        sources = [(made, DESTINATION)]
    elif made.name == "scf.for":
        sources = [(made, BOUNDS + place), (_end(made.regions[0]), place)]
    elif made.name == "scf.if":
        sources = [(_end(region), place) for region in made.regions]
    elif made.name in COPIES:
        stick = stick if made.name == "spyre.identity" else ELSEWHERE
        sources = [(made, 0)]
    for source in sources:
        _find_unwritten(source, stick, kept, seen, found)


def _end(region: ir.Region) -> ir.Operation:
    block = region.blocks[0]
    last: ir.Operation = block.operations[len(block.operations) - 1].operation
    return last


DESTINATION = 1
"""The operand of an insertion that is written into."""

COPIES = ("spyre.identity", "spyre.slice", "spyre.reshape", "spyre.transpose", "spyre.restickify")
"""Operations of whose result a cell is unwritten where one of the operand is."""


ELSEWHERE = -1
"""The dim of which some elements are kept, behind operations whose results have other dims: no insertion counts."""


def _left(op: ir.Operation, stick: int, kept: list[Run]) -> list[Run]:
    """What of some elements along the stick an insertion does not write."""
    if stick == ELSEWHERE:
        return kept
    source, whole = (encodings.read(value.type) for value in list(op.operands)[:2])
    start, extent = literal_offset(op, 2, stick), source.valid[stick]
    others = [d for d in range(whole.rank) if d != stick]
    if start is None or not isinstance(extent, int):
        return kept
    if any(literal_offset(op, 2, d) != 0 or source.valid[d] != whole.valid[d] for d in others):
        return kept
    parts = [
        part
        for first, last in kept
        for part in ((first, min(last, start)), (max(first, start + extent), last))
    ]
    return [(first, last) for first, last in parts if first < last]


def literal_offset(op: ir.Operation, first: int, dim: int) -> int | None:
    """The offset of a slice or insertion along a dim, if it is static."""
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    static = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])[dim]
    return None if static == marker else int(static)
