# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre validate`: observed bundles, ours, and a broken one, as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent
OBSERVED = Path(__file__).parents[1] / "data/sdsc/aug/add_fp16_128x256_4core"
TYPE = "tensor<128x256xf16>"
ADD = f"""
func.func @add(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{
  %0 = spyre.add %x, %y : ({TYPE}, {TYPE}) -> {TYPE}
  return %0 : {TYPE}
}}
"""


def validated(folder: Path) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON."""
    command = [BIN / "spyre", "validate", folder, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def test_an_observed_bundle_is_sound() -> None:
    assert validated(OBSERVED) == (
        0,
        {"bundle": str(OBSERVED), "sound": True, "findings": []},
    )


@pytest.mark.parametrize("cores", [1, 4, 32])
def test_ours_is_sound(cores: int, tmp_path: Path) -> None:
    """Also on one core, for which no bundle of the reference was observed."""
    folder = tmp_path / "bundle"
    command = [BIN / "spyre", "compile", "-", "-o", folder, "--cores", str(cores)]
    subprocess.run(command, input=ADD, text=True, check=True, capture_output=True)
    code, found = validated(folder)
    assert (code, found["sound"], found["findings"]) == (0, True, [])
    assert json.loads((folder / "sdsc_0.json").read_text())["0_add"]["numCoresUsed_"] == cores


def test_every_finding_has_code_file_and_path(tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(OBSERVED, folder)
    file = folder / "sdsc_0.json"
    sdsc = json.loads(file.read_text())
    sdsc["0_add"]["numCoresUsed_"] = 5
    file.write_text(json.dumps(sdsc))
    code, found = validated(folder)
    assert code == 1 and not found["sound"] and found["findings"]
    for finding in found["findings"]:
        assert set(finding) == {"code", "file", "place", "message"}
    assert found["findings"][0]["file"] == "sdsc_0.json"
    assert found["findings"][0]["place"].startswith('$["0_add"]')
