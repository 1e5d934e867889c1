# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What inference does to programs, by running them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spyre_mlir import ir
from spyre_mlir.interpreter import run
from spyre_mlir.passmanager import parse

EXAMPLES = Path(__file__).parents[3] / "examples"
PREPARE = "spyre-materialize-extents,spyre-infer-valid-shapes{policy=intersect}"


def cells(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float16)


def outcome(example: str, arrays: list[np.ndarray], tokens: int, options: str) -> np.ndarray:
    with ir.Context():
        module = ir.Module.parse((EXAMPLES / example).read_text())
        parse(f"builtin.module({options})").run(module.operation)
        (result,) = run(module, arrays, symbols={"valid_tok": tokens})
    return np.asarray(result)


@pytest.mark.parametrize("tokens", [0, 1, 37, 64])
@pytest.mark.parametrize("narrow", ["true", "false"])
def test_full_rows_meet_valid_tok_rows_in_a_loop(tokens: int, narrow: str) -> None:
    local, received = cells(64, 256), cells(256, 256)
    options = PREPARE.replace("}", f" narrow={narrow}}}")
    got = outcome("valid_tok_reduce.mlir", [local[:tokens], received], tokens, options)
    want = local + received.reshape(4, 64, 256).sum(axis=0, dtype=np.float16)
    np.testing.assert_array_equal(got, want[:tokens])


@pytest.mark.parametrize("tokens", [0, 1, 37, 64])
def test_a_full_residual_meets_valid_tok_rows(tokens: int) -> None:
    hidden, weight, residual = cells(64, 256), cells(256, 256), cells(64, 256)
    got = outcome("valid_tok_prefill.mlir", [hidden[:tokens], weight, residual], tokens, PREPARE)
    total = (hidden[:tokens].astype(np.float32) @ weight.astype(np.float32)) + residual[:tokens]
    want = total / (1 + np.exp(-np.maximum(total, -80)))
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype(np.float32), want, rtol=2e-3, atol=2e-3)


def test_inferring_again_changes_nothing() -> None:
    with ir.Context():
        module = ir.Module.parse((EXAMPLES / "valid_tok_reduce.mlir").read_text())
        parse(f"builtin.module({PREPARE})").run(module.operation)
        once = str(module)
        parse("builtin.module(spyre-infer-valid-shapes,spyre-verify-valid-regions)").run(
            module.operation
        )
        assert str(module) == once
