# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came of one program: the same at every stage, refused with a code, or at fault."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fuzz_programs import Program

from spyre_mlir import ir
from spyre_mlir.checking.comparison import check
from spyre_mlir.diagnostics import Refusal

CODE = re.compile(r"SPY\d{3}")

VARYING = re.compile(
    r'"[^"]*":\d+:\d+|spyre\.\w+ op|\([\w/.]*:\d+\)|#spyre\.\S+|tensor<[^ ]*'
    r"|(?<![\dY])-?\d[\d.e+-]*|\binf\b|\bnan\b|min>>|max>>|zero>>"
)
"""What differs between programs at fault in the same way: places, operations, types, figures."""


@dataclass(frozen=True)
class Outcome:
    """`kind` is "same", "not run", a code of a refusal, or "fault". Programs at fault in the same way
    have one `signature`."""

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
        if code is not None:
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


def _signature(text: str) -> str:
    """A message without its figures, places and types."""
    lines = [line for line in text.splitlines() if line.strip() and "Failure while" not in line]
    return re.sub(r"\[[ ,]*\]|'|^error: :? ?", "", VARYING.sub("", lines[0]))[:90].strip()
