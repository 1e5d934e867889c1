# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spans: over how many bytes one operand reaches along each device dim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.layouts import Layout, digits
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.value_ranges import value_range


@dataclass(frozen=True, slots=True)
class Span:
    """The reach along one device dim that is not the stick: `bytes` = extent * stride_bytes.

    `extent` = largest - smallest coordinate + 1; `stride_bytes` = device bytes of one step;
    `symbols` are those of the coordinate, sorted. Where `exact` is False, the extent is an upper
    bound, and the span is never safe."""

    device_dim: int
    extent: int
    stride_bytes: int
    bytes: int
    symbols: tuple[str, ...]
    exact: bool = True


def spans(access: Access, extents: Mapping[str, int]) -> tuple[Span, ...]:
    """The spans of every device dim along which the access moves, outermost first; the stick is
    none of them.

    `extents` are cells (not rounded up to sticks), at least 1 each; bytes are device bytes. Raises
    what `device_coordinates` raises, and SPY026 where the access leaves its buffer."""
    index = access.index
    try:
        sizes = tuple([extents[symbol] for symbol in _symbols(index)])
    except KeyError:
        return _spans(access, extents)  # which refuses
    found = None if access.indirect else _linear_spans(access.layout, index, sizes)
    return _spans(access, extents) if found is None else found


def _spans(access: Access, extents: Mapping[str, int]) -> tuple[Span, ...]:
    layout = access.layout
    found = []
    for dim, coordinate in enumerate(device_coordinates(access, extents)[:-1]):
        if not coordinate.terms:
            continue
        values = value_range(coordinate, extents)
        if values.low < 0 or values.high >= layout.device_size[dim]:
            raise _outside(access, dim, coordinate, values.low, values.high)
        if values.high > values.low:
            stride = strides_bytes(layout)[dim]
            found.append(
                Span(
                    dim,
                    values.extent,
                    stride,
                    values.extent * stride,
                    coordinate.symbols(),
                    values.exact,
                )
            )
    return tuple(found)


def _outside(access: Access, dim: int, coordinate: Expression, low: int, high: int) -> Refusal:
    return Refusal(
        "SPY026",
        f"{access.label} leaves its buffer: device dim {dim} has {access.layout.device_size[dim]} "
        f"steps, its coordinate {coordinate} runs from {low} to {high}",
    )


@lru_cache(maxsize=1 << 14)
def _symbols(index: Expression) -> tuple[str, ...]:
    return index.symbols()


@lru_cache(maxsize=1 << 12)
def strides_bytes(layout: Layout) -> tuple[int, ...]:
    """Device bytes that one step along each device dim moves; the stick's entry is the bytes of one
    lane."""
    strides, stride = [layout.element_bytes], STICK_BYTES
    for size in reversed(layout.device_size[:-1]):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


@lru_cache(maxsize=1 << 12)
def _steps(layout: Layout) -> tuple[tuple[tuple[int, int, int, int], ...], int]:
    """((device dim, host stride, size, device bytes per step) per digit outside the stick, host
    stride of the stick).

    The stride of the stick is 0 where the stick is sparse, and -1 where a digit inside the stick's
    stride follows."""
    bytes_per_step = strides_bytes(layout)
    read = digits(layout)
    stick = len(layout.device_size) - 1
    outer = tuple(
        (dim, step, layout.device_size[dim], bytes_per_step[dim])
        for dim, step in read
        if dim != stick
    )
    inner = [step for dim, step in read if dim == stick]
    if not inner:
        return outer, 0
    return outer, inner[0] if read[-1][0] == stick else -1


@lru_cache(maxsize=1 << 14)
def _linear_spans(
    layout: Layout, index: Expression, sizes: tuple[int, ...]
) -> tuple[Span, ...] | None:
    """The spans where the digits of a linear index do not carry; None where the general way must
    decide.

    `sizes` are the extents of the index's symbols, in their order. Equal to `_spans` by test, at a
    fifth of its time."""
    rest = []
    for (symbol, coefficient), size in zip(index.terms, sizes, strict=False):
        if type(symbol) is not str or coefficient < 0 or size < 1:
            return None
        if size > 1:
            rest.append((coefficient, coefficient * (size - 1), symbol))
    outer, stick = _steps(layout)
    if stick < 0:
        return None
    start = index.constant
    found = []
    for dim, step, size, step_bytes in outer:
        low, start = divmod(start, step)
        reach, inner, kept, names = 0, start, [], []
        for term in rest:
            if term[0] % step:
                kept.append(term)
                inner += term[1]
            else:
                reach += term[1]
                names.append(term[2])
        reach //= step
        if inner >= step:
            # A symbol that crosses this step leaves a remainder, which only the stick may read.
            if len(kept) != 1 or dim != outer[-1][0]:
                return None
            reach += inner // step
            names.append(kept[0][2])
        if low < 0 or low + reach >= size:
            return None
        if reach:
            names.sort()
            extent = reach + 1
            found.append(Span(dim, extent, step_bytes, extent * step_bytes, tuple(names)))
        rest = kept
    if stick:
        if start % stick or any(term[0] % stick for term in rest):
            return None
    elif start or rest:
        return None
    if len(found) > 1:
        found.sort(key=_device_dim)
    return tuple(found)


_device_dim = attrgetter("device_dim")
