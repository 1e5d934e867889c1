# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre specs`: an op spec list becomes a bundle, or the module that says the same."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from _spyre_tools import front_door

FOLDER = Path(__file__).parents[1] / "data/sdsc/aug/so_mm_64x1024x64_span32768_4core"


@pytest.mark.parametrize("name", ["op_specs.json", "op_specs.txt"])
def test_the_bundle_is_that_of_the_reference(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    assert front_door.main(["specs", str(FOLDER / name), "-o", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "bundle.mlir",
        "sdsc_0.json",
        "sdsc_1.json",
        "sdsc_2.json",
    ]
    text = (FOLDER / "bundle.mlir").read_text()
    assert (folder / "bundle.mlir").read_text().split() == text.split()
    assert front_door.main(["validate", str(folder)]) == 0


def test_the_module_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO((FOLDER / "op_specs.json").read_bytes()))
    )
    assert front_door.main(["specs", "-", "--mlir"]) == 0
    text = capsys.readouterr().out
    assert 'sdscbundle.sdsc @sdsc_1 "batchmatmul" on "pt"' in text
    assert "sdscbundle.launch @sdsc_2" in text


def test_what_goes_wrong_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[3]")))
    assert front_door.main(["specs", "-"]) == 1
    assert "say where to" in capsys.readouterr().err
    assert front_door.main(["specs", "-", "--mlir"]) == 1
    assert "error: SPY094: $[0]: expected an object" in capsys.readouterr().err
