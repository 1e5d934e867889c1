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

from spyre_mlir.diagnostics import Refusal

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


def test_a_verifiers_code_after_a_pass_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """With tiles that keep the layout of the whole tensor, which no program asked for."""
    monkeypatch.setattr("spyre_mlir.windows.retile", lambda layout, *_: layout)
    found = [outcome_of(Generator(seed).program(), seeds=1) for seed in range(40)]
    faults = [outcome for outcome in found if "SPY007" in outcome.detail]
    assert faults and all(o.kind == "fault" and "SPY007" in o.signature for o in faults)
    assert not any(outcome.kind == "SPY007" for outcome in found)


TWICE = """
func.func @main(%n: index {spyre.extent = "n"}, %m: index {spyre.extent = "n"}, %x: tensor<8x64xf16>)
    -> tensor<8x64xf16> {
  %0 = spyre.exp %x : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}
"""


@pytest.mark.parametrize(("text", "kind"), [(TWICE, "SPY012"), (None, "fault")])
def test_a_code_of_a_boundary_is_that_of_the_program_or_a_fault(
    monkeypatch: pytest.MonkeyPatch, text: str | None, kind: str
) -> None:
    program = Generator(0).program()
    if text is not None:
        monkeypatch.setattr(Program, "text", lambda _: text)
    else:

        def broken(*_: object, **__: object) -> None:
            raise Refusal("SPY012", "a symbol is introduced twice")

        monkeypatch.setattr("fuzz_outcomes.check", broken)
    assert outcome_of(program, seeds=1).kind == kind


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
