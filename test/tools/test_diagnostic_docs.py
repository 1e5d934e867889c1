# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/diagnostics.md: every code that is told anywhere has a line."""

from __future__ import annotations

import re
from pathlib import Path

from spyre_mlir.diagnostics import CODES

ROOT = Path(__file__).resolve().parents[2]


def test_every_code_of_the_sources_is_in_the_table() -> None:
    told: set[str] = set()
    for folder, endings in (
        ("dialect", (".cpp", ".h", ".td")),
        ("passes", (".py",)),
        ("python", (".py",)),
        ("tools", (".py",)),
    ):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in endings:
                told |= set(re.findall(r"\bSPY\d{3}\b", file.read_text(encoding="utf-8")))
    assert sorted(told - set(CODES)) == []
