# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of the package and of the passes that the Python tests run, and which they do not.

Child processes are not measured: what only the command lines run counts as not run. Fails below `LEAST` percent."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

LEAST = 95.0
"""Percent of the lines that have to be run."""

ROOT = Path(__file__).resolve().parents[1]

MEASURED = ("python/spyre_mlir", "passes")

LEFT_OUT = ("*_gen.py", "*/_mlir_libs/*", "*/dialects/_*")
"""Generated code."""


def measure(tests: list[str], data: Path) -> dict[str, tuple[int, list[int]]]:
    """Runs pytest; file -> (statements, lines that were not run)."""
    run = [sys.executable, "-m", "coverage", "run", f"--data-file={data}"]
    run += [f"--source={','.join(str(ROOT / folder) for folder in MEASURED)}"]
    run += [f"--omit={','.join(LEFT_OUT)}", "-m", "pytest", "-q", *tests]
    subprocess.run(run, cwd=ROOT, check=False)
    report = subprocess.run(
        [sys.executable, "-m", "coverage", "json", f"--data-file={data}", "-o", "-", "-q"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {
        name: (found["summary"]["num_statements"], found["missing_lines"])
        for name, found in json.loads(report.stdout)["files"].items()
    }


def ranges(lines: list[int]) -> str:
    """Line numbers as ranges: 3-5, 9."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def main() -> int:
    """Prints the report; 1 if too few lines are run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "coverage")
    parser.add_argument("tests", nargs="*", help="of pytest (default: all)")
    options = parser.parse_args()
    options.data.parent.mkdir(parents=True, exist_ok=True)
    files = measure(options.tests, options.data)
    statements = sum(count for count, _ in files.values())
    missed = sum(len(lines) for _, lines in files.values())
    for name, (count, lines) in sorted(files.items()):
        if lines:
            print(f"{100 * (1 - len(lines) / count):6.1f} %  {name}: {ranges(lines)}")
    share = 100 * (1 - missed / max(1, statements))
    print(f"{share:6.1f} %  of {statements} lines in {len(files)} files")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
