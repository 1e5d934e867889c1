# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with symbolic extents, run from their bundles for many values: padding never reaches a result.

Cells outside the valid region, and padding lanes, hold no data (NaN to the machine)."""

from __future__ import annotations

import re

import numpy as np
import pytest
from random_symbolic import random_program

import spyre_mlir
from spyre_mlir import encodings, interpreter, ir, machine, passmanager
from spyre_mlir.compiler import Bundle
from spyre_mlir.interpreter import DTYPES
from spyre_mlir.sdsc.model import Loop, Sdsc
from spyre_mlir.sdsc.validate import validate_texts
from spyre_mlir.tensors import TensorType

TYPE = re.compile(r"<([\dx]+)x(\w+)((?:, ?[^<>]*)?)>")


def program(text: str, **ranges: tuple[int, int]) -> str:
    """A module from one function. `t<4x8xf16: 4, n>` is a tensor with a valid region; symbols get an argument each."""
    symbols = ", ".join(
        f'%{name}: index {{spyre.extent = "{name}", spyre.range = array<i64: {low}, {high}>}}'
        for name, (low, high) in ranges.items()
    )
    text = re.sub(
        r"\bt<([^<>:]*): ([^<>]*)>",
        r"tensor<\1, #spyre.encoding<valid_shape = [\2]>>",
        text.replace("SYMBOLS", symbols),
    )
    return re.sub(r"\bt<([^<>]*)>", r"tensor<\1>", text)


ROWS = (1, 20)
LANES = (1, 150)

PROGRAMS: dict[str, tuple[str, dict[str, tuple[int, int]]]] = {
    "rows": (
        """func.func @f(%x: t<20x150xf16: n, 150>, %y: t<150xf16>, SYMBOLS) -> t<20x150xf16: n, 150> {
          %0 = spyre.mul %x, %y : (t<20x150xf16: n, 150>, t<150xf16>) -> t<20x150xf16: n, 150>
          %1 = spyre.sub %0, %x : (t<20x150xf16: n, 150>, t<20x150xf16: n, 150>) -> t<20x150xf16: n, 150>
          return %1 : t<20x150xf16: n, 150> }""",
        {"n": (0, 20)},
    ),
    "both dims": (
        """func.func @f(%x: t<20x150xf16: n, m>, SYMBOLS) -> t<20x150xf16: n, m> {
          %0 = spyre.relu %x : (t<20x150xf16: n, m>) -> t<20x150xf16: n, m>
          return %0 : t<20x150xf16: n, m> }""",
        {"n": ROWS, "m": LANES},
    ),
    "sum of rows": (
        """func.func @f(%x: t<20x150xf16: n, 150>, SYMBOLS) -> t<150xf16> {
          %0 = spyre.sum %x {dims = [0]} : (t<20x150xf16: n, 150>) -> t<150xf16>
          return %0 : t<150xf16> }""",
        {"n": ROWS},
    ),
    "sum along the stick": (
        """func.func @f(%x: t<20x150xf16: n, m>, SYMBOLS) -> t<20x1xf16: n, 1> {
          %0 = spyre.sum %x {dims = [1], keep_dims = true} : (t<20x150xf16: n, m>) -> t<20x1xf16: n, 1>
          return %0 : t<20x1xf16: n, 1> }""",
        {"n": ROWS, "m": LANES},
    ),
    "largest and smallest": (
        """func.func @f(%x: t<20x150xf16: 20, m>, SYMBOLS) -> t<20x1xf16> {
          %0 = spyre.max %x {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %1 = spyre.min %x {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %2 = spyre.sub %0, %1 : (t<20x1xf16>, t<20x1xf16>) -> t<20x1xf16>
          return %2 : t<20x1xf16> }""",
        {"m": LANES},
    ),
    "softmax": (
        """func.func @f(%x: t<20x150xf16: 20, m>, SYMBOLS) -> t<20x150xf16: 20, m> {
          %0 = spyre.max %x {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %1 = spyre.sub %x, %0 : (t<20x150xf16: 20, m>, t<20x1xf16>) -> t<20x150xf16: 20, m>
          %2 = spyre.exp %1 : (t<20x150xf16: 20, m>) -> t<20x150xf16: 20, m>
          %3 = spyre.sum %2 {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %4 = spyre.div %2, %3 : (t<20x150xf16: 20, m>, t<20x1xf16>) -> t<20x150xf16: 20, m>
          return %4 : t<20x150xf16: 20, m> }""",
        {"m": LANES},
    ),
    "product of rows": (
        """func.func @f(%x: t<20x64xf16: n, 64>, %y: t<64x150xf16>, SYMBOLS) -> t<20x150xf16: n, 150> {
          %0 = spyre.batch_matmul %x, %y : (t<20x64xf16: n, 64>, t<64x150xf16>) -> t<20x150xf16: n, 150>
          return %0 : t<20x150xf16: n, 150> }""",
        {"n": ROWS},
    ),
    "product over whole sticks": (
        """func.func @f(%x: t<20x256xf16: 20, 64 * k>, %y: t<256x70xf16: 64 * k, 70>, SYMBOLS) -> t<20x70xf16> {
          %0 = spyre.batch_matmul %x, %y : (t<20x256xf16: 20, 64 * k>, t<256x70xf16: 64 * k, 70>) -> t<20x70xf16>
          return %0 : t<20x70xf16> }""",
        {"k": (1, 4)},
    ),
    "product over any extent": (
        """func.func @f(%x: t<20x150xf16: n, m>, %y: t<150x70xf16: m, 70>, SYMBOLS) -> t<20x70xf16: n, 70> {
          %0 = spyre.batch_matmul %x, %y : (t<20x150xf16: n, m>, t<150x70xf16: m, 70>) -> t<20x70xf16: n, 70>
          return %0 : t<20x70xf16: n, 70> }""",
        {"n": ROWS, "m": (0, 150)},
    ),
    "filled": (
        """func.func @f(%x: t<20x70xf16: n, m>, SYMBOLS) -> t<20x150xf16> {
          %0 = spyre.fillpad %x {pad = "zero"} : (t<20x70xf16: n, m>) -> t<20x150xf16>
          return %0 : t<20x150xf16> }""",
        {"n": ROWS, "m": (0, 70)},
    ),
    "row filled": (
        """func.func @f(%x: t<70xf16: m>, SYMBOLS) -> t<70xf16> {
          %0 = spyre.fillpad %x {pad = "max"} : (t<70xf16: m>) -> t<70xf16>
          return %0 : t<70xf16> }""",
        {"m": (0, 70)},
    ),
    "attention": (
        """func.func @f(%q: t<20x64xf16>, %k: t<64x150xf16: 64, m>, %v: t<150x64xf16: m, 64>, SYMBOLS) -> t<20x64xf16> {
          %s = spyre.batch_matmul %q, %k : (t<20x64xf16>, t<64x150xf16: 64, m>) -> t<20x150xf16: 20, m>
          %0 = spyre.max %s {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %1 = spyre.sub %s, %0 : (t<20x150xf16: 20, m>, t<20x1xf16>) -> t<20x150xf16: 20, m>
          %2 = spyre.exp %1 : (t<20x150xf16: 20, m>) -> t<20x150xf16: 20, m>
          %3 = spyre.sum %2 {dims = [1], keep_dims = true} : (t<20x150xf16: 20, m>) -> t<20x1xf16>
          %4 = spyre.div %2, %3 : (t<20x150xf16: 20, m>, t<20x1xf16>) -> t<20x150xf16: 20, m>
          %5 = spyre.batch_matmul %4, %v : (t<20x150xf16: 20, m>, t<150x64xf16: m, 64>) -> t<20x64xf16>
          return %5 : t<20x64xf16> }""",
        {"m": LANES},
    ),
    "inserted between data": (
        """func.func @f(%x: t<20x150xf16: n, 150>, %y: t<30x150xf16>, SYMBOLS) -> t<30x150xf16> {
          %0 = spyre.insert_slice %x into %y[3, 0] : (t<20x150xf16: n, 150>, t<30x150xf16>) -> t<30x150xf16>
          return %0 : t<30x150xf16> }""",
        {"n": (0, 20)},
    ),
    "inserted whole sticks": (
        """func.func @f(%x: t<20x128xf16: 20, 64 * k>, %y: t<20x256xf16>, SYMBOLS) -> t<20x256xf16> {
          %0 = spyre.insert_slice %x into %y[0, 64] : (t<20x128xf16: 20, 64 * k>, t<20x256xf16>) -> t<20x256xf16>
          return %0 : t<20x256xf16> }""",
        {"k": (0, 2)},
    ),
    "inserted within sticks": (
        """func.func @f(%x: t<20x70xf16: 20, m>, %y: t<20x150xf16>, SYMBOLS) -> t<20x150xf16> {
          %0 = spyre.insert_slice %x into %y[0, 67] : (t<20x70xf16: 20, m>, t<20x150xf16>) -> t<20x150xf16>
          return %0 : t<20x150xf16> }""",
        {"m": (0, 70)},
    ),
    "union along the stick": (
        """func.func @f(%x: t<20x150xf16>, %y: t<20x150xf16: 20, m>, SYMBOLS) -> t<20x150xf16> {
          %0 = spyre.part_max %x, %y : (t<20x150xf16>, t<20x150xf16: 20, m>) -> t<20x150xf16>
          return %0 : t<20x150xf16> }""",
        {"m": (0, 150)},
    ),
    "union": (
        """func.func @f(%x: t<20x150xf16>, %y: t<20x150xf16: n, 150>, SYMBOLS) -> t<20x150xf16> {
          %0 = spyre.part_add %x, %y : (t<20x150xf16>, t<20x150xf16: n, 150>) -> t<20x150xf16>
          return %0 : t<20x150xf16> }""",
        {"n": (0, 20)},
    ),
    "of an expression": (
        """func.func @f(%x: t<20x150xf16: n + m, 150>, SYMBOLS) -> t<150xf16> {
          %0 = spyre.sum %x {dims = [0]} : (t<20x150xf16: n + m, 150>) -> t<150xf16>
          return %0 : t<150xf16> }""",
        {"n": (1, 10), "m": (0, 10)},
    ),
    "in a loop": (
        """func.func @f(%x: t<20x150xf16: n, 150>, %y: t<60x150xf16>, SYMBOLS) -> t<20x150xf16: n, 150> {
          %first = arith.constant 0 : index
          %rows = arith.constant 60 : index
          %chunk = arith.constant 20 : index
          %start = spyre.identity %x : (t<20x150xf16: n, 150>) -> t<20x150xf16: n, 150>
          %total = scf.for %row = %first to %rows step %chunk iter_args(%sum = %start) -> t<20x150xf16: n, 150> {
            %part = spyre.slice %y[%row, 0] : (t<60x150xf16>) -> t<20x150xf16>
            %valid = spyre.set_valid_shape %part [n, 150] : (t<20x150xf16>) -> t<20x150xf16: n, 150>
            %next = spyre.add %sum, %valid : (t<20x150xf16: n, 150>, t<20x150xf16: n, 150>) -> t<20x150xf16: n, 150>
            scf.yield %next : t<20x150xf16: n, 150>
          }
          return %total : t<20x150xf16: n, 150> }""",
        {"n": (0, 20)},
    ),
    "parts of constants": (
        """func.func @f(%x: t<20x150xf16: 7, 100>, %y: t<20x150xf16: 7, 100>) -> t<20x1xf16: 7, 1> {
          %0 = spyre.mul %x, %y : (t<20x150xf16: 7, 100>, t<20x150xf16: 7, 100>) -> t<20x150xf16: 7, 100>
          %1 = spyre.max %0 {dims = [1], keep_dims = true} : (t<20x150xf16: 7, 100>) -> t<20x1xf16: 7, 1>
          return %1 : t<20x1xf16: 7, 1> }""",
        {},
    ),
    "part of a literal sum": (
        """func.func @f(%x: t<20x150xf16: 7, 100>) -> t<150xf16: 100> {
          %0 = spyre.sum %x {dims = [0]} : (t<20x150xf16: 7, 100>) -> t<150xf16: 100>
          return %0 : t<150xf16: 100> }""",
        {},
    ),
}

Signature = tuple[list[TensorType], list[TensorType]]


def compiled(text: str, cores: int, **options: int) -> tuple[Bundle, Signature]:
    """The bundle of a program, and the types with layouts of its arguments and results."""
    bundle = spyre_mlir.compile(text, cores=cores, **options)
    with ir.Context():
        module = ir.Module.parse(text)
        passes = "builtin.module(func.func(spyre-decompose-operations,spyre-assign-layouts))"
        passmanager.run(passmanager.parse(passes), module.operation)
        (function,) = module.body.operations
        kind = function.attributes["function_type"].value
        sides = [
            [encodings.read(t) for t in side if isinstance(t, ir.RankedTensorType)]
            for side in (kind.inputs, kind.results)
        ]
    return bundle, (sides[0], sides[1])


def values_of(ranges: dict[str, tuple[int, int]]) -> list[dict[str, int]]:
    """Both ends, and what lies beside granules and sticks."""
    if not ranges:
        return [{}]
    chosen = []
    for step in range(5):
        at = {}
        for name, (low, high) in ranges.items():
            near = [low, high, 7, 64, 65, 1, 63, 128, 3]
            near = [value for value in near if low <= value <= high]
            at[name] = near[step % len(near)]
        chosen.append(at)
    return chosen


def check(source: str, ranges: dict[str, tuple[int, int]], cores: int, **options: int) -> Bundle:
    """Compiles a program, and compares its bundle with what it means."""
    text = program(source, **ranges) if ranges else program(source.replace(", SYMBOLS", ""))
    bundle, signature = compiled(text, cores, **options)
    assert validate_texts(bundle.files) == []
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, t.shape).astype(DTYPES[t.element]) for t in signature[0]]
    for symbols in values_of(ranges):
        (wanted,) = interpreter.execute(text, arrays, symbols=symbols)
        ((found, poison),) = machine.run_program(bundle, signature, arrays, symbols=symbols)
        region = wanted.bound.region
        assert not poison[region].any(), symbols
        assert np.allclose(
            found[region].astype(float),
            wanted.valid.astype(float),
            atol=3e-2,
            rtol=3e-2,
            equal_nan=True,
        ), symbols
    return bundle


@pytest.mark.parametrize("cores", [4, 32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bundles_compute_what_programs_mean(name: str, cores: int) -> None:
    check(*PROGRAMS[name], cores)


@pytest.mark.parametrize(
    ("name", "span_limit"),
    [
        ("rows", 4096),
        ("sum of rows", 4096),
        ("product of rows", 20000),
        ("inserted between data", 4096),
        ("union", 4096),
    ],
)
def test_tiles_have_symbolic_dims(name: str, span_limit: int) -> None:
    """Loops over other dims; the extents are the same in every trip."""
    bundle = check(*PROGRAMS[name], 1, span_limit=span_limit)
    loops = [node for node in bundle.model.body if isinstance(node, Loop)]
    inside = [sdsc for loop in loops for sdsc in loop.body if isinstance(sdsc, Sdsc)]
    assert any(sdsc.parameters for sdsc in inside)


REFUSED = {"SPY093", "SPY098", "SPY099", "SPY101"}
"""No function of the device, one value a stick, part of a stick, cells behind an extent."""


@pytest.mark.parametrize("start", range(0, 30, 10))
def test_random_programs_compute_what_they_mean(start: int) -> None:
    """Most random programs compile, and then mean the same; the others are refused with a reason."""
    refused = 0
    for seed in range(start, start + 10):
        try:
            check(*random_program(seed), (1, 4, 32)[seed % 3])
        except ir.MLIRError as error:
            assert any(code in str(error) for code in REFUSED), error
            refused += 1
    assert refused <= 4
