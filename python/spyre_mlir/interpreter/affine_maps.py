# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Affine maps read once into functions of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal

Numbers = Sequence[int]
Function = Callable[[Numbers, Numbers], int]

_COMBINE: tuple[tuple[Any, Callable[[int, int], int]], ...] = (
    (ir.AffineAddExpr, lambda a, b: a + b),
    (ir.AffineMulExpr, lambda a, b: a * b),
    (ir.AffineModExpr, lambda a, b: a % b),
    (ir.AffineFloorDivExpr, lambda a, b: a // b),
    (ir.AffineCeilDivExpr, lambda a, b: -(-a // b)),
)


def read_map(affine_map: Any) -> Callable[[Sequence[Any]], list[int]]:
    """The map as a function of its operands (dims, then symbols)."""
    dims = affine_map.n_dims
    results = [_expression(expression) for expression in affine_map.results]

    def values(operands: Sequence[Any]) -> list[int]:
        numbers = [int(value) for value in operands]
        return [result(numbers[:dims], numbers[dims:]) for result in results]

    return values


def _expression(expression: Any) -> Function:
    if isinstance(expression, ir.AffineConstantExpr):
        value = expression.value
        return lambda dims, symbols: value
    if isinstance(expression, ir.AffineDimExpr):
        dim = expression.position
        return lambda dims, symbols: dims[dim]
    if isinstance(expression, ir.AffineSymbolExpr):
        symbol = expression.position
        return lambda dims, symbols: symbols[symbol]
    for kind, combine in _COMBINE:
        if isinstance(expression, kind):
            left, right = _expression(expression.lhs), _expression(expression.rhs)
            return _combined(left, right, combine)
    raise Refusal("SPY136", f"affine expression {expression} is not known to the interpreter")


def _combined(left: Function, right: Function, combine: Callable[[int, int], int]) -> Function:
    return lambda dims, symbols: combine(left(dims, symbols), right(dims, symbols))
