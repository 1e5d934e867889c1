# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter against plain numpy, on 1M fully valid elements.

Prints one line per operation and element type: the time of the numpy expression that a user would
write, the interpreter's, and their ratio (the best of interleaved runs, so that other work on the
machine does not count). The budget is 3."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate

BUDGET = 3.0
SIDE = 1024
REPEATS = 7

Expression = Callable[..., Any]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


CASES: list[tuple[str, int, dict[str, Any], Expression]] = [
    ("add", 2, {}, lambda a, b: a + b),
    ("mul", 2, {}, lambda a, b: a * b),
    ("maximum", 2, {}, np.maximum),
    ("addc", 3, {}, lambda a, b, c: a + b + c),
    ("cmp", 2, {"predicate": "lt"}, lambda a, b: a < b),
    ("neg", 1, {}, lambda a: -a),
    ("relu", 1, {}, lambda a: np.maximum(a, 0)),
    ("clip", 1, {"min": -1.0, "max": 1.0}, lambda a: np.clip(a, -1, 1).astype(a.dtype)),
]
FLOATS: list[tuple[str, int, dict[str, Any], Expression]] = [
    ("div", 2, {}, lambda a, b: a / b),
    ("exp", 1, {}, np.exp),
    ("tanh", 1, {}, np.tanh),
    ("sqrt", 1, {}, np.sqrt),
    ("rsqrt", 1, {}, lambda a: 1 / np.sqrt(a)),
    ("sigmoid", 1, {}, _sigmoid),
    ("silu", 1, {}, lambda a: a * _sigmoid(a)),
    ("mean", 1, {"dims": (1,)}, lambda a: a.astype(np.float32).mean(axis=1).astype(a.dtype)),
]
REDUCED: list[tuple[str, int, dict[str, Any], Expression]] = [
    ("sum", 1, {"dims": (1,)}, lambda a: a.sum(axis=1)),
    ("sum", 1, {"dims": (0,)}, lambda a: a.sum(axis=0)),
    ("max", 1, {"dims": (1,)}, lambda a: a.max(axis=1)),
]
MOVES: list[tuple[str, int, dict[str, Any], Expression]] = [
    ("transpose", 1, {"permutation": (1, 0)}, lambda a: a.T.copy()),
    ("identity", 1, {}, lambda a: a.copy()),
    ("concat", 2, {"dim": 0}, lambda a, b: np.concatenate([a, b])),
    ("sort", 1, {"dim": 1}, lambda a: np.sort(a, axis=1, kind="stable")),
]


def _shape(name: str, attributes: dict[str, Any]) -> tuple[int, ...]:
    if "dims" in attributes:
        return (SIDE,)
    return (2 * SIDE, SIDE) if name == "concat" else (SIDE, SIDE)


def _best(run: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """Best times, in milliseconds, of two things run in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for measured, function in zip(times, (run, other), strict=True):
            start = time.perf_counter()
            function()
            measured.append(1e3 * (time.perf_counter() - start))
    return min(times[0]), min(times[1])


def measure() -> list[tuple[str, str, float, float]]:
    """(operation, element type, numpy ms, interpreter ms) of every case."""
    rng = np.random.default_rng(0)
    rows = []
    for element in ("f32", "f16", "bf16", "i32"):
        cases = CASES + REDUCED + MOVES + (FLOATS if element != "i32" else [])
        arrays = [(4 * rng.random((SIDE, SIDE)) + 0.5).astype(DTYPES[element]) for _ in range(3)]
        bound = Bound((SIDE, SIDE), element)
        for name, count, attributes, expression in cases:
            kind = "i1" if name == "cmp" else element
            result = Bound(_shape(name, attributes), kind)
            operands = [Cells(array) for array in arrays[:count]]

            def ours(
                name: str = name,
                operands: list[Cells] = operands,
                result: Bound = result,
                attributes: dict[str, Any] = attributes,
                bound: Bound = bound,
            ) -> Any:
                return evaluate(name, operands, [bound] * len(operands), [result], attributes)

            def plain(
                expression: Expression = expression, given: list[Any] = arrays[:count]
            ) -> Any:
                with np.errstate(all="ignore"):
                    return expression(*given)

            rows.append((name, element, *_best(plain, ours)))
    return rows


PROGRAM = """
func.func @f(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024xf32> {
  %0 = spyre.add %x, %y
    : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = spyre.exp %0 : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = spyre.sum %1 {dims = [1]} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  return %2 : tensor<1024xf32>
}
"""


def measure_program() -> tuple[str, str, float, float]:
    """As `measure`, for a whole parsed program."""
    from spyre_mlir import ir
    from spyre_mlir.interpreter import run

    x = np.random.default_rng(0).random((SIDE, SIDE), np.float32)
    with ir.Context():
        module = ir.Module.parse(PROGRAM)
        plain, ours = _best(lambda: np.exp(x + x).sum(axis=1), lambda: run(module, [x, x]))
    return "program", "f32", plain, ours


def main() -> int:
    """Prints the table; 1 if a case is over the budget."""
    worst = 0.0
    for name, element, plain, ours in [*measure(), measure_program()]:
        ratio = ours / plain
        worst = max(worst, ratio)
        print(
            f"interpreter {name:10} {element:5} numpy {plain:8.3f} ms  ours {ours:8.3f} ms"
            f"  ratio {ratio:5.2f}"
        )
    print(f"interpreter worst ratio {worst:.2f}, budget {BUDGET:.0f}")
    return 0 if worst <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
