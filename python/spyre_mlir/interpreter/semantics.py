# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations do to cells, by family; operations that move cells are in `moves`.

The scalar functions come from the operation table. Floats narrower than f32 are computed in f32 and
rounded once to nearest even; integers wrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spyre_mlir.interpreter import moves
from spyre_mlir.interpreter.calls import Call, computed
from spyre_mlir.interpreter.cells import (
    Array,
    Bound,
    Cells,
    Mask,
    first_cell,
    outside_of,
    round_to,
    widen,
)
from spyre_mlir.interpreter.regular import crop, merge, ordered, place

Results = tuple[Cells, ...]


def _array(call: Call, number: int) -> Array:
    value = call.operands[number]
    return value.values if isinstance(value, Cells) else np.asarray(value)


def _poison(call: Call, number: int) -> Mask | None:
    value = call.operands[number]
    return value.poison if isinstance(value, Cells) else None


def _value_operands(call: Call) -> list[int]:
    roles = [operand.role for operand in call.op.operands]
    return [i for i in range(len(call.operands)) if roles[i] == "value"]


def _inputs(call: Call, numbers: list[int]) -> list[Array]:
    """Operands in the compute type; as they are where that gives the same (see the table)."""
    arrays = [_array(call, i) for i in numbers]
    if call.op.exact:
        return arrays
    if call.op.one_step and arrays[0].dtype == np.float16:
        return arrays
    return [widen(array, _element(call, i)) for array, i in zip(arrays, numbers, strict=True)]


def _element(call: Call, number: int) -> str:
    kind = call.kinds[number]
    return kind.element if isinstance(kind, Bound) else kind


def _check_one_element(call: Call, numbers: list[int]) -> None:
    elements = dict.fromkeys(_element(call, i) for i in numbers)
    if len(elements) > 1:
        raise call.broken("operands have different element types: " + ", ".join(elements))


def _scalar(call: Call, arrays: list[Array], element: str, **attributes: Any) -> Array:
    """The table's scalar function, with the attributes as keywords."""
    if call.op.rounds_between:
        dtype = arrays[0].dtype

        def rounded(value: Any) -> Array:
            return round_to(np.asarray(value), element).astype(dtype, copy=False)

        attributes = {**attributes, "rounded": rounded}
    assert call.op.scalar is not None
    return np.asarray(call.op.scalar(np, *arrays, **attributes))


def _check_hazard(call: Call, arrays: list[Array], poison: Mask | None) -> None:
    if call.op.hazard is None:
        return
    what, test = call.op.hazard
    bad = np.broadcast_to(test(np, *arrays), call.result.shape)
    if poison is not None:
        bad = bad & ~poison
    bad = bad[call.result.region]
    if bad.any():
        raise call.refused("SPY131", f"{what} at cell {list(first_cell(bad))}")


def elementwise(call: Call) -> Results:
    """Cell by cell, operands broadcast; a result cell is poison if any cell it reads is."""
    numbers = _value_operands(call)
    _check_one_element(call, numbers)
    arrays = _inputs(call, numbers)
    poison = merge([_poison(call, i) for i in numbers], call.result.shape)
    _check_hazard(call, arrays, poison)
    values = _scalar(call, arrays, _element(call, numbers[0]), **call.attributes)
    return (computed(call, round_to(values, call.result.element), poison),)


def cast(call: Call) -> Results:
    """Change of element type; see the table for what does not fit."""
    cells = call.cells(0)
    return (computed(call, round_to(cells.values, call.result.element), cells.poison),)


def compare_packed(call: Call) -> Results:
    """Comparison packed 8 cells to the byte along the last dim."""
    numbers = [0, 1]
    _check_one_element(call, numbers)
    bits = _scalar(call, _inputs(call, numbers), _element(call, 0), **call.attributes)
    lacking = [outside_of(k) if isinstance(k, Bound) else None for k in call.kinds]
    logical = merge(lacking, bits.shape)
    poison = merge([_poison(call, i) for i in numbers], bits.shape)
    beyond = np.zeros(bits.shape, np.bool_) if logical is None else logical
    unwritten = np.zeros(bits.shape, np.bool_) if poison is None else poison & ~beyond
    width = call.result.shape[-1] * 8 - bits.shape[-1]
    if width < 0:
        raise call.broken("the result is too narrow for the packed predicate")
    pad = [(0, 0)] * (bits.ndim - 1) + [(0, width)]
    octets = (*bits.shape[:-1], call.result.shape[-1], 8)
    empty = np.asarray(np.pad(beyond, pad, constant_values=True).reshape(octets).all(axis=-1))
    bad = np.asarray(np.pad(unwritten, pad).reshape(octets).any(axis=-1))
    packed = np.packbits(np.pad(bits & ~beyond, pad), axis=-1, bitorder="little")
    return (computed(call, packed, empty | bad),)


def _mask(call: Call) -> tuple[Array, Mask | None]:
    """The choosing mask, one bool per cell of the result, and its poison."""
    cells, bound = call.cells(0), call.bound(0)
    shape = call.result.shape
    if bound.element == "i1":
        return cells.values, cells.poison
    if bound.shape[:-1] != shape[:-1] or bound.shape[-1] * 8 < shape[-1]:
        raise call.broken(f"a packed mask {list(bound.shape)} does not cover {list(shape)}")
    bits = np.unpackbits(cells.values, axis=-1, bitorder="little")[..., : shape[-1]]
    poison = cells.poison
    if poison is not None:
        poison = np.repeat(poison, 8, axis=-1)[..., : shape[-1]]
    return bits.astype(np.bool_), poison


def select(call: Call) -> Results:
    """Choice by a mask: poison comes from the mask and from the branch chosen."""
    _check_one_element(call, [1, 2])
    chooser, poison = _mask(call)
    values = _scalar(call, [chooser, _array(call, 1), _array(call, 2)], call.result.element)
    branches = [_poison(call, 1), _poison(call, 2)]
    if any(branch is not None for branch in branches):
        none = np.zeros((), np.bool_)
        taken = np.where(chooser, *(none if b is None else b for b in branches))
        poison = taken if poison is None else taken | poison
    if poison is not None:
        poison = np.broadcast_to(poison, call.result.shape)
    return (computed(call, values, poison),)


def part(call: Call) -> Results:
    """The operation where both operands are valid, a copy where one is."""
    _check_one_element(call, [0, 1])
    shape = call.result.shape
    a, b = _inputs(call, [0, 1])
    without = [outside_of(call.bound(i)) for i in (0, 1)]
    values = _scalar(call, [a, b], call.result.element)
    poison = merge([_poison(call, 0), _poison(call, 1)], shape)
    if any(mask is not None for mask in without):
        no_a, no_b = (
            np.broadcast_to(np.zeros((), np.bool_) if m is None else m, shape) for m in without
        )
        values = np.where(no_a, b, np.where(no_b, a, values))
        unwritten = [
            (p & ~o if o is not None else p) if p is not None else None
            for p, o in ((_poison(call, i), without[i]) for i in (0, 1))
        ]
        inner = merge(unwritten, shape)
        poison = (no_a & no_b) if inner is None else (no_a & no_b) | inner
    return (computed(call, round_to(values, call.result.element), poison),)


def _axes(call: Call) -> tuple[int, ...]:
    rank = len(call.bound(0).shape)
    dims = call.attributes.get("dims", None)
    axes = tuple(dims) if dims is not None else (call.attributes["dim"],)
    if not axes or list(axes) != sorted(set(axes)) or axes[0] < 0 or axes[-1] >= rank:
        raise call.broken(f"dims {list(axes)} do not fit rank {rank}")
    return axes


def _check_some(call: Call, box: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Refuses a reduction over no cell where the result has valid cells."""
    if any(box[i] == 0 for i in axes) and 0 not in call.result.box:
        raise call.refused(
            "SPY132",
            f"no valid cell along dims {[i for i in axes if box[i] == 0]}",
            f"the operand has valid extents {list(box)}",
        )


def _reduced(call: Call, inner: Array, bad: Mask | None, axes: tuple[int, ...]) -> Cells:
    """The reduced box put into the result."""
    if call.attributes.get("keep_dims"):
        inner = np.expand_dims(inner, axes)
        bad = None if bad is None else np.expand_dims(bad, axes)
    return computed(call, *place(inner, bad, call.result))


def reduction(call: Call) -> Results:
    """Over the valid cells along the dims; one poison cell among them poisons the result."""
    axes, bound = _axes(call), call.bound(0)
    _check_some(call, bound.box, axes)
    values, poison = crop(call.cells(0), bound)
    wide = widen(values, bound.element)
    if 0 in values.shape:
        inner = np.zeros([e for i, e in enumerate(values.shape) if i not in axes], wide.dtype)
    else:
        assert call.op.scalar is not None
        inner = np.asarray(call.op.scalar(np, wide, axes))
    bad = None if poison is None else np.asarray(poison.any(axis=axes))
    return (_reduced(call, round_to(inner, call.result.element), bad, axes),)


def moments(call: Call) -> Results:
    """Mean and mean of squares of each row, as a pair in the last dim."""
    bound = call.bound(0)
    if not bound.shape:
        raise call.broken("the operand has rank 0")
    axes = (len(bound.shape) - 1,)
    _check_some(call, bound.box, axes)
    values, poison = crop(call.cells(0), bound)
    wide = widen(values, bound.element)
    if 0 in values.shape:
        pair = np.zeros((*values.shape[:-1], 2), np.float32)
    else:
        mean = np.mean(wide, axis=-1)
        mean = np.zeros_like(mean) if call.attributes["zero_mean"] else mean
        pair = np.stack([mean, np.mean(wide * wide, axis=-1)], axis=-1)
    bad = None
    if poison is not None:
        bad = np.repeat(poison.any(axis=-1, keepdims=True), 2, axis=-1)
    return (computed(call, *place(round_to(pair, bound.element), bad, call.result)),)


def norm_scale(call: Call) -> Results:
    """Reciprocal standard deviation from the pairs of `exx2`."""
    cells, element = call.cells(0), call.result.element
    if call.bound(0).shape[-1:] != (2,):
        raise call.broken("the operand's last extent is not 2")
    pair = widen(cells.values, element)
    mean, square = pair[..., :1], pair[..., 1:]
    eps = np.float32(call.attributes["eps"])
    scale = 1 / np.sqrt(square - mean * mean + eps)
    bad = None if cells.poison is None else np.any(cells.poison, axis=-1, keepdims=True)
    return (computed(call, round_to(scale, element), bad),)


def norm(call: Call) -> Results:
    """(x - mean) * scale * weight + bias, row by row."""
    _check_one_element(call, [0, 1, 2, 3, 4])
    element, rows = call.result.element, len(call.result.shape) - 1
    x, pair, scale, weight, bias = (widen(_array(call, i), element) for i in range(5))
    if pair.shape != (*x.shape[:rows], 2) or scale.shape != (*x.shape[:rows], 1):
        raise call.broken("moments and scale do not fit the operand")
    values = _scalar(call, [x, pair[..., :1], scale, weight, bias], element)
    masks = [_poison(call, i) for i in range(5)]
    first = masks[1]
    masks[1] = None if first is None else first[..., :1]
    return (computed(call, round_to(values, element), merge(masks, call.result.shape)),)


def contraction(call: Call) -> Results:
    """Batched matrix product over the valid K of lhs, added to an accumulator if there is one."""
    first = len(call.operands) - 2
    lhs, rhs = call.bound(first), call.bound(first + 1)
    _check_one_element(call, [first, first + 1])
    if len(lhs.shape) < 2 or len(rhs.shape) < 2 or lhs.shape[-1] != rhs.shape[-2]:
        raise call.broken(f"{list(lhs.shape)} by {list(rhs.shape)} is no matrix product")
    left, bad_left = crop(call.cells(first), lhs)
    right, bad_right = crop(call.cells(first + 1), rhs)
    k, covered = lhs.box[-1], rhs.box[-2]
    product, bad = _product(
        left[..., :covered],
        None if bad_left is None else bad_left[..., :covered],
        right[..., :k, :],
        None if bad_right is None else bad_right[..., :k, :],
        lhs.element,
    )
    if covered < k:
        # Products beyond the valid K of rhs: every cell of the result would read no data.
        bad = np.ones(product.shape, np.bool_)
    if first == 0:
        values, mask = place(round_to(product, call.result.element), bad, call.result)
        return (computed(call, values, mask),)
    return (_accumulated(call, product, bad),)


def _product(
    left: Array, bad_left: Mask | None, right: Array, bad_right: Mask | None, element: str
) -> tuple[Array, Mask | None]:
    wide = np.float32 if widen(left[:0], element).dtype == np.float32 else np.int64
    product = np.matmul(left.astype(wide), right.astype(wide))
    if bad_left is None and bad_right is None:
        return product, None
    bad = np.zeros(product.shape, np.bool_)
    if bad_left is not None:
        bad |= np.any(bad_left, axis=-1, keepdims=True)
    if bad_right is not None:
        bad |= np.any(bad_right, axis=-2, keepdims=True)
    return product, bad


def _accumulated(call: Call, product: Array, bad: Mask | None) -> Cells:
    """The accumulator with the product added where both are valid; each is rounded, as the device rounds both."""
    cells, bound = call.cells(0), call.bound(0)
    product = widen(round_to(product, bound.element), bound.element).astype(product.dtype)
    total = widen(cells.values, bound.element).astype(product.dtype, copy=True)
    common = tuple(slice(0, min(a, b)) for a, b in zip(product.shape, bound.box, strict=True))
    total[common] += product[common]
    poison = cells.poison
    if bad is not None:
        poison = np.zeros(bound.shape, np.bool_) if poison is None else poison.copy()
        poison[common] |= bad[common]
    return computed(call, round_to(total, call.result.element), poison)


def topk(call: Call) -> Results:
    """The k largest along a dim, in decreasing order, and where they stood."""
    bound, dim, k = call.bound(0), call.attributes["dim"], call.attributes["k"]
    if not 0 <= dim < len(bound.shape) or not 1 <= k <= bound.shape[dim]:
        raise call.broken(f"k = {k} along dim {dim} does not fit {list(bound.shape)}")
    values, poison = crop(call.cells(0), bound)
    if values.shape[dim] < k and 0 not in call.result.box:
        raise call.refused("SPY132", f"{values.shape[dim]} valid cells along dim {dim}, k is {k}")
    order = np.take(ordered(values, dim, True), np.arange(min(k, values.shape[dim])), axis=dim)
    best = np.take_along_axis(values, order, axis=dim)
    bad = None
    if poison is not None:
        bad = np.broadcast_to(poison.any(axis=dim, keepdims=True), order.shape)
    numbers = round_to(order, call.results[1].element)
    return (
        computed(call, *place(best, bad, call.results[0]), 0),
        computed(call, *place(numbers, bad, call.results[1]), 1),
    )


def sort(call: Call) -> Results:
    """The valid cells along a dim in order, in the valid positions."""
    bound, dim = call.bound(0), call.attributes["dim"]
    values, poison = crop(call.cells(0), bound)
    order = ordered(values, dim, call.attributes["descending"])
    bad = None
    if poison is not None:
        bad = np.broadcast_to(poison.any(axis=dim, keepdims=True), values.shape)
    inner = np.take_along_axis(values, order, axis=dim)
    return (computed(call, *place(inner, bad, call.result)),)


SEMANTICS: dict[str, Callable[[Call], Results]] = {
    "binary": elementwise,
    "compare": elementwise,
    "cmp_packed": compare_packed,
    "three_operands": elementwise,
    "select": select,
    "selects": select,
    "part": part,
    "unary": elementwise,
    "identity": moves.copy,
    "cast": cast,
    "reduce": reduction,
    "exx2": moments,
    "layernorm_scale": norm_scale,
    "layernorm_norm": norm,
    "contract": contraction,
    "topk": topk,
    "sort": sort,
    **moves.SEMANTICS,
}
"""Family or operation name -> what it does; an operation's own entry wins over its family's."""

IN_PLACE = moves.IN_PLACE
