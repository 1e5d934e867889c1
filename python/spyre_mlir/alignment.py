# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Alignment: iteration symbols and tensors of one operation brought to a common form.

The backend's dims have one extent, one name and one place per tensor, so before an SDSC is formed

1. symbols of extent 1 vanish, and so do device dims of size 1;
2. a symbol is cut at every boundary (divisor or modulus) that a coordinate of any tensor
   introduces, except a tensor's own stick size; then each coordinate outside the stick is one
   symbol plus a constant;
3. a coordinate that steps by more than 1, or stays constant in a dim of size above 1, leaves a
   *gap*: a dim of its own, read by a symbol of extent 1 (`z0`, `z1`, ... after all others);
4. all tensors get one rank: the largest, over tensors, of the number of dims, plus 1 where no
   coordinate outside the stick holds the tensor's stick symbol. Missing dims are outer dims of
   size 1 with coordinate 0;
5. a stick symbol found only in the stick takes the first dim of size 1, gap symbols the next ones.

Core splits are distributed over the pieces of a symbol by greatest common divisor, innermost first;
pieces that lie on a stick count in sticks. (Rules: observed output of the reference compiler; where
it was not observed to step by more than 1, the gap is our own choice.) Every rule keeps the device
offset of every iteration point; the tests enumerate it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.quasiaffine import Atom, Expression, Quotient


@dataclass(frozen=True, slots=True)
class Coordinate:
    """`constant + (symbol // divisor) mod modulus`.

    Without a symbol only the constant; without a modulus no mod."""

    symbol: str | None = None
    divisor: int = 1
    modulus: int | None = None
    constant: int = 0

    def at(self, point: Mapping[str, int]) -> int:
        """The value where the symbols have the values of `point`."""
        if self.symbol is None:
            return self.constant
        value = point[self.symbol] // self.divisor
        return self.constant + (value if self.modulus is None else value % self.modulus)

    def __str__(self) -> str:
        if self.symbol is None:
            return str(self.constant)
        text = self.symbol if self.divisor == 1 else f"floor({self.symbol}/{self.divisor})"
        text = text if self.modulus is None else f"Mod({text}, {self.modulus})"
        return text if self.constant == 0 else f"{text} + {self.constant}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """One iteration symbol: extent in elements, cores it is divided over, whether it is reduced.

    `origin` is the symbol it was cut from (its own name before alignment), None for the symbol of
    a gap."""

    name: str
    extent: int
    split: int = 1
    reduction: bool = False
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """`step * ((symbol // divisor) mod modulus)`, a summand of a coordinate before alignment."""

    symbol: str
    step: int = 1
    divisor: int = 1
    modulus: int | None = None

    def __str__(self) -> str:
        text = str(Coordinate(self.symbol, self.divisor, self.modulus))
        return text if self.step == 1 else f"{self.step}*{text}"


@dataclass(frozen=True, slots=True)
class TermSum:
    """A device coordinate before alignment: terms plus a constant."""

    terms: tuple[Term, ...] = ()
    constant: int = 0

    def __str__(self) -> str:
        parts = [str(t) for t in self.terms]
        return " + ".join([*parts, str(self.constant)] if self.constant or not parts else parts)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One operand before alignment: device size outer to inner (last the stick), coordinates."""

    device_size: tuple[int, ...]
    coordinates: tuple[TermSum, ...]

    @property
    def lanes(self) -> int:
        """Elements per stick."""
        return self.device_size[-1]


@dataclass(frozen=True, slots=True)
class AlignedTensor:
    """One operand after alignment.

    `coordinates[-1]` is `Mod(symbol, lanes)`, or 0 where the stick holds one value."""

    device_size: tuple[int, ...]
    coordinates: tuple[Coordinate, ...]

    @property
    def lanes(self) -> int:
        """Elements per stick."""
        return self.device_size[-1]

    @property
    def stick_symbol(self) -> str | None:
        """The symbol that runs through the lanes of the stick."""
        return self.coordinates[-1].symbol


@dataclass(frozen=True, slots=True)
class Aligned:
    """One operation after alignment: symbols in iteration order, operands in the order given."""

    symbols: tuple[Symbol, ...]
    tensors: tuple[AlignedTensor, ...]


def term_sum(expression: Expression) -> TermSum:
    """A device coordinate as a sum of terms in one symbol each.

    Raises SPY090 for what is none: a division or remainder of a sum of symbols, or one whose
    divisors do not divide each other."""
    constant, terms = expression.constant, []
    for atom, coefficient in expression.terms:
        term, rest = _term(atom)
        terms.append(term if coefficient == 1 else replace(term, step=term.step * coefficient))
        constant += rest * coefficient
    return TermSum(tuple(terms), constant)


def _term(atom: Atom) -> tuple[Term, int]:
    """The atom as a term plus a constant from 0 to below the term's step."""
    if isinstance(atom, str):
        return Term(atom), 0
    inner = term_sum(atom.argument)
    term, rest = inner.terms[0] if len(inner.terms) == 1 else None, inner.constant
    by = atom.divisor if isinstance(atom, Quotient) else atom.modulus
    if term is None or not 0 <= rest < term.step or by % term.step:
        raise Refusal("SPY090", f"device coordinate {atom} does not follow one symbol")
    times = by // term.step
    whole = term.modulus is None or term.modulus % times == 0
    if isinstance(atom, Quotient) and whole:
        modulus = None if term.modulus is None else term.modulus // times
        return Term(term.symbol, 1, term.divisor * times, modulus), 0
    if not isinstance(atom, Quotient) and (whole or times >= (term.modulus or 0)):
        return replace(term, modulus=times if whole else term.modulus), rest
    raise Refusal("SPY090", f"device coordinate {atom} wraps where its divisor does not divide")


def aligned_tensor(device_size: Sequence[int], coordinates: Sequence[Expression]) -> AlignedTensor:
    """A tensor that is aligned already: each coordinate one symbol plus a constant.

    Raises SPY090 for a coordinate that is not."""
    read = []
    for expression in coordinates:
        found = term_sum(expression)
        if len(found.terms) > 1 or any(t.step != 1 for t in found.terms):
            raise Refusal("SPY090", f"device coordinate {expression} is not aligned")
        term = found.terms[0] if found.terms else Term("")
        read.append(Coordinate(term.symbol or None, term.divisor, term.modulus, found.constant))
    return AlignedTensor(tuple(device_size), tuple(read))


def align(symbols: Sequence[Symbol], tensors: Sequence[Tensor]) -> Aligned:
    """Brings `symbols` (output symbols, then reduction symbols) and `tensors` to the common form.

    Raises SPY090 where a stick holds anything but consecutive elements of one symbol or a dim is
    read on a diagonal, SPY091 where a boundary does not divide what it cuts, SPY092 where a core
    split does not fit the pieces."""
    live = tuple(s for s in symbols if s.extent > 1)
    extents = {s.name: s.extent for s in live}
    trimmed = tuple(_trimmed(tensor, extents) for tensor in tensors)
    pieces = _cut(live, _boundaries(trimmed, extents))
    cut = tuple(_in_pieces(tensor, pieces) for tensor in trimmed)
    nested = tuple((_nested(tensor), tensor.stick) for tensor in cut)
    gaps = max((sum(d.gap for d in dims) for dims, _ in nested), default=0)
    rank = max((_rank(dims, stick, gaps) for dims, stick in nested), default=1)
    placed = tuple(_placed(dims, stick, rank, gaps) for dims, stick in nested)
    return Aligned(_symbols(live, pieces, _widest_sticks(placed), gaps), placed)


# --- rule 1: what does not move vanishes --------------------------------------------------------


def _trimmed(tensor: Tensor, extents: Mapping[str, int]) -> Tensor:
    return Tensor(tensor.device_size, tuple(_moving(c, extents) for c in tensor.coordinates))


def _moving(coordinate: TermSum, extents: Mapping[str, int]) -> TermSum:
    if not coordinate.terms:
        return coordinate
    terms = tuple(t for term in coordinate.terms if (t := _effective(term, extents)))
    return TermSum(terms, coordinate.constant)


def _effective(term: Term, extents: Mapping[str, int]) -> Term | None:
    """The term without a modulus that never wraps; None where it never leaves 0."""
    largest = (extents.get(term.symbol, 1) - 1) // term.divisor
    if largest == 0 or term.modulus == 1:
        return None
    return replace(term, modulus=None) if term.modulus and largest < term.modulus else term


# --- rule 2: symbols are cut at the boundaries --------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a symbol between two boundaries: `(symbol // base) mod extent`."""

    name: str
    base: int
    extent: int


def _boundaries(
    tensors: Sequence[Tensor], extents: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {name: set() for name in extents}
    for tensor in tensors:
        stick = _stick_term(tensor, extents)
        if stick is not None and stick.modulus not in (None, tensor.lanes):
            found[stick.symbol].add(stick.modulus or 1)
        for coordinate in tensor.coordinates[:-1]:
            for term in coordinate.terms:
                own = stick is not None and (term.symbol, term.divisor) == (
                    stick.symbol,
                    tensor.lanes,
                )
                if not own:
                    found[term.symbol].add(term.divisor)
                if term.modulus is not None:
                    found[term.symbol].add(term.divisor * term.modulus)
    return {n: tuple(sorted(b for b in bs if 1 < b < extents[n])) for n, bs in found.items()}


def _stick_term(tensor: Tensor, extents: Mapping[str, int]) -> Term | None:
    stick = tensor.coordinates[-1]
    if stick.constant == 0 and not stick.terms:
        return None
    term = stick.terms[0] if len(stick.terms) == 1 else None
    if stick.constant or term is None or term.step != 1 or term.divisor != 1:
        raise Refusal(
            "SPY090",
            f"the stick is read at {stick}; it has to be read from lane 0, along one symbol",
            remedy="copy the operand into a layout whose sticks start where the operation starts",
        )
    if (term.modulus or extents[term.symbol]) > tensor.lanes:
        raise Refusal("SPY090", f"the stick is read at {stick}, beyond its {tensor.lanes} lanes")
    return term


def _cut(
    symbols: Sequence[Symbol], boundaries: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[_Piece, ...]]:
    """The pieces of each symbol, inner to outer; named `c0`, `c1`, ... from outer to inner."""
    pieces: dict[str, tuple[_Piece, ...]] = {}
    count = 0
    for symbol in symbols:
        bounds = (1, *boundaries[symbol.name], symbol.extent)
        for inner, outer in pairwise(bounds):
            if outer % inner:
                raise Refusal(
                    "SPY091",
                    f"iteration symbol {symbol.name} of extent {symbol.extent} is cut at {inner}, "
                    f"which does not divide {outer}",
                )
        last = count + len(bounds) - 2
        pieces[symbol.name] = tuple(
            _Piece(f"c{last - i}", inner, outer // inner)
            for i, (inner, outer) in enumerate(pairwise(bounds))
        )
        count = last + 1
    return pieces


@dataclass(frozen=True, slots=True)
class _Step:
    """A summand over pieces: `step * coordinate`, of which the coordinate takes `extent` values."""

    step: int
    coordinate: Coordinate
    extent: int


@dataclass(frozen=True, slots=True)
class _Stick:
    """Lanes of one tensor and the symbol that runs through them (None: one value, in lane 0)."""

    lanes: int
    symbol: str | None


@dataclass(frozen=True, slots=True)
class _CutTensor:
    sizes: tuple[int, ...]
    steps: tuple[tuple[_Step, ...], ...]
    constants: tuple[int, ...]
    stick: _Stick


def _in_pieces(tensor: Tensor, pieces: Mapping[str, tuple[_Piece, ...]]) -> _CutTensor:
    outer = tensor.coordinates[:-1]
    return _CutTensor(
        tensor.device_size[:-1],
        tuple(tuple(s for t in c.terms for s in _steps(t, pieces[t.symbol])) for c in outer),
        tuple(c.constant for c in outer),
        _Stick(tensor.lanes, _stick_piece(tensor, pieces)),
    )


def _steps(term: Term, pieces: Sequence[_Piece]) -> list[_Step]:
    end = None if term.modulus is None else term.divisor * term.modulus
    steps = []
    for piece in pieces:
        if piece.base * piece.extent <= term.divisor or (end is not None and piece.base >= end):
            continue
        if piece.base >= term.divisor:
            if piece.base % term.divisor:
                raise Refusal("SPY091", f"{term} and a boundary at {piece.base} do not divide")
            step = term.step * (piece.base // term.divisor)
            steps.append(_Step(step, Coordinate(piece.name), piece.extent))
        else:  # only a tensor's own stick size lies within a piece, and only within the innermost
            count = -(-piece.extent // term.divisor)
            steps.append(_Step(term.step, Coordinate(piece.name, term.divisor), count))
    return steps


def _stick_piece(tensor: Tensor, pieces: Mapping[str, tuple[_Piece, ...]]) -> str | None:
    stick = tensor.coordinates[-1]
    if not stick.terms:
        return None
    term, lanes = stick.terms[0], tensor.lanes
    inner, *rest = pieces[term.symbol]
    if rest and (
        inner.extent < (term.modulus or lanes) or (inner.extent > lanes and inner.extent % lanes)
    ):
        raise Refusal(
            "SPY090",
            f"symbol {term.symbol} is cut at {inner.extent}, within a stick of {lanes} lanes",
            remedy="give the operands layouts whose sticks hold the same elements",
        )
    return inner.name


# --- rule 3: one symbol per dim -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dim:
    """A device dim with one symbol, or a gap: there the coordinate stays at its constant."""

    size: int
    coordinate: Coordinate

    @property
    def gap(self) -> bool:
        return self.coordinate.symbol is None


def _nested(tensor: _CutTensor) -> list[_Dim]:
    """The dims outside the stick, each with one symbol at most and none of size 1."""
    dims: list[_Dim] = []
    for size, steps, constant in zip(tensor.sizes, tensor.steps, tensor.constants, strict=True):
        dims += _nest(size, steps, constant, outermost=not dims)
    return dims


def _nest(size: int, steps: Sequence[_Step], constant: int, *, outermost: bool) -> list[_Dim]:
    if not steps:
        return [_Dim(size, Coordinate(constant=constant))] if size > 1 else []
    dims: list[_Dim] = []
    width = size
    if constant < 0:
        raise Refusal(
            "SPY090", f"a device dim of size {size} is read before its start, at {constant}"
        )
    for part in sorted(steps, key=lambda s: -s.step):
        inside, left = divmod(width, part.step)
        if left and not (outermost and not dims):
            raise Refusal(
                "SPY091",
                f"a device dim of size {width} is read in steps of {part.step}, no divisor of it",
            )
        first, constant = divmod(constant, part.step)
        if dims and first + part.extent > inside:
            raise Refusal(
                "SPY090", f"two symbols step together through one device dim of size {size}"
            )
        at = replace(part.coordinate, constant=first) if first else part.coordinate
        dims.append(_Dim(inside + (left > 0), at))
        width = part.step
    if width > 1:
        dims.append(_Dim(width, Coordinate(constant=constant)))
    return dims


# --- rules 4 and 5: one rank, and a dim for each stick symbol and each gap ----------------------


def _rank(dims: Sequence[_Dim], stick: _Stick, gaps: int) -> int:
    """Device dims that a tensor needs: its own, the stick, one for its tiles, and one for each gap of others."""
    return len(dims) + 1 + _lacks_tiles(dims, stick) + gaps - sum(dim.gap for dim in dims)


def _lacks_tiles(dims: Sequence[_Dim], stick: _Stick) -> bool:
    return stick.symbol is None or all(d.coordinate.symbol != stick.symbol for d in dims)


def _placed(dims: Sequence[_Dim], stick: _Stick, rank: int, gaps: int) -> AlignedTensor:
    own = iter(range(gaps))
    coordinates = [
        replace(d.coordinate, symbol=f"z{next(own)}") if d.gap else d.coordinate for d in dims
    ]
    missing = [Coordinate()] * (rank - 1 - len(dims))
    takers = [Coordinate(f"z{i}") for i in own]
    if stick.symbol is not None and _lacks_tiles(dims, stick):
        takers.insert(0, Coordinate(stick.symbol, stick.lanes))
    outer = [*takers, *missing][: len(missing)]
    sizes = [1] * len(missing) + [d.size for d in dims]
    lane = Coordinate() if stick.symbol is None else Coordinate(stick.symbol, 1, stick.lanes)
    return AlignedTensor((*sizes, stick.lanes), (*outer, *coordinates, lane))


def _widest_sticks(tensors: Sequence[AlignedTensor]) -> dict[str, int]:
    """Per symbol on a stick, the elements of the largest stick that it runs through."""
    widest: dict[str, int] = {}
    for tensor in tensors:
        if tensor.stick_symbol is not None:
            widest[tensor.stick_symbol] = max(widest.get(tensor.stick_symbol, 1), tensor.lanes)
    return widest


def _symbols(
    symbols: Sequence[Symbol],
    pieces: Mapping[str, tuple[_Piece, ...]],
    lanes: Mapping[str, int],
    gaps: int,
) -> tuple[Symbol, ...]:
    result: list[Symbol] = []
    for symbol in symbols:
        left = symbol.split
        parts: list[Symbol] = []
        for piece in pieces[symbol.name]:
            units = -(-piece.extent // lanes.get(piece.name, 1))
            split = gcd(left, units)
            left //= split
            parts.append(Symbol(piece.name, piece.extent, split, symbol.reduction, symbol.name))
        if left > 1:
            raise Refusal(
                "SPY092",
                f"iteration symbol {symbol.name} of extent {symbol.extent} cannot be divided over "
                f"{symbol.split} cores in whole sticks",
            )
        result += reversed(parts)
    return (*result, *(Symbol(f"z{i}", 1) for i in range(gaps)))
