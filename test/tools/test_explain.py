# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre explain`: the documented JSON, the text, options over environment over default."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPYRE = Path(sys.executable).parent / "spyre"
SWITCHES = ("SPYRE_INDUCTOR_IGNORE_HINTS", "SPYRE_INDUCTOR_IGNORE_SPAN_OVERFLOW_HINTS")
CHAIN = """
func.func @f(%x: tensor<128x2x64xf16>) -> tensor<2x128x64xf16> {
  %0 = spyre.exp %x : (tensor<128x2x64xf16>) -> tensor<128x2x64xf16>
  %1 = spyre.transpose %0 {permutation = [1, 0, 2]} : (tensor<128x2x64xf16>) -> tensor<2x128x64xf16>
  %2 = spyre.neg %1 : (tensor<2x128x64xf16>) -> tensor<2x128x64xf16>
  return %2 : tensor<2x128x64xf16>
}
"""


def run(*arguments: str, program: str = "", **environment: str) -> tuple[int, str, str]:
    """Exit code, output, errors of `spyre explain`."""
    clean = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    done = subprocess.run(
        [SPYRE, "explain", *arguments],
        input=program,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**clean, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def explained(*arguments: str, program: str = "", **environment: str) -> dict[str, Any]:
    """The JSON."""
    _, out, errors = run(*arguments, "--format", "json", program=program, **environment)
    found: dict[str, Any] = json.loads(out)
    assert not errors
    return found


def test_the_json_is_the_documented_one() -> None:
    spans = [
        {
            "device_dim": 0,
            "extent": 8195,
            "stride_bytes": 32768,
            "span_bytes": 268533760,
            "symbols": ["d1"],
        },
        {
            "device_dim": 1,
            "extent": 256,
            "stride_bytes": 128,
            "span_bytes": 32768,
            "symbols": ["d2"],
        },
    ]
    layout = "[8195, 256, 1, 1, 64] : [16384, 64, 64, -1, 1]"
    operands = [{"label": n, "layout": layout, "spans": spans} for n in ("lhs", "rhs", "result")]
    assert explained("examples/add.mlir") == {
        "limit": 268431360,
        "ops": [
            {
                "name": "add",
                "location": "examples/add.mlir:4:10",
                "operands": operands,
                "plan": {
                    "levels": [
                        {"dim": 1, "kind": "parallel", "tile": 1639, "count": 5, "remainder": 0}
                    ],
                    "reason": "span of result, lhs, rhs",
                    "cost": {
                        "tiles": 5,
                        "kernels": 1,
                        "bytes_moved": 805601280,
                        "buffer_bytes": 0,
                    },
                    "tiles_needed": 2,
                    "proved": True,
                    "group": 0,
                    "compact": [],
                },
                "refusal": None,
            }
        ],
    }


def test_the_text_has_coordinates_cost_and_runner_up() -> None:
    code, out, _ = run("examples/add.mlir")
    assert code == 0
    for line in (
        "add at examples/add.mlir:4:10",
        "coordinates [d1, d2, 0, 0, d3]",
        "extent 8195 x 32768 bytes = 268533760 bytes, limit 268431360: 102400 over",
        "plan: parallel(1) 5 x 1639; cost: 5 tiles, 1 dims, largest count 5",
        "runner-up: parallel(1) 11 x 745",
    ):
        assert line in out
    lines = (ROOT / "docs/explain.md").read_text().splitlines()
    shown = [
        line.strip() for line in lines if line.startswith("    ") and "spyre explain" not in line
    ]
    paragraph = [line for line in shown[: shown.index('{"limit": 268431360,')] if line != "..."]
    assert paragraph and all(line in out for line in paragraph)


LARGEST = """
!x = tensor<128x64x64xf16>
func.func @f(%x: !x) -> tensor<128x4x64xf16> {
  %0 = spyre.exp %x : (!x) -> !x
  %1, %2 = spyre.topk %0 {k = 4 : i64, dim = 1 : i64} : (!x) -> (tensor<128x4x64xf16>, tensor<128x4x64xi32>)
  return %1 : tensor<128x4x64xf16>
}
"""


def test_what_is_legal_only_in_a_shared_loop_is_told_with_its_plan_there() -> None:
    exp, largest = explained("-", "--span-limit", "131072", program=LARGEST)["ops"]
    assert [level["dim"] for level in exp["plan"]["levels"]] == [0, 1]
    assert largest["refusal"] is None
    assert largest["plan"]["levels"][0] == exp["plan"]["levels"][0]
    assert largest["plan"]["group"] == exp["plan"]["group"]
    assert (exp["plan"]["compact"], largest["plan"]["compact"]) == (["result"], ["input"])
    _, text, _ = run("-", "--span-limit", "131072", program=LARGEST)
    assert "in one loop with topk; tiles of its own: result" in text


def test_a_refusal_is_told_at_the_operation_that_has_no_plan() -> None:
    alone = LARGEST.replace("topk %0", "topk %x")
    code, out, _ = run("-", "--span-limit", "131072", "--format", "json", program=alone)
    exp, largest = json.loads(out)["ops"]
    assert code == 1
    assert exp["refusal"] is None
    assert largest["plan"] is None
    assert largest["refusal"]["code"] == "SPY042"


def test_what_shares_a_loop_has_its_plan() -> None:
    chain = CHAIN.replace("128x2x64", "128x1x64").replace("2x128x64", "1x128x64")
    exp, neg = explained("-", "--span-limit", "8192", program=chain)["ops"]
    assert [level["tile"] for level in exp["plan"]["levels"]] == [64]
    assert [level["tile"] for level in neg["plan"]["levels"]] == [64]


@pytest.mark.parametrize("switch", SWITCHES)
def test_option_over_environment_over_default(switch: str) -> None:
    assert explained("examples/add.mlir", **{switch: "1"})["ops"][0]["plan"] is None
    assert explained("examples/add.mlir", **{switch: "0"})["ops"][0]["plan"] is not None
    assert explained("examples/add.mlir", "--plan", **{switch: "1"})["ops"][0]["plan"] is not None
    assert explained("examples/add.mlir", "--no-plan")["ops"][0]["plan"] is None


def test_a_hint_is_told_as_one() -> None:
    hint = "#spyre.tile_plan<origin = hint, group = 0, levels = [parallel(rows) 4]>"
    program = f"""
    func.func @f(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {{
      %0 = spyre.exp %x {{spyre.dims = ["rows", "d"], spyre.tile = {hint}}} : (tensor<20x64xf16>) -> tensor<20x64xf16>
      return %0 : tensor<20x64xf16>
    }}
    """
    assert "hint: parallel(0) 4 x 5" in run("-", program=program)[1]
    wrong = program.replace("parallel(rows)", "parallel(columns)")
    assert explained("-", program=wrong)["ops"][0]["refusal"]["code"] == "SPY045"


def test_bad_input_is_told() -> None:
    code, out, _ = run("-", "--format", "json", program="func.func @f(")
    assert code == 1 and json.loads(out)["error"]["message"]
    assert run("no-such-file.mlir")[0] == 1


def test_without_plans_nothing_is_said_of_what_is_needed() -> None:
    """One core reaches over the limit: that no tiling was needed was not true."""
    code, said, _ = run("examples/add.mlir", "--no-plan", "--cores", "1")
    assert code == 0
    assert "left alone: planning is off" in said and "no tiling needed" not in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cores", "33"], "option 'cores' is 33; it must be from 1 to 32"),
        (["--span-limit", "268431361"], "'span-limit' is 268431361; it must be from 1 to"),
    ],
)
def test_limits_of_the_hardware(words: list[str], message: str) -> None:
    code, _, errors = run("examples/add.mlir", *words)
    assert code == 1 and message in errors
