# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device layouts as values: how a host tensor lies in device memory.

Device memory is row-major over `device_size`; the last device dim is the stick. `stride_map` ties
device coordinates to host elements: `host offset = sum(coordinate[j] * stride_map[j])`, entries of
-1 left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from spyre_mlir.formats import FORMATS, Format, device_format
from spyre_mlir.hardware import STICK_BYTES


@dataclass(frozen=True, slots=True)
class Layout:
    """`#spyre.layout`. `format` and `arrangement` are None where the element type implies them."""

    device_size: tuple[int, ...]
    stride_map: tuple[int, ...]
    format: str | None = None
    arrangement: str | None = None

    @property
    def elements_per_stick(self) -> int:
        """Lanes of a stick."""
        return self.device_size[-1]

    @property
    def sparse(self) -> bool:
        """Whether a stick holds one element, in lane 0."""
        return self.stride_map[-1] == -1

    @property
    def bytes(self) -> int:
        """Bytes that the whole tensor occupies on the device."""
        return STICK_BYTES * prod(self.device_size[:-1])

    @property
    def element_bytes(self) -> int:
        """Device bytes of one element."""
        return STICK_BYTES // self.device_size[-1]

    def stored_as(self, element: str) -> Format:
        """The device format of the elements."""
        return device_format(element) if self.format is None else FORMATS[self.format]


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides, in elements: one per dim."""
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def _pattern(order: Sequence[int]) -> tuple[int, ...]:
    """The host dim of each device dim: sticks of the last one outside, the first one next to the
    stick."""
    if len(order) == 1:
        return (order[0], order[0])
    return (*order[1:-1], order[-1], order[0], order[-1])


def device_layout(
    shape: Sequence[int],
    element: str,
    *,
    strides: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    arrangement: str | None = None,
) -> Layout:
    """The layout in which the runtime places a host tensor of `shape` (elements, at most 6 dims).

    `strides` are host elements per step of each dim (contiguous if None). `order` lists the host
    dims from outermost to innermost, the last one lies on the stick; a trailing -1 asks for sparse
    sticks, one element each. (Source: the reference compiler's tiled layout.)"""
    stick = device_format(element).elements_per_stick
    if strides is None:
        strides = contiguous_strides(shape)
    if not shape:
        return Layout((1, stick), (-1, -1), None, arrangement)
    pattern = _pattern(tuple(range(len(shape))) if order is None else tuple(order))
    sizes, steps = [stick], []
    reached: dict[int, int] = {}
    for position, dim in enumerate(reversed(pattern)):
        if dim == -1:
            size = 1
        elif dim == pattern[-1]:
            size = -(-shape[dim] // stick)
        else:
            size = shape[dim]
        if position:
            sizes.append(size)
        if dim == -1 or shape[dim] == 1:
            steps.append(-1)
        else:
            # A dim met again steps on from where its inner piece ends.
            step = reached[dim] * stick if dim in reached else strides[dim]
            reached[dim] = step
            steps.append(step)
    return Layout(tuple(reversed(sizes)), tuple(reversed(steps)), None, arrangement)


@lru_cache(maxsize=1 << 12)
def digits(layout: Layout) -> tuple[tuple[int, int], ...]:
    """(device dim, stride) of every device dim that moves through the host tensor, largest stride
    first.

    A host offset is read off in this order, as digits of a number: each dim takes what its stride
    divides."""
    moving = [
        (dim, stride)
        for dim, (size, stride) in enumerate(
            zip(layout.device_size, layout.stride_map, strict=True)
        )
        if stride > 0 and size > 1
    ]
    return tuple(sorted(moving, key=lambda digit: -digit[1]))
