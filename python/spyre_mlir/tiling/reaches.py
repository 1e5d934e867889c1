# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reaches: how far a coordinate moves over the worst tile of a loop.

A tile starts at a multiple of its size, and how far a division or a remainder moves depends on where
it starts. One division, or one digit, of a linear index has a closed form: the tile that starts with
the largest residue reaches furthest. What mixes several of them is looked at start by start, within
a budget, and bounded from above beyond it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, lcm

from spyre_mlir.quasiaffine import Atom, Expression, Quotient, Remainder, symbol
from spyre_mlir.value_ranges import largest_residue, period, summed_step, value_range

STARTS_LIMIT = 256
"""Starts of tiles that are looked at before a reach is bounded from above instead."""

Box = tuple[tuple[str, int, int], ...]
"""(symbol, elements of its tile, elements of its domain) of each symbol of an expression."""


@dataclass(frozen=True, slots=True)
class Summand:
    """A part of a coordinate that shares no symbol with the rest of it."""

    symbols: tuple[str, ...]
    expression: Expression

    def reach(self, tiles: Mapping[str, int], domains: Mapping[str, int]) -> int:
        """Largest - smallest value over the worst tile; sizes of tiles and of the whole domain in
        elements.

        Never less than the truth; equal to it where the module says that it is exact."""
        terms = self.expression.terms
        if len(self.symbols) == 1:
            name = self.symbols[0]
            tile, domain = tiles[name], domains[name]
            if tile == 1:
                return 0
            if len(terms) == 1:
                atom, coefficient = terms[0]
                if type(atom) is str:
                    return abs(coefficient) * (min(tile, domain) - 1)
            return _reach(self.expression, ((name, tile, domain),))
        return _reach(self.expression, tuple([(n, tiles[n], domains[n]) for n in self.symbols]))


@lru_cache(maxsize=1 << 14)
def summands(expression: Expression) -> tuple[Summand, ...]:
    """The expression without its constant, in parts that share no symbol."""
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


@lru_cache(maxsize=1 << 14)
def alignment(expression: Expression, name: str) -> int:
    """The elements after which the expression repeats along a symbol, but for a constant rise:
    tiles that are multiples of it all see the same."""
    return period(expression, name)[0]


def largest_tile(expression: Expression, bound: int) -> int | None:
    """The largest tile in elements that reaches at most `bound` from its start, for an expression in
    one symbol; None where that has no closed form."""
    if len(expression.terms) != 1:
        return None
    atom, coefficient = expression.terms[0]
    steps = bound // abs(coefficient)
    if type(atom) is str:
        return steps + 1
    digit = _digit(atom)
    if digit is None or digit.count:
        return None
    (_, rise), first = digit.linear[0], digit.constant % digit.step
    return ((steps + 1) * digit.step - 1 - first) // rise + 1


@dataclass(frozen=True, slots=True)
class _Digit:
    """floor((sum of coefficient * symbol + constant) / step), and of that mod `count` if that is not
    0. Coefficients are positive."""

    linear: tuple[tuple[str, int], ...]
    constant: int
    step: int
    count: int


@lru_cache(maxsize=1 << 12)
def _digit(atom: Atom) -> _Digit | None:
    """The atom as a digit; None if it is none."""
    step, count, argument = 1, 0, None
    if isinstance(atom, Remainder):
        argument, count = atom.argument, atom.modulus
    elif isinstance(atom, Quotient):
        argument, step = atom.argument, atom.divisor
        if not argument.constant and len(argument.terms) == 1 and argument.terms[0][1] == 1:
            inner = argument.terms[0][0]
            if isinstance(inner, Remainder) and inner.modulus % step == 0:
                argument, count = inner.argument, inner.modulus // step
    if argument is None or any(type(a) is not str or c < 1 for a, c in argument.terms):
        return None
    linear = tuple((str(a), c) for a, c in argument.terms)
    return _Digit(linear, argument.constant, step, count)


@lru_cache(maxsize=1 << 15)
def _reach(expression: Expression, box: Box) -> int:
    terms = expression.terms
    if len(terms) == 1:
        digit = _digit(terms[0][0])
        found = None if digit is None else _digit_reach(digit, box)
        if found is not None:
            return abs(terms[0][1]) * found
    return _reach_by_starts(expression, box)


def _digit_reach(digit: _Digit, box: Box) -> int | None:
    """Steps of a digit over the worst tile; None where it wraps and skips values on its way."""
    coefficients = dict(digit.linear)
    kinds = []
    for name, tile, domain in box:
        whole, rest = divmod(domain, tile) if tile < domain else (1, 0)
        size = min(tile, domain)
        kinds.append([(name, 0, whole, size)] + ([(name, whole * size, 1, rest)] if rest else []))
    worst = 0
    for tiles in product(*kinds):
        first, along, moves, reached = digit.constant, 0, [], []
        for name, start, starts, size in tiles:
            rise = coefficients[name]
            first += rise * start
            along += rise * (size - 1)
            if size > 1:
                reached.append((rise, rise * (size - 1)))
            if starts > 1:
                moves.append((rise * size, starts))
        if digit.count:
            whole = digit.step * digit.count
            if (_residue(first, moves, whole, along) + along) // whole:
                step = summed_step(reached)
                # Of steps no longer than the digit's, some fall just before the wrap and behind it.
                return digit.count - 1 if 0 < step <= digit.step else None
        worst = max(worst, (_residue(first, moves, digit.step, along) + along) // digit.step)
    return worst


def _residue(first: int, moves: list[tuple[int, int]], modulus: int, along: int) -> int:
    """The largest residue of first + sum of step * k over 0 <= k < starts of each (step, starts).

    Of several moves the shorter ones are gone through within a budget; beyond it, or where that
    changes nothing for a tile that goes on by `along`, a bound from above is taken."""
    moves = [(step % modulus, starts) for step, starts in moves if step % modulus]
    if not moves:
        return first % modulus
    if len(moves) == 1:
        return largest_residue(moves[0][1], moves[0][0], first, modulus)
    shared = gcd(modulus, *(step for step, _ in moves))
    bound = modulus - shared + first % shared
    moves.sort(key=lambda move: -move[1])
    (step, starts), others = moves[0], moves[1:]
    found = largest_residue(starts, step, first, modulus)
    if (found + along) // modulus == (bound + along) // modulus:
        return bound
    count = 1
    for _, other in others:
        count *= other
    if count > STARTS_LIMIT:
        return bound
    for point in product(*(range(other) for _, other in others)):
        start = first + sum([s * k for (s, _), k in zip(others, point, strict=True)])
        found = max(found, largest_residue(starts, step, start, modulus))
    return found


def _reach_by_starts(expression: Expression, box: Box) -> int:
    """The reach over the worst tile, from every start up to the period of the expression."""
    choices: list[list[tuple[str, int, int]]] = []
    count = 1
    for name, tile, domain in box:
        tile = min(tile, domain)
        repeats = alignment(expression, name)
        starts = min(domain // tile, lcm(repeats, tile) // tile)
        whole = [(name, k * tile, tile) for k in range(min(starts, STARTS_LIMIT + 1))]
        if domain % tile:
            whole.append((name, domain - domain % tile, domain % tile))
        choices.append(whole)
        count *= len(whole)
    if count > STARTS_LIMIT:
        return _bound(expression, box)
    found = 0
    for tiles in product(*choices):
        moved = expression.substitute({name: symbol(name) + start for name, start, _ in tiles})
        found = max(found, value_range(moved, {name: size for name, _, size in tiles}).extent - 1)
    return found


def _bound(expression: Expression, box: Box) -> int:
    """A reach that no tile exceeds: that of the whole domain, or of every term for itself."""
    whole = value_range(expression, {name: domain for name, _, domain in box}).extent - 1
    total = 0
    for atom, coefficient in expression.terms:
        part = Expression(0, ((atom, 1),))
        names = part.symbols()
        if len(expression.terms) == 1:
            return whole
        total += abs(coefficient) * _reach(part, tuple([side for side in box if side[0] in names]))
    return min(whole, total)
