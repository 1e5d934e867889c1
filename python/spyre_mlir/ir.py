# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR's Python classes, with the dialects of this project registered.

Everything of `mlir.ir`, plus the attribute classes of `spyre`. A context made after this import knows the dialects;
`register(context)` adds them to one that was made before.
"""

from __future__ import annotations

# The MLIR libraries must be loaded before the extension: it finds them by name.
import mlir._mlir_libs as _libs
from mlir.ir import *  # noqa: F403
from mlir.ir import Context

from spyre_mlir._mlir_libs import _spyre
from spyre_mlir._mlir_libs._spyre import (
    EncodingAttr as EncodingAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    ExtentAttr as ExtentAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    LayoutAttr as LayoutAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    PlaceAttr as PlaceAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    TileLevelAttr as TileLevelAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    TilePlanAttr as TilePlanAttr,
)
from spyre_mlir._mlir_libs._spyre import (
    WorkDivisionAttr as WorkDivisionAttr,
)

_spyre.register_dialects(_libs.get_dialect_registry())
# Without the prefix, operations read back as plain OpView even when their classes exist.
_libs._mlir.globals.append_dialect_search_prefix("spyre_mlir.dialects")


def register(context: Context) -> None:
    """Adds the dialects to a context that was made before this module was imported."""
    context.append_dialect_registry(_libs.get_dialect_registry())
