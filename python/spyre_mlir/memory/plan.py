# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where every value of a program lies, and which copies that takes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .analysis import Analysis, Buffer, Scope
from .pool import Block, allocate
from .program import Carried, Compute, Empty, Loop, Program, Update, View


class Place(NamedTuple):
    """Memory of a value: argument or result `number`, or the pool from byte `offset` on."""

    kind: Literal["argument", "result", "pool"]
    number: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of all cells of value `source` to where value `target` lies.

    It stands before the step with this `key`, at the end of the body of that loop (`at_end`), or,
    without a key, at the end of the function. The step then takes the target for its `operand`: the
    destination of an update (0), or a carried value or a result, by number. Copies of one place run
    in the order of the plan. Values below zero are new; a copy that has one as its source follows
    the copy that has it as its target, and stands for it."""

    source: int
    target: int
    key: Hashable
    operand: int = 0
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """`places`: of each value, by value; a view lies where the value it views does, the source of a
    direct update where the result does. `copies` to insert. `direct`: results of updates whose
    source is computed in its place, so that nothing is left to do. `pool_bytes`: size of the pool.

    An update writes to where its result lies, a loop carries a value where `inside` lies."""

    places: Mapping[int, Place]
    copies: tuple[Copy, ...]
    direct: frozenset[int]
    pool_bytes: int


def plan_memory(program: Program, *, pool_limit: int | None = None) -> MemoryPlan:
    """Places for all values. No value is overwritten while it is still needed: a copy is planned.

    Destinations and carried values are updated in place where nothing else needs them; arguments
    are never written. A result of the function lies where the caller wants it. All other buffers
    lie in the pool, those of one loop beside each other; if that exceeds `pool_limit` bytes, they
    share memory within the loop as well. Refusals: SPY120 the pool is over its limit even so,
    SPY121 the program is not well formed."""
    analysis = Analysis(program)
    planner = _Planner(analysis)
    planner.share()
    for loop, scope in analysis.loops:
        planner.yields(loop, scope)
    planner.write_directly()
    planner.results(program.results)
    return planner.finish(pool_limit)


class _Planner:
    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.copies: list[Copy] = []
        self.direct: list[int] = []
        self.parts: set[int] = set()
        """Values that do not fill their buffer."""
        self.shared: set[int] = set()
        """Values whose buffer others were let into."""
        self.windows: dict[int, tuple[int, Hashable]] = {}
        """Part of a value that fills its buffer -> that value, window."""
        self.updates: list[tuple[Update, Scope, int, bool]] = []
        """Updates with their scope, number, and whether their destination is copied."""

    # In place.

    def share(self) -> None:
        """Lets views, destinations and carried values share the buffers that they can."""
        for step, scope, at in self.analysis.aliasing:
            if isinstance(step, View):
                self._view(step)
            elif isinstance(step, Update):
                into, copied = self._writable(step.destination, scope, at, (step.key, 0))
                self.analysis.join(into, step.result)
                self.shared.add(into)
                if into in self.parts:
                    self.parts.add(step.result)
                self.updates.append((step, scope, at, copied))
            else:
                assert scope.parent is not None
                for number, carried in enumerate(step.carried):
                    into, _ = self._writable(
                        carried.initial, scope.parent, at, (step.key, number), whole=True
                    )
                    self.analysis.join(into, carried.inside)
                    self.shared.add(into)

    def _view(self, view: View) -> None:
        if view.part and view.source not in self.parts:
            self.windows[view.result] = (view.source, view.window)
        elif view.source in self.windows and not view.part:
            self.windows[view.result] = self.windows[view.source]
        if view.part or view.source in self.parts:
            self.parts.add(view.result)

    def _writable(
        self,
        value: int,
        scope: Scope,
        at: int,
        operand: tuple[Hashable, int],
        *,
        whole: bool = False,
    ) -> tuple[int, bool]:
        """A value with the contents of `value` that step `at` may overwrite, and whether that takes
        a copy: it does where anything else still needs the contents."""
        analysis = self.analysis
        root = analysis.facts[analysis.facts[value].root]
        only = root.scope is scope and root.last == at and root.at_last == 1
        own = analysis.buffer(value).argument is None
        if only and own and not (whole and value in self.parts):
            return value, False
        new = analysis.fresh(value, scope, at)
        if isinstance(root.definition, Empty):
            analysis.buffer(value).touches.remove(at)  # there is nothing to read
            return new, False
        self.copies.append(Copy(value, new, *operand))
        return new, True

    # Written where they are wanted.

    def yields(self, loop: Loop, scope: Scope) -> None:
        """Lets what a loop yields be computed where it is carried, or plans copies."""
        left = [
            (number, carried)
            for number, carried in enumerate(loop.carried)
            if not self._carries(carried, scope)
        ]
        overwritten = {self.analysis.key(carried.inside) for _, carried in left}
        first, second = [], []
        for number, carried in left:
            source = carried.yielded
            if self.analysis.key(source) in overwritten:
                # Another copy would overwrite it first: it goes over new memory.
                source = self.analysis.fresh(carried.inside, scope, scope.end)
                first.append(Copy(carried.yielded, source, loop.key, number, at_end=True))
            second.append(Copy(source, carried.inside, loop.key, number, at_end=True))
        self.copies += first + second

    def _carries(self, carried: Carried, scope: Scope) -> bool:
        analysis = self.analysis
        if carried.yielded in self.parts:
            return False
        if analysis.key(carried.yielded) == analysis.key(carried.inside):
            return True
        ours, theirs = analysis.buffer(carried.yielded), analysis.buffer(carried.inside)
        if ours.argument is not None or not ours.home.within(scope):
            return False
        first = ours.touches[0] if ours.touches else scope.end
        if not self._may_write(theirs, first, scope.end, None):
            return False
        analysis.join(carried.inside, carried.yielded)
        return True

    def write_directly(self) -> None:
        """Lets the sources of updates be computed inside their destinations."""
        analysis = self.analysis
        for update, scope, at, copied in self.updates:
            fact = analysis.facts[update.source]
            step = fact.definition
            if not update.direct or copied or fact.scope is not scope:
                continue
            if fact.uses != 1 and not self._stays(update, scope, at):
                continue
            if not isinstance(step, Compute) or analysis.key(update.source) != update.source:
                continue
            if self._may_write(analysis.buffer(update.result), fact.at, at - 1, update):
                analysis.join(update.result, update.source)
                self.direct.append(update.result)

    def _stays(self, update: Update, scope: Scope, at: int) -> bool:
        """Whether the source, once it lies in the destination, is there for all who read it: nothing
        writes over it, and the destination is not touched before its last use."""
        last = self.analysis.facts[update.source].last
        if update.source in self.shared or last >= scope.end:
            return False
        return not self.analysis.buffer(update.result).touched(at + 1, last)

    def _may_write(self, buffer: Buffer, first: int, last: int, update: Update | None) -> bool:
        """Whether the buffer may be written from step `first` on, its old contents not needed up to
        step `last`; the computation at `first` may read cells where it writes them."""
        touched = buffer.touched(first, last)
        if not touched:
            return True
        step = self.analysis.computes.get(first)
        if step is None or touched[-1] > first:
            return False
        reads = [value for value in step.reads if self.analysis.buffer(value) is buffer]
        return len(reads) == len(touched) and all(
            value in step.in_step and self._same_cells(value, update) for value in reads
        )

    def _same_cells(self, value: int, update: Update | None) -> bool:
        """Whether a value of the destination's buffer is the window that the update writes, or,
        without an update, all of it."""
        if update is None:
            return value not in self.parts
        whole, window = self.windows.get(value, (None, None))
        return (
            whole is not None
            and window is not None
            and window == update.window
            and update.destination not in self.parts
        )

    def results(self, values: tuple[int, ...]) -> None:
        """Lets results of the function be computed where the caller wants them, or plans copies."""
        analysis = self.analysis
        for number, value in enumerate(values):
            buffer = analysis.buffer(value)
            if (
                value in self.parts
                or buffer.argument is not None
                or buffer.result is not None
                or buffer.home is not analysis.function
            ):
                new = analysis.fresh(value, analysis.function, analysis.function.end)
                self.copies.append(Copy(value, new, None, number))
                buffer = analysis.buffer(new)
            buffer.result = number

    # The pool.

    def finish(self, limit: int | None) -> MemoryPlan:
        """The plan, once buffers are settled."""
        analysis = self.analysis
        pooled = [
            (key, buffer)
            for key, buffer in analysis.buffers.items()
            if buffer.argument is None and buffer.result is None and buffer.touches
        ]
        pooled.sort(key=lambda item: (item[1].touches[0], item[0]))
        size, tops = analysis.size, analysis.tops
        by_step = [
            Block(size(b.value), bisect_right(tops, b.touches[0]), bisect_right(tops, b.last))
            for _, b in pooled
        ]
        pool = allocate(by_step)
        if limit is not None and pool.bytes > limit:
            exact = [Block(size(b.value), b.touches[0], b.last) for _, b in pooled]
            pool = allocate(exact, limit=limit)
        offsets = {key: offset for (key, _), offset in zip(pooled, pool.offsets, strict=True)}
        # What is neither written nor read takes no memory: it may lie anywhere.
        of_buffer = {key: _place(b, offsets.get(key, 0)) for key, b in analysis.buffers.items()}
        named = (*analysis.facts, *(copy.target for copy in self.copies))
        places = {value: of_buffer[analysis.key(value)] for value in named}
        return MemoryPlan(places, tuple(self.copies), frozenset(self.direct), pool.bytes)


def _place(buffer: Buffer, offset: int) -> Place:
    if buffer.argument is not None:
        return Place("argument", number=buffer.argument)
    if buffer.result is not None:
        return Place("result", number=buffer.result)
    return Place("pool", offset=offset)
