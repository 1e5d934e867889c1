# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The elementwise rule, for any number of operands: agree, intersect, union.

Operands are right-aligned with the result. A dim that an operand lacks is exempt. A physical 1 that
the result widens is exempt too, if its one cell is provably valid. All others take part with their
valid extent. The result does not depend on the order of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spyre_mlir.extents import Extent, minimum
from spyre_mlir.prover import Facts, equal, less_equal

from .refusals import RegionRefusal, counterexample, replaced, spelled

Region = tuple[Extent, ...]

POLICIES = ("agree", "intersect")
"""`agree`: extents that take part are provably equal. `intersect`: the result's extent is the
smallest of them, which is what the hardware enforces (result <= every source)."""


@dataclass(frozen=True, slots=True)
class Part:
    """An operand that takes part: its name in the operation, physical shape and valid region."""

    label: str
    shape: tuple[int, ...]
    valid: Region


def preference(extent: Extent) -> tuple[bool, str]:
    """Sorts what may stand for equal extents: a literal first, then the smaller text."""
    return not isinstance(extent, int), str(extent)


def broadcast_shape(op: str, parts: Sequence[Part]) -> tuple[int, ...]:
    """Right-aligned broadcast of the shapes; refused where they do not fit (SPY070)."""
    rank = max((len(part.shape) for part in parts), default=0)
    shape = [1] * rank
    owner = [""] * rank
    for part in parts:
        lead = rank - len(part.shape)
        for dim, extent in enumerate(part.shape, start=lead):
            if extent == 1 or extent == shape[dim]:
                continue
            if shape[dim] != 1:
                raise RegionRefusal(
                    "SPY070",
                    f"{op}: operands {owner[dim]} and {part.label} do not broadcast: dim {dim} of"
                    f" the result would have {shape[dim]} and {extent} elements",
                    dim=dim,
                    labels=(owner[dim], part.label),
                    extents=(shape[dim], extent),
                )
            shape[dim], owner[dim] = extent, part.label
    return tuple(shape)


def _taking_part(
    op: str, parts: Sequence[Part], shape: tuple[int, ...], facts: Facts
) -> list[list[tuple[Part, Extent]]]:
    """Per dim of the result: the operands that take part, with their extents."""
    chosen: list[list[tuple[Part, Extent]]] = [[] for _ in shape]
    for part in parts:
        lead = len(shape) - len(part.shape)
        for dim, (size, extent) in enumerate(zip(part.shape, part.valid, strict=True), start=lead):
            if size != 1 or shape[dim] == 1:
                chosen[dim].append((part, extent))
                continue
            answer = equal(extent, 1, facts)
            if not answer.holds:
                raise RegionRefusal(
                    "SPY073",
                    f"{op}: operand {part.label} is replicated along dim {dim} from its one cell,"
                    f" but its valid extent there is {extent}, which is not provably 1",
                    notes=counterexample(answer, f"{extent} == 1"),
                    remedy=f"make the cell valid, or fill {part.label} with spyre.fillpad first",
                    dim=dim,
                    labels=(part.label,),
                    extents=(extent,),
                    verdict=answer.verdict,
                )
    return chosen


def combine(
    op: str, parts: Sequence[Part], shape: tuple[int, ...], policy: str, facts: Facts
) -> Region:
    """The region of an elementwise result under `policy`; refused with SPY072 or SPY073."""
    chosen = _taking_part(op, parts, shape, facts)
    if policy == "intersect":
        return _intersection(chosen, shape, facts)
    result: list[Extent] = []
    for dim, those in enumerate(chosen):
        if not those:
            result.append(shape[dim])
            continue
        first = those[0]
        for other in those[1:]:
            if other[1] is not first[1] and not equal(first[1], other[1], facts).holds:
                raise _disagreement(
                    op, dim, first, other, _intersection(chosen, shape, facts), facts
                )
        result.append(min((extent for _, extent in those), key=preference))
    return tuple(result)


def _intersection(
    chosen: list[list[tuple[Part, Extent]]], shape: tuple[int, ...], facts: Facts
) -> Region:
    return tuple(
        smallest([extent for _, extent in those], facts) if those else shape[dim]
        for dim, those in enumerate(chosen)
    )


def smallest(extents: Sequence[Extent], facts: Facts) -> Extent:
    """The minimum; without those that another one is provably not above."""
    literals = [extent for extent in extents if isinstance(extent, int)]
    if len(literals) == len(extents):
        return min(literals)
    order = sorted(set(extents), key=preference)
    kept: list[Extent] = []
    for i, extent in enumerate(order):
        beaten = any(
            less_equal(other, extent, facts).holds
            and (j < i or not less_equal(extent, other, facts).holds)
            for j, other in enumerate(order)
            if j != i
        )
        if not beaten:
            kept.append(extent)
    result = kept[0]
    for extent in kept[1:]:
        result = minimum(result, extent)
    return result


def _disagreement(
    op: str,
    dim: int,
    first: tuple[Part, Extent],
    other: tuple[Part, Extent],
    meet: Region,
    facts: Facts,
) -> RegionRefusal:
    (one, a), (two, b) = first, other
    answer = equal(a, b, facts)
    wide, narrow, extent = (one, two, b) if less_equal(b, a, facts).holds else (two, one, a)
    if less_equal(b, a, facts).holds or less_equal(a, b, facts).holds:
        lead = dim - (len(meet) - len(wide.shape))
        cut = replaced(wide.valid, lead, extent)
        remedy = (
            f"narrow {wide.label} with spyre.set_valid_shape to {spelled(cut)}, or fill the padding"
            f" of {narrow.label} with spyre.fillpad first"
        )
    else:
        remedy = (
            f"narrow both with spyre.set_valid_shape to one extent, such as {minimum(a, b)}, or"
            f" declare ranges of the symbols that make {a} and {b} equal"
        )
    return RegionRefusal(
        "SPY072",
        f"{op}: operands {one.label} and {two.label} do not provably agree on the valid extent of"
        f" dim {dim}: {one.label} has {a}, {two.label} has {b}",
        notes=(
            "an elementwise operation reads every operand at each cell and writes one region",
            *counterexample(answer, f"{a} == {b}"),
            f"under the policy 'intersect' this is accepted, with the region {spelled(meet)}",
        ),
        remedy=remedy,
        dim=dim,
        labels=(one.label, two.label),
        extents=(a, b),
        verdict=answer.verdict,
    )


def unite(op: str, parts: Sequence[Part], shape: tuple[int, ...], facts: Facts) -> Region:
    """The union of the regions, if one of them provably contains the others.

    Any other union is no box anchored at the origin: SPY074 where no operand is provably widest
    along a dim, SPY075 where a different one is along each."""
    _taking_part(op, parts, shape, facts)
    lifted = [_lifted(part, shape) for part in parts]
    containing = [
        region
        for region in lifted
        if all(_contains(region, other, facts) for other in lifted if other is not region)
    ]
    if containing:
        return min(containing, key=lambda region: [preference(extent) for extent in region])
    regions = tuple(
        f"operand {part.label} is valid over {spelled(region)}"
        for part, region in zip(parts, lifted, strict=True)
    )
    remedy = "narrow one operand with spyre.set_valid_shape, so that the other region contains its"
    widest: list[Extent] = []
    for dim in range(len(shape)):
        candidates = [region[dim] for region in lifted]
        top = [c for c in candidates if all(less_equal(o, c, facts).holds for o in candidates)]
        if not top:
            answer = less_equal(candidates[1], candidates[0], facts)
            raise RegionRefusal(
                "SPY074",
                f"{op}: no operand is provably the widest along dim {dim}"
                f" ({', '.join(map(str, candidates))}), so the union of the valid regions has no"
                " extent there",
                notes=(*regions, *counterexample(answer, f"{candidates[1]} <= {candidates[0]}")),
                remedy=remedy,
                dim=dim,
                labels=tuple(part.label for part in parts),
                extents=tuple(candidates),
                verdict=answer.verdict,
            )
        widest.append(min(top, key=preference))
    raise RegionRefusal(
        "SPY075",
        f"{op}: no operand's valid region contains the others', so their union is not a box",
        notes=(*regions, f"the box {spelled(widest)} around them claims cells valid in none"),
        remedy=remedy,
        labels=tuple(part.label for part in parts),
        extents=tuple(widest),
    )


def _lifted(part: Part, shape: tuple[int, ...]) -> Region:
    """The region over the result's dims: full along those from which the operand is exempt."""
    lead = len(shape) - len(part.shape)
    own = tuple(
        size if held == 1 and size != 1 else extent
        for held, extent, size in zip(part.shape, part.valid, shape[lead:], strict=True)
    )
    return (*shape[:lead], *own)


def _contains(outer: Region, inner: Region, facts: Facts) -> bool:
    """Provably: dim by dim, or because there is nothing inside."""
    if all(less_equal(b, a, facts).holds for a, b in zip(outer, inner, strict=True)):
        return True
    return is_empty(inner, facts)


def is_empty(region: Region, facts: Facts) -> bool:
    """Whether the region provably has no cell."""
    return any(less_equal(extent, 0, facts).holds for extent in region)
