# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every benchmark in turn, each in a process of its own, and sums up which kept its limits.

A benchmark is a file `bench_*.py` here. It prints, for each thing measured, the figure or ratio and
its limit, and ends with exit code 1 if one is over."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

VERDICTS = {0: "within limits", 1: "OVER A LIMIT"}


def main() -> int:
    """Prints what the benchmarks print, then a table of verdicts; 1 if one is over or fails."""
    rows = []
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {script.stem}", flush=True)
        start = time.monotonic()
        code = subprocess.run([sys.executable, script], check=False).returncode
        rows.append((script.stem, time.monotonic() - start, code))
    print("==")
    for name, seconds, code in rows:
        print(f"{name:20} {seconds:5.1f} s  {VERDICTS.get(code, f'failed with code {code}')}")
    return int(any(code for _, _, code in rows))


if __name__ == "__main__":
    sys.exit(main())
