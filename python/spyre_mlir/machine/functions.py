# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device functions compute, keyed by the name that an SDSC calls them by.

A table of its own: nothing of it comes from the operation table. Functions work on whole tensors
over the dims of the operation, f32 for floats and 64-bit integers, an extent of 1 where an operand
stands still. (Source: the restated bundle specification; forms of gelu, softplus and the layer norm
pieces from what the reference compiler gives them as constants.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from spyre_mlir.machine.memory import Array

Constants = Mapping[str, float]
Pointwise = Callable[..., Array]


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _gelu(x: Array, _: Constants) -> Array:
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    # The tanh form, as the logistic function: it does not cancel for large negative x.
    return np.where(np.isneginf(x), 0, x * _sigmoid(2 * inner))


def _softplus(x: Array, constants: Constants) -> Array:
    beta, threshold = constants["softplusBeta"], constants["softplusThresh"]
    capped = np.minimum(x * beta, threshold)
    return np.where(x * beta > threshold, x, np.log1p(np.exp(capped)) / beta)


def _mish(x: Array, _: Constants) -> Array:
    return np.where(np.isneginf(x), 0, x * np.tanh(np.logaddexp(0, x)))


def _silu(x: Array, _: Constants) -> Array:
    return np.where(np.isneginf(x), 0, x * _sigmoid(x))


def _leaky(x: Array, constants: Constants) -> Array:
    return np.where(x >= 0, x, x * np.float32(constants.get("leakyReluAlpha", 0.01)))


def _clip(x: Array, constants: Constants) -> Array:
    # The bounds are constants of the operand's format, which is 16 bits wide.
    low, high = (np.float32(constants[name]) for name in ("clipMin", "clipMax"))
    return np.minimum(np.maximum(x, low), high)


UNARY: dict[str, Pointwise] = {
    "abs": lambda x, _: np.abs(x),
    "neg": lambda x, _: np.negative(x),
    "exp": lambda x, _: np.exp(x),
    "fastexp": lambda x, _: np.exp(x),
    "log": lambda x, _: np.log(x),
    "sqrt": lambda x, _: np.sqrt(x),
    "rsqrt": lambda x, _: 1 / np.sqrt(x),
    "reciprocal": lambda x, _: 1 / x,
    "sigmoid": lambda x, _: _sigmoid(x),
    "fastsigmoid": lambda x, _: _sigmoid(x),
    "tanh": lambda x, _: np.tanh(x),
    "relufwd": lambda x, _: np.maximum(x, 0),
    "relu6fwd": lambda x, _: np.minimum(np.maximum(x, 0), 6),
    "leakyrelufwd": _leaky,
    "gelufwd": _gelu,
    "silu": _silu,
    "mish": _mish,
    "softplus": _softplus,
    "clip": _clip,
    "floor": lambda x, _: np.floor(x),
    "square": lambda x, _: x * x,
}
"""Functions of one operand, cell by cell."""

CONVERSIONS = ("to_dtype", "dl16tofp32", "fp32todl16", "fp8todl16", "qfp8ch", "qfp8mb")
"""Functions of one operand that change its format. The order of elements in their sticks (the two
sticks of a `dl16tofp32` take turns) is that of their place in the tensor: what the device does with
it, it undoes on the way out."""

MOVES = ("identity", "ReStickifyOpHBM", "shuffle")
"""Functions that move bytes."""

BINARY: dict[str, Pointwise] = {
    "add": lambda x, y, _: x + y,
    "biasadd": lambda x, y, _: x + y,
    "sub": lambda x, y, _: x - y,
    "revsub": lambda x, y, _: y - x,
    "mul": lambda x, y, _: x * y,
    "realdiv": lambda x, y, _: x / y,
    "maximum": lambda x, y, _: np.maximum(x, y),
    "minimum": lambda x, y, _: np.minimum(x, y),
    "equal": lambda x, y, _: np.equal(x, y),
    "notequal": lambda x, y, _: np.not_equal(x, y),
    "greaterthan": lambda x, y, _: np.greater(x, y),
    "greaterequal": lambda x, y, _: np.greater_equal(x, y),
    "lesserthan": lambda x, y, _: np.less(x, y),
    "lesserequal": lambda x, y, _: np.less_equal(x, y),
}
"""Functions of two operands, cell by cell."""

TERNARY: dict[str, Pointwise] = {
    "where3": lambda mask, x, y, _: np.asarray(np.where(mask != 0, x, y)),
}
"""Functions of three operands, cell by cell."""

POINTWISE: dict[str, tuple[int, Pointwise]] = {
    **{name: (1, function) for name, function in UNARY.items()},
    **{name: (2, function) for name, function in BINARY.items()},
    **{name: (3, function) for name, function in TERNARY.items()},
}
"""Function -> number of operands, what it computes."""

REDUCTIONS: dict[str, Callable[[Array, tuple[int, ...], Constants], Array]] = {
    "sum": lambda x, dims, _: x.sum(axis=dims, keepdims=True),
    "prod": lambda x, dims, _: x.prod(axis=dims, keepdims=True),
    "max": lambda x, dims, _: x.max(axis=dims, keepdims=True),
    "min": lambda x, dims, _: x.min(axis=dims, keepdims=True),
    "absmax": lambda x, dims, _: np.abs(x).max(axis=dims, keepdims=True),
    "mean": lambda x, dims, constants: (
        x.sum(axis=dims, keepdims=True) * np.float32(constants["scaling_factor"])
    ),
}
"""Functions that combine cells along dims, each also with the suffix `nonstick`."""

MATMULS = ("batchmatmul", "batchmatmulfp8", "batchmatmulint4", "batchmatmulint8")

TOPK = ("topkvalue", "topkindex")


def reduction(function: str) -> str | None:
    """The reduction that a function is, without the suffix that says where the dims lie."""
    name = function.removesuffix("nonstick")
    return name if name in REDUCTIONS else None


def moments(x: Array, dims: tuple[int, ...], constants: Constants) -> tuple[Array, Array]:
    """Mean (0 with `useZeroMean`) and mean of the squares, `exx2`: lanes 0 and 1 of a stick."""
    scale = np.float32(constants["exx2scale"])
    mean = x.sum(axis=dims, keepdims=True) * scale
    if constants["useZeroMean"]:
        mean = np.zeros_like(mean)
    return mean, (x * x).sum(axis=dims, keepdims=True) * scale


def norm_scale(mean: Array, squares: Array, constants: Constants) -> Array:
    """Reciprocal standard deviation from the moments, `layernormscale`."""
    return np.asarray(1 / np.sqrt(squares - mean * mean + np.float32(constants["eps"])))


def norm(x: Array, mean: Array, scale: Array, weight: Array, bias: Array) -> Array:
    """Normalised, scaled and shifted cells, `layernormnorm`."""
    return (x - mean) * scale * weight + bias


def largest(x: Array, dim: int, count: int, *, positions: bool) -> Array:
    """The `count` largest along `dim` in decreasing order, or where they stand; of equals the first
    comes first, NaN counts as larger than everything."""
    key = -x.astype(np.float64)
    key[np.isnan(key)] = -np.inf
    kind = np.where(np.isnan(x.astype(np.float64)), 0, 1)
    order: Array = np.lexsort((key, kind), axis=dim).take(np.arange(count), axis=dim)
    return order if positions else np.take_along_axis(x, order, axis=dim)
