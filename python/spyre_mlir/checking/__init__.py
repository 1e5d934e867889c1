# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a program means the same at every stage of its compilation, down to the bytes of its bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spyre_mlir.checking.report import Fault, Report, StageReport

if TYPE_CHECKING:
    from spyre_mlir.checking.comparison import check

__all__ = ["Fault", "Report", "StageReport", "check"]


def __getattr__(name: str) -> Any:
    # Reports need no MLIR, checking does.
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spyre_mlir.checking.comparison import check

    return check
