# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass whose class is not as it must be."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir.passmanager import Pass


@dataclass(frozen=True)
class BrokenOptions(Pass, name="test-broken"):
    """Has a field without help."""

    count: int = 1
