# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre COMMAND ...`: the commands of a user. Each is a module here, loaded when it is called.

A command module has `configure(parser)`, which adds its arguments, and `execute(options) -> int`,
which returns the exit code. Every command has `--format text|json`. What goes wrong is raised, and
told here: a message, exit code 1, never a traceback.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any

COMMANDS = {
    "check": "check that a program means the same at every stage of its compilation",
    "compile": "compile a program into an SDSC bundle",
    "doctor": "say whether this installation works, and what is wrong with it",
    "explain": "say why operations are tiled as they are",
    "run": "run a function with the reference interpreter",
    "specs": "turn an op spec list of the reference compiler into a bundle",
    "validate": "check a bundle folder, ours or not",
}
"""Command, which is also the name of its module, -> what it does."""


def main(arguments: list[str]) -> int:
    """Runs one command; its exit code (2 for a command line that is not understood)."""
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        return _no_command(name)
    command = importlib.import_module(f"_spyre_tools.{name}")
    parser = argparse.ArgumentParser(prog=f"spyre {name}", description=COMMANDS[name])
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the output")
    command.configure(parser)
    try:
        options = parser.parse_args(arguments[1:])
    except SystemExit as end:  # argparse has said why
        return int(end.code or 0)
    try:
        code: int = command.execute(options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, Exception) as error:
        _tell(error, options.format)
        return 1
    return code


def _no_command(name: str) -> int:
    wants_help = name in ("-h", "--help", "help")
    out = sys.stdout if wants_help else sys.stderr
    if name == "--version":
        from importlib.metadata import version

        print(f"spyre-mlir {version('spyre-mlir')}")
        return 0
    if name and not wants_help:
        print(f"spyre: there is no command '{name}'", file=out)
    print("usage: spyre COMMAND ...   (spyre COMMAND --help)\n", file=out)
    for command, help in COMMANDS.items():
        print(f"  {command:<10} {help}", file=out)
    return 0 if wants_help else 2


def _tell(error: BaseException, format: str) -> None:
    told = explain(error)
    if format == "json":
        json.dump({"error": told}, sys.stdout, indent=2)
        print()
        return
    code = f"{told['code']}: " if told["code"] else ""
    print(f"error: {code}{told['message']}", file=sys.stderr)
    for note in told["notes"]:
        print(f"note: {note}", file=sys.stderr)
    if told["remedy"]:
        print(f"remedy: {told['remedy']}", file=sys.stderr)


def explain(error: BaseException) -> dict[str, Any]:
    """An error in the words of a user: `code` (or None), `message`, `notes`, `remedy` (or None)."""
    from spyre_mlir.diagnostics import Refusal

    code, remedy, notes = None, None, []
    if isinstance(error, Refusal):
        code, message, remedy = error.code, error.message, error.remedy
        notes = [note.message for note in error.notes]
    elif hasattr(error, "error_diagnostics"):  # ir.MLIRError, which is not loaded for every command
        lines = [line for info in error.error_diagnostics for line in _lines(info)]
        message, notes = (lines[0], lines[1:]) if lines else (str(error), [])
    elif isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        message = place + error.strerror
    elif isinstance(error, MemoryError):
        message = f"not enough memory: {error}"
    elif isinstance(error, RecursionError):
        message = "the input nests too deep"
    elif isinstance(error, KeyboardInterrupt):
        message = "interrupted"
    elif isinstance(error, ValueError):
        message = str(error)
    else:
        message = f"this is a fault of spyre-mlir: {type(error).__name__}: {error}"
    return {"code": code, "message": message, "notes": notes, "remedy": remedy}


def _lines(info: Any) -> list[str]:
    """A diagnostic and its notes, each with its place."""
    place = str(info.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    line = info.message if place == "unknown" else f"{place}: {info.message}"
    return [line, *(text for note in info.notes for text in _lines(note))]
