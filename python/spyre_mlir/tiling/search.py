# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search: the cheapest way to cut the axes so that every constraint holds.

A choice gives each axis one tile size. Its cost is (product of counts, axes that are cut, largest
count, counts by decreasing untiled span). Constraints on one axis only thin out its list of tile
sizes, and then the smallest count of each list is the answer; what constraints share several axes
is decided by branch and bound on the product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import isqrt, prod
from typing import Literal

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LOOP_TRIPS_MAX
from spyre_mlir.tiling.candidates import Axis, Constraint, Summand, largest_tile, monotone

Remainders = Literal["never", "fallback", "always"]

FULL_LIST = 4096
"""Units of an axis up to which every tile size is looked at where the reach does not grow with the
tile."""

STEP_BUDGET = 20_000
"""Partial choices that one search may visit; after that it takes the best that it has seen."""

EXACT, REMAINDER, EXACT_MANY, MANY = range(4)
"""Tiers of tile sizes: exact divisors with few tiles, any size with few tiles, and both with as
many tiles as the loop counter allows. Exactness is preferred among few tiles; beyond the cap the
cheapest size wins."""

TIERS: dict[Remainders, tuple[int, ...]] = {
    "never": (EXACT, EXACT_MANY),
    "fallback": (EXACT, REMAINDER, MANY),
    "always": (REMAINDER, MANY),
}
"""The tiers that an axis may use, in the order in which they are tried."""

Size = tuple[int, int]
"""(tiles, units per tile)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Tile sizes in elements of the axes that are cut, and the cost."""

    tiles: dict[str, int]
    cost: tuple[int, int, int, tuple[int, ...]]


@lru_cache(maxsize=1 << 12)
def exact_sizes(units: int, cap: int) -> tuple[Size, ...]:
    """(count, units / count) for each divisor up to `cap`, rising."""
    if cap <= isqrt(units):
        counts = [c for c in range(1, cap + 1) if units % c == 0]
    else:
        low = [c for c in range(1, isqrt(units) + 1) if units % c == 0]
        high = [units // c for c in reversed(low) if c * c != units]
        counts = [c for c in low + high if c <= cap]
    return tuple([(c, units // c) for c in counts])


def balanced_sizes(units: int, cap: int, largest: int | None = None) -> Iterator[Size]:
    """(count, smallest tile with that count) for each count up to `cap` that some tile size has,
    rising.

    Tiles larger than `largest` units are left out."""
    tile = units if largest is None else largest
    while True:
        count = -(-units // tile)
        if count > cap:
            return
        tile = -(-units // count)
        yield count, tile
        if tile == 1:
            return
        tile -= 1


def every_size(units: int, cap: int) -> Iterator[Size]:
    """(count, tile) for every tile size with a count up to `cap`: by rising count, exact and small
    ones first."""
    sizes = [(-(-units // tile), units % tile != 0, tile) for tile in range(1, units + 1)]
    for count, _, tile in sorted(sizes):
        if count <= cap:
            yield count, tile


@dataclass(slots=True)
class _Axis:
    """An axis in the search: which constraints are its own, and its tile sizes per tier."""

    axis: Axis
    own: list[Constraint]
    shared: list[Constraint]
    domains: Mapping[str, int]
    base: dict[str, int]
    cap: int
    excluded: int
    lists: dict[int, tuple[Size, ...]] = field(default_factory=dict)
    monotone: bool = field(init=False)
    """Whether smaller tiles always reach less, in every constraint."""
    largest: int | None = None

    def __post_init__(self) -> None:
        self.monotone = all(
            monotone(summand.expression, self.axis.unit)
            for constraint in (*self.own, *self.shared)
            for summand in _touching(constraint, self.axis.symbol)
        )

    def fits(self, units: int) -> bool:
        """Whether the axis' own constraints hold for tiles of so many units."""
        self.base[self.axis.symbol] = units * self.axis.unit
        return all(c.holds(self.base, self.domains) for c in self.own)

    def sizes(self, tier: int) -> tuple[Size, ...]:
        """The tile sizes of a tier that satisfy the axis' own constraints, by rising count."""
        if tier not in self.lists:
            self.lists[tier] = self._sizes(tier)
        return self.lists[tier]

    def _sizes(self, tier: int) -> tuple[Size, ...]:
        cap = min(self.cap, LOOP_TRIPS_MAX) if tier < EXACT_MANY else LOOP_TRIPS_MAX
        units = self.axis.units
        exact = tier in (EXACT, EXACT_MANY)
        if not self.monotone:
            found = exact_sizes(units, cap) if exact else self._any_size(cap)
            return tuple([s for s in found if s[1] != self.excluded and self.fits(s[1])])
        largest = self.largest = self._largest() if self.largest is None else self.largest
        if largest == 0 or -(-units // largest) > cap:
            return ()
        # Larger counts only cost more, unless other constraints ask for them.
        if exact:
            found = exact_sizes(units, cap)
            kept = [size for size in found if size[1] <= largest and size[1] != self.excluded]
            return tuple(kept if self.shared else kept[:1])
        balanced = balanced_sizes(units, cap, largest)
        if self.excluded:
            balanced = (size for size in balanced if size[1] != self.excluded)
        return tuple(balanced if self.shared else islice(balanced, 1))

    def _any_size(self, cap: int) -> Iterator[Size]:
        """Every size if the axis is short; else balanced ones, and those that align with a boundary
        of a coordinate."""
        units = self.axis.units
        if units <= FULL_LIST:
            yield from every_size(units, cap)
            return
        sizes = {tile: count for count, tile in balanced_sizes(units, cap)}
        for count, tile in list(balanced_sizes(units, cap)):
            for power in range(1, tile.bit_length()):
                aligned = -(-tile >> power) << power
                if -(-units // aligned) == count:
                    sizes[aligned] = count
        yield from sorted((count, tile) for tile, count in sizes.items())

    def _largest(self) -> int:
        """The largest tile in units that fits, by closed form or bisection; 0 if none does."""
        low, high = 0, self.axis.units
        for constraint in self.own:
            if constraint.compact or len(constraint.coordinates[0]) > 1:
                break
            elements = largest_tile(constraint.coordinates[0][0].expression, constraint.allowed - 1)
            if elements is None:
                break
            high = min(high, elements // self.axis.unit)
        else:
            return high
        if self.fits(high):
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if self.fits(middle):
                low = middle
            else:
                high = middle
        return low


def _touching(constraint: Constraint, symbol: str) -> Iterator[Summand]:
    for summands in constraint.coordinates:
        for summand in summands:
            if symbol in summand.symbols:
                yield summand


def search(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    *,
    cap: int,
    max_dims: int,
    remainder: Remainders,
    given: Mapping[str, int],
    excluded: Mapping[str, int] | None = None,
) -> Choice | None:
    """The cheapest choice under which every constraint holds, or None.

    First within the caps; then, instead of refusing, with the further tiers; then with any number
    of axes. Axes whose spans overflow untiled are cut; others of the same constraints only if that
    fails. An axis takes a further tier only if no size of an earlier one makes any choice fit; axes
    decide in the order of their spans. An axis does not take the tile size that `excluded` names for
    it. Raises Refusal SPY044 where the budget does not suffice to find any choice."""
    distinct = _distinct(constraints)
    order = _by_span(axes, constraints)
    touched = {s for c in distinct for part in c.coordinates for x in part for s in x.symbols}
    others = [n for n, a in axes.items() if n in touched and n not in order and not a.why_fixed]
    without = excluded or {}
    problems = [_problem(axes, distinct, order, cap, given, without)]
    if others:
        problems.append(_problem(axes, distinct, order + others, cap, given, without))
    tiers = TIERS[remainder]
    for allowed, dims in ((tiers[:1], max_dims), (tiers, max_dims), (tiers, len(axes))):
        for problem in problems:
            found = problem.solve(allowed, dims) if problem is not None else None
            if found is not None:
                return found
    return None


def _distinct(constraints: Sequence[Constraint]) -> list[Constraint]:
    """The constraints without those that bound the same reaches as much or less."""
    kept: dict[tuple[tuple[tuple[Summand, ...], ...], bool], Constraint] = {}
    for constraint in constraints:
        key = (constraint.coordinates, constraint.compact)
        if key not in kept or constraint.allowed < kept[key].allowed:
            kept[key] = constraint
    return list(kept.values())


def _by_span(axes: Mapping[str, Axis], constraints: Sequence[Constraint]) -> list[str]:
    """The axes that overflow and can be cut, by decreasing untiled span; first appearance on
    ties."""
    spans: dict[str, int] = {}
    for constraint in constraints:
        for name in constraint.symbols:
            if axes[name].why_fixed is None:
                spans[name] = max(spans.get(name, 0), constraint.bytes)
    return sorted(spans, key=lambda name: -spans[name])


def _problem(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    order: Sequence[str],
    cap: int,
    given: Mapping[str, int],
    excluded: Mapping[str, int],
) -> _Problem | None:
    """The constraints sorted by the axes that they bind; None if one can never hold."""
    domains = {name: axis.domain for name, axis in axes.items()}
    tiles = {**domains, **given}
    own: dict[str, list[Constraint]] = {name: [] for name in order}
    shared: list[tuple[set[str], Constraint]] = []
    for constraint in constraints:
        names = {s for c in constraint.coordinates for part in c for s in part.symbols}
        names.intersection_update(order)
        if len(names) > 1:
            shared.append((names, constraint))
        elif names:
            own[names.pop()].append(constraint)
        elif not constraint.holds(tiles, domains):
            return None
    working = [
        _Axis(
            axes[n],
            own[n],
            [c for names, c in shared if n in names],
            domains,
            dict(tiles),
            cap,
            excluded.get(n, 0) // axes[n].unit,
        )
        for n in order
    ]
    return _Problem(working, [c for _, c in shared], domains, tiles)


class _Problem:
    """Axes and constraints, solved by branch and bound over the tile sizes."""

    def __init__(
        self,
        axes: list[_Axis],
        shared: list[Constraint],
        domains: Mapping[str, int],
        uncut: Mapping[str, int],
    ) -> None:
        self.axes, self.shared, self.domains, self.uncut = axes, shared, domains, uncut
        self.max_dims = len(axes)
        self.steps = 0

    def solve(self, tiers: Sequence[int], max_dims: int) -> Choice | None:
        """The cheapest choice with the earliest tiers that make one fit."""
        self.max_dims = max_dims
        taken = [tiers[-1]] * len(self.axes)
        if len(tiers) > 1:
            if self.shared and self.cheapest(taken, any_choice=True) is None:
                return None
            for position, axis in enumerate(self.axes):
                for tier in tiers:
                    taken[position] = tier
                    if axis.sizes(tier) and (
                        not self.shared or self.cheapest(taken, any_choice=True)
                    ):
                        break
        return self.cheapest(taken)

    def cheapest(self, tiers: Sequence[int], *, any_choice: bool = False) -> Choice | None:
        """The cheapest choice from these tiers, or the first one found."""
        lists = [axis.sizes(tier) for axis, tier in zip(self.axes, tiers, strict=True)]
        if not all(lists):
            return None
        first = [sizes[0] for sizes in lists]
        if sum([count > 1 for count, _ in first]) > self.max_dims:
            return None  # every axis needs at least its first count
        if not self.shared:
            return self._choice(first)
        tiles = dict(self.uncut)
        tiles.update(self._tiles(first))
        if all(c.holds(tiles, self.domains) for c in self.shared):
            return self._choice(first)
        if any_choice:
            finest = [sizes[-1] for sizes in lists]
            tiles.update(self._tiles(finest))
            if sum([count > 1 for count, _ in finest]) <= self.max_dims and all(
                c.holds(tiles, self.domains) for c in self.shared
            ):
                return self._choice(finest)
        return self._branch(lists, any_choice)

    def _tiles(self, sizes: Sequence[Size]) -> dict[str, int]:
        return {
            axis.axis.symbol: units * axis.axis.unit
            for axis, (_, units) in zip(self.axes, sizes, strict=True)
        }

    def _choice(self, sizes: Sequence[Size]) -> Choice:
        counts = tuple([count for count, _ in sizes])
        cut = [axis for axis, (count, _) in zip(self.axes, sizes, strict=True) if count > 1]
        tiles = self._tiles(sizes)
        return Choice(
            {axis.axis.symbol: tiles[axis.axis.symbol] for axis in cut},
            (prod(counts), len(cut), max(counts, default=1), counts),
        )

    def _branch(self, lists: list[tuple[Size, ...]], any_choice: bool) -> Choice | None:
        """Depth first in the order of the axes; the last axis takes its first size that fits."""
        best: list[Choice] = []
        tiles = dict(self.uncut)
        last = len(lists) - 1
        least = [1] * (last + 2)  # product of the smallest counts from an axis on
        for position in range(last, -1, -1):
            least[position] = least[position + 1] * lists[position][0][0]
        smallest = self._smallest(lists)
        chosen: list[Size] = []

        def descend(position: int, total: int) -> bool:
            name, unit = self.axes[position].axis.symbol, self.axes[position].axis.unit
            for size in lists[position]:
                self.steps += 1
                if self.steps > STEP_BUDGET:
                    if best:
                        return True
                    raise Refusal(
                        "SPY044", f"no plan was decided on within {STEP_BUDGET} partial choices"
                    )
                bound = total * size[0]
                if best and bound * least[position + 1] > best[0].cost[0]:
                    break
                tiles[name] = size[1] * unit
                if best and position < last and bound * self._least(tiles) > best[0].cost[0]:
                    continue
                chosen.append(size)
                stop = False
                if position == last:
                    stop = self._leaf(chosen, tiles, best)
                elif self._possible(tiles, smallest[position + 1]):
                    stop = descend(position + 1, total * size[0]) and any_choice
                chosen.pop()
                if stop:
                    break
            tiles[name] = self.uncut[name]
            return bool(best)

        descend(0, 1)
        return best[0] if best else None

    def _least(self, tiles: Mapping[str, int]) -> int:
        """The product of counts that the axes still uncut need at least: no extent shrinks by more
        than the number of tiles."""
        found = 1
        for constraint in self.shared:
            extent = constraint.extent_at(tiles, self.domains)
            found = max(found, -(-extent // constraint.allowed))
        return found

    def _leaf(self, chosen: list[Size], tiles: Mapping[str, int], best: list[Choice]) -> bool:
        """Takes a full choice if it fits and is cheaper; says whether it fits."""
        if sum([count > 1 for count, _ in chosen]) > self.max_dims:
            return False
        if not all(c.holds(tiles, self.domains) for c in self.shared):
            return False
        choice = self._choice(chosen)
        if not best or choice.cost < best[0].cost:
            best[:] = [choice]
        return True

    def _smallest(self, lists: list[tuple[Size, ...]]) -> list[dict[str, int]]:
        """Per position: tile sizes of the axes from there on under which reaches are least."""
        found: list[dict[str, int]] = []
        for position in range(len(lists) + 1):
            found.append(
                {
                    axis.axis.symbol: min(units for _, units in sizes) * axis.axis.unit
                    for axis, sizes in zip(self.axes[position:], lists[position:], strict=True)
                    if axis.monotone
                }
                | {
                    axis.axis.symbol: 1  # a single element reaches nothing
                    for axis in self.axes[position:]
                    if not axis.monotone
                }
            )
        return found

    def _possible(self, tiles: Mapping[str, int], smallest: Mapping[str, int]) -> bool:
        """Whether the shared constraints hold if the axes still open are cut as finely as they can
        be."""
        trial = {**tiles, **smallest}
        return all(c.holds(trial, self.domains) for c in self.shared)
