# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, products, norms, scans and moves against formulas cell by cell."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from random_cells import FLOATS, INTEGERS, floating, random_values, rounded, run, steps_apart, wide

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate
from spyre_mlir.optable import DYNAMIC, OPS

REDUCTIONS = ("sum", "max", "min", "mean", "absmax", "prod")
SHAPES_AND_DIMS = [
    ((7,), (0,)),
    ((3, 5), (1,)),
    ((3, 5), (0,)),
    ((3, 5), (0, 1)),
    ((2, 3, 4), (0, 2)),
    ((2, 1, 3, 2), (1, 3)),
    ((2, 2, 1, 3, 2), (2, 3)),
    ((0, 4), (1,)),
]


def _reduce_exact(name: str, cells: list[Any], element: str) -> Any:
    if floating(element):
        numbers = [float(c) for c in cells]
        if name in ("max", "min", "absmax"):
            if any(math.isnan(n) for n in numbers):
                return math.nan
            return max(map(abs, numbers)) if name == "absmax" else getattr(np, name)(numbers)
        if name == "prod":
            return float(np.prod(np.array(numbers, np.float64)))
        with np.errstate(all="ignore"):
            total = float(np.sum(np.array(numbers, np.float64)))
        return total / len(numbers) if name == "mean" else total
    whole = [int(c) for c in cells]
    if name == "absmax":
        wrapped = [int(np.abs(np.array(c, DTYPES[element]))) for c in cells]
        return max(wrapped)
    return {"sum": sum, "prod": math.prod, "max": max, "min": min}[name](whole)


def _lines(x: Any, dims: tuple[int, ...]) -> Any:
    """(result index, cells that are reduced into it)."""
    kept = [i for i in range(x.ndim) if i not in dims]
    for point in itertools.product(*(range(x.shape[i]) for i in kept)):
        index: list[Any] = [slice(None)] * x.ndim
        for i, p in zip(kept, point, strict=True):
            index[i] = p
        yield point, x[tuple(index)].reshape(-1).tolist()


def _result_shape(shape: tuple[int, ...], dims: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    if keep:
        return tuple(1 if i in dims else e for i, e in enumerate(shape))
    return tuple(e for i, e in enumerate(shape) if i not in dims)


@pytest.mark.parametrize(("name", "element"), [(n, e) for n in REDUCTIONS for e in OPS[n].elements])
def test_reduction(name: str, element: str) -> None:
    rng = np.random.default_rng([ord(c) for c in name + element])
    for shape, dims in SHAPES_AND_DIMS:
        for keep, special in ((False, False), (True, True)):
            x = random_values(rng, shape, element, special=special)
            if name == "prod" and floating(element):
                x = np.clip(x, -2, 2).astype(x.dtype)
            bound = Bound(_result_shape(shape, dims, keep), element)
            attributes = {"dims": dims, "keep_dims": keep}
            with np.errstate(all="ignore"):
                (got,) = run(name, [x], [bound], attributes)
            flat = got.reshape(_result_shape(shape, dims, False))
            for point, cells in _lines(x, dims):
                exact = _reduce_exact(name, cells, element)
                _check_reduced(flat[point], exact, element, name)


def _check_reduced(got: Any, exact: Any, element: str, name: str) -> None:
    if not floating(element):
        bits = 8 * DTYPES[element].itemsize
        assert (int(got) - exact) % (1 << bits) == 0, (name, got, exact)
        return
    with np.errstate(all="ignore"):
        want = np.asarray(exact, np.float64).astype(np.float32).astype(DTYPES[element])
    allowed = 8 if element == "f32" else 1
    close = abs(float(got) - float(want)) <= 1e-5
    assert close or steps_apart(np.asarray(got), want) <= allowed, (name, got, want)


def test_sums_of_f16_do_not_stop_at_the_f16_step() -> None:
    ones = np.ones(5000, np.float16)
    assert run("sum", [ones], [Bound((), "f16")], {"dims": (0,)})[0] == np.float16(5000)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("element", OPS["argmax"].elements)
def test_positions(name: str, element: str) -> None:
    rng = np.random.default_rng(5)
    for special in (False, True):
        x = random_values(rng, (4, 9, 3), element, special=special)
        x[:, 5] = x[:, 2]
        (got,) = run(name, [x], [Bound((4, 3), "i32")], {"dim": 1})
        for (i, j), cells in _lines(x, (1,)):
            numbers = [float(c) if floating(element) else int(c) for c in cells]
            nan = [k for k, n in enumerate(numbers) if n != n]
            best = max(numbers) if name == "argmax" else min(numbers)
            assert got[i, j] == (nan[0] if nan else numbers.index(best))


def test_reducing_nothing_is_refused() -> None:
    x = np.zeros((3, 0), np.float16)
    for name in (*REDUCTIONS, "argmax"):
        attributes: dict[str, Any] = {"dim": 1} if name == "argmax" else {"dims": (1,)}
        element = "i32" if name == "argmax" else "f16"
        with pytest.raises(Refusal, match=r"SPY132: .*dims \[1\]"):
            run(name, [x], [Bound((3,), element)], attributes)
        empty = Bound((3, 4), "f16", (0, 0))
        cells = Cells(np.zeros((3, 4), np.float16), np.ones((3, 4), bool))
        result = Bound((3,), element, (0,))
        (got,) = evaluate(name, [cells], [empty], [result], attributes)
        assert got.poison is not None and got.poison.all()


@pytest.mark.parametrize("element", FLOATS)
def test_layer_norm_pieces_are_layer_norm(element: str) -> None:
    rng = np.random.default_rng(6)
    for shape in ((6,), (3, 6), (2, 3, 40)):
        n = shape[-1]
        x = random_values(rng, shape, element)
        weight, bias = (random_values(rng, (n,), element) for _ in range(2))
        pair = (*shape[:-1], 2)
        (moments,) = run("exx2", [x], [Bound(pair, element)])
        exact = wide(x)
        want = np.stack([exact.mean(-1), (exact**2).mean(-1)], axis=-1)
        assert np.allclose(wide(moments), want, rtol=2.0**-7, atol=1e-2)
        one = Bound((*shape[:-1], 1), element)
        (scale,) = run("layernorm_scale", [moments], [one], {"eps": 1e-5})
        m, q = wide(moments)[..., :1], wide(moments)[..., 1:]
        near = rounded(1 / np.sqrt(q - m * m + 1e-5), element)
        assert steps_apart(scale, near) <= (64 if element == "f32" else 2)
        (y,) = run("layernorm_norm", [x, moments, scale, weight, bias], [Bound(shape, element)])
        exact_y = (exact - m) * wide(scale) * wide(weight) + wide(bias)
        assert np.allclose(wide(y), exact_y, rtol=2.0**-8, atol=1e-5)
        (zero,) = run("exx2", [x], [Bound(pair, element)], {"zero_mean": True})
        assert (zero[..., 0] == 0).all() and (zero[..., 1] == moments[..., 1]).all()


PRODUCTS = [("f16", "f16"), ("f16", "f32"), ("bf16", "bf16"), ("f32", "f32"), ("i8", "i32")]
PRODUCTS += [("i8", "i8"), ("i32", "i32"), ("i64", "i64"), ("ui8", "ui8"), ("f8E4M3FN", "f16")]
PRODUCTS += [("f8E5M2FNUZ", "f32"), ("i16", "i32")]


@pytest.mark.parametrize(("element", "result"), PRODUCTS)
def test_matrix_product(element: str, result: str) -> None:
    rng = np.random.default_rng(7)
    shapes = [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (6, 4, 5)), ((3, 0), (0, 2))]
    for left, right in shapes:
        a, b = random_values(rng, left, element), random_values(rng, right, element)
        shape = (*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], right[-1])
        (got,) = run("batch_matmul", [a, b], [Bound(shape, result)])
        start = random_values(rng, shape, result)
        (sum_,) = run("matmul_acc", [start, a, b], [Bound(shape, result)])
        exact = np.einsum("...mk,...kn->...mn", *_objects(a, b))
        product, accumulator = _objects(got, start)
        for values, want in ((got, exact), (sum_, product + accumulator)):
            _check_product(values, want, result)


def _objects(*arrays: Any) -> list[Any]:
    """Exact: python integers, or f64."""
    return [v if v.dtype == np.float64 else v.astype(object) for v in map(wide, arrays)]


def _check_product(got: Any, want: Any, element: str) -> None:
    assert got.dtype == DTYPES[element]
    if floating(element):
        step = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-20}[element]
        assert np.allclose(wide(got), want.astype(np.float64), rtol=step, atol=1e-4)
        return
    bits = 8 * DTYPES[element].itemsize
    assert all(
        (int(g) - int(w)) % (1 << bits) == 0 for g, w in zip(got.flat, want.flat, strict=True)
    )


def _descending(cells: list[Any]) -> list[int]:
    """Positions by decreasing value, NaN first, equal ones in their order."""
    return sorted(range(len(cells)), key=lambda i: (not math.isnan(cells[i]), -_key(cells[i]), i))


def _ascending(cells: list[Any]) -> list[int]:
    return sorted(range(len(cells)), key=lambda i: (math.isnan(cells[i]), _key(cells[i]), i))


def _key(number: Any) -> Any:
    return 0 if math.isnan(number) else number


@pytest.mark.parametrize("element", OPS["topk"].elements)
def test_topk_and_sort(element: str) -> None:
    rng = np.random.default_rng(8)
    for dim, special in ((0, False), (1, True), (2, True)):
        x = random_values(rng, (3, 6, 4), element, special=special)
        shape = tuple(2 if i == dim else e for i, e in enumerate(x.shape))
        bounds = [Bound(shape, element), Bound(shape, "i32")]
        values, indices = run("topk", [x], bounds, {"k": 2, "dim": dim})
        down = {"dim": dim, "descending": True}
        (falling,) = run("sort", [x], [Bound(x.shape, element)], down)
        (rising,) = run("sort", [x], [Bound(x.shape, element)], {"dim": dim})
        for point, line in _lines(x, (dim,)):
            cells = [float(c) if floating(element) else int(c) for c in line]
            index = tuple(np.insert(np.array(point, object), dim, slice(None)))
            order = _descending(cells)
            assert indices[index].tolist() == order[:2]
            _same(values[index], [cells[i] for i in order[:2]])
            _same(falling[index], [cells[i] for i in order])
            _same(rising[index], [cells[i] for i in _ascending(cells)])


def _same(got: Any, want: list[Any]) -> None:
    for g, w in zip(got.tolist(), want, strict=True):
        assert g == w or (g != g and w != w)


EVERY = OPS["identity"].elements


@pytest.mark.parametrize("element", EVERY)
def test_moves_move(element: str) -> None:
    rng = np.random.default_rng(9)
    x = random_values(rng, (3, 4, 5), element)

    def out(name: str, arrays: list[Any], shape: tuple[int, ...], **attributes: Any) -> Any:
        return run(name, arrays, [Bound(shape, element)], attributes)[0]

    assert _equal(out("restickify", [x], x.shape), x)
    assert _equal(out("identity", [x], x.shape), x)
    assert _equal(out("reshape", [x], (6, 10)), x.reshape(6, 10))
    y = out("transpose", [x], (5, 3, 4), permutation=(2, 0, 1))
    assert all(
        y[k, i, j] == x[i, j, k] or x[i, j, k] != x[i, j, k] for i, j, k in np.ndindex(x.shape)
    )
    assert _equal(out("broadcast", [x[:, :1]], (2, 3, 4, 5)), np.stack([x[:, :1].repeat(4, 1)] * 2))
    assert _equal(out("concat", [x, x[:, :1]], (3, 5, 5), dim=1), np.hstack([x, x[:, :1]]))
    assert _equal(out("set_valid_shape", [x], x.shape, valid_shape=(3, 4, 5)), x)
    s = x.reshape(-1)[0]
    assert _equal(out("full", [s], (2, 2)), np.array([[s, s], [s, s]]))
    indices = np.array([[2, 0], [1, 1]], np.int32)
    got = out("gather", [x, indices], (2, 2, 4, 5), dim=0)
    assert all(_equal(got[i, j], x[indices[i, j]]) for i, j in np.ndindex(2, 2))
    where = np.array([3, 0, 3], np.int64)
    source = random_values(rng, (3, 3, 5), element)
    got = out("scatter", [source, where, x], x.shape, dim=1)
    want = x.copy()
    for j, position in enumerate(where):
        want[:, position] = source[:, j]
    assert _equal(got, want)


def _equal(a: Any, b: Any) -> bool:
    b = np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("element", OPS["iota"].elements)
def test_iota(element: str) -> None:
    (got,) = run("iota", [], [Bound((2, 300), element)], {"dim": 1, "start": -5})
    if floating(element):
        want = np.arange(-5, 295).astype(np.float32).astype(DTYPES[element])
    else:
        want = np.arange(-5, 295).astype(DTYPES[element])
    assert (got == want).all() and got.shape == (2, 300)


@pytest.mark.parametrize("element", EVERY)
@pytest.mark.parametrize("pad", ["zero", "min", "max"])
def test_fillpad(element: str, pad: str) -> None:
    rng = np.random.default_rng(10)
    x = random_values(rng, (3, 4), element)
    mask = np.ones((3, 4), bool)
    mask[:2, :3] = False
    (cells,) = evaluate(
        "fillpad",
        [Cells(x, mask)],
        [Bound((3, 4), element, (2, 3))],
        [Bound((3, 6), element)],
        {"pad": pad},
    )
    assert cells.poison is None
    assert _equal(cells.values[:2, :3], x[:2, :3])
    rest = np.ones((3, 6), bool)
    rest[:2, :3] = False
    fill = set(cells.values[rest].tolist())
    assert len(fill) == 1
    value = fill.pop()
    if pad == "zero":
        assert value == 0
    elif element in FLOATS:
        assert value == (-math.inf if pad == "min" else math.inf)
    elif floating(element):
        largest = {"f8E4M3FN": 448, "f8E5M2FNUZ": 57344}[element]
        assert value == (-largest if pad == "min" else largest)
    elif element in INTEGERS:
        assert value == getattr(np.iinfo(DTYPES[element]), pad)
    else:
        assert value == (pad == "max")


def test_windows_and_writes() -> None:
    rng = np.random.default_rng(11)
    x = random_values(rng, (6, 8), "f16")
    bound, small = Bound((6, 8), "f16"), Bound((2, 3), "f16")
    offsets = {"static_offsets": (DYNAMIC, 5)}
    (part,) = evaluate("slice", [Cells(x), 3], [bound, "index"], [small], offsets)
    assert _equal(part.values, x[3:5, 5:8])
    y = random_values(rng, (2, 3), "f16")
    (whole,) = evaluate(
        "insert_slice", [Cells(y), Cells(x), 3], [small, bound, "index"], [bound], offsets
    )
    want = x.copy()
    want[3:5, 5:8] = y
    assert _equal(whole.values, want) and not _equal(x, want)
    for offset in (-1, 5):
        with pytest.raises(Refusal, match=r"SPY133: spyre.slice: dim 0: 2 cells from"):
            evaluate("slice", [Cells(x), offset], [bound, "index"], [small], offsets)


@pytest.mark.parametrize("packed", [False, True])
def test_select_chooses(packed: bool) -> None:
    rng = np.random.default_rng(12)
    for shape in ((9,), (2, 3, 17)):
        choose = rng.integers(0, 2, shape).astype(bool)
        a, b = random_values(rng, shape, "bf16"), random_values(rng, shape, "bf16")
        mask = choose
        if packed:
            mask = np.zeros((*shape[:-1], 32), np.uint8)
            for point in np.ndindex(shape):
                mask[(*point[:-1], point[-1] // 8)] |= int(choose[point]) << (point[-1] % 8)
        bound = Bound(shape, "bf16")
        (got,) = run("select", [mask, a, b], [bound])
        (with_scalar,) = run("selects", [mask, a, b.reshape(-1)[0]], [bound])
        for point in np.ndindex(shape):
            assert got[point] == (a if choose[point] else b)[point]
            assert with_scalar[point] == (a[point] if choose[point] else b.reshape(-1)[0])


def test_packed_compare_packs() -> None:
    rng = np.random.default_rng(13)
    a, b = random_values(rng, (3, 19), "f16"), random_values(rng, (19,), "f16")
    (got,) = _packed(
        a, b, Bound((3, 19), "f16"), Bound((19,), "f16"), Bound((3, 32), "ui8", (3, 3))
    )
    for i in range(3):
        for byte in range(3):
            bits = [8 * byte + k < 19 and a[i, 8 * byte + k] < b[8 * byte + k] for k in range(8)]
            assert got.values[i, byte] == sum(int(bit) << k for k, bit in enumerate(bits))
    assert got.poison is not None
    assert got.poison[:, 3:].all() and not got.poison[:, :3].any()


def _packed(a: Any, b: Any, left: Bound, right: Bound, result: Bound) -> tuple[Cells, ...]:
    cells = [Cells(v, _beyond(bound)) for v, bound in ((a, left), (b, right))]
    return evaluate("cmp_packed", cells, [left, right], [result], {"predicate": "lt"})


def _beyond(bound: Bound) -> Any:
    if bound.valid is None:
        return None
    mask = np.ones(bound.shape, bool)
    mask[bound.region] = False
    return mask


def test_packed_compare_of_a_partial_region() -> None:
    x = np.arange(40, dtype=np.float16).reshape(2, 20)
    part = Bound((2, 20), "f16", (2, 9))
    (got,) = _packed(x, x + 1, part, part, Bound((2, 32), "ui8", (2, 2)))
    assert got.values[:, 0].tolist() == [255, 255] and got.values[:, 1].tolist() == [1, 1]
    with pytest.raises(Refusal, match=r"SPY130: spyre.cmp_packed: .*valid cell \[0, 2\]"):
        _packed(x, x, part, part, Bound((2, 32), "ui8", (2, 3)))


def test_indices_out_of_range_are_refused() -> None:
    x = np.zeros((3, 4), np.float16)
    where = np.array([0, 3], np.int32)
    with pytest.raises(Refusal, match=r"SPY133: spyre.gather: index 3 at \[1\] is outside"):
        run("gather", [x, where], [Bound((2, 4), "f16")], {"dim": 0})
    with pytest.raises(Refusal, match=r"SPY133: spyre.scatter: index 3"):
        run("scatter", [x[:2], where, x], [Bound((3, 4), "f16")], {"dim": 0})
