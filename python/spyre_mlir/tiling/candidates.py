# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the planner chooses from: the axes that may be cut, and the spans that bound their tiles.

A coordinate is a sum of summands that share no symbol. An extent is the sum of their reaches plus
one. Spans bound extents, so they bound sums of reaches (storage that lies in a full-size buffer), or
a product of extents (a tile with a buffer of its own)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.spans import spans, strides_bytes
from spyre_mlir.tiling.accumulation import GROWTH, Reductions, accumulation_of
from spyre_mlir.tiling.reaches import Summand, summands
from spyre_mlir.value_ranges import summed_step, value_range


@dataclass(frozen=True, slots=True)
class Axis:
    """One dim of the iteration domain in units of `unit` elements (whole sticks): `units` of them,
    the last one perhaps partial. `extent` counts cells; `why_fixed` says why the dim cannot be cut,
    or is None."""

    symbol: str
    extent: int
    unit: int
    units: int
    reduction: bool
    number: int
    why_fixed: str | None

    @property
    def domain(self) -> int:
        """Elements of the domain, rounded up to whole sticks."""
        return self.units * self.unit


@dataclass(frozen=True, slots=True)
class Constraint:
    """One span that is over the limit: device dim `device_dim` of `access`, `extent` steps of
    `stride_bytes`.

    `coordinates` lists the summands of that dim's coordinate; for a compact tile those of every
    device dim; `sizes` their extents before tiling, which no tile exceeds: they end with the buffer,
    where what is rounded up to whole sticks of one operand may lie behind the end of another. The
    span is within the limit iff the product of the extents is at most `allowed`."""

    access: Access
    device_dim: int
    extent: int
    stride_bytes: int
    allowed: int
    symbols: tuple[str, ...]
    coordinates: tuple[tuple[Summand, ...], ...]
    sizes: tuple[int, ...]
    compact: bool = False

    @property
    def bytes(self) -> int:
        """The span before tiling."""
        return self.extent * self.stride_bytes

    def extent_at(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """The product of the extents over the worst tile."""
        found = 1
        for parts, size in zip(self.coordinates, self.sizes, strict=True):
            found *= min(sum([s.reach(tiles, domains) for s in parts]) + 1, size)
        return found

    def holds(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> bool:
        """Whether the span is within the limit on the worst tile."""
        return self.extent_at(tiles, domains) <= self.allowed

    def tiles_needed(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """A lower bound on the tiles into which a tile of these sizes must be cut to be within the
        limit.

        A coordinate that takes n values at equal distances lies in no fewer tiles than n over the
        values that fit; where that is ceil(extent / allowed), it is so in all."""
        boxes = [
            (min(extent, size), step)
            for (extent, step), size in zip(
                [values_of(parts, tiles, domains) for parts in self.coordinates],
                self.sizes,
                strict=True,
            )
        ]
        found, cells, known = 1, 1, True
        for extent, step in boxes:
            if extent > self.allowed:
                least = (
                    -(-((extent - 1) // step + 1) // ((self.allowed - 1) // step + 1))
                    if step
                    else 2
                )
                found = max(found, least)
            known = known and (extent == 1 or step == 1)
            cells *= extent
        if known and len(boxes) > 1 and self.apart:
            found = max(found, -(-cells // self.allowed))
        return found

    @property
    def apart(self) -> bool:
        """Whether no symbol moves two coordinates."""
        names = [s for parts in self.coordinates for part in parts for s in part.symbols]
        return len(names) == len(set(names))

    def bytes_at(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """The span on the worst tile, in bytes; 0 if nothing varies there."""
        extent = self.extent_at(tiles, domains)
        step = STICK_BYTES if self.compact else self.stride_bytes
        return extent * step if extent > 1 else 0


def values_of(
    parts: tuple[Summand, ...], tiles: Mapping[str, int], domains: Mapping[str, int]
) -> tuple[int, int]:
    """(extent, distance of neighbouring values; 0 if not known) of a coordinate on the first
    tile."""
    reach, steps = 0, []
    for part in parts:
        box = {name: min(tiles[name], domains[name]) for name in part.symbols}
        values = value_range(part.expression, box)
        if not values.exact:
            return 1, 0
        if values.high > values.low:
            reach += values.high - values.low
            steps.append((values.step, values.high - values.low))
    return reach + 1, summed_step(steps)


def axes_of(kernel: Kernel, *, reductions: Reductions) -> dict[str, Axis]:
    """Symbol -> axis of each dim, in the order of the kernel; reduction dims are cut where
    `reductions` and the operation allow it."""
    found: dict[str, Axis] = {}
    why = _why_whole(kernel, reductions)
    scatters = any(dim.loaded for dim in kernel.dims)
    seen = 0
    for position, dim in enumerate(kernel.dims):
        number = seen if dim.reduction else dim.host_dim
        seen += dim.reduction
        found[dim.symbol] = Axis(
            dim.symbol,
            dim.extent,
            dim.stick,
            -(-dim.extent // dim.stick),
            dim.reduction,
            position if number is None else number,
            _why_fixed(dim, why, scatters) or _why_counted(kernel, dim),
        )
    return found


def _why_counted(kernel: Kernel, dim: Dim) -> str | None:
    """Why the dim of a scan that counts what is chosen stays whole, or None for any other dim."""
    reads = [access for access in kernel.accesses if not access.written]
    if kernel.family != "scan" or any(dim.symbol in read.index.symbols() for read in reads):
        return None
    return "it counts what is chosen, which one scan does"


def _why_fixed(dim: Dim, why_whole: str | None, scatters: bool) -> str | None:
    if dim.loaded:
        return "it is indexed by positions that are loaded from memory, and any tile may need any"
    if dim.reduction and scatters:
        return "where its cells are written is loaded from memory, and the last one is kept"
    if dim.symbolic:
        return "its extent is symbolic, and no loop is cut to an extent that is not known"
    if dim.reduction and why_whole:
        return why_whole
    if dim.extent <= dim.stick:
        return "it is a single stick" if dim.stick > 1 else "its extent is 1"
    return None


def _why_whole(kernel: Kernel, reductions: Reductions) -> str | None:
    """Why the reduced range of a kernel stays whole, or None."""
    if reductions == "never":
        return "it is a reduction dim, and reduction ranges are not cut"
    try:
        accumulation_of(kernel)
    except Refusal as refusal:
        return refusal.message
    return None


def constraints_of(kernel: Kernel, limit: int, compact: Collection[str]) -> tuple[Constraint, ...]:
    """The spans over `limit` bytes of the untiled kernel: what is written first, then the operands
    in order.

    `compact` names the buffers that are not full size: each holds one tile."""
    extents = kernel.extents
    rounded = _rounded(kernel)
    found: list[Constraint] = []
    alike: dict[tuple[Layout, Expression], list[Constraint]] = {}
    for access in kernel.accesses:
        if rounded is None and access.layout.bytes <= limit:
            continue  # no span is larger than its buffer
        if access.buffer in compact:
            found += _compact_constraints(access, extents, rounded or extents, limit)
        elif rounded is None:
            key = (access.layout, access.index)
            if key in alike:
                found += [replace(constraint, access=access) for constraint in alike[key]]
                continue
            alike[key] = [
                _constraint(
                    access, s.device_dim, s.extent, s.stride_bytes, s.symbols, extents, limit
                )
                for s in spans(access, extents)
                if s.bytes > limit or not s.exact
            ]
            found += alike[key]
        else:
            found += _rounded_constraints(access, extents, rounded, limit)
    if len(found) > 1:
        found.sort(key=lambda c: not c.access.written)
    return tuple(found)


def temporary_constraints(kernel: Kernel, limit: int) -> tuple[Constraint, ...]:
    """The spans over `limit` bytes of what cutting the reduced range adds: tiles of operands, and
    of the result, in f32. Each is compact and takes twice the bytes of its 16-bit form. Empty where
    nothing is added: an accumulator of the result's own elements is no larger than its window."""
    accumulation = accumulation_of(kernel)
    if not accumulation.wide:
        return ()
    accesses = tuple(a for a in kernel.accesses if a.written or accumulation.widened)
    compact = [access.buffer for access in accesses]
    return constraints_of(replace(kernel, accesses=accesses), limit // GROWTH, compact)


def _rounded(kernel: Kernel) -> dict[str, int] | None:
    """The extents rounded up to whole sticks; None if they are whole already."""
    for dim in kernel.dims:
        if dim.extent % dim.stick:
            return {d.symbol: -(-d.extent // d.stick) * d.stick for d in kernel.dims}
    return None


def _constraint(
    access: Access,
    dim: int,
    extent: int,
    stride: int,
    symbols: tuple[str, ...],
    extents: Mapping[str, int],
    limit: int,
) -> Constraint:
    coordinate = device_coordinates(access, extents)[dim]
    allowed = max(limit // stride, 1)  # a coordinate that does not vary spans nothing
    parts = (summands(coordinate),)
    return Constraint(access, dim, extent, stride, allowed, symbols, parts, (extent,))


def _rounded_constraints(
    access: Access, extents: Mapping[str, int], rounded: Mapping[str, int], limit: int
) -> Iterator[Constraint]:
    strides = strides_bytes(access.layout)
    for dim, coordinate in enumerate(device_coordinates(access, extents)[:-1]):
        if coordinate.terms:
            extent = _extent(coordinate, rounded, access.layout.device_size[dim])
            if extent > 1 and extent * strides[dim] > limit:
                names = coordinate.symbols()
                yield _constraint(access, dim, extent, strides[dim], names, extents, limit)


def _extent(coordinate: Expression, rounded: Mapping[str, int], size: int) -> int:
    """The extent of a coordinate over whole sticks, up to the end of its device dim."""
    values = value_range(coordinate, rounded)
    return min(values.high, size - 1) - values.low + 1


def _compact_constraints(
    access: Access, extents: Mapping[str, int], rounded: Mapping[str, int], limit: int
) -> Iterator[Constraint]:
    """Spans of a buffer that holds one tile: each device dim is as large as the tile makes it.

    One constraint per overflowing device dim; all bound the same product, since the outermost dim
    that varies spans the whole tile. They differ in the symbols that overflow by themselves."""
    coordinates = device_coordinates(access, extents)[:-1]
    device = access.layout.device_size
    sizes = tuple([_extent(c, rounded, n) for c, n in zip(coordinates, device, strict=False)])
    parts = tuple(summands(c) for c in coordinates)
    allowed = max(limit // STICK_BYTES, 1)
    for dim, coordinate in enumerate(coordinates):
        inner = prod(sizes[dim + 1 :]) * STICK_BYTES
        if sizes[dim] > 1 and sizes[dim] * inner > limit:
            yield Constraint(
                access, dim, sizes[dim], inner, allowed, coordinate.symbols(), parts, sizes, True
            )
