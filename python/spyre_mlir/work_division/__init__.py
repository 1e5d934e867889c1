# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work division: how the iteration domain of one operation is cut over the cores.

`divide` is the whole of it; `core_slices` says which core gets which slice."""

from .divide import Division, check, cuts_for_spans, default_cuts, divide, divide_work
from .matmul import Candidate, Roles, candidates, cheapest, cost, roles
from .slices import core_slices
from .work import Cuts, Operand, Symbol, Work, core_spans, shares, units, work_of

__all__ = [
    "Candidate",
    "Cuts",
    "Division",
    "Operand",
    "Roles",
    "Symbol",
    "Work",
    "candidates",
    "cheapest",
    "check",
    "core_slices",
    "core_spans",
    "cost",
    "cuts_for_spans",
    "default_cuts",
    "divide",
    "divide_work",
    "roles",
    "shares",
    "units",
    "work_of",
]
