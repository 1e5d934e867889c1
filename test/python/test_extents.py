# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents as Python values: the same normal form as the dialect's, and sympy in and out."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spyre_mlir import extents, ir  # noqa: F401  (ir loads what the extension needs)

# isort: split
from spyre_mlir._mlir_libs._spyre import normalize_extent

NAMES = ("n", "m", "k", "k_1")


def random_text(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice([*NAMES, str(rng.randint(0, 9))])
    kind = rng.choice(["+", "-", "*", "product", "neg", "floordiv", "ceildiv", "mod", "min", "max"])
    left = random_text(rng, depth - 1)
    if kind in extents.EXTREMA:
        arguments = [left, *(random_text(rng, depth - 1) for _ in range(rng.randint(1, 2)))]
        return f"{kind}({', '.join(arguments)})"
    if kind in extents.DIVISIONS:
        return f"({left}) {kind} {rng.randint(1, 6)}"
    if kind == "*":
        return f"{rng.randint(-3, 4)} * ({left})"
    if kind == "neg":
        return f"-({left})"
    other = random_text(rng, depth - 1)
    return f"({left}) {'*' if kind == 'product' else kind} ({other})"


def test_python_and_the_dialect_have_one_normal_form() -> None:
    rng = random.Random(6)
    for _ in range(4000):
        text = random_text(rng, rng.randint(0, 4))
        value = extents.parse(text)
        assert str(value) == normalize_extent(text), text
        assert extents.parse(str(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775807 + 1",
        "n floordiv 0",
        "n floordiv m",
        "n mod -1",
        "min",
        "min(n",
        "n n",
        "1x",
        "",
        "n +",
        "(" * 5000,
        "n ; m",
        "mod",
        "9223372036854775808",
        "4611686018427387904 * n * 2",
        "é",
        ", n",
        "n + 0x10",
    ],
)
def test_python_refuses_what_the_dialect_refuses(text: str) -> None:
    with pytest.raises(ValueError) as theirs:
        normalize_extent(text)
    with pytest.raises(ValueError) as ours:
        extents.parse(text)
    if "unexpected" not in str(ours.value):
        assert str(ours.value) in str(theirs.value)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1 + n", "n + 1"),
        ("min(64, n)", "min(n, 64)"),
        ("(x + 64) - x", "64"),
        ("(y + 128) - (y + 64)", "64"),
        ("n + n", "2 * n"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("2 * n floordiv 4", "(2 * n) floordiv 4"),
    ],
)
def test_spellings(text: str, normal: str) -> None:
    assert str(extents.parse(text)) == normal == normalize_extent(text)


def test_values_are_interchangeable() -> None:
    n = extents.symbol("n")
    assert n + 1 == 1 + n == extents.parse("1 + n")
    assert hash(n + 1) == hash(extents.parse("n + 1"))
    assert n - n == 0 and isinstance(n - n, int)
    assert (2 * n) // 2 == n and n % 4 == extents.parse("n mod 4") and -n == 0 - n
    assert 3 - n == extents.parse("3 - n") and n * n != n
    assert pickle.loads(pickle.dumps(n + 1)) == n + 1
    assert repr(n + 1) == "Expression('n + 1')"
    assert extents.symbols(n + extents.symbol("a")) == ("a", "n") and extents.symbols(3) == ()


@given(st.integers(0, 2**32), st.dictionaries(st.sampled_from(NAMES), st.integers(-20, 20)))
def test_value_substitution_and_sympy_agree(seed: int, some: dict[str, int]) -> None:
    text = random_text(random.Random(seed), 3)
    values = {name: some.get(name, 7) for name in NAMES}
    extent = extents.parse(text)
    value = extents.evaluate(extent, values)
    pythonic = text.replace("floordiv", "//").replace("mod", "%")
    if "ceildiv" not in pythonic:
        assert value == eval(pythonic, {"min": min, "max": max}, dict(values))
    assert extents.substitute(extent, values) == value
    partly = extents.substitute(extent, {"n": extents.parse("m + 1")})
    assert extents.evaluate(partly, values) == extents.evaluate(
        extent, {**values, "n": values["m"] + 1}
    )


def test_sympy_in_and_out() -> None:
    import sympy

    n, m = sympy.symbols("n m", integer=True)
    assert str(extents.from_sympy(sympy.Min(n + 1, 64) + 2 * m)) == "2 * m + min(n + 1, 64)"
    assert str(extents.from_sympy(sympy.ceiling(n / 64))) == "n ceildiv 64"
    assert str(extents.from_sympy(sympy.floor((n + 1) / 2) + sympy.Mod(n, 4) + m**2)) == (
        "(n + 1) floordiv 2 + m * m + n mod 4"
    )
    with pytest.raises(TypeError):
        extents.from_sympy(n / 2)
    with pytest.raises(TypeError):
        extents.from_sympy(sympy.sin(n))
    for text in ("n + 1", "min(n, 64)", "n floordiv 3 + n mod 5", "max(n, m) ceildiv 2", "7"):
        extent = extents.parse(text)
        back = extents.from_sympy(extents.to_sympy(extent))
        for a in range(-5, 6):
            for b in range(-5, 6):
                values = {"n": a, "m": b}
                assert extents.evaluate(back, values) == extents.evaluate(extent, values)


def test_importing_extents_imports_neither_sympy_nor_mlir() -> None:
    import subprocess
    import sys

    code = (
        "import sys, spyre_mlir.extents as e; e.parse('n + 1');"
        "assert 'sympy' not in sys.modules and 'mlir.ir' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
