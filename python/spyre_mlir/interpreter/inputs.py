# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments for a function, by seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Array, dtype_of, is_float, round_to
from spyre_mlir.interpreter.machine import SCALARS, scalar
from spyre_mlir.interpreter.program import Function, TensorKind


def random_inputs(
    function: Function, *, seed: int, symbols: Mapping[str, int] | None = None
) -> tuple[dict[str, int], list[Any]]:
    """Values of the function's symbols, and arrays for its other arguments.

    A symbol that is not in `symbols` gets the largest value of its range; one without a range is
    refused (SPY134). Floats are normal with deviation 1, integers in [-8, 8) (ui8: [0, 16)),
    `index` arguments 0. The same seed gives the same arrays on every machine."""
    generator = np.random.default_rng(seed)
    chosen = dict(symbols or {})
    for symbol in function.symbols:
        if symbol.name not in chosen and symbol.range is None:
            raise Refusal(
                "SPY134",
                f"symbol {symbol.name} has neither a value nor a range",
                remedy=f"give it a value, by --symbol {symbol.name}=VALUE or symbols=,"
                " or declare its range",
            )
        if symbol.name not in chosen and symbol.range is not None:
            chosen[symbol.name] = symbol.range[1]
    introduced = {symbol.argument for symbol in function.symbols}
    arrays: list[Any] = []
    for number, kind in enumerate(function.body.kinds):
        if number in introduced:
            continue
        if isinstance(kind, TensorKind):
            shape = tuple(extent for extent in kind.shape if extent is not None)
            if len(shape) != len(kind.shape):
                raise Refusal(
                    "SPY135", f"argument {number} of @{function.name} has a dynamic shape"
                )
            arrays.append(random_array(generator, shape, kind.element))
        elif kind == "index":
            arrays.append(0)
        elif kind in SCALARS:
            arrays.append(scalar(random_array(generator, (), kind), kind))
        else:
            raise Refusal("SPY135", f"argument {number} of @{function.name} has the type {kind}")
    return chosen, arrays


def random_array(generator: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    """One array of an element type."""
    if element == "i1":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if element == "f64":
        return np.asarray(generator.standard_normal(shape))
    if is_float(element):
        return round_to(np.asarray(generator.standard_normal(shape, np.float32)), element)
    low = 0 if element == "ui8" else -8
    return np.asarray(generator.integers(low, low + 16, shape)).astype(dtype_of(element))
