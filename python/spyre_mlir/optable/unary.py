# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unary operations and the cast: one result cell from one operand cell."""

from __future__ import annotations

from typing import Any

from . import domains
from .model import (
    ALL,
    BOOL,
    FLOATS,
    INTEGERS,
    SIGNED,
    Attribute,
    Device,
    Example,
    Op,
    Operand,
    Result,
    element_constraint,
)

T = "tensor<4x8xf16>"
SAME_SHAPE = "operand and result must have one shape"
SAME_ELEMENT = "operand and result must have one element type"
COMPUTED = " Computed in f32 and rounded once to the element type."


def _sigmoid(np: Any, x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(np: Any, x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _gelu(np: Any, x: Any) -> Any:
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel; 2 sqrt(2 / pi) = 1.59576912...
    gate = _sigmoid(np, 1.5957691216057308 * (x + 0.044715 * x * x * x))
    return np.where(np.isneginf(x), np.zeros_like(x), x * gate)


def _silu(np: Any, x: Any) -> Any:
    return np.where(np.isneginf(x), np.zeros_like(x), x * _sigmoid(np, x))


def _mish(np: Any, x: Any) -> Any:
    return np.where(np.isneginf(x), np.zeros_like(x), x * np.tanh(_softplus(np, x)))


def _not(np: Any, x: Any) -> Any:
    return np.logical_not(x) if x.dtype == np.bool_ else np.invert(x)


_ONE_STEP = (
    "abs",
    "neg",
    "exp",
    "fast_exp",
    "log",
    "sqrt",
    "reciprocal",
    "tanh",
    "relu",
    "floor",
    "identity",
    "sin",
    "cos",
    "not",
)


_EXACT = ("abs", "neg", "relu", "clip", "identity", "not")


def _unary(
    name: str,
    summary: str,
    description: str,
    scalar: Any,
    *,
    function: str | None = None,
    elements: tuple[str, ...] = FLOATS,
    attributes: tuple[Attribute, ...] = (),
    constants: tuple[tuple[str, str], ...] = (),
    refusal: str | None = None,
    example: str = T,
    written: str = "",
    extra: tuple[str, ...] = (),
    rounds_between: bool = False,
) -> Op:
    functions = (("", function),) if function else ()
    return Op(
        name=name,
        family="unary",
        summary=summary,
        description=description,
        operands=(Operand("input"),),
        results=(Result("result"),),
        attributes=attributes,
        elements=elements,
        constraints=(SAME_SHAPE, SAME_ELEMENT, element_constraint(elements), *extra),
        example=Example((example,), (example,), written),
        rule="unary",
        device=Device(functions=functions, constants=constants, refusal=refusal),
        tiling="pointwise",
        scalar=scalar,
        domain=domains.elementwise,
        rounds_between=rounds_between,
        one_step=name in _ONE_STEP,
        exact=name in _EXACT,
    )


def _number(name: str, default: float) -> Attribute:
    return Attribute(name, "f64", default)


_UNARY = (
    _unary(
        "abs",
        "absolute value",
        "|x|. Integers wrap: the smallest value stays as it is. Of -0 it is +0.",
        lambda np, x: np.abs(x),
        function="abs",
        elements=FLOATS + SIGNED,
    ),
    _unary(
        "neg",
        "negation",
        "-x. Integers wrap: the smallest value stays as it is. Of +0 it is -0.",
        lambda np, x: np.negative(x),
        function="neg",
        elements=FLOATS + SIGNED,
    ),
    _unary("exp", "exponential", "e to the x." + COMPUTED, lambda np, x: np.exp(x), function="exp"),
    _unary(
        "fast_exp",
        "exponential, fast form",
        "e to the x, by the device's faster approximation; its meaning is that of `exp`, its"
        " tolerance wider." + COMPUTED,
        lambda np, x: np.exp(x),
        function="fastexp",
    ),
    _unary(
        "log",
        "natural logarithm",
        "ln x; -inf of a zero of either sign, NaN below." + COMPUTED,
        lambda np, x: np.log(x),
        function="log",
    ),
    _unary(
        "sqrt",
        "square root",
        "Square root; -0 of -0, NaN below." + COMPUTED,
        lambda np, x: np.sqrt(x),
        function="sqrt",
    ),
    _unary(
        "rsqrt",
        "reciprocal square root",
        "1 / sqrt(x); an infinity of x's sign at a zero, NaN below." + COMPUTED,
        lambda np, x: 1 / np.sqrt(x),
        function="rsqrt",
    ),
    _unary(
        "reciprocal",
        "reciprocal",
        "1 / x; an infinity of x's sign at a zero." + COMPUTED,
        lambda np, x: 1 / x,
        function="reciprocal",
    ),
    _unary(
        "sigmoid",
        "logistic function",
        "1 / (1 + e to the -x)." + COMPUTED,
        _sigmoid,
        function="sigmoid",
    ),
    _unary(
        "fast_sigmoid",
        "logistic function, fast form",
        "1 / (1 + e to the -x), by the device's faster approximation; its meaning is that of"
        " `sigmoid`, its tolerance wider." + COMPUTED,
        _sigmoid,
        function="fastsigmoid",
    ),
    _unary(
        "tanh",
        "hyperbolic tangent",
        "tanh x." + COMPUTED,
        lambda np, x: np.tanh(x),
        function="tanh",
    ),
    _unary(
        "relu",
        "rectifier",
        "max(x, 0). NaN stays NaN; of -0 either zero.",
        lambda np, x: np.maximum(x, 0),
        function="relufwd",
        elements=FLOATS + SIGNED,
    ),
    _unary(
        "relu6",
        "rectifier capped at 6",
        "min(max(x, 0), 6). NaN stays NaN; of -0 either zero.",
        lambda np, x: np.minimum(np.maximum(x, 0), 6),
        function="relu6fwd",
        elements=FLOATS + SIGNED,
    ),
    _unary(
        "leaky_relu",
        "rectifier with a slope below zero",
        "x where x >= 0, else slope * x." + COMPUTED,
        lambda np, x, *, slope: np.where(x >= 0, x, x * np.asarray(slope, x.dtype)),
        function="leakyrelufwd",
        attributes=(_number("slope", 0.01),),
        written="slope = 0.2 : f64",
    ),
    _unary(
        "gelu",
        "Gaussian error linear unit",
        "0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). The tanh form is the definition: the"
        " device has one function for both forms. Of -inf it is 0." + COMPUTED,
        _gelu,
        function="gelufwd",
    ),
    _unary(
        "silu",
        "x times sigmoid(x)",
        "x / (1 + e to the -x); 0 at -inf." + COMPUTED,
        _silu,
        function="silu",
    ),
    _unary(
        "mish",
        "x times tanh(softplus(x))",
        "x tanh(ln(1 + e to the x)); 0 at -inf." + COMPUTED,
        _mish,
        function="mish",
    ),
    _unary(
        "softplus",
        "smooth rectifier",
        "ln(1 + e to the (beta x)) / beta, and x itself where beta x is above the threshold."
        + COMPUTED,
        _softplus,
        function="softplus",
        attributes=(_number("beta", 1.0), _number("threshold", 20.0)),
        constants=(("softplusBeta", "beta"), ("softplusThresh", "threshold")),
        written="beta = 2.0 : f64, threshold = 10.0 : f64",
        extra=("beta must not be zero",),
    ),
    _unary(
        "clip",
        "limits to a range",
        "min(max(x, min), max), both bounds rounded to the element type first. NaN stays NaN.",
        lambda np, x, *, min, max, rounded: np.clip(x, rounded(min), rounded(max)),
        function="clip",
        elements=FLOATS + SIGNED,
        attributes=(Attribute("min", "f64"), Attribute("max", "f64")),
        constants=(("clipMin", "min"), ("clipMax", "max")),
        written="max = 1.0 : f64, min = -1.0 : f64",
        extra=("min must not be above max",),
        rounds_between=True,
    ),
    _unary(
        "floor",
        "round down",
        "Largest whole number not above x; exact. -0, infinities and NaN stay.",
        lambda np, x: np.floor(x),
        function="floor",
    ),
    _unary(
        "identity",
        "copy",
        "The operand's cells in a buffer of their own.",
        lambda np, x: x,
        function="identity",
        elements=ALL,
    ),
    _unary(
        "sin",
        "sine",
        "sin x, NaN at infinities." + COMPUTED,
        lambda np, x: np.sin(x),
        refusal="the device has no sin; the nearest is a polynomial in x from mul and add after"
        " range reduction with floor",
    ),
    _unary(
        "cos",
        "cosine",
        "cos x, NaN at infinities." + COMPUTED,
        lambda np, x: np.cos(x),
        refusal="the device has no cos; the nearest is a polynomial in x from mul and add after"
        " range reduction with floor",
    ),
    _unary(
        "not",
        "bitwise complement",
        "Bitwise complement; of i1, logical not.",
        _not,
        elements=INTEGERS + BOOL,
        refusal="the device has no not; of i1 the nearest is equal of the operand cast to f16 and"
        " zero",
        example="tensor<4x8xi1>",
    ),
)

_CAST = (
    Op(
        name="cast",
        family="cast",
        summary="change of element type",
        description="The same number in the result's element type. To a float: rounded to nearest"
        " even; what is too large becomes an infinity where the type has one, else NaN"
        " (f8E4M3FN, f8E5M2FNUZ). Float to integer: truncated towards zero, saturated at the"
        " type's range, NaN gives 0. Integer to integer: the low bits. To i1: whether it"
        " differs from zero (NaN does). From i1: 0 or 1. A cast to the same type is the"
        " identity.",
        operands=(Operand("input"),),
        results=(Result("result", ALL),),
        attributes=(),
        elements=ALL,
        constraints=(
            SAME_SHAPE,
            element_constraint(ALL, "operand element type"),
            element_constraint(ALL, "result element type"),
        ),
        example=Example((T,), ("tensor<4x8xf32>",)),
        rule="cast",
        device=Device(
            functions=(
                ("f16->f32", "dl16tofp32"),
                ("f32->f16", "fp32todl16"),
                ("f8E4M3FN->f16", "fp8todl16"),
                ("f16->f8E4M3FN", "qfp8ch"),
                ("*", "to_dtype"),
            )
        ),
        tiling="pointwise",
        domain=domains.elementwise,
    ),
)

OPS = (*_UNARY, *_CAST)
