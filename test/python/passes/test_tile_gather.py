# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gather and scatter in tiles compute what they compute whole."""

from __future__ import annotations

import random
from math import prod

import numpy as np
import pytest

from spyre_mlir import ir, passmanager
from spyre_mlir.interpreter import run

PASSES = (
    "builtin.module(func.func(spyre-assign-layouts,"
    "spyre-plan-span-overflow{{span-limit={}}},spyre-tile))"
)


def shape_text(shape: list[int], element: str) -> str:
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def program(name: str, types: list[str], dim: int) -> str:
    *operands, result = types
    arguments = ", ".join(f"%x{i}: {type}" for i, type in enumerate(operands))
    names = ", ".join(f"%x{i}" for i in range(len(operands)))
    return (
        f"func.func @main({arguments}) -> {result} {{\n"
        f"  %0 = spyre.{name} {names} {{dim = {dim}}} : ({', '.join(operands)}) -> {result}\n"
        f"  return %0 : {result}\n}}\n"
    )


def tiled(text: str, limit: int) -> tuple[str, int]:
    """The program in tiles, and how many loops it has; the limit grows until there is a plan."""
    while True:
        with ir.Context():
            module = ir.Module.parse(text)
            try:
                passmanager.run(passmanager.parse(PASSES.format(limit)), module.operation)
            except ir.MLIRError as error:
                assert "SPY047" in str(error) or "SPY04" in str(error), str(error)
                limit *= 2
                continue
            return str(module), str(module).count("scf.for")


@pytest.mark.parametrize("name", ["gather", "scatter"])
def test_tiles_mean_the_same(name: str) -> None:
    loops = 0
    for seed in range(25):
        rng, data = random.Random(seed), np.random.default_rng(seed)
        rank = rng.randint(2, 4)
        inner = [rng.choice([3, 5, 8, 70]) for _ in range(rank)]
        dim = rng.randrange(rank)
        table, picked = list(inner), list(inner)
        table[dim], picked[dim] = rng.randint(2, 9), rng.randint(2, 70)
        cells = [data.standard_normal(s).astype(np.float16) for s in (table, picked)]
        at = data.integers(0, table[dim], picked[dim]).astype(np.int32)
        whole, part = shape_text(table, "f16"), shape_text(picked, "f16")
        where = shape_text([picked[dim]], "i32")
        if name == "gather":
            text, arrays = program(name, [whole, where, part], dim), [cells[0], at]
        else:
            text = program(name, [part, where, whole, whole], dim)
            arrays = [cells[1], at, cells[0]]
        after, found = tiled(text, max(128, prod(picked) * 2 // rng.choice([4, 16, 64])))
        loops += found
        np.testing.assert_array_equal(run(text, arrays)[0], run(after, arrays)[0])
    assert loops > 10
