# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors at run time: values, which cells are poison, and numpy's side of the element types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.bool_]

DTYPES: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
}
"""Element type -> numpy type of its arrays."""

_SCALARS = {"f64": np.dtype(np.float64), "index": np.dtype(np.int64)}
"""Types of scalars that no tensor of the dialect has."""

_NARROW_FLOATS = ("f16", "bf16", "f8E4M3FN", "f8E5M2FNUZ")


def dtype_of(element: str) -> np.dtype[Any]:
    """The numpy type of an element or scalar type; KeyError for one that has none."""
    return DTYPES[element] if element in DTYPES else _SCALARS[element]


def is_float(element: str) -> bool:
    """Whether the element type is a float."""
    return element == "f32" or element in _NARROW_FLOATS


@dataclass(frozen=True, slots=True)
class Bound:
    """A tensor type at run time: its extents are numbers.

    `valid` is the valid box, None where it is the whole shape (the canonical form)."""

    shape: tuple[int, ...]
    element: str
    valid: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.valid == self.shape:
            object.__setattr__(self, "valid", None)

    @property
    def box(self) -> tuple[int, ...]:
        """Valid extents, one per dim."""
        return self.shape if self.valid is None else self.valid

    @property
    def region(self) -> tuple[slice, ...]:
        """The valid box as an index of arrays."""
        return tuple(slice(0, extent) for extent in self.box)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a tensor. `poison` marks those that hold no data; None means that none is.

    Both arrays are read-only by convention: whoever wants to write copies first."""

    values: Array
    poison: Mask | None = None


@lru_cache(maxsize=128)
def outside(shape: tuple[int, ...], box: tuple[int, ...]) -> Mask:
    """Mask of the cells outside the box; read-only."""
    mask = np.ones(shape, np.bool_)
    mask[tuple(slice(0, extent) for extent in box)] = False
    mask.flags.writeable = False
    return mask


def outside_of(bound: Bound) -> Mask | None:
    """Mask of the cells outside a type's valid box, None if it has none."""
    return None if bound.valid is None else outside(bound.shape, bound.valid)


def first_cell(mask: Mask) -> tuple[int, ...]:
    """Index of the first marked cell, in row-major order."""
    flat = int(np.argmax(mask))
    return tuple(int(i) for i in np.unravel_index(flat, mask.shape))


def lowest(element: str) -> Any:
    """The smallest value of an element type: -inf where there is one, else the lowest finite."""
    return _extreme(element, smallest=True)


def highest(element: str) -> Any:
    """The largest value of an element type: +inf where there is one, else the highest finite."""
    return _extreme(element, smallest=False)


def _extreme(element: str, *, smallest: bool) -> Any:
    dtype = DTYPES[element]
    if element == "i1":
        return dtype.type(not smallest)
    if element in ("f16", "bf16", "f32"):
        return dtype.type(-np.inf if smallest else np.inf)
    info: Any = ml_dtypes.finfo if is_float(element) else np.iinfo
    return dtype.type(info(dtype).min if smallest else info(dtype).max)


def garbage(element: str) -> Any:
    """What fills cells that hold no data: NaN for floats, the largest value otherwise.

    A second line of defence only: the mask is what counts."""
    return DTYPES[element].type(np.nan) if is_float(element) else highest(element)


def widen(values: Array, element: str) -> Array:
    """Values in the type that they are computed in: f32 for narrower floats, else as they are."""
    return values.astype(np.float32) if element in _NARROW_FLOATS else values


def round_to(values: Array, element: str) -> Array:
    """Floats or integers as the element type: floats to nearest even, integers to the low bits.

    A float to an integer is truncated and saturated, NaN gives 0; to i1, whether it is not 0."""
    dtype = DTYPES[element]
    if values.dtype == dtype:
        return values
    floating = values.dtype.kind not in "biu"
    with np.errstate(all="ignore"):
        if element == "i1":
            return np.asarray(values != 0)
        if not is_float(element):
            return _saturate(values, dtype) if floating else values.astype(dtype)
        if element in ("f16", "f32") or values.dtype.itemsize < 4 or values.dtype == np.float32:
            return values.astype(dtype)
        return _odd_f32(values).astype(dtype)


def _saturate(values: Array, dtype: np.dtype[Any]) -> Array:
    wide = values.astype(np.float64)
    info = np.iinfo(dtype)
    # 2^63 as a float is one above the largest i64: compare before converting.
    inside = (wide > float(info.min) - 1) & (wide < float(info.max) + (0 if info.bits == 64 else 1))
    truncated = np.where(inside, wide, 0).astype(dtype)
    result = np.where(inside, truncated, np.where(wide > 0, info.max, info.min).astype(dtype))
    return np.where(np.isnan(wide), dtype.type(0), result)


def _odd_f32(values: Array) -> Array:
    """f32 rounded to odd, so that rounding once more to a narrower type rounds right."""
    exact = values.astype(np.longdouble)
    near = values.astype(np.float32)
    above = np.abs(near.astype(np.longdouble)) > np.abs(exact)
    truncated = np.where(above, np.nextafter(near, np.float32(0)), near)
    bits = truncated.view(np.uint32) | (truncated.astype(np.longdouble) != exact).astype(np.uint32)
    finite = np.isfinite(near)
    return np.where(finite, bits.view(np.float32), near)
