# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor types as plain values: what the plans read instead of MLIR types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spyre_mlir.extents import Extent
    from spyre_mlir.layouts import Layout


@dataclass(frozen=True, slots=True)
class TensorType:
    """A ranked tensor with its `#spyre.encoding`.

    `shape` in elements, outer to inner; `element` is the element type in MLIR spelling ("f16"); `valid_shape` has one
    extent per dim, or is None when every cell holds data (the canonical form); `pad` says what is promised of the cells
    outside the valid box: None (nothing), "zero", "min" or "max". `window` marks a piece of a full-size buffer that
    carries its parent's layout verbatim."""

    shape: tuple[int, ...]
    element: str
    layout: Layout | None = None
    window: bool = False
    valid_shape: tuple[Extent, ...] | None = None
    pad: str | None = None

    @property
    def rank(self) -> int:
        """Number of dims."""
        return len(self.shape)

    @property
    def valid(self) -> tuple[Extent, ...]:
        """The valid extents, one per dim, also where they are implied by the shape."""
        return self.shape if self.valid_shape is None else self.valid_shape
