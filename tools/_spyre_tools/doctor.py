# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre doctor`: looks at every part an installation needs, each after those it rests on."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import metadata

from _spyre_tools import bar_numpy


def configure(parser: argparse.ArgumentParser) -> None:
    pass


def execute(options: argparse.Namespace) -> int:
    bar_numpy()
    findings = [_look(name, check) for name, check in _CHECKS.items()]
    works = all(ok for _, ok, _ in findings)
    if options.format == "json":
        rows = [{"part": part, "ok": ok, "finding": text} for part, ok, text in findings]
        print(json.dumps({"works": works, "parts": rows}, indent=2))
    else:
        for part, ok, text in findings:
            print(f"{'ok   ' if ok else 'WRONG'} {part}: {text}")
    return 0 if works else 1


def _look(name: str, check: Callable[[], str]) -> tuple[str, bool, str]:
    try:
        return name, True, check()
    except Exception as error:
        return name, False, f"{type(error).__name__}: {error}"


def _python() -> str:
    if not (3, 11) <= sys.version_info < (3, 14):
        raise RuntimeError(f"Python {sys.version.split()[0]} is not supported: 3.11 to 3.13 are")
    return sys.version.split()[0]


def _pinned() -> str:
    """The extension shares C++ classes with these packages: they must be those it was built for."""
    required = [text for text in metadata.requires("spyre-mlir") or () if "extra" not in text]
    pins = dict(text.split("==") for text in required if text.startswith("xtc-"))
    present = {name: metadata.version(name) for name in sorted(pins)}
    wrong = [
        f"{name} is {found}, not {pins[name]}"
        for name, found in present.items()
        if found != pins[name]
    ]
    if wrong:
        raise RuntimeError("; ".join(wrong) + " (install again with pip)")
    return ", ".join(f"{name} {found}" for name, found in present.items())


def _mlir() -> str:
    import mlir._mlir_libs

    return str(mlir._mlir_libs.__file__)


def _extension() -> str:
    from spyre_mlir._mlir_libs import _spyre

    return str(_spyre.__file__)


def _passes() -> str:
    from spyre_mlir import registry

    return f"{len(registry.schemas())} passes and pipelines"


def _dialects() -> str:
    from spyre_mlir import registry

    ir = registry.import_late("spyre_mlir.ir")
    with ir.Context() as context:
        for name in _DIALECTS:
            assert context.dialects[name] is not None
        ir.Module.parse("func.func @f() { return }").operation.verify()
    return ", ".join(_DIALECTS)


_DIALECTS = ("spyre", "sdscbundle")

_CHECKS = {
    "Python": _python,
    "packages": _pinned,
    "MLIR": _mlir,
    "extension": _extension,
    "passes": _passes,
    "dialects": _dialects,
}
