# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations against formulas in f64 and 64-bit integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_cells import floating, random_values, rounded, run, steps_apart, wide

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate
from spyre_mlir.optable import OPS

SHAPES = [
    ((), (), ()),
    ((5,), (5,), (5,)),
    ((3, 4), (4,), (3, 4)),
    ((3, 1), (1, 4), (3, 4)),
    ((2, 3, 4), (3, 1), (2, 3, 4)),
    ((2, 1, 3, 2), (2, 1, 3, 2), (2, 1, 3, 2)),
    ((1, 2, 1, 2, 3), (2, 2, 2, 1, 1), (2, 2, 2, 2, 3)),
    ((0, 4), (4,), (0, 4)),
]


def _trunc_div(a: Any, b: Any) -> Any:
    return np.vectorize(lambda x, y: math.trunc(_exact(int(x), int(y))), otypes=[object])(a, b)


def _exact(x: int, y: int) -> Any:
    from fractions import Fraction

    return Fraction(x, y)


def _python_mod(a: Any, b: Any) -> Any:
    return np.vectorize(lambda x, y: int(x) % int(y), otypes=[object])(a, b)


def _c_mod(a: Any, b: Any) -> Any:
    def one(x: int, y: int) -> int:
        return int(x) - int(y) * math.trunc(_exact(int(x), int(y)))

    return np.vectorize(one, otypes=[object])(a, b)


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda a, b: a + b, lambda a, b: a + b),
    "sub": (lambda a, b: a - b, lambda a, b: a - b),
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "div": (lambda a, b: a / b, _trunc_div),
    "maximum": (np.maximum, np.maximum),
    "minimum": (np.minimum, np.minimum),
    "fmod": (np.fmod, _c_mod),
    "rem": (np.mod, _python_mod),
    "and": (None, lambda a, b: a & b),
    "or": (None, lambda a, b: a | b),
    "xor": (None, lambda a, b: a ^ b),
    "shl": (None, lambda a, b: a << b),
    "shr": (None, lambda a, b: a >> b),
}  # type: ignore[dict-item]


def _second(rng: np.random.Generator, name: str, shape: Any, element: str, special: bool) -> Any:
    values = random_values(rng, shape, element, special=special)
    if name in ("shl", "shr"):
        return rng.integers(0, 8 * DTYPES[element].itemsize, shape).astype(DTYPES[element])
    if name in ("div", "fmod", "rem") and not floating(element):
        return np.where(values == 0, 3, values).astype(DTYPES[element])
    return values


def _low_bits(values: Any, element: str) -> Any:
    if element == "i1":
        return np.asarray(values).astype(bool)
    bits = 8 * DTYPES[element].itemsize
    whole = np.vectorize(lambda v: int(v) & ((1 << bits) - 1), otypes=[object])(
        np.asarray(values, object)
    )
    unsigned = np.asarray(whole).astype(np.dtype(f"u{bits // 8}"))
    return unsigned.view(DTYPES[element]) if unsigned.ndim else unsigned.astype(DTYPES[element])


@pytest.mark.parametrize(
    ("name", "element"), [(name, e) for name in BINARY for e in OPS[name].elements]
)
def test_binary_is_its_formula(name: str, element: str) -> None:
    rng = np.random.default_rng([ord(c) for c in name + element])
    for left, right, shape in SHAPES:
        for special in (False, True):
            a = random_values(rng, left, element, special=special)
            b = _second(rng, name, right, element, special)
            (got,) = run(name, [a, b], [Bound(shape, element)])
            assert got.shape == shape and got.dtype == DTYPES[element]
            with np.errstate(all="ignore"):
                if floating(element):
                    want = rounded(np.asarray(BINARY[name][0](wide(a), wide(b))), element)
                    # x - y * floor(x / y) of numpy itself is exact in f64 and in f32.
                    assert steps_apart(got, want) == 0, (a, b, got, want)
                else:
                    exact = [np.asarray(wide(v), object) for v in (a, b)]
                    want = _low_bits(BINARY[name][1](*exact), element)
                    assert (got == want).all(), (a, b, got, want)


@pytest.mark.parametrize("name", ["add", "sub", "div", "maximum"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i8", "i32"])
def test_scalars_stand_on_either_side(name: str, element: str) -> None:
    rng = np.random.default_rng(1)
    x = np.where(random_values(rng, (3, 4), element) == 0, 1, random_values(rng, (3, 4), element))
    x = np.where(x == 0, 2, x).astype(DTYPES[element])
    s = DTYPES[element].type(3)
    bound = Bound((3, 4), element)
    (left,) = run(name, [s, x], [bound])
    (right,) = run(name, [x, s], [bound])
    whole = np.full((3, 4), s)
    assert (left == run(name, [whole, x], [bound])[0]).all()
    assert (right == run(name, [x, whole], [bound])[0]).all()


@pytest.mark.parametrize("element", OPS["cmp"].elements)
@pytest.mark.parametrize("predicate", ["eq", "ne", "gt", "ge", "lt", "le"])
def test_compare(predicate: str, element: str) -> None:
    import operator

    rng = np.random.default_rng(2)
    a, b = (random_values(rng, (4, 13), element, special=True) for _ in range(2))
    a = np.where(rng.random((4, 13)) < 0.3, b, a)
    (got,) = run("cmp", [a, b], [Bound((4, 13), "i1")], {"predicate": predicate})
    with np.errstate(all="ignore"):
        want = np.vectorize(getattr(operator, predicate), otypes=[bool])(wide(a), wide(b))
    assert got.dtype == bool and (got == want).all()


@pytest.mark.parametrize("name", ["addc", "subc", "addsc", "subsc"])
@pytest.mark.parametrize("element", OPS["addc"].elements)
def test_three_operands_round_twice(name: str, element: str) -> None:
    rng = np.random.default_rng(3)
    a, b, c = (random_values(rng, (4, 5), element) for _ in range(3))
    middle = b[0, 0] if name.endswith("sc") else b
    first = "add" if name.startswith("add") else "sub"
    bound = Bound((4, 5), element)
    (got,) = run(name, [a, middle, c], [bound])
    (step,) = run(first, [a, middle], [bound])
    (want,) = run("add", [step, c], [bound])
    assert (got == want).all()


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


UNARY: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "neg": lambda x: -x,
    "exp": np.exp,
    "fast_exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": _sigmoid,
    "fast_sigmoid": _sigmoid,
    "tanh": np.tanh,
    "relu": lambda x: np.where(np.isnan(x), x, np.where(x > 0, x, 0)),
    "relu6": lambda x: np.where(np.isnan(x), x, np.clip(x, 0, 6)),
    "leaky_relu": lambda x, slope: np.where(x >= 0, x, slope * x),
    "gelu": lambda x: x * _sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "softplus": _softplus,
    "clip": lambda x, min, max: np.where(np.isnan(x), x, np.clip(x, min, max)),
    "floor": np.floor,
    "identity": lambda x: x,
    "sin": np.sin,
    "cos": np.cos,
    "not": lambda x: ~x,
}
WRITTEN: dict[str, dict[str, float]] = {
    "leaky_relu": {"slope": 0.25},
    "softplus": {"beta": 2.0, "threshold": 10.0},
    "clip": {"min": -1.0, "max": 2.0},
}
# Steps of f32 by which numpy's f32 functions differ from f64, composed ones more.
STEPS_F32 = {"gelu": 200, "mish": 40, "silu": 40, "softplus": 40}
ZERO_AT_MINUS_INFINITY = ("gelu", "silu", "mish")


@pytest.mark.parametrize(
    ("name", "element"), [(name, e) for name in UNARY for e in OPS[name].elements]
)
def test_unary_is_its_formula(name: str, element: str) -> None:
    rng = np.random.default_rng([ord(c) for c in name + element])
    attributes = WRITTEN.get(name, {})
    for _, _, shape in SHAPES:
        for special in (False, True):
            x = random_values(rng, shape, element, special=special)
            (got,) = run(name, [x], [Bound(shape, element)], attributes)
            with np.errstate(all="ignore"):
                exact = np.asarray(UNARY[name](x if element == "i1" else wide(x), **attributes))
            if not floating(element):
                assert (got == _low_bits(exact, element)).all(), (x, got)
                continue
            if name in ZERO_AT_MINUS_INFINITY:
                exact = np.where(np.isneginf(wide(x)), 0, exact)
            allowed = STEPS_F32.get(name, 4) if element == "f32" else 1
            want = x if name == "identity" else rounded(exact, element)
            assert steps_apart(got, want) <= (0 if name == "identity" else allowed), (x, got, want)


def test_special_values_are_as_documented() -> None:
    inf, nan = np.inf, np.nan
    table = {
        "abs": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
        "neg": [(0.0, -0.0), (inf, -inf)],
        "log": [(0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf)],
        "sqrt": [(-0.0, -0.0), (-1.0, nan), (inf, inf)],
        "rsqrt": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-1.0, nan)],
        "reciprocal": [(0.0, inf), (-0.0, -inf), (-inf, -0.0)],
        "exp": [(-inf, 0.0), (inf, inf), (100.0, inf)],
        "sigmoid": [(-inf, 0.0), (inf, 1.0)],
        "tanh": [(-inf, -1.0), (inf, 1.0)],
        "gelu": [(-inf, 0.0), (inf, inf)],
        "silu": [(-inf, 0.0), (inf, inf)],
        "mish": [(-inf, 0.0), (inf, inf)],
        "softplus": [(-inf, 0.0), (inf, inf)],
        "floor": [(-0.0, -0.0), (inf, inf), (-0.5, -1.0)],
        "sin": [(inf, nan), (-0.0, -0.0)],
        "relu": [(nan, nan), (-inf, 0.0)],
    }
    for name, pairs in table.items():
        for x, want in pairs:
            got = run(name, [np.array([x], np.float16)], [Bound((1,), "f16")])[0][0]
            same = math.isnan(want) if math.isnan(got) else (got == want)
            assert same and (want != 0 or np.signbit(got) == np.signbit(want)), (name, x, got)


CAST_VALUES = (
    *[0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.5, 128.0, -128.9, 255.9, 256.0, 300.0, -1.0],
    *[6.5e4, 1e6, 2147483647.0, 2147483648.0, -2147483649.0, 9.3e18, -9.3e18, 1e30, 448.0, 464.0],
    *[465.0, 57344.0, 6e4, 1e-3, 1e-9, np.inf, -np.inf, np.nan],
)


@pytest.mark.parametrize("source", OPS["cast"].elements)
@pytest.mark.parametrize("target", OPS["cast"].elements)
def test_cast(source: str, target: str) -> None:
    rng = np.random.default_rng(4)
    with np.errstate(all="ignore"):
        if floating(source):
            x = np.array(CAST_VALUES, np.float32).astype(DTYPES[source])
        else:
            x = random_values(rng, (200,), source)
    (got,) = run("cast", [x], [Bound(x.shape, target)])
    assert got.dtype == DTYPES[target]
    for value, result in zip(x, got, strict=True):
        assert _cast_right(value, result, source, target), (value, result)


def _cast_right(value: Any, result: Any, source: str, target: str) -> bool:
    if target == "i1":
        return bool(result) == bool(value != 0)
    number = float(value) if floating(source) else int(value)
    if not floating(target):
        info = np.iinfo(DTYPES[target])
        if not floating(source):
            return bool(int(result) == _low_bits(np.array([number], object), target)[0])
        if math.isnan(number):
            return int(result) == 0
        bounded = min(max(number, info.min), info.max)
        return int(result) == max(info.min, min(info.max, math.trunc(bounded)))
    if isinstance(number, float) and math.isnan(number):
        return math.isnan(float(result))
    return _nearest(number, result, target)


def _nearest(number: Any, result: Any, target: str) -> bool:
    """Whether no other value of the type is nearer; what is too large as the table says."""
    from fractions import Fraction

    dtype = DTYPES[target]
    got = float(result)
    if isinstance(number, float) and math.isinf(number):
        return got == number if target in ("f16", "bf16", "f32") else math.isnan(got)
    if not math.isfinite(got):
        largest = {"f16": 65504, "bf16": 3.3895e38, "f32": 3.4e38, "f8E4M3FN": 448}
        return abs(number) > largest.get(target, 57344)
    bits = np.array([result]).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[dtype.itemsize])[0]
    error = abs(Fraction(number) - Fraction(got))
    for neighbour in (int(bits) - 1, int(bits) + 1):
        if neighbour < 0 or neighbour >= 1 << (8 * dtype.itemsize):
            continue
        other = float(np.array([neighbour]).astype(bits.dtype).view(dtype)[0])
        if math.isfinite(other) and abs(Fraction(number) - Fraction(other)) < error:
            return False
        if math.isfinite(other) and abs(Fraction(number) - Fraction(other)) == error and error:
            return int(bits) % 2 == 0
    return True


def test_integer_hazards_are_refused_on_valid_cells_only() -> None:
    x = np.arange(4, dtype=np.int32)
    zero = np.array([1, 1, 1, 0], np.int32)
    full = Bound((4,), "i32")
    for name in ("div", "fmod", "rem"):
        with pytest.raises(Refusal, match=rf"SPY131: spyre.{name}: .*zero at cell \[3\]"):
            run(name, [x, zero], [full])
        part = Bound((4,), "i32", (3,))
        mask = np.array([False, False, False, True])
        (got,) = evaluate(name, [Cells(x, mask), Cells(zero, mask)], [part, part], [part])
        assert got.values[:3].tolist() == ([0, 1, 2] if name == "div" else [0, 0, 0])
    for name in ("shl", "shr"):
        for count in (-1, 32):
            with pytest.raises(Refusal, match=r"SPY131: .*shift count"):
                run(name, [x, np.array([0, 0, count, 0], np.int32)], [full])


def test_element_types_are_checked() -> None:
    x, y = np.zeros(2, np.float16), np.zeros(2, np.float32)
    with pytest.raises(Refusal, match=r"SPY139: spyre.add: .*f16, f32"):
        run("add", [x, y], [Bound((2,), "f16")])
    with pytest.raises(Refusal, match=r"SPY139: spyre.exp: operand 0"):
        run("exp", [np.zeros(2, np.int8)], [Bound((2,), "i8")])
    with pytest.raises(Refusal, match=r"SPY139: spyre.add: result 0 has shape"):
        run("add", [x, x], [Bound((3,), "f16")])
    with pytest.raises(Refusal, match="SPY136"):
        run("nothing", [x], [Bound((2,), "f16")])
    with pytest.raises(Refusal, match=r"SPY139: spyre.sum: .*needs attribute"):
        run("sum", [x], [Bound((), "f16")])
