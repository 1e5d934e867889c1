# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-mlir: a compiler mid-end for the Spyre accelerator, in MLIR, driven from Python.

Importing this package loads neither MLIR nor numpy nor sympy; the public names load what they need
when first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC: dict[str, str] = {
    "Bundle": "spyre_mlir.compiler",
    "check": "spyre_mlir.checking",
    "compile": "spyre_mlir.compiler",
    "run": "spyre_mlir.interpreter",
}
"""Public name -> module that defines it, loaded on first use."""

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'spyre_mlir' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
