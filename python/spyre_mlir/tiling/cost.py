# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a plan costs, in figures: the one model by which plans and groups of equal rank are compared.

    tiles         tiles that run, those of remainders included
    kernels       operations in the compiled program: a remainder is one more, an accumulation several
    bytes_moved   bytes of sticks read and written on the device: each operand once for every tile
                  that touches it
    buffer_bytes  bytes of the buffers that hold one tile: compact results and accumulators

Costs are compared in this order. They are sums, so the cost of a group is that of its members."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling.accumulation import GROWTH, accumulation_of, divides
from spyre_mlir.tiling.candidates import Constraint
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.value_ranges import value_range


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """The figures of one plan, or of several plans together; bytes are device bytes."""

    tiles: int = 0
    kernels: int = 0
    bytes_moved: int = 0
    buffer_bytes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.tiles + other.tiles,
            self.kernels + other.kernels,
            self.bytes_moved + other.bytes_moved,
            self.buffer_bytes + other.buffer_bytes,
        )

    def __str__(self) -> str:
        return (
            f"{self.tiles} tile{'s' * (self.tiles != 1)}, "
            f"{self.kernels} kernel{'s' * (self.kernels != 1)} emitted, "
            f"{self.bytes_moved} bytes moved, {self.buffer_bytes} bytes of buffers"
        )


def cost_of(kernel: Kernel, plan: TilePlan | None = None, *, compact: Collection[str] = ()) -> Cost:
    """The cost of one operation under a plan, or untiled. `compact` names its buffers that hold one
    tile each.

    Operands that are reached indirectly count as if all they may touch were moved."""
    levels = plan.levels if plan is not None else ()
    symbols = _symbols(kernel, levels)
    extents = kernel.extents
    tile = {**extents, **{name: level.size for name, level in symbols.items()}}
    reduced = prod(level.tiles for level in levels if level.kind == "reduction")
    moved = buffers = 0
    for access in kernel.accesses:
        names = access.index.symbols()
        repeats = prod(level.tiles for name, level in symbols.items() if name not in names)
        sticks = _sticks(access, extents)
        moved += sticks * repeats * STICK_BYTES
        if access.written and reduced > 1:  # an accumulator: read again by all parts but the first
            moved += sticks * (repeats - repeats // reduced) * STICK_BYTES
            wide = GROWTH if accumulation_of(kernel).wide else 1
            buffers += _sticks(access, tile) * STICK_BYTES * wide
        elif access.buffer in compact:
            buffers += _sticks(access, tile) * STICK_BYTES
    tiles = prod(level.tiles for level in levels)
    return Cost(tiles, _kernels(kernel, levels), moved, buffers)


def _symbols(kernel: Kernel, levels: Sequence[Level]) -> dict[str, Level]:
    """Symbol -> the level that cuts it."""
    parallel = {dim.host_dim: dim.symbol for dim in kernel.dims if not dim.reduction}
    reductions = [dim.symbol for dim in kernel.dims if dim.reduction]
    return {
        parallel[int(level.dim)] if level.kind == "parallel" else reductions[int(level.dim)]: level
        for level in levels
    }


def _sticks(access: Access, extents: Mapping[str, int]) -> int:
    """Sticks that an access touches, those that it steps over among them."""
    names = [name for name in access.index.symbols() if name not in access.indirect]
    if access.indirect:
        return access.layout.bytes // STICK_BYTES
    box = {name: extents[name] for name in names}
    return prod(value_range(c, box).extent for c in device_coordinates(access, box)[:-1])


def _kernels(kernel: Kernel, levels: Sequence[Level]) -> int:
    """Operations in the program: the body of a loop once, a remainder once more."""
    copies = prod(1 + (level.remainder > 0) for level in levels if level.kind == "parallel")
    if not divides(levels):
        return copies
    parts = prod(
        1 + (level.count > 1) + (level.remainder > 0)  # the first part stands before the loop
        for level in levels
        if level.kind == "reduction"
    )
    several = prod(level.tiles for level in levels if level.kind == "parallel") > 1
    return copies * accumulation_of(kernel).operations(parts, several=several)


def tiles_needed(constraints: Sequence[Constraint], domains: Mapping[str, int]) -> int:
    """A lower bound on the tiles of any plan: ceil(span / limit) of each coordinate without gaps,
    multiplied for those that share no dim. `domains` are the extents in elements, rounded up to
    whole sticks, of every dim."""
    bounds = []
    for constraint in constraints:
        names = {n for parts in constraint.coordinates for part in parts for n in part.symbols}
        bounds.append((constraint.tiles_needed(domains, domains), names))
    bounds.sort(key=lambda bound: (-bound[0], sorted(bound[1])))
    total, taken = 1, set[str]()
    for least, names in bounds:
        if not names & taken:
            total *= least
            taken |= names
    return total
