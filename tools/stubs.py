# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type stub of the extension: `python -m tools.stubs` writes it, `--check` says whether it is stale."""

from __future__ import annotations

import sys
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "python/spyre_mlir/_mlir_libs/_spyre.pyi"


def text() -> str:
    """What the extension says of itself, in the names that its users import."""
    import nanobind.stubgen

    from spyre_mlir import ir  # noqa: F401  (loads what the extension needs)
    from spyre_mlir._mlir_libs import _spyre

    generator = nanobind.stubgen.StubGen(_spyre, quiet=True)
    generator.put(_spyre)
    found: str = generator.get()
    found = found.replace("mlir._mlir_libs._mlir.ir.Attribute", "mlir.ir.Attribute")
    return found.replace("def __repr__(self) -> object", "def __repr__(self) -> str")


def main() -> int:
    stub = text()
    if STUB.exists() and STUB.read_text() == stub:
        return 0
    if sys.argv[1:] == ["--check"]:
        print("the stub of the extension is stale; run `make stubs`", file=sys.stderr)
        return 1
    STUB.write_text(stub)
    print(f"wrote {STUB.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
