# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iteration domains and indexing maps: one function per shape of operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .model import DYNAMIC, Domain, Linear, Shape

Shapes = Sequence[Shape | None]


def dim(i: int) -> Linear:
    """The index that is iteration dim `i` itself."""
    return Linear(((i, 1),))


def identity_map(rank: int) -> tuple[Linear, ...]:
    """Host dim i is iteration dim i."""
    return tuple(dim(i) for i in range(rank))


def broadcast_map(shape: Shape | None, result: Shape) -> tuple[Linear, ...] | None:
    """Right-aligned broadcasting: a dim of extent 1 that the result widens stays at 0; None for a
    scalar."""
    if shape is None:
        return None
    lead = len(result) - len(shape)
    return tuple(
        Linear() if extent == 1 and result[lead + i] != 1 else dim(lead + i)
        for i, extent in enumerate(shape)
    )


def elementwise(
    operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]
) -> Domain:
    """One parallel dim per result dim; operands broadcast, right-aligned."""
    shape = results[0]
    maps = tuple(broadcast_map(operand, shape) for operand in operands)
    parallel = (False,) * len(shape)
    return Domain(shape, parallel, maps, tuple(identity_map(len(r)) for r in results))


def elementwise_scratch(
    operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]
) -> Domain:
    """As `elementwise` for two operands; a third one is scratch and is not indexed."""
    domain = elementwise(operands[:2], results, attributes)
    maps = domain.operands + (None,) * (len(operands) - 2)
    return Domain(domain.extents, domain.reduction, maps, domain.results)


def _packed(index: tuple[Linear, ...]) -> tuple[Linear, ...]:
    """The same cells in a carrier that holds 8 of them per byte along the last dim."""
    last = index[-1]
    return (*index[:-1], Linear(last.terms, last.constant, last.offset, 8))


def select(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """As `elementwise`. A packed carrier (its last extent too short to be the value's) is read at
    one eighth."""
    domain = elementwise(operands[1:], results, attributes)
    mask, shape = operands[0], results[0]
    assert mask is not None
    lead = len(shape) - len(mask)
    if mask and mask[-1] not in (1, shape[-1]):
        widened = tuple(shape[lead + i] if i == len(mask) - 1 else e for i, e in enumerate(mask))
        index = broadcast_map(widened, shape)
        assert index is not None
        index = _packed(index)
    else:
        index = broadcast_map(mask, shape) or ()
    return Domain(domain.extents, domain.reduction, (index, *domain.operands), domain.results)


def compare_packed(
    operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]
) -> Domain:
    """Iterates over the logical cells; the result packs 8 of them per byte along the last dim."""
    shape: Shape = ()
    for operand in operands:
        if operand is not None:
            shape = broadcast_shapes(shape, operand)
    domain = elementwise(operands, (shape,), attributes)
    return Domain(
        domain.extents, domain.reduction, domain.operands, (_packed(domain.results[0] or ()),)
    )


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    """Right-aligned broadcast of two shapes; ValueError where they do not fit."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    for x, y in zip(left, right, strict=True):
        if x != y and x != 1 and y != 1:
            raise ValueError(f"shapes {list(a)} and {list(b)} do not broadcast: {x} against {y}")
    return tuple(y if x == 1 else x for x, y in zip(left, right, strict=True))


def reduce(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel dims first (in operand order), then the reduced ones; `dims` and `keep_dims` as
    attributes."""
    shape = operands[0]
    assert shape is not None
    dims = attributes["dims"] if "dims" in attributes else (attributes["dim"],)
    return _reduce(shape, tuple(dims), bool(attributes["keep_dims"]), len(operands) - 1)


def _reduce(shape: Shape, dims: tuple[int, ...], keep_dims: bool, scratch: int) -> Domain:
    parallel = [i for i in range(len(shape)) if i not in dims]
    order = [*parallel, *sorted(dims)]
    position = {host: i for i, host in enumerate(order)}
    source = tuple(dim(position[i]) for i in range(len(shape)))
    kept = (Linear() if i in dims else dim(position[i]) for i in range(len(shape)))
    result = tuple(kept) if keep_dims else tuple(dim(position[i]) for i in parallel)
    extents = tuple(shape[i] for i in order)
    flags = tuple(i in dims for i in order)
    return Domain(extents, flags, (source, *(None,) * scratch), (result,))


def moments(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Reduces the last dim; one iteration writes both cells of the pair, indexed by the first of
    them."""
    shape = operands[0]
    assert shape is not None
    return _reduce(shape, (len(shape) - 1,), True, 0)


def norm_scale(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """One parallel dim per row dim; the pair and the scale are indexed by their first cell."""
    shape = results[0]
    rows = len(shape) - 1
    index = (*identity_map(rows), Linear())
    return Domain(shape[:-1], (False,) * rows, (index,), (index,))


def norm(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the value; moments and scale one per row, weight and bias one per column."""
    shape = results[0]
    rank = len(shape)
    full = identity_map(rank)
    row = (*full[:-1], Linear())
    column = (full[-1],)
    return Domain(shape, (False,) * rank, (full, row, row, column, column), (full,))


def contract(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Batch dims, M, N, then K (reduction). The last two operands are the factors; one before them
    accumulates."""
    lhs, rhs = operands[-2], operands[-1]
    shape = results[0]
    assert lhs is not None and rhs is not None
    rank = len(shape)
    batch = shape[:-2]
    m, n, k = rank - 2, rank - 1, rank
    left = (*(broadcast_map(lhs[:-2], batch) or ()), dim(m), dim(k))
    right = (*(broadcast_map(rhs[:-2], batch) or ()), dim(k), dim(n))
    result = identity_map(rank)
    accumulator = (result,) * (len(operands) - 2)
    flags = (False,) * rank + (True,)
    return Domain((*shape, lhs[-1]), flags, (*accumulator, left, right), (result,))


def topk(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel dims in result order (k in the place of the scanned dim), then the scanned dim."""
    shape, result = operands[0], results[0]
    assert shape is not None
    scanned, rank = attributes["dim"], len(shape)
    source = tuple(dim(rank if i == scanned else i) for i in range(rank))
    index = identity_map(rank)
    flags = (False,) * rank + (True,)
    return Domain((*result, shape[scanned]), flags, (source,), (index, index))


def transpose(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Result dim i is operand dim permutation[i]."""
    permutation = tuple(attributes["permutation"])
    source = tuple(dim(permutation.index(i)) for i in range(len(permutation)))
    shape = results[0]
    return Domain(shape, (False,) * len(shape), (source,), (identity_map(len(shape)),))


def offset_map(static_offsets: Sequence[int]) -> tuple[Linear, ...]:
    """Iteration dim i plus an offset; DYNAMIC stands for the next index operand."""
    index: list[Linear] = []
    dynamic = 0
    for i, offset in enumerate(static_offsets):
        if offset == DYNAMIC:
            index.append(Linear(((i, 1),), 0, dynamic))
            dynamic += 1
        else:
            index.append(Linear(((i, 1),), offset))
    return tuple(index)


def window(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the result; the source is read at the offsets."""
    shape = results[0]
    source = offset_map(attributes["static_offsets"])
    maps = (source, *(None,) * (len(operands) - 1))
    return Domain(shape, (False,) * len(shape), maps, (identity_map(len(shape)),))


def write(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the source; target and result are one memory, touched at the offsets only."""
    shape = operands[0]
    assert shape is not None
    target = offset_map(attributes["static_offsets"])
    maps = (identity_map(len(shape)), target, *(None,) * (len(operands) - 2))
    return Domain(shape, (False,) * len(shape), maps, (target,))


def same(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the result; each tensor operand is indexed alike."""
    shape = results[0]
    index = identity_map(len(shape))
    maps = tuple(None if operand is None else index for operand in operands)
    return Domain(shape, (False,) * len(shape), maps, (index,))


def gather(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the result; the source is read at a loaded position along `dim`."""
    source, indices = operands[0], operands[1]
    assert source is not None and indices is not None
    at, rank = attributes["dim"], len(results[0])
    behind = at + len(indices)
    read = (*map(dim, range(at)), dim(rank), *map(dim, range(behind, rank)))
    maps = (read, tuple(map(dim, range(at, behind))))
    flags = (False,) * rank + (True,)
    return Domain((*results[0], source[at]), flags, maps, (identity_map(rank),), (rank,))


def scatter(operands: Shapes, results: Sequence[Shape], attributes: Mapping[str, Any]) -> Domain:
    """Parallel over the dims of the source but `dim`, which comes last, as what one result cell may
    be written for several times; the destination is written at a loaded position along `dim`."""
    source = operands[0]
    assert source is not None
    at, rank = attributes["dim"], len(source)
    place = [*range(at), rank - 1, *range(at, rank - 1)]
    read = tuple(dim(i) for i in place)
    written = (*read[:at], dim(rank), *read[at + 1 :])
    extents = (*source[:at], *source[at + 1 :], source[at], results[0][at])
    flags = (False,) * (rank - 1) + (True, True)
    return Domain(extents, flags, (read, (dim(rank - 1),), written), (written,), (rank,))
