# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search: the cheapest way to cut the axes so that every constraint holds.

A choice gives each axis one tile size. Its cost is (product of counts, axes that are cut, largest count, counts by
decreasing untiled span). Constraints on one axis only thin out its list of tile sizes, and then the smallest count of
each list is the answer; what constraints share several axes is decided by branch and bound on the product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import isqrt, prod
from typing import Literal

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LOOP_TRIPS_MAX
from spyre_mlir.tiling.candidates import Axis, Constraint, Summand, monotone

Remainders = Literal["never", "fallback", "always"]

FULL_LIST = 4096
"""Units of an axis up to which every tile size is looked at where the reach does not grow with the tile."""

STEP_BUDGET = 200_000
"""Partial choices that one search may visit."""

EXACT, REMAINDER, EXACT_MANY, REMAINDER_MANY = range(4)
"""Tiers of tile sizes, tried in this order for each axis: exact divisors with few tiles, any size with few tiles, exact
divisors with as many tiles as the loop counter allows, any size."""

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
    """(count, smallest tile with that count) for each count up to `cap` that some tile size has, rising.

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
    """(count, tile) for every tile size with a count up to `cap`: by rising count, exact and small ones first."""
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
    lists: dict[tuple[int, int], tuple[Size, ...]] = field(default_factory=dict)

    @property
    def monotone(self) -> bool:
        """Whether smaller tiles always reach less, in every constraint."""
        return all(
            monotone(summand.expression, self.axis.unit)
            for constraint in (*self.own, *self.shared)
            for summand in _touching(constraint, self.axis.symbol)
        )

    def fits(self, units: int) -> bool:
        """Whether the axis' own constraints hold for tiles of so many units."""
        self.base[self.axis.symbol] = units * self.axis.unit
        return all(c.holds(self.base, self.domains) for c in self.own)

    def sizes(self, tier: int, cap: int) -> tuple[Size, ...]:
        """The tile sizes of a tier that satisfy the axis' own constraints, by rising count."""
        key = (tier, cap)
        if key not in self.lists:
            self.lists[key] = self._sizes(tier, cap)
        return self.lists[key]

    def _sizes(self, tier: int, cap: int) -> tuple[Size, ...]:
        cap = min(cap if tier < EXACT_MANY else LOOP_TRIPS_MAX, LOOP_TRIPS_MAX)
        units = self.axis.units
        exact = tier in (EXACT, EXACT_MANY)
        if not self.monotone:
            found = exact_sizes(units, cap) if exact else self._any_size(cap)
            return tuple([size for size in found if self.fits(size[1])])
        largest = self._largest()
        if exact:
            return tuple([size for size in exact_sizes(units, cap) if size[1] <= largest])
        if largest == 0:
            return ()
        balanced = balanced_sizes(units, cap, largest)
        # Larger counts only cost more, unless other constraints ask for them.
        return tuple(balanced if self.shared else islice(balanced, 1))

    def _any_size(self, cap: int) -> Iterator[Size]:
        """Every size if the axis is short; else balanced ones, and those that align with a boundary of a coordinate."""
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
        """The largest tile in units that fits, by bisection; 0 if none does."""
        if not self.own or self.fits(self.axis.units):
            return self.axis.units
        low, high = 0, self.axis.units
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


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt: the tiers that an axis may use, in order, and how many axes may be cut."""

    tiers: tuple[int, ...]
    max_dims: int


def stages(remainder: Remainders, max_dims: int) -> tuple[Stage, ...]:
    """First exact divisors within the caps; then, instead of refusing, the rest tier by tier; then more dims."""
    first = (REMAINDER,) if remainder == "always" else (EXACT,)
    tiers = {
        "never": (EXACT, EXACT_MANY),
        "fallback": (EXACT, REMAINDER, EXACT_MANY, REMAINDER_MANY),
        "always": (REMAINDER, REMAINDER_MANY),
    }[remainder]
    return Stage(first, max_dims), Stage(tiers, max_dims), Stage(tiers, 1 << 30)


def search(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    *,
    cap: int,
    max_dims: int,
    remainder: Remainders,
) -> Choice | None:
    """The cheapest choice under which every constraint holds, or None.

    Axes whose spans overflow untiled are cut; others of the same constraints only if that fails. An axis takes a higher
    tier only if no size of a lower one makes any choice fit; axes decide in the order of their spans. Raises Refusal
    SPY044 where the budget does not suffice to decide."""
    order = _by_span(axes, constraints)
    everything = order + [
        name
        for name in axes
        if name not in order
        and axes[name].why_fixed is None
        and any(_touching_any(c, name) for c in constraints)
    ]
    for stage in stages(remainder, max_dims):
        found = _attempt(axes, constraints, order, stage, cap)
        if found is None and len(everything) > len(order):
            found = _attempt(axes, constraints, everything, stage, cap)
        if found is not None:
            return found
    return None


def _touching_any(constraint: Constraint, symbol: str) -> bool:
    return any(True for _ in _touching(constraint, symbol))


def _by_span(axes: Mapping[str, Axis], constraints: Sequence[Constraint]) -> list[str]:
    """The axes that overflow and can be cut, by decreasing untiled span; first appearance on ties."""
    spans: dict[str, int] = {}
    for constraint in constraints:
        for name in constraint.symbols:
            if axes[name].why_fixed is None:
                spans[name] = max(spans.get(name, 0), constraint.bytes)
    return sorted(spans, key=lambda name: -spans[name])


def _attempt(
    axes: Mapping[str, Axis],
    constraints: Sequence[Constraint],
    order: Sequence[str],
    stage: Stage,
    cap: int,
) -> Choice | None:
    domains = {name: axis.domain for name, axis in axes.items()}
    free = set(order)
    own: dict[str, list[Constraint]] = {name: [] for name in order}
    shared: list[Constraint] = []
    products: list[tuple[tuple[Summand, ...], ...]] = []
    for constraint in constraints:
        if constraint.compact:
            # Constraints of one compact tile bound the same product.
            if constraint.coordinates in products:
                continue
            products.append(constraint.coordinates)
        names = free & {s for c in constraint.coordinates for part in c for s in part.symbols}
        if not names:
            if not constraint.holds(domains, domains):
                return None
        elif len(names) == 1:
            own[names.pop()].append(constraint)
        else:
            shared.append(constraint)
    working = [
        _Axis(axes[n], own[n], [c for c in shared if _touching_any(c, n)], domains, dict(domains))
        for n in order
    ]
    solver = _Solver(working, shared, domains, cap, stage.max_dims)
    tiers = [stage.tiers[-1]] * len(order)
    if len(stage.tiers) > 1:
        if solver.cheapest(tiers, any_choice=True) is None:
            return None
        for position in range(len(order)):
            for tier in stage.tiers:
                tiers[position] = tier
                if tier == stage.tiers[-1] or solver.cheapest(tiers, any_choice=True):
                    break
    return solver.cheapest(tiers)


class _Solver:
    """Branch and bound over the tile sizes of the axes."""

    def __init__(
        self,
        axes: list[_Axis],
        shared: list[Constraint],
        domains: Mapping[str, int],
        cap: int,
        max_dims: int,
    ) -> None:
        self.axes, self.shared, self.domains = axes, shared, domains
        self.cap, self.max_dims = cap, max_dims
        self.steps = 0

    def cheapest(self, tiers: Sequence[int], *, any_choice: bool = False) -> Choice | None:
        """The cheapest choice from these tiers, or the first one found."""
        lists = [axis.sizes(tier, self.cap) for axis, tier in zip(self.axes, tiers, strict=True)]
        if not all(lists):
            return None
        first = [sizes[0] for sizes in lists]
        tiles = dict(self.domains)
        tiles.update(self._tiles(first))
        if sum(count > 1 for count, _ in first) > self.max_dims:
            return None  # every axis needs at least its first count
        if all(c.holds(tiles, self.domains) for c in self.shared):
            return self._choice(first)
        if not self.shared:
            return None
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
            (prod(counts), len(cut), max(counts), counts),
        )

    def _branch(self, lists: list[tuple[Size, ...]], any_choice: bool) -> Choice | None:
        """Depth first in the order of the axes; the last axis takes its first size that fits."""
        best: list[Choice] = []
        tiles = dict(self.domains)
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
                    raise Refusal(
                        "SPY044", f"no plan was decided on within {STEP_BUDGET} partial choices"
                    )
                bound = total * size[0] * least[position + 1]
                if best and bound > best[0].cost[0]:
                    break
                tiles[name] = size[1] * unit
                chosen.append(size)
                stop = False
                if position == last:
                    stop = self._leaf(chosen, tiles, best)
                elif self._possible(tiles, smallest[position + 1]):
                    stop = descend(position + 1, total * size[0]) and any_choice
                chosen.pop()
                if stop:
                    return True
            return bool(best)

        descend(0, 1)
        return best[0] if best else None

    def _leaf(self, chosen: list[Size], tiles: Mapping[str, int], best: list[Choice]) -> bool:
        """Takes a full choice if it fits and is cheaper; says whether it fits."""
        if sum([count > 1 for count, _ in chosen]) > self.max_dims:
            return False
        if not all([c.holds(tiles, self.domains) for c in self.shared]):
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

    def _possible(self, tiles: dict[str, int], smallest: Mapping[str, int]) -> bool:
        """Whether the shared constraints hold if the axes still open are cut as finely as they can be."""
        trial = tiles | smallest
        return all([c.holds(trial, self.domains) for c in self.shared])

