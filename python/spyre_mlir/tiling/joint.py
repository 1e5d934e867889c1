# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Joint plans: one split for all members of a group, legal for each of them.

The members' accesses stand over common axes: one per shared dim, and one per member and dim for what
a member cuts inside the common loops. Buffers that only members read hold one tile and must fit as
a whole; all others are windows of their full size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm

from spyre_mlir.accesses import Access
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.tiling.candidates import (
    Axis,
    Constraint,
    axes_of,
    constraints_of,
    temporary_constraints,
)
from spyre_mlir.tiling.members import Member
from spyre_mlir.tiling.planner import Options, find, levels_of, reason_of
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.tiling.runs import SharedDim
from spyre_mlir.tiling.search import Choice


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


@dataclass(frozen=True, slots=True)
class Known:
    """What the searches of one program have in common: axes of kernels, constraints of members."""

    axes: dict[int, dict[str, Axis]] = field(default_factory=dict)
    constraints: dict[Hashable, tuple[Constraint, ...]] = field(default_factory=dict)


def joint_plan(
    members: Mapping[int, Member],
    shared: Sequence[SharedDim],
    whole: Collection[str],
    options: Options,
    known: Known,
) -> JointPlan | None:
    """The cheapest common split, or None: there is none, it takes more than the budget of a search
    to find, or nothing that is shared needs to be cut.

    `whole` are the buffers of full size; all others that a member writes are compact. `known` is
    used and added to: numbers of members mean the same in all searches with it."""
    problem = _Problem(members, shared, whole, options, known)
    if not problem.constraints:
        return None
    try:
        choice = problem.solve()
    except Refusal:
        return None
    if choice is None:
        return None
    cut = [at for at in range(len(shared)) if _shared_name(at) in choice.tiles]
    if not cut:
        return None
    plans = tuple(problem.plan(number, cut, choice) for number in members)
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
        known: Known,
    ) -> None:
        self.options, self.members, self.shared, self.known = options, members, shared, known
        self.own: dict[int, dict[str, Axis]] = {}
        self.reasons: dict[int, str] = {}
        self.constraints: list[Constraint] = []
        compact = {b for m in members.values() for b in m.results if b not in whole}
        for number, member in members.items():
            assert member.kernel is not None
            kernel = member.kernel
            if id(kernel) not in known.axes:
                known.axes[id(kernel)] = axes_of(kernel, reductions=options.reductions)
            self.own[number] = known.axes[id(kernel)]
            found = self._constraints(number, member, compact)
            if found:
                self.reasons[number] = reason_of(found)
                self.constraints += found
        self.axes = {_shared_name(at): self._shared_axis(at) for at in range(len(shared))}
        self._add_axes(self.constraints)

    def _add_axes(self, constraints: Iterable[Constraint]) -> None:
        """The axes that constraints are over, those of single members."""
        for constraint in constraints:
            for name in (n for part in constraint.coordinates for s in part for n in s.symbols):
                if name not in self.axes:
                    self.axes[name] = self._own_axis(name)

    def solve(self) -> Choice | None:
        """The cheapest choice. What cutting a reduced range adds is bounded for the members whose
        range is cut."""
        parts: set[int] = set()
        while True:
            added = [c for number in sorted(parts) for c in self._temporaries(number)]
            self._add_axes(added)
            choice = find(self.axes, self.constraints, self.options, accumulating=added)
            cut = set() if choice is None else self._reduced_in_parts(choice)
            if cut <= parts:
                return choice
            parts |= cut

    def _reduced_in_parts(self, choice: Choice) -> set[int]:
        """The members whose reduced range a choice cuts."""
        axes = [(name, self.axes[name]) for name in choice.tiles]
        return {int(name.rpartition(".")[2]) for name, axis in axes if axis.reduction}

    def _temporaries(self, number: int) -> tuple[Constraint, ...]:
        kernel = self.members[number].kernel
        assert kernel is not None
        names = self._names(number, _own_name)
        buffers = [access.buffer for access in kernel.accesses]
        over = _over_axes(kernel, zip(kernel.accesses, buffers, strict=True), [names])
        return temporary_constraints(over, self.options.span_limit)

    def _names(self, number: int, own: Callable[[int, str], str]) -> dict[str, str]:
        """The axis of each dim of a member."""
        kernel = self.members[number].kernel
        assert kernel is not None
        shared = {dims[number]: _shared_name(at) for at, dims in enumerate(self.shared)}
        return {d.symbol: shared.get(d.symbol, own(number, d.symbol)) for d in kernel.dims}

    def _constraints(
        self, number: int, member: Member, compact: Collection[str]
    ) -> tuple[Constraint, ...]:
        """What bounds the tiles of one member: windows of buffers of full size, and the tiles it
        makes. Those that it reads are bounded where they are made."""
        kernel, limit = member.kernel, self.options.span_limit
        assert kernel is not None
        whole_sticks = all(dim.extent % dim.stick == 0 for dim in kernel.dims)
        bounded = [
            (access, buffer)
            for access, buffer in zip(kernel.accesses, member.buffers, strict=True)
            if (access.written or buffer not in compact)
            and not (whole_sticks and access.layout.bytes <= limit)
        ]
        if not bounded:
            return ()
        own = self._names(number, _own_name)
        key = (number, *own.values(), *((buffer, buffer in compact) for _, buffer in bounded))
        if key not in self.known.constraints:
            over = _over_axes(kernel, bounded, [own, self._names(number, _full_name)], compact)
            self.known.constraints[key] = constraints_of(over, limit, compact)
        return self.known.constraints[key]

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

    def plan(self, number: int, cut: Sequence[int], choice: Choice) -> TilePlan:
        """The plan of one member: the common levels, then its own."""
        axes = self.own[number]
        names = [shared[number] for shared in self.shared]
        levels: list[Level] = []
        for at in cut:
            levels += levels_of(axes, {names[at]: choice.tiles[_shared_name(at)]})
        own = {
            name: choice.tiles[_own_name(number, name)]
            for name in axes
            if name not in names and _own_name(number, name) in choice.tiles
        }
        levels += levels_of(axes, own)
        reason = self.reasons.get(number, "loop that it shares")
        return TilePlan(tuple(levels), reason=reason, proved=choice.proved)


def _over_axes(
    kernel: Kernel,
    accesses: Iterable[tuple[Access, str]],
    names: Sequence[Mapping[str, str]],
    compact: Collection[str] = (),
) -> Kernel:
    """The kernel with some of its accesses, in their buffers, over the axes of a group: those named
    first, compact ones those named last."""
    dims = {
        axes[dim.symbol]: replace(dim, symbol=axes[dim.symbol])
        for axes in names
        for dim in kernel.dims
    }
    found = []
    for access, buffer in accesses:
        axes = names[-1] if buffer in compact else names[0]
        index = access.index.substitute({old: symbol(new) for old, new in axes.items()})
        found.append(replace(access, buffer=buffer, index=index))
    return replace(kernel, dims=tuple(dims.values()), accesses=tuple(found))
