# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cheapest tiles under one bound on a product of extents, one extent for each axis.

This is what a tile with a buffer of its own asks for: no extent binds alone, and many choices need
nearly as many tiles. Axes are added one after the other, keeping of partial choices those that no
other one beats in both tiles and extents; what needs more tiles than a guess is left out, and the
guess grows from the lower bound until some choice is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from spyre_mlir.tiling.sizes import Fits, Size, Sizes, divisors

GUESSES = ((65, 64), (9, 8), (2, 1), (16, 1))
"""Tiles over the lower bound up to which is searched, as fractions, before there is no limit."""

STATES = 10_000
"""Partial choices that are kept, or compared, before the search gives up."""


@dataclass(frozen=True, slots=True)
class Factor:
    """One axis: its sizes, the extent of a tile of so many units, which takes all values in between,
    and that of the whole axis."""

    sizes: Sizes
    extent: Callable[[int], int]
    whole: int


class OutOfBudget(Exception):
    """More partial choices than are looked at."""


_State = tuple[int, int, tuple[Size, ...]]
"""(tiles, product of extents, sizes chosen so far)."""


class ProductSearch:
    """Sizes of every factor with the product of extents at most `allowed`, at most `max_dims` of
    them cut; smaller tiles have no larger extents."""

    def __init__(self, factors: Sequence[Factor], allowed: int, max_dims: int) -> None:
        self.factors, self.allowed, self.max_dims = factors, allowed, max_dims
        self.order = sorted(range(len(factors)), key=lambda at: factors[at].sizes.length)
        ordered = [factors[at] for at in self.order]
        self.ordered = ordered
        self.whole = [prod(f.whole for f in ordered[at:]) for at in range(len(ordered) + 1)]
        finest = [f.extent(f.sizes.finest[1]) for f in ordered]
        self.finest = [prod(finest[at:]) for at in range(len(ordered) + 1)]
        counts = [f.sizes.coarsest[0] for f in ordered]
        self.counts = [prod(counts[at:]) for at in range(len(ordered) + 1)]
        self.states = 0

    def run(self) -> list[Size] | None:
        """The sizes in the order of the factors: the fewest tiles, then as `cost` orders them.

        Raises OutOfBudget."""
        bound = max(-(-self.whole[0] // self.allowed), self.counts[0])
        for above, below in GUESSES:
            found = self._fewest(bound * above // below)
            if found is not None:
                return self._best_of(found)
        found = self._fewest(None)
        return None if found is None else self._best_of(found)

    def _spend(self, states: int) -> None:
        self.states += states
        if self.states > STATES:
            raise OutOfBudget

    def _fewest(self, limit: int | None) -> int | None:
        """The fewest tiles, if that is at most `limit`."""
        start: _State = (1, 1, ())
        fronts: list[list[_State]] = [[start], *([] for _ in range(self.max_dims))]
        for position in range(len(self.ordered) - 1):
            fronts = [_front(states) for states in self._added(position, fronts, limit)]
        last, best, found = self.ordered[-1], limit, None
        for cut, states in enumerate(fronts):
            self._spend(len(states))
            for count, extent, _ in states:
                left = self.allowed // extent
                most = last.sizes.finest[0] if best is None else best // count
                if cut == self.max_dims:
                    most = min(most, 1)
                size = last.sizes.first(_within(last, left), most)
                if size is not None:
                    best = found = count * size[0]
        return found

    def _added(
        self, position: int, fronts: list[list[_State]], limit: int | None
    ) -> list[list[_State]]:
        """Every state with every size of one more axis that may still lead to a choice."""
        factor, allowed = self.ordered[position], self.allowed
        whole, finest, counts = (v[position + 1] for v in (self.whole, self.finest, self.counts))
        found: list[list[_State]] = [[] for _ in fronts]
        for size in factor.sizes:
            if limit is not None and size[0] * counts > limit:
                break
            extent = factor.extent(size[1])
            for cut, states in enumerate(fronts):
                deeper = cut + (size[0] > 1)
                if deeper > self.max_dims:
                    continue
                self._spend(len(states) // 8 + 1)
                into = found[deeper]
                for tiles, value, chosen in states:
                    count, product = tiles * size[0], value * extent
                    if (
                        limit is not None
                        and count * max(-(-product * whole // allowed), counts) > limit
                    ):
                        continue
                    if product * finest <= allowed:
                        into.append((count, product, (*chosen, size)))
        return found

    def _best_of(self, total: int) -> list[Size] | None:
        """Of the choices with so many tiles, the one that cuts the fewest axes, then has the
        smallest largest count, then the smallest counts."""
        counts = divisors(total)
        best: tuple[tuple[int, int, tuple[int, ...]], list[Size]] | None = None
        chosen: list[Size] = []

        def descend(at: int, left: int, extent: int, cut: int) -> None:
            nonlocal best
            if at == len(self.factors):
                numbers = tuple([count for count, _ in chosen])
                cost = (cut, max(numbers), numbers)
                if left == 1 and (best is None or cost < best[0]):
                    best = cost, list(chosen)
                return
            factor = self.factors[at]
            self._spend(1)
            for count in counts:
                if count > left or cut + (count > 1) > self.max_dims:
                    return
                if left % count == 0:
                    size = factor.sizes.with_count(count)
                    if size is not None and extent * factor.extent(size[1]) <= self.allowed:
                        chosen.append(size)
                        descend(
                            at + 1,
                            left // count,
                            extent * factor.extent(size[1]),
                            cut + (count > 1),
                        )
                        chosen.pop()

        descend(0, total, 1, 0)
        return None if best is None else best[1]


def _within(factor: Factor, left: int) -> Fits:
    return lambda units: factor.extent(units) <= left


def _front(states: list[_State]) -> list[_State]:
    """The states that no other one beats in tiles and extents, by rising tiles."""
    states.sort(key=lambda state: state[:2])
    kept: list[_State] = []
    for state in states:
        if not kept or state[1] < kept[-1][1]:
            kept.append(state)
    return kept
