# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `func`, `scf`, `affine` and the symbols of `spyre` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Cells
from spyre_mlir.interpreter.machine import Frame, Handler, Machine, scalar
from spyre_mlir.interpreter.program import Step, TensorKind

Values = Sequence[Any]


def call(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """Calls a function; the types of tensors must mean the same on both sides."""
    bounds = [
        frame.bind(kind, value.values.shape) if isinstance(kind, TensorKind) else None
        for kind, value in zip(step.operand_kinds, operands, strict=True)
    ]
    results, _ = machine.call(step.attributes["callee"], operands, bounds)
    return list(results)


def extent(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """Introduces a symbol for the rest of this activation."""
    frame.introduce(step.attributes["symbol"], int(operands[0]), step.attributes["range"])
    return ()


def _owned(values: list[Any], copies: tuple[bool, ...]) -> list[Any]:
    """Loop-carried values; those that the loop writes in place as copies of their own."""
    return [
        Cells(v.values.copy(), None if v.poison is None else v.poison.copy()) if own else v
        for v, own in zip(values, copies, strict=True)
    ]


def loop(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """Counted loop over [lower, upper) with carried values."""
    lower, upper, stride = (int(value) for value in operands[:3])
    if stride <= 0:
        raise Refusal("SPY131", f"scf.for: the step is {stride}")
    carried = _owned(operands[3:], step.copies)
    kind = step.operand_kinds[0]
    assert isinstance(kind, str)
    for number in range(lower, upper, stride):
        carried = machine.block(frame, step.regions[0], [scalar(number, kind), *carried])
    return carried


def branch(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The region that the condition chooses."""
    chosen = 0 if bool(operands[0]) else 1
    if chosen >= len(step.regions):
        return ()
    results: Values = machine.block(frame, step.regions[chosen], ())
    return results


def repeat(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`scf.while`: the first region decides, the second one goes on."""
    before, after = step.regions
    values: Values = operands
    while True:
        goes_on, *values = machine.block(frame, before, values)
        if not bool(goes_on):
            return values
        values = machine.block(frame, after, values)


def region(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`scf.execute_region`."""
    results: Values = machine.block(frame, step.regions[0], ())
    return results


def apply(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`affine.apply`."""
    values: Values = step.attributes["map"](operands)
    return values


def least(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`affine.min`."""
    return [min(step.attributes["map"](operands))]


def largest(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`affine.max`."""
    return [max(step.attributes["map"](operands))]


def affine_loop(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """`affine.for`: bounds are the largest and the least result of their maps."""
    below, above, _ = step.attributes["operandSegmentSizes"]
    lower = max(step.attributes["lowerBoundMap"](operands[:below]))
    upper = min(step.attributes["upperBoundMap"](operands[below : below + above]))
    carried: Values = operands[below + above :]
    for number in range(lower, upper, int(step.attributes["step"])):
        carried = machine.block(frame, step.regions[0], [number, *carried])
    return carried


HANDLERS: dict[str, Handler] = {
    "func.call": call,
    "spyre.extent": extent,
    "scf.for": loop,
    "scf.if": branch,
    "scf.while": repeat,
    "scf.execute_region": region,
    "affine.apply": apply,
    "affine.min": least,
    "affine.max": largest,
    "affine.for": affine_loop,
}
"""Operation name -> what it does."""
