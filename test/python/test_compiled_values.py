# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs compute what they mean: in planned memory, and as bundles, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from golden_programs import AUGUST, JULY, Program, linear, of, scalar, softmax, t

from spyre_mlir import builders as b
from spyre_mlir import ir
from spyre_mlir.checking.stages import Options, compile_in_stages
from spyre_mlir.compiler import Bundle
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.interpreter import Bound, execute, run_device
from spyre_mlir.interpreter.execution import Output
from spyre_mlir.interpreter.placement import read_placement
from spyre_mlir.interpreter.validation import difference
from spyre_mlir.machine import run_program
from spyre_mlir.machine.formats import HOST
from spyre_mlir.sdsc import model

PROGRAMS = {
    "chain": of(4, t(4, 100), t(100))(lambda x, y: b.exp(b.mul(b.add(x, y), scalar(0.5)))),
    "softmax": of(2, t(4, 70))(lambda x: softmax(x, 1)),
    "sum": of(2, t(3, 5, 70))(lambda x: b.sum(x, dims=[1])),
    "product": of(2, t(4, 64), t(64, 70))(b.batch_matmul),
    "unaligned product": of(2, t(4, 70), t(70, 10))(b.batch_matmul),
    "batched": of(2, t(2, 4, 64), t(2, 64, 10))(b.batch_matmul),
    "linear": of(2, t(64, 64), t(4, 64))(lambda w, x: linear(x, w)),
    "unaligned linear": of(2, t(70, 10), t(4, 10))(lambda w, x: linear(x, w)),
    "transposed": of(2, t(70, 10), t(10, 70))(
        lambda x, y: b.add(y, b.transpose(x, permutation=[1, 0]))
    ),
    "permuted": of(2, t(3, 5, 2, 64))(lambda x: b.relu(b.transpose(x, permutation=[2, 0, 1, 3]))),
    "window": of(2, t(6, 192))(
        lambda x: b.relu(b.slice(x, static_offsets=[2, 64], shape=(3, 128)))
    ),
    "window of a transposed tensor": of(2, t(64, 192), t(128, 64))(
        lambda x, y: b.add(
            y,
            b.slice(b.transpose(x, permutation=[1, 0]), static_offsets=[64, 0], shape=(128, 64)),
        )
    ),
    "concat": of(2, t(3, 64), t(3, 70))(lambda x, y: b.concat(x, y, dim=1)),
    "concat of rows": of(2, t(3, 70), t(2, 70))(lambda x, y: b.concat(x, y, dim=0)),
    "split dim": of(2, t(6, 64), t(2, 3, 64))(
        lambda x, y: b.add(b.reshape(x, shape=(2, 3, 64)), y)
    ),
    "merged dims": of(2, t(2, 3, 64), t(6, 64))(lambda x, y: b.add(b.reshape(x, shape=(6, 64)), y)),
    "merged after a transpose": of(2, t(3, 2, 64), t(6, 64))(
        lambda x, y: b.add(b.reshape(b.transpose(x, permutation=[1, 0, 2]), shape=(6, 64)), y)
    ),
    "broadcast": of(2, t(1, 70), t(3, 1))(lambda x, y: b.mul(b.broadcast(x, shape=(3, 70)), y)),
    "full": of(2, t(3, 70))(lambda x: b.sub(b.full(scalar(2.0), shape=(3, 70), element="f16"), x)),
    "returned view": of(2, t(3, 70))(lambda x: b.transpose(x, permutation=[1, 0])),
    "inserted": of(2, t(3, 64), t(5, 192))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[1, 64])
    ),
}


TILED = {
    "add": of(1, t(8, 4, 64), t(8, 4, 64))(b.add),
    "broadcast": of(1, t(8, 4, 64), t(4, 64))(b.mul),
    "sum": of(1, t(8, 4, 64))(lambda x: b.sum(x, dims=[0])),
    "transposed": of(1, t(4, 8, 64), t(8, 4, 64))(
        lambda x, y: b.add(b.transpose(x, permutation=[1, 0, 2]), y)
    ),
    "window": of(1, t(10, 6, 128), t(8, 4, 64))(
        lambda x, y: b.sub(b.slice(x, static_offsets=[1, 2, 64], shape=(8, 4, 64)), y)
    ),
    "split dim": of(1, t(32, 64), t(8, 4, 64))(
        lambda x, y: b.add(b.reshape(x, shape=(8, 4, 64)), y)
    ),
    "chain": of(1, t(8, 4, 64), t(8, 4, 64))(lambda x, y: b.exp(b.add(x, y))),
}
"""Programs that reach further than 1024 bytes."""


SMALL = 1 << 20
"""Elements of all arguments of a program that is computed here."""

GOLDENS = {
    name: program
    for name, program in {**JULY, **AUGUST}.items()
    if sum(np.prod(argument.shape) for argument in program.arguments) <= SMALL
}


def inputs(program: Program, *, positive: bool = False) -> list[Any]:
    """Random arguments from -1 to 1, or from 0."""
    rng = np.random.default_rng(0)
    arrays = []
    for argument in program.arguments:
        values = rng.uniform(0 if positive else -1, 1, argument.shape)
        arrays.append(values > 0 if argument.element == "i1" else values)
    kinds = [HOST[argument.element] for argument in program.arguments]
    return [array.astype(kind) for array, kind in zip(arrays, kinds, strict=True)]


def check(program: Program, arrays: Sequence[Any], span_limit: int = SPAN_LIMIT_BYTES) -> Bundle:
    """Compiles a program, runs its planned memory and its bundle, and compares with its meaning."""
    with ir.Context():
        module = program.module()
        expected = execute(module, arrays)
        compiled = compile_in_stages(
            module.operation, Options(cores=program.cores, span_limit=span_limit)
        )
        planned = compiled.stages[-2].module
        in_memory = run_device(planned, arrays)
        signature = read_placement(planned)
    given = signature.arguments[: len(arrays)]
    by_bundle = run_program(compiled.bundle, (given, signature.results), arrays, limit=span_limit)
    for wanted, device, (values, poison) in zip(expected, in_memory, by_bundle, strict=True):
        assert difference(wanted, device) is None
        bound = Bound(wanted.bound.shape, wanted.bound.element)
        assert difference(wanted, Output(values, poison, bound)) is None
    return compiled.bundle


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_stages_compute_the_program(program: Program) -> None:
    check(program, inputs(program))


@pytest.mark.parametrize("program", TILED.values(), ids=TILED)
def test_loops_compute_the_program(program: Program) -> None:
    bundle = check(program, inputs(program), span_limit=1024)
    assert any(isinstance(node, model.Loop) for node in bundle.model.body)


@pytest.mark.parametrize("name", GOLDENS)
def test_programs_of_the_goldens_compute_what_they_mean(name: str) -> None:
    program = GOLDENS[name]
    check(program, inputs(program, positive=name.startswith("log_1")))
