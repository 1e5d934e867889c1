# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre run`: runs a function of a file: as it means, in planned memory, or as its bundle."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES

SUMMARY = (
    "run a function with the reference interpreter, or what it is compiled to; without --input"
    " every argument is random, by --seed"
)

STAGES = ("tensor", "device", "bundle")

STEPS = 10_000_000
"""Steps after which a run is given up: operations and trips of loops."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments (`--format` is every command's and not among them)."""
    parser.add_argument("file", help="an MLIR file, or - for standard input")
    parser.add_argument("--function", help="the function to run (default: the only public one)")
    parser.add_argument(
        "--input",
        action="extend",
        nargs="+",
        default=[],
        metavar="ARRAY.npy",
        help="the arguments in order, without those that introduce a symbol of --symbol",
    )
    parser.add_argument(
        "--symbol",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a symbol; with random inputs the largest of its range by default",
    )
    parser.add_argument("--seed", type=_count, default=0, help="of random inputs (default: 0)")
    parser.add_argument(
        "--stage",
        choices=STAGES,
        default="tensor",
        help="what to run: the program (tensor), compiled up to planned memory (device), or its"
        " bundle; default: tensor",
    )
    parser.add_argument(
        "--cores", type=_count, default=CORES, help=f"to compile for (default: {CORES})"
    )
    parser.add_argument(
        "--span-limit",
        type=_count,
        default=SPAN_LIMIT_BYTES,
        help=f"to compile with, in bytes (default: {SPAN_LIMIT_BYTES})",
    )
    parser.add_argument(
        "--policy",
        choices=("agree", "intersect"),
        default="agree",
        help="to compile with: whether valid regions of operands agree, or what all of them hold"
        " is valid (default: agree)",
    )
    parser.add_argument(
        "--steps",
        type=_count,
        default=STEPS,
        help=f"operations and trips of loops that may run (default: {STEPS})",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.npy", help="where to write; more results are numbered"
    )


def execute(options: argparse.Namespace) -> int:
    """Runs the command and prints the report; raises what is wrong with the input."""
    try:
        report = _run(options)
    except Refusal as refusal:
        if refusal.place is None:
            raise
        where = Note(f"at {refusal.place}")
        raise Refusal(
            refusal.code,
            refusal.message,
            notes=(*refusal.notes, where),
            remedy=refusal.remedy,
        ) from refusal
    print(json.dumps(report, indent=2) if options.format == "json" else _text(report))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command by itself; returns 0, 1 for a refusal or an input that cannot be used, 2 for
    wrong usage. Never raises for bad input."""
    parser = argparse.ArgumentParser(prog="spyre run", description=SUMMARY)
    configure(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return execute(options)
    except Exception as error:
        problem = _problem(error, options.file)
        if problem is None:
            raise
        _print_problem(problem, options.format)
        return 1


def _problem(error: Exception, file: str) -> dict[str, Any] | None:
    """What is wrong with the input, or None if the error is not the input's."""
    if isinstance(error, Refusal):
        notes = [note.message for note in error.notes]
        return {
            "code": error.code,
            "message": error.message,
            "notes": notes,
            "remedy": error.remedy,
        }
    if isinstance(error, OSError):
        what = f"{error.filename or file}: {error.strerror or error}"
        return {"code": None, "message": what, "notes": [], "remedy": None}
    # MLIRError is known by its diagnostics: the bindings make the class when they are loaded.
    if isinstance(error, ValueError) or hasattr(error, "error_diagnostics"):
        return {"code": None, "message": f"{file}: {error}", "notes": [], "remedy": None}
    return None


def _print_problem(problem: Mapping[str, Any], form: str) -> None:
    if form == "json":
        print(json.dumps({"error": problem}, indent=2))
        return
    code = f"{problem['code']}: " if problem["code"] else ""
    print(f"error: {code}{problem['message']}", file=sys.stderr)
    for note in problem["notes"]:
        print(f"note: {note}", file=sys.stderr)
    if problem["remedy"]:
        print(f"remedy: {problem['remedy']}", file=sys.stderr)


def _run(options: argparse.Namespace) -> dict[str, Any]:
    from spyre_mlir import ir
    from spyre_mlir.commands.stages import program_at
    from spyre_mlir.interpreter.inputs import random_inputs
    from spyre_mlir.options import check_range

    for field, most in (("cores", CORES), ("span_limit", SPAN_LIMIT_BYTES)):
        check_range(options, field, least=1, most=most)
    with ir.Context():
        program = program_at(options.stage, _parse(options.file), options)
        function = program.function
        symbols = _symbols(options.symbol)
        if options.input:
            arrays: Sequence[Any] = [_load(path) for path in options.input]
        else:
            symbols, arrays = random_inputs(function, seed=options.seed, symbols=symbols)
        outputs = program.run(arrays, symbols)
    files = _save(options.output, outputs) if options.output is not None else [None] * len(outputs)
    return {
        "function": function.name,
        "stage": options.stage,
        "symbols": symbols,
        "seed": None if options.input else options.seed,
        "outputs": [
            _described(number, value, file)
            for number, (value, file) in enumerate(zip(outputs, files, strict=True))
        ],
    }


def _parse(file: str) -> Any:
    from spyre_mlir import ir

    if file == "-":
        return ir.Module.parse(sys.stdin.buffer.read())
    # The bindings' own message for a file that cannot be read does not say why.
    with Path(file).open("rb"):
        return ir.Module.parseFile(file)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _symbols(texts: Sequence[str]) -> dict[str, int]:
    values: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value.strip().removeprefix("-").isdecimal():
            raise Refusal("SPY134", f"--symbol {text!r} is not NAME=VALUE with a whole number")
        if name in values:
            raise Refusal("SPY134", f"--symbol gives {name} two values, {values[name]} and {value}")
        values[name] = int(value)
    return values


def _load(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Refusal("SPY135", f"{path} is no .npy file of numbers", notes=(str(error),)) from None


def _array(value: Any) -> Any:
    """The valid cells of a tensor, or a scalar, as an array."""
    import numpy as np

    return np.ascontiguousarray(value.valid if hasattr(value, "valid") else value)


def _save(target: str, outputs: Sequence[Any]) -> list[str]:
    """Writes the valid cells of each result; nothing is left half-written."""
    import numpy as np

    path = Path(target)
    if not path.name:
        raise ValueError(f"{target!r} is no name of a file")
    suffix = path.suffix or ".npy"
    several = len(outputs) > 1
    names = [
        path.with_name(f"{path.stem}_{i}{suffix}") if several else path.with_suffix(suffix)
        for i in range(len(outputs))
    ]
    for name, value in zip(names, outputs, strict=True):
        temporary = name.with_name(f".{name.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                np.save(file, _array(value), allow_pickle=False)
            temporary.replace(name)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(name)) from None
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    return [str(name) for name in names]


def _described(number: int, value: Any, file: str | None) -> dict[str, Any]:
    import numpy as np

    array = _array(value)
    shape = list(value.bound.shape) if hasattr(value, "bound") else []
    return {
        "index": number,
        "shape": shape,
        "valid_shape": list(array.shape) if hasattr(value, "bound") else [],
        "element": value.bound.element if hasattr(value, "bound") else str(array.dtype),
        "statistics": _statistics(array),
        "sha256": hashlib.sha256(array.reshape(-1).view(np.uint8)).hexdigest(),
        "file": file,
    }


_CHUNK = 1 << 20
"""Cells whose statistics are taken at once: a large result is never held in 64 bits as a whole."""


def _statistics(array: Any) -> dict[str, Any]:
    """Least, largest and mean of the finite cells, and how many are not finite."""
    import numpy as np

    integers = array.dtype.kind in "biu"
    flat = array.reshape(-1)
    least, largest, sums, finite, nan, infinite = [], [], [], 0, 0, 0
    for start in range(0, flat.size, _CHUNK):
        chunk = flat[start : start + _CHUNK].astype(np.int64 if integers else np.float64)
        kept = chunk[np.isfinite(chunk)]
        nan += int(np.isnan(chunk).sum())
        infinite += int(np.isinf(chunk).sum())
        if kept.size:
            least.append(kept.min())
            largest.append(kept.max())
            sums.append(float(kept.sum()))
            finite += kept.size
    plain = int if integers else float
    return {
        "min": plain(min(least)) if finite else None,
        "max": plain(max(largest)) if finite else None,
        "mean": math.fsum(sums) / finite if finite else None,
        "nan": nan,
        "infinite": infinite,
    }


def _text(report: Mapping[str, Any]) -> str:
    lines = []
    for output in report["outputs"]:
        shape = "x".join(map(str, [*output["shape"], output["element"]]))
        valid = (
            "" if output["shape"] == output["valid_shape"] else f" valid {output['valid_shape']}"
        )
        numbers = output["statistics"]
        lines.append(
            f"result {output['index']}: {shape}{valid}, min {numbers['min']}, max {numbers['max']},"
            f" mean {numbers['mean']}, {numbers['nan']} NaN, {numbers['infinite']} infinite,"
            f" sha256 {output['sha256'][:16]}"
            + (f", in {output['file']}" if output["file"] else "")
        )
    return "\n".join(lines) if lines else f"@{report['function']} has no results"
