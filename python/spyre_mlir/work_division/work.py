# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What work division reads of one operation, and the spans that one core reaches under given
cuts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.quasiaffine import Expression, Quotient, symbol
from spyre_mlir.spans import Span
from spyre_mlir.value_ranges import ValueSet, value_range


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor: device sizes outer to inner (the last one the lanes of a stick), one coordinate
    per device dim over the iteration symbols, and the host index in elements."""

    device_size: tuple[int, ...]
    coordinates: tuple[Expression, ...]
    index: Expression


@dataclass(frozen=True, slots=True)
class Symbol:
    """An iteration symbol: its extent in elements (the largest one, if symbolic), and what may be
    done with it.

    Every extent that a symbolic dim takes is a multiple of its `granularity`, so only divisors of
    that cut it into equal shares (1: it stays whole; 0: it is not symbolic, or may be run over
    further than its extent, to whole shares). `masked`: a reduction
    over it masks cells, which one core has to do (see also `masked_symbols`)."""

    name: str
    extent: int
    granularity: int = 0
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """What the division of one operation depends on, so that equal operations are divided once.

    Symbols stand in iteration order, those of the output first. `matmul`: the operation multiplies
    matrices and its cost is known. `whole_contraction`: a stick of its weight holds pairs of the
    contracted dim (8-bit weights), so that dim stays on one core."""

    symbols: tuple[Symbol, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    matmul: bool = False
    whole_contraction: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All tensors, those read first."""
        return self.inputs + self.outputs


def work_of(
    kernel: Kernel,
    *,
    granularities: Mapping[str, int] | None = None,
    masked: Iterable[str] = (),
    whole_contraction: bool = False,
) -> Work:
    """The work of one operation. `granularities`: of symbolic dims, in elements, by symbol; what
    is not named may be cut as `Dim.granule` allows. `masked`: reductions that mask cells."""
    grains, extents = granularities or {}, kernel.extents
    names = frozenset(masked)

    def operand(access: Access) -> Operand:
        return Operand(access.layout.device_size, device_coordinates(access, extents), access.index)

    return Work(
        tuple(
            Symbol(
                dim.symbol,
                dim.extent,
                grains.get(dim.symbol, dim.granule),
                dim.symbol in names,
            )
            for dim in kernel.dims
        ),
        tuple(operand(access) for access in kernel.reads),
        tuple(operand(access) for access in kernel.writes),
        kernel.family == "contract",
        whole_contraction,
    )


Cuts = Mapping[str, int]
"""Symbol -> number of equal pieces; a symbol that is not named is whole."""


def stick_lanes(work: Work) -> dict[str, int]:
    """Symbol -> lanes, for symbols that run along a stick of some operand; of several operands the
    largest counts, so that a share is whole sticks of each."""
    lanes: dict[str, int] = {}
    for operand in work.operands:
        for name in operand.coordinates[-1].symbols():
            lanes[name] = max(lanes.get(name, 0), operand.device_size[-1])
    return lanes


def units(work: Work) -> dict[str, int]:
    """Symbol -> size in what is cut: whole sticks (rounded up) along a stick, else elements."""
    lanes = stick_lanes(work)
    return {s.name: -(-s.extent // lanes.get(s.name, 1)) for s in work.symbols}


def pieces(work: Work) -> dict[str, int]:
    """Symbol -> the number whose divisors are its allowed cuts: every share is then whole units."""
    lanes = stick_lanes(work)
    found = units(work)
    for s in work.symbols:
        if s.granularity:
            grain, rest = divmod(s.granularity, lanes.get(s.name, 1))
            found[s.name] = 1 if rest else gcd(found[s.name], grain)
    return found


def output_symbols(work: Work) -> frozenset[str]:
    """Symbols in an output's device coordinates, the stick left out: a dim of one stick is not
    among them."""
    return frozenset(n for out in work.outputs for c in out.coordinates[:-1] for n in c.symbols())


def reductions(work: Work) -> frozenset[str]:
    """Symbols that no output contains."""
    written = {n for out in work.outputs for c in out.coordinates for n in c.symbols()}
    return frozenset(s.name for s in work.symbols) - written


def masked_symbols(work: Work) -> frozenset[str]:
    """Reduction symbols whose last stick is partly padding, or that are said to be masked."""
    lanes, reduced = stick_lanes(work), reductions(work)
    return frozenset(
        s.name
        for s in work.symbols
        if s.name in reduced and (s.masked or s.extent % lanes.get(s.name, 1))
    )


def shares(work: Work, cuts: Cuts) -> dict[str, int]:
    """Symbol -> elements of one core; the last core's share may lie partly in the padding of the
    last stick."""
    lanes = stick_lanes(work)
    found = {}
    for s in work.symbols:
        lane, cut = lanes.get(s.name, 1), cuts.get(s.name, 1)
        found[s.name] = s.extent if cut == 1 else -(-s.extent // lane) // cut * lane
    return found


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    low = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return (*low, *(number // d for d in reversed(low) if d * d != number))


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most` (at least 1)."""
    return next(d for d in range(min(number, most), 0, -1) if number % d == 0)


def core_spans(
    operand: Operand, extents: Mapping[str, int], share: Mapping[str, int]
) -> tuple[Span, ...]:
    """The spans that the core reaching furthest has of an operand, device dims outer to inner.

    `extents` and `share` (of one core) are in elements, by symbol. Exact over all varying
    coordinates and all cores; where `exact` is false an extent is a bound from above."""
    found = []
    stride = STICK_BYTES
    for dim in range(len(operand.device_size) - 2, -1, -1):
        coordinate = operand.coordinates[dim]
        reach = core_range(coordinate, extents, share) if coordinate.terms else None
        if reach is not None and reach.extent > 1:
            found.append(
                Span(
                    device_dim=dim,
                    extent=reach.extent,
                    stride_bytes=stride,
                    bytes=reach.extent * stride,
                    symbols=coordinate.symbols(),
                    exact=reach.exact,
                )
            )
        stride *= operand.device_size[dim]
    return tuple(reversed(found))


def core_range(
    coordinate: Expression, extents: Mapping[str, int], share: Mapping[str, int]
) -> ValueSet:
    """The range of the coordinate on the core where it is widest."""
    names = coordinate.symbols()
    box = {name: min(share[name], extents[name]) for name in names}
    moving = [n for n in names if box[n] < extents[n] and _rise(coordinate, n, box[n]) is None]
    if not moving:  # all cores see the same, shifted: the first one stands for them
        return value_range(coordinate, box)
    ranges = []
    for at in product(*(range(0, extents[n], box[n]) for n in moving)):
        shifted = {n: symbol(n) + start for n, start in zip(moving, at, strict=True)}
        left = {n: min(box[n], extents[n] - s) for n, s in zip(moving, at, strict=True)}
        ranges.append(value_range(coordinate.substitute(shifted), box | left))
    return max(ranges, key=lambda found: found.extent)


def _rise(expression: Expression, name: str, step: int) -> int | None:
    """How much the value rises when the symbol rises by `step`, if that is the same everywhere,
    else None."""
    total = 0
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            total += coefficient * step if atom == name else 0
            continue
        inner = _rise(atom.argument, name, step)
        if inner is None:
            return None
        if isinstance(atom, Quotient):
            if inner % atom.divisor:
                return None
            total += coefficient * (inner // atom.divisor)
        elif inner % atom.modulus:
            return None
    return total
