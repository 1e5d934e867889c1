# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer quasi-affine expressions over iteration symbols: sums of symbols, floor divisions and
remainders.

    floor(c2/64) + 2*Mod(c1, 8) + 3

An `Expression` is immutable, hashable and in normal form, so that what is written in two ways
usually compares equal: like terms are merged and ordered by their text, a division keeps no
multiple of its divisor and no common factor, a remainder keeps coefficients in [0, modulus), and
`Mod(floor(e/d), m)` is written `floor(Mod(e, d*m)/d)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any


@dataclass(frozen=True, slots=True)
class Quotient:
    """floor(argument / divisor), the divisor at least 2."""

    argument: Expression
    divisor: int

    def __str__(self) -> str:
        text = str(self.argument)
        plain = self.argument.constant == 0 and len(self.argument.terms) == 1
        return f"floor({text if plain else f'({text})'}/{self.divisor})"


@dataclass(frozen=True, slots=True)
class Remainder:
    """argument mod modulus, in [0, modulus), the modulus at least 2."""

    argument: Expression
    modulus: int

    def __str__(self) -> str:
        return f"Mod({self.argument}, {self.modulus})"


Atom = str | Quotient | Remainder
"""What a term multiplies: a symbol by its name, a floor division or a remainder."""


@dataclass(frozen=True, slots=True)
class Expression:
    """constant + sum of coefficient * atom, in normal form.

    Build with `symbol`, `literal`, `linear` and `parse`, and with the operators `+`, `-`, `*`, `//`
    and `%` by ints; the bare constructor takes what is already in normal form."""

    constant: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.constant, self.terms)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_constant(self) -> bool:
        """Whether no symbol occurs."""
        return not self.terms

    @property
    def is_linear(self) -> bool:
        """Whether no division and no remainder occurs."""
        return all(type(atom) is str for atom, _ in self.terms)

    def __add__(self, other: Expression | int) -> Expression:
        if isinstance(other, int):
            return Expression(self.constant + other, self.terms)
        if not other.terms:
            return Expression(self.constant + other.constant, self.terms)
        if not self.terms:
            return Expression(self.constant + other.constant, other.terms)
        merged = dict(self.terms)
        for atom, coefficient in other.terms:
            merged[atom] = merged.get(atom, 0) + coefficient
        return _normal(self.constant + other.constant, merged.items())

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return self * -1

    def __sub__(self, other: Expression | int) -> Expression:
        return self + -other

    def __mul__(self, factor: int) -> Expression:
        if factor == 0:
            return ZERO
        return Expression(self.constant * factor, tuple((a, c * factor) for a, c in self.terms))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Expression:
        """floor(self / divisor); the divisor is at least 1."""
        whole, rest = self.split(divisor)
        if not rest.terms:
            return whole
        shared = gcd(divisor, *(c for _, c in rest.terms))
        if shared > 1:
            rest = Expression(
                rest.constant // shared, tuple((a, c // shared) for a, c in rest.terms)
            )
            divisor //= shared
        atom, coefficient = rest.terms[0]
        if coefficient == 1 and len(rest.terms) == 1 and isinstance(atom, Quotient):
            inner = atom.argument + rest.constant * atom.divisor
            return whole + inner // (atom.divisor * divisor)
        return whole + Expression(0, ((Quotient(rest, divisor), 1),))

    def __mod__(self, modulus: int) -> Expression:
        """self mod modulus; the modulus is at least 1."""
        terms = tuple((a, c % modulus) for a, c in self.terms if c % modulus)
        rest = Expression(self.constant % modulus, terms)
        if not terms:
            return rest
        shared = gcd(modulus, *(c for _, c in terms))
        if shared > 1:
            inner = Expression(rest.constant // shared, tuple((a, c // shared) for a, c in terms))
            return inner % (modulus // shared) * shared + rest.constant % shared
        atom, coefficient = terms[0]
        if coefficient == 1 and len(terms) == 1:
            if isinstance(atom, Quotient):
                inner = atom.argument + rest.constant * atom.divisor
                return inner % (atom.divisor * modulus) // atom.divisor
            if isinstance(atom, Remainder) and atom.modulus % modulus == 0:
                return (atom.argument + rest.constant) % modulus
            if isinstance(atom, Remainder) and modulus % atom.modulus == 0 and not rest.constant:
                return Expression(0, terms)
        return Expression(0, ((Remainder(rest, modulus), 1),))

    def split(self, divisor: int) -> tuple[Expression, Expression]:
        """(q, r) with self = divisor * q + r; no term of r is a multiple of the divisor, its
        constant lies in [0, divisor)."""
        whole = tuple((a, c // divisor) for a, c in self.terms if c % divisor == 0)
        rest = tuple((a, c) for a, c in self.terms if c % divisor)
        return Expression(self.constant // divisor, whole), Expression(
            self.constant % divisor, rest
        )

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value where the symbols have these values, ints or integer arrays. KeyError for a
        symbol without one."""
        total: Any = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                total = total + coefficient * values[atom]
            elif isinstance(atom, Quotient):
                total = total + coefficient * (atom.argument.evaluate(values) // atom.divisor)
            else:
                total = total + coefficient * (atom.argument.evaluate(values) % atom.modulus)
        return total

    def substitute(self, values: Mapping[str, Expression | int]) -> Expression:
        """The expression with symbols replaced; symbols without an entry stay."""
        total = Expression(self.constant)
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                new = values.get(atom)
                if new is None:
                    new = Expression(0, ((atom, 1),))
            elif isinstance(atom, Quotient):
                new = atom.argument.substitute(values) // atom.divisor
            else:
                new = atom.argument.substitute(values) % atom.modulus
            total = total + new * coefficient
        return total

    def symbols(self) -> tuple[str, ...]:
        """The symbols in it, sorted, each once."""
        names: set[str] = set()
        for atom, _ in self.terms:
            if isinstance(atom, str):
                names.add(atom)
            else:
                names.update(atom.argument.symbols())
        return tuple(sorted(names))

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


def _normal(constant: int, terms: Iterable[tuple[Atom, int]]) -> Expression:
    kept = [term for term in terms if term[1]]
    if len(kept) > 1:
        kept.sort(key=lambda term: str(term[0]))
    return Expression(constant, tuple(kept))


ZERO = Expression()


def literal(value: int) -> Expression:
    """A constant."""
    return Expression(value)


def symbol(name: str) -> Expression:
    """An iteration symbol."""
    return Expression(0, ((name, 1),))


def linear(coefficients: Mapping[str, int], constant: int = 0) -> Expression:
    """constant + sum of coefficient * symbol."""
    return Expression(constant, tuple(sorted((s, c) for s, c in coefficients.items() if c)))


_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|//|[-+*/(),])")


def parse(text: str) -> Expression:
    """Reads `floor(a/64)`, `a//64`, `Mod(a, 64)`, `ModularIndexing(a, b, c)`, `FloorDiv(a, b)`, + -
    * and parentheses.

    A division `/` must stand under `floor`. ValueError where the text is something else."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != "".join(text.split()):
        raise ValueError(f"not a quasi-affine expression: {text!r}")
    reader = _Reader(tokens)
    value, divisor = reader.sum()
    if divisor != 1 or reader.tokens:
        raise ValueError(f"not a quasi-affine expression: {text!r}")
    return value


class _Reader:
    """Recursive descent; a value is a numerator and a divisor that `floor` is still to take
    away."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def take(self, *expected: str) -> str | None:
        if self.tokens and (not expected or self.tokens[0] in expected):
            return self.tokens.pop(0)
        return None

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise ValueError(f"expected {token!r}")

    def sum(self) -> tuple[Expression, int]:
        value, divisor = self.product()
        while operator := self.take("+", "-"):
            other, by = self.product()
            common = divisor * by // gcd(divisor, by)
            value, other = value * (common // divisor), other * (common // by)
            value, divisor = (value + other if operator == "+" else value - other), common
        return value, divisor

    def product(self) -> tuple[Expression, int]:
        value, divisor = self.unit()
        while operator := self.take("*", "/", "//"):
            other, by = self.unit()
            if operator == "*":
                if other.terms:
                    value, other = other, value
                if other.terms:
                    raise ValueError("a product of two symbols is not quasi-affine")
                value, divisor = value * other.constant, divisor * by
            elif other.terms or other.constant < 1 or by != 1:
                raise ValueError("a divisor is a positive literal")
            elif operator == "/":
                divisor *= other.constant
            else:
                value, divisor = value // (divisor * other.constant), 1
        shared = gcd(divisor, value.constant, *(c for _, c in value.terms))
        terms = tuple((a, c // shared) for a, c in value.terms)
        return Expression(value.constant // shared, terms), divisor // shared

    def unit(self) -> tuple[Expression, int]:
        token = self.take()
        if token == "-":
            value, divisor = self.unit()
            return -value, divisor
        if token == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        if token is None or not re.match(r"\w", token):
            raise ValueError(f"unexpected {token!r}")
        if token.isdigit():
            return literal(int(token)), 1
        if self.take("("):
            return self.call(token), 1
        return symbol(token), 1

    def call(self, name: str) -> Expression:
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.expect(")")
        value, divisor = arguments[0]
        numbers = [e.constant for e, by in arguments[1:] if not e.terms and by == 1]
        if len(numbers) == len(arguments) - 1 and all(number > 0 for number in numbers):
            match name, numbers:
                case "floor", []:
                    return value // divisor
                case "FloorDiv", [by]:
                    return value // (divisor * by)
                case "Mod", [modulus] if divisor == 1:
                    return value % modulus
                case "ModularIndexing", [by, modulus]:
                    return value // (divisor * by) % modulus
        raise ValueError(f"not a quasi-affine function: {name}")
