# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Members: the operations of a program as grouping sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import ZERO, Expression, symbol
from spyre_mlir.tiling.planner import DEFAULT, Options, plan_tiles, skipped
from spyre_mlir.tiling.plans import TilePlan

Read = tuple[str, tuple[Expression, ...]]
"""A buffer that is read, and the coordinate along each dim that its writer's plan may cut; no
coordinates where they are not known, or where the tile that is read could not be made in a loop."""


@dataclass(frozen=True, slots=True)
class Member:
    """One operation of a program, as grouping sees it.

    `results` are the buffers that it writes; `output` the symbol of each dim that its plan may cut
    (`parallel(d)` is entry d); `through` what it reads of the results of other members. `kernel` is
    None for an operation that no plan divides; `buffers` names the buffer of each of its accesses.
    `plan` or `refusal` is what the planner says of it alone. A `hint` is a user's plan and wins.
    `escapes`: whether something that is no member sees a result whole. A `barrier` is what no loop
    may be moved over."""

    name: str
    results: tuple[str, ...]
    output: tuple[Expression, ...] = ()
    through: tuple[Read, ...] = ()
    kernel: Kernel | None = None
    buffers: tuple[str, ...] = ()
    plan: TilePlan | None = None
    refusal: Refusal | None = None
    hint: TilePlan | None = None
    escapes: bool = True
    barrier: bool = False

    @property
    def needs_tiles(self) -> bool:
        """Whether it spans too much by itself."""
        return self.plan is not None or self.refusal is not None

    def reads(self, buffers: Collection[str]) -> list[Read]:
        """The reads of any of these buffers."""
        return [read for read in self.through if read[0] in buffers]


BARRIER = Member("", (), barrier=True)


def host_coordinates(access: Access, kernel: Kernel) -> tuple[Expression, ...]:
    """The coordinates of an access in the host shape of its buffer."""
    host = Layout((*access.shape, 1), (*access.strides, -1))
    on_host = Access(access.label, access.buffer, host, access.element, access.index)
    return device_coordinates(on_host, kernel.extents)[:-1]


class Builder:
    """Makes members of kernels in program order. Members of equal kernels have one object for it,
    which is planned once."""

    def __init__(self, options: Options = DEFAULT) -> None:
        self.options = options
        self._written: dict[str, tuple[int | None, ...]] = {}
        """Buffer -> the host dim that each parallel dim of its writer runs over."""
        self._kernels: dict[Kernel, Kernel] = {}
        self._cells: dict[int, tuple[Kernel, list[tuple[Expression, ...]]]] = {}
        self._plans: dict[int, tuple[Kernel, TilePlan | None, Refusal | None]] = {}

    def add(
        self,
        kernel: Kernel,
        buffers: Sequence[str],
        *,
        name: str | None = None,
        opaque: Collection[int] = (),
        whole: Iterable[str] = (),
        hint: TilePlan | None = None,
        escapes: bool = True,
        planned: bool = True,
    ) -> Member:
        """The member for a kernel whose accesses lie in these buffers. `opaque` numbers the
        accesses that go through a view that is not made anew of a tile; `whole` are buffers that
        are read without an access. Without `planned` the planner is not asked."""
        name = name or kernel.label or kernel.name
        if id(kernel) not in self._cells:
            kernel = self._kernels.setdefault(kernel, kernel)
        cells = self._coordinates(kernel)
        results, through = [], []
        for number, (access, buffer) in enumerate(zip(kernel.accesses, buffers, strict=True)):
            if access.written:
                results.append(buffer)
                self._written[buffer] = _dims_written(kernel, cells[number])
            elif buffer in self._written:
                known = () if number in opaque else cells[number]
                dims = self._written[buffer] if known else ()
                through.append((buffer, tuple(ZERO if d is None else known[d] for d in dims)))
        through += [(buffer, ()) for buffer in whole]
        plan, refusal = self.own(kernel, name) if planned and hint is None else (None, None)
        return Member(
            name,
            tuple(results),
            tuple(symbol(dim.symbol) for dim in kernel.dims if not dim.reduction),
            tuple(through),
            None if skipped(kernel) else kernel,
            tuple(buffers),
            plan,
            refusal,
            hint,
            escapes,
        )

    def made(self, buffers: Iterable[str]) -> None:
        """These buffers are written by what has no kernel: no dim of theirs is followed."""
        self._written.update((buffer, ()) for buffer in buffers)

    def _coordinates(self, kernel: Kernel) -> list[tuple[Expression, ...]]:
        """The host coordinates of every access; none where it is indirect."""
        if id(kernel) not in self._cells:
            found = [
                () if access.indirect else host_coordinates(access, kernel)
                for access in kernel.accesses
            ]
            self._cells[id(kernel)] = (kernel, found)
        return self._cells[id(kernel)][1]

    def own(self, kernel: Kernel, name: str) -> tuple[TilePlan | None, Refusal | None]:
        """What the planner says of a kernel alone, called so in refusals: its plan, or why there is none; neither if
        it needs no tiles."""
        if id(kernel) not in self._plans:
            plan, refusal = None, None
            try:
                plan = plan_tiles(replace(kernel, label=name), self.options)
            except Refusal as found:
                refusal = found
            self._plans[id(kernel)] = (kernel, plan, refusal)
        _, plan, refusal = self._plans[id(kernel)]
        return plan, refusal


def _dims_written(kernel: Kernel, cells: Sequence[Expression]) -> tuple[int | None, ...]:
    """The dim of the buffer over which each parallel dim runs alone: a reduction that keeps its dims
    has more of them in the buffer. None where there is none."""
    names = [str(cell) for cell in cells]
    parallel = [dim.symbol for dim in kernel.dims if not dim.reduction]
    return tuple(names.index(name) if name in names else None for name in parallel)


def writers_of(members: Mapping[int, Member]) -> dict[str, int]:
    """Buffer -> the key of the member that writes it."""
    return {buffer: key for key, member in members.items() for buffer in member.results}
