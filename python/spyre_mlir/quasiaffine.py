# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer quasi-affine expressions over iteration symbols: sums of symbols, floor divisions and remainders.

    floor(c2/64) + 2*Mod(c1, 8) + 3

`Expr` is immutable, hashable and in normal form: like terms merged, terms in the order of their text, multiples of a
divisor taken out of a division. Everything is int; nothing here rounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd

Atom = "str | Quotient | Remainder"


@dataclass(frozen=True, slots=True)
class Quotient:
    """floor(argument / divisor), the divisor at least 2."""

    argument: Expr
    divisor: int

    def __str__(self) -> str:
        text = str(self.argument)
        return f"floor({text if self.argument.is_simple else f'({text})'}/{self.divisor})"


@dataclass(frozen=True, slots=True)
class Remainder:
    """argument mod modulus, in [0, modulus)."""

    argument: Expr
    modulus: int

    def __str__(self) -> str:
        return f"Mod({self.argument}, {self.modulus})"


@dataclass(frozen=True, slots=True)
class Expr:
    """constant + sum of coefficient * atom. Build with `constant`, `symbol`, the operators, `floordiv` and `mod`."""

    constant: int = 0
    terms: tuple[tuple[str | Quotient | Remainder, int], ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def is_simple(self) -> bool:
        """Whether the text needs no parentheses inside a division."""
        return not self.terms or (self.constant == 0 and len(self.terms) == 1)

    def __add__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            return Expr(self.constant + other, self.terms)
        merged = dict(self.terms)
        for atom, coefficient in other.terms:
            merged[atom] = merged.get(atom, 0) + coefficient
        return _normal(self.constant + other.constant, merged)

    def __mul__(self, factor: int) -> Expr:
        if factor == 0:
            return ZERO
        return Expr(self.constant * factor, tuple((a, c * factor) for a, c in self.terms))

    def __sub__(self, other: Expr | int) -> Expr:
        return self + (-other if isinstance(other, int) else other * -1)

    def floordiv(self, divisor: int) -> Expr:
        """floor(self / divisor); the divisor is at least 1."""
        whole, rest = self._split(divisor)
        if rest.is_constant:
            return whole  # rest lies in [0, divisor)
        shared = gcd(divisor, *(c for _, c in rest.terms))
        if shared > 1:
            reduced = tuple((a, c // shared) for a, c in rest.terms)
            return whole + Expr(rest.constant // shared, reduced).floordiv(divisor // shared)
        atom, coefficient = rest.terms[0]
        if isinstance(atom, Quotient) and coefficient == 1 and len(rest.terms) == 1:
            inner = atom.argument + rest.constant * atom.divisor
            return whole + inner.floordiv(atom.divisor * divisor)
        return whole + Expr(0, ((Quotient(rest, divisor), 1),))

    def mod(self, modulus: int) -> Expr:
        """self mod modulus; the modulus is at least 1."""
        _, rest = self._split(modulus)
        if rest.is_constant:
            return Expr(rest.constant)
        return Expr(0, ((Remainder(rest, modulus), 1),))

    def _split(self, divisor: int) -> tuple[Expr, Expr]:
        """(q, r) with self = divisor * q + r; r keeps no whole multiple of the divisor."""
        whole = tuple((a, c // divisor) for a, c in self.terms if c % divisor == 0)
        rest = tuple((a, c) for a, c in self.terms if c % divisor)
        return Expr(self.constant // divisor, whole), Expr(self.constant % divisor, rest)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where the symbols have these values. KeyError for a symbol without one."""
        total = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                total += coefficient * values[atom]
            elif isinstance(atom, Quotient):
                total += coefficient * (atom.argument.evaluate(values) // atom.divisor)
            else:
                total += coefficient * (atom.argument.evaluate(values) % atom.modulus)
        return total

    def substitute(self, values: Mapping[str, Expr]) -> Expr:
        """Symbols replaced by expressions; others stay."""
        total = Expr(self.constant)
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                new = values.get(atom, Expr(0, ((atom, 1),)))
            elif isinstance(atom, Quotient):
                new = atom.argument.substitute(values).floordiv(atom.divisor)
            else:
                new = atom.argument.substitute(values).mod(atom.modulus)
            total = total + new * coefficient
        return total

    def symbols(self) -> tuple[str, ...]:
        """The symbols in it, sorted."""
        return _symbols(self)

    def __str__(self) -> str:
        text = ""
        for atom, coefficient in self.terms:
            size = "" if abs(coefficient) == 1 else f"{abs(coefficient)}*"
            sign = "-" if coefficient < 0 else "+"
            text += (f" {sign} " if text else sign.replace("+", "")) + f"{size}{atom}"
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text


def _normal(constant: int, merged: Mapping[str | Quotient | Remainder, int]) -> Expr:
    kept = [(atom, coefficient) for atom, coefficient in merged.items() if coefficient]
    if len(kept) > 1:
        kept.sort(key=lambda term: str(term[0]))
    return Expr(constant, tuple(kept))


ZERO = Expr()


def constant(value: int) -> Expr:
    """A literal."""
    return Expr(value)


def symbol(name: str) -> Expr:
    """An iteration symbol."""
    return Expr(0, ((name, 1),))


@lru_cache(maxsize=65536)
def _symbols(expression: Expr) -> tuple[str, ...]:
    names: set[str] = set()
    for atom, _ in expression.terms:
        names.update((atom,) if isinstance(atom, str) else atom.argument.symbols())
    return tuple(sorted(names))


@dataclass(frozen=True, slots=True)
class Range:
    """Smallest and largest value; both attained if `exact`, else an outer bound."""

    low: int
    high: int
    exact: bool = True

    @property
    def extent(self) -> int:
        """high - low + 1."""
        return self.high - self.low + 1


ENUMERATION_LIMIT = 1 << 16
"""Points that `value_range` may look at for terms that share symbols; beyond it the range is an outer bound."""


def value_range(expression: Expr, extents: Mapping[str, int]) -> Range:
    """The range over the box 0 <= s < extents[s]; every extent is at least 1.

    Exact where no symbol stands in two terms and remainders run over whole progressions, and else by looking at one
    period of each symbol, up to ENUMERATION_LIMIT points. KeyError for a symbol without an extent."""
    low = high = expression.constant
    exact = True
    for terms in _independent(expression.terms):
        found = _single(*terms[0], extents) if len(terms) == 1 else None
        found = found or _joint(terms, extents)
        low, high, exact = low + found.low, high + found.high, exact and found.exact
    return Range(low, high, exact)


_Terms = tuple[tuple[str | Quotient | Remainder, int], ...]


def _independent(terms: _Terms) -> list[_Terms]:
    """The terms in groups that share no symbol with each other."""
    if len(terms) == 1:
        return [terms]
    groups: list[tuple[set[str], _Terms]] = []
    for term in terms:
        names = {term[0]} if isinstance(term[0], str) else set(term[0].argument.symbols())
        joined: _Terms = (term,)
        apart = []
        for other, members in groups:
            if other & names:
                names |= other
                joined = members + joined
            else:
                apart.append((other, members))
        groups = [*apart, (names, joined)]
    return [members for _, members in groups]


def _single(
    atom: str | Quotient | Remainder, coefficient: int, extents: Mapping[str, int]
) -> Range | None:
    """The exact range of coefficient * atom, or None where it takes a look at the points."""
    if isinstance(atom, str):
        low, high = 0, extents[atom] - 1
    elif isinstance(atom, Quotient):
        inner = value_range(atom.argument, extents)
        if not inner.exact:
            return None
        low, high = inner.low // atom.divisor, inner.high // atom.divisor
    else:
        wrapped = _wrapped(atom, extents)
        if wrapped is None:
            return None
        low, high = wrapped
    if coefficient < 0:
        low, high = high, low
    return Range(low * coefficient, high * coefficient)


def _wrapped(atom: Remainder, extents: Mapping[str, int]) -> tuple[int, int] | None:
    inner = value_range(atom.argument, extents)
    if inner.exact and inner.low // atom.modulus == inner.high // atom.modulus:
        return inner.low % atom.modulus, inner.high % atom.modulus
    step = _progression(atom.argument, extents)
    if step is None:
        return None
    shared = gcd(step, atom.modulus)
    if (inner.high - inner.low) // step + 1 < atom.modulus // shared:
        return None  # not every residue is reached
    first = inner.low % shared
    return first, atom.modulus - shared + first


def _progression(expression: Expr, extents: Mapping[str, int]) -> int | None:
    """The step, if the values of a linear expression are an arithmetic progression without holes."""
    linear = [(abs(c), extents[a]) for a, c in expression.terms if isinstance(a, str)]
    if len(linear) != len(expression.terms):
        return None
    linear = sorted((c, extent) for c, extent in linear if extent > 1)
    if not linear:
        return None
    step = linear[0][0]
    reach = 0
    for coefficient, extent in linear:
        if coefficient % step or coefficient > reach + step:
            return None
        reach += coefficient * (extent - 1)
    return step


def _period(expression: Expr, name: str) -> tuple[int, int]:
    """(p, a) with expression(s + p) = expression(s) + a for every value of the symbols."""
    period, slopes = 1, []
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            inner_period, slope = 1, int(atom == name)
        else:
            inner_period, inner_slope = _period(atom.argument, name)
            divisor = atom.divisor if isinstance(atom, Quotient) else atom.modulus
            times = divisor // gcd(inner_slope, divisor) if inner_slope else 1
            inner_period *= times
            slope = times * inner_slope // divisor if isinstance(atom, Quotient) else 0
        slopes.append((inner_period, slope * coefficient))
        period = period * inner_period // gcd(period, inner_period)
    return period, sum(slope * (period // p) for p, slope in slopes)


def _joint(terms: _Terms, extents: Mapping[str, int]) -> Range:
    """The range of terms that share symbols.

    Along one symbol the sum repeats with a fixed rise per period, so its extremes lie in the first or the last one."""
    expression = Expr(0, terms)
    names = expression.symbols()
    points = []
    total = 1
    for name in names:
        extent, (period, _) = extents[name], _period(expression, name)
        whole = extent <= 2 * period
        points.append(
            range(extent) if whole else (*range(period), *range(extent - period, extent))
        )
        total *= len(points[-1]) if total <= ENUMERATION_LIMIT else 1
    if total > ENUMERATION_LIMIT:
        return _bound(terms, extents)
    values = [expression.evaluate(dict(zip(names, at, strict=True))) for at in product(*points)]
    return Range(min(values), max(values))


def _bound(terms: _Terms, extents: Mapping[str, int]) -> Range:
    """An outer bound: every term for itself."""
    low = high = 0
    for atom, coefficient in terms:
        if isinstance(atom, Remainder):
            ends = (0, atom.modulus - 1)
        elif isinstance(atom, Quotient):
            inner = value_range(atom.argument, extents)
            ends = (inner.low // atom.divisor, inner.high // atom.divisor)
        else:
            ends = (0, extents[atom] - 1)
        low += min(coefficient * end for end in ends)
        high += max(coefficient * end for end in ends)
    return Range(low, high, exact=False)


_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|//|[-+*/(),])")


def parse(text: str) -> Expr:
    """Reads `floor(a/64)`, `a//64`, `Mod(a, 64)`, `ModularIndexing(a, b, c)`, `FloorDiv(a, b)`, + - * and parentheses.

    A division `/` must stand directly under `floor`. ValueError where the text is something else."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != "".join(text.split()):
        raise ValueError(f"not a quasi-affine expression: {text!r}")
    reader = _Reader(tokens)
    value, divisor = reader.sum()
    if divisor != 1 or reader.tokens:
        raise ValueError(f"not a quasi-affine expression: {text!r}")
    return value


class _Reader:
    """Recursive descent; a value is a numerator and a divisor that `floor` is still to take away."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def take(self, *expected: str) -> str | None:
        if self.tokens and (not expected or self.tokens[0] in expected):
            return self.tokens.pop(0)
        return None

    def sum(self) -> tuple[Expr, int]:
        value, divisor = self.product()
        while operator := self.take("+", "-"):
            other, by = self.product()
            common = divisor * by // gcd(divisor, by)
            value = value * (common // divisor)
            other = other * (common // by)
            value, divisor = (value + other if operator == "+" else value - other), common
        return value, divisor

    def product(self) -> tuple[Expr, int]:
        value, divisor = self.unit()
        while operator := self.take("*", "/", "//"):
            other, by = self.unit()
            if operator == "*":
                if not other.is_constant:
                    value, other = other, value
                if not other.is_constant:
                    raise ValueError("a product of two symbols is not quasi-affine")
                value, divisor = value * other.constant, divisor * by
            elif not other.is_constant or other.constant < 1 or by != 1:
                raise ValueError("a divisor is a positive literal")
            elif operator == "/":
                divisor *= other.constant
            else:
                value, divisor = value.floordiv(divisor * other.constant), 1
        shared = gcd(divisor, value.constant, *(c for _, c in value.terms))
        return Expr(value.constant // shared, tuple((a, c // shared) for a, c in value.terms)), (
            divisor // shared
        )

    def unit(self) -> tuple[Expr, int]:
        token = self.take()
        if token == "-":
            value, divisor = self.unit()
            return value * -1, divisor
        if token == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        if token is None or not (token.isalnum() or "_" in token):
            raise ValueError(f"unexpected {token!r}")
        if token.isdigit():
            return constant(int(token)), 1
        if self.take("("):
            return self.call(token), 1
        return symbol(token), 1

    def call(self, name: str) -> Expr:
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.expect(")")
        value, divisor = arguments[0]
        numbers = [e.constant for e, by in arguments[1:] if e.is_constant and by == 1]
        if len(numbers) == len(arguments) - 1:
            if name == "floor" and not numbers:
                return value.floordiv(divisor)
            if name == "FloorDiv" and len(numbers) == 1:
                return value.floordiv(divisor * numbers[0])
            if name == "Mod" and len(numbers) == 1 and divisor == 1:
                return value.mod(numbers[0])
            if name == "ModularIndexing" and len(numbers) == 2:
                return value.floordiv(divisor * numbers[0]).mod(numbers[1])
        raise ValueError(f"not a quasi-affine function: {name}")

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise ValueError(f"expected {token!r}")
