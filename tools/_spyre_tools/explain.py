# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre explain`: why each operation of a program is tiled as it is."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from _spyre_tools.compile import _positive, planning, planning_arguments

if TYPE_CHECKING:
    from spyre_mlir.explanations import Explanation


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("file", help="an MLIR file, or - for standard input")
    parser.add_argument(
        "--span-limit", type=_positive, metavar="BYTES", help="largest span of one core, in bytes"
    )
    parser.add_argument(
        "--policy", choices=("default", "seed"), default="default", help="of the planner (default)"
    )
    parser.add_argument("--cores", type=_positive, default=32, help="cores to divide over (32)")
    planning_arguments(parser)
    parser.add_argument(
        "--plan",
        action=argparse.BooleanOptionalAction,
        help="plan tiles (default: yes, unless the environment says no)",
    )


def execute(options: argparse.Namespace) -> int:
    """Prints the explanation; 1 if an operation is refused."""
    from spyre_mlir.explanations import explain_program
    from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
    from spyre_mlir.options import check_range
    from spyre_mlir.tiling import Options

    program = sys.stdin.buffer.read() if options.file == "-" else Path(options.file)
    planner = Options(
        enabled=planning(options.plan),
        span_limit=options.span_limit or SPAN_LIMIT_BYTES,
        policy=options.policy,
        remainder=options.remainder,
        reductions=options.reductions,
        division=options.division,
        cores=options.cores,
    )
    check_range(planner, "cores", least=1, most=CORES)
    check_range(planner, "span_limit", least=1, most=SPAN_LIMIT_BYTES)
    explanation = explain_program(program, planner)
    _print(explanation, options.format)
    return 1 if explanation.refused else 0


def _print(explanation: Explanation, format: str) -> None:
    if format == "json":
        json.dump(explanation.as_json(), sys.stdout, indent=2)
        print()
    else:
        print(explanation.as_text(), end="")
