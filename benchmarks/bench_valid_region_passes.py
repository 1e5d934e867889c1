# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Valid regions in programs: processor time per operation of the two passes, IR read through the bindings."""

from __future__ import annotations

import sys
import time

from spyre_mlir.passes.infer_valid_shapes import InferValidShapes
from spyre_mlir.passes.verify_valid_regions import VerifyValidRegions

from spyre_mlir import ir

STATIC_LIMIT, SYMBOLIC_LIMIT = 15.0, 60.0
"""Microseconds of processor time per operation, inferring and verifying together."""

LENGTHS = (1_000, 10_000, 100_000)


def program(length: int, region: str) -> str:
    """A chain of additions, products and unary operations, regions unknown but for the arguments'."""
    plain = "tensor<64x256xf16>"
    part = f"tensor<64x256xf16, #spyre.encoding<valid_shape = [{region}, 256]>>"
    lines = [f'func.func @f(%n: index {{spyre.extent = "n"}}, %x: {part}, %y: {part}) {{']
    lines.append(f"  %v0 = spyre.add %x, %y : ({part}, {part}) -> {plain}")
    for number in range(1, length):
        name = ("add", "mul", "exp")[number % 3]
        last = f"%v{number - 1}"
        if name == "exp":
            lines.append(f"  %v{number} = spyre.exp {last} : ({plain}) -> {plain}")
        else:
            lines.append(f"  %v{number} = spyre.{name} {last}, %v0 : ({plain}, {plain}) -> {plain}")
    return "\n".join([*lines, "  return", "}"])


def measure(length: int, region: str) -> tuple[float, float]:
    """Microseconds of processor time per operation to infer and to verify, the best of five runs."""
    best = [float("inf")] * 2
    for _ in range(5):
        module = ir.Module.parse(program(length, region))
        for number, step in enumerate((InferValidShapes(), VerifyValidRegions())):
            start = time.process_time()
            step.run(module.operation)
            best[number] = min(best[number], time.process_time() - start)
    return best[0] / length * 1e6, best[1] / length * 1e6


def main() -> int:
    """Prints the figures; 1 if one is above its limit."""
    failed = False
    with ir.Context(), ir.Location.unknown():
        for what, region, limit in (
            ("static", "40", STATIC_LIMIT),
            ("symbolic", "n", SYMBOLIC_LIMIT),
        ):
            for length in LENGTHS:
                infer, verify = measure(length, region)
                print(
                    f"{what}, {length} operations: {infer + verify:.1f} us per operation"
                    f" (infer {infer:.1f}, verify {verify:.1f}; limit {limit:.0f})"
                )
                failed |= infer + verify > limit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
