# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the IR as plain values: attributes, storage, and the `Kernel` that the plans read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import (
    Layout,
    address_of,
    contiguous_strides,
    coordinates_at,
    device_layout,
)
from spyre_mlir.optable import OPS, Domain, Linear, Op
from spyre_mlir.quasiaffine import ZERO, Expression, symbol
from spyre_mlir.quasiaffine import literal as constant
from spyre_mlir.tensors import TensorType

PREFIX = "spyre."


def meaning(op: ir.Operation) -> Op | None:
    """The row of the operation table for an operation of the dialect, None for any other."""
    return OPS.get(op.name[len(PREFIX) :]) if op.name.startswith(PREFIX) else None


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
    return attribute.value  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Storage:
    """The buffer that a value lies in: the value that owns it, its shape, and where the value begins in it.

    `offsets` has one expression per dim, in elements, over the trip counters of the loops around."""

    owner: ir.Value
    shape: tuple[int, ...]
    offsets: tuple[Expression, ...]


def storage_of(value: ir.Value) -> Storage:
    """Follows windows back to the buffer they are pieces of.

    A value whose type is no window owns its buffer. The result of an operation whose type is a window lies where its
    one use inserts it."""
    tensor = encodings.read(value.type)
    rank = len(tensor.shape)
    offsets: tuple[Expression, ...] = (ZERO,) * rank
    while True:
        tensor = encodings.read(value.type)
        step = _parent(value) if tensor.window else None
        if step is None:
            return Storage(carrier(value), tensor.shape, offsets)
        value, moved = step
        offsets = tuple(a + b for a, b in zip(offsets, moved, strict=True))


def _parent(value: ir.Value) -> tuple[ir.Value, tuple[Expression, ...]] | None:
    """The value that this window is a piece of, and the offsets."""
    source = value.owner if isinstance(value, ir.OpResult) else None
    rank = len(value.type.shape)
    if source is not None and source.name == "spyre.slice":
        return source.operands[0], offsets_of(source, 1)
    if source is not None and source.name == "spyre.set_valid_shape":
        return source.operands[0], (ZERO,) * rank
    uses = [use.owner for use in value.uses]
    if source is not None and len(uses) == 1 and uses[0].name == "spyre.insert_slice":
        return uses[0].operands[1], offsets_of(uses[0].operation, 2)
    return None


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
    raise Refusal(
        "SPY021", "an offset is neither a constant nor the induction variable of a counted loop"
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


def advances_of(value: ir.Value) -> tuple[int, ...]:
    """Bytes by which the start of a value moves in its buffer with one trip of each loop around, outermost first.

    Empty where it stays in every trip."""
    storage = storage_of(value)
    layout = layout_of(encodings.read(value.type))
    strides = contiguous_strides(storage.shape)
    flat = flat_index(storage.offsets, strides)
    moved = {atom: coefficient for atom, coefficient in flat.terms}
    if not moved:
        return ()
    depth = 1 + max(int(str(name)[1:]) for name in moved)
    start = address_at(layout, flat.constant)
    return tuple(
        address_at(layout, flat.constant + moved.get(f"t{level}", 0)) - start
        for level in range(depth)
    )


def address_at(layout: Layout, offset: int) -> int:
    """Bytes from the start of a buffer to its host element at `offset`."""
    return address_of(layout, coordinates_at(layout, offset))


def layout_of(tensor: TensorType) -> Layout:
    """The layout of a tensor type; the default one where none is written."""
    return tensor.layout or device_layout(tensor.shape, tensor.element)


def domain_of(op: ir.Operation) -> Domain:
    """Iteration domain and indexing maps of an operation that has them, over its physical shapes."""
    row = meaning(op)
    assert row is not None and row.domain is not None
    return row.domain(
        [_shape(value) for value in op.operands],
        [tuple(value.type.shape) for value in op.results],
        attributes(op, row),
    )


def _shape(value: ir.Value) -> tuple[int, ...] | None:
    return tuple(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else None


def kernel_of(op: ir.Operation) -> Kernel | None:
    """The kernel of an operation of the dialect; None for one that computes nothing or has no linear domain.

    Inside loops it is that of the first trip: windows advance by whole sticks, so every trip spans the same."""
    row = meaning(op)
    if row is None or row.domain is None or row.tiling in ("view", "none"):
        return None
    domain = domain_of(op)
    operands = [_tensor(value) for value in op.operands]
    results = [encodings.read(value.type) for value in op.results]
    found = []
    names = [o.name for o in row.operands]
    for number, (tensor, index) in enumerate(zip(operands, domain.operands, strict=True)):
        if tensor is not None and index is not None:
            label = names[min(number, len(names) - 1)]
            found.append(_access(label, op.operands[number], tensor, index, written=False))
    for number, index in enumerate(domain.results):
        if index is not None:
            label = row.results[number].name
            found.append(_access(label, op.results[number], results[number], index, written=True))
    return Kernel(row.name, row.family, _dims(domain, operands, results, found), tuple(found))


def _tensor(value: ir.Value) -> TensorType | None:
    return encodings.read(value.type) if isinstance(value.type, ir.RankedTensorType) else None


def _access(
    label: str, value: ir.Value, tensor: TensorType, index: tuple[Linear, ...], *, written: bool
) -> Access:
    storage = storage_of(value)
    cells = tuple(
        _linear(entry) + offset.constant
        for entry, offset in zip(index, storage.offsets, strict=True)
    )
    strides = contiguous_strides(storage.shape)
    return Access(
        label,
        label,
        layout_of(tensor),
        tensor.element,
        flat_index(cells, strides),
        written,
        storage.shape,
        strides,
    )


def _linear(entry: Linear) -> Expression:
    total = constant(entry.constant)
    for dim, coefficient in entry.terms:
        total = total + symbol(f"d{dim}") * coefficient
    return total // entry.divisor if entry.divisor > 1 else total


def is_boundary(value: ir.Value) -> bool:
    """Whether a buffer belongs to the caller: an argument of the function, or what it returns."""
    if isinstance(value, ir.BlockArgument):
        return True
    return any(_returned(use.owner.operation, use.operand_number) for use in value.uses)


def _returned(user: ir.Operation, operand: int) -> bool:
    if user.name == "func.return":
        return True
    if user.name == "scf.for" and operand >= 3:
        return is_boundary(user.results[operand - 3])
    if user.name == "spyre.insert_slice" and operand == 1:
        return is_boundary(user.results[0])
    return False


def _dims(
    domain: Domain,
    operands: list[TensorType | None],
    results: list[TensorType],
    found: list[Access],
) -> tuple[Dim, ...]:
    """The iteration dims, over the valid box; a symbolic extent counts with its physical size."""
    extents = {f"d{i}": extent for i, extent in enumerate(domain.extents)}
    granules = stick_granules(found, extents)
    dims = []
    for number, (extent, reduction) in enumerate(
        zip(domain.extents, domain.reduction, strict=True)
    ):
        valid = _valid_extent(number, domain, operands, results)
        symbolic = valid is not None and not isinstance(valid, int)
        dims.append(
            Dim(
                f"d{number}",
                valid if isinstance(valid, int) else extent,
                reduction,
                None if reduction else number,
                granules[f"d{number}"],
                symbolic,
            )
        )
    return tuple(dims)


def _valid_extent(
    number: int, domain: Domain, operands: list[TensorType | None], results: list[TensorType]
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


def walk(root: ir.Operation) -> list[ir.Operation]:
    """The operations of the dialect inside `root`, in order, those in regions after the operation that holds them."""
    found: list[ir.Operation] = []
    stack = [
        iter([op for region in root.regions for block in region.blocks for op in block.operations])
    ]
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        operation = op.operation
        if operation.name.startswith(PREFIX):
            found.append(operation)
        if len(operation.regions):
            inner = [
                o
                for region in operation.regions
                for block in region.blocks
                for o in block.operations
            ]
            stack.append(iter(inner))
    return found
