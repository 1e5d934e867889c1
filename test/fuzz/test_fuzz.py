# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of the fuzzer in every run of the tests: 300 programs, in child processes. `make nightly` runs 10 000."""

from __future__ import annotations

import argparse
import json

import pytest
import run
from fuzz_generator import Generator
from fuzz_outcomes import Outcome, outcome_of
from fuzz_programs import Program
from fuzz_reducer import reduce, regression_file

SEEDS = 300

LEAST_SHARE = 0.7
"""Of programs that are compiled; the others are refused with a code."""


@pytest.mark.timeout(180)
def test_random_programs_mean_the_same_at_every_stage() -> None:
    summary = run.run(argparse.Namespace(seconds=None, seeds=(0, SEEDS), jobs=2, inputs=1))
    assert not summary["faults"], json.dumps(summary, indent=2)
    assert summary["programs"] == SEEDS
    assert summary["share"] >= LEAST_SHARE, summary["kinds"]


def test_the_same_seed_gives_the_same_program() -> None:
    for seed in range(20):
        assert Generator(seed).program() == Generator(seed).program()
        assert Generator(seed).program().text() == Generator(seed).program().text()


def test_children_that_crash_or_hang_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = "import json, os; print(json.dumps({'seed': 0}), flush=True); os.abort()"
    hang = "import json, time; print(json.dumps({'seed': 0}), flush=True); time.sleep(60)"
    monkeypatch.setattr(run, "TIMEOUT", 1.0)
    for script, kind in ((crash, "crash"), (hang, "hang")):
        (line,) = run.outcomes(0, 1, lambda *_, s=script: [run.sys.executable, "-c", s])
        assert line["kind"] == kind and line["seed"] == 0


def test_faults_are_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a compiler that cannot compile `exp`, a program is reduced to that operation."""

    def outcome(program: Program, **_: object) -> Outcome:
        bad = any(statement.op == "exp" for statement in program.statements)
        program.text()
        return Outcome("fault", "no exp") if bad else Outcome("same")

    monkeypatch.setattr("fuzz_reducer.outcome_of", outcome)
    seed = next(
        s
        for s in range(1000)
        if len(Generator(s).program().statements) > 3
        and outcome(Generator(s).program()).kind == "fault"
    )
    small = reduce(Generator(seed).program(), "no exp")
    assert [statement.op for statement in small.statements] == ["exp"]
    assert all(extent == 1 for extent in small.arguments[0].shape) and small.cores == 1
    text = regression_file(small, "no exp")
    assert text.startswith("// RUN: spyre check %s --cores 1\n")
    assert outcome_of(small) == Outcome("same")
