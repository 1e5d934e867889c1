# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine runs what the reference compiler wrote to the results of numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_values import GOLDENS, LARGE, Golden

from spyre_mlir import machine
from spyre_mlir.layouts import Layout, device_layout
from spyre_mlir.machine.formats import HOST
from spyre_mlir.sdsc.parse import parse

FOLDERS = Path(__file__).parents[2] / "data" / "sdsc"
SMALL = [name for name in GOLDENS if name.partition("/")[2] not in LARGE]
RESULTS = {"jul/so_linear_128x5120_51200_reallimit_32core": (128, 51200)}
"""Shapes of results that are not those of their operands."""

Array = Any


def given(golden: Golden, rng: np.random.Generator) -> tuple[list[Array], list[Layout]]:
    """Random arguments and their layouts. A number is an array of rank 0."""
    arrays, layouts = [], []
    for argument in golden.arguments:
        if isinstance(argument, float):
            arrays.append(np.asarray(argument, HOST[golden.element]))
            layouts.append(device_layout((), golden.element))
            continue
        shape, element = argument
        values = rng.random(shape, np.float32)
        if not golden.positive:
            values = values * 2 - 1
        arrays.append((values > 0 if element == "i1" else values).astype(HOST[element]))
        layouts.append(device_layout(shape, element))
    return arrays, layouts


def wanted(golden: Golden, arrays: list[Array]) -> list[Array]:
    """The results of numpy, in 64 bits."""
    wide = [a if a.dtype == np.bool_ else a.astype(np.float64) for a in arrays]
    results = golden.value(*wide)
    return list(results) if isinstance(results, tuple) else [results]


def check(name: str) -> machine.Run:
    golden = GOLDENS[name]
    rng = np.random.default_rng(0)
    arrays, layouts = given(golden, rng)
    expected = [np.asarray(result) for result in wanted(golden, arrays)]
    kinds = [device_layout(e.shape, golden.element, order=golden.order) for e in expected]
    folder = FOLDERS / name
    buffers = [machine.to_device(a, k) for a, k in zip(arrays, layouts, strict=True)]
    buffers += [machine.Buffer.empty(kind.bytes) for kind in kinds]
    pool = parse((folder / "bundle.mlir").read_text()).pool
    passed = machine.Buffer.empty(2**19) if pool is not None and pool.bytes is None else None
    run = machine.run_bundle(folder, buffers, pool=passed)
    for number, (result, kind) in enumerate(zip(expected, kinds, strict=True), start=len(arrays)):
        found, poison = machine.from_device(
            run.arguments[number], kind, result.shape, golden.element
        )
        assert not poison.any(), name
        # Intermediate values are rounded to 16 bits, and as large as the largest result.
        near = 2**-8 * max(1.0, np.abs(result).max())
        assert np.abs(found.astype(np.float64) - result).max() <= near, name
    return run


def test_every_folder_has_a_result() -> None:
    folders = {str(p.parent.relative_to(FOLDERS)) for p in FOLDERS.rglob("bundle.mlir")}
    assert folders == set(GOLDENS)


@pytest.mark.parametrize("name", SMALL)
def test_golden_computes_what_numpy_does(name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", [name for name in GOLDENS if name not in SMALL])
def test_large_golden_touches_all_of_its_arguments(name: str) -> None:
    golden = GOLDENS[name]
    shapes = [argument[0] for argument in golden.arguments if isinstance(argument, tuple)]
    result = RESULTS.get(name, shapes[0])
    sizes = [device_layout(shape, "f16").bytes for shape in (*shapes, result)]
    touched = machine.trace_bundle(FOLDERS / name, sizes, pool=2**30)
    for number in range(len(shapes)):
        assert touched[number].read.all()
        assert not touched[number].written.any()
    assert touched[len(shapes)].written.all()


SUMS = [name for name in GOLDENS if name not in SMALL and GOLDENS[name].value is np.add]
FITTING = [
    name
    for name in SUMS
    if np.prod(GOLDENS[name].arguments[0][0]) <= 1 << 28  # type: ignore[index]
]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FITTING)
def test_large_sum_is_computed(name: str) -> None:
    """Operands and result lie alike: what the sum is can be said of the sticks."""
    (shape, _), _ = GOLDENS[name].arguments  # type: ignore[misc]
    size = device_layout(shape, "f16").bytes
    rng = np.random.default_rng(0)
    given = [rng.integers(-64, 64, size // 2, np.int8).astype(np.float16) for _ in range(2)]
    buffers = [machine.Buffer.of(x.view(np.uint8)) for x in given]
    run = machine.run_bundle(FOLDERS / name, [*buffers, machine.Buffer.empty(size)])
    assert not run.arguments[2].shadow.any()
    assert (run.arguments[2].bytes.view(np.float16) == given[0] + given[1]).all()
