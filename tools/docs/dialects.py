# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/dialect-*.md: reference pages of the dialects, from ODS by mlir-tblgen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import mlir._mlir_libs

ROOT = Path(__file__).resolve().parents[2]
MLIR = Path(mlir._mlir_libs.__file__).parents[1]


def _reference(folder: str, dialect: str) -> str:
    command: list[str | Path] = [
        MLIR / "bin" / "mlir-tblgen",
        "-gen-dialect-doc",
        f"-dialect={dialect}",
        "-I",
        ROOT / "dialect",
        "-I",
        MLIR / "include",
        ROOT / "dialect" / folder / "Operations.td",
    ]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = text.replace("[TOC]\n\n", "")
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"


def spyre() -> str:
    """Attributes and operations of `spyre`."""
    return _reference("Spyre", "spyre")


def sdscbundle() -> str:
    """Types and operations of `sdscbundle`."""
    return _reference("SdscBundle", "sdscbundle")
