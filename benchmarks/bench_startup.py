# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Start-up of `spyre-opt` on an empty module against `mlir-opt`: medians of interleaved runs."""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15
LIMIT = 3.0
"""The most that `spyre-opt` may take, in multiples of `mlir-opt`."""


def tools() -> tuple[str, str]:
    """Paths of `mlir-opt` and `spyre-opt`.

    Raises FileNotFoundError if one is not installed."""
    spec = importlib.util.find_spec("mlir._mlir_libs")
    theirs = Path(spec.origin).parents[1] / "bin" / "mlir-opt" if spec and spec.origin else None
    ours = shutil.which("spyre-opt", path=str(Path(sys.executable).parent))
    if theirs is None or not theirs.exists():
        raise FileNotFoundError("mlir-opt is not installed")
    if ours is None:
        raise FileNotFoundError("spyre-opt is not installed beside this Python")
    return str(theirs), ours


def seconds(command: str) -> float:
    """Time of one run on the empty module."""
    start = time.perf_counter()
    subprocess.run([command, "-"], input=b"", stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(runs: int = RUNS) -> tuple[float, float]:
    """Median seconds of `mlir-opt` and of `spyre-opt`; the first run of each does not count."""
    theirs, ours = tools()
    seconds(theirs), seconds(ours)
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(runs)]
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


def main() -> int:
    """Prints the ratio; 1 if it is above the limit."""
    theirs, ours = measure()
    ratio = ours / theirs
    print(
        f"start-up: mlir-opt {theirs * 1e3:.0f} ms, spyre-opt {ours * 1e3:.0f} ms, "
        f"ratio {ratio:.2f} (limit {LIMIT:.0f})"
    )
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
