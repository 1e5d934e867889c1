# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile sizes of one axis, by rising number of tiles.

Where smaller tiles never reach further, one size stands for each number of tiles, and the largest
tile that fits is found by bisection. Where a reach depends on how tiles line up with the boundaries
of a coordinate, the same holds among the multiples of one divisor of its period: they start at the
same residues. So one size for each number of tiles and each divisor is enough."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import isqrt
from typing import Protocol

from spyre_mlir.hardware import LOOP_TRIPS_MAX

Size = tuple[int, int]
"""(tiles, units per tile)."""

Fits = Callable[[int], bool]
"""Whether tiles of so many units fit."""


@lru_cache(maxsize=1 << 12)
def exact_sizes(units: int, cap: int) -> tuple[Size, ...]:
    """(count, units / count) for each divisor up to `cap`, rising."""
    if cap <= isqrt(units):
        counts = [c for c in range(1, cap + 1) if units % c == 0]
    else:
        counts = [c for c in divisors(units) if c <= cap]
    return tuple([(c, units // c) for c in counts])


@lru_cache(maxsize=1 << 12)
def divisors(number: int) -> tuple[int, ...]:
    """All divisors, rising; at most those up to LOOP_TRIPS_MAX and their counterparts."""
    low = [c for c in range(1, min(isqrt(number), LOOP_TRIPS_MAX) + 1) if number % c == 0]
    return (*low, *[number // c for c in reversed(low) if c * c != number])


def every_size(units: int, cap: int) -> list[Size]:
    """(count, tile) for every tile size with a count up to `cap`: by rising count, exact and small
    ones first."""
    sizes = [(-(-units // tile), units % tile != 0, tile) for tile in range(1, units + 1)]
    return [(count, tile) for count, _, tile in sorted(sizes) if count <= cap]


class Sizes(Protocol):
    """Sizes to choose from; iteration is by rising count."""

    def __iter__(self) -> Iterator[Size]: ...

    def __bool__(self) -> bool: ...

    @property
    def length(self) -> int:
        """How many sizes there are, or may be."""
        ...

    @property
    def coarsest(self) -> Size:
        """One with the fewest tiles."""
        ...

    @property
    def finest(self) -> Size:
        """One with the most tiles."""
        ...

    def first(self, fits: Fits, most: int) -> Size | None:
        """One that fits with the fewest tiles, at most `most`; None if there is none."""
        ...

    def with_count(self, count: int) -> Size | None:
        """One with so many tiles; None if there is none."""
        ...


class Listed:
    """Sizes that are all known. `nested`: what fits a tile fits smaller ones."""

    def __init__(self, sizes: Sequence[Size], *, nested: bool) -> None:
        self.sizes, self.nested = sizes, nested

    def __iter__(self) -> Iterator[Size]:
        return iter(self.sizes)

    def __bool__(self) -> bool:
        return bool(self.sizes)

    @property
    def length(self) -> int:
        return len(self.sizes)

    @property
    def coarsest(self) -> Size:
        return self.sizes[0]

    @property
    def finest(self) -> Size:
        return self.sizes[-1]

    def first(self, fits: Fits, most: int) -> Size | None:
        if not self.nested:
            return next((s for s in self.sizes if s[0] <= most and fits(s[1])), None)
        end = bisect_left(self.sizes, (most + 1, 0))
        at = bisect_left(self.sizes, True, hi=end, key=lambda size: fits(size[1]))
        return self.sizes[at] if at < end else None

    def with_count(self, count: int) -> Size | None:
        at = bisect_left(self.sizes, (count, 0))
        found = self.sizes[at] if at < len(self.sizes) else None
        return found if found is not None and found[0] == count else None


class Multiples:
    """The smallest multiples of the divisors of a period, for each count up to `cap`, up to
    `largest` units.

    `steps` are those divisors, falling; `own` decides what fits the axis by itself, where `largest`
    does not; a tile of `excluded` units is left out."""

    def __init__(
        self,
        units: int,
        cap: int,
        largest: int,
        *,
        steps: Sequence[int] = (1,),
        own: Fits | None = None,
        excluded: int = 0,
    ) -> None:
        self.units, self.cap, self.largest = units, cap, largest
        self.steps = [step for step in steps if step <= largest] or [1]
        self.own, self.excluded = own, excluded
        found = self._first(own, cap) if largest else None
        self._coarsest = found

    def __bool__(self) -> bool:
        return self._coarsest is not None

    @property
    def length(self) -> int:
        return min(2 * isqrt(self.units), self.cap) * len(self.steps)

    @property
    def coarsest(self) -> Size:
        assert self._coarsest is not None
        return self._coarsest

    @property
    def finest(self) -> Size:
        tile = -(-self.units // self.cap)
        count = -(-self.units // tile)
        size = (count, -(-self.units // count))
        return size if self.own is None or self.own(size[1]) else self.coarsest

    def __iter__(self) -> Iterator[Size]:
        count = self.coarsest[0]
        while count <= self.cap:
            low = -(-self.units // count)
            high = min(self.units if count == 1 else (self.units - 1) // (count - 1), self.largest)
            seen: set[int] = set()
            for step in self.steps:
                tile = -(-low // step) * step
                if tile == self.excluded:
                    tile += step
                if tile <= high and tile not in seen and (self.own is None or self.own(tile)):
                    seen.add(tile)
                    yield count, tile
            if low == 1:
                return
            count = -(-self.units // (low - 1))

    def first(self, fits: Fits, most: int) -> Size | None:
        own = self.own
        if own is None:
            return self._first(fits, most)
        return self._first(lambda tile: own(tile) and fits(tile), most)

    def with_count(self, count: int) -> Size | None:
        low = -(-self.units // count)
        if count > self.cap or low > self.largest or -(-self.units // low) != count:
            return None
        tile = low + (low == self.excluded)
        fits = tile <= self.largest and -(-self.units // tile) == count
        return (count, tile) if fits and (self.own is None or self.own(tile)) else None

    def _first(self, fits: Fits | None, most: int) -> Size | None:
        """The fewest tiles, one divisor after the other; each bisected for its largest multiple."""
        best: Size | None = None
        most = min(most, self.cap)
        if most < 1:
            return None
        for step in self.steps:
            needed = -(-self.units // most)
            low, high = -(-needed // step), self.largest // step
            if low > high or (fits is not None and not fits(low * step)):
                continue
            if fits is None or fits(high * step):
                low = high
            while high - low > 1:
                middle = (low + high) // 2
                if fits is None or fits(middle * step):
                    low = middle
                else:
                    high = middle
            best = self._least_of(low * step, step, fits)
            if best is None or best[0] == 1:
                return best
            most = best[0] - 1
        return best

    def _least_of(self, tile: int, step: int, fits: Fits | None) -> Size | None:
        """With as many tiles as this largest one makes, the smallest; past the excluded one."""
        count = -(-self.units // tile)
        low = -(-self.units // count)
        small = -(-low // step) * step
        if small == self.excluded:
            small = tile
        if small == self.excluded:  # the only one with its count
            if tile <= step:
                return None
            return self._least_of(tile - step, step, fits) if self._counts(tile - step) else None
        return (count, small if fits is None or fits(small) else tile)

    def _counts(self, tile: int) -> bool:
        return -(-self.units // tile) <= self.cap
