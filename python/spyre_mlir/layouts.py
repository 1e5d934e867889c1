# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device layouts as values: how a host tensor lies in device memory.

Device memory is row-major over `device_size`; the last device dim is the stick. `stride_map` ties
device coordinates to host elements: `host offset = sum(coordinate[j] * stride_map[j])`, entries of
-1 left out. Host offsets count elements of the buffer that owns the memory, so a window of it needs
no layout of its own: it has the buffer's layout, and an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import ELEMENTS, FORMATS, Format, device_format
from spyre_mlir.hardware import STICK_BYTES

RANK_MAX = 6
"""Most host dims that the runtime's layouts hold."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`#spyre.layout`. `format` and `arrangement` are None where the element type implies them."""

    device_size: tuple[int, ...]
    stride_map: tuple[int, ...]
    format: str | None = None
    arrangement: str | None = None

    def __str__(self) -> str:
        return f"{list(self.device_size)} : {list(self.stride_map)}"

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
    """The host dim of each device dim: the first one next to the stick, the stick's dim around
    it."""
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
    sticks, one element each. Refuses (SPY027) what no layout holds. Source: the layouts that the
    reference compiler's runtime makes."""
    rank = len(shape)
    order = tuple(range(rank)) if order is None else tuple(order)
    strides = contiguous_strides(shape) if strides is None else tuple(strides)
    _check(shape, element, strides, order)
    stick = device_format(element).elements_per_stick
    if not shape:
        return Layout((1, stick), (-1, -1), None, arrangement)
    pattern = _pattern(order)
    sizes, steps = [stick], []
    reached: dict[int, int] = {}
    for position, dim in enumerate(reversed(pattern)):
        if position:
            whole = -1 if dim == -1 else shape[dim]
            sizes.append(1 if dim == -1 else -(-whole // stick) if dim == pattern[-1] else whole)
        if dim == -1 or shape[dim] == 1:
            steps.append(-1)
        else:
            # A dim met again steps on from where its inner piece ends.
            step = reached[dim] * stick if dim in reached else strides[dim]
            reached[dim] = step
            steps.append(step)
    layout = Layout(tuple(reversed(sizes)), tuple(reversed(steps)), None, arrangement)
    if layout.bytes >= 2**63 or any(step >= 2**63 for step in steps):
        raise Refusal(
            "SPY027", f"a tensor of {'x'.join(map(str, shape))} elements takes 2^63 bytes or more"
        )
    return layout


@lru_cache(maxsize=1 << 12)
def default_layout(shape: tuple[int, ...], element: str) -> Layout:
    """`device_layout` of a contiguous tensor, the stick on its last dim. Programs repeat their shapes."""
    return device_layout(shape, element)


def _check(
    shape: Sequence[int], element: str, strides: Sequence[int], order: Sequence[int]
) -> None:
    rank = len(shape)
    wrong = None
    if element not in ELEMENTS:
        wrong = f"the device stores no elements of type {element}"
    elif rank > RANK_MAX:
        wrong = f"a layout holds at most {RANK_MAX} host dims, the tensor has {rank}"
    elif len(strides) != rank or any(size < 1 for size in shape):
        wrong = f"shape {list(shape)} with strides {list(strides)} is no tensor"
    elif sorted(order) not in (list(range(rank)), [-1, *range(rank)]) or -1 in order[:-1]:
        wrong = f"dim order {list(order)} does not list the {rank} dims of the tensor once"
    elif not rank and order:
        wrong = "a tensor of rank 0 has no dim order"
    if wrong is not None:
        types = f"the element types are {', '.join(ELEMENTS)}"
        raise Refusal("SPY027", wrong, notes=() if element in ELEMENTS else (types,))


def stick_dim(layout: Layout, strides: Sequence[int]) -> int | None:
    """The first host dim whose stride (elements) is that of the stick; None if there is none.

    There is none for sparse sticks, nor where the dim on the stick has extent 1."""
    last = layout.stride_map[-1]
    return next((dim for dim, stride in enumerate(strides) if stride == last), None)


@lru_cache(maxsize=1 << 12)
def digits(layout: Layout) -> tuple[tuple[int, int], ...]:
    """(device dim, stride) of every device dim that moves in the host tensor, largest stride first.

    A host offset is read off in this order, as digits of a number: each dim takes what its stride
    divides, and leaves the rest."""
    moving = [
        (dim, stride)
        for dim, (size, stride) in enumerate(
            zip(layout.device_size, layout.stride_map, strict=True)
        )
        if stride > 0 and size > 1
    ]
    return tuple(sorted(moving, key=lambda digit: -digit[1]))


def coordinates_at(layout: Layout, offset: int) -> tuple[int, ...]:
    """The device coordinates of the host element at `offset`; SPY025 if the layout has none."""
    coordinates, rest = [0] * len(layout.device_size), offset
    for dim, stride in digits(layout):
        coordinates[dim], rest = divmod(rest, stride)
    inside = all(c < size for c, size in zip(coordinates, layout.device_size, strict=True))
    if rest or offset < 0 or not inside:
        raise Refusal("SPY025", f"layout {layout} holds no host element {offset}")
    return tuple(coordinates)


def offset_at(layout: Layout, coordinates: Sequence[int]) -> int:
    """The host offset, in elements, that these device coordinates stand for.

    Not every cell stands for a host element: see `host_index` for cells of padding."""
    return sum(dict(digits(layout)).get(dim, 0) * c for dim, c in enumerate(coordinates))


def address_of(layout: Layout, coordinates: Sequence[int]) -> int:
    """Bytes from the start of the tensor in device memory to the cell at these coordinates."""
    position = 0
    for coordinate, size in zip(coordinates, layout.device_size, strict=True):
        position = position * size + coordinate
    return position * layout.element_bytes


def coordinates_of(layout: Layout, address: int) -> tuple[int, ...]:
    """The device coordinates of the cell that holds the byte at `address`."""
    position, coordinates = address // layout.element_bytes, []
    for size in reversed(layout.device_size):
        position, coordinate = divmod(position, size)
        coordinates.append(coordinate)
    if position or address < 0:
        raise IndexError(f"byte {address} lies outside of the {layout.bytes} bytes of {layout}")
    return tuple(reversed(coordinates))


def host_dims(
    layout: Layout, shape: Sequence[int], strides: Sequence[int] | None = None
) -> tuple[tuple[int, int] | None, ...]:
    """For each device dim, (host dim, elements of it per step), or None where it does not move.

    The dims of the buffer's `shape` must not overlap in its `strides`. Refuses (SPY028) a device
    dim that steps by no whole number of elements of one host dim."""
    strides = contiguous_strides(shape) if strides is None else strides
    stepped = dict(digits(layout))
    known = [dim for dim, size in enumerate(shape) if size > 1]
    found: list[tuple[int, int] | None] = []
    for dim, step in enumerate(layout.stride_map):
        inner = [d for d in known if strides[d] <= step]
        if dim not in stepped:
            found.append(None)
        elif not inner or step % strides[(host := max(inner, key=lambda d: strides[d]))]:
            raise Refusal(
                "SPY028",
                f"device dim {dim} of {layout} steps by {step} elements, which is no host dim",
                notes=(f"host shape {list(shape)}, host strides {list(strides)}",),
            )
        else:
            found.append((host, step // strides[host]))
    return tuple(found)


def host_index(
    layout: Layout,
    shape: Sequence[int],
    coordinates: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
) -> tuple[int, ...] | None:
    """The host index of the cell at these coordinates, or None for padding and empty lanes."""
    index = [0] * len(shape)
    for at, moves in zip(coordinates, host_dims(layout, shape, strides), strict=True):
        if moves is not None:
            index[moves[0]] += at * moves[1]
        elif at:
            return None
    return tuple(index) if all(i < size for i, size in zip(index, shape, strict=True)) else None


def retile(
    layout: Layout,
    shape: Sequence[int],
    tile: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
) -> Layout:
    """The layout of a compact tile: dim order, stick dim and blocking of `layout`, sizes of `tile`.

    `shape` and `strides` (elements, contiguous if None) are of the host tensor that `layout` holds;
    `tile` is a smaller shape of the same rank, contiguous on the host. A device dim of n elements
    per step gets ceil(tile/n) steps, at most those it had; the stick keeps its lanes. Equal to
    `device_layout` of the tile where `layout` is one. Refuses (SPY028) as `host_dims` does."""
    strides = contiguous_strides(shape) if strides is None else strides
    if len(tile) != len(shape) or any(not 0 < t <= s for t, s in zip(tile, shape, strict=True)):
        raise Refusal("SPY028", f"{list(tile)} is no tile of a tensor of shape {list(shape)}")
    compact = contiguous_strides(tile)
    sizes, steps = list(layout.device_size), list(layout.stride_map)
    moving = host_dims(layout, shape, strides)
    stick, lanes = moving[-1], layout.elements_per_stick
    for dim, moves in enumerate(moving):
        if moves is None and stick is not None and steps[dim] == lanes * strides[stick[0]]:
            moves = (stick[0], lanes)  # the only stick of a dim that fits in one
        if moves is None:
            steps[dim] = -1
            continue
        host, per_step = moves
        if dim < len(sizes) - 1:
            sizes[dim] = min(sizes[dim], -(-tile[host] // per_step))
        steps[dim] = -1 if tile[host] == 1 else per_step * compact[host]
    return Layout(tuple(sizes), tuple(steps), layout.format, layout.arrangement)
