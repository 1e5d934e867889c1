# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole pipeline `spyre-to-sdsc` against `canonicalize, cse` on the same module: time and memory per operation.

The module is a transformer: layers of norms, projections, attention over heads (views, restickify, softmax) and a gated
product, each with weights of its own, and in every eighth layer a chain on tensors that reach too far and are tiled.
The yardstick are upstream's two passes as mlir-opt runs them. mlir-opt itself does not know the dialect, so they run in
a process of ours, which is mlir-opt with the dialect; operations are kept alive by being used. Parsing and printing are
left out on both sides. Every size is measured in a process of its own, after a small program of other shapes has
loaded the passes."""

from __future__ import annotations

import json
import math
import resource
import statistics
import subprocess
import sys
import time

from spyre_mlir import ir, passmanager

LENGTHS = (1_000, 10_000, 100_000)
CORES = (32, 1)
RATIO_LIMIT, EXPONENT_LIMIT = 25.0, 1.1
MEMORY_LIMIT = 10.0
"""KB per operation of peak memory, over that of a program of one layer and the text of the output."""

YARDSTICK = "canonicalize,cse"

ROWS, WIDTH, HEADS, INNER = 128, 512, 8, 1024
OTHER_ROWS = 192
"""Rows of the small program that loads everything before: no shape was seen when the measurement begins."""

LONG = "tensor<1x8195x256x64xf16>"
"""One dim reaches 268 533 760 bytes, over the limit of 268 431 360."""


def t(*shape: int) -> str:
    """A tensor type of f16."""
    return f"tensor<{'x'.join(map(str, shape))}xf16>"


class Program:
    """Text of a function, line by line."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.lines: list[str] = []
        self.arguments: list[tuple[str, str]] = []
        self.types: dict[str, str] = {}

    def argument(self, type: str) -> str:
        name = f"%a{len(self.arguments)}"
        self.arguments.append((name, type))
        self.types[name] = type
        return name

    def op(self, name: str, result: str, *operands: str, given: str = "") -> str:
        made = f"%v{len(self.lines)}"
        types = ", ".join(self.types.get(operand, "f16") for operand in operands)
        given = f" {{{given}}}" if given else ""
        self.lines.append(
            f"{made} = spyre.{name} {', '.join(operands)}{given} : ({types}) -> {result}"
        )
        self.types[made] = result
        return made

    def text(self, *results: str) -> str:
        inputs = ", ".join(f"{name}: {type}" for name, type in self.arguments)
        types = ", ".join(self.types[value] for value in results)
        return "\n".join(
            [
                f"func.func @model({inputs}) -> ({types}) {{",
                "%eps = arith.constant 1.0e-5 : f16",
                "%scale = arith.constant 1.25e-1 : f16",
                *self.lines,
                f"return {', '.join(results)} : {types}",
                "}",
            ]
        )


def norm(p: Program, x: str) -> str:
    """RMSNorm with a gain."""
    full, column = t(p.rows, WIDTH), t(p.rows, 1)
    squares = p.op("mul", full, x, x)
    mean = p.op("mean", column, squares, given="dims = [1], keep_dims = true")
    root = p.op("rsqrt", column, p.op("add", column, mean, "%eps"))
    return p.op("mul", full, p.op("mul", full, x, root), p.argument(t(WIDTH)))


def heads(p: Program, x: str) -> str:
    """rows x (heads x depth) -> heads x rows x depth."""
    depth = WIDTH // HEADS
    seen = p.op("reshape", t(p.rows, HEADS, depth), x)
    return p.op("transpose", t(HEADS, p.rows, depth), seen, given="permutation = [1, 0, 2]")


def attention(p: Program, x: str) -> str:
    """Attention over heads, with its residual."""
    full, depth = t(p.rows, WIDTH), WIDTH // HEADS
    h = norm(p, x)
    q, k, v = (
        heads(p, p.op("batch_matmul", full, h, p.argument(t(WIDTH, WIDTH)))) for _ in range(3)
    )
    turned = p.op("transpose", t(HEADS, depth, p.rows), k, given="permutation = [0, 2, 1]")
    square, column = t(HEADS, p.rows, p.rows), t(HEADS, p.rows, 1)
    scores = p.op("mul", square, p.op("batch_matmul", square, q, turned), "%scale")
    most = p.op("max", column, scores, given="dims = [2], keep_dims = true")
    powers = p.op("exp", square, p.op("sub", square, scores, most))
    total = p.op("sum", column, powers, given="dims = [2], keep_dims = true")
    weights = p.op("div", square, powers, total)
    mixed = p.op("batch_matmul", t(HEADS, p.rows, depth), weights, v)
    rows = p.op("transpose", t(p.rows, HEADS, depth), mixed, given="permutation = [1, 0, 2]")
    joined = p.op("reshape", full, p.op("identity", t(p.rows, HEADS, depth), rows))
    return p.op("add", full, p.op("batch_matmul", full, joined, p.argument(t(WIDTH, WIDTH))), x)


def gated(p: Program, x: str) -> str:
    """A gated product of two projections, with its residual."""
    h = norm(p, x)
    wide = t(p.rows, INNER)
    gate, up = (p.op("batch_matmul", wide, h, p.argument(t(WIDTH, INNER))) for _ in range(2))
    product = p.op("mul", wide, p.op("silu", wide, gate), up)
    down = p.op("batch_matmul", t(p.rows, WIDTH), product, p.argument(t(INNER, WIDTH)))
    return p.op("add", t(p.rows, WIDTH), down, x)


def program(length: int, rows: int = ROWS) -> str:
    """A function of at least `length` operations in whole layers."""
    p = Program(rows)
    x, long = p.argument(t(p.rows, WIDTH)), p.argument(LONG)
    layer = 0
    while len(p.lines) < length:
        x = gated(p, attention(p, x))
        if layer % 8 == 7:
            long = p.op("add", LONG, p.op("exp", LONG, long), long)
        layer += 1
    return p.text(*dict.fromkeys((x, long if layer >= 8 else x)))


def count(text: str) -> int:
    """Operations of the dialect in a program."""
    return text.count(" = spyre.")


def spent(text: str, pipeline: str) -> tuple[float, int]:
    """Seconds of processor time that a pipeline takes on a program, and the size of its output in bytes."""
    with ir.Context():
        module = ir.Module.parse(text)
        manager = passmanager.parse(f"builtin.module({pipeline})")
        start = time.process_time()
        passmanager.run(manager, module)
        seconds = time.process_time() - start
        return seconds, sum(map(len, str(module).splitlines()))


def measure(length: int, cores: int) -> None:
    """Prints what one process finds: operations, seconds of ours and of the yardstick, KB of peak memory and output."""
    ours = f"spyre-to-sdsc{{cores={cores}}}"
    first = program(1, OTHER_ROWS)
    for pipeline in (YARDSTICK, ours):
        spent(first, pipeline)
    text = program(length) if length else first
    yardstick, _ = spent(text, YARDSTICK)
    seconds, output = spent(text, ours)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([count(text), seconds, yardstick, peak, output / 1024]))


def measured(length: int, cores: int) -> list[float]:
    """The medians of what some processes find."""
    runs = []
    for _ in range(1 if length > 10_000 else 5):
        command = [sys.executable, __file__, str(length), str(cores)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return [statistics.median(values) for values in zip(*runs, strict=True)]


def main() -> int:
    """Prints time per operation, the ratio and memory at every length; 1 if one is above its limit."""
    failed = False
    for cores in CORES:
        *_, empty, _ = measured(0, cores)
        points = []
        for length in LENGTHS:
            operations, ours, yardstick, peak, output = measured(length, cores)
            points.append((operations, ours))
            ratio, memory = ours / yardstick, (peak - empty - output) / operations
            print(
                f"{cores} cores, {operations:.0f} operations: {ours / operations * 1e6:.1f} us per operation, "
                f"upstream {yardstick / operations * 1e6:.2f} us, ratio {ratio:.1f} (limit {RATIO_LIMIT:g}); "
                f"{memory:.1f} KB per operation (limit {MEMORY_LIMIT:g})",
                flush=True,
            )
            failed |= ratio > RATIO_LIMIT or memory > MEMORY_LIMIT
        (few, short), *_, (many, long) = points
        exponent = math.log(long / short) / math.log(many / few)
        print(f"{cores} cores: exponent {exponent:.2f} (limit {EXPONENT_LIMIT:g})")
        failed |= exponent > EXPONENT_LIMIT
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*map(int, sys.argv[1:]))
    else:
        sys.exit(main())
