# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of ranks that do not fit are refused with a code, for every operation of the table."""

from __future__ import annotations

from itertools import product

import pytest

from spyre_mlir import regions
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.optable import OPS
from spyre_mlir.tensors import TensorType

GIVEN = {
    "shape": (2, 4),
    "element": "f16",
    "predicate": "eq",
    "dims": (0,),
    "dim": 0,
    "k": 1,
    "permutation": (1, 0),
    "static_offsets": (0, 0),
    "valid_shape": (1, 1),
    "pad": "zero",
    "min": 0.0,
    "max": 1.0,
    "keep_dims": False,
    "zero_mean": False,
}
SHAPES = ((), (4,), (2, 4), (3, 2, 4))


@pytest.mark.parametrize("name", [name for name in OPS if name != "extent"])
def test_ranks(name: str) -> None:
    row = OPS[name]
    count = len([operand for operand in row.operands if operand.kind != "index"])
    known = {a.name for a in row.attributes}
    given = {k: v for k, v in GIVEN.items() if k in known or k in ("shape", "element")}
    for shapes in product(SHAPES, repeat=min(count, 3)):
        operands = [
            TensorType(shape, (operand.elements or row.elements)[0])
            for operand, shape in zip(row.operands, [*shapes, *shapes], strict=False)
        ]
        try:
            regions.infer(name, operands, given)
        except Refusal as refusal:
            assert refusal.code.startswith("SPY0")
