# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on formats of several widths, whose sticks hold different numbers of elements.

The device converts whole sticks of the widest: one of 16-bit floats is two of f32. Where the valid
elements end within the first of the two, the coordinate of the sticks of f32 does not move over
them, and would be left out with everything else that does not move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spyre_mlir.accesses import Access
from spyre_mlir.quasiaffine import Expression, symbol

Coordinates = tuple[Expression, ...]
"""The device coordinates of one access, the lane last."""


def in_widest_sticks(
    accesses: Sequence[Access],
    extents: Mapping[str, int],
    coordinates: Sequence[Coordinates],
) -> tuple[dict[str, int], list[Coordinates]]:
    """Extents and coordinates under which a symbol that runs through less than a stick of a narrower
    count runs through a whole one of the widest.

    Only where the buffers have those sticks; the cells behind the valid ones are computed as well,
    which nobody sees."""
    found, moved = dict(extents), list(coordinates)
    lanes = [access.layout.elements_per_stick for access in accesses]
    widest = max(lanes, default=0)
    if all(size == widest for size in lanes):
        return found, moved
    for name, extent in extents.items():
        if extent > min(lanes):
            continue
        along = [
            _runs_along(a, c, name, extent) for a, c in zip(accesses, coordinates, strict=True)
        ]
        moves = [name in {s for e in c for s in e.symbols()} for c in coordinates]
        tiles = {i: _tile_dim(accesses[i], widest) for i, on in enumerate(along) if on}
        narrow = {i: dim for i, dim in tiles.items() if lanes[i] < widest}
        if not narrow or len(narrow) == len(tiles) or None in narrow.values():
            continue  # forming refuses what has too few sticks
        if any(moving and not on for moving, on in zip(moves, along, strict=True)):
            continue
        found[name] = widest
        for number in tiles:
            whole, dim = list(coordinates[number]), narrow.get(number)
            if dim is not None:
                whole[dim] = whole[dim] + symbol(name) // lanes[number]
            whole[-1] = symbol(name) if dim is None else symbol(name) % lanes[number]
            moved[number] = tuple(whole)
    return found, moved


def _runs_along(access: Access, coordinates: Coordinates, name: str, extent: int) -> bool:
    """Whether a symbol runs through the lanes from the first one on, and through no more than these.
    One of extent 1 runs nowhere; it would if its step is that of the lanes."""
    if extent > 1:
        return coordinates[-1] == symbol(name)
    step = access.layout.stride_map[-1]
    return step > 0 and not coordinates[-1].terms and (name, step) in access.index.terms


def _tile_dim(access: Access, elements: int) -> int | None:
    """The device dim that counts the sticks along the lanes' host dim, if it has those of `elements`."""
    layout = access.layout
    size = layout.elements_per_stick
    for dim, (steps, stride) in enumerate(
        zip(layout.device_size[:-1], layout.stride_map[:-1], strict=True)
    ):
        if stride == size * layout.stride_map[-1] and steps * size >= elements:
            return dim
    return None
