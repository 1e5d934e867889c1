# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows: what of a region is seen through one, and what a region becomes when one is written."""

from __future__ import annotations

from collections.abc import Sequence

from spyre_mlir.extents import Extent, maximum, minimum, symbol
from spyre_mlir.optable import DYNAMIC
from spyre_mlir.prover import Facts, equal, less_equal
from spyre_mlir.tensors import TensorType

from .agreement import Region, is_empty
from .query import Query
from .refusals import RegionRefusal, counterexample, replaced, spelled

Results = tuple[TensorType, ...]


def offsets(query: Query) -> tuple[Extent, ...]:
    """The offsets of a slice or insert_slice, dim by dim.

    An index operand of which nothing is known (None) becomes a symbol that no type may name; the
    caller who knows more passes an extent over hidden symbols with ranges."""
    given = iter(query.operands[1 if query.op.name == "slice" else 2 :])
    hidden = 0
    result: list[Extent] = []
    for static in query.attribute("static_offsets"):
        if static != DYNAMIC:
            result.append(static)
            continue
        offset = next(given)
        if isinstance(offset, TensorType):
            raise TypeError(f"{query.name}: an offset is no tensor")
        if offset is None:
            offset = symbol(f"offset.{hidden}")
            query.facts = query.facts.with_range(offset.text, 0, None, hidden=True)
            hidden += 1
        result.append(offset)
    return tuple(result)


def inside(
    name: str, at: Sequence[Extent], extents: Region, shape: tuple[int, ...], facts: Facts
) -> None:
    """Refuses a window that provably leaves its tensor (SPY078); what is open is the operation's
    precondition, which the interpreter checks."""
    for dim, (offset, extent, size) in enumerate(zip(at, extents, shape, strict=True)):
        if less_equal(0, offset, facts).verdict == "never":
            raise RegionRefusal(
                "SPY078",
                f"{name}: offset {offset} of dim {dim} is negative",
                dim=dim,
                extents=(offset,),
            )
        if less_equal(offset + extent, size, facts).verdict == "never":
            raise RegionRefusal(
                "SPY078",
                f"{name}: {extent} cells from {offset} on leave the {size} cells of dim {dim}",
                remedy="windows are not clamped: take a smaller one, or an earlier offset",
                dim=dim,
                extents=(offset, extent, size),
            )


def window(query: Query) -> Results:
    """The part of the source's region inside the window; layout and pad are the source's."""
    source, shape = query.tensor(0), query.stated_shape()
    at = offsets(query)
    if len(shape) != source.rank:
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: a window of rank {len(shape)} in a tensor of rank {source.rank}",
        )
    inside(query.name, at, shape, source.shape, query.facts)
    region: Region = shape
    if source.valid_shape is not None:
        region = tuple(
            seen(extent, offset, size, held, query.facts)
            for extent, offset, size, held in zip(
                source.valid_shape, at, shape, source.shape, strict=True
            )
        )
    piece = source.window or shape != source.shape
    return (
        query.made(
            shape,
            region,
            pad=source.pad,
            layout=source.layout,
            window=piece and source.layout is not None,
        ),
    )


def seen(extent: Extent, offset: Extent, size: int, held: int, facts: Facts) -> Extent:
    """min(max(extent - offset, 0), size), folded as far as it can be proved.

    `extent` is at most `held`, the physical size, and the window lies inside that."""
    if extent == held or less_equal(offset + size, extent, facts).holds:
        return size
    if less_equal(extent, offset, facts).holds:
        return 0
    left = extent - offset
    # A type's extent is never negative, so nothing is cut off at offset 0.
    if offset != 0 and not less_equal(offset, extent, facts).holds:
        left = maximum(left, 0)
    return left if less_equal(left, size, facts).holds else minimum(left, size)


def write(query: Query) -> Results:
    """The destination's type: the source's cells land provably inside its region (SPY081)."""
    source, target = query.tensor(0), query.tensor(1)
    at = offsets(query)
    if source.rank != target.rank:
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: a source of rank {source.rank} for a destination of rank {target.rank}",
        )
    inside(query.name, at, source.shape, target.shape, query.facts)
    facts = query.facts
    if not is_empty(source.valid, facts):
        for dim, (offset, extent, held) in enumerate(
            zip(at, source.valid, target.valid, strict=True)
        ):
            if held == target.shape[dim]:
                continue  # the window lies inside the shape, so inside the region
            answer = less_equal(offset + extent, held, facts)
            if not answer.holds:
                raise _outside(query, dim, offset + extent, held, at, answer.verdict)
    layout, window = target.layout, target.window
    return (query.made(target.shape, target.valid, layout=layout, window=window, pad=target.pad),)


def _outside(
    query: Query, dim: int, end: Extent, held: Extent, at: tuple[Extent, ...], verdict: str
) -> RegionRefusal:
    source, target = query.tensor(0), query.tensor(1)
    notes = counterexample(less_equal(end, held, query.facts), f"{end} <= {held}")
    try:
        union = written(query.name, target, source, at, query.facts)
        notes = (*notes, f"written into, the region would be {spelled(union)}")
        remedy = f"make the destination with spyre.empty over the region {spelled(union)}"
    except RegionRefusal as refusal:
        notes = (*notes, f"nor is the region with these cells a box: {refusal.message}")
        remedy = "narrow the source with spyre.set_valid_shape, or widen the destination's region"
    return RegionRefusal(
        "SPY081",
        f"{query.name}: the source's valid cells are not provably inside the destination's region"
        f" {spelled(target.valid)}: along dim {dim} they end at {end}",
        notes=notes,
        remedy=remedy,
        dim=dim,
        labels=(query.label(0), query.label(1)),
        extents=(end, held),
        verdict=verdict,
    )


def written(
    name: str,
    target: TensorType,
    source: TensorType,
    at: Sequence[Extent],
    facts: Facts,
) -> Region:
    """The region of a target once the source's valid cells are written at `at`, if it is a box.

    That is the target's region if they land inside it or there are none, the source's if it covers
    the target's, or the target's grown along one dim: without a gap, and over all of the others.
    Everything else is refused (SPY081)."""
    inside(name, at, source.valid, target.shape, facts)
    old, new = target.valid, source.valid
    if is_empty(new, facts):
        return old
    at_origin = all(equal(offset, 0, facts).holds for offset in at)
    if is_empty(old, facts) and at_origin:
        return new
    ends = [offset + extent for offset, extent in zip(at, new, strict=True)]
    if target.valid_shape is None or _below(ends, old, facts):
        return old
    if at_origin and _below(old, new, facts):
        return new
    growing = [dim for dim in range(len(old)) if not less_equal(ends[dim], old[dim], facts).holds]
    if len(growing) > 1:
        raise _no_box(name, "grows along more than one dim", growing[0], tuple(ends), "never")
    (dim,) = growing
    gap = less_equal(at[dim], old[dim], facts)
    if not gap.holds:
        why = f"leaves a gap between {old[dim]} and {at[dim]}"
        raise _no_box(name, why, dim, (old[dim], at[dim]), gap.verdict)
    for other in range(len(old)):
        if other == dim:
            continue
        origin = equal(at[other], 0, facts)
        if not origin.holds:
            why = f"starts at {at[other]}, not at 0"
            raise _no_box(name, why, other, (at[other],), origin.verdict)
        same = equal(new[other], old[other], facts)
        if not same.holds:
            why = f"is {new[other]} wide, the region {old[other]}"
            raise _no_box(name, why, other, (new[other], old[other]), same.verdict)
    grown = ends[dim]
    if not less_equal(old[dim], grown, facts).holds:
        grown = maximum(old[dim], grown)
    size = target.shape[dim]
    if not less_equal(grown, size, facts).holds:
        grown = minimum(grown, size)
    return replaced(old, dim, grown)


def _below(inner: Sequence[Extent], outer: Sequence[Extent], facts: Facts) -> bool:
    return all(less_equal(a, b, facts).holds for a, b in zip(inner, outer, strict=True))


def _no_box(
    name: str, why: str, dim: int, extents: tuple[Extent, ...], verdict: str
) -> RegionRefusal:
    return RegionRefusal(
        "SPY081",
        f"{name}: what is written {why} (dim {dim}), so the region with it is no box",
        remedy="write whole rows, one after another, or make the destination with spyre.empty over"
        " the region that will be valid in the end",
        dim=dim,
        extents=extents,
        verdict=verdict,
    )
