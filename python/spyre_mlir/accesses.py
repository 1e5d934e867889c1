# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the index of each host dim to the coordinate of each device dim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.quasiaffine import ZERO, Expr


@lru_cache(maxsize=4096)
def device_dims(layout: Layout, shape: tuple[int, ...]) -> tuple[tuple[int, int, int] | None, ...]:
    """Per device dim (host dim, factor, modulus) with coordinate = floor(index / factor) mod modulus.

    `shape` is that of the buffer that owns the memory, row-major on the host. A modulus of 0 means none; None stands
    for a device dim without host counterpart, whose coordinate is 0. Refused (SPY020) where a device dim steps by no
    multiple of a host stride."""
    strides = contiguous_strides(shape)
    found: list[tuple[int, int] | None] = []
    for step, size in zip(layout.stride_map, layout.device_size, strict=True):
        # A dim of size 1 stays at 0; its step may be that of another dim (the one tile of a short stick dim).
        owner = _owner(step, shape, strides) if step != -1 and size > 1 else None
        if owner is None:
            found.append(None)
            continue
        if step % strides[owner]:
            raise Refusal(
                "SPY020",
                f"a device dim steps by {step} host elements, no multiple of a stride of {list(shape)}",
            )
        found.append((owner, step // strides[owner]))
    dims: list[tuple[int, int, int] | None] = []
    for entry in found:
        if entry is None:
            dims.append(None)
            continue
        owner, factor = entry
        above = [f for e in found if e is not None for o, f in [e] if o == owner and f > factor]
        dims.append((owner, factor, min(above) // factor if above else 0))
    return tuple(dims)


def _owner(step: int, shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The host dim that a device step of `step` host elements moves along: the outermost with a stride not above it."""
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        if size > 1 and stride <= step:
            return dim
    return None


@lru_cache(maxsize=65536)
def coordinates(layout: Layout, shape: tuple[int, ...], indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """One coordinate per device dim, for an access of cell `indices` (one expression per host dim) of the buffer."""
    result = []
    for entry in device_dims(layout, shape):
        if entry is None:
            result.append(ZERO)
            continue
        dim, factor, modulus = entry
        coordinate = indices[dim].floordiv(factor)
        result.append(coordinate.mod(modulus) if modulus else coordinate)
    return tuple(result)


def flat_index(shape: Sequence[int], indices: Sequence[Expr]) -> Expr:
    """The flat host index, in elements of a row-major buffer of `shape`."""
    total = ZERO
    for stride, index in zip(contiguous_strides(shape), indices, strict=True):
        total = total + index * stride
    return total
