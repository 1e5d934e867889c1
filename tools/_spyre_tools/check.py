# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre check`: whether a program means the same at every stage of its compilation."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from _spyre_tools.compile import _positive, planning, planning_arguments


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("file", help="an MLIR file, or - for standard input")
    parser.add_argument(
        "--seeds", type=_positive, default=2, help="inputs on which it is run (default: 2)"
    )
    parser.add_argument("--cores", type=_positive, default=32, help="cores to divide over (32)")
    parser.add_argument(
        "--span-limit", type=_positive, metavar="BYTES", help="largest span of one core, in bytes"
    )
    planning_arguments(parser)
    parser.add_argument(
        "--plan",
        action=argparse.BooleanOptionalAction,
        help="tile operations that reach too far (default: yes, unless the environment says no)",
    )
    parser.add_argument(
        "--policy",
        choices=("agree", "intersect"),
        default="agree",
        help="refuse operands whose valid regions differ, or narrow them (default: agree)",
    )


def execute(options: argparse.Namespace) -> int:
    """Prints the report; 1 if a stage or an address is wrong, or nothing could be compared."""
    from spyre_mlir.checking.comparison import check
    from spyre_mlir.hardware import SPAN_LIMIT_BYTES

    program = sys.stdin.buffer.read() if options.file == "-" else Path(options.file)
    report = check(
        program,
        seeds=options.seeds,
        cores=options.cores,
        span_limit=options.span_limit or SPAN_LIMIT_BYTES,
        plan=planning(options.plan),
        policy=options.policy,
        remainder=options.remainder,
        reductions=options.reductions,
        division=options.division,
    )
    if options.format == "json":
        json.dump(report.as_json(), sys.stdout, indent=2)
        print()
    else:
        print(report.as_text(), end="")
    return 0 if report.status == "same" else 1
