# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of operations that compute: each result is written anew, over its valid region only."""

from __future__ import annotations

from functools import lru_cache

from spyre_mlir.extents import Extent, ceil_divide
from spyre_mlir.prover import Facts, equal, less_equal
from spyre_mlir.tensors import TensorType

from .agreement import Part, Region, broadcast_shape, combine, is_empty, unite
from .query import Query
from .refusals import RegionRefusal, counterexample, spelled

BITS = 8
"""Cells per carrier element of a packed predicate."""

PACKED_MULTIPLE = 32
"""The last extent of a packed predicate is a multiple of this."""

Results = tuple[TensorType, ...]


def elementwise(query: Query) -> Results:
    """Value operands agree (or intersect); the result is their common region."""
    shape, region = agreed(query, query.values())
    return (query.fresh(shape, region),)


def agreed(query: Query, parts: list[Part]) -> tuple[tuple[int, ...], Region]:
    """Shape and region of an elementwise result over `parts`."""
    return _agreed(query.name, tuple(parts), query.policy, query.facts)


@lru_cache(maxsize=4096)  # a program repeats few combinations of operands
def _agreed(
    name: str, parts: tuple[Part, ...], policy: str, facts: Facts
) -> tuple[tuple[int, ...], Region]:
    first = parts[0]
    if all(part.shape == first.shape and part.valid == first.valid for part in parts[1:]):
        return first.shape, first.valid
    shape = broadcast_shape(name, parts)
    return shape, combine(name, parts, shape, policy, facts)


def none(query: Query) -> Results:
    """There is no result."""
    return ()


def union(query: Query) -> Results:
    """The region of the operand that provably contains the other's."""
    parts = query.values()
    shape = broadcast_shape(query.name, parts)
    return (query.fresh(shape, unite(query.name, parts, shape, query.facts)),)


def unchanged(query: Query) -> Results:
    """The operand's region."""
    tensor = query.tensor(0)
    return (query.fresh(tensor.shape, tensor.valid),)


def restickify(query: Query) -> Results:
    """The operand's region in another layout, which is the result's as written."""
    tensor = query.tensor(0)
    return (query.made(tensor.shape, tensor.valid),)


def select(query: Query) -> Results:
    """Values agree; the mask does not take part and must cover their region."""
    shape, region = agreed(query, query.values())
    mask = query.part(0)
    packed = query.tensor(0).element == "ui8"
    lead = len(shape) - len(mask.shape)
    for dim, (held, extent) in enumerate(zip(mask.shape, mask.valid, strict=True), start=lead):
        last = dim == len(shape) - 1
        needed: Extent = region[dim]
        if packed and last:
            needed = ceil_divide(region[dim], BITS)
        elif held == 1 and shape[dim] != 1:
            needed = 1
        _covered(query, mask.label, dim, needed, extent, "is read as a mask")
    return (query.fresh(shape, region),)


def _covered(
    query: Query, label: str, dim: int, needed: Extent, extent: Extent, reason: str
) -> None:
    """Refuses an operand that does not provably hold what is read of it (SPY077)."""
    answer = less_equal(needed, extent, query.facts)
    if not answer.holds:
        raise RegionRefusal(
            "SPY077",
            f"{query.name}: operand {label} {reason} over {needed} cells along dim {dim}, but it is"
            f" valid over {extent} only",
            notes=counterexample(answer, f"{needed} <= {extent}"),
            remedy=f"narrow what is read with spyre.set_valid_shape, or widen {label}",
            dim=dim,
            labels=(label,),
            extents=(needed, extent),
            verdict=answer.verdict,
        )


def packed_predicate(query: Query) -> Results:
    """Values agree on the logical region, which is then packed along the last dim."""
    shape, region = agreed(query, query.values())
    carriers = -(-shape[-1] // BITS)
    last = -(-carriers // PACKED_MULTIPLE) * PACKED_MULTIPLE
    packed = (*region[:-1], ceil_divide(region[-1], BITS))
    return (query.fresh((*shape[:-1], last), packed),)


def reduce(query: Query) -> Results:
    """Reduced dims go, or keep one valid cell; a provably empty dim is refused (SPY076)."""
    tensor = query.tensor(0)
    _not_empty(query, tensor)
    names = {attribute.name for attribute in query.op.attributes}
    dims = query.attribute("dims") if "dims" in names else (query.attribute("dim"),)
    if query.attribute("keep_dims"):
        shape = tuple(1 if dim in dims else size for dim, size in enumerate(tensor.shape))
        region = tuple(1 if dim in dims else extent for dim, extent in enumerate(tensor.valid))
    else:
        kept = [dim for dim in range(tensor.rank) if dim not in dims]
        shape = tuple(tensor.shape[dim] for dim in kept)
        region = tuple(tensor.valid[dim] for dim in kept)
    return (query.fresh(shape, region),)


def _not_empty(query: Query, tensor: TensorType) -> None:
    for dim, extent in enumerate(tensor.valid):
        if less_equal(extent, 0, query.facts).holds:
            raise RegionRefusal(
                "SPY076",
                f"{query.name}: the operand is valid over {spelled(tensor.valid)}, which has no"
                f" cell along dim {dim}: there is nothing to reduce",
                remedy="widen the operand's region, or guard the operation with scf.if",
                dim=dim,
                labels=(query.label(0),),
                extents=(extent,),
            )


def moments(query: Query) -> Results:
    """The last dim becomes the pair of moments."""
    tensor = query.tensor(0)
    _not_empty(query, tensor)
    return (query.fresh((*tensor.shape[:-1], 2), (*tensor.valid[:-1], 2)),)


def norm_scale(query: Query) -> Results:
    """One scale per row whose pair of moments is valid."""
    tensor = query.tensor(0)
    _covered(query, query.label(0), tensor.rank - 1, 2, tensor.valid[-1], "is read")
    return (query.fresh((*tensor.shape[:-1], 1), (*tensor.valid[:-1], 1)),)


def norm(query: Query) -> Results:
    """As elementwise: moments and scale one per row, weight and bias one per column."""
    pair = query.tensor(1)
    _covered(query, query.label(1), pair.rank - 1, 2, pair.valid[-1], "is read")
    rows = Part(query.label(1), (*pair.shape[:-1], 1), (*pair.valid[:-1], 1))
    parts = [query.part(0), rows, query.part(2), query.part(3), query.part(4)]
    shape, region = agreed(query, parts)
    return (query.fresh(shape, region),)


def contract(query: Query) -> Results:
    """Batch dims agree, M comes from lhs and N from rhs; rhs covers the K of lhs."""
    shape, region = _product(query, 0, 1)
    return (query.fresh(shape, region),)


def _product(query: Query, lhs: int, rhs: int) -> tuple[tuple[int, ...], Region]:
    left, right = query.part(lhs), query.part(rhs)
    if len(left.shape) < 2 or len(right.shape) < 2 or left.shape[-1] != right.shape[-2]:
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: {left.label} of shape {spelled(left.shape)} and {right.label} of shape"
            f" {spelled(right.shape)} have no common K",
            labels=(left.label, right.label),
        )
    k = len(right.shape) - 2
    _covered(query, right.label, k, left.valid[-1], right.valid[-2], "is summed over K")
    batch = [Part(part.label, part.shape[:-2], part.valid[:-2]) for part in (left, right)]
    shape, region = agreed(query, batch)
    tail = left.shape[-2], right.shape[-1]
    return (*shape, *tail), (*region, left.valid[-2], right.valid[-1])


def accumulate(query: Query) -> Results:
    """The accumulator's region, which must contain the product's (SPY084)."""
    held = query.part(0)
    shape, region = _product(query, 1, 2)
    if shape != held.shape:
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: the accumulator has shape {spelled(held.shape)}, the product"
            f" {spelled(shape)}",
            labels=(held.label,),
        )
    for dim, (extent, limit) in enumerate(zip(region, held.valid, strict=True)):
        answer = less_equal(extent, limit, query.facts)
        if not answer.holds and not is_empty(region, query.facts):
            raise RegionRefusal(
                "SPY084",
                f"{query.name}: the product is valid over {spelled(region)}, which is not provably"
                f" inside the accumulator's region {spelled(held.valid)}: dim {dim}",
                notes=counterexample(answer, f"{extent} <= {limit}"),
                remedy="narrow the factors with spyre.set_valid_shape, or widen the accumulator",
                dim=dim,
                labels=(held.label,),
                extents=(extent, limit),
                verdict=answer.verdict,
            )
    return (query.fresh(shape, held.valid),)


def topk(query: Query) -> Results:
    """k valid cells along the dim; provably fewer are refused (SPY076)."""
    tensor = query.tensor(0)
    dim, k = query.attribute("dim"), query.attribute("k")
    if less_equal(tensor.valid[dim], k - 1, query.facts).holds:
        raise RegionRefusal(
            "SPY076",
            f"{query.name}: {k} cells are taken along dim {dim}, of which only {tensor.valid[dim]}"
            " are valid",
            remedy="take fewer, or widen the operand's region",
            dim=dim,
            labels=(query.label(0),),
            extents=(k, tensor.valid[dim]),
        )
    shape = (*tensor.shape[:dim], k, *tensor.shape[dim + 1 :])
    region = (*tensor.valid[:dim], k, *tensor.valid[dim + 1 :])
    return query.fresh(shape, region, index=0), query.fresh(shape, region, index=1)


def concat(query: Query) -> Results:
    """One after another along `dim`, without a hole (SPY085); the other dims agree."""
    along = query.attribute("dim")
    parts = query.values()
    rest = [
        Part(part.label, part.shape[:along] + part.shape[along + 1 :], _without(part, along))
        for part in parts
    ]
    shape, region = agreed(query, rest)
    total: Extent = 0
    partial: tuple[Part, Extent] | None = None
    for part in parts:
        extent = part.valid[along]
        if partial is None:
            total = total + extent
            if not equal(extent, part.shape[along], query.facts).holds:
                partial = part, extent
        elif not less_equal(extent, 0, query.facts).holds:
            raise _hole(query, along, partial, part)
    size = sum(part.shape[along] for part in parts)
    whole = (*shape[:along], size, *shape[along:])
    return (query.fresh(whole, (*region[:along], total, *region[along:])),)


def _without(part: Part, dim: int) -> Region:
    return (*part.valid[:dim], *part.valid[dim + 1 :])


def _hole(query: Query, along: int, partial: tuple[Part, Extent], after: Part) -> RegionRefusal:
    part, extent = partial
    size = part.shape[along]
    answer = equal(extent, size, query.facts)
    return RegionRefusal(
        "SPY085",
        f"{query.name}: operand {part.label} is valid over {extent} of {size} cells along dim"
        f" {along} and {after.label} follows it: the result's region would have a hole",
        notes=counterexample(answer, f"{extent} == {size}"),
        remedy=f"fill {part.label} with spyre.fillpad, or take its valid part with spyre.slice",
        dim=along,
        labels=(part.label, after.label),
        extents=(extent, size),
        verdict=answer.verdict,
    )


def gather(query: Query) -> Results:
    """The source's region with that of the indices in the place of `dim`."""
    source, indices = query.tensor(0), query.tensor(1)
    dim = query.attribute("dim")
    shape = (*source.shape[:dim], *indices.shape, *source.shape[dim + 1 :])
    region = (*source.valid[:dim], *indices.valid, *source.valid[dim + 1 :])
    return (query.fresh(shape, region),)


def scatter(query: Query) -> Results:
    """The destination's region; there is an index for every valid cell of the source."""
    source, indices, target = query.tensor(0), query.tensor(1), query.tensor(2)
    dim = query.attribute("dim")
    needed, label = source.valid[dim], query.label(1)
    _covered(query, label, 0, needed, indices.valid[0], "places the source")
    layout, window = target.layout, target.window
    return (query.made(target.shape, target.valid, layout=layout, window=window),)
