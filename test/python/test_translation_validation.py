# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every lit input of a transforming pass is run before and after it, and must mean the same.

Nothing needs to be written for a new test: each RUN line of `test/passes/*.mlir` that runs
`spyre-opt` and expects success is taken, with its own options. What cannot be run says why."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spyre_mlir import ir
from spyre_mlir.interpreter import Bound
from spyre_mlir.interpreter.execution import Output
from spyre_mlir.interpreter.validation import Verdict, difference, validate

ROOT = Path(__file__).resolve().parents[2]
OPT = shutil.which("spyre-opt", path=str(Path(sys.executable).parent))
RUN = re.compile(r"^// RUN:\s*(.*)$", re.MULTILINE)
DROPPED = ("--split-input-file", "--verify-roundtrip")


def run_lines(text: str) -> list[tuple[str, list[str]]]:
    """(input, options) of each `spyre-opt` run of a lit file that expects success."""
    joined = re.sub(r"\\\n// RUN:\s*", " ", text)
    found = []
    for line in RUN.findall(joined):
        command = line.split("|")[0].strip()
        if not command.startswith("spyre-opt ") or "--verify-diagnostics" in command:
            continue
        command = command.removesuffix("2>&1")
        words = [word for word in shlex.split(command)[1:] if word not in DROPPED]
        options = [word for word in words if word.startswith("-")]
        inputs = [word for word in words if not word.startswith("-")]
        if any(word.startswith(("--spyre-", "--pass-pipeline")) for word in options):
            assert len(inputs) == 1, f"one input is expected in: {command}"
            found.append((inputs[0], options))
    return found


def source(path: Path, given: str) -> Path:
    """The input of a RUN line, lit's names for folders replaced."""
    return path if given == "%s" else Path(given.replace("%examples", str(ROOT / "examples")))


def transformed(text: str, options: list[str]) -> str:
    """What `spyre-opt` makes of a module."""
    assert OPT is not None, "spyre-opt is not installed beside this Python"
    done = subprocess.run([OPT, "-", *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def chunks(path: Path) -> list[str]:
    """The modules of a lit file."""
    return path.read_text().split("// -----")


CASES = [
    pytest.param(source(path, given), options, id=f"{path.name}:{' '.join(options)}")
    for path in sorted((ROOT / "test" / "passes").glob("*.mlir"))
    for given, options in run_lines(path.read_text())
]


@pytest.mark.parametrize(("path", "options"), CASES)
def test_a_pass_keeps_the_meaning(path: Path, options: list[str]) -> None:
    verdicts = []
    for text in chunks(path):
        with ir.Context():
            before = ir.Module.parse(text)
            after = ir.Module.parse(transformed(text, options))
            if any(op.operation.name.startswith("sdscbundle.") for op in after.body.operations):
                verdicts.append(Verdict("", "not run", "the bundle interpreter's to run"))
                continue
            verdicts += validate(before, after, seeds=(0, 1))
    wrong = [verdict for verdict in verdicts if verdict.status == "differs"]
    assert not wrong, "\n".join(f"{path.name} @{v.function}: {v.detail}" for v in wrong)
    if all(verdict.status == "not run" for verdict in verdicts):
        pytest.skip("; ".join(f"@{v.function}: {v.detail}" for v in verdicts) or "no function")


GOOD = """
func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.add %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
func.func @g(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %0 = spyre.empty : () -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
func.func @h(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  return %x : tensor<8192x8192xf16>
}
"""


def verdicts(before: str, after: str) -> list[Verdict]:
    with ir.Context():
        return validate(ir.Module.parse(before), ir.Module.parse(after))


def test_the_same_program_is_the_same() -> None:
    same = [(v.function, v.status) for v in verdicts(GOOD, GOOD)]
    assert same == [("f", "same"), ("g", "not run"), ("h", "not run")]


def test_faults_are_found() -> None:
    other = GOOD.replace("spyre.add", "spyre.mul", 1)
    (first, *_) = verdicts(GOOD, other)
    assert first.status == "differs" and "cell [0, 0]" in first.detail
    gone = GOOD.replace("@f", "@renamed")
    assert verdicts(GOOD, gone)[0].detail == "the function is gone"
    unwritten = GOOD.replace("spyre.add %x, %x :", "spyre.add %x, %e :").replace(
        "  %0 = spyre.add", "  %e = spyre.empty : () -> tensor<4x8xf16>\n  %0 = spyre.add"
    )
    assert "SPY130" in verdicts(GOOD, unwritten)[0].detail


def test_tolerances() -> None:
    def output(values: list[float], element: str = "f16") -> Output:
        dtype = {"f16": np.float16, "i32": np.int32}[element]
        return Output(np.array(values, dtype), None, Bound((len(values),), element))

    nan, inf = np.nan, np.inf
    assert difference(output([1, nan, inf, -0.0]), output([1.001, nan, inf, 0.0])) is None
    assert difference(output([1000]), output([1002])) is None
    assert difference(output([1]), output([1.01])) is not None
    assert difference(output([0, 1000, -1000]), output([2, 1000, -1000])) is None  # terms cancel
    assert difference(output([0, 1000, -1000]), output([8, 1000, -1000])) is not None
    assert difference(output([inf]), output([-inf])) is not None
    assert difference(output([nan]), output([1])) is not None
    assert difference(output([3], "i32"), output([4], "i32")) is not None
    assert difference(output([3]), output([3], "i32")) is not None
    assert difference(output([3]), output([3, 3])) is not None
    assert difference(3, 3) is None and difference(3, 4) is not None


def test_run_lines_are_understood() -> None:
    text = (
        "// RUN: spyre-opt %s --split-input-file --spyre-tile | FileCheck %s\n"
        "// RUN: spyre-opt %examples/a.mlir \\\n"
        "// RUN:   --pass-pipeline='builtin.module(func.func(a{b=1 c=2}))'\n"
        "// RUN: spyre-opt %s --spyre-tile --verify-diagnostics\n"
        "// RUN: spyre-opt %s --help | FileCheck %s\n"
        "// RUN: not spyre-opt %s --spyre-tile\n"
    )
    assert run_lines(text) == [
        ("%s", ["--spyre-tile"]),
        ("%examples/a.mlir", ["--pass-pipeline=builtin.module(func.func(a{b=1 c=2}))"]),
    ]


def test_the_tool_in_between_is_run() -> None:
    with ir.Context():
        text = GOOD.split("func.func @g")[0]
        after = ir.Module.parse(transformed(text, ["--canonicalize", "--cse"]))
        assert validate(ir.Module.parse(text), after) == [Verdict("f", "same")]
