# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the values of a function lie in planned memory, as far as its types and attributes say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.program import Block, Function, FunctionReader, Step, read_function
from spyre_mlir.layouts import Layout, device_layout
from spyre_mlir.tensors import TensorType

PLACE = "spyre.place"
POOL_BYTES = "spyre.pool_bytes"
CONSTANT = "spyre.constant"
SCALAR = "spyre.scalar"

LOOP_BOUNDS = 3
"""Operands of a loop before the values that it carries."""

Memory = tuple[str, int]
"""("argument", number) or ("pool", 0)."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The place that an operation was given for a result: a memory, and bytes from its start."""

    memory: Memory
    offset: int


class PlacementReader(FunctionReader):
    """Reads a function and keeps, by slot, what memory has to know of a value: its `types`, the
    `places` that the memory plan gave, and the insertion that writes a value, if one does
    (`inserts`)."""

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[int, TensorType] = {}
        self.places: dict[int, Planned] = {}
        self.inserts: dict[int, ir.Operation] = {}

    def slot(self, value: Any) -> int:
        number = super().slot(value)
        if number not in self.types and isinstance(value.type, ir.RankedTensorType):
            self.types[number] = encodings.read(value.type)
        return number

    def step(self, operation: ir.Operation) -> Step:
        step = super().step(operation)
        place = _planned(operation)
        read = [bool(list(result.uses)) for result in operation.results]
        for number, (slot, result) in enumerate(zip(step.results, operation.results, strict=True)):
            # The place is that of the result that is used, or of the first one.
            if place is not None and (read[number] or (number == 0 and not any(read))):
                self.places[slot] = place
            written = [use.owner.operation for use in result.uses if _is_written(use)]
            if len(written) == 1:
                self.inserts[slot] = written[0]
        return step


def _is_written(use: ir.OpOperand) -> bool:
    """Whether a value is used as what an insertion writes."""
    return bool(use.owner.operation.name == "spyre.insert_slice") and use.operand_number == 0


def _planned(operation: ir.Operation) -> Planned | None:
    if PLACE not in operation.attributes:
        return None
    place = operation.attributes[PLACE]
    if place.kind == "pool":
        return Planned(("pool", 0), place.offset)
    return Planned(("argument", place.index), place.offset)


@dataclass(frozen=True, slots=True)
class Placement:
    """A function in planned memory.

    By slot: `types` of tensors, `places` of results, `origins` (the step that defines it), `carried`
    (for the result of a loop, the slot of the value that it begins with), `inserts` (the insertion
    that writes it). `arguments` and `results` are the tensors among those of the function;
    by number among tensor arguments: `constants` that the compiler added, `scalars` (the number of
    the function's argument that one stands for). `pool_bytes` is the size of the pool."""

    function: Function
    types: dict[int, TensorType]
    places: dict[int, Planned]
    origins: dict[int, Step]
    carried: dict[int, int]
    inserts: dict[int, Step]
    arguments: tuple[TensorType, ...]
    results: tuple[TensorType, ...]
    constants: dict[int, float]
    scalars: dict[int, int]
    pool_bytes: int


def layout_of(tensor: TensorType) -> Layout:
    """The layout of a tensor type; the default one where none is written."""
    return tensor.layout or device_layout(tensor.shape, tensor.element)


def read_placement(module: ir.Module | ir.Operation) -> Placement:
    """The one function with a body of a module whose memory is planned.

    Refuses (SPY137) a module with none or several."""
    top = module.operation if isinstance(module, ir.Module) else module
    found = [
        op.operation
        for op in top.regions[0].blocks[0].operations
        if op.operation.name == "func.func" and len(op.operation.regions[0].blocks)
    ]
    if len(found) != 1:
        raise Refusal("SPY137", f"planned memory is that of one function, there are {len(found)}")
    (operation,) = found
    reader = PlacementReader()
    function = read_function(operation, reader)
    steps = list(_steps(function.body))
    origins = {slot: step for step in steps for slot in step.results}
    carried = {
        slot: step.operands[LOOP_BOUNDS + number]
        for step in steps
        if step.name == "scf.for"
        for number, slot in enumerate(step.results)
    }
    known = {slot: origins[reader.slot(op.results[0])] for slot, op in reader.inserts.items()}
    kind = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value)
    constants, scalars = _added(operation, kind)
    pool = operation.attributes[POOL_BYTES].value if POOL_BYTES in operation.attributes else 0
    return Placement(
        function,
        reader.types,
        reader.places,
        origins,
        carried,
        known,
        _tensors(kind.inputs),
        _tensors(kind.results),
        constants,
        scalars,
        pool,
    )


def _steps(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _steps(region)


def _tensors(types: list[ir.Type]) -> tuple[TensorType, ...]:
    return tuple(encodings.read(t) for t in types if isinstance(t, ir.RankedTensorType))


def _added(
    operation: ir.Operation, kind: ir.FunctionType
) -> tuple[dict[int, float], dict[int, int]]:
    """Arguments that stand for a constant, and for a scalar argument, by number among tensors."""
    constants: dict[int, float] = {}
    scalars: dict[int, int] = {}
    if "arg_attrs" not in operation.attributes:
        return constants, scalars
    number = 0
    for type, given in zip(kind.inputs, operation.attributes["arg_attrs"], strict=True):
        if not isinstance(type, ir.RankedTensorType):
            continue
        if CONSTANT in given:
            constants[number] = given[CONSTANT].value
        if SCALAR in given:
            scalars[number] = given[SCALAR].value
        number += 1
    return constants, scalars
