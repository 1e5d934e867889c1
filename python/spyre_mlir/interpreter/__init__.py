# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter: what every program means, on numpy arrays.

Cells outside a tensor's valid region are poison, and so are cells of `spyre.empty` that were not
yet written; a program in which poison reaches a valid cell is refused (SPY130). The spyre
operations take their meaning from the operation table."""

from __future__ import annotations

from spyre_mlir.interpreter.apply import Value, evaluate
from spyre_mlir.interpreter.cells import DTYPES, Bound, Cells

__all__ = ["DTYPES", "Bound", "Cells", "Value", "evaluate"]
