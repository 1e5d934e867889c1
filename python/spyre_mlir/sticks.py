# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which dim of a tensor lies on the stick, and on which one each operation reads it.

The rules (SDSC bundle specification): elementwise operations have one dim on all their sticks; a reduction leaves the
stick of its operand, or one value a stick where it reduces that dim; a contraction reads its reduced dim in the sticks
of the first factor and the generated dim in those of the second; a scan runs over no dim of the stick; moments reduce
the stick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from spyre_mlir import encodings, ir
from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.layouts import (
    Layout,
    contiguous_strides,
    default_layout,
    device_layout,
    digits,
    host_dims,
    stick_dim,
)
from spyre_mlir.operations import attributes, domain_of, first_trip, layout_of, meaning, storage_of
from spyre_mlir.optable import Domain, Linear, Op
from spyre_mlir.quasiaffine import Expression, symbol
from spyre_mlir.tensors import TensorType

CHOOSES = ("value", "target")
"""Roles of operands from which a result takes its layout."""


@dataclass(frozen=True, slots=True)
class Sticks:
    """What an operation asks of sticks.

    `operands`: (operand number, dim of the operand) of those whose stick lies elsewhere. `results`: the dim on each
    result's stick, None for one value a stick. `model`: the layout of an operand that results of its shape take."""

    operands: tuple[tuple[int, int], ...]
    results: tuple[int | None, ...]
    model: Layout | None = None


@lru_cache(maxsize=1 << 12)
def with_stick(shape: tuple[int, ...], element: str, dim: int | None) -> Layout:
    """The layout with `dim` on the stick (None: one value a stick), the other dims in order."""
    if not shape:
        return device_layout(shape, element)
    if dim is None:
        # Dims of extent 1 count for nothing in the order: observed of reductions of 1 x 8 x 64 x 64.
        order = sorted(range(len(shape)), key=lambda d: shape[d] == 1)
        return device_layout(shape, element, order=(*order, -1))
    return device_layout(shape, element, order=(*(d for d in range(len(shape)) if d != dim), dim))


def stick_of(value: ir.Value) -> int | None:
    """The dim of a tensor that runs through the lanes of a stick, through all views; None if there is none."""
    if isinstance(value, ir.OpResult):
        row = meaning(value.owner)
        if row is not None and row.tiling == "view" and row.operands:
            return _seen_stick(value)
    tensor = encodings.read(value.type)
    if tensor.window:
        return _seen_stick(value)
    return _stick(layout_of(tensor), tensor.shape)


def _stick(layout: Layout, shape: tuple[int, ...]) -> int | None:
    dim = stick_dim(layout, contiguous_strides(shape))
    while dim is not None and shape[dim] == 1 and dim + 1 < len(shape):
        # A dim of extent 1 has the stride of the next one.
        dim += 1
    return dim


def _seen_stick(value: ir.Value) -> int | None:
    seen = _lane(value).symbols()
    return int(seen[0][1:]) if len(seen) == 1 else None


def _lane(value: ir.Value) -> Expression:
    """The lane of a tensor's cell, over one symbol for each dim (`d0`, `d1`, ...), through all views."""
    shape = tuple(value.type.shape)
    extents = {f"d{i}": extent for i, extent in enumerate(shape)}
    storage = storage_of(value, tuple(symbol(name) for name in extents), extents)
    flat = first_trip(storage.flat, extents)
    access = Access("", "", storage.layout, str(value.type.element_type), flat)
    return device_coordinates(access, extents)[-1]


def pairs_of(op: ir.Operation, row: Op) -> ir.Value | None:
    """The tensor of which an operation reads or writes pairs in lanes 0 and 1 of a stick; None if there is none."""
    if row.rule == "norm_scale":
        return op.operands[0]
    return op.results[0] if row.rule == "moments" else None


def lies_in_pairs(value: ir.Value) -> bool:
    """Whether the two cells of each row lie in lanes 0 and 1 of one stick: a view may show one cell as both, or cells
    of two sticks."""
    return _lane(value) == symbol(f"d{len(value.type.shape) - 1}")


def view_layout(view: ir.Operation) -> tuple[Layout | None, bool]:
    """Layout and window flag of a view's result.

    A window carries its buffer's layout; a transposed tensor lies as its operand does, its strides in its own order.
    Another shape has the default layout, which says nothing of where the cells lie: accesses go through the view."""
    source, result = encodings.read(view.operands[0].type), encodings.read(view.results[0].type)
    row = meaning(view)
    assert row is not None
    if row.rule in ("window", "narrow"):
        return source.layout, source.window or row.rule == "window"
    if row.rule != "transpose" or source.layout is None:
        return default_layout(result.shape, result.element), False
    if source.window:
        return source.layout, True
    order = attributes(view, row)["permutation"]
    return _permuted(source.layout, source.shape, result.shape, order), False


def _permuted(
    layout: Layout, shape: tuple[int, ...], permuted: tuple[int, ...], order: tuple[int, ...]
) -> Layout:
    strides = contiguous_strides(permuted)
    moving = dict(digits(layout))
    steps = [
        -1 if moves is None else moves[1] * strides[order.index(moves[0])]
        for moves in host_dims(layout, shape)
    ]
    dim = _stick(layout, shape)
    if dim is not None:
        # The only stick of a dim does not move, but says how far the next one would be.
        lanes = layout.elements_per_stick
        old = contiguous_strides(shape)[dim]
        for j, step in enumerate(layout.stride_map[:-1]):
            if j not in moving and step == lanes * old:
                steps[j] = lanes * strides[order.index(dim)]
    return Layout(layout.device_size, tuple(steps), layout.format, layout.arrangement)


def sticks(op: ir.Operation, row: Op) -> Sticks:
    """What an operation asks of the sticks of its operands, whose layouts are known."""
    domain = None if row.domain is None else domain_of(op)
    if domain is None or domain.loaded:
        return Sticks((), tuple(_default(value) for value in op.results))
    have = {
        number: _iterated(index, stick_of(op.operands[number]))
        for number, index in enumerate(domain.operands)
        if index is not None and isinstance(op.operands[number].type, ir.RankedTensorType)
    }
    if row.rule == "restickify":
        return Sticks((), tuple(_default(value) for value in op.results))
    model = _model(op, row) if _copies_layout(row) else None
    stick, wanted = _wanted(op, row, domain, have, model)
    moved = []
    for number, dim in wanted.items():
        index = domain.operands[number]
        if have.get(number) in (None, dim) or index is None or dim is None:
            continue
        at = _dim_of(index, dim)
        if at is not None:
            moved.append((number, at))
    results = tuple(
        _result_stick(index, tuple(value.type.shape), stick)
        for index, value in zip(domain.results, op.results, strict=True)
    )
    return Sticks(tuple(moved), results, None if model is None else _layout(model))


def _default(value: ir.Value) -> int | None:
    return len(value.type.shape) - 1 if value.type.shape else None


def _iterated(index: tuple[Linear, ...], dim: int | None) -> int | None:
    """The iteration dim that runs over a dim of an operand."""
    return index[dim].terms[0][0] if dim is not None and index[dim].terms else None


def _dim_of(index: tuple[Linear, ...], stick: int) -> int | None:
    return next((i for i, entry in enumerate(index) if entry.terms == ((stick, 1),)), None)


def _result_stick(
    index: tuple[Linear, ...] | None, shape: tuple[int, ...], stick: int | None
) -> int | None:
    if index and not index[-1].terms and shape[-1] > 1:
        return len(shape) - 1  # cells that one iteration writes together share a stick
    return None if index is None or stick is None else _dim_of(index, stick)


def _wanted(
    op: ir.Operation,
    row: Op,
    domain: Domain,
    have: Mapping[int, int | None],
    model: ir.Value | None,
) -> tuple[int | None, dict[int, int | None]]:
    """The iteration dim on the stick of the operation, and that which each operand is read along."""
    count = len(domain.extents)
    if row.tiling == "contraction":
        first = len(domain.operands) - 2
        return count - 2, {first: count - 1, first + 1: count - 2}
    if row.rule == "moments":
        return None, {0: count - 1}
    outside = row.tiling == "reduction" and row.device.function("stick") is None
    if row.device.functions and (row.tiling == "scan" or outside):
        stick = have.get(0)
        if stick is None or domain.reduction[stick] or _scanned(domain, stick):
            free = [d for d in range(count) if not domain.reduction[d] and not _scanned(domain, d)]
            stick = free[-1] if free else None
        return stick, {0: stick}
    if row.tiling == "reduction":
        stick = have.get(0)
        return (None if stick is None or domain.reduction[stick] else stick), {}
    written = domain.results[0]
    stick = written[-1].terms[0][0] if written and written[-1].terms else None
    if model is not None:
        number = next(i for i, v in enumerate(op.operands) if v == model)
        if have[number] is not None or not _is_replicated(model):
            stick = have[number]
    return stick, {
        n: stick for n in have if row.operands[min(n, len(row.operands) - 1)].role != "scratch"
    }


def _is_replicated(value: ir.Value) -> bool:
    """Whether a view shows one cell all along its last dim: it can be read along sticks there."""
    shape = tuple(value.type.shape)
    row = meaning(value.owner) if isinstance(value, ir.OpResult) else None
    if row is None or row.tiling != "view" or not row.operands or not shape or shape[-1] == 1:
        return False
    extents = {f"d{i}": extent for i, extent in enumerate(shape)}
    storage = storage_of(value, tuple(symbol(name) for name in extents), extents)
    return f"d{len(shape) - 1}" not in storage.flat.symbols()


def _scanned(domain: Domain, dim: int) -> bool:
    """Whether the operand does not run over a dim of the result: it stands in the place of the scanned one."""
    index = domain.operands[0]
    return index is not None and all(entry.terms != ((dim, 1),) for entry in index)


def _copies_layout(row: Op) -> bool:
    return row.tiling == "pointwise" or row.rule in ("narrow", "write")


def _model(op: ir.Operation, row: Op) -> ir.Value | None:
    """The operand that a result lies as: the first one of its shape and width, a dense one before a sparse one."""
    result = encodings.read(op.results[0].type)
    lanes = default_layout((), result.element).elements_per_stick
    own: list[ir.Value] = []
    for operand, value in zip(row.operands, op.operands, strict=False):
        if operand.role not in CHOOSES or not isinstance(value.type, ir.RankedTensorType):
            continue
        tensor = encodings.read(value.type)
        layout = layout_of(tensor)
        if tensor.shape == result.shape and layout.elements_per_stick == lanes:
            own.append((layout.sparse, len(own), value))
    return min(own)[2] if own else None


def _layout(model: ir.Value) -> Layout | None:
    """The layout that results take from a value; None for a view, which lies in a buffer of another shape."""
    tensor: TensorType = encodings.read(model.type)
    row = meaning(model.owner) if isinstance(model, ir.OpResult) else None
    if tensor.window or (row is not None and row.tiling == "view" and row.operands):
        return None
    return layout_of(tensor)
