# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions under another shape: every box whose cells are a box there too.

A box is taken apart into runs, innermost first: a run of `count` cells, `stride` cells apart, both
in row-major order. Runs that follow each other without a gap are one. The runs of a set of cells
are unique, so the box that holds the same cells under the new shape is unique where it exists:
each run must start at a dim of the same stride, fill that dim, then the next one out, and end
anywhere in the last it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from spyre_mlir.extents import Extent
from spyre_mlir.prover import Facts, equal
from spyre_mlir.tensors import TensorType

from .agreement import Region
from .query import Query
from .refusals import RegionRefusal, spelled


@dataclass(slots=True)
class _Run:
    """`factor * extent` cells, at most `factor * bound`; a literal run has extent 1, bound 1."""

    stride: int
    factor: int
    extent: Extent = 1
    bound: int = 1


def reshape(query: Query) -> tuple[TensorType, ...]:
    """The same cells; refused where they are no box under the new shape (SPY080)."""
    tensor, shape = query.tensor(0), query.stated_shape()
    if prod(tensor.shape) != prod(shape):
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: shapes {spelled(tensor.shape)} and {spelled(shape)} do not have the"
            " same number of elements",
        )
    region = reshaped(tensor.shape, tensor.valid, shape, query.facts)
    if region is None:
        raise RegionRefusal(
            "SPY080",
            f"{query.name}: the cells of {spelled(tensor.valid)} in {spelled(tensor.shape)} are no"
            f" box at the origin of {spelled(shape)}",
            remedy="fill the operand with spyre.fillpad first, or choose a shape that keeps the"
            " partly valid dim apart from those outside it",
            labels=(query.label(0),),
            extents=tensor.valid,
        )
    return (query.made(shape, region, pad=tensor.pad),)


def reshaped(
    shape: tuple[int, ...], valid: Region, target: tuple[int, ...], facts: Facts
) -> Region | None:
    """The box of `target` that holds the cells of the box `valid` of `shape`, or None.

    Both are row-major over the same number of elements."""
    if shape == target:
        return valid
    known = tuple(_settled(e, size, facts) for e, size in zip(valid, shape, strict=True))
    if known == shape:
        return target
    if 0 in known:
        return (0,) * len(target)
    runs, switches = _runs(shape, known)
    result: list[Extent] = [1] * len(target)
    strides = [prod(target[dim + 1 :]) for dim in range(len(target))]
    dim = len(target) - 1
    for run in runs:
        while dim >= 0 and (strides[dim] < run.stride or target[dim] == 1):
            dim -= 1
        if dim < 0 or strides[dim] != run.stride:
            return None
        while run.factor * run.bound > target[dim]:
            if dim == 0 or run.factor % target[dim]:
                return None
            result[dim] = target[dim]
            run.factor //= target[dim]
            dim -= 1
        result[dim] = run.extent * run.factor
        dim -= 1
    return _switched(result, target, strides, switches)


def _settled(extent: Extent, size: int, facts: Facts) -> Extent:
    """A literal, where the extent is provably 0, 1 or the whole size."""
    if isinstance(extent, int):
        return extent
    for literal in (size, 0, 1):
        if equal(extent, literal, facts).holds:
            return literal
    return extent


def _runs(shape: tuple[int, ...], valid: Region) -> tuple[list[_Run], list[tuple[int, Extent]]]:
    """Runs, and (stride, extent) of unit dims that may be empty; both innermost first."""
    runs: list[_Run] = []
    switches: list[tuple[int, Extent]] = []
    stride = 1
    for dim in range(len(shape) - 1, -1, -1):
        size, extent = shape[dim], valid[dim]
        last = runs[-1] if runs else None
        # A run goes on where the one inside it is literal and ends just below the next stride.
        grows = last is not None and last.bound == 1 and last.stride * last.factor == stride
        if isinstance(extent, int):
            if extent != 1 and grows and last is not None:
                last.factor *= extent
            elif extent != 1:
                runs.append(_Run(stride, extent))
        elif size == 1:
            switches.append((stride, extent))
        elif grows and last is not None:
            last.extent, last.bound = extent, size
        else:
            runs.append(_Run(stride, 1, extent, size))
        stride *= size
    return runs, switches


def _switched(
    result: list[Extent],
    target: tuple[int, ...],
    strides: list[int],
    switches: list[tuple[int, Extent]],
) -> Region | None:
    """An extent that is 0 or 1 empties the whole box from any dim that has one cell.

    It goes to a unit dim if there is one, as near to its own stride as can be."""
    for stride, extent in switches:
        places = [dim for dim, held in enumerate(result) if held == 1]
        units = [dim for dim in places if target[dim] == 1] or places
        if not units:
            return None
        result[min(units, key=lambda dim: abs(strides[dim] - stride))] = extent
    return tuple(result)
