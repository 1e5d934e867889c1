# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which values a quasi-affine expression takes over a box of symbols: 0 <= s < extent for each.

Terms without a common symbol are independent: their ranges add up. A term alone is followed from
the inside out as a `ValueSet`, which remembers when the values are an arithmetic progression
without holes; that makes remainders exact. Terms that share symbols are compared at every point
where one of them may turn, within one period of each symbol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, lcm

from spyre_mlir.quasiaffine import Atom, Expression, Quotient, Remainder, literal

ENUMERATION_LIMIT = 1 << 16
"""Points that `value_range` looks at for terms that share symbols; beyond it the range is an outer
bound."""


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Values between `low` and `high`; both are taken if `exact`, else they are outer bounds.

    `step` is s if the values are exactly low, low + s, ... high; 0 if that is not known. One value
    has step 1."""

    low: int
    high: int
    exact: bool = True
    step: int = 0

    @property
    def extent(self) -> int:
        """high - low + 1."""
        return self.high - self.low + 1

    def scaled(self, factor: int) -> ValueSet:
        """The values times a factor other than 0."""
        low, high = self.low * factor, self.high * factor
        if factor < 0:
            low, high = high, low
        return ValueSet(low, high, self.exact, self.step * abs(factor) if low < high else 1)


_Terms = tuple[tuple[Atom, int], ...]


def value_range(expression: Expression, extents: Mapping[str, int]) -> ValueSet:
    """The values over the box; every extent is at least 1. KeyError for a symbol without an
    extent."""
    terms = expression.terms
    if len(terms) == 1:
        atom, coefficient = terms[0]
        if type(atom) is str:
            reach = coefficient * (extents[atom] - 1)
            low, high = (0, reach) if reach >= 0 else (reach, 0)
            found = ValueSet(low, high, True, abs(coefficient) if reach else 1)
        else:
            return _values(expression, tuple((s, extents[s]) for s in expression.symbols()))
    elif expression.is_linear:
        found = _linear(terms, extents)
    else:
        return _values(expression, tuple((s, extents[s]) for s in expression.symbols()))
    if expression.constant:
        found = ValueSet(
            found.low + expression.constant, found.high + expression.constant, True, found.step
        )
    return found


def _linear(terms: _Terms, extents: Mapping[str, int]) -> ValueSet:
    low = high = 0
    steps = []
    for atom, coefficient in terms:
        reach = coefficient * (extents[atom] - 1)  # type: ignore[index]
        if reach > 0:
            high += reach
            steps.append((coefficient, reach))
        elif reach < 0:
            low += reach
            steps.append((-coefficient, -reach))
    return ValueSet(low, high, True, summed_step(steps))


def summed_step(steps: list[tuple[int, int]]) -> int:
    """The step of a sum of progressions (step, reach); 0 if the sum has holes, or may have."""
    if not steps:
        return 1
    steps.sort()
    base, total = steps[0]
    if base == 0:
        return 0
    for step, reach in steps[1:]:
        if step % base or step > total + base:
            return 0
        total += reach
    return base


@lru_cache(maxsize=1 << 16)
def _values(expression: Expression, box: tuple[tuple[str, int], ...]) -> ValueSet:
    """As `value_range`, for any expression; `box` names the symbols of the expression, sorted."""
    extents = dict(box)
    low = high = expression.constant
    exact = True
    steps = []
    for terms in _independent(expression.terms):
        if len(terms) == 1:
            atom, coefficient = terms[0]
            found = _atom(atom, extents).scaled(coefficient)
        else:
            found = ValueSet(0, 0, False)
        if not found.exact:
            found = _joint(terms, extents)
        low, high, exact = low + found.low, high + found.high, exact and found.exact
        if found.low < found.high:
            steps.append((found.step, found.high - found.low))
    return ValueSet(low, high, exact, summed_step(steps) if exact else 0)


def _independent(terms: _Terms) -> list[_Terms]:
    """The terms in groups that share no symbol with each other."""
    groups: list[tuple[set[str], _Terms]] = []
    for term in terms:
        atom = term[0]
        names = {atom} if isinstance(atom, str) else set(atom.argument.symbols())
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


def _atom(atom: Atom, extents: Mapping[str, int]) -> ValueSet:
    """The values of one atom; not exact where it takes a look at the points."""
    if isinstance(atom, str):
        return ValueSet(0, extents[atom] - 1, True, 1)
    inner = value_range(atom.argument, extents)
    if isinstance(atom, Quotient):
        divisor = atom.divisor
        low, high = inner.low // divisor, inner.high // divisor
        if not inner.exact or low == high:
            return ValueSet(low, high, inner.exact or low == high, 1)
        if inner.step % divisor == 0:
            return ValueSet(low, high, True, inner.step // divisor)
        return ValueSet(low, high, True, 1 if inner.step <= divisor else 0)
    modulus = atom.modulus
    if inner.low // modulus == inner.high // modulus:
        shift = inner.low // modulus * modulus
        return ValueSet(inner.low - shift, inner.high - shift, inner.exact, inner.step)
    if not inner.exact or not inner.step:
        return ValueSet(0, modulus - 1, False)
    shared = gcd(inner.step, modulus)
    count = (inner.high - inner.low) // inner.step + 1
    if count >= modulus // shared:
        first = inner.low % shared
        return ValueSet(first, modulus - shared + first, True, shared)
    lowest = _least_residue(count, inner.step, inner.low, modulus)
    return ValueSet(lowest, largest_residue(count, inner.step, inner.low, modulus))


def largest_residue(count: int, step: int, first: int, modulus: int) -> int:
    """The largest (first + step*k) mod modulus over 0 <= k < count, count at least 1; logarithmic
    time."""
    return modulus - 1 - _least_residue(count, -step, -first - 1, modulus)


def _least_residue(count: int, step: int, first: int, modulus: int) -> int:
    """The least (first + step*k) mod modulus over 0 <= k < count: the least t that bounds some
    residue."""
    step, first = step % modulus, first % modulus
    below, least = -1, modulus - 1
    whole = _floor_sum(count, modulus, step, first)
    while least - below > 1:
        middle = (below + least) // 2
        # floor(y/m) - floor((y-t-1)/m) is 1 where y mod m <= t, else 0; m is added to keep the
        # sum's terms positive.
        shifted = _floor_sum(count, modulus, step, first - middle - 1 + modulus) - count
        if whole > shifted:
            least = middle
        else:
            below = middle
    return least


def _floor_sum(count: int, divisor: int, step: int, first: int) -> int:
    """sum of floor((step*k + first) / divisor) over 0 <= k < count; step and first are not
    negative."""
    total = 0
    while True:
        total += count * (count - 1) // 2 * (step // divisor) + count * (first // divisor)
        step, first = step % divisor, first % divisor
        last = step * count + first
        if last < divisor:
            return total
        count, first = last // divisor, last % divisor
        divisor, step = step, divisor


def _joint(terms: _Terms, extents: Mapping[str, int]) -> ValueSet:
    """The range of terms that share symbols, at the points where it can be extreme.

    Along one symbol the sum repeats with a fixed rise per period, so extremes lie in the first or
    the last period. The longest symbol is not enumerated there: between the places where a term
    turns, the sum is linear in it."""
    expression = Expression(0, terms)
    names = expression.symbols()
    windows = {}
    for name in names:
        extent, steps = extents[name], period(expression, name)[0]
        whole = extent <= 2 * steps
        windows[name] = [(0, extent)] if whole else [(0, steps), (extent - steps, extent)]
    lengths = {name: sum(end - start for start, end in windows[name]) for name in names}
    longest = max(names, key=lambda name: lengths[name])
    others = [name for name in names if name != longest]
    budget = ENUMERATION_LIMIT
    for name in others:
        budget //= lengths[name]
    if budget < 1:
        return _bound(terms, extents)
    low = high = None
    for point in product(*([v for w in windows[n] for v in range(*w)] for n in others)):
        fixed = expression.substitute(dict(zip(others, map(literal, point), strict=True)))
        for start, end in windows[longest]:
            pieces = _pieces(fixed, longest, start, end, budget)
            if pieces is None:
                return _bound(terms, extents)
            ends = [v for _, length, slope, v in pieces] + [
                v + slope * (length - 1) for _, length, slope, v in pieces
            ]
            low = min(ends) if low is None else min(low, *ends)
            high = max(ends) if high is None else max(high, *ends)
    assert low is not None and high is not None
    return ValueSet(low, high)


_Piece = tuple[int, int, int, int]
"""(start, length, slope, value at start): where an expression in one symbol is linear."""


def _pieces(
    expression: Expression, name: str, start: int, end: int, budget: int
) -> list[_Piece] | None:
    """The expression over start <= symbol < end as linear pieces, or None if there are more than
    `budget`."""
    total: list[_Piece] = [(start, end - start, 0, expression.constant)]
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            total = [(s, n, slope + coefficient, v + coefficient * s) for s, n, slope, v in total]
            continue
        inner = _pieces(atom.argument, name, start, end, budget)
        turned = None if inner is None else _turned(inner, atom, budget)
        if turned is None:
            return None
        total = _added(total, turned, coefficient)
        if len(total) > budget:
            return None
    return total


def _turned(pieces: list[_Piece], atom: Quotient | Remainder, budget: int) -> list[_Piece] | None:
    """Linear pieces divided, or taken modulo: every crossing of a multiple starts a new piece."""
    quotient = isinstance(atom, Quotient)
    divisor = atom.divisor if isinstance(atom, Quotient) else atom.modulus
    found: list[_Piece] = []
    for start, length, slope, value in pieces:
        if quotient and slope % divisor == 0:
            found.append((start, length, slope // divisor, value // divisor))
            continue
        at = 0
        while at < length:
            now = value + slope * at
            whole = now // divisor
            if slope > 0:
                until = -(-((whole + 1) * divisor - value) // slope)
            elif slope < 0:
                until = (value - whole * divisor) // -slope + 1
            else:
                until = length
            until = min(until, length)
            piece = (whole,) if quotient else (now - whole * divisor,)
            found.append((start + at, until - at, 0 if quotient else slope, *piece))
            at = until
            if len(found) > budget:
                return None
    return found


def _added(left: list[_Piece], right: list[_Piece], factor: int) -> list[_Piece]:
    """left + factor * right, on the pieces common to both."""
    total: list[_Piece] = []
    i = j = 0
    at = left[0][0]
    while i < len(left) and j < len(right):
        s, n, slope, value = left[i]
        t, m, other, from_other = right[j]
        until = min(s + n, t + m)
        here = value + slope * (at - s) + factor * (from_other + other * (at - t))
        total.append((at, until - at, slope + factor * other, here))
        at = until
        i += s + n == until
        j += t + m == until
    return total


def period(expression: Expression, name: str) -> tuple[int, int]:
    """(p, a) with expression(s + p) = expression(s) + a for every value of the symbols."""
    parts = []
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            steps, rise = 1, int(atom == name)
        else:
            steps, rise = period(atom.argument, name)
            divisor = atom.divisor if isinstance(atom, Quotient) else atom.modulus
            times = divisor // gcd(rise, divisor)
            steps *= times
            rise = times * rise // divisor if isinstance(atom, Quotient) else 0
        parts.append((steps, rise * coefficient))
    whole = lcm(*(steps for steps, _ in parts))
    return whole, sum(rise * (whole // steps) for steps, rise in parts)


def _bound(terms: _Terms, extents: Mapping[str, int]) -> ValueSet:
    """An outer bound: every term for itself."""
    low = high = 0
    for atom, coefficient in terms:
        found = _atom(atom, extents).scaled(coefficient)
        low, high = low + found.low, high + found.high
    return ValueSet(low, high, exact=False)


def divide(
    expression: Expression, divisor: int, extents: Mapping[str, int]
) -> tuple[Expression, Expression]:
    """(q, r) with expression = divisor*q + r and 0 <= r < divisor over the box, simplified as the
    box allows.

    Low digits that cannot carry are left out of the division: (64*a + b)/1024 with b < 64 is
    floor(a/16)."""
    whole, rest = expression.split(divisor)
    if not rest.terms:
        return whole, rest
    found = value_range(rest, extents)
    carry = found.low // divisor
    if carry == found.high // divisor:
        return whole + carry, rest - carry * divisor
    ordered = sorted(rest.terms, key=lambda term: -term[1])
    shared = divisor
    for count, (_, coefficient) in enumerate(ordered[:-1], 1):
        shared = gcd(shared, coefficient)
        if shared == 1:
            break
        low = Expression(0, tuple(sorted(ordered[count:], key=lambda t: str(t[0]))))
        low += rest.constant % shared
        reach = value_range(low, extents)
        if reach.low >= 0 and reach.high < shared:
            high = (rest - low).split(shared)[0]
            quotient, remainder = divide(high, divisor // shared, extents)
            return whole + quotient, remainder * shared + low
    return whole + rest // divisor, rest % divisor


def simplify(expression: Expression, extents: Mapping[str, int]) -> Expression:
    """An expression equal over the box; symbols of extent 1 are 0, divisions that cannot carry are
    gone."""
    total = Expression(expression.constant)
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            if extents[atom] > 1:
                total = total + Expression(0, ((atom, coefficient),))
            continue
        argument = simplify(atom.argument, extents)
        if isinstance(atom, Quotient):
            total = total + divide(argument, atom.divisor, extents)[0] * coefficient
        else:
            total = total + divide(argument, atom.modulus, extents)[1] * coefficient
    return total
