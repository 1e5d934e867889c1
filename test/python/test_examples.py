# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples: files are those that `examples/models.py` writes, compile at their full size, and mean
the same at every stage at a small size that needs the same loops."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spyre_mlir
from spyre_mlir import ir
from spyre_mlir.checking.comparison import compare
from spyre_mlir.checking.report import Report
from spyre_mlir.checking.stages import Options, compile_in_stages
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.sdsc.validate import validate_texts

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def models() -> ModuleType:
    spec = importlib.util.spec_from_file_location("models", FOLDER / "models.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MODELS = models()
NAMES = list(MODELS.MODELS)


def tiled(model: Any, span_limit: int) -> list[bool]:
    """Per operation that computes, whether it is tiled."""
    with ir.Context():
        explanation = MODELS.explain(model, span_limit)
    return [report.plan is not None for report in explanation.reports]


def checked(model: Any, span_limit: int) -> Report:
    """What `spyre check` says of a model as it is, however many elements it has."""
    options = Options(span_limit=span_limit)
    with ir.Context():
        return compare(compile_in_stages(model.module().operation, options), options, seeds=1)


@pytest.mark.parametrize("name", NAMES)
def test_files_are_fresh(name: str) -> None:
    model = MODELS.MODELS[name]
    assert (FOLDER / f"{name}.mlir").read_text() == model.text(), "run python examples/models.py"
    assert (FOLDER / f"{name}.md").read_text() == MODELS.explained(name, model)


@pytest.mark.parametrize("name", NAMES)
def test_full_size_compiles(name: str) -> None:
    bundle = spyre_mlir.compile(FOLDER / f"{name}.mlir")
    assert validate_texts(bundle.files) == []


@pytest.mark.parametrize("name", NAMES)
def test_small_size_means_the_same_at_every_stage(name: str) -> None:
    model = MODELS.MODELS[name]
    full, small = tiled(model, SPAN_LIMIT_BYTES), tiled(model.small, model.span_limit)
    assert len(full) == len(small)
    untiled = [at for at, wanted in enumerate(full) if wanted and not small[at]]
    assert not untiled, "every loop of the full size runs at the small one"
    report = checked(model.small, model.span_limit)
    assert report.status == "same", report.as_text()


@pytest.mark.slow
def test_attention_over_more_tokens_than_elements() -> None:
    """As at full size, where a tile of the scores is some rows of some heads."""
    model = MODELS.attention(1024, 384, 8, 4, 128)
    report = checked(model, 1024 * 384 * 2 - 128)
    assert report.status == "same", report.as_text()
