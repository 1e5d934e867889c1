# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One device function on whole tensors, and where its result holds no data.

A tensor has one axis per dim of the operation, of extent 1 where the operand stands still; one that
holds an element per stick has its lanes as a last axis. A cell without data makes every result
without data that depends on it, but a product with a zero is zero: what lies in padding is taken to
be finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.machine import functions
from spyre_mlir.machine.formats import STORED, convert, widen
from spyre_mlir.machine.memory import Array
from spyre_mlir.machine.places import Place
from spyre_mlir.machine.program import Step

Poison = NDArray[np.bool_]

MASK_CONSTANT = "samv-maskvalue"


@dataclass(frozen=True, slots=True)
class Tensor:
    """Values, and which of them are no data (None: all are)."""

    values: Array
    poison: Poison | None


@dataclass(frozen=True, slots=True)
class Operation:
    """What `compute` has to know of an operation: `places` of inputs and output, its constants, per
    dim the elements that hold data where a mask says so."""

    file: str
    function: str
    places: tuple[Place, ...]
    extents: tuple[int, ...]
    constants: dict[str, float]
    masked: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, step: Step, places: tuple[Place, ...]) -> Operation:
        """The operation of an execution. Refusal SPY145 if the machine does not know it."""
        sdsc = step.sdsc
        labels = list(sdsc.extents)
        # Constants are the bits of a 32-bit float, whatever the format of the operation.
        constants = {
            c.name: float(np.array(c.bits, np.uint32).view(np.float32)) for c in sdsc.constants
        }
        masked = tuple((labels.index(mask.dim), mask.valid) for mask in sdsc.mask)
        found = cls(
            step.file, sdsc.function, places, tuple(sdsc.extents.values()), constants, masked
        )
        found.check()
        return found

    def check(self) -> None:
        """Refuse (SPY145) an unknown function, or one with other operands or constants."""
        expected = _operands(self.function)
        if expected is None:
            raise self.refused("is no function that the machine knows")
        if len(self.places) != expected + 1:
            raise self.refused(f"takes {expected} inputs, got {len(self.places) - 1}")
        needed = [name for name in _constants(self.function) if name not in self.constants]
        if self.masked and MASK_CONSTANT not in self.constants:
            needed.append(MASK_CONSTANT)
        if needed:
            raise self.refused(f"lacks the constant {needed[0]}")

    @property
    def output(self) -> Place:
        """The place of the output."""
        return self.places[-1]

    def refused(self, what: str) -> Refusal:
        """The error that this operation is not what its function takes."""
        return Refusal("SPY145", f"{self.file}: {self.function} {what}")


_NEEDED = {
    "softplus": ("softplusBeta", "softplusThresh"),
    "clip": ("clipMin", "clipMax"),
    "mean": ("scaling_factor",),
    "exx2": ("exx2scale", "useZeroMean"),
    "layernormscale": ("eps",),
}


def _constants(function: str) -> tuple[str, ...]:
    return _NEEDED.get(functions.reduction(function) or function, ())


def _operands(function: str) -> int | None:
    """Inputs of a function, None if it is not known."""
    if function in functions.POINTWISE:
        return functions.POINTWISE[function][0]
    if function in functions.MATMULS:
        return 2
    if function == "layernormnorm":
        return 5
    one = (*functions.CONVERSIONS, *functions.MOVES, *functions.TOPK, "exx2", "layernormscale")
    return 1 if function in one or functions.reduction(function) else None


def compute(operation: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """The output, in the type that it was computed in or that it is stored in."""
    name = operation.function
    if name == "layernormscale":
        return _norm_scale(operation, inputs[0])
    if name == "layernormnorm":
        return _norm(operation, inputs)
    cells = [_cells(own, tensor) for own, tensor in zip(operation.places[:-1], inputs, strict=True)]
    reduction = functions.reduction(name)
    if reduction is not None or name == "exx2":
        cells = [_iterated(operation, cells[0])]
    masked = [_masked(operation, tensor) for tensor in cells]
    if name in functions.MATMULS:
        return _finish(operation, _product(operation, masked))
    if name in functions.TOPK:
        return _finish(operation, _topk(operation, masked[0]))
    if name == "exx2":
        return _moments(operation, masked[0])
    if reduction is not None:
        return _finish(operation, _reduced(operation, reduction, masked[0]))
    return _finish(operation, _pointwise(operation, masked))


def _cells(own: Place, tensor: Tensor) -> Tensor:
    """One element per stick is what stands in lane 0."""
    if own.packed:
        return tensor
    poison = None if tensor.poison is None else tensor.poison[..., 0]
    return Tensor(tensor.values[..., 0], poison)


def _finish(operation: Operation, result: Tensor) -> Tensor:
    """The result in its format; where a stick holds one element, with a last axis for its lane."""
    values = convert(result.values, STORED[operation.output.operand.format])
    _check_shape(operation, values)
    if operation.output.packed:
        return Tensor(values, result.poison)
    poison = None if result.poison is None else result.poison[..., None]
    return Tensor(values[..., None], poison)


def _check_shape(operation: Operation, values: Array) -> None:
    for dim, size in enumerate(values.shape):
        if size > 1 and not operation.output.running[dim]:
            label = operation.output.labels[dim]
            raise operation.refused(f"has {size} values along {label} for an output of one")


def _iterated(operation: Operation, tensor: Tensor) -> Tensor:
    """The operand of a reduction at every iteration of the dims that it reduces: where it stands
    still, it is taken again."""
    shape = tuple(
        size if operation.output.running[dim] else operation.extents[dim]
        for dim, size in enumerate(tensor.values.shape)
    )
    if shape == tensor.values.shape:
        return tensor
    poison = None if tensor.poison is None else np.broadcast_to(tensor.poison, shape)
    return Tensor(np.broadcast_to(tensor.values, shape), poison)


def _masked(operation: Operation, tensor: Tensor) -> Tensor:
    """The operand with the mask value in place of what the mask hides."""
    values, poison = tensor.values, tensor.poison
    for dim, valid in operation.masked:
        if values.shape[dim] != operation.extents[dim]:
            continue
        behind = (slice(None),) * dim + (slice(valid, None),)
        values = values.copy()
        values[behind] = operation.constants[MASK_CONSTANT]
        if poison is not None:
            poison = poison.copy()
            poison[behind] = False
    return Tensor(values, poison if poison is not None and poison.any() else None)


def _pointwise(operation: Operation, inputs: Sequence[Tensor]) -> Tensor:
    name = operation.function
    poison = _any([tensor.poison for tensor in inputs])
    if name in functions.MOVES:
        if operation.places[0].operand.format != operation.output.operand.format:
            raise operation.refused("moves bytes and cannot change the format")
        return Tensor(inputs[0].values, poison)
    if name in functions.CONVERSIONS:
        return Tensor(inputs[0].values, poison)
    _, function = functions.POINTWISE[name]
    if name == "where3":
        poison = _chosen(inputs)
    values = function(*(widen(tensor.values) for tensor in inputs), operation.constants)
    return Tensor(values, poison)


def _any(poisons: Sequence[Poison | None]) -> Poison | None:
    found: Poison | None = None
    for poison in poisons:
        if poison is not None:
            found = poison if found is None else found | poison
    return found


def _chosen(inputs: Sequence[Tensor]) -> Poison | None:
    """Of a choice: where the mask or the branch that it takes holds no data."""
    mask, first, second = inputs
    if all(tensor.poison is None for tensor in inputs):
        return None
    branches = [np.False_ if tensor.poison is None else tensor.poison for tensor in (first, second)]
    chosen: Poison = np.where(mask.values != 0, *branches)
    return chosen if mask.poison is None else np.asarray(chosen | mask.poison)


def _reduced_dims(operation: Operation) -> tuple[int, ...]:
    """Dims along which the output does not run."""
    return tuple(dim for dim, runs in enumerate(operation.output.running) if not runs)


def _reduced(operation: Operation, reduction: str, tensor: Tensor) -> Tensor:
    dims = _reduced_dims(operation)
    values = functions.REDUCTIONS[reduction](widen(tensor.values), dims, operation.constants)
    if tensor.poison is None:
        return Tensor(values, None)
    return Tensor(values, np.asarray(tensor.poison.any(axis=dims, keepdims=True)))


def _moments(operation: Operation, tensor: Tensor) -> Tensor:
    dims = _reduced_dims(operation)
    if operation.output.packed:
        raise operation.refused("writes one pair a stick")
    pair = functions.moments(widen(tensor.values), dims, operation.constants)
    values = convert(np.stack(pair, axis=-1), STORED[operation.output.operand.format])
    poison = None
    if tensor.poison is not None:
        one = tensor.poison.any(axis=dims, keepdims=True)
        poison = np.stack([one, one], axis=-1)
    return Tensor(values, poison)


def _pair(operation: Operation, own: Place, tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Lanes 0 and 1 of an operand that holds a pair per stick."""
    if own.packed:
        raise operation.refused("reads one pair a stick")
    first, second = (
        Tensor(
            tensor.values[..., lane], None if tensor.poison is None else tensor.poison[..., lane]
        )
        for lane in (0, 1)
    )
    return first, second


def _norm_scale(operation: Operation, tensor: Tensor) -> Tensor:
    mean, squares = _pair(operation, operation.places[0], tensor)
    values = functions.norm_scale(widen(mean.values), widen(squares.values), operation.constants)
    return _finish(operation, Tensor(values, _any([mean.poison, squares.poison])))


def _norm(operation: Operation, inputs: Sequence[Tensor]) -> Tensor:
    places = operation.places
    mean, _ = _pair(operation, places[1], inputs[1])
    cells = [_cells(places[i], inputs[i]) for i in (0, 2, 3, 4)]
    x, scale, weight, bias = (widen(tensor.values) for tensor in cells)
    values = functions.norm(x, widen(mean.values), scale, weight, bias)
    poison = _any([mean.poison, *(tensor.poison for tensor in cells)])
    return _finish(operation, Tensor(values, poison))


def _topk(operation: Operation, tensor: Tensor) -> Tensor:
    given = operation.places[0].running
    dims = [dim for dim in _reduced_dims(operation) if given[dim]]
    counted = [dim for dim, runs in enumerate(operation.output.running) if runs and not given[dim]]
    if len(dims) != 1 or len(counted) != 1:
        raise operation.refused("chooses along one dim, for one dim of the output")
    (dim,), (number,) = dims, counted
    count = operation.extents[number]
    if count > operation.extents[dim]:
        raise operation.refused(f"chooses {count} of {operation.extents[dim]}")
    positions = operation.function == "topkindex"
    values = functions.largest(tensor.values, dim, count, positions=positions)
    values = np.swapaxes(values, dim, number)
    if tensor.poison is None:
        return Tensor(values, None)
    bad = np.swapaxes(tensor.poison.any(axis=dim, keepdims=True), dim, number)
    return Tensor(values, np.broadcast_to(bad, values.shape))


def _product(operation: Operation, inputs: Sequence[Tensor]) -> Tensor:
    """Sum of products over the dims that both inputs run along and the output does not."""
    left, right = inputs
    x, y = widen(left.values), widen(right.values)
    if left.poison is None and right.poison is None:
        return Tensor(_contract(operation, x, y), None)
    none = np.False_
    bad_x = none if left.poison is None else left.poison
    bad_y = none if right.poison is None else right.poison
    # Bytes without data may read as NaN; with a zero they count for nothing.
    x, y = np.where(bad_x, 0, x), np.where(bad_y, 0, y)
    touched: Poison = np.zeros((), np.bool_)
    if left.poison is not None:
        weights = ((y != 0) | bad_y).astype(np.float32)
        touched = touched | (_contract(operation, left.poison.astype(np.float32), weights) > 0)
    if right.poison is not None:
        weights = ((x != 0) | bad_x).astype(np.float32)
        touched = touched | (_contract(operation, weights, right.poison.astype(np.float32)) > 0)
    return Tensor(_contract(operation, x, y), touched)


def _contract(operation: Operation, x: Array, y: Array) -> Array:
    runs = list(zip(*(place.running for place in operation.places), strict=True))
    kinds = {
        (True, True, True): "batch",
        (True, False, True): "rows",
        (False, True, True): "columns",
        (True, True, False): "reduced",
    }
    dims: dict[str, list[int]] = {kind: [] for kind in kinds.values()}
    for dim, run in enumerate(runs):
        if run in kinds:
            dims[kinds[run]].append(dim)
        elif any(run) and operation.extents[dim] > 1:  # one of extent 1 only makes room
            label = operation.output.labels[dim]
            raise operation.refused(f"does not say what dim {label} is of the product")
    batch, rows, columns, reduced = dims.values()
    rest = [dim for dim, run in enumerate(runs) if run not in kinds]

    def matrix(a: Array, first: list[int], second: list[int]) -> Array:
        others = [d for d in range(a.ndim) if d not in (*batch, *first, *second)]
        a = a.transpose(*batch, *first, *second, *others)
        return a.reshape(*a.shape[: len(batch)], *_sizes(a, len(batch), len(first), len(second)))

    product = matrix(x, rows, reduced) @ matrix(y, reduced, columns)
    sizes = [operation.extents[dim] for dim in (*batch, *rows, *columns)]
    product = product.reshape(*sizes, *(1 for _ in (*reduced, *rest)))
    order = [*batch, *rows, *columns, *reduced, *rest]
    return product.transpose([order.index(dim) for dim in range(len(order))])


def _sizes(a: Array, start: int, first: int, second: int) -> tuple[int, int]:
    middle = start + first
    return (
        int(np.prod(a.shape[start:middle], dtype=np.int64)),
        int(np.prod(a.shape[middle : middle + second], dtype=np.int64)),
    )
