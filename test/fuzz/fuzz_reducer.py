# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Smaller programs at fault in the same way, and the regression file of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fuzz_outcomes import outcome_of
from fuzz_programs import Program, Statement, Writer, context

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.tensors import TensorType

RUNS = 400
"""Most programs that are tried while one is reduced."""


def reduce(program: Program, signature: str) -> Program:
    """The smallest program found that is at fault with the same signature."""
    runs = 0

    def still(candidate: Program) -> bool:
        nonlocal runs
        runs += 1
        try:
            return runs < RUNS and outcome_of(candidate).signature == signature
        except (Refusal, ir.MLIRError, ValueError, KeyError, IndexError):
            return False

    changed = True
    while changed and runs < RUNS:
        changed = False
        for step in STEPS:
            for candidate in step(program):
                if candidate != program and still(candidate):
                    program, changed = candidate, True
                    break
    return program


def _fewer_results(program: Program) -> Iterator[Program]:
    for name in program.results:
        if len(program.results) > 1:
            yield replace(program, results=(name,)).without_unused()
    names = {o for s in program.statements for o in s.operands if isinstance(o, str)}
    for name in sorted(names, reverse=True):
        if name.startswith("s"):
            yield replace(program, results=(name,)).without_unused()


def _fewer_statements(program: Program) -> Iterator[Program]:
    """The result of a statement becomes one of its operands, or an argument of its own."""
    types = types_of(program)
    for statement in reversed(program.statements):
        own = f"s{statement.number}.0"
        for operand in statement.operands:
            if isinstance(operand, str) and operand in types:
                yield _renamed(program, statement, own, operand)
        if own in types:
            new = f"a{len(program.arguments)}"
            argument = replace(types[own], window=False, layout=None)
            wider = replace(program, arguments=(*program.arguments, argument))
            yield _renamed(wider, statement, own, new)


def types_of(program: Program) -> dict[str, TensorType]:
    """The type of every value; empty if the program cannot be built."""
    try:
        with context(), ir.Location.unknown():
            writer = Writer(program.arguments, program.symbols)
            for statement in program.statements:
                writer.add(statement)
            return {name: writer.type_of(name) for name in writer.values}
    except (Refusal, ir.MLIRError):
        return {}


def _renamed(program: Program, gone: Statement, old: str, new: str) -> Program:
    statements = tuple(
        replace(s, operands=tuple(new if o == old else o for o in s.operands))
        for s in program.statements
        if s.number != gone.number
    )
    results = tuple(new if r == old else r for r in program.results)
    return replace(program, statements=statements, results=results).without_unused()


def _fewer_arguments(program: Program) -> Iterator[Program]:
    """One argument in the place of two of the same type."""
    for i, first in enumerate(program.arguments):
        for j in range(i + 1, len(program.arguments)):
            if program.arguments[j] == first:
                statements = tuple(
                    replace(s, operands=tuple(f"a{i}" if o == f"a{j}" else o for o in s.operands))
                    for s in program.statements
                )
                yield replace(program, statements=statements).without_unused()


def _plainer(program: Program) -> Iterator[Program]:
    yield replace(program, cores=1)
    if program.cores > 2:
        yield replace(program, cores=2)
    yield replace(program, span_limit=SPAN_LIMIT_BYTES)
    yield replace(program, policy="agree")
    for i, statement in enumerate(program.statements):
        if statement.hint:
            rest = (
                *program.statements[:i],
                replace(statement, hint=()),
                *program.statements[i + 1 :],
            )
            yield replace(program, statements=rest)
    whole = tuple(replace(a, valid_shape=None, pad=None) for a in program.arguments)
    yield replace(program, arguments=whole, symbols=())
    yield replace(program, arguments=tuple(replace(a, layout=None) for a in program.arguments))
    for i, argument in enumerate(program.arguments):
        for plain in (
            replace(argument, layout=None),
            replace(argument, valid_shape=None, pad=None),
            replace(argument, pad=None),
        ):
            yield replace(
                program,
                arguments=(*program.arguments[:i], plain, *program.arguments[i + 1 :]),
            )


def _smaller(program: Program) -> Iterator[Program]:
    extents = sorted({n for a in program.arguments for n in a.shape if n > 1}, reverse=True)
    for old in extents:
        for new in sorted({1, 2, 3, 64, old - 1, old // 2}):
            if new < old:
                yield resized(program, lambda n, o=old, w=new: w if n == o else n)


def resized(program: Program, size: Callable[[int], int]) -> Program:
    """The program with other extents, wherever they stand."""

    def argument(tensor: TensorType) -> TensorType:
        shape = tuple(map(size, tensor.shape))
        valid = tensor.valid_shape
        if valid is not None:
            valid = tuple(
                min(size(e), n) if isinstance(e, int) else e
                for e, n in zip(valid, shape, strict=True)
            )
        return replace(tensor, shape=shape, valid_shape=valid, layout=None)

    def given(values: Any) -> dict[str, Any]:
        found = dict(values)
        if "shape" in found:
            found["shape"] = tuple(map(size, found["shape"]))
        return found

    statements = tuple(replace(s, given=given(s.given)) for s in program.statements)
    symbols = tuple((name, 1, max(1, size(most))) for name, _, most in program.symbols)
    return replace(
        program,
        arguments=tuple(map(argument, program.arguments)),
        statements=statements,
        symbols=symbols,
    )


STEPS = (_fewer_results, _fewer_statements, _fewer_arguments, _plainer, _smaller)


def regression_file(program: Program, what: str) -> str:
    """A lit test that checks the program; `what` says what was wrong."""
    words = ["spyre check %s", f"--cores {program.cores}"]
    if program.span_limit != SPAN_LIMIT_BYTES:
        words.append(f"--span-limit {program.span_limit}")
    if not program.plan:
        words.append("--no-plan")
    if program.policy != "agree":
        words.append(f"--policy {program.policy}")
    text = program.text().replace("module {\n", "").rstrip().removesuffix("}").rstrip()
    body = "\n".join(line.removeprefix("  ") for line in text.splitlines())
    return f"// RUN: {' '.join(words)}\n//\n// {what}\n\n{body}\n"
