# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre run`: files in, files and reports out, no traceback for bad input."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spyre_mlir.commands.run import main

PROGRAM = """
func.func @f(%n: index {spyre.extent = "n", spyre.range = array<i64: 1, 4>},
    %x: tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>)
    -> (tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>, tensor<8xf16>) {
  %0 = spyre.neg %x : (tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>)
    -> tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>
  %1 = spyre.max %0 {dims = [0]} : (tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>)
    -> tensor<8xf16>
  return %0, %1 : tensor<4x8xf16, #spyre.encoding<valid_shape = [n, 8]>>, tensor<8xf16>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "f.mlir"
    path.write_text(PROGRAM)
    return str(path)


def test_arrays_in_and_out(program: str, tmp_path: Path) -> None:
    x = np.arange(32, dtype=np.float16).reshape(4, 8)
    np.save(tmp_path / "x.npy", x)
    out = tmp_path / "out.npy"
    given = ["--symbol", "n=3", "--input", str(tmp_path / "x.npy"), "-o", str(out)]
    assert main([program, *given]) == 0
    assert (np.load(tmp_path / "out_0.npy") == -x[:3]).all()
    assert (np.load(tmp_path / "out_1.npy") == (-x[:3]).max(axis=0)).all()
    assert not list(tmp_path.glob(".*tmp"))


def test_json_report(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    reports = []
    for seed in (1, 1, 2):
        assert main([program, "--seed", str(seed), "--format", "json"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[0] == reports[1] != reports[2]
    report = reports[0]
    assert report["function"] == "f" and report["symbols"] == {"n": 4} and report["seed"] == 1
    first = report["outputs"][0]
    assert first["shape"] == [4, 8] and first["valid_shape"] == [4, 8]
    assert first["element"] == "f16" and len(first["sha256"]) == 64
    assert first["statistics"]["min"] <= first["statistics"]["mean"] <= first["statistics"]["max"]


def test_statistics_and_checksum_are_of_the_valid_cells(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.full((2, 8), np.float16(2))
    x[0, 0], x[1, 1] = np.inf, np.nan
    np.save(tmp_path / "x.npy", x)
    given = ["--symbol", "n=2", "--input", str(tmp_path / "x.npy"), "--format", "json"]
    assert main([program, *given]) == 0
    output = json.loads(capsys.readouterr().out)["outputs"][0]
    assert output["statistics"] == {"min": -2, "max": -2, "mean": -2, "nan": 1, "infinite": 1}
    assert output["sha256"] == hashlib.sha256((-x).tobytes()).hexdigest()
    assert main([program, *given[:-2]]) == 0
    assert "valid [2, 8]" in capsys.readouterr().out


BAD: list[tuple[list[str], str]] = [
    (["--symbol", "n"], "SPY134: --symbol 'n' is not NAME=VALUE"),
    (["--symbol", "n=9"], "SPY134: symbol n is 9, outside"),
    (["--symbol", "k=9"], "SPY134: @f has no argument for the symbol k"),
    (["--function", "g"], "SPY137: there is no function @g"),
    (["--input", "missing.npy"], "missing.npy: No such file"),
    (["--input", "PROGRAM"], "SPY135: .*no .npy file"),
    (["-o", "/nowhere/at/all/x.npy"], "/nowhere/at/all/x_0.npy: No such file"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_a_message(
    program: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    arguments = [program if a == "PROGRAM" else a for a in arguments]
    assert main([program, *arguments]) == 1
    assert re.search(f"error: {message}", capsys.readouterr().err)
    assert main([program, *arguments, "--format", "json"]) == 1
    error: Any = json.loads(capsys.readouterr().out)["error"]
    assert error["message"]


def test_bad_files_and_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert "none.mlir: No such file" in capsys.readouterr().err
    (tmp_path / "bad.mlir").write_text("func.func @f( {")
    assert main([str(tmp_path / "bad.mlir")]) == 1
    assert "bad.mlir" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
    assert main([]) == 2
    assert main(["x.mlir", "--seed", "one"]) == 2


def test_refusals_say_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hole.mlir"
    path.write_text(
        "func.func @f() -> tensor<4xf32> {\n"
        "  %e = spyre.empty : () -> tensor<4xf32>\n"
        "  %r = spyre.exp %e : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %r : tensor<4xf32>\n}\n"
    )
    assert main([str(path)]) == 1
    text = capsys.readouterr().err
    assert "SPY130: spyre.exp" in text and 'hole.mlir":3:' in text


SCALED = """
func.func @f(%x: tensor<10x6x128xf16>, %s: f16) -> tensor<10x6x128xf16> {
  %half = arith.constant 0.5 : f16
  %0 = spyre.mul %x, %s : (tensor<10x6x128xf16>, f16) -> tensor<10x6x128xf16>
  %1 = spyre.add %0, %half : (tensor<10x6x128xf16>, f16) -> tensor<10x6x128xf16>
  return %1 : tensor<10x6x128xf16>
}
"""


@pytest.mark.parametrize("stage", ["tensor", "device", "bundle"])
def test_every_stage_computes_the_program(
    stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scaled.mlir"
    path.write_text(SCALED)
    given = ["--stage", stage, "--cores", "2", "--span-limit", "2048", "--format", "json"]
    assert main([str(path), *given, "-o", str(tmp_path / "out.npy")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["stage"] == stage
    assert main([str(path), "-o", str(tmp_path / "meant.npy")]) == 0
    assert (np.load(tmp_path / "out.npy") == np.load(tmp_path / "meant.npy")).all()


ROWS = """
#rows = #spyre.encoding<valid_shape = [n, 8]>
func.func @f(%n: index {spyre.extent = "n", spyre.range = array<i64: 1, 4>},
    %x: tensor<4x8xf16, #rows>) -> tensor<4x8xf16, #rows> {
  %0 = spyre.neg %x : (tensor<4x8xf16, #rows>) -> tensor<4x8xf16, #rows>
  return %0 : tensor<4x8xf16, #rows>
}
"""


@pytest.mark.parametrize("stage", ["tensor", "device", "bundle"])
def test_every_stage_takes_values_of_symbols(stage: str, tmp_path: Path) -> None:
    path, x = tmp_path / "rows.mlir", np.arange(24, dtype=np.float16).reshape(3, 8)
    path.write_text(ROWS)
    np.save(tmp_path / "x.npy", x)
    given = ["--symbol", "n=3", "--input", str(tmp_path / "x.npy"), "--cores", "2"]
    out = tmp_path / "out.npy"
    assert main([str(path), *given, "--stage", stage, "-o", str(out)]) == 0
    assert (np.load(out) == -x).all()


@pytest.mark.parametrize("stage", ["tensor", "device", "bundle"])
@pytest.mark.parametrize("introduced", ["", '%n: index {spyre.extent = "n"}, '])
def test_every_stage_takes_symbols_of_types(
    stage: str, introduced: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program itself could not be run where only types use a symbol."""
    start = ROWS.index("%n:"), ROWS.index("%x:")
    path = tmp_path / "rows.mlir"
    path.write_text(ROWS[: start[0]] + introduced + ROWS[start[1] :])
    assert main([str(path), "--stage", stage, "--symbol", "n=3"]) == 0
    assert "valid [3, 8]" in capsys.readouterr().out
    assert main([str(path), "--stage", stage]) == 1
    assert "remedy: give it a value, by --symbol n=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--symbol", "n=2", "--symbol", "n=3"], 1, "--symbol gives n two values, 2 and 3"),
        (["--symbol", "n=--3"], 1, "is not NAME=VALUE"),
        (["--symbol", "n=\u00b2"], 1, "is not NAME=VALUE"),
        (["--seed", "-1"], 2, "'-1' is no whole number from 0 on"),
        (["--steps", "-1"], 2, "'-1' is no whole number from 0 on"),
        (["--cores", "33"], 1, "option 'cores' is 33; it must be from 1 to 32"),
        (["--span-limit", "0"], 1, "option 'span-limit' is 0; it must be from 1 to 268431360"),
    ],
)
def test_values_that_are_none(
    words: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At every stage, also where the program is not compiled."""
    path = tmp_path / "rows.mlir"
    path.write_text(ROWS)
    assert main([str(path), *words]) == code
    assert message in capsys.readouterr().err


def test_a_program_that_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sine.mlir"
    path.write_text(
        "func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
        "  %0 = spyre.sin %x : (tensor<4xf16>) -> tensor<4xf16>\n"
        "  return %0 : tensor<4xf16>\n}\n"
    )
    assert main([str(path)]) == 0
    assert main([str(path), "--stage", "bundle"]) == 1
    assert "SPY096" in capsys.readouterr().err


ENDLESS = """
func.func @f() -> index {
  %zero = arith.constant 0 : index
  %0 = scf.while (%i = %zero) : (index) -> index {
    %yes = arith.constant true
    scf.condition(%yes) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %i : index
  }
  return %0 : index
}
"""

RECURSIVE = """
func.func @f(%i: index) -> index {
  %0 = func.call @f(%i) : (index) -> index
  return %0 : index
}
"""


@pytest.mark.parametrize("text", [ENDLESS, RECURSIVE])
def test_a_program_that_never_ends(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text(text)
    assert main([str(path), "--steps", "10000"]) == 1
    assert "SPY147" in capsys.readouterr().err


def test_steps_count_in_every_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scaled.mlir"
    path.write_text(SCALED)
    for stage in ("tensor", "device", "bundle"):
        assert main([str(path), "--stage", stage, "--steps", "1", "--span-limit", "2048"]) == 1
        assert "SPY147" in capsys.readouterr().err
