# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of tensors into buffers with more cells, for functions that read or write whole sticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spyre_mlir import encodings, ir
from spyre_mlir.builders import build
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.dialects import spyre
from spyre_mlir.sticks import with_stick
from spyre_mlir.tensors import TensorType


def rounded_up(extent: int, unit: int) -> int:
    """The next multiple of `unit`."""
    return -(-extent // unit) * unit


def constant(element: str, value: float) -> ir.Value[ir.Type]:
    """A scalar of an element type. Unsigned ones have none in MLIR: they are refused (SPY096)."""
    from mlir.dialects import arith

    if element.startswith("ui"):
        raise Refusal(
            "SPY096",
            f"a constant of {element} cannot be written, for arith.constant makes signless ones",
            remedy="pass it as an argument of the function",
        )
    whole = element[0] == "i"
    return arith.ConstantOp(ir.Type.parse(element), int(value) if whole else value).result


def whole_sticks(shape: Sequence[int], dims: Sequence[int], lanes: int = 64) -> tuple[int, ...]:
    """A shape with some dims rounded up to whole sticks."""
    return tuple(rounded_up(e, lanes) if d in dims else e for d, e in enumerate(shape))


def empty(tensor: TensorType) -> ir.Value[ir.Type]:
    """A buffer of a type, not yet written, at the current insertion point."""
    plain = replace(tensor, window=False, pad=None)
    return spyre.EmptyOp(encodings.write(plain)).result


def buffer(tensor: TensorType, stick: int) -> ir.Value[ir.Type]:
    """A buffer, not yet written, with a dim on the stick."""
    layout = with_stick(tensor.shape, tensor.element, stick)
    return empty(replace(tensor, layout=layout))


def turned(value: ir.Value[ir.Type], stick: int) -> ir.Value[ir.Type]:
    """A tensor of whole sticks in a buffer with another dim on the stick."""
    tensor = encodings.read(value.type)
    layout = with_stick(tensor.shape, tensor.element, stick)
    kind = replace(tensor, layout=layout, window=False, pad=None)
    found: ir.Value[ir.Type] = spyre.RestickifyOp(encodings.write(kind), value).result
    return found


def padded(value: ir.Value[ir.Type], shape: Sequence[int]) -> ir.Value[ir.Type]:
    """A copy of a tensor at the start of a buffer of `shape`; what lies behind it holds no data."""
    tensor = encodings.read(value.type)
    valid = tensor.valid_shape or tensor.shape
    buffer = empty(TensorType(tuple(shape), tensor.element, valid_shape=valid))
    return build("insert_slice", value, buffer, static_offsets=[0] * len(shape))


def trimmed(value: ir.Value[ir.Type], shape: Sequence[int]) -> ir.Value[ir.Type]:
    """The first cells of a tensor, a window of `shape`, in which its symbolic extents end."""
    cut = build("slice", value, static_offsets=[0] * len(shape), shape=tuple(shape))
    valid = encodings.read(value.type).valid
    if any(not isinstance(extent, int) for extent in valid):
        kind = encodings.read(cut.type)
        ends = (e if isinstance(g, int) else g for g, e in zip(valid, kind.valid, strict=True))
        cut.set_type(encodings.write(replace(kind, valid_shape=tuple(ends))))
    return cut
