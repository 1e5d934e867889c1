# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spans: over how many bytes one operand reaches along each device dim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spyre_mlir.accesses import Access


@dataclass(frozen=True, slots=True)
class Span:
    """The reach along one device dim that is not the stick: `bytes` = extent * stride_bytes.

    `extent` = largest - smallest coordinate + 1; `stride_bytes` = device bytes of one step; `symbols` are those of the
    coordinate, sorted. Where `exact` is False, the extent is an upper bound, and the span is never safe."""

    device_dim: int
    extent: int
    stride_bytes: int
    bytes: int
    symbols: tuple[str, ...]
    exact: bool = True


def spans(access: Access, extents: Mapping[str, int]) -> tuple[Span, ...]:
    """The spans of every device dim along which the access moves, outermost first."""
    raise NotImplementedError
