# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors for the interpreter's tests, and comparison with f64 formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 65504.0, 6e-8)
FLOATS = ("f16", "bf16", "f32")
INTEGERS = ("i8", "i16", "i32", "i64", "ui8")


def floating(element: str) -> bool:
    return element[0] in "fb"


def random_values(
    rng: np.random.Generator, shape: tuple[int, ...], element: str, *, special: bool = False
) -> Any:
    """Values of every kind the element type has; `special` mixes in zeros, infinities and NaN."""
    dtype = DTYPES[element]
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    if not floating(element):
        info = np.iinfo(dtype)
        small = rng.integers(max(info.min, -9), 10, shape)
        wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.7, small, wide).astype(dtype)
    values = np.asarray(rng.normal(0, 3, shape))
    if special:
        values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(np.float32).astype(dtype)


def wide(values: Any) -> Any:
    """Floats in f64, integers in i64 (exact)."""
    values = np.asarray(values)
    if values.dtype.kind in "biu":
        return values.astype(np.int64)
    return values.astype(np.float64)


def run(
    name: str, arrays: list[Any], results: list[Bound], attributes: dict[str, Any] | None = None
) -> list[Any]:
    """Fully valid operands (arrays) and scalars (numpy scalars) through one operation."""
    elements = {dtype: element for element, dtype in DTYPES.items()}
    operands: list[Any] = []
    kinds: list[Any] = []
    for array in arrays:
        element = elements[array.dtype]
        scalar = isinstance(array, np.generic)
        operands.append(array if scalar else Cells(array))
        kinds.append(element if scalar else Bound(array.shape, element))
    cells = evaluate(name, operands, kinds, results, attributes)
    assert all(c.poison is None for c in cells)
    return [c.values for c in cells]


def steps_apart(got: Any, want: Any) -> int:
    """Largest distance in representable values; NaN equals NaN, -0 equals +0."""
    assert got.dtype == want.dtype and got.shape == want.shape
    if not got.size:
        return 0
    nan = np.isnan(got.astype(np.float64)), np.isnan(want.astype(np.float64))
    assert (nan[0] == nan[1]).all(), (got, want)
    bits = {1: np.int8, 2: np.int16, 4: np.int32}[got.dtype.itemsize]

    def line(values: Any) -> Any:
        number = np.atleast_1d(values).view(bits).astype(np.int64)
        return np.where(number < 0, -(number & np.iinfo(bits).max), number)

    distance = np.abs(line(got) - line(want))
    return int(np.where(np.atleast_1d(nan[0]), 0, distance).max())


def rounded(values: Any, element: str) -> Any:
    """An f64 or i64 result as the element type: to nearest, or the low bits."""
    with np.errstate(all="ignore"):
        if floating(element) and DTYPES[element].itemsize < 4 and element != "f16":
            return ml_dtypes_round(np.asarray(values, np.float64), element)
        return np.asarray(values).astype(DTYPES[element])


def ml_dtypes_round(values: Any, element: str) -> Any:
    """f64 to a type of ml_dtypes by brute force over the two neighbours of the f32 answer."""
    near = values.astype(np.float32).astype(DTYPES[element])
    best = near
    for direction in (-np.inf, np.inf):
        f = np.nextafter(near.astype(np.float32), np.float32(direction))
        other = f.astype(DTYPES[element])
        closer = np.abs(other.astype(np.float64) - values) < np.abs(
            best.astype(np.float64) - values
        )
        best = np.where(closer, other, best)
    return best
