# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed planner cases under policy seed, and the default policy on observed programs."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spyre_mlir.cases import read_cases, run_case
from spyre_mlir.cases.planner_cases import EXCLUSIONS, kernel_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling import Options, TilePlan, plan_tiles

DATA = Path(__file__).parent.parent / "data"
CASES = read_cases(DATA / "planner_cases.json")
PROGRAMS = json.loads((DATA / "planner_programs.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_observed_case(case: dict[str, Any]) -> None:
    outcome = run_case(case)
    if any(exclusion.applies(case) for exclusion in EXCLUSIONS):
        assert outcome.status == "out-of-scope" and outcome.reason
    else:
        assert outcome.status == "equal", outcome


def test_few_cases_are_out_of_scope() -> None:
    statuses = Counter(run_case(case).status for case in CASES)
    assert statuses == {"equal": len(CASES) - 9, "out-of-scope": 9}


def test_the_default_plan_stands_beside_each_result() -> None:
    case = next(c for c in CASES if c["name"] == "test_planner_selects_dim_and_split_count")
    assert "parallel(1) 5 x 1639" in run_case(case).beside["default_policy"]


def _tiles(kernel: Kernel, plan: TilePlan | None) -> dict[str, int]:
    by_dim = {dim.host_dim: dim.symbol for dim in kernel.dims if not dim.reduction}
    return {by_dim[level.dim]: level.size for level in plan.levels} if plan else {}


def _value(text: str, grid: dict[str, np.ndarray]) -> np.ndarray:
    return np.asarray(eval(text, {"floor": np.floor, "Mod": np.mod}, grid))


def _largest_span(operand: dict[str, Any], tiles: dict[str, int], rounded: dict[str, int]) -> int:
    """The largest span of any tile in bytes, from the recorded coordinates alone."""
    layout = operand["layout"]
    largest = 0
    for dim, text in enumerate(operand["device_coordinates"][:-1]):
        names = [name for name in rounded if name in text.replace("floor", "").replace("Mod", "")]
        ranges = []
        for name in names:
            tile = tiles.get(name, rounded[name])
            ends = [min(s + tile, rounded[name]) for s in range(0, rounded[name], tile)]
            starts = range(0, rounded[name], tile)
            ranges.append([np.arange(s, e) for s, e in zip(starts, ends, strict=True)])
        step = prod(layout["device_size"][dim + 1 :]) * 128 // layout["device_size"][-1]
        for box in itertools.product(*ranges):
            grid = dict(zip(names, np.ix_(*box), strict=True)) if names else {}
            values = _value(text, grid)
            extent = int(values.max() - values.min()) + 1
            if extent > 1:
                largest = max(largest, extent * step)
    return largest


def test_default_plans_of_observed_programs_are_legal() -> None:
    found: Counter[str] = Counter()
    for record in PROGRAMS:
        for op in record["ops"]:
            reads = [(side["dep"], side["layout"]) for side in op["inputs"]]
            output = op["output"]
            dims = op["output_symbol_to_host_dim"]
            kernel = kernel_of(op, output["layout"], output["dep"], reads, dims)
            units = {dim.symbol: dim.stick for dim in kernel.dims}
            rounded = {d.symbol: -(-d.extent // d.stick) * d.stick for d in kernel.dims}
            operands = [*op["inputs"], output]
            try:
                plan = plan_tiles(kernel, Options(span_limit=record["limit"]))
            except Refusal as refusal:
                found[refusal.code] += 1
                finest = {d.symbol: units[d.symbol] for d in kernel.dims if not d.reduction}
                spans = [_largest_span(operand, finest, rounded) for operand in operands]
                assert max(spans) > record["limit"], (record["program"], refusal)
                continue
            found["plan" if plan else "fits"] += 1
            tiles = _tiles(kernel, plan)
            for operand in operands:
                assert _largest_span(operand, tiles, rounded) <= record["limit"], record["program"]
    assert found["plan"] >= 79
