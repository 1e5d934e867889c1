# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The case runner: files of observed cases, run through public API, a JSON line per case.

    python -m spyre_mlir.cases a.json b.json

A file is a JSON list of cases or has one case per line. A line of output has `name`, `status`
(`equal`, `differs`, `out-of-scope`), `expected`, `got` and `reason`, and what a handler puts
beside. Handlers live in the modules of this package, each in a dict `HANDLERS` by category; what a
handler leaves out stands in its module as a named predicate on the fields of a case, with the
reason."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spyre_mlir.cases.outcomes import Case, Outcome, OutOfScope
from spyre_mlir.diagnostics import Refusal

_LAYOUTS = (
    "layout.default",
    "layout.dim_order",
    "layout.resize",
    "coords",
    "span_elems",
    "stick_dim",
)


def category(case: Case) -> str:
    """The category of a case; lists of observed programs name none, but have fields of their
    own."""
    if "category" in case:
        return str(case["category"])
    if "ir_ops" in case and "cores" in case:
        return "work_division"
    if "ops" in case and "groups_aug" in case:
        return "spans"
    raise ValueError(f"a case without category, of fields {', '.join(sorted(case))}")


def module(case: Case) -> str:
    """The module of this package that handles a case."""
    kind = category(case)
    if kind == "work_division":
        return "division_cases"
    if kind == "spans" or kind in _LAYOUTS:
        return "layout_cases"
    # Both remaining collections name categories of their own; only cases of the planner name the
    # function of the reference that was observed.
    return "planner_cases" if "function" in case else "region_cases"


def run_case(case: Case) -> Outcome:
    """What one case expects and what comes out. ValueError for a category without a handler."""
    handlers = importlib.import_module(f"{__name__}.{module(case)}").HANDLERS
    kind = category(case)
    if kind not in handlers:
        raise ValueError(f"no handler for cases of category {kind}")
    try:
        found = handlers[kind](case)
    except OutOfScope as out:
        return Outcome(case.get("expected"), None, out.reason, in_scope=False)
    except Refusal as refusal:
        found = {"kind": "refused", "code": refusal.code, "message": refusal.message}
    # A handler that compares by itself hands back the differences, one sentence each.
    return found if isinstance(found, Outcome) else Outcome(case.get("expected", ()), found)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file: a JSON list, or one JSON object per line. ValueError for what is none."""
    text = path.read_text()
    if text.lstrip().startswith("["):
        cases = list(json.loads(text))
    else:
        cases = [json.loads(line) for line in text.splitlines() if line.strip()]
    for number, case in enumerate(cases):
        if not isinstance(case, dict):
            raise ValueError(f"case {number} is {type(case).__name__}, not an object")
        category(case)
    return cases


def run_files(paths: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
    """One line per case, as a mapping."""
    for path in paths:
        yield from run_cases(read_cases(path))


def run_cases(cases: Sequence[Case]) -> Iterator[Mapping[str, Any]]:
    """One line per case of a file."""
    for number, case in enumerate(cases):
        outcome = run_case(case)
        default = f"{case.get('program', case.get('op', category(case)))}#{number}"
        yield {
            "name": case.get("name", default),
            "status": outcome.status,
            "expected": outcome.expected,
            "got": outcome.got,
            "reason": outcome.reason,
            **outcome.beside,
        }


def main(arguments: Sequence[str]) -> int:
    """Prints the lines; 0 if nothing differs, 1 if something does or a file holds no cases, 2 without files."""
    if not arguments:
        print("usage: python -m spyre_mlir.cases FILES...", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    for argument in arguments:
        try:
            cases = read_cases(Path(argument))
        except (OSError, ValueError) as error:
            print(f"error: {argument} cannot be read as cases: {error}", file=sys.stderr)
            return 1
        for line in run_cases(cases):
            counts[line["status"]] += 1
            print(json.dumps(line))
    total = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"{counts.total()} cases: {total}", file=sys.stderr)
    return 1 if counts["differs"] else 0
