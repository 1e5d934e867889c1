# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups: which operations share their loops, so that what passes between them is one tile.

`runs` says which operations could share loops; here a run becomes one group, with one split that is
legal for every member, or is cut into several groups with full-size intermediates between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from spyre_mlir.diagnostics import Note, Refusal, refused_at
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling.cost import Cost, cost_of
from spyre_mlir.tiling.joint import JointPlan, Known, joint_plan
from spyre_mlir.tiling.members import BARRIER, Builder, Member, writers_of
from spyre_mlir.tiling.planner import DEFAULT, Options
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.tiling.runs import Grower, SharedDim, bare, components, shared_dims

_Key = tuple[tuple[int, ...], ...]

PARTITION_LIMIT = 16
"""Members of a run up to which every way to cut it into intervals is looked at."""


@dataclass(frozen=True, slots=True)
class Group:
    """Operations (positions in the program) that share the outer `shared` levels of their plans."""

    number: int
    members: tuple[int, ...]
    shared: int


@dataclass(frozen=True, slots=True)
class Grouping:
    """The final plan of every operation (None: not tiled), and the groups; `compact` numbers, for
    every operation, its accesses whose buffer holds one tile of a common loop."""

    plans: tuple[TilePlan | None, ...]
    groups: tuple[Group, ...]
    compact: tuple[tuple[int, ...], ...] = ()


def plan_program(
    kernels: Sequence[Kernel | None],
    options: Options = DEFAULT,
    *,
    hints: Mapping[int, TilePlan] | None = None,
    materialize: bool = True,
) -> Grouping:
    """Plans the operations of a program, in order, and groups them.

    None stands for an operation that has no kernel and is not to be moved over. Buffers tie reads to
    writes, so each value needs a name of its own there; those that nothing reads are the results.
    `hints` are users' plans by position; those operations are not planned. Raises what `group`
    raises."""
    hints = hints or {}
    read = {access.buffer for kernel in kernels if kernel for access in kernel.reads}
    builder = Builder(options)
    members = []
    for position, kernel in enumerate(kernels):
        if kernel is None:
            members.append(BARRIER)
            continue
        buffers = [access.buffer for access in kernel.accesses]
        escapes = any(access.buffer not in read for access in kernel.writes)
        hint = hints.get(position)
        members.append(builder.add(kernel, buffers, hint=hint, escapes=escapes))
    return group(members, options, materialize=materialize)


def group(
    members: Sequence[Member], options: Options = DEFAULT, *, materialize: bool = True
) -> Grouping:
    """Which operations share loops, and the final plan of each, in program order.

    Where loops cannot be shared, or cost more than separate ones, the buffer between them has its
    full size, if the operations around it are legal on it. Raises the refusal of an operation for
    which neither holds. Without `materialize`, a tiled operation that reads the result of another
    loop is refused: SPY051 a hint tiles the producer, SPY052 anything else. A refusal's place is the
    member's position."""
    plans: list[TilePlan | None] = [member.hint for member in members]
    found: list[tuple[tuple[int, ...], JointPlan]] = []
    search = _Partition(members, options)
    for run in Grower(members).grow():
        found += search.groups(run)
    groups: list[Group] = []
    compact: list[tuple[int, ...]] = [()] * len(members)
    for positions, joint in _like_loops(members, sorted(found, key=lambda g: g[0]), search):
        number = len(groups)
        groups.append(Group(number, positions, joint.shared))
        for position, plan in zip(positions, joint.plans, strict=True):
            plans[position] = replace(plan, group=number)
        tiles = search.compact(positions)
        for position in positions:
            buffers = members[position].buffers
            compact[position] = tuple(at for at, b in enumerate(buffers) if b in tiles)
    if not materialize:
        _refuse_full_size(members, plans)
    return Grouping(tuple(plans), tuple(groups), tuple(compact))


@dataclass(frozen=True, slots=True)
class _Part:
    """Groups of some members of a run, and their price; `stuck` is the operation without a legal
    plan, if there is one."""

    price: int = 0
    groups: tuple[tuple[tuple[int, ...], JointPlan], ...] = ()
    stuck: int | None = None


class _Partition:
    """How runs are cut into groups."""

    def __init__(self, members: Sequence[Member], options: Options) -> None:
        self.members, self.options = members, options
        self.known = Known()
        self.joints: dict[_Key, JointPlan | None] = {}
        """Common splits that were looked for: equal parts of a program have equal ones."""
        self.readers: dict[str, list[int]] = {}
        self.writers: dict[str, int] = {}
        for number, member in enumerate(members):
            for buffer in dict.fromkeys(buffer for buffer, _ in member.through):
                self.readers.setdefault(buffer, []).append(number)
            self.writers.update(dict.fromkeys(member.results, number))

    def groups(self, run: list[int]) -> list[tuple[tuple[int, ...], JointPlan]]:
        """The groups of a run: all of it if no member then runs more tiles than by itself, the
        cheapest intervals if the run is short, else the longest intervals that have a plan."""
        run = self._between(run)
        together = self._part(run)
        if together.stuck is None and not self._finer(together):
            return list(together.groups)
        if len(run) <= PARTITION_LIMIT:
            best = self._cheapest(run)
        elif together.stuck is None:
            best = together
        else:
            best = self._longest(run)
        if best.stuck is not None:
            raise self._refusal(best.stuck)
        return list(best.groups)

    def _between(self, numbers: Sequence[int]) -> list[int]:
        """The members that need tiles, and those through which one of them reads another."""
        chosen = set(numbers)
        reached: set[int] = set()
        for number in numbers:
            sources = (self.writers.get(buffer) for buffer, _ in self.members[number].through)
            if self.members[number].needs_tiles or any(s in reached for s in sources):
                reached.add(number)
        kept: set[int] = set()
        for number in reversed(numbers):
            member = self.members[number]
            readers = (r for b in member.results for r in self.readers.get(b, ()) if r in chosen)
            if number in reached and (member.needs_tiles or any(r in kept for r in readers)):
                kept.add(number)
        return [number for number in numbers if number in kept]

    def _part(self, numbers: Sequence[int]) -> _Part:
        """One group for each set of these members that reads tie together."""
        numbers = self._between(numbers)
        price, groups = 0, []
        for part in components(numbers, self.members, self.writers):
            joint = self._joint(part)
            if joint is None:
                return _Part(stuck=part[-1])
            groups.append((tuple(part), joint))
            price += joint.tiles
            price += sum(self._limits(buffer) for buffer in self._whole(part, kept=False))
        return _Part(price, tuple(groups))

    def _joint(self, part: list[int]) -> JointPlan | None:
        if len(part) == 1:
            plan = self.members[part[0]].plan
            return None if plan is None else JointPlan((plan,), len(plan.levels))
        whole = self._whole(part)
        key = self._key(part, whole)
        if key not in self.joints:
            self.joints[key] = self._common(part, whole)
        return self.joints[key]

    def _key(self, part: Sequence[int], whole: Collection[str]) -> _Key:
        """All that the common split of members depends on."""
        numbers: dict[str, int] = {}
        return tuple(
            (
                id(member.kernel),
                *(numbers.setdefault(buffer, len(numbers)) for buffer in member.buffers),
                *(buffer in whole for buffer in member.results),
                *(bool(cells) for _, cells in member.through),
            )
            for member in (self.members[number] for number in part)
        )

    def _common(self, part: list[int], whole: Collection[str]) -> JointPlan | None:
        """The cheapest common split of members: the loops over some of the shared dims that need to
        be cut are common, each member cuts the others for itself."""
        members = {number: self.members[number] for number in part}

        def joint(dims: Sequence[SharedDim]) -> JointPlan | None:
            if not dims:
                return None
            return joint_plan(members, dims, whole, self.options, self.known)

        shared = shared_dims(part, self.members, self.writers)
        best = joint(shared)
        if best is None or best.shared == 1:
            return best
        cut = [shared[at] for at in best.cut]
        for size in range(len(cut) - 1, 0, -1):
            for some in combinations(cut, size):
                other = joint(some)
                if other is not None and self._cheaper(part, other, best):
                    best = other
        return best

    def _cheaper(self, part: Sequence[int], one: JointPlan, other: JointPlan) -> bool:
        """Whether one split costs less than another: tiles first, then the rest of the cost model."""
        if one.tiles != other.tiles:
            return one.tiles < other.tiles
        return self._cost(part, one) < self._cost(part, other)

    def _cost(self, part: Sequence[int], joint: JointPlan) -> Cost:
        """The cost of a group: the sum of its members'."""
        total, compact = Cost(), self.compact(part)
        for number, plan in zip(part, joint.plans, strict=True):
            member = self.members[number]
            assert member.kernel is not None
            named = zip(member.kernel.accesses, member.buffers, strict=True)
            accesses = tuple(replace(access, buffer=buffer) for access, buffer in named)
            kernel = replace(member.kernel, accesses=accesses)
            total += cost_of(kernel, plan, compact=compact.intersection(member.results))
        return total

    def compact(self, part: Sequence[int]) -> set[str]:
        """The results that only members of a group see."""
        whole = set(self._whole(part))
        return {b for number in part for b in self.members[number].results if b not in whole}

    def _whole(self, part: Sequence[int], *, kept: bool = True) -> list[str]:
        """The results that are seen outside of a group; without `kept`, but for those that must have
        their full size in any case."""
        inside = set(part)
        found = []
        for number in part:
            member = self.members[number]
            for buffer in member.results:
                read = any(reader not in inside for reader in self.readers.get(buffer, ()))
                if (kept or not member.escapes) and (read or member.escapes):
                    found.append(buffer)
        return found

    def _limits(self, buffer: str) -> int:
        """The size of a buffer in spans of the limit, rounded up."""
        member = self.members[self.writers[buffer]]
        assert member.kernel is not None
        access = member.kernel.accesses[member.buffers.index(buffer)]
        return -(-access.layout.bytes // self.options.span_limit)

    def _finer(self, part: _Part) -> bool:
        """Whether a member that needs tiles runs more of them than it would by itself."""
        return any(
            own is not None and plan.tiles > own.tiles
            for numbers, joint in part.groups
            for own, plan in zip(
                [self.members[number].plan for number in numbers], joint.plans, strict=True
            )
        )

    def _cheapest(self, run: list[int]) -> _Part:
        """The cheapest way to cut a run into intervals, by dynamic programming over their ends."""
        best: list[_Part | None] = [_Part()]
        for end in range(1, len(run) + 1):
            best.append(None)
            for start in range(end):
                before = best[start]
                if before is None:
                    continue
                part = self._part(run[start:end])
                if part.stuck is None:
                    left_out = end - start - sum(len(numbers) for numbers, _ in part.groups)
                    price = before.price + part.price + left_out
                    known = best[end]
                    if known is None or price < known.price:
                        best[end] = _Part(price, before.groups + part.groups)
        if best[-1] is not None:
            return best[-1]
        reached = max(end for end, part in enumerate(best) if part is not None)
        return _Part(stuck=self._stuck(run[reached:]))

    def _longest(self, run: list[int]) -> _Part:
        """Intervals in program order, each as long as doubling and bisection find it to have a
        plan."""
        groups: tuple[tuple[tuple[int, ...], JointPlan], ...] = ()
        start = 0
        while start < len(run):
            step, good = 1, None
            while True:
                part = self._part(run[start : start + step])
                if part.stuck is None:
                    good, fits = part, step
                elif good is not None or step > PARTITION_LIMIT:
                    break
                if start + step >= len(run):
                    break
                step *= 2
            if good is None:
                return _Part(stuck=self._stuck(run[start:]))
            low, high = fits, min(step, len(run) - start)
            while high - low > 1:
                middle = (low + high) // 2
                part = self._part(run[start : start + middle])
                if part.stuck is None:
                    low, good = middle, part
                else:
                    high = middle
            groups += good.groups
            start += low
        return _Part(groups=groups)

    def _stuck(self, run: Sequence[int]) -> int:
        """The operation to name where a run has no plan: the first one without a plan of its own."""
        return next((n for n in run if self.members[n].refusal is not None), run[0])

    def _refusal(self, number: int) -> Refusal:
        """The refusal of an operation that has no legal plan, neither alone nor with what it
        reads."""
        own = self.members[number].refusal
        assert own is not None, "what has a plan of its own is never stuck"
        read = [self.writers[b] for b, _ in self.members[number].through if b in self.writers]
        notes = tuple(
            Note(f"no loop shared with {self.members[w].name}, which it reads, helps")
            for w in dict.fromkeys(read)
        )
        return Refusal(
            own.code, own.message, notes=(*own.notes, *notes), remedy=own.remedy, place=number
        )


def _like_loops(
    members: Sequence[Member],
    found: Sequence[tuple[tuple[int, ...], JointPlan]],
    search: _Partition,
) -> Iterator[tuple[tuple[int, ...], JointPlan]]:
    """The groups, pointwise ones with equal loops that stand behind one another and do not depend
    on one another made one."""
    open_group: tuple[tuple[int, ...], JointPlan] | None = None
    after: set[int] = set()
    for positions, joint in found:
        if open_group is not None:
            own, first = open_group
            after |= _dependent(
                members, range(own[-1] + 1, positions[-1] + 1), after | set(own), search
            )
            apart = any(
                members[at].barrier or members[at].hint for at in range(own[-1], positions[0])
            )
            if (
                not apart
                and not after & set(positions)
                and _alike(members, own, first, positions, joint)
            ):
                merged = JointPlan(first.plans + joint.plans, joint.shared)
                inside = range(positions[0], positions[-1] + 1)
                after |= _dependent(members, inside, after | set(positions), search) - set(
                    positions
                )
                open_group = (own + positions, merged)
                continue
            yield open_group
        open_group, after = (positions, joint), set()
    if open_group is not None:
        yield open_group


def _alike(
    members: Sequence[Member],
    first: tuple[int, ...],
    one: JointPlan,
    second: tuple[int, ...],
    other: JointPlan,
) -> bool:
    """Whether two groups of pointwise operations have equal loops, one behind the other."""
    levels = {plan.levels for plan in (*one.plans, *other.plans)}
    kernels = [members[at].kernel for at in (*first, *second)]
    pointwise = not any(dim.reduction for kernel in kernels if kernel for dim in kernel.dims)
    return first[-1] < second[0] and len(levels) == 1 and pointwise and one.shared == other.shared


def _dependent(
    members: Sequence[Member], positions: range, sources: set[int], search: _Partition
) -> set[int]:
    """The operations among these that read, also by way of one another, what the sources write."""
    found: set[int] = set()
    for at in positions:
        writers = (search.writers.get(buffer) for buffer, _ in members[at].through)
        if any(w in sources or w in found for w in writers):
            found.add(at)
    return found


def _refuse_full_size(members: Sequence[Member], plans: Sequence[TilePlan | None]) -> None:
    """Refuses what reads the tiles of another loop."""
    writers = writers_of(dict(enumerate(members)))
    for number, (member, plan) in enumerate(zip(members, plans, strict=True)):
        if plan is None or member.hint is not None:
            continue
        read = dict.fromkeys(writers[b] for b, _ in member.through if b in writers)
        other = [w for w in read if _apart(plans[w], plan)]
        for writer in sorted(other, key=lambda w: members[w].hint is None):
            code, name = "SPY052", members[writer].name
            why = f"its tiles are no tiles that {name} could be made in"
            if members[writer].hint is not None:
                code, why = "SPY051", f"a hint tiles {name}"
            with refused_at(number):
                raise Refusal(
                    code,
                    f"{member.name} is tiled and reads {name}, which is tiled in another loop",
                    notes=(why,),
                    remedy="tile both alike with hints, or allow full-size intermediates",
                )


def _apart(plan: TilePlan | None, other: TilePlan) -> bool:
    """Whether a plan is in another loop than one of the planner's."""
    return plan is not None and (plan.origin, plan.group) != (other.origin, other.group)


def common_levels(members: Sequence[Member], plans: Sequence[TilePlan]) -> int:
    """How many outer levels of the plans of one group are common: equal tiles, and the same cells
    in everything that one member reads from another."""
    writers = writers_of(dict(enumerate(members)))
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
            reads = member.reads(writers)
            if any(
                not _same_cells(member, level, cells, plans[writers[buffer]].levels[at])
                for buffer, cells in reads
            ):
                return at
            if not reads and level.kind != first.kind:
                return at
    return depth


def _same_cells(reader: Member, level: Level, cells: Sequence[object], producer: Level) -> bool:
    """Whether a tile of the reader reads just the cells of the producer's tile along a level."""
    if level.kind != "parallel" or producer.kind != "parallel" or not cells:
        return False
    if not isinstance(level.dim, int) or not isinstance(producer.dim, int):
        return False
    own = reader.output[level.dim]
    return bare(own) is not None and cells[producer.dim] == own
