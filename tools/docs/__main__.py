# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the generated pages of docs/, or with `--check` fails if one is not what it would write."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tools.docs import diagnostics, dialects, operations, passes, regions

ROOT = Path(__file__).resolve().parents[2]

PAGES: dict[str, Callable[[], str]] = {
    "diagnostics.md": diagnostics.page,
    "dialect-spyre.md": dialects.spyre,
    "dialect-sdscbundle.md": dialects.sdscbundle,
    "operations.md": operations.page,
    "passes.md": passes.page,
    "valid-regions.md": regions.page,
}


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, page in PAGES.items():
        path, text = ROOT / "docs" / name, page()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            print(f"wrote docs/{name}")
    if check and stale:
        print(
            f"stale: {', '.join('docs/' + name for name in stale)}; run `make docs`",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
