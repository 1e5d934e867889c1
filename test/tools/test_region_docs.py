# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/valid-regions.md names every rule, every operation and every exclusion."""

from __future__ import annotations

from tools.docs import regions

from spyre_mlir.cases.region_cases import EXCLUSIONS
from spyre_mlir.optable import OPS
from spyre_mlir.regions import RULES


def test_the_page_is_complete() -> None:
    page = regions.page()
    for name, rule in RULES.items():
        assert rule.__doc__ and f"| {name} |" in page
    for name in OPS:
        assert name in page
    for exclusion in EXCLUSIONS:
        assert f"| {exclusion.name} | {exclusion.reason} |" in page
