# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bundle interpreter: what the files of a bundle compute, byte by byte.

It knows nothing of the compiler: it reads `bundle.mlir` and the SDSCs, and has a function table of
its own. See docs/interpreter.md."""

from spyre_mlir.machine.execution import UnwrittenRead
from spyre_mlir.machine.host import run_program
from spyre_mlir.machine.memory import DATA, POISON, UNWRITTEN, Buffer
from spyre_mlir.machine.run import Run, Touched, run_bundle, trace_bundle
from spyre_mlir.machine.transfer import from_device, to_device

__all__ = [
    "DATA",
    "POISON",
    "UNWRITTEN",
    "Buffer",
    "Run",
    "Touched",
    "UnwrittenRead",
    "from_device",
    "run_bundle",
    "run_program",
    "to_device",
    "trace_bundle",
]
