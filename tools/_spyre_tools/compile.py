# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre compile`: a program into a bundle."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

SWITCHES = (
    "SPYRE_INDUCTOR_IGNORE_HINTS",
    "SPYRE_INDUCTOR_IGNORE_SPAN_OVERFLOW_HINTS",
)
"""Environment switches of the reference compiler; "1" turns planning off. An option wins over them."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("file", help="an MLIR file, or - for standard input")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the bundle")
    parser.add_argument("--cores", type=_positive, default=32, help="cores to divide over (32)")
    parser.add_argument(
        "--span-limit", type=_positive, metavar="BYTES", help="largest span of one core, in bytes"
    )
    parser.add_argument(
        "--plan",
        action=argparse.BooleanOptionalAction,
        help="tile operations that reach too far (default: yes, unless the environment says no)",
    )
    planning_arguments(parser)
    parser.add_argument(
        "--policy",
        choices=("agree", "intersect"),
        default="agree",
        help="refuse operands whose valid regions differ, or narrow them (default: agree)",
    )
    parser.add_argument("--replace", action="store_true", help="overwrite a bundle that is there")


def planning_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say which plans are allowed."""
    parser.add_argument(
        "--remainder",
        choices=("never", "fallback", "always"),
        default="fallback",
        help="when a last tile may be smaller (default: fallback)",
    )
    parser.add_argument(
        "--reductions",
        choices=("never", "fallback", "always"),
        default="fallback",
        help="when a reduced range may be divided, and its parts combined (default: fallback)",
    )
    parser.add_argument(
        "--division",
        choices=("ignored", "counted"),
        default="ignored",
        help="whether tiles may count on the division over cores (default: ignored)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def planning(option: bool | None) -> bool:
    """Whether to plan: option over environment over default (yes)."""
    if option is not None:
        return option
    return not any(os.environ.get(switch) == "1" for switch in SWITCHES)


def execute(options: argparse.Namespace) -> int:
    """Compiles, writes, and says what was written."""
    from spyre_mlir.compiler import compile
    from spyre_mlir.hardware import SPAN_LIMIT_BYTES

    program = sys.stdin.buffer.read() if options.file == "-" else Path(options.file)
    bundle = compile(
        program,
        cores=options.cores,
        span_limit=options.span_limit or SPAN_LIMIT_BYTES,
        plan=planning(options.plan),
        remainder=options.remainder,
        reductions=options.reductions,
        division=options.division,
        policy=options.policy,
    )
    bundle.write(options.output, replace=options.replace)
    report: list[dict[str, Any]] = [
        {
            "file": f"sdsc_{number}.json",
            "function": sdsc.function,
            "cores": sdsc.cores,
            "loops": list(trips),
        }
        for number, (sdsc, trips) in enumerate(bundle.model.operations())
    ]
    if options.format == "json":
        json.dump({"folder": options.output, "operations": report}, sys.stdout, indent=2)
        print()
        return 0
    for entry in report:
        loops = "".join(f" in a loop of {trip}" for trip in entry["loops"])
        print(f"{entry['file']}: {entry['function']} on {entry['cores']} cores{loops}")
    print(f"{options.output}: {len(report)} operations")
    return 0
