# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole programs: control flow, symbols, arithmetic, upstream tensor operations."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cells import random_values

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import DTYPES, execute, run
from spyre_mlir.interpreter.extents import evaluate_extent
from spyre_mlir.interpreter.program import read_module

RNG = np.random.default_rng(0)


def array(*shape: int, element: str = "f16") -> Any:
    return random_values(RNG, shape, element)


TILED = """
func.func @f(%x: tensor<10x64xf16>, %y: tensor<10x64xf16>) -> tensor<10x64xf16> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %e = spyre.empty : () -> tensor<10x64xf16>
  %loop = scf.for %i = %c0 to %c9 step %c3 iter_args(%acc = %e) -> tensor<10x64xf16> {
    %a = spyre.slice %x[%i, 0] : (tensor<10x64xf16>) -> tensor<3x64xf16>
    %b = spyre.slice %y[%i, 0] : (tensor<10x64xf16>) -> tensor<3x64xf16>
    %s = spyre.add %a, %b : (tensor<3x64xf16>, tensor<3x64xf16>) -> tensor<3x64xf16>
    %n = spyre.insert_slice %s into %acc[%i, 0]
      : (tensor<3x64xf16>, tensor<10x64xf16>) -> tensor<10x64xf16>
    scf.yield %n : tensor<10x64xf16>
  }
  %a = spyre.slice %x[9, 0] : (tensor<10x64xf16>) -> tensor<1x64xf16>
  %b = spyre.slice %y[9, 0] : (tensor<10x64xf16>) -> tensor<1x64xf16>
  %s = spyre.add %a, %b : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
  %r = spyre.insert_slice %s into %loop[9, 0]
    : (tensor<1x64xf16>, tensor<10x64xf16>) -> tensor<10x64xf16>
  return %r : tensor<10x64xf16>
}
"""


def test_tiled_loop_with_remainder_is_the_untiled_sum() -> None:
    x, y = array(10, 64), array(10, 64)
    (got,) = run(TILED, [x, y])
    assert (got == x + y).all()


def test_a_cell_that_no_tile_writes_is_found() -> None:
    short = TILED.replace("arith.constant 9", "arith.constant 6")
    with pytest.raises(Refusal, match=r"SPY138: the valid cell \[6, 0\] of result 0 of @f"):
        run(short, [array(10, 64), array(10, 64)])


def test_refusals_carry_the_operation_s_place() -> None:
    text = """
    func.func @f() -> tensor<4xf32> {
      %e = spyre.empty : () -> tensor<4xf32>
      %r = spyre.exp %e : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }"""
    with pytest.raises(Refusal, match=r"SPY130: spyre.exp: .*valid cell \[0\]") as caught:
        run(text, [])
    assert ":4:" in str(caught.value.place)


NESTED = """
func.func @f(%x: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %e = spyre.empty : () -> tensor<4x6xi32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%outer = %e) -> tensor<4x6xi32> {
    %q = scf.for %j = %c0 to %c6 step %c2 iter_args(%inner = %outer) -> tensor<4x6xi32> {
      %t = spyre.slice %x[%i, %j] : (tensor<4x6xi32>) -> tensor<1x2xi32>
      %u = spyre.neg %t : (tensor<1x2xi32>) -> tensor<1x2xi32>
      %n = spyre.insert_slice %u into %inner[%i, %j]
        : (tensor<1x2xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
      scf.yield %n : tensor<4x6xi32>
    }
    scf.yield %q : tensor<4x6xi32>
  }
  return %r : tensor<4x6xi32>
}
"""


def _steps(block: Any) -> Any:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _steps(region)


def test_nested_loops_write_in_place() -> None:
    x = array(4, 6, element="i32")
    assert (run(NESTED, [x])[0] == -x).all()
    with ir.Context():
        body = read_module(ir.Module.parse(NESTED))["f"].body
        steps = list(_steps(body))
    loops = [step.copies for step in steps if step.name == "scf.for"]
    writes = [step.in_place for step in steps if step.name == "spyre.insert_slice"]
    assert loops == [(True,), (False,)] and writes == [True]


SHARED = """
func.func @f(%x: tensor<3xi32>, %y: tensor<1xi32>)
    -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r, %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %x)
      -> (tensor<3xi32>, tensor<3xi32>) {
    %n = spyre.insert_slice %y into %a[%i] : (tensor<1xi32>, tensor<3xi32>) -> tensor<3xi32>
    scf.yield %n, %a : tensor<3xi32>, tensor<3xi32>
  }
  return %r, %s, %x : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}
"""


def test_what_others_still_see_is_not_overwritten() -> None:
    x, y = np.array([1, 2, 3], np.int32), np.array([9], np.int32)
    r, s, same = run(SHARED, [x, y])
    assert r.tolist() == [9, 9, 9] and s.tolist() == [9, 9, 3] and same.tolist() == [1, 2, 3]
    only = SHARED.replace("scf.yield %n, %a", "scf.yield %n, %b")
    r, s, same = run(only, [x, y])
    assert r.tolist() == [9, 9, 9] and s.tolist() == [1, 2, 3] and same.tolist() == [1, 2, 3]
    assert x.tolist() == [1, 2, 3]


ENC = "#spyre.encoding<valid_shape = [n, 8]>"
SYMBOLIC = f"""
func.func private @g(%n: index {{spyre.extent = "n"}}, %x: tensor<6x8xf32, {ENC}>)
    -> tensor<6x8xf32, {ENC}> {{
  %r = spyre.exp %x : (tensor<6x8xf32, {ENC}>) -> tensor<6x8xf32, {ENC}>
  return %r : tensor<6x8xf32, {ENC}>
}}
func.func @f(%n: index {{spyre.extent = "n", spyre.range = array<i64: 0, 6>}},
    %x: tensor<6x8xf32, {ENC}>) -> tensor<8xf32> {{
  %y = func.call @g(%n, %x) : (index, tensor<6x8xf32, {ENC}>) -> tensor<6x8xf32, {ENC}>
  %r = spyre.sum %y {{dims = [0]}} : (tensor<6x8xf32, {ENC}>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}}
"""


def test_symbols_are_bound_at_the_call() -> None:
    x = array(6, 8, element="f32")
    for n in range(1, 7):
        want = np.exp(x[:n]).sum(axis=0)
        for given_x in (x, x[:n]):
            (got,) = run(SYMBOLIC, [given_x], symbols={"n": n})
            assert np.allclose(got, want, rtol=1e-6)
    assert np.allclose(run(SYMBOLIC, [2, x])[0], np.exp(x[:2]).sum(axis=0))
    with pytest.raises(Refusal, match=r"SPY132: spyre.sum"):
        run(SYMBOLIC, [x], symbols={"n": 0})
    with pytest.raises(Refusal, match=r"SPY134: symbol n is 7, outside \[0, 6\]"):
        run(SYMBOLIC, [x], symbols={"n": 7})
    with pytest.raises(Refusal, match=r"SPY135: @f takes 2 arrays .*\n.*symbol n has no value"):
        run(SYMBOLIC, [x])
    with pytest.raises(Refusal, match=r"SPY134: @f has no argument for the symbol m"):
        run(SYMBOLIC, [x], symbols={"m": 1})


def test_a_call_must_mean_the_same_region() -> None:
    wrong = SYMBOLIC.replace("func.call @g(%n,", "func.call @g(%c,").replace(
        "%y = func.call", "%c = arith.constant 5 : index\n  %y = func.call"
    )
    with pytest.raises(Refusal, match=r"SPY134: argument 1 of @g is valid in \[5, 8\] there"):
        run(wrong, [array(6, 8, element="f32")], symbols={"n": 3})


def test_a_symbol_of_an_argument_introduced_in_the_body() -> None:
    """The type of the second argument needs its value before the body begins."""
    text = """
    func.func @f(%v: index, %x: tensor<8xi32, #spyre.encoding<valid_shape = [n]>>) -> tensor<i32> {
      spyre.extent "n" = %v in [1, 5]
      %r = spyre.sum %x {dims = [0]}
        : (tensor<8xi32, #spyre.encoding<valid_shape = [n]>>) -> tensor<i32>
      return %r : tensor<i32>
    }"""
    x = np.arange(8, dtype=np.int32)
    assert run(text, [3, x])[0] == run(text, [x], symbols={"n": 3})[0] == 3
    with pytest.raises(Refusal, match=r"SPY134: symbol n is 6, outside \[1, 5\]"):
        run(text, [6, x])


def test_a_symbol_introduced_in_the_body() -> None:
    text = """
    func.func @f(%v: index, %x: tensor<8xi32>) -> tensor<i32> {
      spyre.extent "n" = %v in [1, 5]
      %y = spyre.set_valid_shape %x [n] : (tensor<8xi32>)
        -> tensor<8xi32, #spyre.encoding<valid_shape = [n]>>
      %r = spyre.sum %y {dims = [0]}
        : (tensor<8xi32, #spyre.encoding<valid_shape = [n]>>) -> tensor<i32>
      return %r : tensor<i32>
    }"""
    x = np.arange(8, dtype=np.int32)
    assert run(text, [3, x])[0] == 3
    with pytest.raises(Refusal, match=r"SPY134: symbol n is 6, outside \[1, 5\]") as caught:
        run(text, [6, x])
    assert caught.value.place is not None


def test_arguments_are_checked() -> None:
    text = "func.func @f(%x: tensor<2xf16>, %s: f32, %i: index) { return }"
    x = np.zeros(2, np.float16)
    run(text, [x, 1.0, 3])
    for arrays, what in (
        ([x, 1.0], "takes 3 arrays besides the given symbols, got 2"),
        ([x.astype(np.float32), 1.0, 3], "argument 0 of @f has elements of f16, the array float32"),
        ([np.zeros(3, np.float16), 1.0, 3], r"has shape \[2\] .* array has shape \[3\]"),
        ([x, x, 3], "argument 1 of @f is a scalar"),
    ):
        with pytest.raises(Refusal, match=f"SPY135: .*{what}"):
            run(text, arrays)
    two = "func.func @a() { return }\nfunc.func @b() { return }"
    with pytest.raises(Refusal, match="SPY137: 2 public functions"):
        run(two, [])
    assert run(two, [], function="b") == ()
    with pytest.raises(Refusal, match="SPY137: there is no function @c"):
        run(two, [], function="c")
    with pytest.raises(Refusal, match=r"SPY136: math.exp is not known"):
        run("func.func @f(%x: f32) { %y = math.exp %x : f32 return }", [1.0])


def test_what_numpy_reloads_of_bf16_is_accepted() -> None:
    text = "func.func @f(%x: tensor<2xbf16>) -> tensor<2xbf16> { return %x : tensor<2xbf16> }"
    x = np.array([1.5, 2], DTYPES["bf16"])
    assert run(text, [x.view("V2")])[0].dtype == DTYPES["bf16"]


def test_branches_and_while() -> None:
    text = """
    func.func @f(%n: index) -> (index, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %x, %k = scf.while (%a = %n, %b = %c0) : (index, index) -> (index, index) {
        %go = arith.cmpi ne, %a, %c1 : index
        scf.condition(%go) %a, %b : index, index
      } do {
      ^bb0(%a: index, %b: index):
        %odd = arith.remsi %a, %c2 : index
        %is = arith.cmpi eq, %odd, %c1 : index
        %next = scf.if %is -> index {
          %t = arith.muli %a, %c3 : index
          %u = arith.addi %t, %c1 : index
          scf.yield %u : index
        } else {
          %h = arith.divsi %a, %c2 : index
          scf.yield %h : index
        }
        %b1 = arith.addi %b, %c1 : index
        scf.yield %next, %b1 : index, index
      }
      return %x, %k : index, index
    }"""
    assert run(text, [27]) == (1, 111)


def test_affine() -> None:
    text = """
    func.func @f(%i: index, %j: index) -> (index, index, index, index) {
      %a = affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0 floordiv 4 - 7 mod 4)>(%i)[%j]
      %b = affine.min affine_map<(d0)[s0] -> (d0, s0 ceildiv 3, 9)>(%i)[%j]
      %c = affine.max affine_map<(d0)[s0] -> (d0, s0 ceildiv 3, 9)>(%i)[%j]
      %z = arith.constant 0 : index
      %s = affine.for %k = 2 to min affine_map<(d0) -> (d0, 20)>(%i) step 3
          iter_args(%acc = %z) -> index {
        %t = arith.addi %acc, %k : index
        affine.yield %t : index
      }
      return %a, %b, %c, %s : index, index, index, index
    }"""
    for i, j in itertools.product((0, 5, 30), (-9, 4, 31)):
        want = (3 * i + j // 4 - 3, min(i, -(-j // 3), 9), max(i, -(-j // 3), 9))
        assert run(text, [i, j]) == (*want, sum(range(2, min(i, 20), 3)))


INTEGER = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": lambda a, b: math.trunc(a / b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "remsi": math.fmod,
    "divui": lambda a, b: (a % 256) // (b % 256),
    "remui": lambda a, b: (a % 256) % (b % 256),
    "ceildivui": lambda a, b: -(-(a % 256) // (b % 256)),
    "maxsi": max,
    "minsi": min,
    "maxui": lambda a, b: max(a % 256, b % 256),
    "minui": lambda a, b: min(a % 256, b % 256),
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("name", INTEGER)
def test_integer_arithmetic(name: str) -> None:
    text = "func.func @f(%a: T, %b: T) -> T { %0 = arith.NAME %a, %b : T return %0 : T }"
    pairs = [(a, b) for a in (-128, -7, 0, 5, 127) for b in (-128, -3, 1, 2, 127)]
    scalar = text.replace("NAME", name).replace("T", "i8")
    tensor = text.replace("NAME", name).replace("T", "tensor<25xi8>")
    a, b = (np.array(column, np.int8) for column in zip(*pairs, strict=True))
    (whole,) = run(tensor, [a, b])
    for (x, y), cell in zip(pairs, whole, strict=True):
        want = (int(INTEGER[name](x, y)) + 128) % 256 - 128
        assert run(scalar, [x, y])[0] == want == cell, (x, y)


def test_shifts_and_comparisons() -> None:
    text = "func.func @f(%a: i8, %b: i8) -> i8 { %0 = arith.NAME %a, %b : i8 return %0 : i8 }"
    for name, x, y, want in (
        ("shli", 3, 6, -64),
        ("shrsi", -128, 3, -16),
        ("shrui", -128, 3, 16),
    ):
        assert run(text.replace("NAME", name), [x, y])[0] == want
        with pytest.raises(Refusal, match=r"SPY131: .*shift count"):
            run(text.replace("NAME", name), [x, 8])
    with pytest.raises(Refusal, match=r"SPY131: .*divided by zero"):
        run(text.replace("NAME", "divsi"), [1, 0])
    compare = "func.func @f(%a: T, %b: T) -> i1 { %0 = arith.cmpI P, %a, %b : T return %0 : i1 }"
    orders = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    for (name, sign), a, b in itertools.product(orders.items(), (-2, 0, 3), (-2, 0, 3)):
        plain = name in ("eq", "ne")
        signed = compare.replace("I", "i").replace("P", name if plain else f"s{name}")
        assert run(signed.replace("T", "i8"), [a, b])[0] == eval(f"{a} {sign} {b}")
        if not plain:
            unsigned = compare.replace("I", "i").replace("P", f"u{name}").replace("T", "i8")
            assert run(unsigned, [a, b])[0] == eval(f"{a % 256} {sign} {b % 256}")
    nan, numbers = math.nan, {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    for (name, sign), a, b in itertools.product(numbers.items(), (0.0, 1.0, nan), (0.0, nan)):
        for kind in "ou":
            either = math.isnan(a) or math.isnan(b)
            want = (kind == "u") if either else eval(f"{a} {sign} {b}")
            program = compare.replace("I", "f").replace("P", kind + name).replace("T", "f32")
            assert run(program, [a, b])[0] == want, (kind, name, a, b)
    assert run(compare.replace("I", "f").replace("P", "uno").replace("T", "f32"), [nan, 1.0])[0]
    assert run(compare.replace("I", "f").replace("P", "ord").replace("T", "f32"), [2.0, 1.0])[0]


def test_floats_constants_and_conversions() -> None:
    text = """
    func.func @f(%x: f16, %i: i8, %t: tensor<3xf32>)
        -> (f32, f16, i32, i8, index, i1, tensor<3xf16>) {
      %wide = arith.extf %x : f16 to f32
      %half = arith.constant 0.1 : f32
      %sum = arith.addf %wide, %half : f32
      %back = arith.truncf %sum : f32 to f16
      %int = arith.fptosi %sum : f32 to i32
      %low = arith.trunci %int : i32 to i8
      %index = arith.index_cast %i : i8 to index
      %flag = arith.constant true
      %u = arith.extui %flag : i1 to i8
      %s = arith.extsi %flag : i1 to i8
      %one = arith.constant 1 : i8
      %ok = arith.cmpi eq, %u, %one : i8
      %minus = arith.constant -1 : i8
      %ok2 = arith.cmpi eq, %s, %minus : i8
      %both = arith.andi %ok, %ok2 : i1
      %c = arith.constant dense<[1.0, 2.0, 0x7F800000]> : tensor<3xf32>
      %m = arith.mulf %t, %c : tensor<3xf32>
      %n = arith.truncf %m : tensor<3xf32> to tensor<3xf16>
      return %sum, %back, %int, %low, %index, %both, %n
        : f32, f16, i32, i8, index, i1, tensor<3xf16>
    }"""
    sum_, back, int_, low, index, both, tensor = run(text, [300.5, -3, np.ones(3, np.float32)])
    assert sum_ == np.float32(300.5) + np.float32(0.1) and back == np.float16(sum_)
    assert int_ == 300 and low == 44 and index == -3 and both
    assert tensor.tolist() == [1, 2, math.inf] and tensor.dtype == np.float16


def test_dense_constants_of_every_element() -> None:
    for element in ("bf16", "f8E4M3FN", "f8E5M2FNUZ", "f16"):
        text = f"""
        func.func @f() -> (tensor<2x2x{element}>, tensor<3x{element}>) {{
          %a = arith.constant dense<[[1.0, -2.0], [0.5, 1.5]]> : tensor<2x2x{element}>
          %b = arith.constant dense<-1.5> : tensor<3x{element}>
          return %a, %b : tensor<2x2x{element}>, tensor<3x{element}>
        }}"""
        a, b = run(text, [])
        assert a.dtype == b.dtype == DTYPES[element]
        assert a.astype(float).tolist() == [[1, -2], [0.5, 1.5]] and (b == -1.5).all()


def test_upstream_tensor_operations() -> None:
    text = """
    func.func @f(%x: tensor<4x6xi32>, %k: index) -> (tensor<2xi32>, tensor<4x6xi32>, i32, index) {
      %c1 = arith.constant 1 : index
      %d = tensor.dim %x, %c1 : tensor<4x6xi32>
      %s = tensor.extract_slice %x[%k, 1] [1, 2] [1, 3] : tensor<4x6xi32> to tensor<2xi32>
      %e = tensor.empty() : tensor<4x6xi32>
      %p = tensor.insert_slice %x into %e[0, 0] [4, 6] [1, 1]
        : tensor<4x6xi32> into tensor<4x6xi32>
      %v = tensor.extract %p[%k, %c1] : tensor<4x6xi32>
      %w = tensor.insert %v into %p[%c1, %c1] : tensor<4x6xi32>
      %dyn = tensor.cast %w : tensor<4x6xi32> to tensor<?x6xi32>
      %flat = tensor.collapse_shape %dyn [[0, 1]] : tensor<?x6xi32> into tensor<?xi32>
      %st = tensor.cast %flat : tensor<?xi32> to tensor<24xi32>
      %r = tensor.expand_shape %st [[0, 1]] output_shape [4, 6]
        : tensor<24xi32> into tensor<4x6xi32>
      return %s, %r, %v, %d : tensor<2xi32>, tensor<4x6xi32>, i32, index
    }"""
    x = array(4, 6, element="i32")
    s, r, v, d = run(text, [x, 2])
    want = x.copy()
    want[1, 1] = x[2, 1]
    assert s.tolist() == [x[2, 1], x[2, 4]] and (r == want).all() and v == x[2, 1] and d == 6
    with pytest.raises(Refusal, match=r"SPY133: tensor.extract_slice: dim 0"):
        run(text, [x, 4])
    hole = """
    func.func @f() -> i32 {
      %e = tensor.empty() : tensor<2xi32>
      %c1 = arith.constant 1 : index
      %v = tensor.extract %e[%c1] : tensor<2xi32>
      return %v : i32
    }"""
    with pytest.raises(Refusal, match=r"SPY130: tensor.extract: cell \[1\] holds no data"):
        run(hole, [])


def test_upstream_operations_on_partly_valid_tensors() -> None:
    enc = "#spyre.encoding<valid_shape = [2]>"
    text = f"""
    func.func @f(%x: tensor<4xf32, {enc}>) -> tensor<f32> {{
      %y = arith.addf %x, %x : tensor<4xf32, {enc}>
      %r = spyre.sum %y {{dims = [0]}} : (tensor<4xf32, {enc}>) -> tensor<f32>
      return %r : tensor<f32>
    }}"""
    assert run(text, [np.array([1, 2, 4, 8], np.float32)])[0] == 6


def test_outputs_carry_mask_and_type() -> None:
    text = """
    func.func @f(%x: tensor<4xf32, #spyre.encoding<valid_shape = [3]>>)
        -> tensor<4xf32, #spyre.encoding<valid_shape = [3]>> {
      return %x : tensor<4xf32, #spyre.encoding<valid_shape = [3]>>
    }"""
    (output,) = execute(text, [np.arange(4, dtype=np.float32)])
    assert output.poison.tolist() == [False, False, False, True]
    assert np.isnan(output.values[3]) and output.valid.tolist() == [0, 1, 2]
    assert output.bound.box == (3,) and output.bound.shape == (4,)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_extents_are_read_as_written(data: Any) -> None:
    symbols = {"n": data.draw(st.integers(0, 99)), "m": data.draw(st.integers(0, 99))}

    def expression(depth: int) -> tuple[str, int]:
        kind = data.draw(st.sampled_from("ns+-*/cmxX" if depth else "ns"))
        if kind == "n":
            value = data.draw(st.integers(0, 99))
            return str(value), value
        if kind == "s":
            name = data.draw(st.sampled_from(["n", "m"]))
            return name, symbols[name]
        left, a = expression(depth - 1)
        if kind in "/cm":
            divisor = data.draw(st.integers(1, 9))
            word = {"/": "floordiv", "c": "ceildiv", "m": "mod"}[kind]
            value = {"/": a // divisor, "c": -(-a // divisor), "m": a % divisor}[kind]
            return f"({left}) {word} {divisor}", value
        right, b = expression(depth - 1)
        if kind in "xX":
            name = "min" if kind == "x" else "max"
            return f"{name}({left}, {right})", min(a, b) if kind == "x" else max(a, b)
        value = {"+": a + b, "-": a - b, "*": a * b}[kind]
        return f"({left}) {kind} ({right})", value

    text, value = expression(3)
    assert evaluate_extent(text, symbols) == value


def test_extent_mistakes() -> None:
    assert evaluate_extent("n + 2 * m - 1", {"n": 1, "m": 3}) == 6
    assert evaluate_extent("-n + 9 floordiv 2", {"n": 1}) == 3
    with pytest.raises(Refusal, match="SPY134: symbol k"):
        evaluate_extent("k", {})
    for text in ("n +", "min(n", "n n", "n floordiv 0", ""):
        with pytest.raises(ValueError, match="extent"):
            evaluate_extent(text, {"n": 1})
