# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is refused, and the corners of operations that the other tests do not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_cells import random_values
from random_cells import run as apply

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate, run
from spyre_mlir.interpreter.inputs import random_inputs
from spyre_mlir.interpreter.program import read_module
from spyre_mlir.optable import DYNAMIC

X = np.arange(12, dtype=np.float16).reshape(3, 4)
FULL = Bound((3, 4), "f16")


def outside(bound: Bound) -> Any:
    mask = np.ones(bound.shape, bool)
    mask[bound.region] = False
    return mask


def test_an_accumulator_keeps_what_the_product_does_not_reach() -> None:
    acc = np.full((3, 4), 100, np.int32)
    lhs, rhs = (
        np.arange(6, dtype=np.int32).reshape(3, 2),
        np.arange(8, dtype=np.int32).reshape(2, 4),
    )
    left, right = Bound((3, 2), "i32", (2, 2)), Bound((2, 4), "i32", (2, 3))
    whole = Bound((3, 4), "i32")
    cells = [Cells(acc), Cells(lhs, outside(left)), Cells(rhs, outside(right))]
    (got,) = evaluate("matmul_acc", cells, [whole, left, right], [whole])
    want = acc.copy()
    want[:2, :3] += (lhs @ rhs)[:2, :3]
    assert got.poison is None and (got.values == want).all()
    hole = np.zeros((3, 2), bool)
    hole[1, 0] = True
    cells[1] = Cells(lhs, hole)
    with pytest.raises(Refusal, match=r"SPY130: spyre.matmul_acc: .*valid cell \[1, 0\]"):
        evaluate("matmul_acc", cells, [whole, Bound((3, 2), "i32"), right], [whole])
    unwritten = np.zeros((3, 4), bool)
    unwritten[2, 3] = True
    cells = [Cells(acc, unwritten), Cells(lhs), Cells(rhs)]
    kinds = [whole, Bound((3, 2), "i32"), Bound((2, 4), "i32")]
    with pytest.raises(Refusal, match=r"valid cell \[2, 3\]"):
        evaluate("matmul_acc", cells, kinds, [whole])


BROKEN: list[tuple[str, list[Any], list[Bound], dict[str, Any], str]] = [
    ("transpose", [X], [Bound((4, 3), "f16")], {"permutation": (0, 0)}, "repeated axis"),
    ("reshape", [X], [Bound((5,), "f16")], {}, "cannot reshape"),
    ("broadcast", [X], [Bound((3, 5), "f16")], {}, "could not be broadcast"),
    ("concat", [X, X], [Bound((6, 4), "f16")], {"dim": 2}, "dim 2 does not fit rank 2"),
    ("gather", [X, np.zeros(2, np.int32)], [Bound((2, 4), "f16")], {"dim": 5}, "dim 5"),
    ("gather", [X, np.zeros(2, np.int32)], [Bound((3, 4), "f16")], {"dim": 0}, "result has shape"),
    ("scatter", [X, np.zeros(3, np.int32), X], [FULL], {"dim": 2}, "dim 2"),
    ("iota", [], [FULL], {"dim": 2}, "dim 2"),
    ("fillpad", [X], [Bound((2, 4), "f16")], {"pad": "zero"}, "smaller than the operand"),
    ("fillpad", [X], [FULL], {"pad": "one"}, "pad is 'one'"),
    ("slice", [X], [FULL], {"static_offsets": (0,)}, "1 offsets for rank 2"),
    ("slice", [X], [Bound((3,), "f16")], {"static_offsets": (0, 0)}, "a window of rank 1"),
    ("slice", [X], [FULL], {"static_offsets": (DYNAMIC, 0)}, "2 offsets for rank 2"),
    ("sum", [X], [Bound((3,), "f16")], {"dims": (2,)}, r"dims \[2\] do not fit rank 2"),
    ("topk", [X], [FULL, FULL], {"dim": 1, "k": 5}, "k = 5 along dim 1"),
    ("exx2", [np.zeros((), np.float16)], [Bound((2,), "f16")], {}, "rank 0"),
    ("layernorm_scale", [X], [FULL], {}, "last extent is not 2"),
    ("layernorm_norm", [X, X, X, X, X], [FULL], {}, "do not fit the operand"),
    ("batch_matmul", [X, X], [FULL], {}, "is no matrix product"),
    ("select", [np.zeros((3, 0), np.uint8), X, X], [FULL], {}, "does not cover"),
    ("cmp_packed", [X, X], [Bound((3, 0), "ui8")], {"predicate": "lt"}, "too narrow"),
    ("topk", [X], [FULL], {"dim": 1, "k": 4}, "1 results instead of 2"),
    ("exp", [np.float16(1)], [FULL], {}, "result 0 has shape"),
]


@pytest.mark.parametrize(("name", "arrays", "results", "attributes", "why"), BROKEN)
def test_what_breaks_the_constraints_is_refused(
    name: str, arrays: list[Any], results: list[Bound], attributes: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refusal, match=rf"SPY139: spyre\.{name}: .*{why}"):
        apply(name, arrays, results, attributes)


def test_a_scalar_is_no_tensor() -> None:
    with pytest.raises(Refusal, match=r"SPY139: spyre.sum: operand 0 must be a tensor"):
        evaluate("sum", [np.float16(1)], ["f16"], [Bound((), "f16")], {"dims": (0,)})
    with pytest.raises(Refusal, match=r"SPY139: spyre.neg: no attribute|has no attribute 'dims'"):
        evaluate("neg", [Cells(X)], [FULL], [FULL], {"dims": (0,)})


def test_positions_without_data_are_refused() -> None:
    where = Cells(np.zeros(2, np.int32), np.array([False, True]))
    kinds = [FULL, Bound((2,), "i32")]
    with pytest.raises(Refusal, match=r"SPY130: spyre.gather: index \[1\] was never written"):
        evaluate("gather", [Cells(X), where], kinds, [Bound((2, 4), "f16")], {"dim": 0})
    part = Bound((2,), "i32", (1,))
    source, target = Bound((2, 4), "f16"), Bound((3, 4), "f16", (3, 2))
    few = [Cells(X[:2]), Cells(where.values, outside(part)), Cells(X)]
    with pytest.raises(Refusal, match=r"SPY130: spyre.scatter: 1 valid indices for 2"):
        evaluate("scatter", few, [source, part, FULL], [FULL], {"dim": 0})
    wide = [Cells(X[:2]), Cells(where.values), Cells(X, outside(target))]
    with pytest.raises(Refusal, match=r"SPY133: spyre.scatter: dim 1: 4 cells"):
        evaluate("scatter", wide, [source, kinds[1], target], [target], {"dim": 0})
    hole = Cells(X, np.eye(3, 4, dtype=bool))
    (got,) = evaluate(
        "scatter",
        [Cells(X[:1]), Cells(np.array([1], np.int32)), hole],
        [Bound((1, 4), "f16"), Bound((1,), "i32"), FULL],
        [FULL],
        {"dim": 0},
    )
    assert got.poison is not None and got.poison.sum() == 2 and not got.poison[1].any()


def test_few_valid_cells_for_topk() -> None:
    part = Bound((3, 4), "f16", (3, 1))
    results = [Bound((3, 2), "f16"), Bound((3, 2), "i32")]
    with pytest.raises(Refusal, match=r"SPY132: spyre.topk: 1 valid cells along dim 1, k is 2"):
        evaluate("topk", [Cells(X, outside(part))], [part], results, {"dim": 1, "k": 2})


def test_part_of_empty_regions_and_fillpad_of_a_hole() -> None:
    none, half = Bound((3, 4), "f16", (0, 0)), Bound((3, 4), "f16", (3, 2))
    cells = [Cells(X, outside(none)), Cells(X, outside(half))]
    (got,) = evaluate("part_add", cells, [none, half], [half])
    assert (got.values[:, :2] == X[:, :2]).all()
    hole = outside(half)
    hole[1, 1] = True
    with pytest.raises(Refusal, match=r"SPY130: spyre.part_add: .*\[1, 1\]"):
        evaluate("part_add", [cells[0], Cells(X, hole)], [none, half], [half])
    with pytest.raises(Refusal, match=r"SPY130: spyre.fillpad: .*\[1, 1\]"):
        evaluate("fillpad", [Cells(X, hole)], [half], [FULL], {"pad": "zero"})


def test_random_inputs_of_every_kind() -> None:
    elements = ", ".join(f"%a{i}: tensor<2x3x{e}>" for i, e in enumerate(DTYPES))
    text = f"""func.func @f({elements}, %s: f32, %d: f64, %k: i8, %u: ui8, %i: index,
        %n: index {{spyre.extent = "n", spyre.range = array<i64: 2, 7>}}) {{ return }}"""
    with ir.Context():
        (function,) = read_module(ir.Module.parse(text)).values()
    symbols, arrays = random_inputs(function, seed=5)
    again = random_inputs(function, seed=5)[1]
    assert symbols == {"n": 7} and len(arrays) == len(DTYPES) + 5
    for array, same, element in zip(arrays, again, DTYPES, strict=False):
        assert array.dtype == DTYPES[element] and array.shape == (2, 3)
        assert array.tobytes() == same.tobytes()
    assert arrays[-1] == 0 and arrays[-2].dtype == np.uint8 and arrays[-4].dtype == np.float64
    for text, code in (
        ('func.func @f(%n: index {spyre.extent = "n"}) { return }', "SPY134"),
        ("func.func @f(%x: tensor<?xf16>) { return }", "SPY135"),
        ("func.func @f(%x: memref<2xf16>) { return }", "SPY135"),
    ):
        with ir.Context():
            (function,) = read_module(ir.Module.parse(text)).values()
        with pytest.raises(Refusal, match=code):
            random_inputs(function, seed=0)


def test_more_upstream_operations() -> None:
    text = """
    func.func @f(%x: tensor<2x2xi32>, %m: tensor<2x2xi1>, %c: i1, %k: index)
        -> (tensor<2x2xi32>, i32, tensor<2xi32>, tensor<?xi32>, index, tensor<2x2xi1>) {
      %y = arith.muli %x, %x : tensor<2x2xi32>
      %t = arith.select %m, %x, %y : tensor<2x2xi1>, tensor<2x2xi32>
      %c0 = arith.constant 0 : index
      %v = tensor.extract %x[%c0, %c0] : tensor<2x2xi32>
      %w = scf.execute_region -> i32 {
        %z = arith.addi %v, %v : i32
        scf.yield %z : i32
      }
      %s = arith.select %c, %v, %w : i32
      %e = tensor.from_elements %v, %w : tensor<2xi32>
      %p = tensor.splat %v[%k] : tensor<?xi32>
      %r = tensor.rank %x : tensor<2x2xi32>
      %wide = arith.extsi %x : tensor<2x2xi32> to tensor<2x2xi64>
      %low = arith.trunci %wide : tensor<2x2xi64> to tensor<2x2xi1>
      scf.if %c {
        %unused = arith.addi %v, %v : i32
      }
      return %t, %s, %e, %p, %r, %low
        : tensor<2x2xi32>, i32, tensor<2xi32>, tensor<?xi32>, index, tensor<2x2xi1>
    }"""
    x = random_values(np.random.default_rng(0), (2, 2), "i32")
    m = np.array([[True, False], [False, True]])
    for c in (True, False):
        t, s, e, p, r, low = run(text, [x, m, c, 3])
        v = int(x[0, 0])
        assert (t == np.where(m, x, x * x)).all() and r == 2
        double = np.array([2 * v]).astype(np.int32)[0]
        assert s == (v if c else double) and e.tolist() == [v, double]
        assert p.tolist() == [v] * 3 and (low == (x & 1)).all()


def test_select_of_tensors_carries_the_chosen_cells() -> None:
    text = """
    func.func @f(%m: tensor<2xi1>, %x: tensor<2xi32>) -> tensor<2xi32> {
      %e = tensor.empty() : tensor<2xi32>
      %r = arith.select %m, %x, %e : tensor<2xi1>, tensor<2xi32>
      return %r : tensor<2xi32>
    }"""
    x = np.array([3, 4], np.int32)
    assert run(text, [np.array([True, True]), x])[0].tolist() == [3, 4]
    with pytest.raises(Refusal, match=r"SPY138: the valid cell \[1\] of result 0"):
        run(text, [np.array([True, False]), x])


def test_loops_and_casts_that_make_no_sense() -> None:
    loop = """
    func.func @f(%n: index) {
      %c0 = arith.constant 0 : index
      scf.for %i = %c0 to %n step %c0 { }
      return
    }"""
    with pytest.raises(Refusal, match=r"SPY131: scf.for: the step is 0"):
        run(loop, [3])
    cast = """
    func.func @f(%x: tensor<?xi32>) -> tensor<3xi32> {
      %r = tensor.cast %x : tensor<?xi32> to tensor<3xi32>
      return %r : tensor<3xi32>
    }"""
    assert run(cast, [np.arange(3, dtype=np.int32)])[0].tolist() == [0, 1, 2]
    with pytest.raises(Refusal, match=r"SPY133: tensor.cast: the tensor has shape \[4\]"):
        run(cast, [np.arange(4, dtype=np.int32)])
    counted = """
    func.func @f(%n: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> i32 : i32 {
        %t = arith.addi %s, %i : i32
        scf.yield %t : i32
      }
      return %r : i32
    }"""
    assert run(counted, [5]) == (10,)


def test_a_region_outside_the_shape_is_refused() -> None:
    enc = "#spyre.encoding<valid_shape = [n]>"
    text = (
        f"""func.func @f(%n: index {{spyre.extent = "n"}}, %x: tensor<4xf32, {enc}>) {{ return }}"""
    )
    with pytest.raises(
        Refusal, match=r"SPY134: the valid extent n of dim 0 is 5, outside \[0, 4\]"
    ):
        run(text, [np.zeros(4, np.float32)], symbols={"n": 5})
    with pytest.raises(Refusal, match=r"SPY134: symbol n is -1; an extent is 0 or more"):
        run(text, [np.zeros(4, np.float32)], symbols={"n": -1})
