# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came of one program: the same at every stage, refused with a code, or at fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuzz_programs import Program

from spyre_mlir import ir, passmanager
from spyre_mlir.checking.comparison import check
from spyre_mlir.checking.stages import passes_of
from spyre_mlir.compiler import pipeline_of
from spyre_mlir.diagnostics import Refusal

CODE = re.compile(r"SPY\d{3}")

VERIFIERS = range(1, 11)
"""Numbers of the codes of the dialects' own verifiers. A program is verified when it is built, so from one that is
compiled they come from what a pass made."""

BOUNDARIES = range(11, 20)
"""Those of symbols and boundaries, which a pass checks: they may be about the program as it is given."""

READER = "spyre-verify-valid-regions"
"""That pass, the last that reads the program as it is given."""

VARYING = re.compile(
    r'"[^"]*":\d+:\d+|spyre\.\w+ op|\([\w/.]*:\d+\)|#spyre\.\S+|tensor<[^ ]*'
    r"|(?<![\dY])-?\d[\d.e+-]*|\binf\b|\bnan\b|min>>|max>>|zero>>"
)
"""What differs between programs at fault in the same way: places, operations, types, figures."""


@dataclass(frozen=True)
class Outcome:
    """`kind` is "same", "not run", a code of a refusal, or "fault". Programs at fault in the same way
    have one `signature`. A verifier's code is a fault where a pass made what it tells of."""

    kind: str
    signature: str = ""
    detail: str = ""


def outcome_of(program: Program, *, seeds: int = 2) -> Outcome:
    """Builds, compiles and checks a program. Raises what the builders raise."""
    text = program.text()
    try:
        report = check(text, seeds=seeds, **program.options)
    except (Refusal, ir.MLIRError) as error:
        code = CODE.search(str(error))
        if code is not None and not _is_of_a_pass(int(code.group()[3:]), text, program.options):
            return Outcome(code.group())
        return Outcome("fault", _signature(str(error)), str(error))
    except Exception as error:
        return Outcome("fault", _signature(f"{type(error).__name__} {error}"), repr(error))
    if report.status == "differs":
        if report.fault is None:
            return Outcome("fault", "addresses", report.as_text())
        where = f"{report.fault.level} {report.fault.stage}: {report.fault.detail}"
        return Outcome("fault", _signature(where), report.as_text())
    return Outcome(report.status, "", "" if report.status == "same" else report.as_text())


def _is_of_a_pass(number: int, text: str, options: Mapping[str, Any]) -> bool:
    """Whether a code tells of IR that a pass made: no program that is given may be refused with it."""
    if number not in BOUNDARIES:
        return number in VERIFIERS
    with ir.Context():
        pipeline = str(passmanager.parse(pipeline_of(**options)))
        module = ir.Module.parse(text)
        try:
            for name, alone in passes_of(pipeline):
                passmanager.run(passmanager.parse(alone), module.operation)
                if name == READER:
                    return True
        except ir.MLIRError:
            return False
    raise AssertionError(f"the pipeline has no {READER}")


def _signature(text: str) -> str:
    """A message without its figures, places and types."""
    lines = [line for line in text.splitlines() if line.strip() and "Failure while" not in line]
    return re.sub(r"\[[ ,]*\]|'|^error: :? ?", "", VARYING.sub("", lines[0]))[:90].strip()
