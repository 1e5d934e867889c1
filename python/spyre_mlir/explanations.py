# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`explain_program`: the spans of every operation of a program, and why it is tiled as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from spyre_mlir import ir, passmanager
from spyre_mlir.compiler import read_program
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.operations import PREFIX, dims_of, kernel_of, walk
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.planning import PLAN, Planned, plan_function
from spyre_mlir.tiling import DEFAULT, Options
from spyre_mlir.tiling.explain import Report, as_json, as_text, explain
from spyre_mlir.tiling.hints import check_levels, resolve

BEFORE_PLANNING = (
    "builtin.module(spyre-check-program,func.func(spyre-decompose-operations,spyre-assign-layouts))"
)
"""What `spyre-to-sdsc` runs before it plans: the operations that are explained are those it plans."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One report per operation that computes, in program order; `limit` in bytes."""

    limit: int
    reports: tuple[Report, ...]

    @property
    def refused(self) -> bool:
        """Whether an operation has no plan although it needs one."""
        return any(report.refusal is not None for report in self.reports)

    def as_json(self) -> dict[str, Any]:
        """The documented form: see docs/explain.md."""
        return as_json(self.reports, self.limit)

    def as_text(self) -> str:
        """The same for people, with device coordinates, cost and runner-up."""
        return as_text(self.reports, self.limit) if self.reports else "no operation computes\n"


def explain_program(
    program: str | bytes | os.PathLike[str] | ir.Module, options: Options = DEFAULT
) -> Explanation:
    """Explains the text (or bytecode) of a module, a file (a path object) or a module, which is not changed.

    Layouts are assigned first. Raises ir.MLIRError if the program is refused before it is planned,
    OSError if the file cannot be read; refusals of the planner stand in the reports."""
    if isinstance(program, ir.Module):
        with program.context:
            return _explain(program.operation.clone(), options)
    with ir.Context():
        return _explain(read_program(program).operation, options)


def _explain(module: ir.Operation, options: Options) -> Explanation:
    passmanager.run(passmanager.parse(BEFORE_PLANNING), module)
    reports = [
        report
        for function in module.regions[0].blocks[0].operations
        for report in _function(function.operation, options)
    ]
    return Explanation(options.span_limit, tuple(reports))


def _function(function: ir.Operation, options: Options) -> Iterator[Report]:
    """Each operation by itself; then the plans with which operations share loops replace those."""
    grouped: dict[ir.Operation, Planned] = {}
    loops: dict[int, list[ir.Operation]] = {}
    refusal: Refusal | None = None
    if options.enabled:
        try:
            grouped = {planned.op: planned for planned in plan_function(function, options)}
        except Refusal as found:
            refusal = found
    for op, planned in grouped.items():
        if not planned.hinted:
            loops.setdefault(planned.plan.group, []).append(op)
    for op in walk(function):
        report = _operation(op, options)
        if report is None:
            continue
        if refusal is not None and refusal.place == op:
            report = replace(report, plan=None, runner_up=None, refusal=refusal)
        elif op in grouped and not grouped[op].hinted:
            own = grouped[op]
            others = [o.name.removeprefix(PREFIX) for o in loops[own.plan.group] if o != op]
            report = report.in_group(own.plan, others, own.compact, options)
        yield report


def _operation(op: ir.Operation, options: Options) -> Report | None:
    """The report of one operation; None for one that computes nothing."""
    name, location = op.name.removeprefix(PREFIX), _place(op.location)
    try:
        kernel = kernel_of(op)
        if kernel is None:
            return None
        hint = None
        if PLAN in op.attributes:
            hint = resolve(read_plan(op.attributes[PLAN]), dims_of(op, kernel))
            check_levels(hint, replace(kernel, label=f"'{op.name}'"))
    except Refusal as refusal:
        return Report(name, location, (), refusal=refusal)
    return explain(replace(kernel, label=name), options, location=location, hint=hint)


def _place(location: ir.Location) -> str:
    """`file:line:column`, or what MLIR says of a place that is none."""
    text = str(location).removeprefix("loc(").removesuffix(")").replace('"', "")
    return "" if text == "unknown" else text
