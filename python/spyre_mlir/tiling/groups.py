# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups: which operations share their loops, so that what passes between them is one tile.

Operations are walked in program order with one open run. A planned operation joins the run if its
tiles correspond to the run's, or opens a run of its own. Two loops that are not synchronised over
one buffer are refused, unless full-size intermediates are allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.tiling.planner import DEFAULT, Options, plan_tiles
from spyre_mlir.tiling.plans import Level, TilePlan


@dataclass(frozen=True, slots=True)
class Member:
    """One operation of a program, as grouping sees it.

    `result` is the buffer it writes; `output` its host coordinates there; `through` the host
    coordinates of every read, with the buffer that is read. A `hint` is a user's plan and wins.
    `replan` plans it anew with some dims cut already (symbol -> elements per tile), None where that
    cannot be."""

    name: str
    result: str
    reduction: bool
    output: tuple[Expression, ...]
    through: tuple[tuple[str, tuple[Expression, ...]], ...]
    plan: TilePlan | None = None
    hint: TilePlan | None = None
    replan: Callable[[dict[str, int]], TilePlan | None] | None = None

    def reads(self, buffers: Mapping[str, object]) -> list[tuple[str, tuple[Expression, ...]]]:
        """The reads of any of these buffers."""
        return [read for read in self.through if read[0] in buffers]


def host_coordinates(access: Access, kernel: Kernel) -> tuple[Expression, ...]:
    """The coordinates of an access in the host shape of its buffer."""
    host = Layout((*access.shape, 1), (*access.strides, -1))
    on_host = Access(access.label, access.buffer, host, access.element, access.index)
    return device_coordinates(on_host, kernel.extents)[:-1]


def member_of(
    kernel: Kernel,
    plan: TilePlan | None,
    *,
    hint: TilePlan | None = None,
    options: Options = DEFAULT,
) -> Member:
    """The member for a kernel and its own plan."""
    result = kernel.writes[0]

    def replan(given: dict[str, int]) -> TilePlan | None:
        try:
            return plan_tiles(kernel, options, given=given)
        except Refusal:
            return None

    indirect = any(access.indirect for access in kernel.accesses)
    return Member(
        kernel.label or kernel.name,
        result.buffer,
        any(dim.reduction for dim in kernel.dims),
        () if indirect else host_coordinates(result, kernel),
        tuple(
            (access.buffer, () if indirect else host_coordinates(access, kernel))
            for access in kernel.reads
        ),
        plan,
        hint,
        replan,
    )


@dataclass(frozen=True, slots=True)
class Group:
    """Operations (positions in the program) that share the outer `shared` levels of their plans."""

    number: int
    members: tuple[int, ...]
    shared: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """The final plan of every operation (None: not tiled), and the groups."""

    plans: tuple[TilePlan | None, ...]
    groups: tuple[Group, ...]


@dataclass(slots=True)
class Run:
    """The open group: positions, and per member its levels, of which the first `shared` are
    common."""

    positions: list[int] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    levels: list[tuple[Level, ...]] = field(default_factory=list)
    shared: int = 0
    writers: dict[str, int] = field(default_factory=dict)
    """Buffer -> which member writes it."""

    def add(self, position: int, member: Member, levels: tuple[Level, ...]) -> bool:
        """Takes a member in; says so."""
        self.writers[member.result] = len(self.members)
        self.positions.append(position)
        self.members.append(member)
        self.levels.append(levels)
        return True

    @property
    def rooted_in_reduction(self) -> bool:
        """Whether a reduction opened it."""
        return self.members[0].reduction

    def levels_of(self, buffer: str) -> tuple[Level, ...]:
        """The shared levels in the dims of the member that writes the buffer."""
        return self.levels[self.writers[buffer]][: self.shared]


class Rules(Protocol):
    """How runs grow. `join` adds the member to the run and says whether it did."""

    def join(self, run: Run, member: Member, position: int) -> bool: ...

    def closes(self, member: Member) -> bool: ...


@dataclass(frozen=True, slots=True)
class SharedLevels:
    """The default: the levels whose tiles are the same cells on both sides are shared, and each
    member keeps what else it cuts inside them. Without `nested`, all levels must be shared."""

    nested: bool = True

    def join(self, run: Run, member: Member, position: int) -> bool:
        assert member.plan is not None
        reads = member.reads(run.writers)
        if not reads:
            equal = not member.reduction and not run.rooted_in_reduction
            return equal and self._take(run, member, position, member.plan.levels)
        kept: list[int] = []
        symbols: list[str] = []
        for at in range(run.shared):
            symbol = _common_symbol(run, reads, at)
            if symbol is not None and _dim_of(member, symbol) is not None:
                kept.append(at)
                symbols.append(symbol)
        if not kept or member.replan is None:
            return False
        sizes = [run.levels[0][at].size for at in kept]
        plan = member.replan(dict(zip(symbols, sizes, strict=True)))
        if plan is None:
            return False
        dims = [_dim_of(member, symbol) for symbol in symbols]
        outer = [level for dim in dims for level in plan.levels if level.dim == dim]
        if len(outer) != len(kept) or any(
            (mine.count, mine.remainder) != (run.levels[0][at].count, run.levels[0][at].remainder)
            for mine, at in zip(outer, kept, strict=True)
        ):
            return False
        inner = [level for level in plan.levels if level not in outer]
        if not self.nested and (inner or len(kept) < run.shared):
            return False
        if len(kept) < run.shared:
            _share_only(run, kept)
        return run.add(position, member, (*outer, *inner))

    def closes(self, member: Member) -> bool:
        return False

    def _take(self, run: Run, member: Member, position: int, levels: tuple[Level, ...]) -> bool:
        """Joins a member that reads nothing of the run: all levels must be equal."""
        if run.shared != len(levels) or run.levels[0] != levels:
            return False
        return run.add(position, member, levels)


def _share_only(run: Run, kept: list[int]) -> None:
    """Moves the levels that are shared no longer inside: each member runs them for itself."""
    for number, levels in enumerate(run.levels):
        outer = [levels[at] for at in kept]
        inner = [level for at, level in enumerate(levels) if at not in kept]
        run.levels[number] = (*outer, *inner)
    run.shared = len(kept)


def _common_symbol(
    run: Run, reads: list[tuple[str, tuple[Expression, ...]]], at: int
) -> str | None:
    """The symbol of the reader that runs over the cells of shared level `at` in every read."""
    found = set()
    for buffer, coordinates in reads:
        level = run.levels_of(buffer)[at]
        if level.kind != "parallel" or not isinstance(level.dim, int):
            return None
        if level.dim >= len(coordinates):
            return None
        found.add(str(coordinates[level.dim]))
    name = found.pop()
    return name if not found and name.isidentifier() else None


def _dim_of(member: Member, symbol: str) -> int | None:
    """The host dim of the result over which the symbol runs alone."""
    for dim, coordinate in enumerate(member.output):
        if str(coordinate) == symbol:
            return dim
    return None


class SeedRules:
    """The reference's rules (its August tree): whole signatures, and a reduction ends its run."""

    def join(self, run: Run, member: Member, position: int) -> bool:
        assert member.plan is not None
        mine, theirs = member.plan.levels, run.levels[0]
        reads = member.reads(run.writers)
        if any(level.kind == "reduction" for level in (*mine, *theirs)):
            return False
        if not member.reduction:
            same = _signature(mine) == _signature(theirs)
            if not same:
                if not reads or member.replan is None:
                    return False
                given = member.replan({str(level.dim): level.count for level in theirs})
                if given is None:
                    return False
                mine = given.levels
            linked = bool(reads) and _corresponds(run, member, reads, mine)
            joins = linked if run.rooted_in_reduction else True
        else:
            counts = [level.count for level in mine] == [level.count for level in theirs]
            joins = bool(reads) and counts and _corresponds(run, member, reads, mine)
        return joins and run.add(position, member, mine)

    def closes(self, member: Member) -> bool:
        return member.reduction


def _signature(levels: Sequence[Level]) -> list[tuple[str, int | str, int]]:
    return [(level.kind, level.dim, level.count) for level in levels]


def _corresponds(
    run: Run,
    member: Member,
    reads: list[tuple[str, tuple[Expression, ...]]],
    levels: Sequence[Level],
) -> bool:
    """Whether each tiled coordinate of the reader shares its symbols with that of the producer."""
    for buffer, coordinates in reads:
        for mine, theirs in zip(levels, run.levels_of(buffer), strict=True):
            assert isinstance(mine.dim, int) and isinstance(theirs.dim, int)
            own = member.output[mine.dim].symbols()
            if not own or not set(own) <= set(coordinates[theirs.dim].symbols()):
                return False
    return True


def common_levels(members: Sequence[Member], plans: Sequence[TilePlan]) -> int:
    """How many outer levels of the plans of one group are common: equal tiles, and the same cells
    in everything that one member reads from another."""
    writers = {member.result: number for number, member in enumerate(members)}
    depth = min(len(plan.levels) for plan in plans)
    for at in range(depth):
        first = plans[0].levels[at]
        for member, plan in zip(members, plans, strict=True):
            level = plan.levels[at]
            if (level.count, level.size, level.remainder) != (
                first.count,
                first.size,
                first.remainder,
            ):
                return at
            for buffer, coordinates in member.reads(writers):
                producer = plans[writers[buffer]].levels[at]
                if not _same_cells(member, level, coordinates, producer):
                    return at
            if not member.reads(writers) and level.kind != first.kind:
                return at
    return depth


def _same_cells(
    reader: Member, level: Level, coordinates: tuple[Expression, ...], producer: Level
) -> bool:
    """Whether a tile of the reader reads just the cells of the producer's tile along a level."""
    if level.kind != "parallel" or producer.kind != "parallel":
        return False
    if not isinstance(level.dim, int) or not isinstance(producer.dim, int):
        return False
    own = str(reader.output[level.dim])
    return own.isidentifier() and str(coordinates[producer.dim]) == own


def plan_program(
    kernels: Sequence[Kernel | None],
    options: Options = DEFAULT,
    *,
    hints: Mapping[int, TilePlan] | None = None,
    materialize: bool = False,
    nested: bool = True,
) -> Grouping:
    """Plans the operations of a program, in order, and groups them.

    None stands for an operation that has no kernel and is not to be moved over: it ends the open
    run. Buffers tie reads to writes, so each value needs a name of its own there. `hints` are
    users' plans by position; those operations are not planned. See `group` for `materialize`,
    `SharedLevels` for `nested`. Raises what `plan_tiles` and `group` raise."""
    hints = hints or {}
    members = []
    for position, kernel in enumerate(kernels):
        if kernel is None:
            members.append(Member("", "", False, (), ()))
            continue
        hint = hints.get(position)
        plan = plan_tiles(kernel, options) if hint is None else None
        members.append(member_of(kernel, plan, hint=hint, options=options))
    rules = SeedRules() if options.policy == "seed" else SharedLevels(nested)
    return group(members, rules, materialize=materialize)


def group(
    members: Sequence[Member], rules: Rules | None = None, *, materialize: bool = False
) -> Grouping:
    """Which planned operations share loops, in program order.

    With `materialize`, an operation that cannot join what it reads gets a loop of its own over the
    full-size buffer. Otherwise that is refused: SPY050 the loop is closed, SPY051 a hint tiles the
    producer, SPY052 the loop is open, but the tiles do not correspond; the refusal's place is the
    member's position."""
    return _Walk(members, rules or SharedLevels(), materialize).result()


class _Walk:
    def __init__(self, members: Sequence[Member], rules: Rules, materialize: bool) -> None:
        self.members, self.rules, self.materialize = members, rules, materialize
        self.plans: list[TilePlan | None] = [None] * len(members)
        self.groups: list[Group] = []
        self.closed: dict[str, str] = {}
        self.hinted: dict[str, str] = {}
        self.run = Run()

    def result(self) -> Grouping:
        for position, member in enumerate(self.members):
            with refused_at(position):
                self._visit(position, member)
        self._flush()
        return Grouping(tuple(self.plans), tuple(self.groups))

    def _visit(self, position: int, member: Member) -> None:
        if member.hint is not None or member.plan is None:
            self._flush()
            if member.hint is not None:
                self.plans[position] = member.hint
                self.hinted[member.result] = member.name
            return
        self._refuse_conflict(member, self.closed, "SPY050", "the loop of {} is closed already")
        self._refuse_conflict(member, self.hinted, "SPY051", "a hint tiles {}")
        if self.run.members and self.rules.join(self.run, member, position):
            if self.rules.closes(member):
                self._flush()
            return
        open_run = {m.result: m.name for _, m in self._producers(member)}
        self._refuse_conflict(
            member, open_run, "SPY052", "its tiles do not correspond to those of {}"
        )
        self._flush()
        levels = member.plan.levels
        self.run = Run(shared=len(levels))
        self.run.add(position, member, levels)
        if all(level.kind == "reduction" for level in levels):
            # Its result is complete only after the loop: nothing joins, nothing conflicts.
            self._flush(record=False)

    def _producers(self, member: Member) -> list[tuple[str, Member]]:
        """The members of the open run that this one reads."""
        read = member.reads(self.run.writers)
        return [(buffer, self.run.members[self.run.writers[buffer]]) for buffer, _ in read]

    def _refuse_conflict(
        self, member: Member, buffers: dict[str, str], code: str, why: str
    ) -> None:
        if self.materialize:
            return
        producers = dict.fromkeys(buffers[buffer] for buffer, _ in member.reads(buffers))
        if producers:
            names = ", ".join(producers)
            raise Refusal(
                code,
                f"{member.name} is tiled and reads {names}, which is tiled in another loop",
                notes=(why.format(names),),
                remedy="tile both alike with hints, or allow full-size intermediates",
            )

    def _flush(self, *, record: bool = True) -> None:
        run = self.run
        if run.members:
            number = len(self.groups)
            self.groups.append(Group(number, tuple(run.positions), run.shared))
            for position, member, levels in zip(
                run.positions, run.members, run.levels, strict=True
            ):
                assert member.plan is not None
                self.plans[position] = replace(member.plan, levels=levels, group=number)
                if record:
                    self.closed[member.result] = member.name
        self.run = Run()
