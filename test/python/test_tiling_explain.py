# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations: the documented JSON, and the text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from spyre_mlir.cases.planner_cases import EXCLUSIONS
from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.tiling import Level, Options, TilePlan
from spyre_mlir.tiling.explain import as_json, as_text, explain

SUM = kernels_of("sum dim=0", [(2, 20, 16, 64)], "f16")[0]
OPTIONS = Options(span_limit=8192)


def test_json() -> None:
    found = as_json([explain(SUM, OPTIONS, location="a.mlir:3:5")], 8192)
    assert json.loads(json.dumps(found)) == {
        "limit": 8192,
        "ops": [
            {
                "name": "sum",
                "location": "a.mlir:3:5",
                "operands": [
                    {
                        "label": "x",
                        "layout": "[20, 16, 1, 2, 64] : [1024, 64, 64, 20480, 1]",
                        "spans": [
                            _span(0, 20, 4096, "c0"),
                            _span(1, 16, 256, "c1"),
                            _span(3, 2, 128, "c3"),
                        ],
                    },
                    {
                        "label": "result",
                        "layout": "[16, 1, 20, 64] : [64, 64, 1024, 1]",
                        "spans": [_span(0, 16, 2560, "c1"), _span(2, 20, 128, "c0")],
                    },
                ],
                "plan": {
                    "levels": [_level(0, 10, 2), _level(1, 8, 2)],
                    "reason": "span of result, x",
                    "cost": {
                        "tiles": 80,
                        "kernels": 1,
                        "bytes_moved": 122880,
                        "buffer_bytes": 0,
                    },
                    "tiles_needed": 60,
                    "proved": True,
                    "group": 0,
                    "compact": [],
                },
                "refusal": None,
            }
        ],
    }


def _span(dim: int, extent: int, stride: int, symbol: str) -> dict[str, object]:
    return {
        "device_dim": dim,
        "extent": extent,
        "stride_bytes": stride,
        "span_bytes": extent * stride,
        "symbols": [symbol],
    }


def _level(dim: int, count: int, tile: int) -> dict[str, object]:
    return {"dim": dim, "kind": "parallel", "tile": tile, "count": count, "remainder": 0}


def test_refusal() -> None:
    options = replace(OPTIONS, reductions="never")
    report = explain(kernels_of("sum dim=0", [(65536, 64)], "f16")[0], options)
    (op,) = as_json([report], 8192)["ops"]
    assert op["plan"] is None and op["refusal"]["code"] == "SPY042"
    assert "8388608 bytes, 8380416 over the limit" in as_text([report], 8192)


def test_reduced_range_in_tiles() -> None:
    report = explain(kernels_of("sum dim=0", [(65536, 64)], "f16")[0], Options(span_limit=1 << 20))
    (op,) = as_json([report], 1 << 20)["ops"]
    assert op["plan"]["accumulation"] == {"element": "f32", "casts": True, "operations": 48}
    text = as_text([report], 1 << 20)
    assert "accumulated in f32, tiles of operands cast to it; 48 operations run" in text


def test_text() -> None:
    text = as_text([explain(SUM, OPTIONS, location="a.mlir:3:5")], 8192)
    assert "sum at a.mlir:3:5" in text
    assert "coordinates [c0, c1, 0, c3, c2]" in text
    assert "extent 20 x 4096 bytes = 81920 bytes, limit 8192: 73728 over" in text
    assert "plan: parallel(0) 10 x 2, parallel(1) 8 x 2; cost: 80 tiles, 2 dims" in text
    assert "runner-up: parallel(0) 10 x 2, parallel(1) 16 x 1; cost: 160 tiles" in text


def test_what_needs_no_plan_or_has_one() -> None:
    assert "no tiling needed" in as_text([explain(SUM)], OPTIONS.span_limit)
    hint = TilePlan((Level("parallel", 1, 4, 4),), origin="hint")
    assert "hint: parallel(1) 4 x 4" in as_text([explain(SUM, hint=hint)], 8192)


def test_indirect_access() -> None:
    gathered = replace(SUM.accesses[0], indirect=("c0",))
    report = explain(replace(SUM, accesses=(gathered, SUM.accesses[1])), OPTIONS)
    assert report.plan is None and report.refusal is None
    assert "left alone: x is reached indirectly" in as_text([report], 8192)


def test_exclusions_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tiling.md").read_text()
    for exclusion in EXCLUSIONS:
        assert exclusion.name in page and exclusion.reason in page
