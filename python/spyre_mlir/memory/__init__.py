# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory: where every value of a function lies, in place where that is safe, else in the pool.

`plan_memory` plans a whole `Program`; `allocate` only places blocks."""

from .plan import Copy, MemoryPlan, Place, plan_memory
from .pool import Block, Pool, allocate, pack, peak
from .program import Carried, Compute, Empty, Loop, Program, Step, Update, View

__all__ = [
    "Block",
    "Carried",
    "Compute",
    "Copy",
    "Empty",
    "Loop",
    "MemoryPlan",
    "Place",
    "Pool",
    "Program",
    "Step",
    "Update",
    "View",
    "allocate",
    "pack",
    "peak",
    "plan_memory",
]
