# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spans: how far one operand of one operation reaches in device memory (design: section "Span, exactly").

For each device dim outside the stick whose coordinate varies, the span is the number of values between the smallest and
the largest coordinate, both included, times the bytes of one step along that dim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernels import Access
from spyre_mlir.quasiaffine import Expr, value_range


@dataclass(frozen=True, slots=True)
class Span:
    """The span of one device dim. `stride_bytes` is one step along it; `bytes` = extent * stride_bytes.

    `symbols` are those in the coordinate. `exact` is false where `extent` is only an upper bound, which is never safe
    to call within a limit it reaches."""

    device_dim: int
    extent: int
    stride_bytes: int
    symbols: tuple[str, ...]
    exact: bool = True

    @property
    def bytes(self) -> int:
        """Bytes from the first to the last step, both included."""
        return self.extent * self.stride_bytes


@lru_cache(maxsize=4096)
def strides_in_bytes(device_size: tuple[int, ...]) -> tuple[int, ...]:
    """Bytes of one step along each device dim outside the stick; memory is row-major over `device_size`."""
    inner = list(accumulate(reversed(device_size[1:-1]), int.__mul__, initial=STICK_BYTES))
    return tuple(reversed(inner)) if len(device_size) > 1 else ()


def spans(access: Access, extents: Mapping[str, int]) -> tuple[Span, ...]:
    """The spans of `access` over the box 0 <= s < extents[s], outer to inner; coordinates that do not vary are left out."""
    return spans_of(access.layout.device_size, access.coordinates, extents)


def spans_of(
    device_size: tuple[int, ...], coordinates: tuple[Expr, ...], extents: Mapping[str, int]
) -> tuple[Span, ...]:
    """As `spans`, from the parts."""
    found = []
    for dim, stride in enumerate(strides_in_bytes(device_size)):
        coordinate = coordinates[dim]
        if not coordinate.terms:
            continue
        reach = value_range(coordinate, extents)
        if reach.extent > 1:
            found.append(Span(dim, reach.extent, stride, coordinate.symbols(), reach.exact))
    return tuple(found)
