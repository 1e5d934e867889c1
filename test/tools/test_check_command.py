# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre check` on the command line: text, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from _spyre_tools import front_door

ADD = """func.func @main(%x: tensor<8x4x64xf16>, %y: tensor<8x4x64xf16>) -> tensor<8x4x64xf16> {
  %0 = spyre.add %x, %y : (tensor<8x4x64xf16>, tensor<8x4x64xf16>) -> tensor<8x4x64xf16>
  return %0 : tensor<8x4x64xf16>
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.mlir"
    path.write_text(ADD)
    return str(path)


def test_text(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", file, "--seeds", "3", "--cores", "2", "--span-limit", "1024"]
    assert front_door.main(words) == 0
    told = capsys.readouterr().out
    assert "same     device spyre-plan-memory" in told
    assert told.endswith("@main: same (3 seeds)\n")


def test_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert front_door.main(["check", file, "--format", "json", "--no-plan"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "same" and report["function"] == "main" and report["seeds"] == 2
    assert {stage["level"] for stage in report["stages"]} == {"tensor", "device", "bundle"}
    assert report["fault"] is None and report["scaling"] is None


def test_what_means_nothing_is_not_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ADD.replace("add", "div").replace("f16", "i32")
    (tmp_path / "a.mlir").write_text(text)
    assert front_door.main(["check", str(tmp_path / "a.mlir")]) == 1
    assert "not run  tensor as given: SPY131" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--span-limit", "128", "--cores", "1", "--seeds", "0"], "'0' is no whole number"),
        (["--policy", "none"], "invalid choice: 'none'"),
        (["--cores", "33"], "'cores' is 33"),
    ],
)
def test_wrong_words(
    words: list[str], message: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert front_door.main(["check", file, *words]) in (1, 2)
    assert message in capsys.readouterr().err


def test_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.mlir").write_text(ADD.replace("spyre.add", "spyre.fmod"))
    assert front_door.main(["check", str(tmp_path / "a.mlir")]) == 1
    assert "SPY096" in capsys.readouterr().err
