# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the bundle of a program on host arrays, by the program's signature."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.extents import evaluate
from spyre_mlir.hardware import SPAN_LIMIT_BYTES, STICK_BYTES
from spyre_mlir.layouts import Layout, address_of, coordinates_at
from spyre_mlir.machine.formats import STORED
from spyre_mlir.machine.memory import DATA, Array, Buffer
from spyre_mlir.machine.program import Compiled, Program, Source, read_program
from spyre_mlir.machine.run import Run, run_read
from spyre_mlir.machine.transfer import Mask, from_device, to_device
from spyre_mlir.sdsc.model import Hbm
from spyre_mlir.tensors import TensorType

CONSTANTS_FILE = "constants.json"
"""Values of the parameters that the compiler added, beside the bundle."""


def run_program(
    bundle: Source,
    signature: tuple[Sequence[TensorType], Sequence[TensorType]],
    arrays: Sequence[Array],
    *,
    constants: Mapping[int, float] | None = None,
    symbols: Mapping[str, int] | None = None,
    limit: int = SPAN_LIMIT_BYTES,
    steps: int | None = None,
) -> tuple[tuple[Array, Mask], ...]:
    """Runs the bundle of a program on host arrays: each result, and which of its cells hold no
    data.

    `signature`: the tensor types of the program's arguments and results, with layouts, as
    `spyre-assign-layouts` leaves them. `arrays`: one per argument. Parameters of the bundle are the
    arguments, the constants that the compiler added, the results. `constants` are their values by
    number, if neither the bundle nor its folder has them.

    Raises as `run_bundle`, and SPY144 for a valid cell of a result without data."""
    given, results = signature
    program = read_program(bundle, symbols)
    values = _constants(bundle) if constants is None else constants
    buffers: dict[int, Buffer] = {}
    for number, (kind, array) in enumerate(zip(given, arrays, strict=True)):
        buffers[number] = to_device(array, _layout(kind), bound(kind, symbols))
    for number, value in values.items():
        buffers[number] = _constant(program, number, value)
    first = len(given) + len(values)
    for number, kind in enumerate(results, start=first):
        buffers[number] = Buffer.empty(_layout(kind).bytes)
    run = run_read(program, buffers, limit=limit, steps=steps)
    return tuple(
        _result(run, first + number, number, kind, bound(kind, symbols))
        for number, kind in enumerate(results)
    )


def _layout(kind: TensorType) -> Layout:
    if kind.layout is None:
        raise Refusal("SPY146", f"a tensor of {list(kind.shape)} x {kind.element} has no layout")
    return kind.layout


def bound(kind: TensorType, symbols: Mapping[str, int] | None) -> tuple[int, ...] | None:
    """The valid box of a tensor as numbers, None where it is the whole tensor."""
    if kind.valid_shape is None:
        return None
    return tuple(
        extent if isinstance(extent, int) else evaluate(extent, symbols or {})
        for extent in kind.valid_shape
    )


def _constants(bundle: Source) -> Mapping[int, float]:
    """The values of the parameters that the compiler added."""
    if isinstance(bundle, Compiled):
        return bundle.constants
    if isinstance(bundle, (str, os.PathLike)):
        path = pathlib.Path(bundle) / CONSTANTS_FILE
        if path.exists():
            return {int(k): float(v) for k, v in json.loads(path.read_text("utf-8")).items()}
    return {}


def _constant(program: Program, number: int, value: float) -> Buffer:
    """A stick that holds a value in lane 0, as the operand that reads it is stored."""
    formats = [
        operand.format
        for step in program.steps()
        for operand in step.sdsc.operands
        if isinstance(operand.place, Hbm) and operand.place.buffer == number
    ]
    dtype = STORED[formats[0] if formats else "SEN169_FP16"]
    stick = Buffer.empty(STICK_BYTES)
    stick.bytes.view(dtype)[0] = value
    stick.shadow[: dtype.itemsize] = DATA
    return stick


def _result(
    run: Run, parameter: int, number: int, kind: TensorType, box: tuple[int, ...] | None
) -> tuple[Array, Mask]:
    layout = _layout(kind)
    if parameter not in run.arguments:
        raise Refusal("SPY144", f"the bundle writes nothing to result {number}")
    values, poison = from_device(run.arguments[parameter], layout, kind.shape, kind.element)
    valid = poison if box is None else poison[tuple(slice(0, extent) for extent in box)]
    if valid.any():
        cell = tuple(int(i) for i in np.argwhere(valid)[0])
        address = address_of(
            layout, coordinates_at(layout, int(np.ravel_multi_index(cell, kind.shape)))
        )
        notes = [f"byte {address} of argument {parameter}: {run.writer(parameter, address)}"]
        notes += [str(read) for read in run.unwritten[:5]]
        raise Refusal(
            "SPY144",
            f"cell {list(cell)} of result {number} holds no data",
            notes=tuple(Note(note) for note in notes),
        )
    return values, poison
