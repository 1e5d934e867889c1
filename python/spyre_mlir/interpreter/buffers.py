# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tensor` does. Its operations know no valid regions: poison is carried cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Array, Cells, garbage
from spyre_mlir.interpreter.machine import Frame, Handler, Machine
from spyre_mlir.interpreter.program import Step, TensorKind
from spyre_mlir.optable import DYNAMIC

Values = Sequence[Any]


def _shape(step: Step, dynamic: Sequence[Any]) -> tuple[int, ...]:
    """The result's shape; dynamic extents come from the operands."""
    kind, given = step.result_kinds[0], iter(dynamic)
    assert isinstance(kind, TensorKind)
    return tuple(int(next(given)) if extent is None else extent for extent in kind.shape)


def empty(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """A buffer in which every cell is still to be written."""
    kind, shape = step.result_kinds[0], _shape(step, operands)
    assert isinstance(kind, TensorKind)
    return [Cells(np.full(shape, garbage(kind.element)), np.ones(shape, np.bool_))]


def _region(step: Step, operands: list[Any], first: int, whole: tuple[int, ...]) -> Any:
    """The window that offsets, sizes and strides describe, as an index; refused outside."""
    counts = [int(count) for count in step.attributes["operandSegmentSizes"]][-3:]
    values = iter(operands[first:])
    lists = []
    for name, count in zip(("offsets", "sizes", "strides"), counts, strict=True):
        given = iter([int(next(values)) for _ in range(count)])
        static = step.attributes[f"static_{name}"]
        lists.append([next(given) if entry == DYNAMIC else entry for entry in static])
    index = []
    for dim, (offset, size, stride) in enumerate(zip(*lists, strict=True)):
        last = offset + (size - 1) * stride if size else offset
        if (
            offset < 0
            or size < 0
            or stride <= 0
            or last >= max(whole[dim], 1)
            or (not size and offset > whole[dim])
        ):
            raise Refusal(
                "SPY133",
                f"{step.name}: dim {dim}: {size} cells from {offset} on, {stride} apart, do not"
                f" fit into {whole[dim]}",
            )
        index.append(slice(offset, last + 1 if size else offset, stride))
    return tuple(index)


def _both(cells: Cells, move: Callable[[Array], Array]) -> Cells:
    return Cells(move(cells.values), None if cells.poison is None else move(cells.poison))


def extract_slice(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """A window, possibly of lower rank."""
    source: Cells = operands[0]
    region = _region(step, operands, 1, source.values.shape)
    part = _both(source, lambda array: array[region].copy())
    kind = step.result_kinds[0]
    assert isinstance(kind, TensorKind)
    if len(kind.shape) == part.values.ndim:
        return [part]
    # Rank-reducing: unit dims are dropped until the result's rank is left.
    kept = [e for e in part.values.shape if e != 1]
    shape = tuple(kept if len(kept) == len(kind.shape) else [e or 1 for e in kind.shape])
    return [_both(part, lambda array: array.reshape(shape))]


def insert_slice(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The destination with a window overwritten; what is not written in the source is not there."""
    source, target = operands[0], operands[1]
    region = _region(step, operands, 2, target.values.shape)
    values = target.values.copy()
    shape = values[region].shape
    values[region] = source.values.reshape(shape)
    poison = target.poison
    if poison is not None or source.poison is not None:
        poison = np.zeros(values.shape, np.bool_) if poison is None else poison.copy()
        poison[region] = False if source.poison is None else source.poison.reshape(shape)
    return [Cells(values, poison)]


def _position(step: Step, indices: list[Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    position = tuple(int(index) for index in indices)
    if any(not 0 <= i < extent for i, extent in zip(position, shape, strict=True)):
        raise Refusal(
            "SPY133", f"{step.name}: cell {list(position)} is outside the shape {list(shape)}"
        )
    return position


def extract(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """One cell as a scalar; it must hold data."""
    cells: Cells = operands[0]
    position = _position(step, operands[1:], cells.values.shape)
    if cells.poison is not None and cells.poison[position]:
        raise Refusal("SPY130", f"{step.name}: cell {list(position)} holds no data")
    return [cells.values[position]]


def insert(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The tensor with one cell overwritten."""
    cells: Cells = operands[1]
    position = _position(step, operands[2:], cells.values.shape)
    values = cells.values.copy()
    values[position] = operands[0]
    poison = cells.poison
    if poison is not None:
        poison = poison.copy()
        poison[position] = False
    return [Cells(values, poison)]


def dim(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """An extent."""
    (position,) = _position(step, operands[1:], (operands[0].values.ndim,))
    return [operands[0].values.shape[position]]


def rank(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The number of dims."""
    return [operands[0].values.ndim]


def cast(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The same tensor under a type with other static extents."""
    shape = operands[0].values.shape
    kind = step.result_kinds[0]
    assert isinstance(kind, TensorKind)
    if any(e is not None and e != given for e, given in zip(kind.shape, shape, strict=True)):
        raise Refusal("SPY133", f"{step.name}: the tensor has shape {list(shape)}")
    return [operands[0]]


def reshape(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`collapse_shape` and `expand_shape`: the same cells, row-major."""
    kind = step.result_kinds[0]
    assert isinstance(kind, TensorKind)
    dynamic = [extent for extent in kind.shape if extent is None]
    if len(dynamic) > 1:
        raise Refusal("SPY136", f"{step.name} with {len(dynamic)} dynamic extents is not known")
    shape = tuple(-1 if extent is None else extent for extent in kind.shape)
    return [_both(operands[0], lambda array: array.reshape(shape))]


def from_elements(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """A tensor of scalars."""
    kind = step.result_kinds[0]
    assert isinstance(kind, TensorKind)
    dtype = garbage(kind.element).dtype
    return [Cells(np.array(operands, dtype).reshape(_shape(step, ())))]


def splat(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """One value everywhere."""
    return [Cells(np.full(_shape(step, operands[1:]), operands[0]))]


HANDLERS: dict[str, Handler] = {
    "tensor.empty": empty,
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.extract": extract,
    "tensor.insert": insert,
    "tensor.dim": dim,
    "tensor.rank": rank,
    "tensor.cast": cast,
    "tensor.collapse_shape": reshape,
    "tensor.expand_shape": reshape,
    "tensor.from_elements": from_elements,
    "tensor.splat": splat,
}
"""Operation name -> what it does."""
