# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor types between MLIR and plain values: `read` and `write`, each the inverse of the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spyre_mlir import extents, ir
from spyre_mlir.layouts import Layout
from spyre_mlir.tensors import TensorType


def read_layout(attribute: ir.LayoutAttr) -> Layout:
    """`#spyre.layout` as a value."""
    return Layout(
        tuple(attribute.device_size),
        tuple(attribute.stride_map),
        attribute.format,
        attribute.arrangement,
    )


def write_layout(layout: Layout) -> ir.LayoutAttr:
    """A layout as `#spyre.layout`, in the current context."""
    return ir.LayoutAttr.get(
        layout.device_size,
        layout.stride_map,
        format=layout.format or "",
        arrangement=layout.arrangement or "",
    )


_known: dict[ir.Type, TensorType] | None = None
_written: dict[tuple[ir.Context | None, TensorType], ir.RankedTensorType] = {}
"""What was read and written while a pass runs: programs repeat their types. Not longer, for a type keeps its context
alive."""


@contextmanager
def remembering() -> Iterator[None]:
    """Types read and written inside are read and written once."""
    global _known
    before, _known = _known, {} if _known is None else _known
    try:
        yield
    finally:
        _known = before
        if before is None:
            _written.clear()


def read(type: ir.Type) -> TensorType:
    """A ranked tensor type as a value. Raises TypeError for any other type or encoding."""
    if _known is None:
        return _read_type(type)
    found = _known.get(type)
    if found is None:
        found = _known[type] = _read_type(type)
    return found


def _read_type(type: ir.Type) -> TensorType:
    if not isinstance(type, ir.RankedTensorType):
        raise TypeError(f"expected a ranked tensor, got {type}")
    shape, element = tuple(type.shape), str(type.element_type)
    encoding = type.encoding
    if encoding is None:
        return TensorType(shape, element)
    if not isinstance(encoding, ir.EncodingAttr):
        raise TypeError(f"expected #spyre.encoding, got {encoding}")
    valid = encoding.valid_shape
    return TensorType(
        shape,
        element,
        None if encoding.layout is None else read_layout(encoding.layout),
        encoding.window,
        None if valid is None else tuple(map(_extent, valid)),
        encoding.pad,
    )


def _extent(value: int | str) -> extents.Extent:
    return value if isinstance(value, int) else extents.parse(value)


def write(tensor: TensorType) -> ir.RankedTensorType:
    """A value as a ranked tensor type, in the current context.

    The result is canonical: a valid region that is the whole shape is left out, and so is an encoding that
    says nothing."""
    if _known is None:
        return _write_type(tensor)
    key = ir.Context.current, tensor
    found = _written.get(key)
    if found is None:
        found = _written[key] = _write_type(tensor)
    return found


def _write_type(tensor: TensorType) -> ir.RankedTensorType:
    valid = None if tensor.valid_shape in (None, tensor.shape) else tensor.valid_shape
    encoding = None
    if tensor.layout is not None or valid is not None or tensor.pad is not None:
        encoding = ir.EncodingAttr.get(
            layout=None if tensor.layout is None else write_layout(tensor.layout),
            window=tensor.window,
            valid_shape=None if valid is None else [_spelled(extent) for extent in valid],
            pad=tensor.pad,
        )
    element, place = ir.Type.parse(tensor.element), ir.Location.unknown()
    return ir.RankedTensorType.get(tensor.shape, element, encoding, place)


def _spelled(extent: extents.Extent) -> int | str:
    return extent if isinstance(extent, int) else str(extent)
