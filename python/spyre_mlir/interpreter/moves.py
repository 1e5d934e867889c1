# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations that move, name or generate cells do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from spyre_mlir.interpreter.calls import Call, carried, computed
from spyre_mlir.interpreter.cells import (
    Array,
    Cells,
    first_cell,
    garbage,
    highest,
    lowest,
    outside_of,
    round_to,
)
from spyre_mlir.interpreter.regular import crop, place
from spyre_mlir.optable import DYNAMIC

Results = tuple[Cells, ...]
Move = Callable[[Array], Array]


def _view(call: Call, move: Move) -> Results:
    """The same move for values, for poison, and for the cells outside the operand's box."""
    cells = call.cells(0)
    beyond = outside_of(call.bound(0))
    try:
        values = move(cells.values)
        poison = None if cells.poison is None else move(cells.poison)
        beyond = None if beyond is None else move(beyond)
    except (ValueError, IndexError) as error:
        raise call.broken(str(error)) from None
    return (carried(call, values, poison, beyond),)


def copy(call: Call) -> Results:
    """The same cells in another buffer, in whatever layout: nothing changes in the values."""
    cells = call.cells(0)
    return (computed(call, cells.values, cells.poison),)


def set_valid_shape(call: Call) -> Results:
    """The same cells under a narrower region."""
    return _view(call, lambda array: array)


def reshape(call: Call) -> Results:
    """The same cells, row-major, under another shape."""
    return _view(call, lambda array: array.reshape(call.result.shape))


def transpose(call: Call) -> Results:
    """Dims permuted."""
    return _view(call, lambda array: array.transpose(call.attributes["permutation"]))


def broadcast(call: Call) -> Results:
    """Replicated along dims."""
    return _view(call, lambda array: np.broadcast_to(array, call.result.shape))


def _window(call: Call, shape: tuple[int, ...], whole: tuple[int, ...]) -> tuple[slice, ...]:
    """The window of `shape` at the call's offsets; refused where it leaves `whole`."""
    dynamic = iter(call.indices)
    static = call.attributes["static_offsets"]
    if len(static) != len(whole) or list(static).count(DYNAMIC) != len(call.indices):
        raise call.broken(f"{len(static)} offsets for rank {len(whole)}")
    if len(shape) != len(whole):
        raise call.broken(f"a window of rank {len(shape)} in a tensor of rank {len(whole)}")
    offsets = [next(dynamic) if offset == DYNAMIC else int(offset) for offset in static]
    for dim, (offset, extent, limit) in enumerate(zip(offsets, shape, whole, strict=True)):
        if offset < 0 or offset + extent > limit:
            raise call.refused(
                "SPY133",
                f"dim {dim}: {extent} cells from {offset} on do not fit into {limit}",
            )
    return tuple(slice(o, o + extent) for o, extent in zip(offsets, shape, strict=True))


def window(call: Call) -> Results:
    """A window: a copy of its own, so that writing in place elsewhere cannot change it."""
    region = _window(call, call.result.shape, call.bound(0).shape)
    return _view(call, lambda array: array[region].copy())


def insert(call: Call, *, in_place: bool = False) -> Results:
    """The destination with the source's valid cells written at the offsets.

    `in_place` writes into the destination's own arrays: only for a caller who knows that nobody
    else holds them."""
    source, target = call.bound(0), call.bound(1)
    whole = _window(call, source.shape, target.shape)
    box = zip(whole, source.box, strict=True)
    region = tuple(slice(part.start, part.start + extent) for part, extent in box)
    new, into = _source(call), call.cells(1)
    if new.size:
        for dim, (part, limit) in enumerate(zip(region, target.box, strict=True)):
            if part.stop > limit:
                raise call.refused(
                    "SPY133",
                    f"dim {dim}: the cells {part.start} to {part.stop - 1} are written, the"
                    f" destination is valid up to {limit}",
                )
    values = into.values if in_place else into.values.copy()
    values[region] = new
    mask = into.poison
    if mask is not None and new.size:
        mask = mask if in_place else mask.copy()
        mask[region] = False
    return (Cells(values, mask),)


def _source(call: Call) -> Array:
    """The valid cells of operand 0, each of which must have been written."""
    new, bad = crop(call.cells(0), call.bound(0))
    if bad is not None and bad.any():
        raise call.refused(
            "SPY130", f"the valid cell {list(first_cell(bad))} of the source was never written"
        )
    return new


def concat(call: Call) -> Results:
    """One operand after another along a dim."""
    dim = call.attributes["dim"]
    if not 0 <= dim < len(call.result.shape):
        raise call.broken(f"dim {dim} does not fit rank {len(call.result.shape)}")
    cells = [call.cells(i) for i in range(len(call.operands))]
    values = np.concatenate([c.values for c in cells], axis=dim)
    poison = None
    if any(c.poison is not None for c in cells):
        masks = [
            np.zeros(c.values.shape, np.bool_) if c.poison is None else c.poison for c in cells
        ]
        poison = np.concatenate(masks, axis=dim)
    return (computed(call, values, poison),)


def _positions(call: Call, number: int, limit: int) -> Array:
    """The valid indices, each checked against [0, limit)."""
    bound = call.bound(number)
    positions, bad = crop(call.cells(number), bound)
    if bad is not None and bad.any():
        raise call.refused("SPY130", f"index {list(first_cell(bad))} was never written")
    wrong = (positions < 0) | (positions >= limit)
    if wrong.any():
        cell = first_cell(wrong)
        raise call.refused(
            "SPY133", f"index {int(positions[cell])} at {list(cell)} is outside [0, {limit})"
        )
    return positions


def gather(call: Call) -> Results:
    """Cells picked along a dim by index."""
    bound, dim = call.bound(0), call.attributes["dim"]
    if not 0 <= dim < len(bound.shape):
        raise call.broken(f"dim {dim} does not fit rank {len(bound.shape)}")
    positions = _positions(call, 1, bound.box[dim])
    values, poison = crop(call.cells(0), bound)
    inner = np.take(values, positions, axis=dim)
    bad = None if poison is None else np.take(poison, positions, axis=dim)
    expected = (*bound.shape[:dim], *call.bound(1).shape, *bound.shape[dim + 1 :])
    if expected != call.result.shape:
        raise call.broken(f"the result has shape {list(call.result.shape)}, not {list(expected)}")
    return (computed(call, *place(inner, bad, call.result)),)


def scatter(call: Call) -> Results:
    """Cells written along a dim by index; of equal indices the last one wins."""
    target, dim = call.bound(2), call.attributes["dim"]
    if not 0 <= dim < len(target.shape):
        raise call.broken(f"dim {dim} does not fit rank {len(target.shape)}")
    new = _source(call)
    positions = _positions(call, 1, target.box[dim])[: new.shape[dim]]
    if len(positions) < new.shape[dim]:
        raise call.refused(
            "SPY130", f"{len(positions)} valid indices for {new.shape[dim]} valid cells"
        )
    for axis, (extent, limit) in enumerate(zip(new.shape, target.box, strict=True)):
        if axis != dim and new.size and extent > limit:
            raise call.refused(
                "SPY133", f"dim {axis}: {extent} cells are written, {limit} are valid"
            )
    values = call.cells(2).values.copy()
    poison = call.cells(2).poison
    mask = None if poison is None else poison.copy()
    before = tuple(slice(0, extent) for extent in new.shape[:dim])
    after = tuple(slice(0, extent) for extent in new.shape[dim + 1 :])
    for number, position in enumerate(positions.tolist()):
        put = (*before, position, *after)
        values[put] = np.take(new, number, axis=dim)
        if mask is not None:
            mask[put] = False
    return (Cells(values, mask),)


def fillpad(call: Call) -> Results:
    """The valid cells, and the pad everywhere else."""
    element, pad = call.result.element, call.attributes["pad"]
    fill = {"zero": np.zeros((), np.int8), "min": lowest(element), "max": highest(element)}
    if pad not in fill:
        raise call.broken(f"pad is {pad!r}; it must be one of zero, min, max")
    inner, bad = crop(call.cells(0), call.bound(0))
    values = np.full(call.result.shape, round_to(np.asarray(fill[pad]), element))
    region = tuple(slice(0, extent) for extent in inner.shape)
    if values[region].shape != inner.shape:
        raise call.broken("the result is smaller than the operand")
    values[region] = inner
    mask = None
    if bad is not None:
        mask = np.zeros(values.shape, np.bool_)
        mask[region] = bad
    return (computed(call, values, mask),)


def full(call: Call) -> Results:
    """One value everywhere."""
    value = np.asarray(call.operands[0])
    return (computed(call, np.full(call.result.shape, value), None),)


def iota(call: Call) -> Results:
    """Positions along a dim, from `start` on."""
    shape, dim = call.result.shape, call.attributes["dim"]
    if not 0 <= dim < len(shape):
        raise call.broken(f"dim {dim} does not fit rank {len(shape)}")
    line = np.arange(shape[dim], dtype=np.int64) + call.attributes["start"]
    column = line.reshape((-1,) + (1,) * (len(shape) - dim - 1))
    values = round_to(np.broadcast_to(column, shape), call.result.element)
    return (computed(call, values, None),)


def empty(call: Call) -> Results:
    """A buffer in which every cell is still to be written."""
    shape = call.result.shape
    return (Cells(np.full(shape, garbage(call.result.element)), np.ones(shape, np.bool_)),)


SEMANTICS: dict[str, Callable[[Call], Results]] = {
    "restickify": copy,
    "slice": window,
    "insert_slice": insert,
    "set_valid_shape": set_valid_shape,
    "reshape": reshape,
    "transpose": transpose,
    "broadcast": broadcast,
    "concat": concat,
    "gather": gather,
    "scatter": scatter,
    "fillpad": fillpad,
    "full": full,
    "iota": iota,
    "empty": empty,
}
"""Operation name -> what it does."""

IN_PLACE: dict[str, Callable[[Call], Results]] = {
    "insert_slice": partial(insert, in_place=True),
}
"""The operations that can write into their destination."""
