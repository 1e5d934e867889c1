# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joint plans: one split for all members of a group, legal for each of them.

The members' accesses stand over common axes: one per shared dim, and one per member and dim for what
a member cuts inside the common loops. Buffers that only members read hold one tile and must fit as
a whole; all others are windows of their full size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm

from spyre_mlir.accesses import Access
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.tiling.candidates import Axis, Constraint, axes_of, constraints_of
from spyre_mlir.tiling.members import Member
from spyre_mlir.tiling.planner import Options, find, levels_of, reason_of
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.tiling.runs import SharedDim


@dataclass(frozen=True, slots=True)
class JointPlan:
    """The plans of the members, in their order; the outer `shared` levels are the common loops, over
    the shared dims numbered `cut`."""

    plans: tuple[TilePlan, ...]
    shared: int
    cut: tuple[int, ...] = ()

    @property
    def tiles(self) -> int:
        """Tiles that run, of all members."""
        return sum(plan.tiles for plan in self.plans)


def joint_plan(
    members: Mapping[int, Member],
    shared: Sequence[SharedDim],
    whole: Collection[str],
    options: Options,
) -> JointPlan | None:
    """The cheapest common split, or None: there is none, it takes more than the budget of a search
    to find, or nothing that is shared needs to be cut.

    `whole` are the buffers of full size; all others that a member writes are compact."""
    problem = _Problem(members, shared, whole, options)
    if not problem.constraints:
        return None
    try:
        choice = find(problem.axes, problem.constraints, options)
    except Refusal:
        return None
    if choice is None:
        return None
    cut = [at for at in range(len(shared)) if _shared_name(at) in choice.tiles]
    if not cut:
        return None
    plans = tuple(problem.plan(number, cut, choice.tiles) for number in members)
    return JointPlan(plans, len(cut), tuple(cut))


def _shared_name(at: int) -> str:
    return f"s{at}"


def _own_name(number: int, name: str) -> str:
    return f"{name}.{number}"


def _full_name(number: int, name: str) -> str:
    """A dim of a member that fills a tile others read: its inner loops do not make the tile smaller."""
    return f"{name}.{number}!"


class _Problem:
    """Axes and constraints of a group."""

    def __init__(
        self,
        members: Mapping[int, Member],
        shared: Sequence[SharedDim],
        whole: Collection[str],
        options: Options,
    ) -> None:
        self.options = options
        self.shared = shared
        self.own: dict[int, dict[str, Axis]] = {}
        self.reasons: dict[int, str] = {}
        self.constraints: list[Constraint] = []
        compact = {b for m in members.values() for b in m.results if b not in whole}
        cached: dict[int, dict[str, Axis]] = {}
        for number, member in members.items():
            assert member.kernel is not None
            kernel = member.kernel
            if id(kernel) not in cached:
                cached[id(kernel)] = axes_of(kernel, reductions=options.reductions)
            self.own[number] = cached[id(kernel)]
            found = self._constraints(number, member, compact)
            if found:
                self.reasons[number] = reason_of(found)
                self.constraints += found
        touched = dict.fromkeys(
            name
            for constraint in self.constraints
            for summands in constraint.coordinates
            for summand in summands
            for name in summand.symbols
        )
        self.axes = {_shared_name(at): self._shared_axis(at) for at in range(len(shared))}
        self.axes.update((n, self._own_axis(n)) for n in touched if n not in self.axes)

    def _constraints(
        self, number: int, member: Member, compact: Collection[str]
    ) -> tuple[Constraint, ...]:
        """What bounds the tiles of one member: windows of buffers of full size, and the tiles it
        makes. Those that it reads are bounded where they are made."""
        kernel = member.kernel
        assert kernel is not None
        limit = self.options.span_limit
        whole_sticks = all(dim.extent % dim.stick == 0 for dim in kernel.dims)
        kept = [
            (access, buffer)
            for access, buffer in zip(kernel.accesses, member.buffers, strict=True)
            if (access.written or buffer not in compact)
            and not (whole_sticks and access.layout.bytes <= limit)
        ]
        if not kept:
            return ()
        names = {shared[number]: _shared_name(at) for at, shared in enumerate(self.shared)}
        full = {d.symbol: names.get(d.symbol, _full_name(number, d.symbol)) for d in kernel.dims}
        own = {d.symbol: names.get(d.symbol, _own_name(number, d.symbol)) for d in kernel.dims}
        dims = [replace(dim, symbol=own[dim.symbol]) for dim in kernel.dims]
        known = set(own.values())
        dims += [
            replace(d, symbol=full[d.symbol]) for d in kernel.dims if full[d.symbol] not in known
        ]
        accesses = tuple(
            _over(access, buffer, full if buffer in compact else own) for access, buffer in kept
        )
        joint = Kernel(kernel.name, kernel.family, tuple(dims), accesses)
        return constraints_of(joint, limit, compact)

    def _shared_axis(self, at: int) -> Axis:
        """The axis of a shared dim: cut in sticks that are whole for every member."""
        axes = {id(a): a for a in (self.own[n][s] for n, s in self.shared[at].items())}.values()
        first = next(iter(axes))
        unit = lcm(*[axis.unit for axis in axes])
        why = next((axis.why_fixed for axis in axes if axis.why_fixed), None)
        if why is None and first.extent <= unit:
            why = "it is a single stick"
        return Axis(_shared_name(at), first.extent, unit, -(-first.extent // unit), False, at, why)

    def _own_axis(self, name: str) -> Axis:
        """The axis of a dim that is not shared."""
        own, _, number = name.removesuffix("!").rpartition(".")
        axis = self.own[int(number)][own]
        fixed = "it fills a tile that others read" if name.endswith("!") else axis.why_fixed
        return replace(axis, symbol=name, why_fixed=fixed)

    def plan(self, number: int, cut: Sequence[int], tiles: Mapping[str, int]) -> TilePlan:
        """The plan of one member: the common levels, then its own."""
        axes = self.own[number]
        levels: list[Level] = []
        names = [shared[number] for shared in self.shared]
        for at in cut:
            levels += levels_of(axes, {names[at]: tiles[_shared_name(at)]})
        own = {
            name: tiles[_own_name(number, name)]
            for name in axes
            if name not in names and _own_name(number, name) in tiles
        }
        levels += levels_of(axes, own)
        return TilePlan(tuple(levels), reason=self.reasons.get(number, "loop that it shares"))


def _over(access: Access, buffer: str, names: Mapping[str, str]) -> Access:
    """The access over other symbols."""
    index = access.index.substitute({old: symbol(new) for old, new in names.items()})
    return replace(access, buffer=buffer, index=index)
