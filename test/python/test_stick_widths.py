# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements of several widths, and those that need a stick of their own for each cell."""

from __future__ import annotations

import pytest
from golden_programs import Program, of, t

import spyre_mlir
from spyre_mlir import builders as b
from spyre_mlir import ir
from spyre_mlir.checking import check
from spyre_mlir.tensors import TensorType


def f(*shape: int) -> TensorType:
    return t(*shape, element="f32")


def i1(*shape: int) -> TensorType:
    return t(*shape, element="i1")


PROGRAMS = {
    "to wider": of(2, t(4, 20))(lambda x: b.cast(x, element="f32")),
    "to wider, read": of(2, t(4, 70))(lambda x: b.exp(b.cast(x, element="f32"))),
    "to narrower": of(2, f(4, 20))(lambda x: b.cast(x, element="f16")),
    "to narrower, read": of(2, f(4, 70))(lambda x: b.exp(b.cast(x, element="f16"))),
    "one dim": of(2, t(20))(lambda x: b.cast(x, element="f32")),
    "one cell": of(2, t())(lambda x: b.cast(x, element="f32")),
    "to truth values": of(2, f(4, 70))(lambda x: b.cast(x, element="i1")),
    "to truth values of its width": of(2, t(4, 70))(lambda x: b.cast(x, element="i1")),
    "to the same": of(2, t(4, 70))(lambda x: b.cast(x, element="f16")),
    "compared": of(2, f(4, 70), f(4, 70))(lambda x, y: b.cmp(x, y, predicate="lt")),
    "compared in whole sticks": of(2, f(4, 128), f(4, 128))(
        lambda x, y: b.cmp(x, y, predicate="lt")
    ),
    "compared and chosen": of(2, f(4, 70), f(4, 70))(
        lambda x, y: b.select(b.cmp(x, y, predicate="lt"), x, y)
    ),
    "chosen": of(2, i1(4, 70), f(4, 70), f(4, 70))(b.select),
    "chosen by a column": of(2, i1(4, 1), f(4, 70), f(4, 70))(b.select),
    "integers chosen": of(2, i1(4, 70), *[t(4, 70, element="i32")] * 2)(b.select),
    "bytes chosen": of(2, i1(4, 70), *[t(4, 70, element="i8")] * 2)(b.select),
    "wide product": of(2, t(4, 64), t(64, 10))(lambda x, y: b.batch_matmul(x, y, element="f32")),
    "wide product of parts": of(2, t(4, 70), t(70, 10))(
        lambda x, y: b.batch_matmul(x, y, element="f32")
    ),
    "wide accumulator": of(2, f(4, 10), t(4, 70), t(70, 10))(
        lambda a, x, y: b.matmul_acc(a, x, y, element="f32")
    ),
    "accumulator": of(2, t(4, 10), t(4, 70), t(70, 10))(b.matmul_acc),
    "product over all": of(2, t(3, 5))(lambda x: b.prod(x, dims=[0, 1])),
    "product over all, kept": of(2, t(3, 5))(lambda x: b.prod(x, dims=[0, 1], keep_dims=True)),
    "product over one dim": of(2, t(7))(lambda x: b.prod(x, dims=[0])),
    "one column": of(2, t(4, 70), t(70, 1))(b.batch_matmul),
    "one column of whole sticks": of(2, t(4, 64), t(64, 1))(b.batch_matmul),
    "one column of many": of(2, t(3, 4, 70), t(3, 70, 1))(b.batch_matmul),
    "one row": of(2, t(1, 70), t(70, 5))(b.batch_matmul),
    "over one": of(2, t(4, 1), t(1, 5))(b.batch_matmul),
    "over one, many": of(2, t(3, 4, 1), t(1, 5))(b.batch_matmul),
    "one cell of each": of(2, t(1, 1), t(1, 1))(b.batch_matmul),
    "wide, over one": of(2, t(4, 1), t(1, 5))(lambda x, y: b.batch_matmul(x, y, element="f32")),
    "one element, wider": of(2, t(4, 3, 1))(lambda x: b.cast(x, element="f32")),
    "one element, narrower": of(2, f(4, 3, 1))(lambda x: b.cast(x, element="f16")),
    "the largest": of(2, t(16, 65))(lambda x: b.topk(x, k=1, dim=0, element="f16")),
    "the largest of a row": of(2, t(5, 65))(lambda x: b.topk(x, k=1, dim=1, element="f16")),
    "the largest of one dim": of(2, t(65))(lambda x: b.topk(x, k=1, dim=0, element="f16")),
    "the largest of one": of(2, t(1, 65))(lambda x: b.topk(x, k=1, dim=0, element="f16")),
    "largest of one dim": of(2, t(70))(lambda x: b.topk(x, k=3, dim=0, element="f16")),
    "largest values of one dim": of(2, t(70))(lambda x: b.topk(x, k=3, dim=0, element="f16")[0]),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_bundle_computes_the_program(program: Program) -> None:
    with ir.Context():
        report = check(program.module(), cores=program.cores)
    assert report.status == "same", report.as_text()
    assert all(stage.status == "same" for stage in report.stages), report.as_text()


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("compared in whole sticks", ["lesserthan", "fp32todl16"]),
        (
            "compared and chosen",
            ["lesserthan", "identity", "fp32todl16", "identity", "dl16tofp32", "where3"],
        ),
        ("to truth values of its width", ["notequal"]),
        ("to the same", ["identity"]),
    ],
)
def test_functions(name: str, functions: list[str]) -> None:
    """Only conversions read sticks of one width and write those of another."""
    with ir.Context():
        bundle = spyre_mlir.compile(PROGRAMS[name].module(), cores=2)
    assert [sdsc.function for sdsc, _ in bundle.model.operations()] == functions


@pytest.mark.parametrize("element", ["f8E4M3FN", "i8", "f32"])
def test_factors_are_of_16_bits(element: str) -> None:
    to = {"f8E4M3FN": "f16"}.get(element, element)
    program = of(1, t(4, 128, element=element), t(128, 128, element=element))(
        lambda x, y: b.batch_matmul(x, y, element=to)
    )
    with ir.Context(), pytest.raises(ir.MLIRError, match="SPY096"):
        spyre_mlir.compile(program.module(), cores=1)
