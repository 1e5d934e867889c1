# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `spyre run --stage` runs: the program, its planned memory, its bundle."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spyre_mlir import ir
from spyre_mlir.checking.stages import MATERIALIZED, Compiled, Options, compile_in_stages
from spyre_mlir.interpreter.cells import Bound, Cells
from spyre_mlir.interpreter.device import all_arguments, run_device
from spyre_mlir.interpreter.execution import Output, choose, execute
from spyre_mlir.interpreter.placement import Placement, read_placement
from spyre_mlir.interpreter.program import Function, read_module
from spyre_mlir.machine import run_program
from spyre_mlir.machine.host import bound


@dataclass(frozen=True, slots=True)
class Runnable:
    """A function, and how its results come from arrays and values of its symbols."""

    function: Function
    run: Callable[[Sequence[Any], Mapping[str, int]], tuple[Any, ...]]


def program_at(stage: str, module: ir.Module, options: argparse.Namespace) -> Runnable:
    """The function `options.function` of a module, compiled as far as the stage asks for.

    Raises what `spyre_mlir.compile` raises, and Refusal SPY137 if there is no such function."""
    if stage == "tensor":
        function = choose(read_module(module), options.function)
        return Runnable(
            function,
            lambda arrays, symbols: execute(
                module, arrays, symbols=symbols, function=function.name, steps=options.steps
            ),
        )
    settings = Options(cores=options.cores, span_limit=options.span_limit, policy=options.policy)
    compiled = compile_in_stages(module.operation, settings)
    given = next(s.module for s in compiled.stages if s.name == MATERIALIZED)
    function = choose(read_module(given), options.function)
    planned = compiled.stages[-2].module
    if stage == "device":
        return Runnable(
            function,
            lambda arrays, symbols: run_device(
                planned, arrays, symbols=symbols, steps=options.steps
            ),
        )
    placement = read_placement(planned)
    return Runnable(
        function,
        lambda arrays, symbols: _bundle(compiled, placement, arrays, symbols, options.steps),
    )


def _bundle(
    compiled: Compiled,
    placement: Placement,
    arrays: Sequence[Any],
    symbols: Mapping[str, int],
    steps: int,
) -> tuple[Any, ...]:
    values = all_arguments(placement, arrays, symbols)
    found = run_program(
        compiled.bundle,
        (placement.arguments, placement.results),
        [value.values for value in values if isinstance(value, Cells)],
        constants={},
        symbols=symbols,
        limit=compiled.bundle.span_limit,
        steps=steps,
    )
    return tuple(
        Output(cells, poison, Bound(kind.shape, kind.element, bound(kind, symbols)))
        for (cells, poison), kind in zip(found, placement.results, strict=True)
    )
