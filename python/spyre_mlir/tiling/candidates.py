# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the planner chooses from: the axes that may be cut, and the spans that bound their tiles.

A coordinate is a sum of summands that share no symbol. The reach of a summand is its largest less
its smallest value over the worst tile; an extent is the sum of the reaches plus one. Spans bound
extents, so they bound sums of reaches (storage that lies in a full-size buffer), or a product of
extents (a tile with a buffer of its own)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import gcd, lcm, prod

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import Expression, Quotient, Remainder, symbol
from spyre_mlir.spans import spans, strides_bytes
from spyre_mlir.value_ranges import value_range

OFFSETS_LIMIT = 4096
"""Tile offsets whose ranges are compared before a reach is bounded from above instead."""


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
class Summand:
    """A part of a coordinate that shares no symbol with the rest of it."""

    symbols: tuple[str, ...]
    expression: Expression

    def reach(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """Largest - smallest value over the worst tile; sizes of tiles and of the whole domain in
        elements."""
        if len(self.symbols) == 1:
            name = self.symbols[0]
            return _reach(self.expression, name, tiles[name], domains[name])
        return _joint_reach(
            self.expression,
            tuple((name, tiles[name], domains[name]) for name in self.symbols),
        )


@dataclass(frozen=True, slots=True)
class Constraint:
    """One span that is over the limit: device dim `device_dim` of `access`, `extent` steps of
    `stride_bytes`.

    `coordinates` lists the summands of that dim's coordinate; for a compact tile those of every
    device dim. The span is within the limit iff the product of their extents is at most
    `allowed`."""

    access: Access
    device_dim: int
    extent: int
    stride_bytes: int
    allowed: int
    symbols: tuple[str, ...]
    coordinates: tuple[tuple[Summand, ...], ...]
    compact: bool = False

    @property
    def bytes(self) -> int:
        """The span before tiling."""
        return self.extent * self.stride_bytes

    def extent_at(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """The product of the extents over the worst tile."""
        found = 1
        for summands in self.coordinates:
            found *= sum([s.reach(tiles, domains) for s in summands]) + 1
        return found

    def holds(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> bool:
        """Whether the span is within the limit on the worst tile."""
        return self.extent_at(tiles, domains) <= self.allowed

    def bytes_at(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """The span on the worst tile, in bytes; 0 if nothing varies there."""
        extent = self.extent_at(tiles, domains)
        step = STICK_BYTES if self.compact else self.stride_bytes
        return extent * step if extent > 1 else 0


def axes_of(kernel: Kernel, *, reductions: bool) -> dict[str, Axis]:
    """Symbol -> axis of each dim, in the order of the kernel; `reductions` lets reduction dims be
    cut."""
    found: dict[str, Axis] = {}
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
            _why_fixed(dim, reductions),
        )
    return found


def _why_fixed(dim: Dim, reductions: bool) -> str | None:
    if dim.symbolic:
        return "its extent is symbolic, and no loop is cut to an extent that is not known"
    if dim.reduction and not reductions:
        return "it is a reduction dim, and reduction ranges are not cut"
    if dim.extent <= dim.stick:
        return "it is a single stick" if dim.stick > 1 else "its extent is 1"
    return None


def constraints_of(kernel: Kernel, limit: int, compact: Collection[str]) -> tuple[Constraint, ...]:
    """The spans over `limit` bytes of the untiled kernel: what is written first, then the operands
    in order.

    `compact` names the buffers that are not full size: each holds one tile."""
    extents = kernel.extents
    rounded = _rounded(kernel, extents)
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


def _rounded(kernel: Kernel, extents: Mapping[str, int]) -> dict[str, int] | None:
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
    return Constraint(access, dim, extent, stride, allowed, symbols, (_summands(coordinate),))


def _rounded_constraints(
    access: Access, extents: Mapping[str, int], rounded: Mapping[str, int], limit: int
) -> Iterator[Constraint]:
    strides = strides_bytes(access.layout)
    for dim, coordinate in enumerate(device_coordinates(access, extents)[:-1]):
        if coordinate.terms:
            values = value_range(coordinate, rounded)
            if values.low < values.high and values.extent * strides[dim] > limit:
                names = coordinate.symbols()
                yield _constraint(access, dim, values.extent, strides[dim], names, extents, limit)


def _compact_constraints(
    access: Access, extents: Mapping[str, int], rounded: Mapping[str, int], limit: int
) -> Iterator[Constraint]:
    """Spans of a buffer that holds one tile: each device dim is as large as the tile makes it.

    One constraint per overflowing device dim; all bound the same product, since the outermost dim
    that varies spans the whole tile. They differ in the symbols that overflow by themselves."""
    coordinates = device_coordinates(access, extents)[:-1]
    sizes = [value_range(c, rounded).extent for c in coordinates]
    summands = tuple(_summands(c) for c in coordinates)
    allowed = max(limit // STICK_BYTES, 1)
    for dim, coordinate in enumerate(coordinates):
        inner = prod(sizes[dim + 1 :]) * STICK_BYTES
        if sizes[dim] > 1 and sizes[dim] * inner > limit:
            yield Constraint(
                access, dim, sizes[dim], inner, allowed, coordinate.symbols(), summands, True
            )


@lru_cache(maxsize=1 << 14)
def _summands(expression: Expression) -> tuple[Summand, ...]:
    if len(expression.terms) == 1:
        return (Summand(expression.symbols(), Expression(0, expression.terms)),)
    groups: list[tuple[set[str], list[Expression]]] = []
    for atom, coefficient in expression.terms:
        term = Expression(0, ((atom, coefficient),))
        names = set(term.symbols())
        parts = [term]
        apart = []
        for other, members in groups:
            if other & names:
                names |= other
                parts = members + parts
            else:
                apart.append((other, members))
        groups = [*apart, (names, parts)]
    found = []
    for names, parts in groups:
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        found.append(Summand(tuple(sorted(names)), total))
    return tuple(sorted(found, key=lambda s: s.symbols))


def monotone(expression: Expression, unit: int) -> bool:
    """Whether a larger tile of whole units never has a smaller reach: linear, or a division that
    units align with."""
    if len(expression.terms) != 1:
        return expression.is_linear
    atom, _ = expression.terms[0]
    if type(atom) is str:
        return True
    divisor = _aligned_division(atom)
    return divisor is not None and unit % divisor == 0


def largest_tile(expression: Expression, bound: int) -> int | None:
    """The largest tile in elements whose reach is at most `bound`, for a tile that `monotone`
    allows; None if that has no closed form."""
    if len(expression.terms) != 1:
        return None
    atom, coefficient = expression.terms[0]
    steps = bound // abs(coefficient) + 1
    if type(atom) is str:
        return steps
    divisor = _aligned_division(atom)
    return None if divisor is None else steps * divisor


def _aligned_division(atom: object) -> int | None:
    """d, if the atom is floor(s/d)."""
    if isinstance(atom, Quotient):
        argument = atom.argument
        if argument.constant == 0 and len(argument.terms) == 1:
            inner, coefficient = argument.terms[0]
            if type(inner) is str and coefficient == 1:
                return atom.divisor
    return None


def _reach(expression: Expression, name: str, tile: int, domain: int) -> int:
    """The reach of an expression in one symbol over tiles of `tile`, the last one cut off at
    `domain`."""
    if tile == 1:
        return 0
    terms = expression.terms
    if len(terms) == 1:
        atom, coefficient = terms[0]
        if type(atom) is str:
            return abs(coefficient) * (min(tile, domain) - 1)
        divisor = _aligned_division(atom)
        if divisor is not None:
            return abs(coefficient) * _floor_reach(divisor, min(tile, domain), domain)
    return _joint_reach(expression, ((name, tile, domain),))


def _floor_reach(divisor: int, tile: int, domain: int) -> int:
    """Steps of floor(s / divisor) over the worst tile."""
    if tile >= domain:
        return (domain - 1) // divisor
    if tile % divisor == 0:
        return tile // divisor - 1
    if divisor % tile == 0:
        return 0
    step = gcd(tile, divisor)
    best = (divisor - step + tile - 1) // divisor  # the tile that starts just before a boundary
    whole, rest = divmod(domain, tile)
    if whole >= divisor // step:
        return best
    found = (whole * tile + max(rest, 1) - 1) // divisor - whole * tile // divisor
    for start in range(0, whole * tile, tile):
        found = max(found, (start + tile - 1) // divisor - start // divisor)
        if found == best:
            break
    return found


@lru_cache(maxsize=1 << 14)
def _joint_reach(expression: Expression, box: tuple[tuple[str, int, int], ...]) -> int:
    """The reach over the worst tile, by looking at every tile up to the period of the
    expression."""
    choices: list[list[tuple[str, int, int]]] = []
    count = 1
    for name, tile, domain in box:
        tile = min(tile, domain)
        period = _period(expression, name)
        starts = min(domain // tile, period // gcd(period, tile))
        whole = [(name, k * tile, tile) for k in range(min(starts, OFFSETS_LIMIT + 1))]
        if domain % tile:
            whole.append((name, domain - domain % tile, domain % tile))
        choices.append(whole)
        count *= len(whole)
    if count > OFFSETS_LIMIT:
        return value_range(expression, {name: domain for name, _, domain in box}).extent - 1
    found = 0
    for tiles in product(*choices):
        moved = expression.substitute({name: symbol(name) + start for name, start, _ in tiles})
        found = max(found, value_range(moved, {name: size for name, _, size in tiles}).extent - 1)
    return found


def _period(expression: Expression, name: str) -> int:
    """A number of steps of the symbol after which the expression repeats, but for a constant
    rise."""
    found = 1
    for atom, _ in expression.terms:
        if isinstance(atom, Quotient):
            found = lcm(found, _period(atom.argument, name) * atom.divisor)
        elif isinstance(atom, Remainder):
            found = lcm(found, _period(atom.argument, name) * atom.modulus)
    return found
