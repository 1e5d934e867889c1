# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre-tile` against upstream's C++ tiling of the linalg equivalent, at the same sizes: time per operation."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from spyre_mlir import ir, passmanager

TYPE = "tensor<1x8195x256x64xf16>"
LIMIT = 5.0
"""The most that `spyre-tile` may take, in multiples of `transform.structured.tile_using_for`."""

LAYOUT = "#spyre.layout<[8195, 256, 1, 1, 64] : [16384, 64, 64, -1, 1]>"
LAID = f"tensor<1x8195x256x64xf16, #spyre.encoding<layout = {LAYOUT}>>"


def ours(count: int) -> str:
    """A function of `count` planned operations, each a loop of 5 tiles."""
    lines = []
    for i in range(count):
        plan = (
            f"#spyre.tile_plan<origin = auto, group = {i}, levels = [parallel(1) 5 x 1639], "
            'reason = "bench">'
        )
        lines.append(
            f"%{i + 1} = spyre.add %{i}, %0 {{spyre.tile = {plan}}} : ({LAID}, {LAID}) -> {LAID}"
        )
    body = "\n  ".join(lines)
    return f"func.func @f(%0: {LAID}) -> {LAID} {{\n  {body}\n  return %{count} : {LAID}\n}}"


def upstream(count: int) -> str:
    """The same as linalg, with the transform script that tiles it."""
    lines = []
    for i in range(count):
        lines.append(f"%e{i} = tensor.empty() : {TYPE}")
        lines.append(
            f"%{i + 1} = linalg.add ins(%{i}, %0 : {TYPE}, {TYPE}) outs(%e{i} : {TYPE}) -> {TYPE}"
        )
    body = "\n  ".join(lines)
    script = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["linalg.add"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %ops tile_sizes [0, 1639, 0, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
"""
    return f"{script}func.func @f(%0: {TYPE}) -> {TYPE} {{\n  {body}\n  return %{count} : {TYPE}\n}}\n}}"


def seconds(text: Callable[[int], str], pipeline: str, count: int) -> float:
    """Time of one run of the pass on a module of `count` operations."""
    with ir.Context():
        module = ir.Module.parse(text(count))
        manager = passmanager.parse(pipeline)
        start = time.perf_counter()
        passmanager.run(manager, module)
        return time.perf_counter() - start


def main() -> int:
    """Prints time per operation and the ratio, at 1 000 operations and at ten times as many."""
    mine = "builtin.module(func.func(spyre-tile))"
    theirs = "builtin.module(transform-interpreter)"
    seconds(ours, mine, 10), seconds(upstream, theirs, 10)
    runs = [(seconds(ours, mine, 1000), seconds(upstream, theirs, 1000)) for _ in range(3)]
    own, other = (statistics.median(times) * 1e3 for times in zip(*runs, strict=True))
    ratio = statistics.median(a / b for a, b in runs)
    print(
        f"tiling, 1000 ops: {own:.0f} us per op, upstream {other:.0f} us, ratio {ratio:.2f} (limit {LIMIT:g})"
    )
    large = seconds(ours, mine, 10_000) * 1e2
    print(f"tiling, 10000 ops: {large:.0f} us per op, {large / own:.2f} times that at 1000")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
