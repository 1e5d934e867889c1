# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pyright: basic
"""lit: every .mlir and .py below test/ with a RUN line, except what pytest runs (test/python)."""

import os
import sys

import lit.formats

# Found as modules: neither package puts its programs on PATH.
import llvm
import mlir._mlir_libs

config.name = "spyre-mlir"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".py"]  # noqa: F821
config.excludes = ["lit.cfg.py", "conftest.py", "python", "data", "fuzz", "Inputs"]  # noqa: F821
# What pytest runs is not lit's.
for _, _, names in os.walk(os.path.join(os.path.dirname(__file__), "tools")):
    config.excludes += [name for name in names if name.startswith("test_")]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(os.path.dirname(__file__), "..", "build", "lit")  # noqa: F821

tools = [
    *filter(None, [lit_config.params.get("tools")]),  # noqa: F821
    os.path.dirname(sys.executable),
    os.path.join(next(iter(llvm.__path__)), "bin"),
    os.path.join(os.path.dirname(os.path.dirname(mlir._mlir_libs.__file__)), "bin"),
]
config.environment["PATH"] = os.pathsep.join([*tools, config.environment.get("PATH", "")])  # noqa: F821
config.substitutions.append(("%PYTHON", sys.executable))  # noqa: F821
config.substitutions.append(("%examples", os.path.join(config.test_source_root, "..", "examples")))  # noqa: F821
