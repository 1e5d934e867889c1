# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges of quasi-affine expressions, against enumeration of every point of the box."""

from __future__ import annotations

import random
from itertools import product

import islpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_quasiaffine import NAMES, random_expression

from spyre_mlir import value_ranges
from spyre_mlir.quasiaffine import Expression, Quotient, parse, symbol
from spyre_mlir.value_ranges import divide, simplify, value_range


def enumerated(expression: Expression, extents: dict[str, int]) -> set[int]:
    points = product(*(range(extent) for extent in extents.values()))
    return {expression.evaluate(dict(zip(extents, point, strict=True))) for point in points}


@pytest.mark.parametrize(
    ("text", "extents", "extent"),
    [
        ("a", {"a": 100}, 100),
        ("floor(a/64)", {"a": 4096}, 64),
        ("floor(a/64)", {"a": 150}, 3),
        ("Mod(a, 64)", {"a": 30}, 30),
        ("floor(Mod(a, 2048)/64)", {"a": 6000}, 32),
        ("floor(h/2048) + floor(2*Mod(l, 2048))", {"h": 4096, "l": 4096}, 4096),
        ("floor(h/2048) + floor(2*Mod(l, 2048))", {"h": 4096, "l": 1024}, 2048),
        ("floor(2*Mod(h, 2048))", {"h": 6000}, 4095),
        ("a + b", {"a": 10, "b": 20}, 29),
        # Two moduli, of which neither divides the other: the largest value lies between multiples.
        ("Mod(s, 96) + Mod(s, 64)", {"s": 200}, 159),
        ("Mod(s, 64) + Mod(s, 128)", {"s": 200}, 191),
        ("Mod(s, 64) + Mod(s, 128)", {"s": 100}, 135),
        # Descending, and coefficients inside a remainder.
        ("100 - a", {"a": 10}, 10),
        ("Mod(3*a, 64)", {"a": 64}, 64),
        ("Mod(3*a, 64)", {"a": 20}, 58),
        ("Mod(a + 1, 64)", {"a": 64}, 64),
        ("Mod(7 - a, 64)", {"a": 8}, 8),
        # Several symbols under one division or remainder.
        ("Mod(a + 8*b, 64)", {"a": 8, "b": 8}, 64),
        ("Mod(a + 8*b, 64)", {"a": 2, "b": 8}, 58),
        ("floor((64*a + b)/256)", {"a": 8, "b": 64}, 2),
        ("floor((64*a + b)/256)", {"a": 8, "b": 65}, 3),
        ("Mod(12345*a + 678, 1000003)", {"a": 900}, 988239),
        # Far too large to enumerate.
        ("floor(a/64)", {"a": 1 << 60}, 1 << 54),
        ("Mod(a + 65536*b, 4294967296)", {"a": 65536, "b": 1 << 40}, 1 << 32),
        ("Mod(a, 1048576) + floor(a/1048576)", {"a": 1 << 40}, (1 << 20) * 2 - 1),
    ],
)
def test_worked_extents(text: str, extents: dict[str, int], extent: int) -> None:
    found = value_range(parse(text), extents)
    assert found.exact
    assert found.extent == extent


@settings(max_examples=3000, deadline=None)
@given(st.integers(0, 1 << 48))
def test_the_range_is_the_enumerated_one(seed: int) -> None:
    draw = random.Random(seed)
    names = NAMES[: draw.randint(1, 3)]
    expression = parse(random_expression(draw, draw.randint(1, 4), names))
    extents = {name: draw.choice([1, 2, 3, 7, 12, draw.randint(1, 20)]) for name in names}
    values = enumerated(expression, extents)
    found = value_range(expression, extents)
    assert (found.low, found.high, found.exact) == (min(values), max(values), True)
    if found.step:
        assert values == set(range(found.low, found.high + 1, found.step))


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 1 << 48))
def test_long_symbols(seed: int) -> None:
    """Extents that go through many periods."""
    draw = random.Random(seed)
    names = NAMES[: draw.randint(1, 2)]
    expression = parse(random_expression(draw, draw.randint(2, 4), names))
    extents = {name: draw.randint(1, 3000 if len(names) == 1 else 60) for name in names}
    values = enumerated(expression, extents)
    found = value_range(expression, extents)
    assert (found.low, found.high, found.exact) == (min(values), max(values), True)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 400), st.integers(-300, 300), st.integers(-300, 300), st.integers(1, 200))
def test_remainders_of_a_progression(extent: int, step: int, first: int, modulus: int) -> None:
    expression = (symbol("a") * step + first) % modulus
    values = [(step * a + first) % modulus for a in range(extent)]
    found = value_range(expression, {"a": extent})
    assert (found.low, found.high, found.exact) == (min(values), max(values), True)


def test_beyond_the_limit_the_range_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = parse("Mod(a + 5*b, 17) + Mod(a + 3*b, 19)")
    extents = {"a": 40, "b": 40}
    exact = value_range(expression, extents)
    values = enumerated(expression, extents)
    assert (exact.low, exact.high, exact.exact) == (min(values), max(values), True)
    value_ranges._values.cache_clear()
    monkeypatch.setattr(value_ranges, "ENUMERATION_LIMIT", 16)
    bound = value_range(expression, extents)
    value_ranges._values.cache_clear()
    assert not bound.exact
    assert bound.low <= exact.low and bound.high >= exact.high


def test_a_symbol_without_extent_is_an_error() -> None:
    for text in ("a", "a + b", "floor(a/2)", "Mod(a, 3) + b"):
        with pytest.raises(KeyError):
            value_range(parse(text), {"b": 4})


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 1 << 48))
def test_division_over_a_box(seed: int) -> None:
    draw = random.Random(seed)
    extents = {name: draw.choice([1, 2, 4, 8, 64]) for name in NAMES[:2]}
    expression = parse(random_expression(draw, draw.randint(1, 3), NAMES[:2]))
    divisor = draw.choice([1, 2, 3, 4, 8, 16, 64])
    quotient, remainder = divide(expression, divisor, extents)
    simple = simplify(expression, extents)
    for point in product(*(range(extent) for extent in extents.values())):
        values = dict(zip(extents, point, strict=True))
        value = expression.evaluate(values)
        assert quotient.evaluate(values) == value // divisor
        assert remainder.evaluate(values) == value % divisor
        assert simple.evaluate(values) == value


@pytest.mark.parametrize(
    ("text", "extents", "simple"),
    [
        ("Mod(64*a + b, 2048)", {"a": 64, "b": 64}, "64*Mod(a, 32) + b"),
        ("Mod(64*a + b, 2048)", {"a": 32, "b": 64}, "64*a + b"),
        ("floor((64*a + b)/1024)", {"a": 128, "b": 64}, "floor(a/16)"),
        ("floor((64*a + b)/1024)", {"a": 16, "b": 64}, "0"),
        ("floor((64*a + b)/1024)", {"a": 16, "b": 65}, "floor((64*a + b)/1024)"),
        ("floor((1024*c + 64*a + b)/64)", {"a": 16, "b": 64, "c": 9}, "a + 16*c"),
        ("a + b", {"a": 1, "b": 5}, "b"),
    ],
)
def test_simplification(text: str, extents: dict[str, int], simple: str) -> None:
    assert str(simplify(parse(text), extents)) == simple


def _in_isl(expression: Expression) -> str:
    """The expression in the notation of isl."""
    parts = [str(expression.constant)]
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            text = atom
        elif isinstance(atom, Quotient):
            text = f"floor(({_in_isl(atom.argument)})/{atom.divisor})"
        else:
            text = f"(({_in_isl(atom.argument)}) mod {atom.modulus})"
        parts.append(f"{coefficient}*{text}")
    return " + ".join(parts)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 48))
def test_ranges_beyond_enumeration_are_those_of_isl(seed: int) -> None:
    """Boxes of up to 10^12 points, decided by integer programming."""
    draw = random.Random(seed)
    names = NAMES[:2]
    scale = draw.choice([1, 8, 64])
    text = random_expression(draw, draw.randint(1, 2), names)
    expression = parse(f"{scale}*({text}) + {draw.randint(0, 9)}*b") // draw.choice([1, 64, 100])
    if draw.random() < 0.5:
        expression = expression % draw.choice([64, 96, 1024])
    extents = {name: draw.randint(1, 1_000_000) for name in names}
    box = " and ".join(f"0 <= {name} < {extent}" for name, extent in extents.items())
    values = islpy.Set(f"{{ [v] : exists a, b : {box} and v = {_in_isl(expression)} }}")
    found = value_range(expression, extents)
    low, high = values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()
    if found.exact:
        assert (found.low, found.high) == (low, high)
    else:
        assert found.low <= low and found.high >= high
