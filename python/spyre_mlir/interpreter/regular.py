# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boxes, masks and order: what the meanings of operations are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spyre_mlir.interpreter.cells import Array, Bound, Cells, Mask, garbage


def merge(masks: Sequence[Mask | None], shape: tuple[int, ...]) -> Mask | None:
    """Union of masks, broadcast, right-aligned, to `shape`; None if there is none."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    union = given[0]
    for mask in given[1:]:
        union = union if mask is union else union | mask
    return union if union.shape == shape else np.broadcast_to(union, shape)


def crop(cells: Cells, bound: Bound) -> tuple[Array, Mask | None]:
    """The cells of the valid box, and which of them are poison."""
    if bound.valid is None:
        return cells.values, cells.poison
    poison = None if cells.poison is None else cells.poison[bound.region]
    if poison is not None and not poison.any():
        poison = None
    return cells.values[bound.region], poison


def place(inner: Array, bad: Mask | None, bound: Bound) -> tuple[Array, Mask | None]:
    """A computed box at the origin of a whole tensor; what it does not reach is poison."""
    if inner.shape == bound.shape:
        return inner, bad
    region = tuple(slice(0, extent) for extent in inner.shape)
    values = np.full(bound.shape, garbage(bound.element))
    mask = np.ones(bound.shape, np.bool_)
    if values[region].shape != inner.shape:
        return inner, bad
    values[region] = inner
    mask[region] = False if bad is None else bad
    return values, mask


def ordered(values: Array, dim: int, descending: bool) -> Array:
    """Stable order along `dim`; NaN counts as the largest."""
    if values.dtype.kind in "biu":
        # The complement reverses the order of integers and cannot overflow.
        return np.argsort(~values if descending else values, axis=dim, kind="stable")
    wide = values.astype(np.float32)
    if not descending:
        return np.argsort(wide, axis=dim, kind="stable")
    nan_first = np.where(np.isnan(wide), np.float32(0), np.float32(1))
    return np.lexsort((-np.where(np.isnan(wide), np.float32(0), wide), nan_first), axis=dim)
