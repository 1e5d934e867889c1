# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions whose reduced range lies in several tiles: they mean what they meant, to the last bit that the undivided
operation keeps, and they compile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spyre_mlir import interpreter, ir, passmanager
from spyre_mlir.checking import check as check_bundle
from spyre_mlir.compiler import Bundle, compile
from spyre_mlir.interpreter.validation import validate
from spyre_mlir.operations import dims_of, kernel_of, walk
from spyre_mlir.optable import OPS
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.sdsc.model import Loop, Sdsc
from spyre_mlir.tiling.accumulation import accumulation_of
from spyre_mlir.tiling.hints import resolve

LAID_OUT = "builtin.module(func.func(spyre-assign-layouts))"
TILE = "builtin.module(func.func(spyre-assign-layouts,spyre-tile))"
HALF = {"f16": 11, "bf16": 8}
"""Bits of the significand."""


def hint(*levels: str) -> str:
    return (
        f"spyre.tile = #spyre.tile_plan<origin = hint, group = 0, levels = [{', '.join(levels)}]>"
    )


def tensor(shape: Sequence[int], element: str, valid: Sequence[int | str] | None = None) -> str:
    dims = "".join(f"{extent}x" for extent in shape)
    box = (
        "" if valid is None else f", #spyre.encoding<valid_shape = [{', '.join(map(str, valid))}]>"
    )
    return f"tensor<{dims}{element}{box}>"


def program(op: str, operands: Sequence[str], result: str, attributes: str) -> str:
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(operands))
    values = ", ".join(f"%a{i}" for i in range(len(operands)))
    return (
        f"func.func @f({arguments}) -> {result} {{\n"
        f"  %0 = spyre.{op} {values} {{{attributes}}} : ({', '.join(operands)}) -> {result}\n"
        f"  return %0 : {result}\n}}\n"
    )


def reduction(
    op: str,
    shape: Sequence[int],
    dims: Sequence[int],
    element: str,
    *levels: str,
    keep: bool = False,
) -> str:
    positions = op in ("argmax", "argmin")
    kept = [1 if d in dims else n for d, n in enumerate(shape) if keep or d not in dims]
    if op == "exx2":
        given, kept = "zero_mean = false", [*shape[:-1], 2]
    else:
        given = f"dim = {dims[0]} : i64" if positions else f"dims = {list(dims)}"
        given += f", keep_dims = {str(keep).lower()}"
    made = tensor(kept, "i32" if positions else element)
    return program(op, [tensor(shape, element)], made, f"{given}, {hint(*levels)}")


def tiled(text: str) -> str:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        passmanager.run(passmanager.parse(TILE), module.operation)
        return str(module)


def check(text: str, *, seeds: Sequence[int] = (0, 1)) -> str:
    """The program after tiling, which means the same."""
    after = tiled(text)
    with ir.Context(), ir.Location.unknown():
        verdicts = validate(ir.Module.parse(text), ir.Module.parse(after), seeds=seeds)
    assert [(v.status, v.detail) for v in verdicts] == [("same", "")], after
    return after


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]] = [
    ((256,), (0,), ("reduction(0) 4",)),
    ((131,), (0,), ("reduction(0) 2 x 64 + 3",)),
    ((13, 64), (0,), ("reduction(0) 3 x 4 + 1",)),
    ((7, 200), (0,), ("reduction(0) 7",)),
    ((7, 200), (1,), ("reduction(0) 3 x 64 + 8",)),
    ((8, 200), (1,), ("parallel(0) 2", "reduction(0) 1 x 128 + 72")),
    ((5, 7, 90), (1,), ("parallel(1) 1 x 64 + 26", "reduction(0) 2 x 3 + 1")),
    ((5, 7, 64), (0, 1), ("reduction(0) 5", "reduction(1) 2 x 3 + 1")),
    ((5, 7, 130), (0, 2), ("parallel(0) 7", "reduction(0) 2 x 2 + 1", "reduction(1) 2 x 64 + 2")),
    ((2, 3, 5, 64), (0, 1, 2, 3), ("reduction(1) 3", "reduction(2) 2 x 2 + 1")),
    ((2, 3, 4, 5, 64), (2,), ("parallel(0) 2", "parallel(1) 3", "reduction(0) 4")),
]
ONE_DIM = [(shape, dims, levels) for shape, dims, levels in SHAPES if len(dims) == 1]
LAST_DIM = [(shape, dims, levels) for shape, dims, levels in ONE_DIM if dims == (len(shape) - 1,)]


@pytest.mark.parametrize(
    ("op", "element"),
    [
        (op, element)
        for op in ("sum", "max", "min", "mean", "absmax", "prod")
        for element in ("f16", "bf16", "f32", "i32", "i8")
        if element in OPS[op].elements
    ],
)
def test_reductions_mean_the_same(op: str, element: str) -> None:
    for shape, dims, levels in SHAPES:
        for keep in (False, True):
            check(reduction(op, shape, dims, element, *levels, keep=keep))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i32", "i8"])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_positions_mean_the_same(op: str, element: str) -> None:
    for shape, dims, levels in ONE_DIM:
        check(reduction(op, shape, dims, element, *levels))


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_moments_mean_the_same(element: str) -> None:
    for shape, dims, levels in LAST_DIM:
        check(reduction("exx2", shape, dims, element, *levels))


MATMULS: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[str, ...]]] = [
    ((8, 256), (256, 64), (8, 64), ("reduction(0) 4",)),
    ((3, 200), (200, 90), (3, 90), ("reduction(0) 3 x 64 + 8",)),
    ((8, 256), (256, 192), (8, 192), ("parallel(0) 2", "parallel(1) 3", "reduction(0) 2")),
    ((8, 131), (131, 70), (8, 70), ("parallel(1) 1 x 64 + 6", "reduction(0) 2 x 64 + 3")),
    ((2, 5, 130), (130, 64), (2, 5, 64), ("parallel(0) 2", "reduction(0) 2 x 64 + 2")),
    ((2, 1, 4, 128), (3, 128, 64), (2, 3, 4, 64), ("parallel(1) 3", "reduction(0) 2")),
]
FACTORS = [("f16", "f16"), ("bf16", "bf16"), ("i8", "i32"), ("f8E4M3FN", "f16"), ("i32", "i32")]


@pytest.mark.parametrize(("element", "made"), FACTORS)
def test_products_mean_the_same(element: str, made: str) -> None:
    for lhs, rhs, result, levels in MATMULS:
        factors = [tensor(lhs, element), tensor(rhs, element)]
        whole = tensor(result, made)
        check(program("batch_matmul", factors, whole, hint(*levels)))
        check(program("matmul_acc", [whole, *factors], whole, hint(*levels)))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_products_in_f32_err_as_sums_in_f32(element: str) -> None:
    for lhs, rhs, result, levels in MATMULS:
        factors = [tensor(lhs, element), tensor(rhs, element)]
        text = program("batch_matmul", factors, tensor(result, "f32"), hint(*levels))
        random = np.random.default_rng(1)
        a, b = (random.normal(0, 1, s).astype(interpreter.DTYPES[element]) for s in (lhs, rhs))
        (found,) = interpreter.run(tiled(text), [a, b])
        a, b = a.astype(np.float64), b.astype(np.float64)
        bound = lhs[-1] * 2.0**-24 * (np.abs(a) @ np.abs(b))
        assert (np.abs(found - a @ b) <= bound).all()


def test_not_a_number_wins_once() -> None:
    text = reduction("argmax", (4, 256), (1,), "f16", "reduction(0) 4")
    x = np.zeros((4, 256), np.float16)
    x[0, [70, 200]] = np.nan
    x[1, [5, 250]] = np.nan
    x[2, [64, 128]] = 1
    with np.errstate(all="ignore"):
        (found,) = interpreter.run(tiled(text), [x])
    assert found.tolist() == [70, 5, 64, 0]


def exact(op: str, x: NDArray[Any], axes: tuple[int, ...]) -> NDArray[np.float64]:
    x = x.astype(np.float64)
    return {"sum": np.sum, "mean": np.mean, "prod": np.prod}[op](x, axis=axes)


@pytest.mark.parametrize("element", list(HALF))
@pytest.mark.parametrize("op", ["sum", "mean", "prod"])
def test_halves_lose_one_rounding(op: str, element: str) -> None:
    """Half a unit in the last place of the exact result, as the undivided operation; f32 adds little to it."""
    import ml_dtypes

    kind = np.float16 if element == "f16" else ml_dtypes.bfloat16
    shape, dims, levels = (6, 4096), (1,), ("reduction(0) 64",)
    x = np.random.default_rng(7).normal(1.0, 0.02 if op == "prod" else 1.0, shape).astype(kind)
    (found,) = interpreter.run(tiled(reduction(op, shape, dims, element, *levels)), [x])
    wanted = exact(op, x, dims)
    step = 2.0 ** (np.floor(np.log2(np.abs(wanted))) - HALF[element] + 1)
    error = np.abs(found.astype(np.float64) - wanted) / step
    assert error.max() <= 0.5 + 2.0**-6, error


def test_moments_lose_one_rounding() -> None:
    x = np.random.default_rng(5).normal(1.0, 1.0, (6, 4096)).astype(np.float16)
    (found,) = interpreter.run(
        tiled(reduction("exx2", x.shape, (1,), "f16", "reduction(0) 64")), [x]
    )
    wide = x.astype(np.float64)
    wanted = np.stack([wide.mean(axis=1), (wide**2).mean(axis=1)], axis=1)
    step = 2.0 ** (np.floor(np.log2(np.abs(wanted))) - 10)
    assert (np.abs(found.astype(np.float64) - wanted) / step).max() <= 0.5 + 2.0**-6


def test_a_mean_does_not_overflow() -> None:
    """The sum of the range is beyond f16, its mean is not."""
    x = np.full((2, 4096), 500, np.float16)
    text = reduction("mean", (2, 4096), (1,), "f16", "reduction(0) 8")
    (found,) = interpreter.run(tiled(text), [x])
    assert found.tolist() == [500, 500]


def test_a_product_does_not_lose_between_tiles() -> None:
    lhs, rhs = tensor((4, 4096), "f16"), tensor((4096, 64), "f16")
    text = program("batch_matmul", [lhs, rhs], tensor((4, 64), "f16"), hint("reduction(0) 32"))
    random = np.random.default_rng(3)
    a, b = (random.normal(1, 1, s).astype(np.float16) for s in ((4, 4096), (4096, 64)))
    (found,) = interpreter.run(tiled(text), [a, b])
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    step = 2.0 ** (np.floor(np.log2(np.abs(wanted))) - 10)
    assert (np.abs(found.astype(np.float64) - wanted) / step).max() <= 0.5 + 2.0**-6


SPARSE = """
func.func @f(%x: tensor<SHAPExf16>) -> tensor<RESULTf16> {
  %0 = spyre.max %x {dims = [LAST], keep_dims = false} : (tensor<SHAPExf16>) -> tensor<ROWSxf16>
  %1 = spyre.OP %0 {dims = [0], keep_dims = KEEP, HINT} : (tensor<ROWSxf16>) -> tensor<RESULTf16>
  return %1 : tensor<RESULTf16>
}
"""


@pytest.mark.parametrize("op", ["sum", "mean", "max"])
@pytest.mark.parametrize("shape", [(131, 70), (12, 3, 64)])
@pytest.mark.parametrize("keep", [False, True])
def test_operands_with_one_value_a_stick(op: str, shape: tuple[int, ...], keep: bool) -> None:
    rows = shape[:-1]
    kept = (1, *rows[1:]) if keep else rows[1:]
    levels = ["parallel(0) 3"] * (len(rows) - 1) + [
        "reduction(0) 4 x 32 + 3" if rows[0] == 131 else "reduction(0) 4"
    ]
    words = {
        "SHAPE": "x".join(map(str, shape)),
        "ROWS": "x".join(map(str, rows)),
        "RESULT": "".join(f"{extent}x" for extent in kept),
        "LAST": str(len(rows)),
        "OP": op,
        "KEEP": str(keep).lower(),
        "HINT": hint(*levels),
    }
    text = SPARSE
    for word, value in words.items():
        text = text.replace(word, value)
    check(text)
    check_compiled(text)


SPARSE_ROWS = """
func.func @f(%x: tensor<SHAPExELEMENT>) -> tensor<RESULTxELEMENT> {
  %0 = spyre.max %x {dims = [LAST], keep_dims = false} : (tensor<SHAPExELEMENT>) -> tensor<ROWSxELEMENT>
  %1 = spyre.exx2 %0 {zero_mean = ZERO, HINT} : (tensor<ROWSxELEMENT>) -> tensor<RESULTxELEMENT>
  return %1 : tensor<RESULTxELEMENT>
}
"""


def moments_of_rows(shape: Sequence[int], element: str, zero: str, *levels: str) -> str:
    """Moments of what a reduction of the last dim leaves, one value a stick."""
    rows = shape[:-1]
    words = {
        "SHAPE": "x".join(map(str, shape)),
        "ROWS": "x".join(map(str, rows)),
        "RESULT": "x".join(map(str, (*rows[:-1], 2))),
        "LAST": str(len(rows)),
        "ELEMENT": element,
        "ZERO": zero,
        "HINT": hint(*levels),
    }
    text = SPARSE_ROWS
    for word, value in words.items():
        text = text.replace(word, value)
    return text


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("zero", ["false", "true"])
@pytest.mark.parametrize(
    ("shape", "levels"),
    [
        ((131, 70), ("reduction(0) 4 x 32 + 3",)),
        ((3, 12, 64), ("reduction(0) 4",)),
        ((6, 13, 64), ("parallel(0) 3", "reduction(0) 3 x 4 + 1")),
    ],
)
def test_moments_of_one_value_a_stick(
    element: str, zero: str, shape: tuple[int, ...], levels: tuple[str, ...]
) -> None:
    text = moments_of_rows(shape, element, zero, *levels)
    check(text)
    check_compiled(text)
    check_count(text, before=1)


def test_partly_valid_rows_of_one_value_a_stick() -> None:
    """What lies behind the valid rows is in no moment."""
    for valid, level in ((37, "2 x 16 + 5"), (20, "5")):
        text = moments_of_rows((3, 40, 64), "f16", "false", f"reduction(0) {level}")
        for whole, part in (("3x40x64", f"3, {valid}, 64"), ("3x40", f"3, {valid}")):
            box = f"tensor<{whole}xf16, #spyre.encoding<valid_shape = [{part}]>>"
            text = text.replace(f"tensor<{whole}xf16>", box)
        check(text)
        check_compiled(text)


def test_moments_of_one_value_a_stick_lose_one_rounding() -> None:
    random = np.random.default_rng(5)
    x = random.normal(3, 1, (3, 260, 1)).astype(np.float16)
    text = moments_of_rows(x.shape, "f16", "false", "reduction(0) 65 x 4")
    (found,) = interpreter.run(tiled(text), [x])
    rows = x[..., 0].astype(np.float64)
    wanted = np.stack([rows.mean(axis=-1), (rows * rows).mean(axis=-1)], axis=-1)
    step = 2.0 ** (np.floor(np.log2(wanted)) - 10)
    assert (np.abs(found.astype(np.float64) - wanted) / step).max() <= 0.5 + 2.0**-6


PARTLY = """
func.func @f(%x: tensor<8x256xf16, #spyre.encoding<valid_shape = [5, 200]>>)
    -> tensor<8xf16, #spyre.encoding<valid_shape = [5]>> {
  %0 = spyre.OP %x {dims = [1], HINT}
    : (tensor<8x256xf16, #spyre.encoding<valid_shape = [5, 200]>>) -> tensor<8xf16, #spyre.encoding<valid_shape = [5]>>
  return %0 : tensor<8xf16, #spyre.encoding<valid_shape = [5]>>
}
"""


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_the_valid_box_is_divided(op: str) -> None:
    """The last tile ends where the valid region does."""
    text = PARTLY.replace("OP", op).replace("HINT", hint("reduction(0) 3 x 64 + 8"))
    assert "8x8xf16" in check(text)


SYMBOLIC = """
func.func @f(%n: index {spyre.extent = "n", spyre.range = array<i64: 1, 8>},
             %x: tensor<8x256xf16, #spyre.encoding<valid_shape = [n, 256]>>)
    -> tensor<8xf16, #spyre.encoding<valid_shape = [n]>> {
  %0 = spyre.mean %x {dims = [1], HINT}
    : (tensor<8x256xf16, #spyre.encoding<valid_shape = [n, 256]>>) -> tensor<8xf16, #spyre.encoding<valid_shape = [n]>>
  return %0 : tensor<8xf16, #spyre.encoding<valid_shape = [n]>>
}
"""


def test_other_extents_may_be_symbolic() -> None:
    check(SYMBOLIC.replace("HINT", hint("reduction(0) 4")))


def check_compiled(text: str) -> None:
    """The program means the same after every pass, and its bundle computes it, byte by byte."""
    report = check_bundle(text, seeds=1)
    assert [(s.name, s.detail) for s in report.stages if s.status != "same"] == []


@pytest.mark.parametrize("op", ["sum", "mean", "max", "absmax", "exx2"])
def test_reductions_compile(op: str) -> None:
    for element in ("f16", "f32"):
        for shape, dims, levels in LAST_DIM if op == "exx2" else SHAPES:
            for keep in (False,) if op == "exx2" else (False, True):
                check_compiled(reduction(op, shape, dims, element, *levels, keep=keep))


def test_products_compile() -> None:
    for lhs, rhs, result, levels in MATMULS:
        factors = [tensor(lhs, "f16"), tensor(rhs, "f16")]
        check_compiled(program("batch_matmul", factors, tensor(result, "f16"), hint(*levels)))


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_the_valid_box_compiles(op: str) -> None:
    check_compiled(
        PARTLY.replace("OP", op).replace("HINT", hint("parallel(0) 5", "reduction(0) 3 x 64 + 8"))
    )


@pytest.mark.parametrize("op", ["sum", "mean", "max", "exx2"])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_the_plan_says_how_many_operations_run(op: str, element: str) -> None:
    for shape, dims, levels in LAST_DIM if op == "exx2" else SHAPES:
        check_count(reduction(op, shape, dims, element, *levels))


def check_count(text: str, *, before: int = 0) -> None:
    """The last operation runs as many as its plan counts, but for copies into the result; so many others run before."""
    with ir.Context():
        module = ir.Module.parse(text)
        passmanager.run(passmanager.parse(LAID_OUT), module.operation)
        *others, operation = walk(module.body.operations[0].operation)
        assert len(others) == before
        kernel = kernel_of(operation)
        assert kernel is not None
        plan = read_plan(operation.attributes["spyre.tile"])
        plan = resolve(plan, dims_of(operation, kernel))
    counted, tiles = accumulation_of(kernel).kernels(plan.levels), plan.levels[:-1]
    copies = prod(level.tiles for level in tiles if level.kind == "parallel")
    assert 0 <= operations_run(compile(text)) - before - counted <= copies, text


def operations_run(bundle: Bundle) -> int:
    """Operations that a bundle runs, those in loops once per trip."""

    def count(nodes: Sequence[Sdsc | Loop]) -> int:
        return sum(n.trips * count(n.body) if isinstance(n, Loop) else 1 for n in nodes)

    return count(bundle.model.body)


GROUP = """
func.func @f(%x: tensor<8x6x256xf16>) -> (tensor<8x6x1xf16>, tensor<8x6x1xf16>) {
  %0 = spyre.exp %x {spyre.tile = #spyre.tile_plan<origin = auto, group = 0,
      levels = [parallel(0) 2 x 4, parallel(2) 2 x 128]>} : (tensor<8x6x256xf16>) -> tensor<8x6x256xf16>
  %1 = spyre.OP %0 {dims = [2], keep_dims = true, spyre.tile = #spyre.tile_plan<origin = auto, group = 0,
      levels = [parallel(0) 2 x 4, parallel(1) 1 x 4 + 2, reduction(0) 4 x 64]>}
    : (tensor<8x6x256xf16>) -> tensor<8x6x1xf16>
  %2 = spyre.neg %1 {spyre.tile = #spyre.tile_plan<origin = auto, group = 0,
      levels = [parallel(0) 2 x 4]>} : (tensor<8x6x1xf16>) -> tensor<8x6x1xf16>
  return %1, %2 : tensor<8x6x1xf16>, tensor<8x6x1xf16>
}
"""


@pytest.mark.parametrize("op", ["sum", "mean", "max"])
def test_members_of_a_group_run_their_reduced_range_inside_it(op: str) -> None:
    text = GROUP.replace("OP", op)
    check(text)
    check_compiled(text)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "exx2"])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_the_planner_divides_ranges(op: str, element: str) -> None:
    """Plans under small limits: the loops run, and the bundle computes what was meant."""
    for shape, dims in (
        ((7, 521), (1,)),
        ((131, 64), (0,)),
        ((5, 13, 200), (0, 2)),
        ((1031,), (0,)),
    ):
        if op == "exx2" and dims != (len(shape) - 1,):
            continue
        text = reduction(op, shape, dims, element).replace(", " + hint(), "")
        report = check_bundle(text, seeds=1, span_limit=128 * 32)
        assert [(s.name, s.detail) for s in report.stages if s.status != "same"] == []


def random_program(random: Random) -> tuple[str, int]:
    """A reduction or product of few elements, primes and ends of sticks among its extents, and a small limit in
    bytes."""
    limit = 128 * random.choice([4, 8, 16, 32, 64])
    if random.random() < 0.25:
        m, k, n = (random.choice(e) for e in ((1, 3, 17), (64, 130, 521, 640), (30, 64, 130)))
        batch = random.choice(((), (2,)))
        factors = [tensor((*batch, m, k), "f16"), tensor((k, n), "f16")]
        return program("batch_matmul", factors, tensor((*batch, m, n), "f16"), ""), limit
    rank = random.randint(1, 3)
    shape = [random.choice([1, 2, 5, 13, 31, 64, 131]) for _ in range(rank - 1)]
    shape.append(random.choice([1, 3, 33, 64, 65, 130, 256, 521]))
    while prod(shape) > 1 << 14:
        shape[0] = -(-shape[0] // 2)
    op = random.choice(["sum", "mean", "max", "min", "absmax", "exx2"])
    count = random.randint(1, rank)
    dims = [rank - 1] if op == "exx2" else sorted(random.sample(range(rank), count))
    element, keep = random.choice(["f16", "bf16", "f32"]), random.random() < 0.5
    text = reduction(op, shape, dims, element, keep=keep)
    return text.replace(", " + hint(), ""), limit


def check_random(seed: int) -> str:
    """What came of one program: the same down to its bundle, or a refusal of the planner."""
    text, limit = random_program(Random(seed))
    try:
        report = check_bundle(text, seeds=1, span_limit=limit)
    except ir.MLIRError as error:
        code = str(error).split("SPY")[1][:3]
        assert code in ("040", "042", "050", "051", "052"), (seed, str(error))
        return "refused"
    assert [(s.name, s.detail) for s in report.stages if s.status != "same"] == [], (seed, text)
    return "same"


def test_a_sample_of_random_programs() -> None:
    found = Counter(check_random(seed) for seed in range(15))
    assert found["same"] > 8


@pytest.mark.slow
@pytest.mark.parametrize("block", range(3, 43))
def test_random_programs(block: int) -> None:
    found = Counter(check_random(seed) for seed in range(6 * block, 6 * (block + 1)))
    assert found["same"] > 2
