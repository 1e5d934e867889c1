# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random host tensors in random dim orders, and where their cells lie by the rule of the tiling.

The oracle places a cell by its host index, one dim after the other; the code under test reads flat
offsets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from spyre_mlir.layouts import Layout, contiguous_strides, device_layout

LANES = {"f32": 32, "f16": 64}


@dataclass(frozen=True)
class Placed:
    """A host tensor in device memory, and the dim order that placed it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    order: tuple[int, ...]
    element: str
    layout: Layout

    def coordinates(self, index: Sequence[int]) -> tuple[int, ...]:
        """Where the cell with this host index lies."""
        stick, lanes = self.order[-1], LANES[self.element]
        on_stick = 0 if stick == -1 else index[stick]
        if len(self.order) == 1:
            return (on_stick // lanes, on_stick % lanes)
        middle = [index[dim] for dim in self.order[1:-1]]
        return (*middle, on_stick // lanes, index[self.order[0]], on_stick % lanes)


def random_placed(draw: random.Random, *, most: int = 90, rank: int | None = None) -> Placed:
    """A tensor of at most `most` elements in its longest dim; strides may leave gaps or be
    permuted."""
    rank = draw.randint(1, 4) if rank is None else rank
    shape = [draw.choice([1, 2, 3, draw.randint(1, 6)]) for _ in range(rank)]
    shape[draw.randrange(rank)] = draw.choice([32, 64, draw.randint(1, most)])
    element = draw.choice(["f32", "f32", "f16"])
    order = draw.sample(range(rank), rank)
    if draw.random() < 0.2:
        order.append(-1)
    strides = contiguous_strides(shape)
    if draw.random() < 0.4:  # the host tensor is a transposed or padded one
        turned = draw.sample(range(rank), rank)
        found, stride = [0] * rank, 1
        for dim in reversed(turned):
            found[dim] = stride
            stride *= shape[dim] + draw.choice([0, 0, 1, 5])
        strides = tuple(found)
    layout = device_layout(shape, element, strides=strides, order=order)
    return Placed(tuple(shape), strides, tuple(order), element, layout)
