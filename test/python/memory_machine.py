# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine for memory plans: random programs, run once on values and once in planned memory.

Windows are (start, length) in cells, or (None, length): then they start at the trip count of the
innermost loop, modulo what fits. A cell has 128 bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from spyre_mlir.memory import (
    Carried,
    Compute,
    Empty,
    Loop,
    MemoryPlan,
    Program,
    Step,
    Update,
    View,
)

CELL = 128
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass
class Builder:
    """Random programs; `lengths` in cells, of every value."""

    draw: Draw
    lengths: dict[int, int] = field(default_factory=dict)
    empties: set[int] = field(default_factory=set)
    """Values that may hold cells not yet written: nothing computes with them."""

    def new(self, length: int) -> int:
        value = len(self.lengths)
        self.lengths[value] = length
        return value

    def body(self, live: list[int], depth: int) -> tuple[list[Step], list[int]]:
        live, steps = list(live), []
        for _ in range(self.draw(st.integers(0, 5))):
            kinds = ["compute", "compute", "empty", "view", "rename", "update", "tile", "tile"]
            kind = self.draw(st.sampled_from(kinds + ["loop"] * 2 * (depth < 2)))
            if kind == "tile":
                made_steps, made = self.tile(live)
            else:
                step, made = getattr(self, kind)(live, depth)
                made_steps = [] if step is None else [step]
            steps += made_steps
            live += made
        return steps, live

    def pick(self, live: list[int], length: int | None = None, *, full: bool = True) -> int | None:
        fitting = [
            v
            for v in live
            if (length is None or self.lengths[v] == length) and not (full and v in self.empties)
        ]
        if fitting and self.draw(st.booleans()):
            return fitting[-1]  # so that other values die
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def compute(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        length = self.draw(st.sampled_from([1, 2, 4]))
        reads = [self.pick(live) for _ in range(self.draw(st.integers(0, 2)))]
        named = tuple(value for value in reads if value is not None)
        in_step = tuple(v for v in named if self.lengths[v] == length and self.draw(st.booleans()))
        result = self.new(length)
        return Compute(result, named, result, in_step), [result]

    def empty(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        result = self.new(self.draw(st.sampled_from([2, 4])))
        self.empties.add(result)
        return Empty(result), [result]

    def window(self, length: int) -> tuple[int | None, int]:
        size = self.draw(st.integers(1, length))
        return (self.draw(st.one_of(st.none(), st.integers(0, length - size))), size)

    def view(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        source = self.pick(live)
        if source is None:
            return None, []
        window = self.window(self.lengths[source])
        result = self.new(window[1])
        return View(source, result, part=True, window=window), [result]

    def rename(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        source = self.pick(live)
        if source is None:
            return None, []
        result = self.new(self.lengths[source])
        return View(source, result), [result]

    def update(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        source, destination = self.pick(live), self.pick(live, full=False)
        if source is None or destination is None:
            return None, []
        if self.lengths[source] > self.lengths[destination]:
            return None, []
        room = self.lengths[destination] - self.lengths[source]
        start = self.draw(st.one_of(st.none(), st.integers(0, room)))
        result = self.new(self.lengths[destination])
        if destination in self.empties:
            self.empties.add(result)
        window = (start, self.lengths[source])
        direct = self.draw(st.booleans())
        return Update(result, source, destination, result, window, direct), [result]

    def tile(self, live: list[int]) -> tuple[list[Step], list[int]]:
        """A tile computed from a window of its destination, or of another value, and inserted."""
        destination = self.pick(live, full=False)
        if destination is None:
            return [], []
        window = self.window(self.lengths[destination])
        steps: list[Step] = []
        reads = [self.pick(live)] if self.draw(st.booleans()) else []
        named = [value for value in reads if value is not None]
        in_step: tuple[int, ...] = ()
        if destination not in self.empties and self.draw(st.booleans()):
            part = self.new(window[1])
            where = window if self.draw(st.booleans()) else (0, window[1])
            steps.append(View(destination, part, part=True, window=where))
            named.append(part)
            in_step = (part,) if self.draw(st.booleans()) else ()
        cells = self.new(window[1])
        steps.append(Compute(cells, tuple(named), cells, in_step))
        if self.draw(st.integers(0, 3)) == 0:
            other = self.new(1)
            steps.append(Compute(other, tuple(named[:1]), other))
        result = self.new(self.lengths[destination])
        if destination in self.empties:
            self.empties.add(result)
        steps.append(Update(result, cells, destination, result, window))
        if self.draw(st.integers(0, 2)) == 0:
            reader = self.new(window[1])
            in_step = (cells,) if self.draw(st.booleans()) else ()
            steps.insert(
                len(steps) - self.draw(st.integers(0, 1)),
                Compute(reader, (cells,), reader, in_step),
            )
            return steps, [result, reader, *([cells] if self.draw(st.integers(0, 3)) == 0 else [])]
        return steps, [result]

    def loop(self, live: list[int], depth: int) -> tuple[Step | None, list[int]]:
        initials = [self.pick(live, full=False) for _ in range(self.draw(st.integers(0, 3)))]
        first = [value for value in initials if value is not None]
        inside = [self.new(self.lengths[value]) for value in first]
        self.empties.update(i for v, i in zip(first, inside, strict=True) if v in self.empties)
        steps, inner = self.body(live + inside, depth + 1)
        carried, results = [], []
        for before, within in zip(first, inside, strict=True):
            length = self.lengths[before]
            may_be_empty = before in self.empties
            fresh = [v for v in inner if v not in live]
            yielded = self.pick(fresh, length, full=not may_be_empty)
            if self.draw(st.integers(0, 5)) == 0 or yielded is None:
                yielded = self.pick(inner, length, full=not may_be_empty)
            assert yielded is not None
            after = self.new(length)
            if may_be_empty:
                self.empties.add(after)
            carried.append(Carried(before, within, yielded, after))
            results.append(after)
        return Loop(("loop", self.new(0)), tuple(carried), tuple(steps)), results


def build(draw: Draw) -> Program:
    """A random program. Every value has a size."""
    builder = Builder(draw)
    arguments = [builder.new(4), builder.new(2)]
    steps, live = builder.body(arguments, 0)
    results = [builder.pick(live) for _ in range(draw(st.integers(0, 3)))]
    return Program(
        tuple(arguments),
        tuple(steps),
        tuple(value for value in results if value is not None),
        {value: CELL * length for value, length in builder.lengths.items()},
    )


def _start(window: tuple[int | None, int], length: int, trip: int) -> int:
    return trip % (length - window[1] + 1) if window[0] is None else window[0]


def run_on_values(program: Program, trips: int) -> list[list[Any]]:
    """The results, each a list of cells."""
    values: dict[int, list[Any]] = {
        value: [("argument", value, i) for i in range(program.sizes[value] // CELL)]
        for value in program.arguments
    }

    def run(steps: tuple[Step, ...], trip: int) -> None:
        for step in steps:
            match step:
                case Compute():
                    reads = [values[v] for v in step.reads]
                    values[step.result] = _computed(program, step, reads)
                case Empty():
                    values[step.result] = [None] * (program.sizes[step.result] // CELL)
                case View():
                    source = values[step.source]
                    if step.part:
                        start = _start(step.window, len(source), trip)  # type: ignore[arg-type]
                        source = source[start : start + step.window[1]]  # type: ignore[index]
                    values[step.result] = list(source)
                case Update():
                    new, source = list(values[step.destination]), values[step.source]
                    start = _start(step.window, len(new), trip)  # type: ignore[arg-type]
                    new[start : start + len(source)] = source
                    values[step.result] = new
                case Loop():
                    now = [values[c.initial] for c in step.carried]
                    for count in range(trips):
                        for c, cells in zip(step.carried, now, strict=True):
                            values[c.inside] = cells
                        run(step.body, count)
                        now = [values[c.yielded] for c in step.carried]
                    for c, cells in zip(step.carried, now, strict=True):
                        values[c.result] = cells

    run(program.body, 0)
    return [values[value] for value in program.results]


def _computed(program: Program, step: Compute, reads: list[list[Any]]) -> list[Any]:
    """Cell i mixes all reads, but of those in step only their cell i."""
    whole = [
        tuple(cells) for v, cells in zip(step.reads, reads, strict=True) if v not in step.in_step
    ]
    aligned = [cells for v, cells in zip(step.reads, reads, strict=True) if v in step.in_step]
    return [
        hash((step.key, i, *whole, *(cells[i] for cells in aligned)))
        for i in range(program.sizes[step.result] // CELL)
    ]


class _Memory:
    """All memory, by (kind, number) and cell. `starts`: where a value begins, in cells."""

    def __init__(self, program: Program, plan: MemoryPlan) -> None:
        self.plan = plan
        self.lengths = {value: size // CELL for value, size in program.sizes.items()}
        self.cells: dict[tuple[str, int, int], Any] = {}
        self.starts: dict[int, int] = {}
        for copy in plan.copies:  # new memory is as long as what is copied there
            self.lengths.setdefault(copy.target, self.lengths[copy.source])

    def at(self, value: int, cell: int) -> tuple[str, int, int]:
        place = self.plan.places[value]
        start = self.starts.get(value, 0)
        if place.kind == "pool":
            assert (place.offset + (start + cell + 1) * CELL) <= self.plan.pool_bytes
            return ("pool", 0, place.offset // CELL + start + cell)
        return (place.kind, place.number, start + cell)

    def read(self, value: int) -> list[Any]:
        return [self.cells.get(self.at(value, i)) for i in range(self.lengths[value])]

    def write(self, value: int, cells: list[Any], start: int = 0) -> None:
        for i, cell in enumerate(cells):
            self.cells[self.at(value, start + i)] = cell


def run_in_memory(program: Program, plan: MemoryPlan, trips: int) -> list[list[Any]]:
    """The results, after the planned copies and in the planned places."""
    memory = _Memory(program, plan)
    for value in program.arguments:
        memory.write(value, [("argument", value, i) for i in range(memory.lengths[value])])

    def copies(key: object, at_end: bool) -> None:
        for copy in plan.copies:
            if copy.key == key and copy.at_end == at_end:
                memory.write(copy.target, memory.read(copy.source))

    def windows(steps: tuple[Step, ...], trip: int) -> None:
        """Sources of direct updates begin where their window does."""
        for step in steps:
            if isinstance(step, Update) and step.result in plan.direct:
                length = memory.lengths[step.destination]
                start = _start(step.window, length, trip)  # type: ignore[arg-type]
                memory.starts[step.source] = start
                # A part of a part begins where the outer one does.
                outer = next(
                    (s for s in steps if isinstance(s, View) and s.result == step.destination), None
                )
                if outer is not None and outer.part:
                    memory.starts[step.source] += base(outer, trip)

    def base(view: View, trip: int) -> int:
        length = memory.lengths[view.source]
        return memory.starts.get(view.source, 0) + _start(view.window, length, trip)  # type: ignore[arg-type]

    def run(steps: tuple[Step, ...], trip: int) -> None:
        windows(steps, trip)
        for step in steps:
            match step:
                case Compute():
                    compute(step)
                case Empty():
                    pass
                case View():
                    memory.starts[step.result] = memory.starts.get(step.source, 0)
                    if step.part:
                        memory.starts[step.result] = base(step, trip)
                case Update():
                    update(step, trip)
                case Loop():
                    copies(step.key, False)
                    for count in range(trips):
                        run(step.body, count)
                        copies(step.key, True)

    def compute(step: Compute) -> None:
        """Cell by cell, so that a result over what it reads is seen to be right."""
        for cell in range(memory.lengths[step.result]):
            whole = [tuple(memory.read(v)) for v in step.reads if v not in step.in_step]
            aligned = [memory.read(v)[cell] for v in step.reads if v in step.in_step]
            memory.write(step.result, [hash((step.key, cell, *whole, *aligned))], cell)

    def update(step: Update, trip: int) -> None:
        copies(step.key, False)
        if plan.places.get(step.result) == plan.places.get(step.destination):
            memory.starts[step.result] = memory.starts.get(step.destination, 0)
        if step.result not in plan.direct:
            length = memory.lengths[step.destination]
            start = _start(step.window, length, trip)  # type: ignore[arg-type]
            for i in range(memory.lengths[step.source]):  # cell by cell: overlaps would show
                memory.write(step.result, [memory.cells.get(memory.at(step.source, i))], start + i)

    run(program.body, 0)
    copies(None, False)
    results = [("result", number) for number in range(len(program.results))]
    return [
        [memory.cells.get((*where, i)) for i in range(memory.lengths[value])]
        for where, value in zip(results, program.results, strict=True)
    ]
