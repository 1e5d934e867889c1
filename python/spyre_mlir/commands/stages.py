# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `spyre run --stage` runs: the program, its planned memory, its bundle."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spyre_mlir import ir, passmanager
from spyre_mlir.checking.bundles import run_bundle
from spyre_mlir.checking.stages import MATERIALIZED, Options, compile_in_stages
from spyre_mlir.interpreter.device import run_device
from spyre_mlir.interpreter.execution import choose, execute
from spyre_mlir.interpreter.placement import read_placement
from spyre_mlir.interpreter.program import Function, TensorKind, names_in, read_module


@dataclass(frozen=True, slots=True)
class Runnable:
    """A function, and how its results come from arrays and values of its symbols."""

    function: Function
    run: Callable[[Sequence[Any], Mapping[str, int]], tuple[Any, ...]]


def program_at(stage: str, module: ir.Module, options: argparse.Namespace) -> Runnable:
    """The function `options.function` of a module, compiled as far as the stage asks for.

    Raises what `spyre_mlir.compile` raises, and Refusal SPY137 if there is no such function."""
    if stage == "tensor":
        given = _introducing(module)
        function = choose(read_module(given), options.function)
        return Runnable(
            function,
            lambda arrays, symbols: execute(
                given, arrays, symbols=symbols, function=function.name, steps=options.steps
            ),
        )
    settings = Options(cores=options.cores, span_limit=options.span_limit, policy=options.policy)
    compiled = compile_in_stages(module.operation, settings)
    materialized = next(s.module for s in compiled.stages if s.name == MATERIALIZED)
    function = choose(read_module(materialized), options.function)
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
        lambda arrays, symbols: run_bundle(
            compiled.bundle, placement, arrays, symbols, steps=options.steps
        ),
    )


def _introducing(module: ir.Module) -> ir.Operation:
    """The module, or, where types of arguments use symbols that nothing introduces, one in which
    these are arguments, as they are when it is compiled."""
    missing = any(
        set(names_in(extent)) - {symbol.name for symbol in function.symbols}
        for function in read_module(module).values()
        for kind in function.body.kinds
        if isinstance(kind, TensorKind) and kind.valid is not None
        for extent in kind.valid
        if isinstance(extent, str)
    )
    if not missing:
        return module.operation
    introduced = module.operation.clone()
    passmanager.run(passmanager.parse(f"builtin.module({MATERIALIZED})"), introduced)
    return introduced
