# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as memory planning sees it: values, steps, loops.

Values are ints, each defined once. `key` is whatever the caller wants to find again in the plan. What there is one
of per operation is a named tuple: they are made faster than dataclasses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Compute(NamedTuple):
    """Writes every cell of a new value.

    `in_step`: reads that lie in memory as the result does and of which each cell is read no later
    than the same cell of the result is written, so that the result may lie over them."""

    key: Hashable
    reads: tuple[int, ...]
    result: int
    in_step: tuple[int, ...] = ()


class Empty(NamedTuple):
    """A value whose cells are still to be written."""

    result: int


class View(NamedTuple):
    """Names cells of another value and moves none: all of them, or those of `window` if `part`.

    Equal windows of one value (compared with ==) are the same cells; None equals nothing."""

    source: int
    result: int
    part: bool = False
    window: Hashable = None


class Update(NamedTuple):
    """The destination with `source` written over the cells of `window`.

    `direct`: whoever computes the source may write it there at once; then this step does
    nothing."""

    key: Hashable
    source: int
    destination: int
    result: int
    window: Hashable = None
    direct: bool = True


class Carried(NamedTuple):
    """A value that a loop carries: before it, in its body, at the end of the body, after it."""

    initial: int
    inside: int
    yielded: int
    result: int


@dataclass(frozen=True, slots=True)
class Loop:
    """Runs its body any number of times, also none."""

    key: Hashable
    carried: tuple[Carried, ...]
    body: tuple[Step, ...]


Step = Compute | Empty | View | Update | Loop


@dataclass(frozen=True, slots=True)
class Program:
    """A function: `arguments` and `results` are values; `sizes` gives the device bytes of values.

    Only values that own memory need a size: those of `Compute`, `Empty` and destinations."""

    arguments: tuple[int, ...]
    body: tuple[Step, ...]
    results: tuple[int, ...]
    sizes: Mapping[int, int]
