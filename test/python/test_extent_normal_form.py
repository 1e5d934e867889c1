# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The normal form of extents in C++, against an evaluator of its own over random expressions."""

from __future__ import annotations

import random
import re

import pytest

from spyre_mlir import ir  # noqa: F401  (loads the extension)
from spyre_mlir._mlir_libs._spyre import normalize_extent

SYMBOLS = ("n", "m", "k")


def random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice([*SYMBOLS, str(rng.randint(0, 9))])
    kind = rng.choice(["+", "-", "*", "floordiv", "ceildiv", "mod", "min", "max"])
    left = random_expression(rng, depth - 1)
    if kind in ("min", "max"):
        return f"{kind}({left}, {random_expression(rng, depth - 1)})"
    if kind in ("floordiv", "ceildiv", "mod"):
        return f"({left}) {kind} {rng.randint(1, 6)}"
    if kind == "*":
        return f"{rng.randint(-3, 4)} * ({left})"
    return f"({left}) {kind} ({random_expression(rng, depth - 1)})"


class Evaluator:
    """Python's integer arithmetic over the same grammar."""

    def __init__(self, text: str, values: dict[str, int]) -> None:
        self.tokens = re.findall(r"[A-Za-z_]+|\d+|[()+\-*,]", text)
        self.values = values

    def take(self) -> str:
        return self.tokens.pop(0)

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def sum(self) -> int:
        value = self.product()
        while self.peek() in ("+", "-"):
            value += self.product() if self.take() == "+" else -self.product()
        return value

    def product(self) -> int:
        value = self.unit()
        while self.peek() in ("*", "floordiv", "ceildiv", "mod"):
            operator, right = self.take(), self.unit()
            if operator == "*":
                value *= right
            elif operator == "floordiv":
                value //= right
            elif operator == "ceildiv":
                value = -(-value // right)
            else:
                value %= right
        return value

    def unit(self) -> int:
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take()
            return value
        if token == "-":
            return -self.unit()
        if token in ("min", "max"):
            self.take()
            values = [self.sum()]
            while self.take() == ",":
                values.append(self.sum())
            return min(values) if token == "min" else max(values)
        return int(token) if token.isdigit() else self.values[token]


def test_normal_form_keeps_the_value_and_is_stable() -> None:
    rng = random.Random(1)
    for _ in range(5000):
        text = random_expression(rng, rng.randint(0, 4))
        normal = normalize_extent(text)
        assert normalize_extent(normal) == normal
        for _ in range(3):
            values = {name: rng.randint(-20, 20) for name in SYMBOLS}
            assert Evaluator(text, values).sum() == Evaluator(normal, values).sum(), (text, normal)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1 + n", "n + 1"),
        ("n + n", "2 * n"),
        ("min(64, n)", "min(n, 64)"),
        ("(x + 64) - x", "64"),
        ("n * 2 floordiv 2", "n"),
        ("(n + 130) mod 64", "(n + 2) mod 64"),
        ("min(n, n + 1, 5, 7)", "min(n, 5)"),
        ("3 - n floordiv 2", "-(n floordiv 2) + 3"),
        ("n - n + 1", "1"),
        ("max(min(n, 3), m)", "max(m, min(n, 3))"),
        ("-9223372036854775808", "-9223372036854775808"),
    ],
)
def test_spellings(text: str, normal: str) -> None:
    assert normalize_extent(text) == normal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9223372036854775807 + 1", "64 bits"),
        ("n floordiv 0", "positive literal"),
        ("n floordiv m", "positive literal"),
        ("min", "reserved word"),
        ("min(n", "not closed"),
        ("n n", "unexpected"),
        ("1x", "no 64-bit integer"),
        ("", "ends too early"),
        ("(" * 5000, "too deeply"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        normalize_extent(text)
