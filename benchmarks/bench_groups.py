# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What planning a whole program costs: layers of a model, and long chains, all of them in tiles.

    python benchmarks/bench_groups.py

prints the seconds of processor time that `spyre_mlir.planning.plan_function` takes of a program whose layouts
are assigned, the first time and again, and fails if 1000 operations take longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from models import HEADS, HIDDEN, INNER, SHARED, WIDTH, Model, Value, attention, gated_mlp

from spyre_mlir import builders as b
from spyre_mlir import ir, passmanager
from spyre_mlir.explanations import BEFORE_PLANNING
from spyre_mlir.operations import walk
from spyre_mlir.planning import plan_function
from spyre_mlir.tiling import Options

LIMIT = 1.0
"""Seconds for 1000 operations."""


def layers(tokens: int, count: int) -> Model:
    """Attention and MLP blocks, one behind the other, with the same weights."""
    first = attention(tokens, HIDDEN, HEADS, SHARED, WIDTH)
    second = gated_mlp(tokens, HIDDEN, INNER)
    own = len(first.shapes) - 1

    def body(x: Value, *weights: Value) -> Value:
        for _ in range(count):
            x = second.body(first.body(x, *weights[:own]), *weights[own:])
        return x

    return Model("", first.shapes + second.shapes[1:], body)


def chain(count: int) -> Model:
    """Elementwise operations, each of what the one before made."""
    kinds = ("exp", "neg", "relu", "abs")

    def body(x: Value) -> Value:
        for number in range(count):
            x = b.build(kinds[number % 4], x)
        return x

    return Model("", ((8192, 65536),), body)


def ladder(count: int) -> Model:
    """Pairs of operations that both read the pair before."""

    def body(x: Value, y: Value) -> Value:
        for _ in range(count // 2):
            x, y = b.add(x, y), b.mul(x, y)
        return b.add(x, y)

    return Model("", ((8192, 65536),) * 2, body)


PROGRAMS: dict[str, Callable[[], Model]] = {
    "18 layers, 32768 tokens": lambda: layers(32768, 18),
    "18 layers, 4096 tokens": lambda: layers(4096, 18),
    "chain": lambda: chain(1000),
    "ladder": lambda: ladder(1000),
}


def seconds(model: Model) -> tuple[int, int, float, float]:
    """Operations, those of them in tiles, and processor time of the first and the second planning."""
    with ir.Context():
        module = model.module().operation
        passmanager.run(passmanager.parse(BEFORE_PLANNING), module)
        function = module.regions[0].blocks[0].operations[0].operation
        times, planned = [], 0
        for _ in range(2):
            start = time.process_time()
            planned = len(plan_function(function, Options()))
            times.append(time.process_time() - start)
        return len(walk(function)), planned, times[0], times[1]


def main() -> int:
    """Prints the figures; 1 if one is above the limit."""
    failed = False
    for what, make in PROGRAMS.items():
        operations, planned, first, again = seconds(make())
        print(
            f"{what}: {operations} operations, {planned} in tiles: {first:.2f} s, again {again:.2f} s"
        )
        failed |= first > LIMIT * operations / 1000
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
