# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When the values of a program are written and used, and which of them share a buffer.

Steps are numbered in program order. A loop takes three numbers: where it is entered, the end of its
body, where values are yielded, and where it is left."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from spyre_mlir.diagnostics import Refusal

from .program import Compute, Empty, Loop, Program, Step, Update, View


@dataclass(slots=True, eq=False)
class Scope:
    """The body of a loop, or of the function (which has no parent)."""

    parent: Scope | None
    enter: int = 0
    end: int = 0
    leave: int = 0
    outer_uses: list[int] = field(default_factory=list)
    """Values of outer scopes that are used in here: they live until this loop is left."""

    def within(self, outer: Scope) -> bool:
        """Whether this scope is `outer` or lies in it."""
        scope: Scope | None = self
        while scope is not None and scope is not outer:
            scope = scope.parent
        return scope is outer

    def below(self, outer: Scope) -> Scope:
        """The outermost loop that contains this scope and lies in `outer`, another one."""
        scope = self
        while scope.parent is not outer:
            if scope.parent is None:
                raise Refusal("SPY121", "a value is used outside the loop that defines it")
            scope = scope.parent
        return scope


@dataclass(slots=True)
class Fact:
    """What is known of a value. `root` is the value that it is a view of, or itself.

    Of a root: `uses` of it and its views; `last` is the last of them, where a use in a loop that
    does not contain the definition counts when that loop is left; `at_last` counts the uses
    there."""

    scope: Scope
    at: int
    root: int
    definition: Step | None
    uses: int = 0
    last: int = 0
    at_last: int = 0


@dataclass(slots=True)
class Buffer:
    """Memory that values share, one after the other.

    `touches`: the steps that read or write it, sorted. `last`: as in `Fact`. `home`: the scope that
    contains all its values. `value`: one that fills it. `argument`, `result`: its number as
    such."""

    home: Scope
    value: int
    touches: list[int]
    last: int
    argument: int | None = None
    result: int | None = None

    def touched(self, first: int, last: int) -> list[int]:
        """The touches from step `first` to step `last`, both included."""
        start = bisect_left(self.touches, first)
        return self.touches[start : bisect_left(self.touches, last + 1, start)]


class Analysis:
    """One walk over a program; then buffers are joined as the plan decides."""

    def __init__(self, program: Program) -> None:
        self.facts: dict[int, Fact] = {}
        self.buffers: dict[int, Buffer] = {}
        self.computes: dict[int, Compute] = {}
        """Step -> what is computed there."""
        self.aliasing: list[tuple[View | Update | Loop, Scope, int]] = []
        """Steps that may let values share a buffer, in program order, each with its own scope (a
        loop with that of its body) and number."""
        self.loops: list[tuple[Loop, Scope]] = []
        """Inner loops first."""
        self.tops: list[int] = []
        """The number at which each step of the function's body begins."""
        self._sizes = dict(program.sizes)
        self._fresh = min(self._sizes, default=0)
        self._parents: dict[int, int] = {}
        self._now = 0
        self.function = Scope(None)
        for number, value in enumerate(program.arguments):
            self._define(value, self.function, None)
            self._own(value, self.function).argument = number
        for step in program.body:
            self._now += 1
            self.tops.append(self._now)
            self._step(step, self.function)
        self._now += 1
        self.function.end = self._now
        self.tops.append(self._now)
        for value in program.results:
            self._use(value, self.function)

    # Which values share a buffer.

    def key(self, value: int) -> int:
        """The value that stands for the buffer in which `value` lies."""
        parents = self._parents
        while parents[value] != value:
            parents[value] = parents[parents[value]]
            value = parents[value]
        return value

    def buffer(self, value: int) -> Buffer:
        """The buffer in which `value` lies."""
        return self.buffers[self.key(value)]

    def join(self, value: int, other: int) -> None:
        """The buffer of `other` becomes that of `value`."""
        into, gone = self.key(value), self.key(other)
        if into == gone:
            return
        self._parents[gone] = into
        target, source = self.buffers[into], self.buffers.pop(gone)
        if not source.home.within(target.home):
            target.home = source.home
        target.last = max(target.last, source.last)
        if source.touches and target.touches and source.touches[0] < target.touches[-1]:
            for touch in source.touches:
                insort(target.touches, touch)
        else:
            target.touches.extend(source.touches)

    def fresh(self, like: int, scope: Scope, at: int) -> int:
        """A new value of the size of `like`, below zero, in a buffer of its own, written at
        `at`."""
        self._fresh = min(self._fresh, 0) - 1
        self._sizes[self._fresh] = self.size(like)
        self._own(self._fresh, scope, at)
        return self._fresh

    def size(self, value: int) -> int:
        """Bytes of a value."""
        size = self._sizes.get(value)
        if size is None:
            raise Refusal("SPY121", f"the size of value {value} is not given")
        return size

    # The walk.

    def _define(self, value: int, scope: Scope, definition: Step | None) -> Fact:
        if value in self.facts:
            raise Refusal("SPY121", f"value {value} is defined twice")
        fact = self.facts[value] = Fact(scope, self._now, value, definition)
        return fact

    def _own(self, value: int, scope: Scope, *touches: int) -> Buffer:
        buffer = Buffer(scope, value, list(touches), touches[-1] if touches else self._now)
        self._parents[value] = value
        self.buffers[value] = buffer
        return buffer

    def _use(self, value: int, scope: Scope) -> None:
        fact = self.facts.get(value)
        if fact is None:
            raise Refusal("SPY121", f"value {value} is used where it is not defined")
        buffer, root = self.buffer(value), self.facts[fact.root]
        buffer.touches.append(self._now)
        root.uses += 1
        if root.scope is scope:
            self._lives(root, buffer)
        else:
            scope.below(root.scope).outer_uses.append(fact.root)

    def _lives(self, root: Fact, buffer: Buffer) -> None:
        """A root and its buffer are used until now."""
        now = self._now
        if now > buffer.last:
            buffer.last = now
        if now > root.last:
            root.last, root.at_last = now, 1
        else:
            root.at_last += 1

    def _step(self, step: Step, scope: Scope) -> None:
        match step:
            case Compute():
                for value in step.reads:
                    self._use(value, scope)
                self._define(step.result, scope, step)
                self._own(step.result, scope, self._now)
                self.computes[self._now] = step
            case Empty():
                self._define(step.result, scope, step)
                self._own(step.result, scope)
            case View():
                self.aliasing.append((step, scope, self._now))
                source = self.facts.get(step.source)
                if source is None:
                    raise Refusal("SPY121", f"value {step.source} is used where it is not defined")
                self._define(step.result, scope, step).root = source.root
                self._parents[step.result] = self.key(step.source)
            case Update():
                self.aliasing.append((step, scope, self._now))
                self._use(step.source, scope)
                self._use(step.destination, scope)
                self._define(step.result, scope, step)
                self._own(step.result, scope, self._now)
            case Loop():
                self._loop(step, scope)

    def _loop(self, loop: Loop, outer: Scope) -> None:
        scope = Scope(outer, self._now)
        self.aliasing.append((loop, scope, self._now))
        for carried in loop.carried:
            self._use(carried.initial, outer)
        for carried in loop.carried:
            self._define(carried.inside, scope, loop)
            self._own(carried.inside, outer, self._now)
        for step in loop.body:
            self._now += 1
            self._step(step, scope)
        self._now += 1
        scope.end = self._now
        for carried in loop.carried:
            self._use(carried.yielded, scope)
        self._now += 1
        scope.leave = self._now
        for root in scope.outer_uses:
            self._lives(self.facts[root], self.buffer(root))
        for carried in loop.carried:
            self._define(carried.result, outer, loop)
            self._parents[carried.result] = self.key(carried.inside)
            buffer = self.buffer(carried.inside)
            buffer.touches.append(self._now)
            buffer.last = self._now
        self.loops.append((loop, scope))
