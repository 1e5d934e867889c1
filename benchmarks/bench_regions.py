# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Valid regions: microseconds per operation to infer and to derive again, types read from IR."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from spyre_mlir import encodings, ir
from spyre_mlir.extents import parse
from spyre_mlir.prover import Facts, arguments
from spyre_mlir.regions import infer
from spyre_mlir.tensors import TensorType

STATIC_LIMIT, SYMBOLIC_LIMIT = 15.0, 60.0
"""Microseconds per operation, inferring and verifying together."""

LENGTHS = (1_000, 10_000, 100_000)

Statement = tuple[str, tuple[ir.Type, ...], ir.Type]
"""An operation name, the types of its operands and of its result, as the IR has them."""


def tensor(*valid: int | str) -> TensorType:
    """A tensor of 64 x 256 f16 with the given region."""
    region = tuple(parse(extent) if isinstance(extent, str) else extent for extent in valid)
    return TensorType((64, 256), "f16", valid_shape=region or None)


def program(length: int, types: Sequence[TensorType]) -> list[Statement]:
    """Chains of additions, products and unary operations, one per type in turn."""
    written = [encodings.write(kind) for kind in types]
    statements: list[Statement] = []
    for number in range(length):
        kind = written[number % len(written)]
        name = ("add", "mul", "exp")[number % 3]
        statements.append((name, (kind,) if name == "exp" else (kind, kind), kind))
    return statements


def mixed(length: int, operands: Sequence[TensorType], result: TensorType) -> list[Statement]:
    """Operations whose operands have different, provably equal regions: nothing is the same."""
    kinds, back = tuple(map(encodings.write, operands)), encodings.write(result)
    return [("add", kinds, back)] * length


def infer_and_verify(statements: Sequence[Statement], facts: Facts, policy: str) -> None:
    """What both passes do with an operation: read its types, derive, compare."""
    read = encodings.Reader()
    for name, operands, result in statements:
        types = tuple(map(read, operands))
        derived = infer(name, types, policy=policy, facts=facts, results=(read(result),))
        again = infer(name, types, policy=policy, facts=facts, results=derived)
        if again != derived:
            raise AssertionError(f"{name}: {again} against {derived}")


def microseconds(run: Callable[[], object], operations: int, repeats: int = 3) -> float:
    """The best of some runs, per operation."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / operations * 1e6


def measure() -> list[tuple[str, float, float]]:
    """(what, microseconds per operation, limit)."""
    n, several = tensor("n", 256), [tensor("min(n, 32)", f"m + {i}") for i in range(16)]
    facts = arguments((n, *several), {})
    rows: list[tuple[str, float, float]] = []
    for length in LENGTHS:
        cases = (
            ("static", program(length, [tensor(), tensor(40, 256), tensor(64, 100)]), STATIC_LIMIT),
            ("symbolic", program(length, [n, *several]), SYMBOLIC_LIMIT),
            (
                "static, intersected",
                mixed(length, (tensor(40, 256), tensor(64, 9)), tensor(40, 9)),
                STATIC_LIMIT,
            ),
            ("symbolic, proved", mixed(length, (n, tensor("min(n, 64)", 256)), n), SYMBOLIC_LIMIT),
        )
        for what, statements, limit in cases:
            policy = "intersect" if "intersected" in what else "agree"
            cost = microseconds(
                lambda s=statements, p=policy: infer_and_verify(s, facts, p), length
            )  # type: ignore[misc]
            rows.append((f"{what}, {length} operations", cost, limit))
    return rows


def main() -> int:
    """Prints the figures; 1 if one is above its limit."""
    failed = False
    with ir.Context(), ir.Location.unknown():
        for what, cost, limit in measure():
            print(f"{what}: {cost:.1f} us per operation (limit {limit:.0f})")
            failed |= cost > limit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
