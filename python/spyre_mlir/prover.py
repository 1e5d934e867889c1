# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether two extents are related for all values of their symbols.

`equal` and `less_equal` answer `always`, `never`, `sometimes` (with values under which the relation
holds and values under which it does not) or `undecided`. A rule accepts `always` only.

Plain integers and differences that are constant or bounded by the declared ranges are decided
here; everything else by MLIR's Presburger library in the extension, which is complete for linear
integer arithmetic with min, max and divisions by literals. `undecided` is left for products of
symbols, and for expressions of dozens of min, max and divisions, where the effort is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from spyre_mlir.extents import (
    Atom,
    Expression,
    Extent,
    evaluate,
    subtract,
    symbols,
)
from spyre_mlir.tensors import TensorType

VERDICTS = ("always", "never", "sometimes", "undecided")

Bounds = tuple[int | None, int | None]
"""Lowest and highest value, both inclusive; None where there is no bound."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict; `witness` and `counterexample` are (symbol, value) pairs, set for `sometimes`."""

    verdict: str
    witness: tuple[tuple[str, int], ...] = ()
    counterexample: tuple[tuple[str, int], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a rule may rely on it."""
        return self.verdict == "always"


ALWAYS, NEVER, UNDECIDED = Answer("always"), Answer("never"), Answer("undecided")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of symbols: their declared ranges, and extents promised to be 0 or more.

    Facts come from declarations and from the types of a function's arguments, never from other
    types. A `hidden` symbol stands for a value that types cannot name, such as an induction
    variable: it may take part in a proof and never in a result."""

    ranges: tuple[tuple[str, int | None, int | None], ...] = ()
    nonnegative: tuple[Expression, ...] = ()
    hidden: tuple[str, ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Facts are part of the key of every proof that is remembered.
        object.__setattr__(self, "_hash", hash((self.ranges, self.nonnegative, self.hidden)))

    def __hash__(self) -> int:
        return self._hash

    def with_range(
        self, name: str, low: int | None, high: int | None, *, hidden: bool = False
    ) -> Facts:
        """These facts and low <= `name` <= high. Ranges of one symbol are intersected."""
        bounds = {symbol: (least, most) for symbol, least, most in self.ranges}
        least, most = bounds.get(name, (None, None))
        bounds[name] = (
            least if low is None else low if least is None else max(low, least),
            most if high is None else high if most is None else min(high, most),
        )
        ranges = tuple(sorted((symbol, *ends) for symbol, ends in bounds.items()))
        names = tuple(sorted({*self.hidden, name})) if hidden else self.hidden
        return replace(self, ranges=ranges, hidden=names)

    def with_argument(self, tensor: TensorType) -> Facts:
        """These facts and what the type of a function's argument promises.

        That is 0 <= extent <= size, dim by dim."""
        facts = self
        for extent, size in zip(tensor.valid, tensor.shape, strict=True):
            if isinstance(extent, int):
                continue
            if len(extent.terms) == 1 and extent.text == extent.symbols[0]:
                facts = facts.with_range(extent.text, 0, size)
                continue
            known = (extent, subtract(size, extent))
            fresh = tuple(e for e in known if isinstance(e, Expression))
            facts = replace(facts, nonnegative=tuple(dict.fromkeys((*facts.nonnegative, *fresh))))
        return facts

    def about(self, names: Iterable[str]) -> Facts:
        """The facts that bear on these symbols, also through other symbols, without duplicates."""
        if not self.ranges and not self.nonnegative:
            return NO_FACTS
        wanted = set(names)
        chosen: list[Expression] = []
        rest = list(self.nonnegative)
        while linked := [fact for fact in rest if not wanted.isdisjoint(fact.symbols)]:
            chosen += linked
            rest = [fact for fact in rest if fact not in linked]
            wanted.update(name for fact in linked for name in fact.symbols)
        ranges = tuple(entry for entry in self.ranges if entry[0] in wanted)
        return Facts(ranges, tuple(sorted(chosen, key=str)))


NO_FACTS = Facts()


def arguments(
    tensors: Iterable[TensorType], ranges: Mapping[str, tuple[int | None, int | None]]
) -> Facts:
    """The facts of a function: types of its arguments, declared ranges of its symbols."""
    facts = NO_FACTS
    for name, (low, high) in ranges.items():
        facts = facts.with_range(name, low, high)
    for tensor in tensors:
        facts = facts.with_argument(tensor)
    return facts


def equal(a: Extent, b: Extent, facts: Facts = NO_FACTS) -> Answer:
    """Whether a == b."""
    if a is b:
        return ALWAYS
    if isinstance(a, int) and isinstance(b, int):
        return ALWAYS if a == b else NEVER
    return _decide("equal", a, b, facts)


def less_equal(a: Extent, b: Extent, facts: Facts = NO_FACTS) -> Answer:
    """Whether a <= b."""
    if isinstance(a, int) and isinstance(b, int):
        return ALWAYS if a <= b else NEVER
    if a is b:
        return ALWAYS
    return _decide("less_equal", a, b, facts)


@lru_cache(maxsize=65536)
def _decide(relation: str, a: Extent, b: Extent, facts: Facts) -> Answer:
    try:
        gap = subtract(b, a)
    except ValueError:
        return UNDECIDED
    if isinstance(gap, int):
        return ALWAYS if (gap == 0 if relation == "equal" else gap >= 0) else NEVER
    return _prove(relation, gap, facts.about(gap.symbols))


@lru_cache(maxsize=65536)
def _prove(relation: str, gap: Expression, facts: Facts) -> Answer:
    """Whether gap is 0, or 0 or more."""
    low, high = bounds(gap, facts)
    if relation == "less_equal" and low is not None and low >= 0:
        return ALWAYS
    if relation == "equal" and low == 0 == high:
        return ALWAYS
    # Facts that no value fulfils make everything true, so "never" is left to the full proof then.
    if not facts.nonnegative and all(
        low is None or high is None or low <= high for _, low, high in facts.ranges
    ):
        if high is not None and high < 0:
            return NEVER
        if relation == "equal" and low is not None and low > 0:
            return NEVER
    if found := _tried(relation, gap, facts):
        return found
    # Late, and only here: everything above works without the extension.
    from spyre_mlir import ir  # noqa: F401
    from spyre_mlir._mlir_libs import _spyre

    ends = ("0", gap.text)
    texts = [fact.text for fact in facts.nonnegative]
    verdict, witness, against = _spyre.prove(relation, *ends, list(facts.ranges), texts)
    if verdict == "undecided":
        return UNDECIDED
    return Answer(verdict, _binding(witness, gap), _binding(against, gap))


TRIALS = 48
"""Bindings that are tried before a full proof: most relations that can fail fail for small values."""


def _tried(relation: str, gap: Expression, facts: Facts) -> Answer | None:
    """`sometimes`, if a few values of the symbols show it."""
    known = {name: (low, high) for name, low, high in facts.ranges}
    names = [*gap.symbols, *sorted({n for f in facts.nonnegative for n in f.symbols})]
    names = list(dict.fromkeys(names))
    choices = [_values(*known.get(name, (None, None))) for name in names]
    witness: dict[str, int] | None = None
    against: dict[str, int] | None = None
    for trial in range(TRIALS):
        # Symbols step through their values at different paces, so that they differ and meet.
        values = {
            name: options[(trial * (i + 1) + trial // len(options) * i) % len(options)]
            for i, (name, options) in enumerate(zip(names, choices, strict=True))
        }
        if not confirms(values, facts):
            continue
        value = evaluate(gap, values)
        if value == 0 if relation == "equal" else value >= 0:
            witness = witness or values
        else:
            against = against or values
        if witness and against:
            return Answer("sometimes", _binding(witness, gap), _binding(against, gap))
    return None


def _values(low: int | None, high: int | None) -> list[int]:
    """Values worth trying: the ends of the range, and small ones around 0."""
    middle = max(-1 if low is None else low, min(0, high or 0))
    wanted = (low, high, middle, middle + 1, middle + 2, middle + 3, middle + 7, 64, 63, 5)
    kept = [
        value
        for value in dict.fromkeys(wanted)
        if value is not None and (low is None or value >= low) and (high is None or value <= high)
    ]
    return kept or [0]


def _binding(values: Mapping[str, int], gap: Expression) -> tuple[tuple[str, int], ...]:
    return tuple((name, values[name]) for name in gap.symbols if name in values)


@lru_cache(maxsize=65536)
def bounds(extent: Extent, facts: Facts = NO_FACTS) -> Bounds:
    """Lowest and highest value by interval arithmetic: never too narrow, exact for a sum of
    distinct symbols with ranges of their own."""
    if isinstance(extent, int):
        return extent, extent
    known = {name: (low, high) for name, low, high in facts.ranges}
    low: int | None = extent.constant
    high: int | None = extent.constant
    for coefficient, factors in extent.terms:
        ends: Bounds = (coefficient, coefficient)
        for atom in factors:
            ends = _product(ends, _atom_bounds(atom, known, facts))
        low = None if low is None or ends[0] is None else low + ends[0]
        high = None if high is None or ends[1] is None else high + ends[1]
    return low, high


def _product(a: Bounds, b: Bounds) -> Bounds:
    if a[0] is not None and a[0] == a[1]:
        ends = [None if end is None else end * a[0] for end in b]
        return (ends[0], ends[1]) if a[0] >= 0 else (ends[1], ends[0])
    if None in a or None in b:
        return None, None
    corners = [x * y for x in a for y in b if x is not None and y is not None]
    return min(corners), max(corners)


def _atom_bounds(atom: Atom, known: Mapping[str, Bounds], facts: Facts) -> Bounds:
    if not atom.function:
        return known.get(atom.text, (None, None))
    ends = [bounds(argument, facts) for argument in atom.arguments]
    if atom.function in ("min", "max"):
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        if atom.function == "min":
            return _all_of(min, lows), _any_of(min, highs)
        return _any_of(max, lows), _all_of(max, highs)
    (low, high), (divisor, _) = ends
    assert divisor is not None
    if atom.function == "mod":
        same = low is not None and high is not None and low // divisor == high // divisor
        if same and low is not None and high is not None:
            return low % divisor, high % divisor
        return 0, divisor - 1
    up = divisor - 1 if atom.function == "ceildiv" else 0
    return (
        None if low is None else (low + up) // divisor,
        None if high is None else (high + up) // divisor,
    )


def _all_of(pick: Callable[[Iterable[int]], int], ends: list[int | None]) -> int | None:
    return None if None in ends else pick(end for end in ends if end is not None)


def _any_of(pick: Callable[[Iterable[int]], int], ends: list[int | None]) -> int | None:
    given = [end for end in ends if end is not None]
    return pick(given) if given else None


def confirms(values: Mapping[str, int], facts: Facts) -> bool:
    """Whether a binding fulfils the facts."""
    for name, low, high in facts.ranges:
        value = values.get(name)
        if value is not None and (
            (low is not None and value < low) or (high is not None and value > high)
        ):
            return False
    return all(
        evaluate(fact, values) >= 0
        for fact in facts.nonnegative
        if all(name in values for name in symbols(fact))
    )
