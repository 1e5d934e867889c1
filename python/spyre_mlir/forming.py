# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forming: from aligned operations in loops to the SDSC model.

`form` turns one aligned operation into an `Sdsc`: labels for the iteration symbols, whole sticks
for the dims that lie in one, the order of each operand's axes with gaps and start, the division
over cores, mask and constants. `form_bundle` does so for operations in counted loops. The ways
in are `spyre_mlir.kernel_forming` for our own pipeline and `spyre_mlir.opspecs` for the reference
compiler's specs. (Rules: observed output of the reference compiler; the tests compare with its
bundles.)

An SDSC is compact: nothing in it grows with the number of cores. The start of core c's slice is

    place + sum over dims of slice(c, dim) * (extent / slices) * stride(dim)

stride(dim) being 128 bytes times the sizes (extent + gap, in sticks for the stick dim) of the axes
inside it. The operation `sdscbundle.sdsc` holds the same facts as attributes; the bundle writer
expands them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf

from spyre_mlir.alignment import AlignedTensor, Coordinate, Symbol
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import divisor, parse
from spyre_mlir.formats import FORMATS
from spyre_mlir.kernels import Dim as KernelDim
from spyre_mlir.sdsc.model import (
    POOL,
    Axis,
    Bundle,
    Constant,
    Cut,
    Dim,
    Hbm,
    Loop,
    Lx,
    Mask,
    PoolBuffer,
    Sdsc,
    Symbolic,
)
from spyre_mlir.sdsc.model import Operand as SdscOperand

DIM_LABELS = ("mb", "x", "y", "i", "j", "ki", "kj")
"""Labels of iteration dims, in order; the last symbol takes `out` instead."""

MATMUL_LABELS = ("ki", "kj", "y", "x", "mb", "out", "in")
"""Labels of a matmul's dims: n symbols take the last n."""

MATMULS = ("batchmatmul", "batchmatmulfp8", "batchmatmulint4", "batchmatmulint8")
"""Functions of the systolic array."""

SCANS = ("topkvalue", "topkindex", "maskbyindex")
"""Scan functions; like a matmul's, their operands list their own dims only."""

RESTICKIFY = "ReStickifyOpHBM"

MASK_CONSTANT = "samv-maskvalue"

MASK_VALUES: Mapping[str, float] = {
    "sum": 0.0,
    "mean": 0.0,
    "absmax": 0.0,
    "exx2": 0.0,
    "exx2_zeromean": 0.0,
    "max": -inf,
    "min": inf,
    "exp": -inf,
}
"""What the lanes behind the valid elements read as: the neutral element of a reduction; `exp`
then writes zeros there, so that a sum may follow."""

INTEGERS = ("SENINT8", "SENINT16", "IEEE_INT32", "SENUINT32")
"""Device formats that hold no infinity, the neutral element of `max` and `min`."""

EXTRA = "stick"
"""The symbol of a stick that no iteration symbol runs through."""

MOMENTS = ("exx2", "exx2_zeromean")
"""Functions that reduce the stick, also where it holds one element."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of an aligned operation: how it is read, its device format and where it begins.

    The place's offset (LX: address) and advances are those of the buffer; constants of the
    coordinates are added here."""

    tensor: AlignedTensor
    format: str
    place: Hbm | Lx


@dataclass(frozen=True, slots=True)
class Operation:
    """One aligned operation; inputs in order, the output last.

    `function` is the function's name without `nonstick`, which follows from the operands.
    `constants` are the function's own, by agreed name. `symbolic` are the dims, before alignment,
    of which the caller passes the extent; a symbol's origin names its dim."""

    function: str
    symbols: tuple[Symbol, ...]
    operands: tuple[Operand, ...]
    is_reduction: bool = False
    constants: tuple[tuple[str, float], ...] = ()
    provenance: Mapping[str, object] | None = None
    symbolic: tuple[KernelDim, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """A counted loop over aligned operations."""

    trips: int
    body: tuple[Operation | Repeat, ...]


def form_bundle(
    body: Sequence[Operation | Repeat],
    *,
    pool_bytes: int | None = None,
    k_fast: bool = True,
) -> Bundle:
    """The bundle that runs `body` in order.

    `pool_bytes` is what the bundle allocates for the pool, if an operand lies in it; None: the
    caller passes the pool. Raises SPY093 as `form`."""
    nodes = tuple(_node(item, k_fast) for item in body)
    bundle = Bundle(nodes)
    used = any(
        isinstance(operand.place, Hbm) and operand.place.buffer == POOL
        for sdsc, _ in bundle.operations()
        for operand in sdsc.operands
    )
    return Bundle(nodes, PoolBuffer(pool_bytes)) if used else bundle


def _node(item: Operation | Repeat, k_fast: bool) -> Sdsc | Loop:
    if isinstance(item, Repeat):
        return Loop(item.trips, tuple(_node(inner, k_fast) for inner in item.body))
    return form(item, k_fast=k_fast)


def form(operation: Operation, *, k_fast: bool = True) -> Sdsc:
    """The SDSC of one aligned operation.

    `k_fast`: in a matmul, cores that share an output follow each other (a switch of the reference
    compiler, on by default). Raises SPY093 where the backend has no form for the operation, SPY101
    where cells behind a symbolic extent would take part."""
    frame = _frame(operation)
    operands = _operands(operation, frame)
    mask = _mask(operation, frame, operands)
    _check_exact(operation, frame, mask)
    matmul = operation.function in MATMULS
    listed = operation.is_reduction and not _own_dims_only(operation)
    return Sdsc(
        function=_function(operation, operands),
        unit="pt" if matmul else "sfp",
        dims=tuple(
            Dim(frame.labels[s], e, frame.symbolic.get(s)) for s, e in frame.extents.items()
        ),
        operands=operands,
        cut=_cut(frame, last_fast=matmul and k_fast),
        reads_output=listed,
        constants=_constants(operation, mask),
        mask=mask,
        provenance=operation.provenance,
    )


# --- the frame: symbols, labels, extents --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all operands of an operation share.

    Symbol -> label, extent in whole sticks, valid extent, cores, what is passed for it; in
    iteration order. `stick` is the symbol of the operation's stick; it is `EXTRA` where the
    reference operand has none."""

    labels: dict[str, str]
    extents: dict[str, int]
    valid: dict[str, int]
    splits: dict[str, int]
    symbolic: dict[str, Symbolic]
    stick: str


def _own_dims_only(operation: Operation) -> bool:
    return operation.function in MATMULS or operation.function in SCANS


def dim_labels(function: str, count: int) -> tuple[str, ...]:
    """Labels of `count` iteration dims, in iteration order. SPY093 where there are not enough."""
    matmul = function in MATMULS
    if count > len(MATMUL_LABELS if matmul else DIM_LABELS):
        raise Refusal("SPY093", f"{function} over {count} dims, more than the backend has names")
    if matmul:
        return MATMUL_LABELS[len(MATMUL_LABELS) - count :]
    return (*DIM_LABELS[: count - 1], "out") if count else ()


def _frame(operation: Operation) -> _Frame:
    symbols, count = _in_order(operation), len(operation.symbols)
    reference = operation.operands[0 if operation.is_reduction else -1].tensor
    stick = reference.stick_symbol
    names = dim_labels(operation.function, count)
    labels = {s.name: label for s, label in zip(symbols, names, strict=True)}
    valid = {s.name: s.extent for s in symbols}
    splits = {s.name: s.split for s in symbols}
    _check_lanes(operation, reference)
    if stick is None:
        stick = EXTRA
        cells = 1 if operation.function in MOMENTS else reference.lanes
        labels[EXTRA], valid[EXTRA], splits[EXTRA] = DIM_LABELS[count], cells, 1
    widths = {EXTRA: reference.lanes, **_widths(operation)}
    extents = {
        name: -(-e // widths.get(name, 1)) * widths.get(name, 1) for name, e in valid.items()
    }
    if operation.function == RESTICKIFY:
        splits = {n: 1 if extents[n] != valid[n] else split for n, split in splits.items()}
    return _Frame(labels, extents, valid, splits, _symbolic(operation, splits, widths), stick)


def _check_lanes(operation: Operation, reference: AlignedTensor) -> None:
    """Refuses operands of one element along their sticks where the function asks for a dim there."""
    tensors, name = [operand.tensor for operand in operation.operands], operation.function
    first, last = (_symbols_of(tensor) for tensor in (tensors[0], tensors[-1]))
    why = None
    if _own_dims_only(operation) and None in (tensors[0].stick_symbol, tensors[-1].stick_symbol):
        why = "has an operand with one element along its sticks, and no dim for them"
    elif name.startswith("topk") and not (first - last and last - first):
        why = "chooses one element, or from one: spyre.max does"
    elif reference.stick_symbol is None and len({tensor.lanes for tensor in tensors}) > 1:
        why = "reads and writes one element a stick, in sticks of different numbers of elements"
    if why is not None:
        raise Refusal("SPY093", f"{name} {why}", remedy="give the tensors more elements there")


def _symbols_of(tensor: AlignedTensor) -> set[str]:
    return {c.symbol for c in tensor.coordinates if c.symbol is not None}


def _symbolic(
    operation: Operation, splits: Mapping[str, int], widths: Mapping[str, int]
) -> dict[str, Symbolic]:
    """The symbols whose extent the caller passes, rounded up to whole sticks for every core.

    A dim that alignment cuts has no extent of its own to pass: all of it is iterated."""
    found = {}
    for dim in operation.symbolic:
        own = _pieces(operation, dim)
        if len(own) == 1 and dim.symbolic:
            name = own[0].name
            found[name] = Symbolic(dim.symbolic, splits[name] * widths.get(name, 1))
    return found


def _pieces(operation: Operation, dim: KernelDim) -> list[Symbol]:
    return [symbol for symbol in operation.symbols if symbol.origin == dim.symbol]


def _is_partial(given: Symbolic) -> bool:
    """Whether the extent may end within the last granule."""
    return divisor(parse(given.tag)) % given.granularity != 0


def _check_exact(operation: Operation, frame: _Frame, mask: Sequence[Mask]) -> None:
    """Nothing behind a symbolic extent takes part where that is seen: it ends with a whole granule,
    or the rest of the last one is masked."""
    masked = {m.dim for m in mask}
    for dim in operation.symbolic:
        own = _pieces(operation, dim)
        if not dim.exact or (not own and dim.reduction):
            continue  # of a reduction over one cell at most there is one: it is over some cell
        if len(own) != 1:
            why = f"the operands cut it into {len(own)} dims" if own else "it is 0 or 1"
            raise _inexact(operation, dim, f"{why}, so that all of it is iterated", 1)
        given = frame.symbolic[own[0].name]
        if _is_partial(given) and frame.labels[own[0].name] not in masked:
            why = f"it is iterated in granules of {given.granularity} elements, whole sticks"
            raise _inexact(operation, dim, why, given.granularity)


def _inexact(operation: Operation, dim: KernelDim, why: str, unit: int) -> Refusal:
    does = "combines" if dim.reduction else "writes"
    whole = f"as a multiple of {unit}, such as {unit} * k, or " if unit > 1 else ""
    return Refusal(
        "SPY101",
        f"'{operation.function}' {does} cells behind the extent {dim.symbolic} of iteration dim "
        f"{dim.symbol}: {why}",
        remedy=f"give the extent {whole}as a literal",
    )


def _in_order(operation: Operation) -> tuple[Symbol, ...]:
    """The symbols in iteration order. The labels of a matmul count from its last dim, so that gaps
    come first there."""
    if operation.function not in MATMULS:
        return operation.symbols
    return tuple(sorted(operation.symbols, key=lambda symbol: symbol.origin is not None))


def _widths(operation: Operation) -> dict[str, int]:
    """Symbol -> elements of the stick that its extent is rounded up to."""
    function, tensors = operation.function, [o.tensor for o in operation.operands]
    converts = len({tensor.lanes for tensor in tensors}) > 1
    if function in MATMULS or function == RESTICKIFY or converts:
        sources = tensors
    else:
        sources = tensors[:1] if operation.is_reduction else tensors[-1:]
    widths: dict[str, int] = {}
    for tensor in sources:
        if tensor.stick_symbol is not None:
            widths[tensor.stick_symbol] = max(widths.get(tensor.stick_symbol, 1), tensor.lanes)
    return widths


def _cut(frame: _Frame, *, last_fast: bool) -> Cut:
    """How cores share the work: the first dim changes fastest from core to core; with `last_fast`
    the last one does if it is divided, then the first."""
    order = list(frame.splits)
    if last_fast and frame.splits[order[-1]] > 1:
        order = [order[-1], *order[:-1]]
    return tuple((frame.labels[name], frame.splits[name]) for name in order)


# --- operands -----------------------------------------------------------------------------------


def _check_sticks(operation: Operation, frame: _Frame) -> None:
    """All tensors of an operation have the same dim in the stick, or one value per stick; a matmul
    reads its reduced dim in the stick of its first input and writes the generated dim."""
    if operation.function == RESTICKIFY:
        return
    matmul = operation.function in MATMULS
    for index, operand in enumerate(operation.operands):
        stick = operand.tensor.stick_symbol
        if stick is None and frame.stick in _symbols_of(operand.tensor):
            what = f"operand {index} of {operation.function} holds one element a stick"
            raise Refusal("SPY098", f"{what} where others hold many", remedy="restickify it")
        wanted = ("in" if index == 0 else "out") if matmul else frame.labels[frame.stick]
        if stick is not None and frame.labels[stick] != wanted:
            raise Refusal(
                "SPY093",
                f"operand {index} of {operation.function} has dim '{frame.labels[stick]}' in its "
                f"stick, the function reads dim '{wanted}' there",
                remedy="restickify the operand, or give it a layout with that dim in the stick",
            )


def _operands(operation: Operation, frame: _Frame) -> tuple[SdscOperand, ...]:
    _check_sticks(operation, frame)
    orders: dict[tuple[str, int], list[str]] = {}
    formed = []
    for index, operand in enumerate(operation.operands):
        stick = _stick(operation, index, frame)
        axes, offset = _axes(operation, operand.tensor, stick, frame)
        if not _own_dims_only(operation):
            key = (stick or frame.stick, operand.tensor.lanes)
            axes += _standing(axes, orders.get(key, list(frame.extents)), stick)
            orders.setdefault(key, [axis.dim for axis in axes])
        formed.append(
            SdscOperand(
                tuple(Axis(frame.labels[a.dim], a.iterates, a.gap) for a in axes),
                frame.labels[stick or frame.stick],
                operand.format,
                moved(operand.place, offset * FORMATS[operand.format].bytes),
            )
        )
    return tuple(formed)


def _stick(operation: Operation, index: int, frame: _Frame) -> str | None:
    """The symbol that this operand has in its stick; `EXTRA` counts where the operation has it.

    `layernormscale` reads a pair from each stick and fills the whole stick; moments do the
    reverse."""
    stick = operation.operands[index].tensor.stick_symbol
    if stick is not None or frame.stick != EXTRA:
        return stick
    reads = index < len(operation.operands) - 1
    pair = operation.function == "layernormscale" if reads else operation.function in MOMENTS
    return None if pair else EXTRA


def _axes(
    operation: Operation, tensor: AlignedTensor, stick: str | None, frame: _Frame
) -> tuple[list[Axis], int]:
    """The axes that the tensor indexes, inner to outer, named by symbol; and the elements before
    its first one. A dim of size 1 stands for the stick symbol where that has no dim of its own."""
    axes: list[Axis] = []
    offset, inner = 0, tensor.lanes
    listed: set[str | None] = set()
    for size, coordinate in zip(
        reversed(tensor.device_size[:-1]), reversed(tensor.coordinates[:-1]), strict=True
    ):
        name = coordinate.symbol
        offset += coordinate.constant * inner
        inner *= size
        if name is None and stick != EXTRA:
            name = stick
        if name is not None and name not in listed:
            listed.add(name)
            axes.append(Axis(name, gap=_gap(operation, size, coordinate, stick, tensor, frame)))
    return axes, offset


def _gap(
    operation: Operation,
    size: int,
    coordinate: Coordinate,
    stick: str | None,
    tensor: AlignedTensor,
    frame: _Frame,
) -> int:
    if coordinate.symbol is None:
        return 0
    if coordinate.divisor not in (1, tensor.lanes) or (
        coordinate.divisor > 1 and coordinate.symbol != stick
    ):
        raise Refusal("SPY093", f"a device dim is read at {coordinate}, off its stick")
    gap = size * coordinate.divisor - frame.extents[coordinate.symbol]
    behind = coordinate.constant * coordinate.divisor
    if gap < behind:
        raise Refusal(
            "SPY093",
            f"an operand of {operation.function} has {size * coordinate.divisor - behind} elements "
            f"along a dim of which {frame.extents[coordinate.symbol]} are read, in whole sticks",
            remedy="copy the operand into a buffer that has whole sticks along that dim",
        )
    return gap


def _standing(axes: Sequence[Axis], order: Sequence[str], stick: str | None) -> list[Axis]:
    """Axes for the dims that the operand does not index, in the order of its layout class."""
    listed = {axis.dim for axis in axes}
    return [Axis(name, iterates=name == stick) for name in order if name not in listed]


def moved(place: Hbm | Lx, nbytes: int) -> Hbm | Lx:
    """Where an operand begins that starts `nbytes` behind the buffer at `place`."""
    if isinstance(place, Lx):
        return Lx(place.address + nbytes, place.cut)
    return Hbm(place.buffer, place.offset + nbytes, place.advances if any(place.advances) else ())


# --- function, mask, constants ------------------------------------------------------------------


def _function(operation: Operation, operands: Sequence[SdscOperand]) -> str:
    if not operation.is_reduction or _own_dims_only(operation):
        return operation.function
    in_stick = _stands_in_stick(operands[-1])
    return operation.function if in_stick else f"{operation.function}nonstick"


def _stands_in_stick(operand: SdscOperand) -> bool:
    return any(axis.dim == operand.stick and not axis.iterates for axis in operand.axes)


def _mask(operation: Operation, frame: _Frame, operands: Sequence[SdscOperand]) -> tuple[Mask, ...]:
    """The lanes behind the valid elements, where a stick is reduced (or exponentiated)."""
    given = frame.symbolic.get(frame.stick)
    pad = frame.extents[frame.stick] - frame.valid[frame.stick]
    if given is not None:
        pad = given.granularity - 1 if _is_partial(given) else 0
    reduces = operation.is_reduction and not _own_dims_only(operation)
    if not pad or not (operation.function == "exp" or (reduces and _stands_in_stick(operands[-1]))):
        return ()
    value = MASK_VALUES.get(operation.function)
    whole = operation.operands[0].format in INTEGERS
    if value is None or (whole and isinf(value)):
        raise Refusal(
            "SPY093",
            f"{operation.function} reduces a stick of which {pad} elements "
            f"{'may ' if given else ''}hold no data",
            remedy="fill the padding with the neutral element, or reduce another dim",
        )
    tag = None if given is None else given.tag
    return (Mask(frame.labels[frame.stick], frame.valid[frame.stick], pad, tag),)


def _constants(operation: Operation, mask: Sequence[Mask]) -> tuple[Constant, ...]:
    storage = operation.operands[0].format
    values = list(operation.constants)
    if mask:  # the mask names constant 0
        values.insert(0, (MASK_CONSTANT, MASK_VALUES[operation.function]))
    return tuple(Constant(name, storage, float_bits(value)) for name, value in values)


def float_bits(value: float) -> int:
    """The bits of `value` as a 32-bit float, in which the observed bundles state constants."""
    return int.from_bytes(struct.pack("<f", value), "little")
