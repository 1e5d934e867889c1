# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bundles of the reference compiler, as kept in `test/data/sdsc`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "data" / "sdsc"

FOLDERS: tuple[Path, ...] = tuple(sorted(path.parent for path in ROOT.rglob("bundle.mlir")))
"""Every folder with a bundle."""

assert FOLDERS, f"no observed bundles in {ROOT}"


def name(folder: Path) -> str:
    """Name of a folder for test reports."""
    return str(folder.relative_to(ROOT))


def texts(folder: Path) -> dict[str, str]:
    """The files of a bundle, name -> text."""
    paths = [folder / "bundle.mlir", *sorted(folder.glob("sdsc_*.json"))]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}
