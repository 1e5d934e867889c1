# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Planner options through the compiler: remainder tiles, and plans that count on work division."""

from __future__ import annotations

import random
from math import prod

import pytest
from random_programs import random_module

import spyre_mlir
from spyre_mlir import ir
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.sdsc import validate


def add(*shape: int) -> str:
    type = f"tensor<{'x'.join(map(str, shape))}xf16>"
    return (
        f"func.func @main(%x: {type}, %y: {type}) -> {type} {{\n"
        f"  %0 = spyre.add %x, %y : ({type}, {type}) -> {type}\n  return %0 : {type}\n}}\n"
    )


LM_HEAD = """
func.func @main(%x: tensor<1x4096xf16>, %w: tensor<49216x4096xf16>) -> tensor<1x49216xf16> {
  %t = spyre.transpose %w {permutation = [1, 0]} : (tensor<49216x4096xf16>) -> tensor<4096x49216xf16>
  %0 = spyre.batch_matmul %x, %t
      : (tensor<1x4096xf16>, tensor<4096x49216xf16>) -> tensor<1x49216xf16>
  return %0 : tensor<1x49216xf16>
}
"""


def loops(text: str, limit: int = SPAN_LIMIT_BYTES, **options: object) -> list[tuple[int, ...]]:
    """Trips of the loops around every operation of a bundle that is valid."""
    bundle = spyre_mlir.compile(text, span_limit=limit, **options)  # type: ignore[arg-type]
    assert not validate.check(bundle.model, limit=limit)
    return [tuple(trips) for _, trips in bundle.model.operations()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (add(8192, 49159), [(3,), ()]),
        (add(1, 8191), [()]),
        (add(1, 8209, 256, 64), [(), ()]),
        (add(4096, 4096, 4096, 64), [(4096, 16)]),
        (add(4096, 4032, 4032, 64), [(4032, 8)]),
    ],
)
def test_shapes_that_no_divisor_fits(text: str, expected: list[tuple[int, ...]]) -> None:
    assert loops(text) == expected


def test_a_vocabulary_of_64_times_769() -> None:
    assert loops(LM_HEAD)


def test_one_row_of_a_prime_in_tiles() -> None:
    assert loops(add(1, 8191), 128 * 100) == [(), ()]  # two tiles of at most 100 sticks
    assert loops(add(1, 8191), 128 * 4) == [(31,), ()]


def test_remainder() -> None:
    text = add(100, 64)
    assert loops(text, 128 * 40) == [(4,)]
    assert loops(text, 128 * 40, remainder="always") == [(2,), ()]
    assert loops(add(101, 64), 128 * 40, remainder="never") == [(101,)]
    assert loops(add(101, 64), 128 * 40) == [(2,), ()]


@pytest.mark.parametrize("cores", [1, 4, 32])
def test_division_counted(cores: int) -> None:
    text, limit = add(96, 64, 64), 128 * 64 * 3
    safe = loops(text, limit, cores=cores)
    counted = loops(text, limit, cores=cores, division="counted")
    assert safe == [(32,)]
    assert counted == {1: [(32,)], 4: [(8,)], 32: [()]}[cores]


@pytest.mark.parametrize("rows", [97, 101, 128, 150, 210])
def test_division_counted_is_validated(rows: int) -> None:
    for limit in (128 * 64, 128 * 64 * 5, 128 * 64 * 7):
        safe = loops(add(rows, 64, 64), limit)
        counted = loops(add(rows, 64, 64), limit, division="counted")
        assert sum(map(sum, counted)) <= sum(map(sum, safe))


def test_a_division_that_is_not_what_was_counted_on_is_refused() -> None:
    passes = (
        "builtin.module(func.func(spyre-assign-layouts,"
        "spyre-plan-span-overflow{division=counted span-limit=24576},spyre-tile,"
        "spyre-divide-work{cores=2 span-limit=24576}))"
    )
    with ir.Context():
        module = ir.Module.parse(add(96, 64, 64))
        with pytest.raises(Exception, match="SPY110"):
            spyre_mlir.passmanager.PassManager.parse(passes).run(module.operation)


LONG_ROWS = """
func.func @main(%x: tensor<65536x8192xf16>) -> tensor<65536xf16> {
  %0 = spyre.max %x {dims = [1]} : (tensor<65536x8192xf16>) -> tensor<65536xf16>
  return %0 : tensor<65536xf16>
}
"""


def test_a_reduced_range_that_alone_is_too_long() -> None:
    assert loops(LONG_ROWS) == [(), (7,), (7,)]  # 8 tiles: the first stands before the loop
    with pytest.raises(ir.MLIRError, match="SPY042"):
        loops(LONG_ROWS, reductions="never")


def launches(seed: int, division: str) -> int | None:
    """Operations that run, of a random program; None if it is no program, or is refused."""
    limit = 128 * random.Random(seed).choice([16, 64, 200, 1000])
    with ir.Context():
        try:
            _, module = random_module(seed, (8, 18))
        except Exception:
            return None
        try:
            bundle = spyre_mlir.compile(module, span_limit=limit, division=division)  # type: ignore[arg-type]
        except Exception as refusal:
            assert "SPY" in str(refusal), seed
            return None
    assert not validate.check(bundle.model, limit=limit), seed
    return sum(prod(trips) for _, trips in bundle.model.operations())


def test_random_programs_that_count_on_work_division_compile_and_run_less() -> None:
    safe_total = counted_total = 0
    for seed in range(60):
        safe = launches(seed, "ignored")
        if safe is None:
            continue
        counted = launches(seed, "counted")
        assert counted is not None, seed
        safe_total, counted_total = safe_total + safe, counted_total + counted
    assert 0 < counted_total < 0.8 * safe_total
