# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host arrays to device bytes and back, by the device layout of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import device_format
from spyre_mlir.layouts import Layout, digits
from spyre_mlir.machine.formats import HOST, STORED, convert, integral
from spyre_mlir.machine.memory import DATA, POISON, Array, Buffer

Mask = NDArray[np.bool_]

_ELEMENT = {dtype: element for element, dtype in HOST.items()}


def to_device(
    array: Array,
    layout: Layout,
    valid_shape: Sequence[int] | None = None,
    *,
    poison: Mask | None = None,
) -> Buffer:
    """The device memory of a host array.

    `array` has the shape of the tensor and the numpy type of its element. Cells outside the box
    `valid_shape` (None: all are inside) and those that `poison` marks hold no data; nor does
    padding. Both read as NaN or the largest integer. Refuses (SPY146) an array that the layout does
    not hold."""
    element = _ELEMENT.get(array.dtype)
    if element is None:
        raise Refusal("SPY146", f"the device stores no elements of type {array.dtype}")
    dtype = stored(layout, element)
    cells = positions(layout, array.shape)
    size = prod(layout.device_size)
    filler = np.iinfo(dtype).max if integral(dtype) else np.nan
    lanes = np.full(size, filler, dtype)
    shadow = np.full(size, POISON, np.uint8)
    lanes[cells] = convert(array, dtype).reshape(-1)
    held = np.full(array.shape, DATA, np.uint8)
    if valid_shape is not None:
        held[...] = POISON
        held[tuple(slice(0, extent) for extent in valid_shape)] = DATA
    if poison is not None:
        held[poison] = POISON
    shadow[cells] = held.reshape(-1)
    lanes[cells] = np.where(held.reshape(-1) == DATA, lanes[cells], np.array(filler, dtype))
    return Buffer(lanes.view(np.uint8), shadow.repeat(dtype.itemsize))


def from_device(
    buffer: Buffer, layout: Layout, shape: Sequence[int], element: str
) -> tuple[Array, Mask]:
    """The host array of a tensor in device memory, and which of its cells hold no data.

    `shape` and `element` are those of the tensor. Refuses (SPY146) a buffer of another size."""
    if buffer.bytes.size != layout.bytes:
        raise Refusal(
            "SPY146",
            f"a tensor of layout {layout} takes {layout.bytes} bytes, the buffer has "
            f"{buffer.bytes.size}",
        )
    dtype = stored(layout, element)
    cells = positions(layout, shape)
    values = buffer.bytes.view(dtype)[cells]
    shadow = buffer.shadow.reshape(-1, dtype.itemsize).max(axis=1)[cells]
    shape = tuple(shape)
    return convert(values, HOST[element]).reshape(shape), (shadow != DATA).reshape(shape)


def positions(layout: Layout, shape: Sequence[int]) -> NDArray[np.int64]:
    """For each element of a contiguous host tensor, in row-major order, its place in device memory,
    counted in elements; read-only. Refuses (SPY146) elements that the layout does not hold."""
    count = prod(shape)
    return _positions(layout, tuple(shape)) if count > KEPT else _kept(layout, tuple(shape))


KEPT = 1 << 18
"""Elements of a tensor up to which its places are remembered: loops ask for them in every trip."""


@lru_cache(maxsize=64)
def _kept(layout: Layout, shape: tuple[int, ...]) -> NDArray[np.int64]:
    return _positions(layout, shape)


def _positions(layout: Layout, shape: tuple[int, ...]) -> NDArray[np.int64]:
    steps = [prod(layout.device_size[dim + 1 :]) for dim in range(len(layout.device_size))]
    moving = [(layout.device_size[dim], stride, steps[dim]) for dim, stride in digits(layout)]

    def below(limit: int, number: int) -> NDArray[np.int64]:
        """Places of the host offsets below `limit`, by the digits from `number` on."""
        if number == len(moving):
            if limit > 1:
                raise Refusal("SPY146", f"layout {layout} does not hold a tensor of {list(shape)}")
            return np.zeros(limit, np.int64)
        size, stride, step = moving[number]
        count = -(-limit // stride)
        if count > size:
            raise Refusal("SPY146", f"layout {layout} does not hold a tensor of {list(shape)}")
        inner = below(min(limit, stride), number + 1)
        return np.add.outer(np.arange(count, dtype=np.int64) * step, inner).reshape(-1)[:limit]

    places = below(prod(shape), 0)
    places.flags.writeable = False
    return places


def stored(layout: Layout, element: str) -> np.dtype[Any]:
    """The numpy type of an element in memory. Refuses (SPY146) a layout of another width."""
    storage = device_format(element) if layout.format is None else layout.stored_as(element)
    dtype = STORED[storage.name]
    if dtype.itemsize != layout.element_bytes:
        raise Refusal(
            "SPY146",
            f"layout {layout} has elements of {layout.element_bytes} bytes, {element} is stored in "
            f"{dtype.itemsize}",
        )
    return dtype
