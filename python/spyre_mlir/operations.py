# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the IR as plain values: attributes, storage, and the `Kernel` that the plans read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import divisor
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Dim, Kernel, stick_granules, window_granules
from spyre_mlir.layouts import (
    Layout,
    address_of,
    contiguous_strides,
    coordinates_at,
    default_layout,
)
from spyre_mlir.listings import VIEWS, Listing
from spyre_mlir.optable import OPS, Domain, Linear, Op
from spyre_mlir.quasiaffine import ZERO, Expression, symbol
from spyre_mlir.quasiaffine import literal as constant
from spyre_mlir.tensors import TensorType
from spyre_mlir.value_ranges import divide

PREFIX = "spyre."

ROWS = {f"{PREFIX}{name}": row for name, row in OPS.items()}
"""The operation table by the names of the dialect."""

ELSEWHERE = frozenset(
    ["scf.for", *VIEWS, *(name for name, row in ROWS.items() if row.rule == "write")]
)
"""Operations whose results lie in the buffer of another value."""


def meaning(op: ir.Operation) -> Op | None:
    """The row of the operation table for an operation of the dialect, None for any other."""
    return ROWS.get(op.name)


def attributes(op: ir.Operation, row: Op) -> dict[str, Any]:
    """The operation's own attributes as Python values, defaults filled in."""
    given = {
        a.name: _value(op.attributes[a.name]) for a in row.attributes if a.name in op.attributes
    }
    return row.attribute_values(given)


def _value(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.ArrayAttr):
        return tuple(_value(element) for element in attribute)
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    return attribute.value


@dataclass(frozen=True, slots=True)
class Storage:
    """The buffer that a value lies in, and where.

    `owner` is the value that owns the memory; `layout` and `shape` are the buffer's. `index` has one expression per
    dim of the buffer, in elements, over the index into the value and the trip counters of the loops around."""

    owner: ir.Value
    layout: Layout
    shape: tuple[int, ...]
    index: tuple[Expression, ...]

    @property
    def flat(self) -> Expression:
        """Host elements from the start of the buffer."""
        return flat_index(self.index, contiguous_strides(self.shape))


def storage_of(
    value: ir.Value, index: tuple[Expression, ...] | None = None, extents: Mapping[str, int] = {}
) -> Storage:
    """Where the cell at `index` (None: the first one) of a value lies, through all views and windows.

    `extents` are those of the symbols in `index`. The result of an operation whose type is a window lies where it is
    inserted. Refused: SPY021 for offsets that are no induction variables."""
    shape = tuple(value.type.shape)
    index = (ZERO,) * len(shape) if index is None else index
    first = value.owner.operation if isinstance(value, ir.OpResult) else None
    while True:
        source = value.owner if isinstance(value, ir.OpResult) else None
        row = None if source is None else meaning(source)
        if source is not None and row is not None and row.tiling == "view" and row.operands:
            value, index = source.operands[0], _through(source, row, index, extents, first)
            continue
        if source is not None and encodings.read(value.type).window:
            uses = [use.owner for use in value.uses if inserts(use)]
            if len(uses) == 1:
                moved = offsets_of(uses[0].operation, 2)
                index = tuple(a + b for a, b in zip(index, moved, strict=True))
                value = uses[0].operands[1]
                continue
        owner = carrier(value)
        if owner == value:
            tensor = encodings.read(owner.type)
            return Storage(owner, layout_of(tensor), tensor.shape, index)
        value = owner


def inserts(use: ir.OpOperand) -> bool:
    """Whether a value is what an insertion writes."""
    return use.owner.name == "spyre.insert_slice" and use.operand_number == 0


def _through(
    view: ir.Operation,
    row: Op,
    index: tuple[Expression, ...],
    extents: Mapping[str, int],
    inner: ir.Operation | None,
) -> tuple[Expression, ...]:
    """The index into the operand of a view from the one into its result. `inner` stands in the loops whose trip
    counters the index has."""
    if row.domain is None:
        return _reshaped(view, index, {**trip_counts(inner or view), **extents})
    entries = domain_of(view).operands[0]
    assert entries is not None
    return indexed(entries, index, view)


def indexed(
    entries: tuple[Linear, ...], index: Sequence[Expression], op: ir.Operation | None = None
) -> tuple[Expression, ...]:
    """The entries of an indexing map where the iteration dims have the values `index`; `op` has the offsets."""
    offsets: tuple[Expression, ...] = ()
    if op is not None and any(entry.offset is not None for entry in entries):
        given = [v for v in op.operands if not isinstance(v.type, ir.RankedTensorType)]
        offsets = tuple(
            ZERO if entry.offset is None else index_of(given[entry.offset]) for entry in entries
        )
    return _indexed(entries, tuple(index), offsets)


@lru_cache(maxsize=1 << 12)
def _indexed(
    entries: tuple[Linear, ...], index: tuple[Expression, ...], offsets: tuple[Expression, ...]
) -> tuple[Expression, ...]:
    found = []
    for number, entry in enumerate(entries):
        total = constant(entry.constant)
        for dim, coefficient in entry.terms:
            total = total + index[dim] * coefficient
        if offsets:
            total = total + offsets[number]
        found.append(total // entry.divisor if entry.divisor > 1 else total)
    return tuple(found)


def _reshaped(
    view: ir.Operation, index: tuple[Expression, ...], box: Mapping[str, int]
) -> tuple[Expression, ...]:
    """The index under the operand's shape of the cell at `index` under the result's."""
    source, result = (tuple(v.type.shape) for v in (view.operands[0], view.results[0]))
    return _under_shape(source, result, index, tuple(box.items()))


@lru_cache(maxsize=1 << 12)
def _under_shape(
    source: tuple[int, ...],
    result: tuple[int, ...],
    index: tuple[Expression, ...],
    box: tuple[tuple[str, int], ...],
) -> tuple[Expression, ...]:
    rest, extents = flat_index(index, contiguous_strides(result)), dict(box)
    found = []
    for stride in contiguous_strides(source):
        digit, rest = divide(rest, stride, extents)
        found.append(digit)
    return tuple(found)


def trip_counts(op: ir.Operation) -> dict[str, int]:
    """Trip counter -> trips of each loop around an operation."""
    found: dict[str, int] = {}
    loop = op.parent
    while loop is not None and loop.name == "scf.for":
        found[trip_counter(loop)] = trips(loop)
        loop = loop.parent
    return found


def trips(loop: ir.Operation) -> int:
    """Trips of a counted loop with constant bounds. Refused (SPY021) where they are not."""
    low, high, step = (literal(value) for value in list(loop.operands)[:3])
    return max(0, -(-(high - low) // step))


def carrier(value: ir.Value) -> ir.Value:
    """The value that owns the memory of `value`: loops carry one buffer, insertions write in place."""
    while True:
        if isinstance(value, ir.BlockArgument):
            loop = value.owner.owner
            if loop.name != "scf.for":
                return value
            value = loop.operands[3 + value.arg_number - 1]
        elif value.owner.name == "scf.for":
            value = value.owner.operands[3 + value.result_number]
        elif value.owner.name == "spyre.insert_slice":
            value = value.owner.operands[1]
        else:
            return value


def offsets_of(op: ir.Operation, first: int) -> tuple[Expression, ...]:
    """Offsets of a slice or insertion, one per dim; `first` is the first index operand."""
    dynamic = iter(list(op.operands)[first:])
    return tuple(
        index_of(next(dynamic))
        if offset == ir.ShapedType.get_dynamic_stride_or_offset()
        else constant(offset)
        for offset in ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    )


def index_of(value: ir.Value) -> Expression:
    """An index value over constants and induction variables. A loop from 0 in steps of s gives `s * trip`.

    The trip counter of the loop is named by its depth: `t0` outermost."""
    if isinstance(value, ir.BlockArgument) and value.owner.owner.name == "scf.for":
        loop = value.owner.owner
        low, step = literal(loop.operands[0]), literal(loop.operands[2])
        return symbol(trip_counter(loop)) * step + low
    if isinstance(value, ir.OpResult) and value.owner.name == "arith.constant":
        return constant(literal(value))
    if isinstance(value, ir.OpResult) and value.owner.name == "arith.addi":
        return index_of(value.owner.operands[0]) + index_of(value.owner.operands[1])
    raise Refusal(
        "SPY021",
        "an offset is no sum of constants and induction variables of counted loops",
    )


def literal(value: ir.Value) -> int:
    """The value of an `arith.constant`. Refused (SPY021) for anything else."""
    if isinstance(value, ir.OpResult) and value.owner.name == "arith.constant":
        return ir.IntegerAttr(value.owner.attributes["value"]).value
    raise Refusal("SPY021", "a loop bound or offset is not a constant")


def trip_counter(loop: ir.Operation) -> str:
    """The symbol that counts the trips of a loop: `t` and its depth, outermost 0."""
    depth, parent = 0, loop.parent
    while parent is not None and parent.name == "scf.for":
        depth, parent = depth + 1, parent.parent
    return f"t{depth}"


def advances_of(storage: Storage) -> tuple[int, ...]:
    """Bytes by which a place moves in its buffer with one trip of each loop around, outermost first.

    Empty where it stays in every trip. Refused: SPY097 where it does not move by one step."""
    flat = storage.flat
    if not flat.terms:
        return ()
    moved: dict[str, int] = {}
    for atom, coefficient in flat.terms:
        if not isinstance(atom, str):
            raise Refusal(
                "SPY097",
                f"a window under another shape moves by {flat}, not by one step a trip",
                remedy="copy the reshaped tensor with spyre.identity before the loop",
            )
        moved[atom] = coefficient
    depth = 1 + max(int(name[1:]) for name in moved)
    start = address_at(storage.layout, flat.constant)
    advances = tuple(
        address_at(storage.layout, flat.constant + moved.get(f"t{level}", 0)) - start
        for level in range(depth)
    )
    inside = [advance for advance in advances if advance % STICK_BYTES]
    if inside:
        raise Refusal(
            "SPY090",
            f"a window moves by {inside[0]} bytes a trip, in sticks of {STICK_BYTES} bytes",
            remedy="move it by whole sticks, or put another dim on the stick",
        )
    return advances


def address_at(layout: Layout, offset: int) -> int:
    """Bytes from the start of a buffer to its host element at `offset`."""
    return address_of(layout, coordinates_at(layout, offset))


def layout_of(tensor: TensorType) -> Layout:
    """The layout of a tensor type; the default one where none is written."""
    return tensor.layout or default_layout(tensor.shape, tensor.element)


def domain_of(op: ir.Operation) -> Domain:
    """Iteration domain and indexing maps of an operation that has them, over its physical shapes."""
    row = meaning(op)
    assert row is not None and row.domain is not None
    return _domain(
        row.name,
        tuple(_shape(value) for value in op.operands),
        tuple(tuple(value.type.shape) for value in op.results),
        tuple(attributes(op, row).items()),
    )


@lru_cache(maxsize=1 << 12)
def _domain(
    name: str,
    operands: tuple[tuple[int, ...] | None, ...],
    results: tuple[tuple[int, ...], ...],
    given: tuple[tuple[str, Any], ...],
) -> Domain:
    domain = OPS[name].domain
    assert domain is not None
    return domain(operands, results, dict(given))


def _shape(value: ir.Value) -> tuple[int, ...] | None:
    return tuple(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else None


def computed_results(op: ir.Operation) -> list[ir.OpResult]:
    """The results that are used, or the first one: the device has a function for each, and computes no other."""
    used = [result for result in op.results if next(result.uses, None) is not None]
    return used or [op.results[0]]


def kernel_of(op: ir.Operation) -> Kernel | None:
    """The kernel of an operation of the dialect; None for one that computes nothing or has no linear domain.

    Inside loops it is that of the first trip: windows advance by whole sticks, so every trip spans the same."""
    row = meaning(op)
    if row is None or row.domain is None or row.tiling in ("view", "none"):
        return None
    operands = tuple(_tensor(value) for value in op.operands)
    results = tuple(encodings.read(value.type) for value in op.results)
    values, given = (*op.operands, *op.results), tuple(attributes(op, row).items())
    if all(is_whole(value) for value in values):
        return _kernel_of_types(row.name, operands, results, given)
    domain = _domain_of(row.name, operands, results, given)
    box = _box(domain)
    cells = [symbol(name) for name in box]
    seen: list[Seen | None] = []
    for value, index in zip(values, (*domain.operands, *domain.results), strict=True):
        tensor = None if index is None else _tensor(value)
        if tensor is None or index is None:
            seen.append(None)
            continue
        storage = storage_of(value, indexed(index, cells, op), box)
        buffer = TensorType(storage.shape, tensor.element, storage.layout)
        seen.append((buffer, first_trip(storage.flat, box)))
    return _kernel(row.name, operands, results, given, tuple(seen))


def is_whole(value: ir.Value) -> bool:
    """Whether a value is a scalar or a buffer of its own: no view, no window, nothing that a loop carries."""
    type = value.type
    if isinstance(type, ir.IndexType):
        return False
    if isinstance(type, ir.RankedTensorType) and encodings.read(type).window:
        return False
    if isinstance(value, ir.BlockArgument):
        return bool(value.owner.owner.name != "scf.for")
    return value.owner.name not in ELSEWHERE


Types = tuple[TensorType | None, ...]

Seen = tuple[TensorType, Expression]
"""The buffer of an operand or result, and the flat index in it over the iteration symbols."""


@lru_cache(maxsize=1 << 12)
def _kernel_of_types(
    name: str, operands: Types, results: tuple[TensorType, ...], given: tuple[tuple[str, Any], ...]
) -> Kernel:
    """The kernel of an operation on buffers of their own: it follows from the types."""
    domain = _domain_of(name, operands, results, given)
    cells = [symbol(name) for name in _box(domain)]
    indices = (*domain.operands, *domain.results)
    seen = tuple(
        None
        if tensor is None or index is None
        else (tensor, flat_index(indexed(index, cells), contiguous_strides(tensor.shape)))
        for tensor, index in zip((*operands, *results), indices, strict=True)
    )
    return _kernel(name, operands, results, given, seen)


@lru_cache(maxsize=1 << 12)
def _kernel(
    name: str,
    operands: Types,
    results: tuple[TensorType, ...],
    given: tuple[tuple[str, Any], ...],
    seen: tuple[Seen | None, ...],
) -> Kernel:
    row = OPS[name]
    names = [operand.name for operand in row.operands]
    labels = [names[min(number, len(names) - 1)] for number in range(len(operands))]
    labels += [result.name for result in row.results]
    found = [
        _access(labels[number], *where, number >= len(operands))
        for number, where in enumerate(seen)
        if where is not None
    ]
    domain, valid = _domain_of(name, operands, results, given), _bounds(row, operands, results)
    return Kernel(name, row.family, _dims(domain, valid, results, found), tuple(found))


def _domain_of(
    name: str, operands: Types, results: tuple[TensorType, ...], given: tuple[tuple[str, Any], ...]
) -> Domain:
    shapes = tuple(None if tensor is None else tensor.shape for tensor in operands)
    return _domain(name, shapes, tuple(tensor.shape for tensor in results), given)


def _box(domain: Domain) -> dict[str, int]:
    """Symbol -> extent of each iteration dim."""
    return {f"d{number}": extent for number, extent in enumerate(domain.extents)}


def _bounds(
    row: Op, operands: tuple[TensorType | None, ...], results: tuple[TensorType | None, ...]
) -> tuple[tuple[TensorType | None, ...], ...]:
    """The types that say how far an operation runs: all of them; of an insertion its source, whatever else the
    destination holds; none where sticks are turned, which are turned as a whole."""
    if row.rule not in ("write", "restickify"):
        return operands, results
    source = operands[0] if row.rule == "write" else None
    return (source, *[None] * (len(operands) - 1)), (None,) * len(results)


def _tensor(value: ir.Value) -> TensorType | None:
    return encodings.read(value.type) if isinstance(value.type, ir.RankedTensorType) else None


def _access(label: str, buffer: TensorType, flat: Expression, written: bool) -> Access:
    return Access(
        label,
        label,
        layout_of(buffer),
        buffer.element,
        flat,
        written,
        buffer.shape,
        contiguous_strides(buffer.shape),
    )


def dims_of(op: ir.Operation, kernel: Kernel) -> tuple[tuple[str | None, int, bool, int], ...]:
    """(name or None, extent, whether reduced, elements a stick) of each iteration dim; names stand in `spyre.dims`."""
    names: list[str | None] = [None] * len(kernel.dims)
    if "spyre.dims" in op.attributes:
        for number, name in enumerate(ir.ArrayAttr(op.attributes["spyre.dims"])):
            names[number] = name.value
    return tuple(
        (name, dim.extent, dim.reduction, dim.stick)
        for name, dim in zip(names, kernel.dims, strict=True)
    )


def first_trip(flat: Expression, extents: Mapping[str, int]) -> Expression:
    """The index with every trip counter at 0."""
    others = [name for name in flat.symbols() if name not in extents]
    return flat.substitute(dict.fromkeys(others, 0)) if others else flat


def _dims(
    domain: Domain,
    tensors: tuple[tuple[TensorType | None, ...], ...],
    results: tuple[TensorType, ...],
    found: list[Access],
) -> tuple[Dim, ...]:
    """The iteration dims, over the valid box of `tensors`, operands and results; a symbolic extent counts with its
    largest value."""
    extents = {f"d{i}": extent for i, extent in enumerate(domain.extents)}
    granules = stick_granules(found, extents)
    for name, steps in window_granules(found).items():
        granules[name] = lcm(granules[name], steps)
    dims = []
    for number, (extent, reduction) in enumerate(
        zip(domain.extents, domain.reduction, strict=True)
    ):
        valid = _valid_extent(number, domain, *tensors)
        symbolic = None if valid is None or isinstance(valid, int) else str(valid)
        exact = symbolic is not None and (reduction or _data_behind(number, valid, domain, results))
        dims.append(
            Dim(
                f"d{number}",
                valid if isinstance(valid, int) else _largest(valid, extent),
                reduction,
                None if reduction else number,
                granules[f"d{number}"],
                symbolic,
                exact,
                number in domain.loaded,
            )
        )
    return tuple(dims)


def _largest(valid: Any, size: int) -> int:
    """The most that a symbolic extent (None: a full one) can be in a dim of this size."""
    step = 1 if valid is None else divisor(valid)
    return size if step > size else size // step * step


def _data_behind(number: int, valid: Any, domain: Domain, results: tuple[TensorType, ...]) -> bool:
    """Whether a buffer may hold data behind the valid extent of what is written along an iteration dim: one that the
    operation shares with others does, unless its own region ends there."""
    for tensor, index in zip(results, domain.results, strict=True):
        for entry, end in zip(index or (), tensor.valid, strict=False):
            along = any(dim == number for dim, _ in entry.terms)
            at_start = entry.constant == 0 and entry.offset is None
            if along and (tensor.window or not at_start or end != valid):
                return True
    return False


def _valid_extent(
    number: int,
    domain: Domain,
    operands: tuple[TensorType | None, ...],
    results: tuple[TensorType | None, ...],
) -> Any:
    own = ((number, 1),)
    pairs = [
        *zip(results, domain.results, strict=True),
        *zip(operands, domain.operands, strict=True),
    ]
    for tensor, index in pairs:
        if tensor is None or index is None or tensor.valid_shape is None:
            continue
        for entry, valid in zip(index, tensor.valid_shape, strict=True):
            if entry.terms == own and entry.divisor == 1 and entry.constant == 0:
                return valid
    return None


def walk(
    root: ir.Operation, chosen: Callable[[ir.Operation], bool] | None = None
) -> list[ir.Operation]:
    """The operations of the dialect inside `root`, in order, those in regions after the operation that holds them.

    `chosen` is asked of one operation of each kind (see `spyre_mlir.listings`)."""
    return Listing(root).select(
        lambda op: op.name.startswith(PREFIX) and (chosen is None or chosen(op))
    )
