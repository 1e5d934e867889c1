# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every observed case of valid regions, and what is out of scope and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from spyre_mlir.cases import read_cases, run_case
from spyre_mlir.cases.region_cases import EXCLUSIONS, STRONGER, WIDENED

CASES = read_cases(Path(__file__).parent.parent.parent / "data" / "valid_cases.json")
STATED = ("pr2159", "both", "proposal-undecided")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_observed_regions(case: dict) -> None:
    outcome = run_case(case)
    assert outcome.status in ("equal", "out-of-scope"), outcome
    if outcome.status == "out-of-scope" and case["era"] in STATED:
        assert outcome.reason in {exclusion.reason for exclusion in EXCLUSIONS}


def test_most_cases_are_in_scope() -> None:
    counts = Counter(run_case(case).status for case in CASES)
    assert counts["equal"] >= 135 and counts["differs"] == 0


def test_every_exclusion_has_a_case() -> None:
    reasons = {run_case(case).reason for case in CASES}
    for exclusion in (*EXCLUSIONS, WIDENED):
        assert exclusion.reason in reasons, exclusion.name


def test_a_case_that_only_the_reference_must_refuse() -> None:
    case = {
        "name": "full_with_symbol",
        "category": "part-union",
        "op": "tile.part_add",
        "operands": [
            {"kind": "tile", "shape": [8, 16], "valid_shape": valid, "dtype": "f32"}
            for valid in (None, [8, "n"])
        ],
        "expected": {"status": "reject", "code": "E_UNION_NO_WIDEST", "dim": 1},
        "era": "pr2159",
    }
    assert run_case(case).reason == STRONGER.reason


def test_a_wrong_expectation_differs() -> None:
    case = next(case for case in CASES if case["name"] == "pr.tile.matching_partial")
    wrong = {**case, "expected": {**case["expected"], "valid_shape": [8, 5]}}
    assert run_case(wrong).status == "differs"
    refused = {**case, "expected": {"status": "reject", "code": "E_AGREE", "dim": 1}}
    assert run_case(refused).status == "differs"
