# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaffold of a pass: `python -m tools.new_pass verb-object` writes the module and its two tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MODULE = '''\
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""{argument}: what the pass does, in one line."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir
from spyre_mlir.passmanager import Pass, option, statistic


@dataclass(frozen=True)
class {class_name}(Pass, name="{argument}", anchor="func.func", dependent_dialects=("spyre",)):
    """Counts the operations of a function."""

    enabled: bool = option(True, help="whether to do anything")
    seen = statistic("operations seen")

    def run(self, op: ir.Operation) -> None:
        if self.enabled:
            self.seen.add(sum(1 for block in op.regions[0] for _ in block))
'''

TEST = """\
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func({argument}))' | FileCheck %s

// CHECK-LABEL: @f
func.func @f() {{
  return
}}
"""

INVALID = """\
// RUN: spyre-opt %s --pass-pipeline='builtin.module(func.func({argument}))' --split-input-file --verify-diagnostics

func.func @f() {{
  return
}}
"""


def main() -> int:
    if len(sys.argv) != 2 or not re.fullmatch(r"[a-z]+(-[a-z]+)+", sys.argv[1]):
        print("usage: make new-pass NAME=verb-object", file=sys.stderr)
        return 2
    stem = sys.argv[1]
    names = {
        "argument": f"spyre-{stem}",
        "class_name": "".join(part.capitalize() for part in stem.split("-")),
    }
    files = {
        f"passes/{stem.replace('-', '_')}.py": MODULE,
        f"test/passes/{stem}.mlir": TEST,
        f"test/passes/{stem}-invalid.mlir": INVALID,
    }
    taken = [name for name in files if (ROOT / name).exists()]
    if taken:
        print(f"not written, exists already: {', '.join(taken)}", file=sys.stderr)
        return 1
    for name, template in files.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(template.format(**names))
        print(f"wrote {name}")
    print("now: make docs && make test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
