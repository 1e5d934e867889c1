# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What work division reads of one operation, and the spans that one core reaches under given
cuts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd

from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.quasiaffine import Expr, Quotient, symbol, value_range


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of the operation: device sizes outer to inner (the last one the lanes of a stick),
    one coordinate per device dim over the iteration symbols, and the host index in elements."""

    label: str
    device_size: tuple[int, ...]
    coordinates: tuple[Expr, ...]
    index: Expr
    written: bool = False

    @property
    def element_bytes(self) -> int:
        """Device bytes of one element."""
        return STICK_BYTES // self.device_size[-1]


@dataclass(frozen=True, slots=True)
class Symbol:
    """An iteration symbol: its extent in elements (the largest one, if symbolic), and what may be
    done with it.

    `granularity`: a symbolic extent is a multiple of it, so only its divisors cut every extent into
    equal shares. `masked`: a reduction over it masks cells, which one core has to do (see also
    `masked_symbols`)."""

    name: str
    extent: int
    granularity: int | None = None
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """One operation to divide: symbols in iteration order (those of the output first), operands,
    the output last.

    `matmul`: the operation multiplies matrices and its cost is known. `whole_contraction`: its
    weight holds pairs of the contracted dim in one stick (8-bit weights), so that dim stays on one
    core."""

    symbols: tuple[Symbol, ...]
    operands: tuple[Operand, ...]
    matmul: bool = False
    whole_contraction: bool = False

    @property
    def output(self) -> Operand:
        """The tensor written."""
        return self.operands[-1]

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The tensors read."""
        return self.operands[:-1]


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
        if s.granularity is not None:
            grain, rest = divmod(s.granularity, lanes.get(s.name, 1))
            found[s.name] = 1 if rest else gcd(found[s.name], grain)
    return found


def output_symbols(work: Work) -> frozenset[str]:
    """Symbols in the output's device coordinates, the stick left out: a dim of one stick is not
    among them."""
    return frozenset(n for c in work.output.coordinates[:-1] for n in c.symbols())


def reductions(work: Work) -> frozenset[str]:
    """Symbols that the output does not contain."""
    written = {n for c in work.output.coordinates for n in c.symbols()}
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


@dataclass(frozen=True, slots=True)
class CoreSpan:
    """What one core reaches of an operand along one device dim: `bytes` = extent * bytes of one
    step."""

    operand: int
    device_dim: int
    extent: int
    step_bytes: int

    @property
    def bytes(self) -> int:
        """Bytes from the first to the last step, both included."""
        return self.extent * self.step_bytes


def core_spans(work: Work, cuts: Cuts, operand: int) -> Iterator[CoreSpan]:
    """The spans of one operand, device dims outer to inner without the stick, of the core that
    reaches furthest.

    Exact over all varying coordinates; where an extent cannot be computed exactly it is a bound
    from above."""
    tensor = work.operands[operand]
    share = shares(work, cuts)
    extents = {s.name: s.extent for s in work.symbols}
    step = STICK_BYTES
    found = []
    for dim in range(len(tensor.device_size) - 2, -1, -1):
        coordinate = tensor.coordinates[dim]
        if coordinate.terms:
            extent = core_extent(coordinate, extents, share)
            found.append(CoreSpan(operand, dim, extent, step))
        step *= tensor.device_size[dim]
    return reversed(found)


def widest(work: Work, cuts: Cuts, operand: int) -> CoreSpan | None:
    """The largest span of one operand (the outermost of equals), None if nothing varies."""
    return max(core_spans(work, cuts, operand), key=lambda span: span.bytes, default=None)


def core_extent(coordinate: Expr, extents: Mapping[str, int], share: Mapping[str, int]) -> int:
    """Largest number of values (largest - smallest + 1) that the coordinate takes on one core, over
    all cores."""
    names = coordinate.symbols()
    box = {name: min(share[name], extents[name]) for name in names}
    moving = [n for n in names if box[n] < extents[n] and _rise(coordinate, n, box[n]) is None]
    if not moving:  # all cores see the same, shifted: the first one stands for them
        return value_range(coordinate, box).extent
    most = 0
    starts = [range(0, extents[n], box[n]) for n in moving]
    for at in product(*starts):
        shifted = {n: symbol(n) + start for n, start in zip(moving, at, strict=True)}
        left = {n: min(box[n], extents[n] - s) for n, s in zip(moving, at, strict=True)}
        most = max(most, value_range(coordinate.substitute(shifted), box | left).extent)
    return most


def _rise(expression: Expr, name: str, step: int) -> int | None:
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
