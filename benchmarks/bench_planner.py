# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The planner: microseconds per operation, each operation new to it.

Every operation has a shape of its own, so that no plan, span or coordinate is found in the memory
of an earlier call; the kernels themselves are built before."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.kernels import Kernel
from spyre_mlir.tiling import Options, plan_tiles

LIMITS = {"fits": 20.0, "overflows": 200.0}
"""Microseconds per operation."""

COUNT = 1000


def additions(first: int, rows: int) -> list[Kernel]:
    """Elementwise operations of two operands, every one with another number of rows."""
    return [kernels_of("add", [(2, first + i, rows, 64)] * 2, "f16")[0] for i in range(COUNT)]


def sums(first: int) -> list[Kernel]:
    """Sums over dim 0: two dims overflow at a small limit."""
    return [kernels_of("sum dim=0", [(2, first + i, 16, 64)], "f16")[0] for i in range(COUNT)]


def matmuls(first: int, inner: int) -> list[Kernel]:
    """Products with a weight of `inner` columns, up to several hundred megabytes."""
    columns = [64 * (first + i) for i in range(COUNT)]
    return [kernels_of("linear(x,w)", [(1, inner), (n, inner)], "f16")[1] for n in columns]


def beyond_the_cap(first: int) -> list[Kernel]:
    """Four large dims, two of which need more tiles than the cap."""
    shapes = [(4096, first + i, 4096, 64) for i in range(COUNT)]
    return [kernels_of("add", [shape] * 2, "f16")[0] for shape in shapes]


def microseconds(kernels: list[Kernel], options: Options) -> float:
    """Of processor time per operation, over all of them once."""
    gc.collect()
    gc.freeze()  # the collector need not walk the thousand kernels while one is planned
    start = time.process_time()
    for kernel in kernels:
        plan_tiles(kernel, options)
    return (time.process_time() - start) / len(kernels) * 1e6


def measure() -> list[tuple[str, float, float]]:
    """(what, microseconds per operation, limit)."""
    makers: list[tuple[str, str, Callable[[], list[Kernel]], Options]] = [
        ("elementwise", "fits", lambda: additions(2000, 64), Options()),
        ("matmul", "fits", lambda: matmuls(100, 1024), Options()),
        ("elementwise", "overflows", lambda: additions(8195, 256), Options()),
        ("sum, two dims", "overflows", lambda: sums(100), Options(span_limit=8192)),
        ("matmul", "overflows", lambda: matmuls(700, 4096), Options()),
        ("beyond the cap", "overflows", lambda: beyond_the_cap(4000), Options()),
    ]
    found = []
    for what, verdict, make, options in makers:
        cost = microseconds(make(), options)
        found.append((f"planning, {what}, {verdict}", cost, LIMITS[verdict]))
    return found


def main() -> int:
    """Prints the figures; 1 if one is above its limit."""
    failed = False
    for what, cost, limit in measure():
        print(f"{what}: {cost:.1f} us per operation (limit {limit:.0f})")
        failed |= cost > limit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
