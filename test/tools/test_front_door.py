# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre COMMAND`: what it says when something is wrong."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from _spyre_tools import front_door
from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal

SPYRE = Path(sys.executable).parent / "spyre"


def test_every_command_has_a_module() -> None:
    for name in front_door.COMMANDS:
        command = importlib.import_module(f"_spyre_tools.{name}")
        assert callable(command.configure)
        assert callable(command.execute)


def test_no_command_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert front_door.main([]) == 2
    assert front_door.main(["nonsense"]) == 2
    assert "there is no command 'nonsense'" in capsys.readouterr().err
    assert front_door.main(["--help"]) == 0
    assert "doctor" in capsys.readouterr().out
    assert front_door.main(["doctor", "--nonsense"]) == 2


def test_doctor_finds_a_working_installation() -> None:
    done = subprocess.run([SPYRE, "doctor", "--format", "json"], capture_output=True, check=False)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["works"]
    assert {part["part"] for part in found["parts"]} >= {"MLIR", "extension", "passes"}


def wrong_module() -> Exception:
    with ir.Context(), pytest.raises(ir.MLIRError) as caught:
        ir.Module.parse("func.func @f(")
    return caught.value


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Refusal("SPY200", "too early", notes=("a cause",), remedy="later"), "too early"),
        (FileNotFoundError(2, "No such file or directory", "a.mlir"), "a.mlir: No such file"),
        (ValueError("limit is 0"), "limit is 0"),
        (KeyError("x"), "this is a fault of spyre-mlir: KeyError"),
        (wrong_module(), "-:1:"),
    ],
)
@pytest.mark.parametrize("format", ["text", "json"])
def test_errors_are_told_without_a_traceback(
    error: Exception,
    message: str,
    format: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    doctor = importlib.import_module("_spyre_tools.doctor")

    def fail(options: object) -> int:
        raise error

    monkeypatch.setattr(doctor, "execute", fail)
    assert front_door.main(["doctor", "--format", format]) == 1
    told = capsys.readouterr()
    if format == "json":
        assert message in json.loads(told.out)["error"]["message"]
    else:
        assert message in told.err
        assert "Traceback" not in told.err
    if isinstance(error, Refusal) and format == "text":
        assert told.err == "error: SPY200: too early\nnote: a cause\nremedy: later\n"
