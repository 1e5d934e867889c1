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
    for name, extent in extents.items():
        alone = [c[-1] == symbol(name) for c in coordinates]
        runs = [name in {s for e in c for s in e.symbols()} for c in coordinates]
        short = [on and extent <= size < widest for on, size in zip(alone, lanes, strict=True)]
        full = [on and size == widest for on, size in zip(alone, lanes, strict=True)]
        if (
            not any(short)
            or not any(full)
            or runs != [a or b for a, b in zip(short, full, strict=True)]
        ):
            continue
        tiles = {i: _tile_dim(accesses[i], widest) for i, on in enumerate(short) if on}
        if any(dim is None for dim in tiles.values()):
            continue  # forming refuses what has too few sticks
        found[name] = widest
        for number, dim in tiles.items():
            whole, size = list(coordinates[number]), lanes[number]
            assert dim is not None
            whole[dim] = whole[dim] + symbol(name) // size
            whole[-1] = symbol(name) % size
            moved[number] = tuple(whole)
    return found, moved


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
