# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile`: from a program in the dialect spyre to its bundle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from spyre_mlir import ir, passmanager
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.scalars import constants_of
from spyre_mlir.sdsc import model
from spyre_mlir.sdsc.validate.memory import reach
from spyre_mlir.sdsc.write import CONSTANTS_FILE, files, write
from spyre_mlir.sdsc_attributes import FUNCTION, read_bundle


@dataclass(frozen=True, slots=True)
class Bundle:
    """A compiled program.

    `model` says what the bundle means; `constants` gives the values of parameters that the compiler added behind the
    user's, by parameter number."""

    model: model.Bundle
    span_limit: int = SPAN_LIMIT_BYTES
    constants: Mapping[int, float] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, str]:
        """Name of each file -> its text."""
        return files(self.model)

    def write(self, folder: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Writes the files into a folder of their own, complete or not at all.

        `replace` overwrites a bundle that is there. Refusal SPY170 if the folder holds anything else; OSError as the
        file system raises it."""
        extra = {}
        if self.constants:
            values = {str(number): value for number, value in sorted(self.constants.items())}
            extra[CONSTANTS_FILE] = json.dumps(values, indent=2) + "\n"
        write(self.model, folder, extra=extra, limit=self.span_limit, replace=replace)


def compile(
    program: str | bytes | os.PathLike[str] | ir.Module,
    *,
    cores: int = CORES,
    span_limit: int = SPAN_LIMIT_BYTES,
    plan: bool = True,
    remainder: Literal["never", "fallback", "always"] = "fallback",
    reductions: Literal["never", "fallback", "always"] = "fallback",
    division: Literal["ignored", "counted"] = "ignored",
    policy: Literal["agree", "intersect"] = "agree",
) -> Bundle:
    """Compiles a module, the text (or bytecode) of one, or a file (a path object), by the pipeline `spyre-to-sdsc`.

    `cores` to divide over; `span_limit` in bytes; `plan`: whether operations that reach too far are tiled;
    `remainder`: when a last tile may be smaller; `reductions`: when a reduced range may be divided;
    `division`: whether tiles may count on the division over cores; `policy`: whether operands whose valid regions
    differ are refused or narrowed. A module given is not changed.

    Raises ir.MLIRError with every diagnostic (code, place, notes) if the program is refused, Refusal SPY095 if it
    computes nothing, ValueError for an option out of range, OSError if the file cannot be read."""
    pipeline = pipeline_of(
        cores=cores,
        span_limit=span_limit,
        plan=plan,
        policy=policy,
        remainder=remainder,
        reductions=reductions,
        division=division,
    )
    if isinstance(program, ir.Module):
        with program.context:
            return _compile(program.operation.clone(), pipeline, span_limit)
    with ir.Context():
        module = read_program(program)
        return _compile(module.operation, pipeline, span_limit)


def pipeline_of(
    *,
    cores: int,
    span_limit: int,
    plan: bool,
    policy: str,
    remainder: str = "fallback",
    reductions: str = "fallback",
    division: str = "ignored",
) -> str:
    """The pipeline of `compile`, as text."""
    planned = "true" if plan else "false"
    options = (
        f"cores={cores} span-limit={span_limit} plan={planned} policy={policy} "
        f"remainder={remainder} reductions={reductions} division={division}"
    )
    return f"builtin.module(spyre-to-sdsc{{{options}}})"


def read_program(program: str | bytes | os.PathLike[str]) -> ir.Module:
    """The module of a text, bytecode or file, in the current context.

    Raises ir.MLIRError or ValueError if it is malformed, OSError if the file cannot be read."""
    try:
        if isinstance(program, (str, bytes)):
            return ir.Module.parse(program)
        open(program, "rb").close()  # says why it cannot be read, where MLIR would not
        return ir.Module.parseFile(os.fspath(program))
    except RuntimeError:
        # The bindings cannot turn what MLIR says of damaged bytecode into text.
        raise ValueError("the program is no MLIR: its bytecode is damaged") from None


def _compile(module: ir.Operation, pipeline: str, span_limit: int) -> Bundle:
    passmanager.run(passmanager.parse(pipeline), module)
    return bundle_of(module, span_limit)


def bundle_of(module: ir.Operation, span_limit: int = SPAN_LIMIT_BYTES) -> Bundle:
    """The bundle of a module that the pipeline has compiled. Refusal SPY095 if nothing is computed."""
    functions = [op for op in module.regions[0].blocks[0] if op.operation.name == "func.func"]
    if not any(ir.StringAttr(f.attributes["sym_name"]).value == FUNCTION for f in functions):
        raise Refusal(
            "SPY095", "there is nothing to compile: no function of the module computes anything"
        )
    constants = {
        number: value.value
        for function in functions
        for number, value in constants_of(function.operation).items()
    }
    bundle = Bundle(read_bundle(module), span_limit, constants)
    _check_spans(bundle)
    return bundle


def _check_spans(bundle: Bundle) -> None:
    """Refuses what would not be written: SPY110 where cores share a dim that operands cut otherwise than work division
    took it."""
    for number, (sdsc, _) in enumerate(bundle.model.operations()):
        for index, operand in enumerate(sdsc.operands):
            reached = reach(sdsc, operand)
            if reached > bundle.span_limit:
                raise Refusal(
                    "SPY110",
                    f"{sdsc.function}: one core reaches over {reached} bytes of operand {index} in sdsc_{number}.json, "
                    f"the limit is {bundle.span_limit}",
                    remedy="copy the operand with spyre.identity before it is given another shape, or take fewer cores",
                )
