# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search: the cheapest way to cut the axes so that every constraint holds.

A choice gives each axis one tile size. Its cost is (product of counts, axes that are cut, largest
count, counts by decreasing untiled span). Constraints on one axis only thin out its tile sizes, and
then the smallest count of each axis is the answer, in closed form or by bisection. What constraints
share several axes is decided by branch and bound: the axis with the most sizes comes last and is
bisected, and a branch ends where the tiles that its constraints need at least are too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import gcd, lcm, prod
from typing import Literal

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LOOP_TRIPS_MAX
from spyre_mlir.tiling.candidates import Axis, Constraint, values_of
from spyre_mlir.tiling.cost import tiles_needed
from spyre_mlir.tiling.fronts import Factor, OutOfBudget, ProductSearch
from spyre_mlir.tiling.reaches import Summand, alignment, largest_tile
from spyre_mlir.tiling.sizes import (
    Listed,
    Multiples,
    Size,
    Sizes,
    divisors,
    every_size,
    exact_sizes,
)

Remainders = Literal["never", "fallback", "always"]

EVERY_SIZE = 128
"""Units of an axis up to which every tile size is looked at where the reach does not grow with the
tile."""

STEP_BUDGET = 2_000
"""Times that one branch and bound may look at its shared constraints. It ends with the best choice
seen, which is then not proved to be the cheapest."""

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

Cost = tuple[int, int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Choice:
    """Tile sizes in elements of the axes that are cut, and the cost. `proved`: no choice of the same
    tiers is cheaper."""

    tiles: dict[str, int]
    cost: Cost
    proved: bool = True


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
    lists: dict[int, Sizes] = field(default_factory=dict)
    steps: tuple[int, ...] = field(init=False)
    """Divisors of the units after which every coordinate repeats, falling; (1,) where smaller tiles
    always reach less."""
    largest: int | None = None

    def __post_init__(self) -> None:
        symbol, unit, repeats = self.axis.symbol, self.axis.unit, 1
        for constraint in (*self.own, *self.shared):
            for summand in _touching(constraint, symbol):
                found = alignment(summand.expression, symbol)
                repeats = lcm(repeats, found // gcd(found, unit))
        self.steps = (1,) if repeats == 1 else divisors(repeats)[::-1]

    @property
    def nested(self) -> bool:
        """Whether what fits a tile fits smaller ones."""
        return len(self.steps) == 1

    @property
    def exhaustive(self) -> bool:
        """Whether no tile size that is left out could be better. In tilings with fewer tiles than
        the coordinate has residues, one that is no multiple may be."""
        return self.nested or self.axis.units <= EVERY_SIZE

    def fits(self, units: int) -> bool:
        """Whether the axis' own constraints hold for tiles of so many units."""
        self.base[self.axis.symbol] = units * self.axis.unit
        return all(c.holds(self.base, self.domains) for c in self.own)

    def sizes(self, tier: int) -> Sizes:
        """The tile sizes of a tier that satisfy the axis' own constraints."""
        if tier not in self.lists:
            self.lists[tier] = self._sizes(tier)
        return self.lists[tier]

    def _sizes(self, tier: int) -> Sizes:
        cap = min(self.cap, LOOP_TRIPS_MAX) if tier < EXACT_MANY else LOOP_TRIPS_MAX
        units = self.axis.units
        largest = self._largest() if self.nested else units
        if largest == 0:
            return Listed((), nested=True)
        if tier in (EXACT, EXACT_MANY) or (not self.nested and units <= EVERY_SIZE):
            exact = tier in (EXACT, EXACT_MANY)
            found = exact_sizes(units, cap) if exact else every_size(units, cap)
            kept = (s for s in found if s[1] <= largest and s[1] != self.excluded)
            return Listed(
                [s for s in kept if self.nested or self.fits(s[1])], nested=exact and self.nested
            )
        own = None if self.nested else self.fits
        return Multiples(units, cap, largest, steps=self.steps, own=own, excluded=self.excluded)

    def _largest(self) -> int:
        """The largest tile in units that fits, by closed form or bisection; 0 if none does."""
        if self.largest is None:
            self.largest = self._closed_form()
        return self.largest

    def _closed_form(self) -> int:
        low, high = 0, self.axis.units
        for constraint in self.own:
            if constraint.compact or len(constraint.coordinates[0]) > 1:
                break
            summand = constraint.coordinates[0][0]
            elements = None
            if len(summand.symbols) == 1:
                elements = largest_tile(summand.expression, constraint.allowed - 1)
            if elements is None:
                break
            high = min(high, elements // self.axis.unit)
        else:
            return high
        if high == 0 or self.fits(high):
            return high
        while high - low > 1:
            middle = (low + high) // 2
            if self.fits(middle):
                low = middle
            else:
                high = middle
        return low


def _touching(constraint: Constraint, symbol: str) -> Iterator[Summand]:
    for parts in constraint.coordinates:
        for summand in parts:
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
    if any(problem is not None and problem.undecided for problem in problems):
        raise Refusal(
            "SPY044",
            f"whether any tiles fit was not decided by looking at {STEP_BUDGET} choices of a tier",
        )
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
        self.undecided = False
        """Whether a branch and bound ended before it had found a choice or that there is none."""

    def solve(self, tiers: Sequence[int], max_dims: int) -> Choice | None:
        """The cheapest choice with the earliest tiers that make one fit."""
        self.max_dims = max_dims
        taken = [tiers[-1]] * len(self.axes)
        if len(tiers) > 1:
            if self.shared and self._cheapest(taken, any_choice=True) is None:
                return None
            for position, axis in enumerate(self.axes):
                for tier in tiers:
                    taken[position] = tier
                    if axis.sizes(tier) and (
                        not self.shared or self._cheapest(taken, any_choice=True)
                    ):
                        break
        found = self._cheapest(taken)
        if found is None or all(axis.exhaustive for axis in self.axes):
            return found
        constraints = [*self.shared, *(c for axis in self.axes for c in axis.own)]
        needed = tiles_needed(constraints, self.domains)
        return replace(found, proved=found.proved and found.cost[0] <= needed)

    def _cheapest(self, tiers: Sequence[int], *, any_choice: bool = False) -> Choice | None:
        """The cheapest choice from these tiers, or the first one found."""
        lists = [axis.sizes(tier) for axis, tier in zip(self.axes, tiers, strict=True)]
        if not all(lists):
            return None
        first = [sizes.coarsest for sizes in lists]
        if sum([count > 1 for count, _ in first]) > self.max_dims:
            return None  # every axis needs at least its first count
        if not self.shared or self._fit(first):
            return self._choice(first)
        if all(axis.nested for axis in self.axes):
            some = self._finest(lists)
            if any_choice or some is None:
                return some
        product = None if any_choice else self._product(lists)
        if product is not None:
            try:
                found = product.run()
            except OutOfBudget:
                pass
            else:
                return None if found is None else self._choice(found)
        branch = _Branch(self, lists, any_choice)
        choice = branch.run()
        if branch.ended and choice is None:
            self.undecided = True
        return choice

    def _finest(self, lists: Sequence[Sizes]) -> Choice | None:
        """A choice of the finest tiles on as many axes as may be cut, where nothing fits if they do
        not."""
        if not self._fit([sizes.finest for sizes in lists]):
            return None
        free = [at for at, sizes in enumerate(lists) if sizes.coarsest[0] == 1]
        cut = max(0, self.max_dims - len(lists) + len(free))
        for left in combinations(free, max(0, len(free) - cut)):
            sizes = [s.coarsest if at in left else s.finest for at, s in enumerate(lists)]
            if self._fit(sizes):
                return self._choice(sizes)
        return None

    def _product(self, lists: Sequence[Sizes]) -> ProductSearch | None:
        """The problem as one bound on a product with an extent for each axis; None if it is more."""
        if len(self.shared) != 1 or not all(axis.nested for axis in self.axes):
            return None
        (constraint,) = self.shared
        symbols = [axis.axis.symbol for axis in self.axes]
        allowed, moved = constraint.allowed, dict.fromkeys(symbols, -1)
        for at, parts in enumerate(constraint.coordinates):
            names = [name for part in parts for name in part.symbols if name in moved]
            extent, step = values_of(parts, self.uncut, self.domains)
            extent = min(extent, constraint.sizes[at])
            if len(names) > 1 or (names and (moved[names[0]] >= 0 or step != 1)):
                return None
            if names:
                moved[names[0]] = at
            else:
                allowed //= extent
        if not allowed:
            return None  # what is not searched is too much by itself
        factors = [
            _factor(axis, sizes, None if at < 0 else (constraint, at))
            for axis, sizes, at in zip(self.axes, lists, moved.values(), strict=True)
        ]
        return ProductSearch(factors, allowed, self.max_dims)

    def _fit(self, sizes: Sequence[Size]) -> bool:
        """Whether the shared constraints hold."""
        tiles = {**self.uncut, **self._tiles(sizes)}
        return all(c.holds(tiles, self.domains) for c in self.shared)

    def _tiles(self, sizes: Sequence[Size]) -> dict[str, int]:
        return {
            axis.axis.symbol: units * axis.axis.unit
            for axis, (_, units) in zip(self.axes, sizes, strict=True)
        }

    def _choice(self, sizes: Sequence[Size], *, proved: bool = True) -> Choice:
        tiles = self._tiles(sizes)
        cut = [a.axis.symbol for a, (count, _) in zip(self.axes, sizes, strict=True) if count > 1]
        return Choice({name: tiles[name] for name in cut}, cost_of(sizes), proved)


def _factor(axis: _Axis, sizes: Sizes, of: tuple[Constraint, int] | None) -> Factor:
    """The extent of one coordinate of a constraint as a factor; 1 if the axis moves none."""
    if of is None:
        return Factor(sizes, lambda units: 1, 1)
    parts, most = of[0].coordinates[of[1]], of[0].sizes[of[1]]
    tiles, domains, name, unit = dict(axis.base), axis.domains, axis.axis.symbol, axis.axis.unit

    def extent(units: int) -> int:
        tiles[name] = units * unit
        return min(sum([part.reach(tiles, domains) for part in parts]) + 1, most)

    return Factor(sizes, extent, extent(axis.axis.units))


def cost_of(sizes: Sequence[Size]) -> Cost:
    """What choices are compared by."""
    counts = tuple([count for count, _ in sizes])
    cut = sum([count > 1 for count in counts])
    return prod(counts), cut, max(counts, default=1), counts


class _Branch:
    """One branch and bound: depth first, the axes with fewer sizes first; the last one is
    bisected."""

    def __init__(self, problem: _Problem, lists: Sequence[Sizes], any_choice: bool) -> None:
        self.problem, self.lists, self.any_choice = problem, lists, any_choice
        self.order = sorted(range(len(lists)), key=lambda at: lists[at].length)
        self.least = [1] * (len(lists) + 1)
        """Product of the smallest counts of the axes from a position of the order on."""
        for position in range(len(lists) - 1, -1, -1):
            count = lists[self.order[position]].coarsest[0]
            self.least[position] = self.least[position + 1] * count
        self.smallest = self._smallest()
        self.tiles = dict(problem.uncut)
        self.chosen = [sizes.coarsest for sizes in lists]
        self.best: tuple[Cost, list[Size]] | None = None
        self.steps = 0
        self.ended = False

    def run(self) -> Choice | None:
        """The cheapest choice, or the first one found."""
        self._descend(0, 1, 0)
        if self.best is None:
            return None
        return self.problem._choice(self.best[1], proved=not self.ended)

    def _smallest(self) -> list[dict[str, int]]:
        """Per position of the order: tile sizes of the axes from there on under which reaches are
        least."""
        found: list[dict[str, int]] = [{}]
        for at in reversed(self.order):
            axis, sizes = self.problem.axes[at], self.lists[at]
            # A single element reaches nothing, where smaller tiles may reach further.
            tile = sizes.finest[1] * axis.axis.unit if axis.nested else 1
            found.append({**found[-1], axis.axis.symbol: tile})
        return found[::-1]

    def _holds(self, tiles: Mapping[str, int]) -> bool:
        self.steps += 1
        self.ended = self.ended or self.steps > STEP_BUDGET
        return all(c.holds(tiles, self.problem.domains) for c in self.problem.shared)

    def _descend(self, position: int, total: int, cut: int) -> bool:
        """Whether a choice was found below; `total` tiles and `cut` axes so far."""
        at = self.order[position]
        axis, sizes = self.problem.axes[at].axis, self.lists[at]
        if position == len(self.order) - 1:
            return self._last(at, total, cut)
        found = False
        for size in sizes:
            bound = total * size[0]
            deeper = cut + (size[0] > 1)
            if deeper > self.problem.max_dims or self.ended:
                break
            if self.best and bound * self.least[position + 1] > self.best[0][0]:
                break
            self.tiles[axis.symbol] = size[1] * axis.unit
            if self.best and bound * self._needed() > self.best[0][0]:
                continue
            if not self._holds({**self.tiles, **self.smallest[position + 1]}):
                continue
            self.chosen[at] = size
            if self._descend(position + 1, bound, deeper):
                found = True
                if self.any_choice:
                    break
        self.tiles[axis.symbol] = self.problem.uncut[axis.symbol]
        return found

    def _needed(self) -> int:
        """Tiles that the axes still uncut need at least."""
        tiles, domains = self.tiles, self.problem.domains
        return max([c.tiles_needed(tiles, domains) for c in self.problem.shared])

    def _last(self, at: int, total: int, cut: int) -> bool:
        """Gives the last axis the fewest tiles that fit."""
        axis = self.problem.axes[at].axis

        def fits(units: int) -> bool:
            self.tiles[axis.symbol] = units * axis.unit
            return self._holds(self.tiles)

        most = self.best[0][0] // total if self.best else LOOP_TRIPS_MAX
        size = self.lists[at].first(fits, 1 if cut == self.problem.max_dims else most)
        self.tiles[axis.symbol] = self.problem.uncut[axis.symbol]
        if size is None:
            return False
        self.chosen[at] = size
        cost = cost_of(self.chosen)
        if self.best is None or cost < self.best[0]:
            self.best = cost, list(self.chosen)
        return True
