# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre-opt`: finds the passes that the command line names, then leaves everything to MLIR."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import mlir._mlir_libs as libs

from spyre_mlir import registry
from spyre_mlir._mlir_libs import _spyre

# Options whose effect depends on passes that the command line does not name.
_ABOUT_ALL = {"help", "help-list", "help-hidden", "help-list-hidden", "h", "list-passes"}
_ABOUT_ALL |= {"run-reproducer"}


def main(arguments: list[str]) -> int:
    """Runs the optimizer once; its exit code. Help and version end the process from within MLIR."""
    registry.start()
    try:
        for module in _modules_to_load(arguments):
            sys.path.append(os.getcwd())
            registry.load_module(module)
    except Exception as error:
        print(f"spyre-opt: cannot load passes: {_describe(error)}", file=sys.stderr)
        return 1
    flags = [_flag(argument) for argument in arguments if argument.startswith("-")]
    if _ABOUT_ALL.intersection(flags):
        registry.load_entry_points()
    else:
        registry.know(name for name in _passes_named(arguments, flags))
    if _runs_ours(arguments, flags) and "mlir-disable-threading" not in flags:
        # Python code runs on one thread at a time; going from thread to thread takes longer.
        arguments = [*arguments, "--mlir-disable-threading"]
    registry.keep_contexts()
    code: int = _spyre.opt_main(["spyre-opt", *arguments], libs.get_dialect_registry())
    return code


def _flag(argument: str) -> str:
    return argument.lstrip("-").split("=", 1)[0]


def _values_of(option: str, arguments: list[str]) -> Iterator[str]:
    """The values of an option, in either spelling: `--name=value`, `--name value`."""
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if argument.startswith("-") and _flag(argument) == option:
            yield argument.split("=", 1)[1] if "=" in argument else following


def _runs_ours(arguments: list[str], flags: list[str]) -> bool:
    return any(map(registry.schema, flags)) or any(map(registry.has_ours, _pipelines(arguments)))


def _pipelines(arguments: list[str]) -> Iterator[str]:
    for option in ("pass-pipeline", "p"):
        yield from _values_of(option, arguments)


def _modules_to_load(arguments: list[str]) -> Iterator[str]:
    return _values_of("load-passes", arguments)


def _passes_named(arguments: list[str], flags: list[str]) -> Iterator[str]:
    for flag in flags:
        if flag and not _spyre.is_registered(flag) and not _spyre.is_opt_flag(flag):
            yield flag
    for pipeline in _pipelines(arguments):
        yield from registry.names_in(pipeline)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
