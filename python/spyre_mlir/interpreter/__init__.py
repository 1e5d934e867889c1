# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter: what every program means, on numpy arrays.

Cells outside a tensor's valid region are poison, and so are cells of `spyre.empty` that were not
yet written; a program in which poison reaches a valid cell is refused (SPY130). The spyre
operations take their meaning from the operation table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spyre_mlir.interpreter.apply import evaluate
from spyre_mlir.interpreter.calls import Value
from spyre_mlir.interpreter.cells import DTYPES, Bound, Cells

if TYPE_CHECKING:
    from spyre_mlir.interpreter.device import run_device
    from spyre_mlir.interpreter.execution import Output, execute, run

__all__ = [
    "DTYPES",
    "Bound",
    "Cells",
    "Output",
    "Value",
    "evaluate",
    "execute",
    "run",
    "run_device",
]


def __getattr__(name: str) -> Any:
    # Programs need MLIR, single operations do not.
    if name == "run_device":
        from spyre_mlir.interpreter import device

        return device.run_device
    if name not in ("Output", "execute", "run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from spyre_mlir.interpreter import execution

    return getattr(execution, name)
