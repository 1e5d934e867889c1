# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the IR as questions to `regions.infer`: types, facts about symbols, index values as extents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spyre_mlir import encodings, ir, regions
from spyre_mlir.diagnostics import Note
from spyre_mlir.extents import Expression, Extent, subtract, symbol
from spyre_mlir.operations import attributes
from spyre_mlir.optable import OPS, Op
from spyre_mlir.prover import NO_FACTS, Facts
from spyre_mlir.regions.query import Query
from spyre_mlir.regions.refusals import spelled
from spyre_mlir.tensors import TensorType

EXTENT, RANGE = "spyre.extent", "spyre.range"
"""Attributes of an argument that introduces a symbol: its name, and the least and largest value."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """Where a symbol gets its value: argument number `argument`, or (None) an operation `spyre.extent`.

    `low` and `high` are the declared range, both inclusive, None where there is none."""

    name: str
    argument: int | None
    low: int | None
    high: int | None
    place: Any


def functions_of(module: ir.Operation) -> list[ir.Operation]:
    """The functions of a module in order, declarations included."""
    block = module.regions[0].blocks[0]
    return [op.operation for op in block.operations if op.operation.name == "func.func"]


def name_of(function: ir.Operation) -> str:
    """The symbol by which a function is called."""
    return str(ir.StringAttr(function.attributes["sym_name"]).value)


def callee_of(call: ir.Operation) -> str:
    """The symbol that a `func.call` names."""
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def signature_of(function: ir.Operation) -> ir.FunctionType:
    """Types of a function's arguments and results."""
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def has_body(function: ir.Operation) -> bool:
    """Whether a function is more than a declaration."""
    return bool(len(function.regions[0].blocks))


def introduced_by_arguments(function: ir.Operation) -> list[Introduction]:
    """The symbols that `index` arguments introduce, in order."""
    if "arg_attrs" not in function.attributes:
        return []
    found = []
    for number, given in enumerate(ir.ArrayAttr(function.attributes["arg_attrs"])):
        held = ir.DictAttr(given)
        if EXTENT in held:
            low, high = _range(held, RANGE)
            name = ir.StringAttr(held[EXTENT]).value
            found.append(Introduction(name, number, low, high, function))
    return found


def introduced_by(op: ir.Operation) -> Introduction:
    """The symbol that an operation `spyre.extent` introduces."""
    low, high = _range(op.attributes, "range")
    return Introduction(ir.StringAttr(op.attributes["symbol"]).value, None, low, high, op)


def _range(held: Any, name: str) -> tuple[int | None, int | None]:
    """The ends of a range attribute among others, None where there is none."""
    if name not in held:
        return None, None
    low, high = ir.DenseI64ArrayAttr(held[name])
    return low, high


_BY_TYPES_ALONE = frozenset(
    name
    for name, row in OPS.items()
    if not row.attributes and all(operand.kind != "index" for operand in row.operands)
)
"""Operations whose result types follow from their operands' types alone: programs ask the same again and again."""


class RegionReader:
    """Reads one function, operation by operation in order.

    `facts` hold what is known where the reader stands: types of the function's arguments, declared ranges, and the
    counters of the loops around, as hidden symbols. `declared` are the ranges of the arguments' symbols alone.
    `types` are the tensor types read so far."""

    def __init__(self, function: ir.Operation) -> None:
        self.types: dict[ir.Type, TensorType] = {}
        self.facts = NO_FACTS
        self.introductions = introduced_by_arguments(function)
        self._extents: dict[ir.Value[Any], Extent] = {}
        self._rows: dict[str, Op | None] = {}
        self._answers: dict[tuple[object, ...], tuple[tuple[TensorType, ...], Facts]] = {}
        self._loops = 0
        body = list(function.regions[0].blocks[0].arguments) if has_body(function) else []
        for introduction in self.introductions:
            self._declare(introduction)
            if body:
                assert introduction.argument is not None
                self._extents[body[introduction.argument]] = symbol(introduction.name)
        self.declared = self.facts
        for type in signature_of(function).inputs:
            if isinstance(type, ir.RankedTensorType) and type.encoding is not None:
                tensor = self.read(type)
                if len(tensor.valid) == tensor.rank:  # else the verifier pass refuses it
                    self.facts = self.facts.with_argument(tensor)

    def read(self, type: ir.Type) -> TensorType:
        """A tensor type as a value, each distinct one read once."""
        known = self.types.get(type)
        if known is None:
            known = self.types[type] = encodings.read(type)
        return known

    def row(self, name: str) -> Op | None:
        """The row of the operation table for the name of an operation, None outside the dialect."""
        if name in self._rows:
            return self._rows[name]
        row = OPS.get(name[len("spyre.") :]) if name.startswith("spyre.") else None
        self._rows[name] = row
        return row

    def introduce(self, op: ir.Operation) -> None:
        """Takes note of an operation `spyre.extent`."""
        introduction = introduced_by(op)
        self.introductions.append(introduction)
        self._declare(introduction)
        self._extents[op.operands[0]] = symbol(introduction.name)

    def _declare(self, introduction: Introduction) -> None:
        if introduction.low is not None or introduction.high is not None:
            self.facts = self.facts.with_range(
                introduction.name, introduction.low, introduction.high
            )

    def derive(
        self, op: ir.Operation, row: Op, policy: str
    ) -> tuple[list[TensorType], tuple[TensorType, ...]]:
        """(result types as written, as its rule gives them) of an operation of the dialect.

        RegionRefusal of codes SPY070 to SPY089 where the rule refuses."""
        known = self.types
        operands: list[TensorType | Extent | None] = []
        for value in op.operands:
            type = value.type
            tensor = known.get(type)
            operands.append(self._operand(value, type) if tensor is None else tensor)
        written = [self.read(result.type) for result in op.results]
        if row.name not in _BY_TYPES_ALONE:
            given = attributes(op, row)
            return written, regions.infer(
                row.name, operands, given, policy=policy, facts=self.facts, results=written
            )
        # Types that were read live as long as the reader, and facts with their answers: ids name them.
        facts = self.facts
        question = (row.name, policy, id(facts), *map(id, operands), *map(id, written))
        answer = self._answers.get(question)
        if answer is None:
            derived = regions.infer(row.name, operands, policy=policy, facts=facts, results=written)
            answer = self._answers[question] = derived, facts
        return written, answer[0]

    def _operand(self, value: ir.Value[Any], type: ir.Type) -> TensorType | Extent | None:
        if isinstance(type, ir.RankedTensorType):
            return self.read(type)
        return self.extent(value) if isinstance(type, ir.IndexType) else None

    def extent(self, value: ir.Value[Any]) -> Extent | None:
        """An index value as an extent over symbols, hidden ones included; None if nothing is known of it."""
        if value in self._extents:
            return self._extents[value]
        if not isinstance(value, ir.OpResult):
            return None
        source = value.owner
        if source.name == "arith.constant":
            return int(ir.IntegerAttr(source.attributes["value"]).value)
        if source.name not in _ARITHMETIC:
            return None
        a, b = map(self.extent, source.operands)
        found = None if a is None or b is None else _ARITHMETIC[source.name](a, b)
        if found is not None:
            self._extents[value] = found
        return found

    def enter(self, loop: ir.Operation) -> Facts:
        """Steps into an `scf.for`: its induction variable is `low + step * trip`, trip a hidden symbol.

        Returns the facts from before, to be set again behind the loop."""
        before = self.facts
        low, high, step = (self.extent(value) for value in list(loop.operands)[:3])
        name, self._loops = f"trip.{self._loops}", self._loops + 1
        counter = loop.regions[0].blocks[0].arguments[0]
        if low is None or not isinstance(step, int) or step <= 0:
            return before
        self.facts = before.with_range(name, 0, None, hidden=True)
        position = symbol(name) * step + low
        self._extents[counter] = position
        if high is not None:
            left = subtract(subtract(high, 1), position)
            if isinstance(left, Expression):
                self._at_least_zero(left, name, low, high, step)
        return before

    def _at_least_zero(
        self, left: Expression, name: str, low: Extent, high: Extent, step: int
    ) -> None:
        if isinstance(low, int) and isinstance(high, int):
            self.facts = self.facts.with_range(name, 0, (high - 1 - low) // step, hidden=True)
        else:
            self.facts = replace(self.facts, nonnegative=(*self.facts.nonnegative, left))


_ARITHMETIC = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
}
"""Operations on index values -> the same on extents."""


def symbols_in(tensor: TensorType) -> Iterator[str]:
    """The symbols that a type uses."""
    for extent in tensor.valid_shape or ():
        if not isinstance(extent, int):
            yield from extent.symbols


def label_of(row: Op, number: int) -> str:
    """The name of an operand in refusals."""
    return Query(row, (), {}, "agree", NO_FACTS, None).label(number)


def causes(
    op: ir.Operation, row: Op, labels: Sequence[str], reader: RegionReader
) -> tuple[Note, ...]:
    """A note at the origin of each operand that a refusal names, with its region."""
    found = []
    for number, value in enumerate(op.operands):
        label = label_of(row, number)
        if label in labels and isinstance(value.type, ir.RankedTensorType):
            region = spelled(reader.read(value.type).valid)
            found.append(Note(f"{label}, valid over {region}, is from here", value.location))
    return tuple(found)
