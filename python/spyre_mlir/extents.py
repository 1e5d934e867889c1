# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents: integer expressions over literals and named symbols, in one normal form.

An extent is a plain `int` or an `Expression`; an expression without symbols is always an `int`.
The normal form is that of `#spyre.encoding` (`dialect/Extent/Extent.h`): a sum of terms
`coefficient * atom * ...` in the order of their text, the constant last; multiples of the divisor
taken out of divisions; min and max flattened. Equal text means equal value.

Every function raises ValueError where a result is not defined: it leaves 64 bits, or a divisor is
no positive literal. Products of symbols are allowed; the prover treats each as an unknown of its
own, so it may answer `undecided` about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import sympy  # type: ignore[import-untyped]

DIVISIONS = ("floordiv", "ceildiv", "mod")
EXTREMA = ("min", "max")
RESERVED = (*DIVISIONS, *EXTREMA)
"""Words of the expressions, so no names of symbols."""

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_NESTING = 200
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*\Z")
_TOKEN = re.compile(r"\s*([A-Za-z0-9_$.]+|[-+*(),])")


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A symbol (`function` is "") or a function of extents; a division has (dividend, divisor)."""

    function: str
    arguments: tuple[Extent, ...]
    text: str
    symbols: tuple[str, ...]


class Expression:
    """An extent with at least one symbol. Made by the functions of this module only.

    `terms` are (coefficient, factors) in the order of their text, `constant` is added to their sum,
    `symbols` are the names, sorted."""

    __slots__ = ("_hash", "constant", "symbols", "terms", "text")

    terms: tuple[tuple[int, tuple[Atom, ...]], ...]
    constant: int
    text: str
    symbols: tuple[str, ...]

    def __init__(self, terms: tuple[tuple[int, tuple[Atom, ...]], ...], constant: int) -> None:
        self.terms = terms
        self.constant = constant
        self.text = _spell_sum(terms, constant)
        names = {name for _, factors in terms for factor in factors for name in factor.symbols}
        self.symbols = tuple(sorted(names))
        self._hash = hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Expression) and self.text == other.text

    def __reduce__(self) -> tuple[Callable[[str], Extent], tuple[str]]:
        return parse, (self.text,)

    def __add__(self, other: Extent) -> Extent:
        return add(self, other)

    def __radd__(self, other: Extent) -> Extent:
        return add(other, self)

    def __sub__(self, other: Extent) -> Extent:
        return subtract(self, other)

    def __rsub__(self, other: Extent) -> Extent:
        return subtract(other, self)

    def __mul__(self, other: Extent) -> Extent:
        return multiply(self, other)

    def __rmul__(self, other: Extent) -> Extent:
        return multiply(other, self)

    def __neg__(self) -> Extent:
        return multiply(self, -1)

    def __floordiv__(self, other: Extent) -> Extent:
        return floor_divide(self, other)

    def __mod__(self, other: Extent) -> Extent:
        return modulo(self, other)


Extent = Union[int, Expression]  # noqa: UP007  (evaluated at run time, Expression stays a name)
_Term = tuple[int, tuple[Atom, ...]]


def _spell(factors: tuple[Atom, ...], alone: bool) -> str:
    """A product without its coefficient; a division inside a product stands in parentheses."""
    if alone and len(factors) == 1:
        return factors[0].text
    return " * ".join(f"({f.text})" if f.function in DIVISIONS else f.text for f in factors)


def _key(term: _Term) -> str:
    return _spell(term[1], True)


def _spell_sum(terms: tuple[_Term, ...], constant: int) -> str:
    text = ""
    for coefficient, factors in terms:
        sign = "-" if coefficient < 0 else ""
        text += (" - " if sign else " + ") if text else sign
        size = abs(coefficient)
        text += f"{size} * " if size != 1 else ""
        # A leading minus binds to what follows it, so a division behind it is enclosed.
        text += _spell(factors, size == 1 and text != "-")
    if not terms:
        return str(constant)
    if constant:
        text += f" + {constant}" if constant > 0 else f" - {-constant}"
    return text


def _whole(value: int) -> int:
    if not _LOWEST <= value <= _HIGHEST:
        raise ValueError("the expression leaves 64 bits")
    return value


def _parts(extent: Extent) -> tuple[tuple[_Term, ...], int]:
    return ((), extent) if isinstance(extent, int) else (extent.terms, extent.constant)


def _made(terms: list[_Term], constant: int) -> Extent:
    return Expression(tuple(terms), constant) if terms else constant


def _atom(function: str, arguments: tuple[Extent, ...], text: str) -> Expression:
    names = {n for a in arguments if isinstance(a, Expression) for n in a.symbols}
    atom = Atom(function, arguments, text, tuple(sorted(names)) if function else (text,))
    return Expression(((1, (atom,)),), 0)


@lru_cache(maxsize=4096)
def symbol(name: str) -> Expression:
    """The symbol `name`. ValueError for a reserved word or what is no name."""
    if not _NAME.match(name):
        raise ValueError(f"'{name}' is no name of a symbol")
    if name in RESERVED:
        raise ValueError(f"'{name}' is a reserved word, not a symbol")
    return _atom("", (), name)


def add(a: Extent, b: Extent) -> Extent:
    """a + b."""
    left, first = _parts(a)
    right, second = _parts(b)
    constant = _whole(first + second)
    terms: list[_Term] = []
    i = j = 0
    while i < len(left) or j < len(right):
        one = _key(left[i]) if i < len(left) else None
        two = _key(right[j]) if j < len(right) else None
        if two is None or (one is not None and one < two):
            terms.append(left[i])
            i += 1
        elif one is None or two < one:
            terms.append(right[j])
            j += 1
        else:
            coefficient = _whole(left[i][0] + right[j][0])
            if coefficient:
                terms.append((coefficient, left[i][1]))
            i, j = i + 1, j + 1
    return _made(terms, constant)


def subtract(a: Extent, b: Extent) -> Extent:
    """a - b."""
    return add(a, multiply(b, -1))


def multiply(a: Extent, b: Extent) -> Extent:
    """a * b, multiplied out."""
    if isinstance(a, int) and isinstance(b, int):
        return _whole(a * b)
    result: Extent = 0
    for x, left in _addends(a):
        for y, right in _addends(b):
            coefficient = _whole(x * y)
            factors = tuple(sorted((*left, *right), key=lambda atom: atom.text))
            result = add(result, _made([(coefficient, factors)], 0) if factors else coefficient)
    return result


def _addends(extent: Extent) -> list[_Term]:
    terms, constant = _parts(extent)
    return [*terms, (constant, ())] if constant else list(terms)


def floor_divide(a: Extent, b: Extent) -> Extent:
    """The largest integer not above a / b."""
    return _divide("floordiv", a, b)


def ceil_divide(a: Extent, b: Extent) -> Extent:
    """The smallest integer not below a / b."""
    return _divide("ceildiv", a, b)


def modulo(a: Extent, b: Extent) -> Extent:
    """a - b * floor(a / b)."""
    return _divide("mod", a, b)


def _divide(function: str, a: Extent, b: Extent) -> Extent:
    """Splits the dividend into divisor * quotient + remainder, and takes the quotient out."""
    if not isinstance(b, int) or b <= 0:
        raise ValueError(f"the divisor of {function} is a positive literal, got '{b}'")
    terms, constant = _parts(a)
    quotient: list[_Term] = []
    remainder: list[_Term] = []
    for coefficient, factors in terms:
        # Only whole multiples leave a division: taking part of a coefficient out would change its
        # text for nothing.
        if coefficient % b == 0:
            quotient.append((coefficient // b, factors))
        else:
            remainder.append((coefficient % b if function == "mod" else coefficient, factors))
    rest = constant % b
    whole = _made(quotient, _whole(constant - rest) // b)
    if not remainder:
        if function == "mod":
            return rest
        return add(whole, int(function == "ceildiv" and rest != 0))
    inner = Expression(tuple(remainder), rest)
    atom = _atom(function, (inner, b), f"{_enclosed(inner)} {function} {b}")
    return atom if function == "mod" else add(whole, atom)


def _enclosed(argument: Expression) -> str:
    """A dividend: in parentheses unless it is a name, or a min or max."""
    simple = (
        argument.constant == 0
        and len(argument.terms) == 1
        and argument.terms[0][0] == 1
        and len(argument.terms[0][1]) == 1
        and argument.terms[0][1][0].function not in DIVISIONS
    )
    return argument.text if simple else f"({argument.text})"


def minimum(a: Extent, b: Extent) -> Extent:
    """The smaller one."""
    return _extremum("min", a, b)


def maximum(a: Extent, b: Extent) -> Extent:
    """The larger one."""
    return _extremum("max", a, b)


def _extremum(function: str, a: Extent, b: Extent) -> Extent:
    kept: list[Extent] = []
    for candidate in (*_alike(function, a), *_alike(function, b)):
        for i, other in enumerate(kept):
            gap = subtract(candidate, other)
            if isinstance(gap, int):
                if gap < 0 if function == "min" else gap > 0:
                    kept[i] = candidate
                break
        else:
            kept.append(candidate)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda e: (isinstance(e, int), str(e)))
    return _atom(function, tuple(kept), f"{function}({', '.join(map(str, kept))})")


def _alike(function: str, extent: Extent) -> tuple[Extent, ...]:
    """The arguments, where the extent is nothing but the same function."""
    if isinstance(extent, Expression) and extent.constant == 0 and len(extent.terms) == 1:
        coefficient, factors = extent.terms[0]
        if coefficient == 1 and len(factors) == 1 and factors[0].function == function:
            return factors[0].arguments
    return (extent,)


def symbols(extent: Extent) -> tuple[str, ...]:
    """Names of the symbols, sorted."""
    return () if isinstance(extent, int) else extent.symbols


def divisor(extent: Extent) -> int:
    """A number that divides every value, as large as coefficients and constant show."""
    if isinstance(extent, int):
        return abs(extent)
    return gcd(extent.constant, *(coefficient for coefficient, _ in extent.terms))


def evaluate(extent: Extent, values: Mapping[str, int]) -> int:
    """The value under a binding of all symbols. KeyError for a symbol without one."""
    if isinstance(extent, int):
        return extent
    result: int = _fold(
        extent, values.__getitem__, 0, lambda a, b: a + b, lambda a, b: a * b, _NUMBERS
    )
    return result


def substitute(extent: Extent, values: Mapping[str, Extent]) -> Extent:
    """The extent with symbols replaced; those without a replacement stay."""
    if isinstance(extent, int) or not any(name in values for name in extent.symbols):
        return extent

    def named(name: str) -> Extent:
        return values[name] if name in values else symbol(name)

    result: Extent = _fold(extent, named, 0, add, multiply, _BUILDERS)
    return result


_BUILDERS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": floor_divide,
    "ceildiv": ceil_divide,
    "mod": modulo,
    "min": minimum,
    "max": maximum,
}
_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


def _fold(
    extent: Extent,
    named: Callable[[str], Any],
    zero: Any,
    plus: Callable[[Any, Any], Any],
    times: Callable[[Any, Any], Any],
    functions: Mapping[str, Callable[[Any, Any], Any]],
) -> Any:
    """The value of an extent in another algebra."""
    if isinstance(extent, int):
        return plus(zero, extent)
    total = plus(zero, extent.constant)
    for coefficient, factors in extent.terms:
        product: Any = coefficient
        for atom in factors:
            if not atom.function:
                value = named(atom.text)
            else:
                first, *others = [
                    _fold(a, named, zero, plus, times, functions) for a in atom.arguments
                ]
                value = first
                for other in others:
                    value = functions[atom.function](value, other)
            product = times(product, value)
        total = plus(total, product)
    return total


@lru_cache(maxsize=65536)
def parse(text: str) -> Extent:
    """Reads the text form; precedence as in arithmetic, the named divisions bind as `*`."""
    tokens: list[str] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ValueError(f"unexpected '{stripped[position:].lstrip()[:1]}'")
        tokens.append(match[1])
        position = match.end()
    reader = _Reader(tokens)
    result = reader.sum()
    if reader.tokens:
        raise ValueError(f"unexpected '{' '.join(reversed(reader.tokens))}'")
    return result


class _Reader:
    """Recursive descent; `tokens` in reverse, the next one last."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens[::-1]
        self.depth = 0

    def next_in(self, wanted: tuple[str, ...]) -> str | None:
        return self.tokens.pop() if self.tokens and self.tokens[-1] in wanted else None

    def sum(self) -> Extent:
        left = self.product()
        while operator := self.next_in(("+", "-")):
            left = (add if operator == "+" else subtract)(left, self.product())
        return left

    def product(self) -> Extent:
        left = self.unit()
        while operator := self.next_in(("*", *DIVISIONS)):
            right = self.unit()
            left = multiply(left, right) if operator == "*" else _divide(operator, left, right)
        return left

    def unit(self) -> Extent:
        self.depth += 1
        if self.depth > _NESTING:
            raise ValueError("the expression is nested too deeply")
        if not self.tokens:
            raise ValueError("the expression ends too early")
        token = self.tokens.pop()
        if token == "(":
            result = self.closed(self.sum())
        elif token == "-":
            result = self.negated()
        elif token in ("+", "*", ")", ","):
            raise ValueError(f"unexpected '{token}'")
        elif token[0].isdigit():
            result = _number(token)
        elif token in EXTREMA and self.next_in(("(",)):
            result = self.sum()
            while self.next_in((",",)):
                result = _extremum(token, result, self.sum())
            result = self.closed(result)
        else:
            result = symbol(token)
        self.depth -= 1
        return result

    def negated(self) -> Extent:
        # The smallest literal has no positive counterpart to negate.
        if self.tokens and self.tokens[-1].isdigit():
            return _number(self.tokens.pop(), -1)
        return multiply(self.unit(), -1)

    def closed(self, result: Extent) -> Extent:
        if not self.next_in((")",)):
            raise ValueError("a parenthesis is not closed")
        return result


def _number(token: str, sign: int = 1) -> int:
    value = sign * int(token) if token.isdigit() else _HIGHEST + 1
    if not _LOWEST <= value <= _HIGHEST:
        raise ValueError(f"'{token}' is no 64-bit integer")
    return value


def from_sympy(expression: Any) -> Extent:
    """A sympy expression over integer symbols as an extent.

    Takes +, *, non-negative integer powers, Min, Max, Mod, floor and ceiling of a quotient by a
    positive integer. TypeError for anything else."""
    import sympy

    tree = sympy.sympify(expression)
    if isinstance(tree, sympy.Integer):
        return _whole(int(tree))
    if isinstance(tree, sympy.Symbol):
        return symbol(tree.name)
    if isinstance(tree, (sympy.floor, sympy.ceiling)):
        dividend, divisor = sympy.together(tree.args[0]).as_numer_denom()
        division = floor_divide if isinstance(tree, sympy.floor) else ceil_divide
        return division(from_sympy(dividend), from_sympy(divisor))
    if isinstance(tree, sympy.Pow) and tree.exp.is_Integer and tree.exp >= 0:
        result: Extent = 1
        for _ in range(int(tree.exp)):
            result = multiply(result, from_sympy(tree.base))
        return result
    operations: tuple[tuple[Any, Callable[[Extent, Extent], Extent]], ...] = (
        (sympy.Add, add),
        (sympy.Mul, multiply),
        (sympy.Min, minimum),
        (sympy.Max, maximum),
        (sympy.Mod, modulo),
    )
    for kind, operation in operations:
        if isinstance(tree, kind):
            first, *others = [from_sympy(argument) for argument in tree.args]
            for other in others:
                first = operation(first, other)
            return first
    raise TypeError(f"{tree} is no integer expression of +, *, Min, Max, Mod, floor and ceiling")


def to_sympy(extent: Extent) -> sympy.Expr:
    """An extent as a sympy expression; symbols become integer symbols."""
    import sympy

    functions: dict[str, Callable[[Any, Any], Any]] = {
        "floordiv": lambda a, b: sympy.floor(a / b),
        "ceildiv": lambda a, b: sympy.ceiling(a / b),
        "mod": sympy.Mod,
        "min": sympy.Min,
        "max": sympy.Max,
    }
    result: sympy.Expr = _fold(
        extent,
        lambda name: sympy.Symbol(name, integer=True),
        sympy.Integer(0),
        lambda a, b: a + b,
        lambda a, b: a * b,
        functions,
    )
    return result
