# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells that begin or end within a stick, moved and merged by functions that read and write whole sticks.

Two ways lead there. Turned onto another dim, the sticks no longer run along the dim in question, and any run of its
cells can be copied; then they are turned back (`relocated`). And where cells of a stick are written while others stay,
both are read, a mask chooses lane by lane, and the whole stick is written (`Masks`). Both are made of operations of the
dialect. The device turns sticks of 16-bit floats only, and chooses among elements of any width but 8-bit floats; what
is left over is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.builders import build, create
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.dialects import spyre
from spyre_mlir.extents import Extent, divisor
from spyre_mlir.formats import device_format
from spyre_mlir.kernel_forming import form_kernel
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import contiguous_strides
from spyre_mlir.operations import first_trip, storage_of
from spyre_mlir.optable.model import FLOAT8
from spyre_mlir.padding import buffer, constant, empty, rounded_up, turned, whole_sticks
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.sdsc.model import Hbm
from spyre_mlir.stick_widths import TRUTH, lanes_of, stored_as
from spyre_mlir.sticks import stick_of, with_stick
from spyre_mlir.tensors import TensorType
from spyre_mlir.unwritten import literal_offset, readable

Value = ir.Value[ir.Type]

Lay = Callable[[Value], Value]
"""Gives the operation that was just built a layout, and its operands their sticks; the value in its place."""

TURNED = ("f16", "bf16", "i1")
"""Element types whose sticks the device turns: 16-bit floats, and truth values, which are kept as such."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of sticks of a destination, `extent` elements from `at` on, the start of a stick.

    `lanes` are those that are written, first and behind the last, where the stick holds others that stay; None where
    all may be written."""

    at: int
    extent: int
    lanes: tuple[int, int] | None = None


def pieces(start: int, extent: int, lanes: int, size: int, held: int) -> tuple[Piece, ...]:
    """The elements `start` to `start + extent` of a dim of `size`, of which `held` hold data, by runs of sticks.

    One piece without lanes if whole sticks may be written as they are."""
    stop, found = start + extent, []
    at = start // lanes * lanes
    if start % lanes:
        end = min(stop, at + lanes)
        found.append(Piece(at, min(lanes, size - at), (start - at, end - at)))
        at = end
    whole = stop if stop >= held else max(at, stop // lanes * lanes)
    if at < whole:
        found.append(Piece(at, whole - at))
    if max(at, whole) < stop:
        found.append(Piece(whole, min(lanes, size - whole), (0, stop - whole)))
    return tuple(found)


# --- along another stick ------------------------------------------------------------------------


def other_stick(shape: Sequence[int], dim: int, among: Sequence[int] | None = None) -> int | None:
    """The dim to turn sticks onto, `among` some: that of which they waste least. None if there is no other."""
    others = [d for d in range(len(shape)) if d != dim and (among is None or d in among)]
    waste = {d: rounded_up(shape[d], 64) / max(shape[d], 1) for d in others}
    return min(others, key=lambda d: (waste[d], -d), default=None)


@dataclass(frozen=True, slots=True)
class Move:
    """Along `dim`, the `extent` cells from `start` on go to `at` of a buffer of `size`."""

    dim: int
    start: int
    extent: int
    at: int
    size: int


def relocated(value: Value, move: Move, lay: Lay) -> Value:
    """Cells of a tensor at another place along the dim on its stick, in a buffer with the same dim on the stick.

    Around them there are zeros. `value` has to start where a stick does."""
    tensor = encodings.read(value.type)
    other = other_stick(tensor.shape, move.dim)
    if other is None:
        column = lay(build("reshape", value, shape=(1, *tensor.shape)))
        moved = relocated(column, replace(move, dim=move.dim + 1), lay)
        return lay(build("reshape", moved, shape=encodings.read(moved.type).shape[1:]))
    onto = _turned(value, move.dim, other, lay)
    cut = _resized(encodings.read(onto.type).shape, move.dim, move.extent)
    run = lay(_slice(onto, _offset(cut, move.dim, move.start), cut))
    wide = _resized(cut, move.dim, rounded_up(move.size, 64))
    if wide != cut:
        held = encodings.read(run.type).valid
        region = held if move.size == move.extent else _resized(held, move.dim, move.size)
        kind = TensorType(wide, tensor.element, valid_shape=region)
        make = buffer if region == held else _zeros
        whole = lay(make(kind, other))
        run = lay(
            build("insert_slice", run, whole, static_offsets=_offset(wide, move.dim, move.at))
        )
    back = lay(turned(run, move.dim))
    shape = _resized(tensor.shape, move.dim, move.size)
    return back if wide == shape else lay(_slice(back, [0] * len(shape), shape))


def _turned(value: Value, dim: int, other: int, lay: Lay) -> Value:
    """A tensor with sticks along `dim` in a buffer with sticks along `other`, whole sticks along both."""
    tensor = encodings.read(value.type)
    whole = whole_sticks(tensor.shape, (dim, other))
    if whole != tensor.shape:
        kind = TensorType(whole, tensor.element, valid_shape=tensor.valid)
        value = lay(
            build("insert_slice", value, lay(buffer(kind, dim)), static_offsets=[0] * len(whole))
        )
    return lay(turned(value, other))


def _zeros(tensor: TensorType, stick: int) -> Value:
    """A buffer of zeros with a dim on the stick."""
    layout = with_stick(tensor.shape, tensor.element, stick)
    zero = constant(tensor.element, 0.0)
    return spyre.FullOp(encodings.write(replace(tensor, layout=layout)), zero).result


def _slice(value: Value, offsets: Sequence[int], shape: Sequence[int]) -> Value:
    return build("slice", value, static_offsets=list(offsets), shape=tuple(shape))


def _resized(shape: Sequence[int], dim: int, extent: int) -> tuple[int, ...]:
    return tuple(extent if d == dim else e for d, e in enumerate(shape))


def _offset(shape: Sequence[int], dim: int, offset: int) -> list[int]:
    return [offset if d == dim else 0 for d in range(len(shape))]


# --- lane by lane -------------------------------------------------------------------------------


class Masks:
    """Masks of a function, one for each run of lanes and device format, made at its start."""

    def __init__(self, entry: ir.Block, lay: Lay) -> None:
        self._entry = entry
        self._lay = lay
        self._made: dict[tuple[tuple[int, int], str], Value] = {}

    def __call__(self, lanes: tuple[int, int], element: str) -> Value:
        """A stick of truth values, stored as elements of this type are, true from the first lane to before the
        second."""
        key = lanes, device_format(element).name
        if key not in self._made:
            # Their place is that of the operation that asks first.
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._made[key] = self._make(*lanes, element)
        return self._made[key]

    def _make(self, first: int, last: int, element: str) -> Value:
        """Rows of ones among rows of zeros, turned: then every row has them in its lanes."""
        lay, lanes = self._lay, lanes_of(element)
        width = max(lanes, lanes_of(TRUTH))
        zero, one = constant("f16", 0.0), constant("f16", 1.0)
        rows = lay(empty(TensorType((width, 64), "f16")))
        for start, end, value in ((0, first, zero), (first, last, one), (last, width, zero)):
            if start < end:
                part = lay(build("full", value, shape=(end - start, 64), element="f16"))
                rows = lay(build("insert_slice", part, rows, static_offsets=[start, 0]))
        columns = lay(turned(lay(build("transpose", rows, permutation=[1, 0])), 1))
        row = lay(_slice(columns, [0, 0], (1, width)))
        mask = lay(build("reshape", lay(build("cmp", row, zero, predicate="ne")), shape=(width,)))
        if lanes == lanes_of(TRUTH):
            return mask
        stored = stored_as(TensorType((width,), TRUTH), element)
        mask = lay(spyre.IdentityOp(encodings.write(stored), mask).result)
        if width == lanes:
            return mask
        first = lay(
            _slice(mask, [0], (lanes,))
        )  # in a buffer of its own, without the sticks behind
        own = stored_as(TensorType((lanes,), TRUTH), element)
        return lay(spyre.IdentityOp(encodings.write(own), first).result)


# --- insertions and windows ---------------------------------------------------------------------


def inserted(op: ir.Operation, stick: int, masks: Masks, lay: Lay) -> Value | None:
    """The destination of an insertion after it, where it begins or ends within sticks that hold other data.

    `stick` is the dim of the destination on the stick. None where the insertion can stay as it is, or has to."""
    source, destination = (encodings.read(value.type) for value in list(op.operands)[:2])
    start, lanes = literal_offset(op, 2, stick), lanes_of(source.element)
    region = source.valid
    if start is not None and not isinstance(region[stick], int):
        return _inserted_by_rows(op, stick, start, masks, lay)
    literal = all(isinstance(extent, int) for extent in region)
    if start is None or (start % lanes and not literal):
        return None
    if start % lanes:
        _check_turned(op, source.element, f"writes from element {start} of dim {stick}", lanes)
    if source.element in FLOAT8:
        return None
    size, held = destination.shape[stick], destination.valid[stick]
    held = held if isinstance(held, int) else size
    runs = pieces(start, region[stick], lanes, size, held)
    if is_unwritten(op.operands[1]):
        runs = tuple(replace(run, lanes=None) for run in runs)
    if start % lanes == 0 and all(run.lanes is None for run in runs):
        return None
    value, target = op.operands[0], op.operands[1]
    shape = tuple(r if isinstance(r, int) else e for r, e in zip(region, source.shape, strict=True))
    if shape != source.shape:
        value = lay(_slice(value, [0] * source.rank, shape))
    base = start
    if start % lanes:
        base = runs[0].at
        move = Move(stick, 0, region[stick], start - base, runs[-1].at + runs[-1].extent - base)
        value = relocated(value, move, lay)
    target = readable(op, stick, _kept_lanes(runs, held), lay, _again(stick, masks, lay))
    for run in runs:
        target = _written(op, target, stick, run, value, base, masks, lay)
    return target


def _inserted_by_rows(
    op: ir.Operation, stick: int, start: int, masks: Masks, lay: Lay
) -> Value | None:
    """The destination after an insertion that may end within a stick, where is known when the bundle runs: with the
    sticks of both turned onto a dim of which all is written, its cells end with a row."""
    value, target = list(op.operands)[:2]
    source, whole = (encodings.read(v.type) for v in (value, target))
    lanes = lanes_of(source.element)
    aligned = start % lanes == 0 and divisor(source.valid[stick]) % lanes == 0
    ends = start == 0 and whole.valid[stick] == source.valid[stick] and not whole.window
    other = other_stick(source.shape, stick, _covered(op, source, whole))
    if aligned or ends:
        return None
    if other is None or source.element not in TURNED:
        raise _not_by_rows(op, stick, start, source)
    held = whole.valid[stick]
    kept = [(0, held if isinstance(held, int) else whole.shape[stick])]
    target = readable(op, stick, kept, lay, _again(stick, masks, lay))
    seen, onto = _turned(value, stick, other, lay), _turned(target, stick, other, lay)
    if encodings.read(seen.type).shape != source.shape:
        rows = _resized(source.shape, other, encodings.read(seen.type).shape[other])
        seen = lay(_cut(seen, rows, source.valid))
    made = create("insert_slice", [seen, onto, *list(op.operands)[2:]], [onto.type], **_offsets(op))
    back = lay(_cut(lay(turned(lay(made.results[0]), stick)), whole.shape, whole.valid))
    zeros = [0] * whole.rank
    return lay(
        create("insert_slice", [back, target], [target.type], static_offsets=zeros).results[0]
    )


def _not_by_rows(op: ir.Operation, stick: int, start: int, source: TensorType) -> Refusal:
    lanes, turns = lanes_of(source.element), source.element in TURNED
    why = "no dim is written as a whole" if turns else f"the device turns none of {source.element}"
    return Refusal(
        "SPY101",
        f"'{op.name}' writes {source.valid[stick]} elements from element {start} of dim {stick} on, whose sticks hold "
        f"{lanes}; they may begin or end within one, and cannot be turned: {why}",
        remedy=f"begin at a multiple of {lanes}, and give the extent as one, such as {lanes} * k, or as a literal",
    )


def _covered(op: ir.Operation, source: TensorType, whole: TensorType) -> list[int]:
    """The dims along which an insertion writes all that its destination holds."""
    same = (a == b and isinstance(a, int) for a, b in zip(source.valid, whole.valid, strict=True))
    return [d for d, equal in enumerate(same) if equal and literal_offset(op, 2, d) == 0]


def _offsets(op: ir.Operation) -> dict[str, list[int]]:
    return {"static_offsets": list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))}


def _cut(value: Value, shape: Sequence[int], valid: Sequence[Extent]) -> Value:
    """The first cells of a tensor, of which those of a region are valid."""
    cut = _slice(value, [0] * len(shape), shape)
    kind = replace(encodings.read(cut.type), valid_shape=tuple(valid))
    cut.set_type(encodings.write(kind))
    return cut


def is_unwritten(destination: Value) -> bool:
    """Whether no cell of a destination has been written yet."""
    return isinstance(destination, ir.OpResult) and destination.owner.name == "spyre.empty"


def _again(stick: int, masks: Masks, lay: Lay) -> Callable[[ir.Operation], None]:
    """Lays an insertion out that was, before its destination was filled."""

    def redo(op: ir.Operation) -> None:
        with ir.InsertionPoint(op), op.location:
            new = inserted(op, stick, masks, lay)
        if new is not None:
            op.results[0].replace_all_uses_with(new)
            op.erase()

    return redo


def _kept_lanes(runs: Sequence[Piece], held: int) -> list[tuple[int, int]]:
    """The elements along the stick that are read and written as they were, first and behind the last."""
    kept = []
    for run in runs:
        if run.lanes is not None:
            first, last = (run.at + lane for lane in run.lanes)
            kept += [(run.at, first), (last, min(run.at + run.extent, held))]
    return [(first, last) for first, last in kept if first < last]


def _written(
    op: ir.Operation,
    target: Value,
    stick: int,
    run: Piece,
    value: Value,
    base: int,
    masks: Masks,
    lay: Lay,
) -> Value:
    """The destination with one run of sticks written. `value` begins at element `base` of it."""
    shape = encodings.read(value.type).shape
    extent = min(run.extent, shape[stick] - (run.at - base))
    part = value
    if shape[stick] != extent:
        cut = _resized(shape, stick, extent)
        part = lay(_slice(value, _offset(shape, stick, run.at - base), cut))
    if run.lanes is not None:
        band = lay(_held(op, target, stick, run, shape))
        kind = encodings.read(band.type)
        written = _resized(encodings.read(part.type).valid, stick, kind.valid[stick])
        if not all(isinstance(extent, int) for extent in written):  # as many rows as the source has
            band = lay(build("set_valid_shape", band, valid_shape=written))
            kind = encodings.read(band.type)
        if extent != run.extent:
            plain = TensorType(kind.shape, kind.element, valid_shape=kind.valid)
            stretch = lay(buffer(plain, stick))
            part = lay(build("insert_slice", part, stretch, static_offsets=[0] * len(shape)))
        part = lay(
            build("select", _along(masks(run.lanes, kind.element), stick, band, lay), part, band)
        )
    return lay(_insertion(op, part, target, stick, run.at))


def _held(op: ir.Operation, target: Value, stick: int, run: Piece, shape: Sequence[int]) -> Value:
    """What the destination holds in a run of sticks: a window of it.

    Of a copy that is the same window of what was copied, of a constant another constant: a destination that a loop
    reads while it is written into would be copied as a whole."""
    held, taken = op.operands[1], _resized(shape, stick, run.extent)
    made = held.owner.operation if isinstance(held, ir.OpResult) else None
    if made is not None and made.name == "spyre.full":
        kind = encodings.read(held.type)
        layout = with_stick(tuple(taken), kind.element, stick)
        type = encodings.write(TensorType(tuple(taken), kind.element, layout))
        return create("full", [made.operands[0]], [type]).results[0]
    if made is not None and made.name == "spyre.identity" and made.operands[0].type == held.type:
        target = made.operands[0]
    dynamic = list(op.operands)[2:]
    static = _moved(op, stick, run.at)
    return build("slice", target, *dynamic, static_offsets=static, shape=taken)


def _insertion(op: ir.Operation, part: Value, target: Value, stick: int, at: int) -> Value:
    return build(
        "insert_slice", part, target, *list(op.operands)[2:], static_offsets=_moved(op, stick, at)
    )


def _moved(op: ir.Operation, stick: int, at: int) -> list[int]:
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    static[stick] = at
    return static


def _along(mask: Value, stick: int, band: Value, lay: Lay) -> Value:
    """A mask along the dim of a tensor that is on the stick."""
    shape = encodings.read(band.type).shape
    if shape[stick] != mask.type.shape[0]:
        mask = lay(_slice(mask, [0], (shape[stick],)))
    behind = len(shape) - 1 - stick
    return lay(build("reshape", mask, shape=(shape[stick], *[1] * behind))) if behind else mask


def _check_turned(op: ir.Operation, element: str, what: str, lanes: int) -> None:
    """Cells move to other lanes only where sticks can be turned."""
    if element not in TURNED:
        raise Refusal(
            "SPY090",
            f"'{op.name}' {what}, whose sticks hold {lanes}; the device moves cells of {element} in whole sticks only",
            remedy=f"begin at a multiple of {lanes}, put another dim on the stick, or cast to f16 before",
        )


def windowed(op: ir.Operation, stick: int, masks: Masks, lay: Lay) -> Value | None:
    """The tensor in the place of a slice that begins within a stick of its source; None where it can stay a view."""
    source = encodings.read(op.operands[0].type)
    start = literal_offset(op, 1, stick)
    lanes = lanes_of(source.element)
    if start is None or start % lanes == 0:
        return None
    _check_turned(op, source.element, f"begins at element {start} of dim {stick}", lanes)
    shape, skip = tuple(op.results[0].type.shape), start % 64
    window = build(
        "slice",
        *op.operands,
        static_offsets=_moved(op, stick, start - skip),
        shape=_resized(shape, stick, skip + shape[stick]),
    )
    extent = shape[stick]
    return relocated(lay(window), Move(stick, skip, extent, 0, extent), lay)


def restickified(op: ir.Operation, stick: int, masks: Masks, lay: Lay) -> Value | None:
    """The tensor in the place of a restickify along whose dims sticks are not whole, or that turns nothing."""
    source, result = (encodings.read(v.type) for v in (op.operands[0], op.results[0]))
    onto = source.rank - 1 if result.layout is None else stick_of(op.results[0])
    if onto == stick:
        return lay(spyre.IdentityOp(op.results[0].type, op.operands[0]).result)
    whole = onto is None or whole_sticks(source.shape, (stick, onto)) == source.shape
    if onto is None or whole or source.element not in TURNED:
        return None
    found = _turned(op.operands[0], stick, onto, lay)
    found = lay(_slice(found, [0] * source.rank, source.shape))
    return (
        found if result.layout is None else lay(spyre.IdentityOp(op.results[0].type, found).result)
    )


def reshaped(op: ir.Operation, stick: int, masks: Masks, lay: Lay) -> Value | None:
    """The tensor in the place of a reshape that splits or joins sticks; None where it can stay a view."""
    source, shape = encodings.read(op.operands[0].type), tuple(op.results[0].type.shape)
    if not shape or _is_statable(op.results[0]):
        return None
    value, own = op.operands[0], _kept(source.shape, shape, [stick])
    if own is not None:
        return _under(value, own, shape, lay)
    if source.element not in TURNED:
        return None
    kept = _kept(source.shape, shape, [d for d in range(source.rank) if d != stick])
    if kept is None:
        value = lay(build("reshape", value, shape=(1, *source.shape)))
        found = _reshaped(value, stick + 1, (0, 0), (1, *shape), lay)
        return lay(build("reshape", found, shape=shape))
    return _reshaped(value, stick, kept, shape, lay)


def _reshaped(
    value: Value, stick: int, kept: tuple[int, int], shape: tuple[int, ...], lay: Lay
) -> Value:
    """A tensor under another shape, its sticks turned onto a dim that both shapes have, and back onto the last one."""
    before, after = kept
    source, last = encodings.read(value.type), len(shape) - 1
    onto = _turned(value, stick, before, lay)
    rows = encodings.read(onto.type).shape[before]
    cut = lay(_slice(onto, [0] * source.rank, _resized(source.shape, before, rows)))
    seen = _under(cut, kept, _resized(shape, after, rows), lay)
    if after == last:
        return lay(_slice(seen, [0] * len(shape), shape))
    kind = encodings.read(seen.type)
    wide = whole_sticks(kind.shape, (last,))
    filled = _copied(seen, TensorType(wide, kind.element, valid_shape=kind.valid), after, lay)
    return lay(_slice(lay(turned(filled, last)), [0] * len(wide), shape))


def _under(value: Value, kept: tuple[int, int], shape: tuple[int, ...], lay: Lay) -> Value:
    """A tensor under another shape that keeps the dim on the stick: a view, or one of a copy whose other dims are one
    before and one behind it, which lie row by row."""
    view = build("reshape", value, shape=shape)
    if _is_statable(view):
        return lay(view)
    view.owner.erase()
    source, before = encodings.read(value.type), kept[0]
    rows = (prod(source.shape[:before]), source.shape[before], prod(source.shape[before + 1 :]))
    flat = build("reshape", value, shape=rows)
    if not _is_statable(flat):
        raise Refusal(
            "SPY091",
            f"{list(source.shape)} under the shape {list(shape)} is read across the dims of its buffer",
            remedy="reshape in steps, each of which joins or splits one dim",
        )
    kind = encodings.read(flat.type)
    copy = _copied(lay(flat), TensorType(rows, kind.element, valid_shape=kind.valid), 1, lay)
    return lay(build("reshape", copy, shape=shape))


def _copied(value: Value, tensor: TensorType, stick: int, lay: Lay) -> Value:
    """A copy of a tensor at the start of a buffer with a dim on the stick."""
    start = [0] * len(tensor.shape)
    return lay(build("insert_slice", value, lay(buffer(tensor, stick)), static_offsets=start))


def _kept(
    source: Sequence[int], shape: Sequence[int], dims: Sequence[int]
) -> tuple[int, int] | None:
    """One of some dims that a reshape leaves as it is, in both shapes: that of which sticks waste least."""
    found = [
        (rounded_up(extent, 64) / extent, -before, after)
        for before, extent in enumerate(source)
        for after, other in enumerate(shape)
        if before in dims and extent == other > 1 and prod(source[:before]) == prod(shape[:after])
    ]
    if not found:
        return None
    _, before, after = min(found)
    return -before, after


def _is_statable(value: Value) -> bool:
    """Whether an operation can read a view along its sticks."""
    shape = tuple(value.type.shape)
    cells = {f"d{i}": extent for i, extent in enumerate(shape)}
    storage = storage_of(value, tuple(symbol(name) for name in cells), cells)
    flat = first_trip(storage.flat, cells)
    element = str(value.type.element_type)
    dim = stick_of(value)
    layout = with_stick(shape, element, len(shape) - 1 if dim is None else dim)
    own = flat_index([symbol(name) for name in cells], contiguous_strides(shape))
    accesses = (
        Access("read", "", storage.layout, element, flat),
        Access("written", "", layout, element, own, True),
    )
    dims = tuple(Dim(name, extent, False) for name, extent in cells.items())
    try:
        form_kernel(
            Kernel("identity", "unary", dims, accesses),
            function="identity",
            splits={},
            places=[Hbm(0), Hbm(1)],
        )
    except Refusal:
        return False
    return True


Rewrite = Callable[[ir.Operation, int, Masks, Lay], "Value | None"]
