# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work division and memory planning: microseconds per operation, by size and against limits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import contiguous_strides, device_layout
from spyre_mlir.memory import (
    Carried,
    Compute,
    Empty,
    Loop,
    Program,
    Step,
    Update,
    View,
    plan_memory,
)
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.work_division import divide, divide_work, work_of

LIMITS = {"elementwise, known": 60.0, "matmul, new": 1000.0, "memory": 60.0}
"""Microseconds per operation."""


def access(label: str, sizes: dict[str, int], written: bool = False) -> Access:
    """A contiguous f16 tensor, one symbol per dim."""
    shape = tuple(sizes.values())
    strides = contiguous_strides(shape)
    index = flat_index([symbol(name) for name in sizes], strides)
    layout = device_layout(shape, "f16")
    return Access(label, label, layout, "f16", index, written, shape, strides)


def elementwise(number: int) -> Kernel:
    """An addition of two tensors."""
    sizes = {"c0": 128, "c1": 4096}
    dims = tuple(Dim(name, size) for name, size in sizes.items())
    operands = (access("a", sizes), access("b", sizes), access("r", sizes, written=True))
    return Kernel(f"add{number}", "binary", dims, operands)


def matmul(rows: int) -> Kernel:
    """A product of 4096 columns over 4096."""
    dims = (Dim("m", rows), Dim("n", 4096), Dim("k", 4096, reduction=True))
    operands = (
        access("a", {"m": rows, "k": 4096}),
        access("b", {"k": 4096, "n": 4096}),
        access("r", {"m": rows, "n": 4096}, written=True),
    )
    return Kernel("matmul", "contract", dims, operands)


def chain(length: int) -> Program:
    """Operations of which each reads the two before it."""
    body = tuple(Compute(n, (n - 1, max(n - 2, 0)), n) for n in range(1, length))
    return Program((0,), body, (length - 1,), dict.fromkeys(range(length), 4096))


def loops(length: int) -> Program:
    """Loops of four operations, each of which fills a tensor tile by tile."""
    steps: list[Step] = []
    for base in range(10, 10 + length // 4 * 10, 10):
        body = (
            View(0, base + 2, part=True, window=base),
            Compute(base, (base + 2,), base + 3),
            Update(base, base + 3, base + 1, base + 4, base),
        )
        carried = (Carried(base, base + 1, base + 4, base + 5),)
        steps += [Empty(base), Loop(base, carried, body)]
    return Program((0,), tuple(steps), (), dict.fromkeys(range(length * 10), 4096))


def microseconds(run: Callable[[], object], operations: int, repeats: int = 5) -> float:
    """The best of some runs, per operation."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / operations * 1e6


def measure() -> list[tuple[str, float, float | None]]:
    """(what, microseconds per operation, limit)."""
    kernels = [elementwise(number) for number in range(1000)]
    work = work_of(kernels[0])
    products = [work_of(matmul(rows)) for rows in (64, 720, 2048)]
    # What is measured as new must not be found in the memory of earlier calls.
    new = divide_work.__wrapped__
    rows: list[tuple[str, float, float | None]] = [
        (
            "elementwise, known",
            microseconds(lambda: [divide(kernel) for kernel in kernels], len(kernels)),
            LIMITS["elementwise, known"],
        ),
        ("elementwise, new", microseconds(lambda: new(work), 1, 50), None),
    ]
    slowest = max(microseconds(lambda w=w: new(w), 1, 20) for w in products)  # type: ignore[misc]
    rows.append(("matmul, new", slowest, LIMITS["matmul, new"]))
    for length in (1_000, 10_000, 100_000):
        for make in (chain, loops):
            program = make(length)
            cost = microseconds(lambda p=program: plan_memory(p), length, 2)  # type: ignore[misc]
            rows.append((f"memory, {make.__name__} of {length}", cost, LIMITS["memory"]))
    return rows


def main() -> int:
    """Prints the figures; 1 if one is above its limit."""
    failed = False
    for what, cost, limit in measure():
        bound = "" if limit is None else f" (limit {limit:.0f})"
        print(f"{what}: {cost:.1f} us per operation{bound}")
        failed |= limit is not None and cost > limit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
