# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`check`: compiles a program and compares every stage of it with what the program means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from spyre_mlir import ir
from spyre_mlir.checking.addresses import prove
from spyre_mlir.checking.bundles import run_bundle
from spyre_mlir.checking.inputs import Inputs, described, draw, shrink
from spyre_mlir.checking.report import Addresses, Fault, Report, StageReport
from spyre_mlir.checking.scaling import ELEMENTS_MAX, elements_of, scaled
from spyre_mlir.checking.stages import (
    GIVEN,
    INFERRED,
    MATERIALIZED,
    Compiled,
    Options,
    Stage,
    compile_in_stages,
)
from spyre_mlir.compiler import read_program
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.interpreter.device import run_device
from spyre_mlir.interpreter.execution import Output, choose, execute
from spyre_mlir.interpreter.placement import layout_of, read_placement
from spyre_mlir.interpreter.program import Function, read_module
from spyre_mlir.interpreter.validation import difference

BUNDLE = "spyre-lower-to-sdscbundle"
"""The pass whose result is the bundle."""

Program = str | bytes | os.PathLike[str] | ir.Module
Results = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """One stage that can be run: a program after a pass, or the bundle.

    `narrow`: bf16 is kept as a half, as on the device, which ends at 65504: there what is no number
    is not compared. A half has three bits more, so what was bf16 differs by the tolerance of bf16,
    whatever it is converted to."""

    name: str
    level: str
    run: Callable[[Inputs], Results]
    changed: bool = True
    narrow: bool = False


def check(
    program: Program,
    *,
    seeds: int = 2,
    cores: int = CORES,
    span_limit: int = SPAN_LIMIT_BYTES,
    plan: bool = True,
    policy: Literal["agree", "intersect"] = "agree",
    remainder: Literal["never", "fallback", "always"] = "fallback",
    reductions: Literal["never", "fallback", "always"] = "fallback",
    division: Literal["ignored", "counted"] = "ignored",
) -> Report:
    """Compiles a program as `spyre_mlir.compile` does and runs it on `seeds` inputs, as it is given
    and after every pass, down to its bundle.

    Integers and data that is only moved must be equal, floats equal within the tolerance of
    `spyre_mlir.interpreter.validation`; only valid cells are compared. A program that is refused
    raises what `compile` raises; one that means nothing on these inputs is "not run". ValueError
    without a seed: nothing would be compared."""
    if seeds < 1:
        raise ValueError(f"seeds is {seeds}; at least one input is needed to compare results")
    options = Options(cores, span_limit, plan, policy, remainder, reductions, division)
    if isinstance(program, ir.Module):
        with program.context:
            return check_module(program.operation, options, seeds)
    with ir.Context():
        return check_module(read_program(program).operation, options, seeds)


def check_module(module: ir.Operation, options: Options, seeds: int) -> Report:
    """As `check`, of a module in the current context.

    Of a program of more than `ELEMENTS_MAX` elements the addresses are proved, and the values are
    checked on a smaller program of its kind."""
    compiled = compile_in_stages(module, options)
    if elements_of(module) <= ELEMENTS_MAX:
        return compare(compiled, options, seeds)
    proved = _prove(compiled)
    small = scaled(module, compiled, options)
    if small is None:
        name = choose(read_module(module), None).name
        why = f"more than {ELEMENTS_MAX} elements, and no smaller program of its kind was found"
        stages = (StageReport(GIVEN, "tensor", "not run", why),)
        return Report(name, seeds, stages, addresses=proved)
    report = compare(small.compiled, small.options, seeds)
    return replace(report, scaling=small.scaling, addresses=proved)


def _prove(compiled: Compiled) -> Addresses:
    """What holds of the addresses of a bundle; partly valid results need not be written in full."""
    placement = read_placement(compiled.stages[-2].module)
    tensors = (*placement.arguments, *placement.results)
    sizes = {number: layout_of(tensor).bytes for number, tensor in enumerate(tensors)}
    first = len(placement.arguments)
    whole = [first + n for n, r in enumerate(placement.results) if r.valid_shape is None]
    return prove(compiled.bundle.model, sizes, whole)


def compare(compiled: Compiled, options: Options, seeds: int) -> Report:
    """Runs all stages of a compilation on the inputs of each seed, and compares."""
    stages = [stage for stage in compiled.stages if _has_meaning(stage.module)]
    start = _first(stages, options)
    refusal: Refusal | None = None
    for position in start:
        function = choose(read_module(stages[position].module), None)
        try:
            inputs = draw(function, seed=0)
            _runner(stages[position]).run(inputs)
        except Refusal as error:
            refusal = refusal or error
            continue
        return _compare(compiled, stages[position:], function, seeds)
    name = choose(read_module(stages[0].module), None).name
    return Report(name, seeds, (StageReport(GIVEN, "tensor", "not run", str(refusal)),))


def _has_meaning(module: ir.Operation) -> bool:
    """Whether the interpreter of tensors can run a module: it is no bundle yet."""
    return not any(
        op.operation.name.startswith("sdscbundle.") for op in _operations(module)
    ) and any(op.operation.name == "func.func" for op in _operations(module))


def _operations(module: ir.Operation) -> list[Any]:
    found: list[Any] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(look)
    return found


def _first(stages: list[Stage], options: Options) -> list[int]:
    """Where the meaning of the program may stand, the first place that runs counts.

    Symbols that only types use have no value before they are arguments; under `intersect` regions
    are narrowed by the pass that infers them."""
    names = [stage.name for stage in stages]
    narrowed = [names.index(INFERRED)] if INFERRED in names else []
    if options.policy == "intersect":
        return narrowed
    return [0, *(i for i, name in enumerate(names) if name == MATERIALIZED), *narrowed]


def _runner(stage: Stage) -> Runner:
    """A program after a pass: in planned memory once it has one, else on tensors."""
    functions = read_module(stage.module)
    function = choose(functions, None)
    known = {symbol.name for symbol in function.symbols}
    level = "device" if stage.placed else "tensor"

    def run(inputs: Inputs) -> Results:
        symbols = {name: value for name, value in inputs.symbols.items() if name in known}
        if stage.placed:
            return run_device(stage.module, inputs.arrays, symbols=symbols)
        return execute(stage.module, inputs.arrays, symbols=symbols, function=function.name)

    narrow = stage.placed and "xbf16" in str(stage.module)
    return Runner(stage.name, level, run, stage.changed, narrow)


def _bundle_runner(compiled: Compiled, planned: Stage) -> Runner:
    """The bundle; `planned` is the stage before it is written."""
    placement = read_placement(planned.module)
    known = {symbol.name for symbol in placement.function.symbols}

    def run(inputs: Inputs) -> Results:
        symbols = {name: value for name, value in inputs.symbols.items() if name in known}
        return run_bundle(compiled.bundle, placement, inputs.arrays, symbols)

    return Runner(BUNDLE, "bundle", run, narrow="xbf16" in str(planned.module))


def _compare(compiled: Compiled, stages: list[Stage], function: Function, seeds: int) -> Report:
    reference, *others = [_runner(stage) for stage in stages]
    others = [runner for runner in others if runner.changed]
    others.append(_bundle_runner(compiled, stages[-1]))
    skipped: dict[str, str] = {}
    for seed in range(seeds):
        try:
            inputs = draw(function, seed=seed)
            wanted = reference.run(inputs)
        except Refusal as refusal:
            skipped[reference.name] = f"seed {seed}: {refusal}"
            continue
        for runner in others:
            detail = _difference(runner, inputs, wanted)
            if detail is not None:
                fault = _fault(reference, runner, function, inputs, seed, detail)
                return _report(function, seeds, others, fault, skipped)
    return _report(function, seeds, others, None, skipped)


def _difference(runner: Runner, inputs: Inputs, wanted: Results) -> str | None:
    """How a stage differs from the results that are wanted, None if it does not."""
    try:
        got = runner.run(inputs)
    except Refusal as refusal:
        return f"does not run: {refusal}"
    if len(wanted) != len(got):
        return f"{len(wanted)} results before, {len(got)} after"
    for number, (x, y) in enumerate(zip(wanted, got, strict=True)):
        found = (
            difference(x, _in_range(x, y), through="bf16") if runner.narrow else difference(x, y)
        )
        if found is not None:
            return f"result {number}: {found}"
    return None


def _in_range(wanted: Any, got: Any) -> Any:
    """What a stage computes; what is no number there, as it is wanted."""
    if (
        not isinstance(got, Output)
        or not isinstance(wanted, Output)
        or got.values.dtype.kind in "biu"
    ):
        return got
    if got.values.shape != wanted.values.shape:
        return got
    beyond = ~np.isfinite(got.values.astype(np.float32))
    return replace(got, values=np.where(beyond, wanted.values.astype(got.values.dtype), got.values))


def _fault(
    reference: Runner, runner: Runner, function: Function, inputs: Inputs, seed: int, detail: str
) -> Fault:
    def fails(candidate: Inputs) -> bool:
        try:
            wanted = reference.run(candidate)
        except Refusal:
            return False
        return _difference(runner, candidate, wanted) is not None

    small = shrink(inputs, function, fails)
    found = _difference(runner, small, reference.run(small)) or detail
    shown = tuple(described(array, number) for number, array in enumerate(small.arrays))
    return Fault(runner.name, runner.level, found, seed, small.symbols, shown)


def _report(
    function: Function,
    seeds: int,
    runners: list[Runner],
    fault: Fault | None,
    skipped: dict[str, str],
) -> Report:
    reports = []
    for runner in runners:
        if fault is not None and runner.name == fault.stage and runner.level == fault.level:
            reports.append(StageReport(runner.name, runner.level, "differs", fault.detail))
            break
        reports.append(StageReport(runner.name, runner.level, "same"))
    for name, why in skipped.items():
        reports.append(StageReport(name, "tensor", "not run", why))
    return Report(function.name, seeds, tuple(reports), fault)
