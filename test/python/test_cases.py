# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The case runner, and every observed case of layouts, coordinates, extents and spans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spyre_mlir.cases import category, main, module, read_cases, run_case
from spyre_mlir.cases.outcomes import Exclusion, Outcome, OutOfScope, check_scope

DATA = Path(__file__).parent.parent / "data"
LAYOUTS = read_cases(DATA / "layout_cases.json")
SPANS = read_cases(DATA / "spans.json")


@pytest.mark.parametrize("case", LAYOUTS, ids=[case["name"] for case in LAYOUTS])
def test_observed_layouts(case: dict) -> None:
    outcome = run_case(case)
    assert outcome.status == "equal", outcome


def test_observed_spans() -> None:
    operands = 0
    for case in SPANS:
        outcome = run_case(case)
        assert outcome.status == "equal", (case["program"], outcome.got)
        operands += sum(1 + len(op["inputs"]) for op in case["ops"])
    assert operands > 200


def test_what_a_case_says_decides_its_handler() -> None:
    assert category({"ir_ops": [], "cores": 4}) == "work_division"
    assert module({"category": "coords", "function": "f"}) == "layout_cases"
    assert module({"category": "planner", "function": "f"}) == "planner_cases"
    assert module({"category": "reduction"}) == "region_cases"
    with pytest.raises(ValueError, match="fields a, b"):
        category({"b": 1, "a": 2})


def test_a_file_that_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = LAYOUTS[0]
    bad = {**good, "name": "bad", "expected": {**good["expected"], "device_size": [9]}}
    lines = tmp_path / "cases.jsonl"
    lines.write_text(f"{json.dumps(good)}\n\n{json.dumps(bad)}\n")
    assert main([str(lines)]) == 1
    out, err = capsys.readouterr()
    first, second = map(json.loads, out.splitlines())
    assert (first["name"], first["status"], first["reason"]) == (good["name"], "equal", None)
    assert (second["name"], second["status"]) == ("bad", "differs")
    assert second["expected"]["device_size"] == [9] and "got" in second
    assert err == "2 cases: 1 differs, 1 equal\n"
    assert main([]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("hello", "Expecting value"),
        ("[1]", "case 0 is int, not an object"),
        ('{"a": 1}', "a case without category, of fields a"),
    ],
)
def test_files_that_hold_no_cases(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    if text is not None:
        file.write_text(text)
    assert main([str(file)]) == 1
    assert message in capsys.readouterr().err


def test_a_span_that_differs_is_named() -> None:
    case = json.loads(json.dumps(SPANS[0]))
    case["ops"][0]["output"]["spans"][0]["exact_extent"] += 1
    outcome = run_case(case)
    assert outcome.status == "differs"
    assert case["ops"][0]["buffer"] in outcome.got[-1] and "spans" in outcome.got[-1]


def test_exclusions_are_predicates_with_reasons() -> None:
    exclusions = (Exclusion("stubbed", lambda case: "stub" in case, "no counterpart"),)
    check_scope({}, exclusions)
    with pytest.raises(OutOfScope, match="no counterpart"):
        check_scope({"stub": 1}, exclusions)
    assert Outcome(1, None, "no counterpart", in_scope=False).status == "out-of-scope"
