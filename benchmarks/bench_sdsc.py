# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emission of an SDSC against `json.dumps` of the same data, and the schema check against emission.

Emission is from the model to JSON text: symbols numbered, every field expanded, encoded. It and
`json.dumps` of the finished data use the C encoder, without white space; files are indented by two
instead, which costs both the same. The check is the shipped JSON Schema on the data in memory.
Medians of interleaved runs."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from spyre_mlir.sdsc.emit import emit
from spyre_mlir.sdsc.model import Axis, Dim, Hbm, Operand, Sdsc
from spyre_mlir.sdsc.schema import is_valid

REPEATS = 200
EMIT_LIMIT = 3.0
"""The most that emission may take, in multiples of `json.dumps`."""
CHECK_LIMIT = 0.2
"""The most that the schema check may take, as a share of emission."""


def add(cores: int) -> Sdsc:
    """`add` of two f16 tensors of 128 x 256 elements, rows divided over the cores."""
    axes = (Axis("mb"), Axis("out"))
    return Sdsc(
        function="add",
        unit="sfp",
        dims=(Dim("mb", 128), Dim("out", 256)),
        operands=tuple(Operand(axes, "out", "SEN169_FP16", Hbm(index)) for index in range(3)),
        cut=(("mb", cores), ("out", 1)),
    )


def text(sdsc: Sdsc) -> str:
    """The JSON text of the operation."""
    return json.dumps(emit(sdsc))


def medians(actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each action, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(REPEATS):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> int:
    """Prints the ratios; 1 if one is above its limit."""
    failed = False
    for cores in (1, 32):
        sdsc = add(cores)
        document = emit(sdsc)
        assert is_valid(document)
        actions: dict[str, Callable[[], object]] = {
            "expand": partial(emit, sdsc),
            "emission": partial(text, sdsc),
            "dumps": partial(json.dumps, document),
            "check": partial(is_valid, document),
        }
        took = medians(actions)
        emission, check = took["emission"] / took["dumps"], took["check"] / took["emission"]
        failed = failed or emission > EMIT_LIMIT or check > CHECK_LIMIT
        us = {name: f"{seconds * 1e6:.0f} us" for name, seconds in took.items()}
        print(
            f"sdsc of add 128x256, cores {cores}: emission {us['emission']} "
            f"({us['expand']} without encoding), json.dumps {us['dumps']}, "
            f"ratio {emission:.2f} (limit {EMIT_LIMIT:.0f}); schema check {us['check']}, "
            f"{check:.0%} of emission (limit {CHECK_LIMIT:.0%})"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
