# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of the cost model, against what the compiler emits and against hand counts."""

from __future__ import annotations

import pytest

import spyre_mlir
from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.explanations import explain_program
from spyre_mlir.tiling import Options, plan_tiles
from spyre_mlir.tiling.candidates import axes_of, constraints_of
from spyre_mlir.tiling.cost import Cost, cost_of, tiles_needed
from spyre_mlir.tiling.plans import parse_plan


def program(op: str, *types: str) -> str:
    *operands, result = types
    names = ", ".join(f"%x{i}" for i in range(len(operands)))
    arguments = ", ".join(f"%x{i}: tensor<{type}>" for i, type in enumerate(operands))
    signature = ", ".join(f"tensor<{type}>" for type in operands)
    return (
        f"func.func @main({arguments}) -> tensor<{result}> {{\n"
        f"  %0 = spyre.{op.replace('OPERANDS', names)} : ({signature}) -> tensor<{result}>\n"
        f"  return %0 : tensor<{result}>\n}}\n"
    )


SUM = "sum OPERANDS {dims = [0]}"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (program("add OPERANDS", "100x64xf16", "100x64xf16", "100x64xf16"), 128 * 25),  # 4 x 25
        (program("add OPERANDS", "101x64xf16", "101x64xf16", "101x64xf16"), 128 * 40),  # remainder
        (program("exp OPERANDS", "67x71x150xf16", "67x71x150xf16"), 128 * 3 * 67 * 5),
        (program(SUM, "4096x64xf32", "64xf32"), 128 * 256),
        (program(SUM, "4099x64xf32", "64xf32"), 128 * 2 * 40),
        (program(SUM, "4096x64xf16", "64xf16"), 128 * 512),
        (program("max OPERANDS {dims = [0]}", "4096x64xf16", "64xf16"), 128 * 256),
    ],
)
def test_kernels_are_those_that_the_program_has(text: str, limit: int) -> None:
    (report,) = explain_program(text, Options(span_limit=limit)).reports
    assert report.plan is not None and report.cost is not None
    emitted = len(list(spyre_mlir.compile(text, cores=1, span_limit=limit).model.operations()))
    assert report.cost.kernels == emitted, str(report.plan)
    assert report.needed <= report.plan.tiles == report.cost.tiles


def test_bytes_moved() -> None:
    add = kernels_of("add", [(1, 8195, 256, 64)] * 2, "f16")[0]
    plan = plan_tiles(add)
    # Each tile reads and writes cells of its own: three tensors, once.
    assert cost_of(add, plan) == Cost(5, 1, 3 * 8195 * 256 * 128, 0)
    assert cost_of(add, plan, compact={"result"}).buffer_bytes == 1639 * 256 * 128
    multiply = kernels_of("linear(x,w)", [(64, 4096), (49152, 4096)], "f16")[1]
    plan = plan_tiles(multiply)
    assert plan is not None and plan.tiles == 2
    # The left operand is read again for every tile of N.
    left, weight, result = 64 * 64, 768 * 4096, 768 * 64
    assert cost_of(multiply, plan).bytes_moved == 128 * (2 * left + weight + result)


def test_costs_add_up_and_compare_by_tiles_first() -> None:
    total = Cost(1, 2, 3, 4) + Cost(5, 6, 7, 8)
    assert total == Cost(6, 8, 10, 12)
    assert Cost(2, 1, 9, 9) < Cost(3, 1, 0, 0) and Cost(2, 1, 9, 9) < Cost(2, 2, 0, 0)
    assert (
        str(Cost(1, 1, 128, 0)) == "1 tile, 1 kernel emitted, 128 bytes moved, 0 bytes of buffers"
    )


def test_an_accumulator_is_moved_with_every_part() -> None:
    op = kernels_of("sum dim=0", [(4096, 64)], "f32")[0]
    plan = parse_plan(
        "#spyre.tile_plan<origin = auto, group = 0, levels = [reduction(0) 4 x 1024]>"
    )
    # 2 sticks of 32 lanes a row; the result is written 4 times and read 3 times.
    assert cost_of(op, plan).bytes_moved == 128 * 2 * (4096 + 4 + 3)


@pytest.mark.parametrize(
    ("shape", "limit", "needed"),
    [
        ((1, 8195, 256, 64), 268431360, 2),
        ((4096, 4096, 4096, 64), 268431360, 4096 * 9),
        ((100, 64), 128 * 30, 4),
        ((100, 64), 128 * 100, 1),
    ],
)
def test_tiles_needed(shape: tuple[int, ...], limit: int, needed: int) -> None:
    op = kernels_of("add", [shape] * 2, "f16")[0]
    domains = {name: axis.domain for name, axis in axes_of(op, reductions="never").items()}
    assert tiles_needed(constraints_of(op, limit, ()), domains) == needed
