# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that compilers of this kind have had, as programs that must compute what they mean, down to the bytes.

Each fault is also put into a bundle by hand, where that can be done, to see that the check would find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden_programs import Program, linear, of, softmax, t

from spyre_mlir import builders as b
from spyre_mlir import ir
from spyre_mlir.checking.bundles import run_bundle
from spyre_mlir.checking.comparison import check
from spyre_mlir.checking.stages import Options, compile_in_stages
from spyre_mlir.compiler import Bundle
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.interpreter import execute
from spyre_mlir.interpreter.placement import read_placement
from spyre_mlir.interpreter.validation import difference
from spyre_mlir.sdsc import model


def checked(program: Program, **options: Any) -> None:
    """Every stage of the program computes what it means."""
    with ir.Context():
        report = check(program.module(), cores=program.cores, **options)
    assert report.status == "same", report.as_text()


def with_bundle(
    program: Program, change: Callable[[Bundle], Bundle], **options: Any
) -> tuple[Any, Any]:
    """(what the program means, what a changed bundle of it computes) on random arrays."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, a.shape).astype(np.float16) for a in program.arguments]
    with ir.Context():
        module = program.module()
        wanted = execute(module, arrays)
        compiled = compile_in_stages(module.operation, Options(cores=program.cores, **options))
        placement = read_placement(compiled.stages[-2].module)
        got = run_bundle(change(compiled.bundle), placement, arrays, {})
    return wanted, got


def each_operation(bundle: Bundle, change: Callable[[model.Sdsc], model.Sdsc]) -> Bundle:
    """A bundle with other operations."""

    def body(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(n, body=body(n.body)) if isinstance(n, model.Loop) else change(n) for n in nodes
        )

    return replace(bundle, model=replace(bundle.model, body=body(bundle.model.body)))


ROWS = of(2, t(8, 4, 64), t(8, 4, 64))(b.add)


# Only the first tile is written.


@pytest.mark.parametrize(
    "program",
    [
        ROWS,
        of(1, t(7, 64), t(7, 64))(b.mul),
        of(2, t(8, 4, 64), t(8, 4, 64))(lambda x, y: b.exp(b.sub(x, y))),
        of(2, t(8, 70))(lambda x: b.max(x, dims=[1], keep_dims=True)),
        of(1, t(16, 64), t(64, 128))(b.batch_matmul),
        of(1, t(64, 128), t(128, 64))(lambda x, y: b.add(b.transpose(x, permutation=[1, 0]), y)),
    ],
)
@pytest.mark.parametrize("limit", [512, 1024, 2048])
def test_every_tile_is_written(program: Program, limit: int) -> None:
    try:
        checked(program, span_limit=limit)
    except ir.MLIRError as error:  # refused, which writes nothing
        assert "SPY" in str(error)


def test_a_write_that_does_not_advance_is_found() -> None:
    def stand_still(sdsc: model.Sdsc) -> model.Sdsc:
        *reads, written = sdsc.operands
        place = replace(written.place, advances=())
        return replace(sdsc, operands=(*reads, replace(written, place=place)))

    with pytest.raises(Refusal, match="SPY144"):
        with_bundle(ROWS, lambda bundle: each_operation(bundle, stand_still), span_limit=1024)


# Spans are judged on the first tile.


def test_spans_are_those_of_the_worst_tile() -> None:
    """Tiles of 10 rows of 5 x 7 touch two groups of 7 at first, three later."""
    program = of(1, t(5, 7, 64), t(35, 64))(lambda x, y: b.add(b.reshape(x, shape=(35, 64)), y))
    for limit in range(128, 128 * 40, 128):
        try:  # the machine refuses what reaches over the limit in any trip
            checked(program, span_limit=limit)
        except ir.MLIRError as error:
            assert "SPY" in str(error)


def test_a_reach_over_the_limit_is_found() -> None:
    def narrower(bundle: Bundle) -> Bundle:
        return replace(bundle, span_limit=bundle.span_limit // 8)

    with pytest.raises(Refusal, match="SPY143"):
        with_bundle(ROWS, narrower, span_limit=1024)


# Loops of operations that belong together do not keep step.

CHAINS = {
    "pointwise": of(2, t(8, 4, 64), t(4, 64))(lambda x, y: b.exp(b.add(b.relu(x), y))),
    "reduction of a sum": of(2, t(8, 4, 64), t(8, 4, 64))(
        lambda x, y: b.sum(b.add(x, y), dims=[1])
    ),
    "reduction of a reduction": of(1, t(8, 4, 70))(
        lambda x: b.sum(b.max(x, dims=[1]), dims=[1], keep_dims=True)
    ),
    "product of a sum": of(1, t(16, 64), t(16, 64), t(64, 64))(
        lambda x, y, w: b.batch_matmul(b.add(x, y), w)
    ),
    "sum of a product": of(1, t(16, 64), t(64, 64), t(16, 64))(
        lambda x, w, y: b.add(b.batch_matmul(x, w), y)
    ),
    "product of a product": of(1, t(8, 64), t(64, 64), t(64, 64))(
        lambda x, v, w: b.batch_matmul(b.batch_matmul(x, v), w)
    ),
    "reduction of a product": of(1, t(16, 64), t(64, 64))(
        lambda x, w: b.max(b.batch_matmul(x, w), dims=[1], keep_dims=True)
    ),
    "two readers": of(1, t(8, 4, 64))(lambda x: (b.exp(b.relu(x)), b.neg(b.relu(x)))),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("limit", [512, 1024, 4096])
def test_loops_keep_step(name: str, limit: int) -> None:
    try:
        checked(CHAINS[name], span_limit=limit)
    except ir.MLIRError as error:
        assert "SPY" in str(error)


# Addresses depend on the combination of options.


@pytest.mark.parametrize("cores", [1, 2, 3, 8, 32])
@pytest.mark.parametrize("limit", [1024, 4096, SPAN_LIMIT_BYTES])
@pytest.mark.parametrize("policy", ["agree", "intersect"])
def test_options_do_not_change_what_is_computed(cores: int, limit: int, policy: str) -> None:
    body = of(cores, t(8, 4, 128), t(4, 128))(lambda x, y: b.mul(b.add(x, y), b.exp(x)))
    checked(body, span_limit=limit, policy=policy)
    if limit == SPAN_LIMIT_BYTES:
        checked(body, span_limit=limit, policy=policy, plan=False)


# A tensor is multiplied with itself, transposed.


@pytest.mark.parametrize("shape", [(4, 64), (64, 64), (70, 64), (5, 70), (2, 8, 64)])
@pytest.mark.parametrize("first", [True, False])
def test_products_of_a_tensor_with_itself(shape: tuple[int, ...], first: bool) -> None:
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]

    def product(x: Any) -> Any:
        turned = b.transpose(x, permutation=order)
        return b.batch_matmul(x, turned) if first else b.batch_matmul(turned, x)

    checked(of(2, t(*shape))(product))


def test_linear_of_a_weight_with_itself() -> None:
    checked(of(2, t(64, 64))(lambda x: linear(x, x)))


# What lies behind the valid lanes of a stick becomes inf, or wins.


@pytest.mark.parametrize("shape", [(4, 70), (3, 65), (2, 3, 100), (5, 1), (4, 63)])
@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("value", [-60000.0, -8.0, 0.0, 11.0])
def test_softmax_of_partial_sticks(shape: tuple[int, ...], dim: int, value: float) -> None:
    """All cells far below what any padding holds, and far above."""
    program = of(2, t(*shape))(lambda x: softmax(x, dim % len(shape)))
    rng = np.random.default_rng(0)
    array = (value + rng.uniform(-2, 2, shape)).astype(np.float16)
    with ir.Context():
        module = program.module()
        wanted = execute(module, [array])
        try:
            compiled = compile_in_stages(module.operation, Options(cores=2))
        except ir.MLIRError as error:
            assert "SPY09" in str(error)
            return
        placement = read_placement(compiled.stages[-2].module)
        got = run_bundle(compiled.bundle, placement, [array], {})
    assert np.isfinite(wanted[0].valid.astype(np.float32)).all()
    assert difference(wanted[0], got[0]) is None


@pytest.mark.parametrize("reduction", ["max", "min", "sum", "mean", "absmax"])
def test_reductions_of_partial_sticks(reduction: str) -> None:
    for shape, dims in (((3, 70), [1]), ((3, 2, 70), [2]), ((3, 70), [0])):
        checked(of(2, t(*shape))(lambda x, d=dims: b.build(reduction, x, dims=d)))


def test_a_mask_that_is_left_out_is_found() -> None:
    program = of(2, t(4, 70))(lambda x: softmax(x, 1))

    def unmasked(sdsc: model.Sdsc) -> model.Sdsc:
        kept = tuple(c for c in sdsc.constants if c.name != "samv-maskvalue")
        return replace(sdsc, mask=(), constants=kept)

    with pytest.raises(Refusal, match="SPY144"):
        with_bundle(program, lambda bundle: each_operation(bundle, unmasked))
