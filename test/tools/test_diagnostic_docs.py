# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/diagnostics.md: every code that is told anywhere has a line."""

from __future__ import annotations

import re
from pathlib import Path

from spyre_mlir.diagnostics import CODES

ROOT = Path(__file__).resolve().parents[2]
RANGE = r"SPY\d{3}\s+to\s+SPY\d{3}"
"""A block of codes, whose last one need not exist."""


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
                text = re.sub(RANGE, "", file.read_text(encoding="utf-8"))
                told |= set(re.findall(r"\bSPY\d{3}\b", text))
    assert sorted(told - set(CODES)) == []
