# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""policy = seed: groups as the reference forms them (its August tree), for comparison.

Operations are walked in program order with one open run. A planned operation joins the run if the
signature of its plan is the run's, or a plan conformed to the run's is legal; a reduction ends its
run. What reads another loop than the one that it joins is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.tiling.groups import Group, Grouping
from spyre_mlir.tiling.members import Member, Read
from spyre_mlir.tiling.planner import Options, plan_tiles
from spyre_mlir.tiling.plans import Level, TilePlan


@dataclass(frozen=True, slots=True)
class SeedMember:
    """One operation as the reference's groups see it.

    `replan` plans it anew with the splits given by result dim (as text) or symbol, None where that
    is not legal. Whether it ends the open run is told by having neither plan nor hint."""

    name: str
    result: str
    reduction: bool
    output: tuple[Expression, ...]
    through: tuple[Read, ...]
    plan: TilePlan | None = None
    hint: TilePlan | None = None
    replan: Callable[[dict[str, int]], TilePlan | None] | None = None

    def reads(self, buffers: Mapping[str, object]) -> list[Read]:
        """The reads of any of these buffers."""
        return [read for read in self.through if read[0] in buffers]


def seed_member(member: Member, options: Options) -> SeedMember:
    """The same operation as the default's groups see it. Raises its refusal."""
    if member.refusal is not None:
        raise member.refusal
    kernel = member.kernel

    def replan(given: dict[str, int]) -> TilePlan | None:
        try:
            return None if kernel is None else plan_tiles(kernel, options, given=given)
        except Refusal:
            return None

    reduction = kernel is not None and any(dim.reduction for dim in kernel.dims)
    result = member.results[0] if member.results else ""
    return SeedMember(
        member.name,
        result,
        reduction,
        member.output,
        member.through,
        member.plan,
        member.hint,
        replan,
    )


@dataclass(slots=True)
class _Run:
    """The open group: positions, and the levels of each member."""

    positions: list[int] = field(default_factory=list)
    members: list[SeedMember] = field(default_factory=list)
    levels: list[tuple[Level, ...]] = field(default_factory=list)
    writers: dict[str, int] = field(default_factory=dict)
    """Buffer -> which member writes it."""

    def add(self, position: int, member: SeedMember, levels: tuple[Level, ...]) -> None:
        self.writers[member.result] = len(self.members)
        self.positions.append(position)
        self.members.append(member)
        self.levels.append(levels)

    def join(self, position: int, member: SeedMember) -> bool:
        """Takes a member in if the rules allow it; says so."""
        assert member.plan is not None
        mine, theirs = member.plan.levels, self.levels[0]
        reads = member.reads(self.writers)
        if any(level.kind == "reduction" for level in (*mine, *theirs)):
            return False
        if not member.reduction:
            if _signature(mine) != _signature(theirs):
                if not reads or member.replan is None:
                    return False
                given = member.replan({str(level.dim): level.count for level in theirs})
                if given is None:
                    return False
                mine = given.levels
            linked = bool(reads) and self._corresponds(member, reads, mine)
            joins = linked if self.members[0].reduction else True
        else:
            counts = [level.count for level in mine] == [level.count for level in theirs]
            joins = bool(reads) and counts and self._corresponds(member, reads, mine)
        if joins:
            self.add(position, member, mine)
        return joins

    def _corresponds(
        self, member: SeedMember, reads: Iterable[Read], levels: Sequence[Level]
    ) -> bool:
        """Whether each tiled coordinate of the reader shares its symbols with the producer's."""
        for buffer, coordinates in reads:
            for mine, theirs in zip(levels, self.levels[self.writers[buffer]], strict=True):
                assert isinstance(mine.dim, int) and isinstance(theirs.dim, int)
                if theirs.dim >= len(coordinates):
                    return False
                own = member.output[mine.dim].symbols()
                if not own or not set(own) <= set(coordinates[theirs.dim].symbols()):
                    return False
        return True


def _signature(levels: Sequence[Level]) -> list[tuple[str, int | str, int]]:
    return [(level.kind, level.dim, level.count) for level in levels]


def group_seed(members: Sequence[SeedMember], *, materialize: bool = False) -> Grouping:
    """Which planned operations share loops, in program order.

    Refused, unless full-size intermediates are allowed (`materialize`), is what reads another loop:
    SPY050 one that is closed, SPY051 that of a hint, SPY052 the open one. The refusal's place is the
    member's position."""
    return _Walk(members, materialize).result()


class _Walk:
    def __init__(self, members: Sequence[SeedMember], materialize: bool) -> None:
        self.members, self.materialize = members, materialize
        self.plans: list[TilePlan | None] = [None] * len(members)
        self.groups: list[Group] = []
        self.closed: dict[str, str] = {}
        self.hinted: dict[str, str] = {}
        self.run = _Run()

    def result(self) -> Grouping:
        for position, member in enumerate(self.members):
            with refused_at(position):
                self._visit(position, member)
        self._flush()
        return Grouping(tuple(self.plans), tuple(self.groups))

    def _visit(self, position: int, member: SeedMember) -> None:
        if member.hint is not None or member.plan is None:
            self._flush()
            if member.hint is not None:
                self.plans[position] = member.hint
                self.hinted[member.result] = member.name
            return
        self._refuse_conflict(member, self.closed, "SPY050", "the loop of {} is closed already")
        self._refuse_conflict(member, self.hinted, "SPY051", "a hint tiles {}")
        if not self.run.members or not self.run.join(position, member):
            names = {m.result: m.name for m in self.run.members}
            self._refuse_conflict(
                member, names, "SPY052", "its tiles do not correspond to those of {}"
            )
            self._flush()
            self.run.add(position, member, member.plan.levels)
            if all(level.kind == "reduction" for level in member.plan.levels):
                # Its result is complete only after the loop: nothing joins, nothing conflicts.
                self._flush(record=False)
        elif member.reduction:
            self._flush()

    def _refuse_conflict(
        self, member: SeedMember, buffers: Mapping[str, str], code: str, why: str
    ) -> None:
        producers = dict.fromkeys(buffers[buffer] for buffer, _ in member.reads(buffers))
        if producers and not self.materialize:
            names = ", ".join(producers)
            raise Refusal(
                code,
                f"{member.name} is tiled and reads {names}, which is tiled in another loop",
                notes=(why.format(names),),
                remedy="tile both alike with hints, or allow full-size intermediates",
            )

    def _flush(self, *, record: bool = True) -> None:
        run, self.run = self.run, _Run()
        if not run.members:
            return
        number = len(self.groups)
        self.groups.append(Group(number, tuple(run.positions), len(run.levels[0])))
        for position, member, levels in zip(run.positions, run.members, run.levels, strict=True):
            assert member.plan is not None
            self.plans[position] = replace(member.plan, levels=levels, group=number)
            if record:
                self.closed[member.result] = member.name
