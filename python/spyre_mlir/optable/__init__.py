# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each operation of the dialect means, once: the table that everything else reads.

The interpreter, the valid-region rules, the planner, the emitter, the verifiers' messages and
the documentation take their facts from `OPS`; nothing else switches on operation names. Adding
an operation means a row here, its ODS record, and tests."""

from __future__ import annotations

from . import elementwise, moves, reductions, unary
from .model import (
    ALL,
    BOOL,
    DYNAMIC,
    FLOAT8,
    FLOATS,
    INTEGERS,
    NUMBERS,
    ROLES,
    RULES,
    SIGNED,
    TILINGS,
    Attribute,
    Combine,
    Device,
    Domain,
    Example,
    Linear,
    Op,
    Operand,
    Result,
)

OPS: dict[str, Op] = {
    op.name: op for op in (*elementwise.OPS, *unary.OPS, *reductions.OPS, *moves.OPS)
}
"""Operation name without the dialect prefix -> what it means. In the order of the documentation."""

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(op.family for op in OPS.values()))
"""Families in the order of the documentation."""

__all__ = [
    "ALL",
    "BOOL",
    "DYNAMIC",
    "FAMILIES",
    "FLOAT8",
    "FLOATS",
    "INTEGERS",
    "NUMBERS",
    "OPS",
    "ROLES",
    "RULES",
    "SIGNED",
    "TILINGS",
    "Attribute",
    "Combine",
    "Device",
    "Domain",
    "Example",
    "Linear",
    "Op",
    "Operand",
    "Result",
]
