# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-check-program: whether a module is a program that can be compiled, before anything is changed."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.formats import ELEMENTS
from spyre_mlir.hardware import LOOP_TRIPS_MAX
from spyre_mlir.listings import Listing
from spyre_mlir.operations import PREFIX, literal, trips
from spyre_mlir.passmanager import Pass

LOWERED = "sdscbundle."
"""Prefix of the operations that a bundle consists of: a module that has them is compiled already."""

AROUND = ("arith.constant", "func.return", "scf.for", "scf.yield")
"""What may stand between the operations of the dialect spyre."""


@dataclass(frozen=True)
class CheckProgram(Pass, name="spyre-check-program", anchor="builtin.module"):
    """Check that a module is a program that can be compiled.

    That is one function of one block, of tensors and scalars that the device stores, with operations of the dialect
    spyre in counted loops. What other passes would not see is refused here, at its place: nothing is dropped."""

    def run(self, op: ir.Operation) -> None:
        functions = []
        for operation in op.regions[0].blocks[0].operations:
            inner = operation.operation
            if inner.name == "func.func":
                functions += [inner] if inner.regions[0].blocks else []
            elif not inner.name.startswith((LOWERED, "transform.")):
                raise _foreign(inner, "a program is a module of functions")
        if len(functions) > 1:
            raise Refusal(
                "SPY095",
                f"a bundle is one function; the module has {len(functions)} with a body",
                remedy="inline the calls and remove what is not called",
                place=functions[1],
            )
        for function in functions:
            examples = Listing(function).examples
            if not any(inner.name.startswith(LOWERED) for inner in examples):
                _check_function(function, examples)


def _check_function(function: ir.Operation, examples: list[ir.Operation]) -> None:
    """Checks a function and one operation of each kind in it."""
    if len(function.regions[0].blocks) > 1:
        raise Refusal(
            "SPY100",
            f"the function has {len(function.regions[0].blocks)} blocks; control flow is not compiled",
            remedy="write counted loops as scf.for",
            place=function,
        )
    types: dict[ir.Type, int] = {}
    for number, argument in enumerate(function.regions[0].blocks[0].arguments):
        types.setdefault(argument.type, number)
    for type, number in types.items():
        _check_type(type, f"argument #{number}", function)
    for op in examples:
        _check_operation(op)


def _check_operation(op: ir.Operation) -> None:
    if not op.name.startswith(PREFIX) and op.name not in AROUND:
        raise _foreign(
            op, "a program consists of operations of the dialect spyre in loops of scf.for"
        )
    for number, result in enumerate(op.results):
        _check_type(result.type, f"result #{number}", op)
    if op.name == "scf.for":
        _check_loop(op)
    elif op.name == "func.return":
        _check_tensors("returned", op.operands, op)
    elif op.name == "arith.constant" and isinstance(op.results[0].type, ir.RankedTensorType):
        raise Refusal(
            "SPY100",
            "a bundle holds no data: a constant of many values is not compiled",
            remedy="fill a tensor with spyre.full, or pass the values as an argument",
            place=op,
        )


def _check_loop(loop: ir.Operation) -> None:
    with refused_at(loop):
        count = trips(loop) if literal(loop.operands[2]) > 0 else 0
    if not 1 <= count <= LOOP_TRIPS_MAX:
        raise Refusal(
            "SPY162",
            f"a loop of {count} trips; the hardware counts from 1 to {LOOP_TRIPS_MAX}",
            place=loop,
        )
    _check_tensors("carried by a loop", list(loop.operands)[3:], loop)


def _check_tensors(what: str, values: list[ir.Value] | ir.OpOperandList, op: ir.Operation) -> None:
    for number, value in enumerate(values):
        if not isinstance(value.type, ir.RankedTensorType):
            raise Refusal(
                "SPY100",
                f"value #{number} that is {what} has type {value.type}; only tensors are",
                place=op,
            )


def _check_type(type: ir.Type, what: str, op: ir.Operation) -> None:
    """Refuses types other than tensors of the device's elements, such elements, and indices."""
    wrong = None
    if isinstance(type, ir.RankedTensorType):
        if str(type.element_type) not in ELEMENTS:
            wrong = f"the device stores no elements of type {type.element_type}"
        elif not type.has_static_shape:
            wrong = "shapes are static; what varies at run time is a valid region within them"
        elif type.encoding is not None and not isinstance(type.encoding, ir.EncodingAttr):
            wrong = "the encoding of a tensor is #spyre.encoding"
    elif not isinstance(type, ir.IndexType) and str(type) not in ELEMENTS:
        wrong = "values are tensors, or scalars of their element types"
    if wrong:
        raise Refusal("SPY100", f"{what} has type {type}: {wrong}", place=op)


def _foreign(op: ir.Operation, rule: str) -> Refusal:
    return Refusal("SPY100", f"'{op.name}' is not compiled: {rule}", place=op)
