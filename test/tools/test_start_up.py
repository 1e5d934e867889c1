# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tools load when they start, and how the cache of schemas behaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

START = """
import sys
sys.modules.setdefault("numpy", None)
from spyre_mlir import registry
registry.start()
"""


def run(code: str, **environment: str) -> str:
    """Output of Python code in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_start_loads_no_pass_and_no_number_package() -> None:
    run(START)  # makes the cache, if there is none
    heavy = '{"numpy", "sympy", "dataclasses", "importlib.metadata"}'
    look = f"""
loaded = {{name for name, module in sys.modules.items() if module is not None}}
print(sorted(name for name in loaded if name in {heavy} or name.startswith("spyre_mlir.passes.")))
"""
    assert run(START + look) == "[]"


def test_known_from_the_cache_and_without_it_are_the_same() -> None:
    show = "print(registry.schemas())"
    cached = run(START + show)
    fresh = run(
        START.replace("registry.start", "registry._read = lambda *a: None\nregistry.start") + show
    )
    assert cached == fresh
    assert "spyre-to-sdsc" in cached


def test_numpy_is_there_again_when_a_pass_runs() -> None:
    code = """
registry.import_late("spyre_mlir.passmanager")
import numpy
print(numpy.arange(3).sum())
"""
    assert run(START + code) == "3"


def test_importing_a_pass_first_works_without_the_cache() -> None:
    code = """
from spyre_mlir import registry
registry._read = lambda *a: None
registry._write = lambda *a: None
from spyre_mlir.passes.assign_layouts import AssignLayouts
from spyre_mlir import ir
from spyre_mlir.passmanager import PassManager, apply
with ir.Context():
    PassManager.parse("builtin.module(func.func(spyre-assign-layouts))")
    apply(ir.Module.parse("func.func @f() { return }"), AssignLayouts())
print(len(registry.schemas()) > 1)
"""
    assert run(code) == "True"


def test_a_broken_pass_module_leaves_the_others(tmp_path: Path) -> None:
    code = """
import importlib, sys
from spyre_mlir import registry
registry._read = lambda *a: None
stock = importlib.import_module
def broken(name, *rest):
    if name == "spyre_mlir.passes.tile":
        raise SyntaxError("half written")
    return stock(name, *rest)
importlib.import_module = broken
registry.start()
print([s.argument for s in registry.schemas() if s.argument in ("spyre-tile", "spyre-to-sdsc")])
"""
    assert run(code) == "['spyre-to-sdsc']"


def test_cache_is_marshal_of_plain_values(tmp_path: Path) -> None:
    code = f"""
path = {str(tmp_path / "cache" / "schemas")!r}
plain = [schema.plain() for schema in registry.schemas()]
state = [("a.py", 1, 2)]
assert registry._read(path, state) is None
registry._write(path, state, plain)
assert registry._read(path, state) == plain
assert registry._read(path, [("a.py", 1, 3)]) is None
open(path, "wb").write(b"no cache")
assert registry._read(path, state) is None
"""
    run(START + code)
