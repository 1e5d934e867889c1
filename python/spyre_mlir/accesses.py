# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses: how one operand of an operation reaches memory, as a function of the iteration.

An index is flat. Its device coordinates are the digits of the index in the strides of the layout,
from the largest stride down: what one stride does not divide is left to the next. This is exact for
every layout of a buffer whose host strides do not overlap, also where symbols carry into one
another or a stick is padded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import Layout, contiguous_strides, digits
from spyre_mlir.quasiaffine import ZERO, Expression
from spyre_mlir.value_ranges import divide, simplify, value_range


@dataclass(frozen=True, slots=True)
class Access:
    """One operand of one operation.

    `index` is flat: host elements, from the start of the buffer that owns the memory, over the
    iteration symbols. `layout` is the layout of that buffer. `shape` and `strides` are the buffer's
    host shape and host strides (elements); a view or a window shows in the index only. `indirect`
    names the symbols whose values are loaded from memory (gather, scatter).

    Symbols run over cells, never over the padding of a stick: an extent is not rounded up to whole
    sticks."""

    label: str
    buffer: str
    layout: Layout
    element: str
    index: Expression
    written: bool = False
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    indirect: tuple[str, ...] = ()


def flat_index(
    indices: Sequence[Expression | int], strides: Sequence[int], offset: int = 0
) -> Expression:
    """offset + sum of index * stride: the index of a cell from one index per host dim.

    `strides` are host elements. A transposed view passes its strides in its own order, a slice its
    offset, a strided view its multiplied strides, an expanded dim stride 0."""
    total = Expression(offset)
    for index, stride in zip(indices, strides, strict=True):
        total = total + index * stride
    return total


def reshaped_indices(
    indices: Sequence[Expression], shape: Sequence[int], viewed: Sequence[int]
) -> tuple[Expression, ...]:
    """One index per dim of `viewed`, for a cell that `indices` name in `shape`: both row-major, of
    equal size.

    The result holds floor and mod; `simplify` removes them where dims only merge or split."""
    flat = flat_index(indices, contiguous_strides(shape))
    found = []
    for position, (size, stride) in enumerate(zip(viewed, contiguous_strides(viewed), strict=True)):
        index = flat // stride
        found.append(index % size if position else index)
    return tuple(found)


def check_index(access: Access, extents: Mapping[str, int]) -> None:
    """Refuses what has no device coordinates: indirect access, unknown symbols, descending
    access."""
    index = access.index
    for symbol in index.symbols():
        if symbol in access.indirect:
            raise Refusal(
                "SPY024",
                f"{access.label} is reached indirectly: {symbol} is loaded from memory",
                notes=(f"its index is {index}",),
            )
        if symbol not in extents:
            raise Refusal(
                "SPY022",
                f"the index of {access.label} depends on {symbol}, which is not iterated",
                notes=(f"its index is {index}; the iteration runs over {', '.join(extents)}",),
            )
    for atom, coefficient in index.terms:
        if coefficient < 0 and (type(atom) is not str or extents[atom] > 1):
            raise Refusal(
                "SPY023",
                f"{access.label} is walked backwards: its index has the term {coefficient}*{atom}",
                notes=(f"its index is {index}",),
                remedy="copy the tensor in ascending order first",
            )


def device_coordinates(access: Access, extents: Mapping[str, int]) -> tuple[Expression, ...]:
    """The device coordinate of each device dim of the layout, over the iteration symbols; the
    stick's is the lane.

    Constant dims are literals. Raises Refusal: SPY022 unknown symbol, SPY023 descending, SPY024
    indirect, SPY025 an index that the layout's strides do not divide."""
    check_index(access, extents)
    symbols = access.index.symbols()
    return _coordinates(
        access.layout, access.index, tuple((symbol, extents[symbol]) for symbol in symbols)
    )


@lru_cache(maxsize=1 << 14)
def _coordinates(
    layout: Layout, index: Expression, box: tuple[tuple[str, int], ...]
) -> tuple[Expression, ...]:
    extents = dict(box)
    coordinates = [ZERO] * len(layout.device_size)
    rest = simplify(index, extents)
    for dim, stride in digits(layout):
        if not rest.terms and not rest.constant:
            break
        coordinates[dim], rest = divide(rest, stride, extents)
    left = value_range(rest, extents)
    if left.low or left.high:
        raise Refusal(
            "SPY025",
            f"no device coordinate moves by {rest} host elements",
            notes=(f"index {index}", f"layout {layout}"),
        )
    return tuple(coordinates)


def stick_symbols(access: Access, extents: Mapping[str, int]) -> dict[str, int]:
    """Symbol -> elements in which a cut of it keeps the sticks of this operand whole.

    Empty for sparse sticks. A symbol that moves n lanes at a step is cut in multiples of lanes /
    gcd(n, lanes)."""
    lanes = access.layout.elements_per_stick
    lane = device_coordinates(access, extents)[-1]
    found: dict[str, int] = {}
    for symbol in lane.symbols():
        # The lane's period in the symbol, but never more than a stick.
        step = gcd(lanes, *_steps(lane, symbol))
        found[symbol] = lanes // step
    return found


def _steps(expression: Expression, symbol: str) -> list[int]:
    steps = []
    for atom, coefficient in expression.terms:
        if isinstance(atom, str):
            steps += [coefficient] if atom == symbol else []
        else:
            steps += [coefficient * step for step in _steps(atom.argument, symbol)]
    return steps
