# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The last stage: the bundle of a program, run by `spyre_mlir.machine` on the program's own arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spyre_mlir.compiler import Bundle
from spyre_mlir.interpreter.cells import Bound, Cells
from spyre_mlir.interpreter.device import all_arguments
from spyre_mlir.interpreter.execution import Output
from spyre_mlir.interpreter.placement import Placement
from spyre_mlir.machine import run_program
from spyre_mlir.machine.host import bound


def run_bundle(
    bundle: Bundle,
    placement: Placement,
    arrays: Sequence[Any],
    symbols: Mapping[str, int],
    *,
    steps: int | None = None,
) -> tuple[Any, ...]:
    """The results of a bundle, as the reference interpreter returns them.

    `placement` is that of the program whose memory is planned, from which the bundle was written;
    `arrays` and `symbols` as for `run_device`. Raises what `run_program` raises."""
    values = all_arguments(placement, arrays, symbols)
    found = run_program(
        bundle.files,
        (placement.arguments, placement.results),
        [value.values for value in values if isinstance(value, Cells)],
        constants={},
        symbols=symbols,
        limit=bundle.span_limit,
        steps=steps,
    )
    return tuple(
        Output(cells, poison, Bound(kind.shape, kind.element, bound(kind, symbols)))
        for (cells, poison), kind in zip(found, placement.results, strict=True)
    )
