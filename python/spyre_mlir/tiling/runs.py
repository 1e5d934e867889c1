# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs: sets of operations that could share loops, by what they read from one another alone.

A loop can be shared along a dim if a tile of each reader is made of just the cells of the same tile
of what it reads. Such dims of the members of a run form *shared dims*. Whether tiles along them
bring every span within the limit is decided later, for the run as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from spyre_mlir.quasiaffine import Expression
from spyre_mlir.tiling.members import Member, Read

T = TypeVar("T")

SharedDim = dict[int, str]
"""Member -> the symbol of its dim that runs over the cells of a shared dim."""


@dataclass(slots=True)
class Run:
    """Members by number, their shared dims, and the runs that must come before."""

    members: dict[int, None] = field(default_factory=dict)
    shared: list[SharedDim] = field(default_factory=list)
    before: set[int] = field(default_factory=set)


def opened(number: int, member: Member) -> Run:
    """A run of one operation: all dims that its plan may cut are shared."""
    return Run({number: None}, [{number: name} for name in _cuttable(member)])


def _cuttable(member: Member) -> list[str]:
    assert member.kernel is not None
    return [
        dim.symbol
        for dim in member.kernel.dims
        if not dim.reduction and not dim.symbolic and dim.extent > 1
    ]


def bare(expression: Expression) -> str | None:
    """The symbol, if the expression is one alone."""
    if expression.constant or len(expression.terms) != 1:
        return None
    atom, coefficient = expression.terms[0]
    return atom if coefficient == 1 and isinstance(atom, str) else None


def in_common(
    parts: Sequence[Run], number: int, members: Sequence[Member], writers: Mapping[str, int]
) -> list[tuple[str, list[SharedDim]]]:
    """The dims that an operation has in common with all of these runs, which it reads from: its
    symbol, and the shared dim of each run."""
    member = members[number]
    per_part: list[dict[str, SharedDim]] = []
    for part in parts:
        own = part.members
        reads = [read for read in member.through if writers.get(read[0]) in own]
        found = {}
        for shared in part.shared:
            symbol = _met(shared, reads, members, writers)
            if symbol is not None and _same_extent(shared, symbol, member, members):
                found[symbol] = shared
        per_part.append(found)
    return [
        (symbol, [found[symbol] for found in per_part])
        for symbol in _cuttable(member)
        if all(symbol in found for found in per_part)
    ]


def absorb(parts: Sequence[Run], number: int, dims: Sequence[tuple[str, list[SharedDim]]]) -> Run:
    """One run of all these and one more operation; the largest of them, changed in place."""
    run = max(parts, key=lambda part: len(part.members))
    order = {id(shared): at for at, shared in enumerate(parts[0].shared)}
    run.shared = []
    for symbol, shares in sorted(dims, key=lambda dim: order[id(dim[1][0])]):
        kept = max(shares, key=len)
        for shared in shares:
            if shared is not kept:
                kept.update(shared)
        kept[number] = symbol
        run.shared.append(kept)
    for part in parts:
        if part is not run:
            run.members.update(part.members)
    run.members[number] = None
    return run


def _met(
    shared: SharedDim, reads: Iterable[Read], members: Sequence[Member], writers: Mapping[str, int]
) -> str | None:
    """The symbol of the reader that runs over the cells of a shared dim in every read."""
    met: str | None = None
    for buffer, cells in reads:
        writer = writers[buffer]
        at = next(d for d, s in enumerate(members[writer].output) if bare(s) == shared[writer])
        symbol = bare(cells[at]) if at < len(cells) else None
        if symbol is None or (met is not None and symbol != met):
            return None
        met = symbol
    return met


def _same_extent(shared: SharedDim, symbol: str, member: Member, members: Sequence[Member]) -> bool:
    first, name = next(iter(shared.items()))
    mine, theirs = member.kernel, members[first].kernel
    assert mine is not None and theirs is not None
    dim = mine.dim(symbol)
    return not dim.reduction and dim.extent == theirs.dim(name).extent


def shared_dims(
    numbers: Sequence[int], members: Sequence[Member], writers: Mapping[str, int]
) -> list[SharedDim]:
    """The shared dims of operations that reads tie together, in program order; none if they have
    none in common."""
    runs: dict[int, Run] = {}
    last = None
    for number in numbers:
        member = members[number]
        parts = _distinct(runs[w] for w in _writers_read(member, writers, runs))
        if not parts:
            last = opened(number, member)
        else:
            last = absorb(parts, number, in_common(parts, number, members, writers))
        if not last.shared:
            return []
        for m in last.members if len(parts) > 1 else (number,):
            runs[m] = last
    return [] if last is None else last.shared


def components(
    numbers: Sequence[int], members: Sequence[Member], writers: Mapping[str, int]
) -> list[list[int]]:
    """The sets of operations that reads tie together, each in program order, by their last one."""
    parts: dict[int, list[int]] = {}
    for number in numbers:
        tied = _distinct(parts[w] for w in _writers_read(members[number], writers, parts))
        merged = sorted([m for part in tied for m in part] + [number])
        for m in merged:
            parts[m] = merged
    return _distinct(parts[number] for number in reversed(numbers))[::-1]


def _writers_read(member: Member, writers: Mapping[str, int], among: Collection[int]) -> list[int]:
    """The members among these that a member reads from."""
    found = [writers.get(buffer) for buffer, _ in member.through]
    return [w for w in found if w is not None and w in among]


def _distinct(items: Iterable[T]) -> list[T]:
    found: dict[int, T] = {}
    for item in items:
        found.setdefault(id(item), item)
    return list(found.values())


class Grower:
    """Grows runs in program order."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self.writers: dict[str, int] = {}
        self.number_of: dict[int, int] = {}
        """Member -> the number of its run."""
        self.runs: dict[int, Run] = {}
        self.open: set[int] = set()
        self.behind: dict[int, set[int]] = {}
        """Operation in no run -> the runs that must come before it."""

    def grow(self) -> list[list[int]]:
        """The members of each run in program order, runs by their first members."""
        for number, member in enumerate(self.members):
            self._visit(number, member)
            for buffer in member.results:
                self.writers[buffer] = number
        return sorted(sorted(run.members) for run in self.runs.values())

    def _visit(self, number: int, member: Member) -> None:
        if member.barrier or member.hint is not None:
            self.open.clear()
        sources = [self.writers[b] for b, _ in member.through if b in self.writers]
        read = {self.number_of[s] for s in sources if s in self.number_of}
        outside = {run for s in sources for run in self.behind.get(s, ())}
        if member.kernel is not None and member.hint is None:
            if read and self._joined(number, read, outside):
                return
            if member.needs_tiles:
                self.runs[number] = opened(number, member)
                self.runs[number].before = read | outside
                self.open.add(number)
                self.number_of[number] = number
                return
        if read or outside:
            self.behind[number] = read | outside

    def _joined(self, number: int, read: set[int], outside: set[int]) -> bool:
        """Joins all runs that are read, merged; or the latest one that can be joined."""
        able = sorted(read & self.open)
        for chosen in ([able] if len(able) > 1 else []) + [[run] for run in reversed(able)]:
            parts = [self.runs[run] for run in chosen]
            dims = in_common(parts, number, self.members, self.writers)
            before = read.union(*(part.before for part in parts)) - set(chosen) | outside
            if dims and not self._leads_to(before, set(chosen)):
                self._merge(chosen, number, absorb(parts, number, dims), before)
                return True
        return False

    def _leads_to(self, start: set[int], goals: set[int]) -> bool:
        """Whether one of the goals must come before one of the runs of `start`."""
        seen, left = set(start), list(start)
        while left:
            run = left.pop()
            if run in goals:
                return True
            found = self.runs[run].before - seen
            seen |= found
            left += found
        return False

    def _merge(self, chosen: list[int], number: int, run: Run, before: set[int]) -> None:
        """`run` takes the place of the chosen ones, under the number of the first."""
        key, *gone = chosen
        self.runs[key] = run
        run.before = before
        if not gone:
            self.number_of[number] = key
            return
        for member in run.members:
            self.number_of[member] = key
        for other in gone:
            del self.runs[other]
            self.open.discard(other)
        for runs in (*[other.before for other in self.runs.values()], *self.behind.values()):
            if runs & set(gone):
                runs -= set(gone)
                runs.add(key)
