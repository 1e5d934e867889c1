# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unions compute the same before and after they are lowered, on every cell that can be observed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir import ir
from spyre_mlir.interpreter import run
from spyre_mlir.passmanager import parse

OPERATIONS = ("part_add", "part_mul", "part_max", "part_min")
PIPELINE = (
    "builtin.module(spyre-verify-valid-regions,func.func(spyre-lower-part-ops),"
    "spyre-verify-valid-regions)"
)


def tensor(shape: tuple[int, ...], valid: tuple[object, ...]) -> str:
    sizes = "x".join(map(str, shape))
    encoding = (
        "" if valid == shape else f", #spyre.encoding<valid_shape = [{', '.join(map(str, valid))}]>"
    )
    return f"tensor<{sizes}xf32{encoding}>"


def program(operation: str, lhs: str, rhs: str, result: str) -> str:
    return f"""
    func.func @f(%n: index {{spyre.extent = "n"}}, %x: {lhs}, %y: {rhs}) -> {result} {{
      %0 = spyre.{operation} %x, %y : ({lhs}, {rhs}) -> {result}
      return %0 : {result}
    }}"""


def both(text: str, arrays: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The valid cells before and after."""
    with ir.Context():
        module = ir.Module.parse(text)
        parse("builtin.module(spyre-infer-valid-shapes)").run(module.operation)
        (before,) = run(module, arrays, symbols={"n": n})
        parse(PIPELINE).run(module.operation)
        assert "spyre.part_" not in str(module)
        (after,) = run(module, arrays, symbols={"n": n})
    return before, after


def cells(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(OPERATIONS),
    st.booleans(),
    st.tuples(st.integers(0, 4), st.integers(0, 6)),
    st.tuples(st.integers(0, 4), st.integers(0, 6)),
)
def test_literal_regions(
    operation: str, swapped: bool, first: tuple[int, int], second: tuple[int, int]
) -> None:
    shape = (4, 6)
    outer = tuple(map(max, first, second))
    regions = (first, outer) if swapped else (outer, first)
    lhs, rhs = (tensor(shape, region) for region in regions)
    text = program(operation, lhs, rhs, tensor(shape, shape))
    before, after = both(text, [cells(shape, 1), cells(shape, 2)], 0)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_symbolic_regions(operation: str, swapped: bool, n: int) -> None:
    shape = (4, 6)
    regions: list[tuple[object, ...]] = [("n", 5), (4, 6)]
    lhs, rhs = (tensor(shape, region) for region in (regions[::-1] if swapped else regions))
    text = program(operation, lhs, rhs, tensor(shape, shape))
    before, after = both(text, [cells(shape, 1), cells(shape, 2)], n)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("first", "first_valid", "second_valid", "union"),
    [
        ((6,), (6,), (3, 2), (4, 6)),  # the replicated one contains the other
        ((6,), (2,), (4, 6), (4, 6)),  # and is contained
        ((4, 1), (4, 1), (3, 2), (4, 6)),
        ((1, 6), (1, 5), (2, 5), (4, 5)),
        ((6,), (6,), ("n", 2), (4, 6)),
    ],
)
def test_replicated_operands(
    operation: str,
    swapped: bool,
    first: tuple[int, ...],
    first_valid: tuple[int, ...],
    second_valid: tuple[int, ...],
    union: tuple[int, ...],
) -> None:
    shape = (4, 6)
    sides = [(first, first_valid), (shape, second_valid)]
    sides = sides[::-1] if swapped else sides
    text = program(operation, *(tensor(*side) for side in sides), tensor(shape, shape))
    arrays = [cells(side[0], seed) for seed, side in enumerate(sides)]
    before, after = both(text, arrays, 2)
    assert before.shape == union
    np.testing.assert_array_equal(before, after)
