# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The last stage: the bundle, run on device memory by `spyre_mlir.machine`."""

from __future__ import annotations

from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.checking.inputs import Inputs
from spyre_mlir.compiler import Bundle
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import evaluate
from spyre_mlir.interpreter.cells import Bound
from spyre_mlir.interpreter.execution import Output
from spyre_mlir.machine import run_program
from spyre_mlir.scalars import constants_of
from spyre_mlir.tensors import TensorType

Signature = tuple[tuple[TensorType, ...], tuple[TensorType, ...]]


def signature_of(function: ir.Operation) -> Signature:
    """Tensor types of the program's own arguments and of its results, with layouts: those of the
    function after all passes but the last, without the arguments that stand for scalars."""
    type = function.attributes["function_type"].value
    added = constants_of(function)
    tensors = [encodings.read(t) for t in type.inputs if isinstance(t, ir.RankedTensorType)]
    given = tuple(tensor for number, tensor in enumerate(tensors) if number not in added)
    return given, tuple(encodings.read(t) for t in type.results)


def run_bundle(bundle: Bundle, signature: Signature, inputs: Inputs) -> tuple[Any, ...]:
    """The results of a bundle, as the interpreter of tensors returns them.

    Raises Refusal SPY140 to SPY149 for what the device must not do."""
    given, results = signature
    arrays = [array for array in inputs.arrays if hasattr(array, "ndim") and array.shape != ()]
    if len(arrays) != len(given):
        arrays = [array for array in inputs.arrays if hasattr(array, "dtype")]
    if len(arrays) != len(given):
        raise Refusal("SPY146", f"the bundle takes {len(given)} tensors, {len(arrays)} are given")
    found = run_program(
        bundle,
        signature,
        arrays,
        symbols=inputs.symbols or None,
        limit=bundle.span_limit,
    )
    return tuple(
        Output(values, poison, Bound(kind.shape, kind.element, _box(kind, inputs)))
        for (values, poison), kind in zip(found, results, strict=True)
    )


def _box(kind: TensorType, inputs: Inputs) -> tuple[int, ...] | None:
    """The valid box of a tensor as numbers, None where it is the whole tensor."""
    if kind.valid_shape is None:
        return None
    return tuple(
        extent if isinstance(extent, int) else evaluate(extent, inputs.symbols)
        for extent in kind.valid_shape
    )
