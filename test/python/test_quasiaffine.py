# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quasi-affine expressions: normal form, spelling and arithmetic, against plain Python on the same
text."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir.quasiaffine import Expression, linear, literal, parse, symbol

NAMES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("floor((Mod(a, 256))/64)", "floor(Mod(a, 256)/64)"),
        ("floor(Mod(a, 64))", "Mod(a, 64)"),
        ("floor(2*(Mod(h, 2048)))", "2*Mod(h, 2048)"),
        ("Mod(3*a, 64)", "Mod(3*a, 64)"),
        ("Mod(64*a + b, 1024)", "Mod(64*a + b, 1024)"),
        ("Mod(64*a + 128, 1024)", "64*Mod(a + 2, 16)"),
        ("ModularIndexing(a, 4, 16)", "floor(Mod(a, 64)/4)"),
        ("Mod(FloorDiv(a, 4), 16)", "floor(Mod(a, 64)/4)"),
        ("a//64", "floor(a/64)"),
        ("(a//4)//16", "floor(a/64)"),
        ("floor((64*a + b)/256)", "floor((64*a + b)/256)"),
        ("floor((64*a + 128)/256)", "floor((a + 2)/4)"),
        ("floor((256*a + b)/256)", "a + floor(b/256)"),
        ("Mod(256*a + b, 256)", "Mod(b, 256)"),
        ("Mod(Mod(a, 256), 64)", "Mod(a, 64)"),
        ("Mod(Mod(a, 64), 256)", "Mod(a, 64)"),
        ("b + 2*a - b", "2*a"),
        ("-a + 3", "-a + 3"),
        ("1024*d0 + 64*d1 + d2 - 7", "1024*d0 + 64*d1 + d2 - 7"),
        ("floor(floor((a + 1)/4)/3 + 1/3)", "floor((a + 5)/12)"),
        ("0*a", "0"),
    ],
)
def test_one_spelling(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)
    assert hash(parse(canonical)) == hash(parse(text))


@pytest.mark.parametrize(
    "text",
    ["", "a/2", "a*b", "a/b", "Mod(a, b)", "Mod(a, 0)", "floor(a", "sin(a)", "a $ b", "a b", "-"],
)
def test_what_is_not_quasi_affine_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def random_expression(draw: random.Random, depth: int, names: tuple[str, ...] = NAMES) -> str:
    """The text of an expression, as the cases spell them; Python evaluates it with floor and Mod
    given."""
    if depth == 0:
        return draw.choice([*names, str(draw.randint(-9, 9))])
    inner = random_expression(draw, depth - 1, names)
    match draw.randrange(5):
        case 0:
            return f"({inner} + {random_expression(draw, depth - 1, names)})"
        case 1:
            return f"{draw.randint(-8, 8)}*({inner})"
        case 2:
            return f"(({inner})//{draw.randint(1, 12)})"
        case 3:
            return f"Mod({inner}, {draw.randint(1, 12)})"
        case _:
            return f"({inner} - {random_expression(draw, depth - 1, names)})"


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 40))
def test_an_expression_means_what_its_text_says(seed: int) -> None:
    draw = random.Random(seed)
    text = random_expression(draw, draw.randint(0, 4))
    expression = parse(text)
    again = parse(str(expression))
    assert again == expression
    replaced = expression.substitute({"a": 3 * symbol("b") + 1, "c": literal(5)})
    for _ in range(20):
        values = {name: draw.randint(-40, 40) for name in NAMES}
        expected = eval(text, {"Mod": lambda x, m: x % m}, values)
        assert expression.evaluate(values) == expected
        moved = {**values, "a": 3 * values["b"] + 1, "c": 5}
        assert replaced.evaluate(values) == expression.evaluate(moved)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 40), st.integers(1, 20))
def test_operators(seed: int, divisor: int) -> None:
    draw = random.Random(seed)
    left = parse(random_expression(draw, 3))
    right = parse(random_expression(draw, 2))
    whole, rest = left.split(divisor)
    for _ in range(10):
        values = {name: draw.randint(-40, 40) for name in NAMES}
        one, other = left.evaluate(values), right.evaluate(values)
        assert (left + right).evaluate(values) == one + other
        assert (left - right).evaluate(values) == one - other
        assert (left // divisor).evaluate(values) == one // divisor
        assert (left % divisor).evaluate(values) == one % divisor
        assert divisor * whole.evaluate(values) + rest.evaluate(values) == one
    assert left + right == right + left
    assert set(left.symbols()) <= set(NAMES)


def test_arrays_are_evaluated_element_by_element() -> None:
    expression = parse("floor((3*a + b)/4) + 2*Mod(b - a, 5)")
    a, b = np.meshgrid(np.arange(-9, 9), np.arange(-9, 9))
    found = expression.evaluate({"a": a, "b": b})
    expected = [
        [expression.evaluate({"a": x, "b": y}) for x, y in zip(*row, strict=True)]
        for row in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert found.tolist() == expected


def test_values_and_constructors() -> None:
    assert linear({"b": 2, "a": 1, "c": 0}, 7) == parse("a + 2*b + 7")
    assert literal(3).is_constant and not symbol("a").is_constant
    assert symbol("a").is_linear and not parse("a//2").is_linear
    assert parse("floor((a + b)/3) + Mod(c, 2)").symbols() == ("a", "b", "c")
    assert Expression() == literal(0)
    with pytest.raises(KeyError):
        symbol("a").evaluate({})
