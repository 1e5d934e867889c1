# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module read once into plain steps, so that loops do not walk MLIR again and again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.affine_maps import read_map
from spyre_mlir.interpreter.cells import Bound, dtype_of
from spyre_mlir.interpreter.extents import evaluate_extent
from spyre_mlir.optable import OPS, Op


@dataclass(frozen=True, slots=True)
class TensorKind:
    """A ranked tensor type. `shape` holds None for a dynamic extent (of upstream types only);
    `valid` holds literals and extent expressions, None where the whole shape is valid."""

    shape: tuple[int | None, ...]
    element: str
    valid: tuple[int | str, ...] | None = None

    def bind(self, symbols: Mapping[str, int], shape: tuple[int, ...] | None = None) -> Bound:
        """The type with numbers for its symbols (and, for dynamic extents, those of `shape`).

        Raises `Refusal` SPY134 for a symbol without a value, or an extent outside the shape."""
        known = shape if None in self.shape else self.shape
        assert known is not None and None not in known
        whole: tuple[int, ...] = known  # type: ignore[assignment]
        if self.valid is None:
            return Bound(whole, self.element)
        box = tuple(evaluate_extent(extent, symbols) for extent in self.valid)
        for dim, (extent, limit) in enumerate(zip(box, whole, strict=True)):
            if not 0 <= extent <= limit:
                raise Refusal(
                    "SPY134",
                    f"the valid extent {self.valid[dim]} of dim {dim} is {extent}, outside"
                    f" [0, {limit}]",
                    notes=(_symbols(symbols),),
                )
        return Bound(whole, self.element, box)


def _symbols(symbols: Mapping[str, int]) -> str:
    return "symbols: " + (", ".join(f"{n} = {v}" for n, v in symbols.items()) or "none")


Kind = TensorKind | str
"""Type of a value: a tensor's, or a scalar type as MLIR spells it."""


@dataclass(slots=True)
class Block:
    """Steps in order; the last one is the terminator."""

    arguments: tuple[int, ...]
    kinds: tuple[Kind, ...]
    steps: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """One operation: slots of its operands and results, their types, attributes and regions.

    `op` is its row of the operation table, None for upstream operations. `narrow` marks an upstream
    operation with a partly valid result. `in_place` marks an
    insert whose destination nobody else can see; `copies` marks, for a loop, the carried tensors
    that must be copied before it because they are written in place."""

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    operand_kinds: tuple[Kind, ...]
    result_kinds: tuple[Kind, ...]
    attributes: Mapping[str, Any]
    regions: tuple[Block, ...]
    location: Any
    op: Op | None = None
    narrow: bool = False
    in_place: bool = False
    copies: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that an `index` argument introduces, by an attribute or, where types of arguments
    use it, by `spyre.extent`; the range is inclusive."""

    name: str
    argument: int
    range: tuple[int, int] | None


@dataclass(slots=True)
class Function:
    """One function: its body, how many slots a frame needs, and the symbols of its arguments."""

    name: str
    body: Block
    results: tuple[Kind, ...]
    slots: int
    symbols: tuple[Symbol, ...]
    public: bool


def names_in(extent: int | str) -> list[str]:
    """The names in an extent: its symbols, and the words of its operators."""
    return re.findall(r"[A-Za-z_][A-Za-z0-9_.$]*", str(extent))


def read_kind(type: ir.Type) -> Kind:
    """An MLIR type as a plain value."""
    if not isinstance(type, ir.RankedTensorType):
        return str(type)
    shape = tuple(
        None if type.is_dynamic_dim(i) else type.get_dim_size(i) for i in range(type.rank)
    )
    encoding, valid = type.encoding, None
    if isinstance(encoding, ir.EncodingAttr) and encoding.valid_shape is not None:
        valid = tuple(encoding.valid_shape)
    return TensorKind(shape, str(type.element_type), valid)


def read_attribute(attribute: ir.Attribute) -> Any:
    """An MLIR attribute as a plain value; what has none stays an attribute."""
    for known, convert in _ATTRIBUTES:
        if isinstance(attribute, known):
            return convert(attribute)
    return attribute


def _dense(attribute: Any) -> Any:
    """A dense constant as an array of its element type."""
    type = ir.RankedTensorType(attribute.type)
    dtype, shape = dtype_of(str(type.element_type)), tuple(type.shape)
    if attribute.is_splat:
        return np.full(shape, _number(attribute.get_splat_value().value, dtype))
    if dtype.kind in "biuf":
        return np.array(attribute).astype(dtype)
    return _narrow_floats(str(attribute), dtype).reshape(shape)


def _narrow_floats(text: str, dtype: np.dtype[Any]) -> Any:
    """Elements of a dense constant of a float that numpy lacks: the bindings give only its text."""
    body = text[text.index("<") + 1 : text.rindex("> : ")]
    unsigned = np.dtype(f"<u{dtype.itemsize}")
    if body.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(body.strip('"')[2:]), unsigned).view(dtype)
    items = [item for item in re.split(r"[\[\],\s]+", body) if item]
    return np.array(
        [
            np.array(int(item, 16), unsigned).view(dtype)[()]
            if item.startswith("0x")
            else dtype.type(np.float32(item))
            for item in items
        ],
        dtype,
    )


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    return np.asarray(int(value) & 0xFF if dtype == np.uint8 else value).astype(dtype)[()]


_ATTRIBUTES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (ir.BoolAttr, lambda a: bool(a.value)),
    (ir.IntegerAttr, lambda a: int(a.value)),
    (ir.FloatAttr, lambda a: float(a.value)),
    (ir.StringAttr, lambda a: str(a.value)),
    (ir.FlatSymbolRefAttr, lambda a: str(a.value)),
    (ir.ArrayAttr, lambda a: tuple(read_attribute(x) for x in a)),
    (ir.DenseI64ArrayAttr, lambda a: tuple(int(x) for x in a)),
    (ir.DenseI32ArrayAttr, lambda a: tuple(int(x) for x in a)),
    (ir.ExtentAttr, lambda a: a.value),
    (ir.AffineMapAttr, lambda a: read_map(a.value)),
    (ir.DenseElementsAttr, _dense),
)


class FunctionReader:
    """Numbers the values of one function and turns its operations into steps."""

    def __init__(self) -> None:
        self.slots: dict[Any, int] = {}
        self.in_place: set[ir.Operation] = set()
        self.donated: set[tuple[ir.Operation, int]] = set()

    def slot(self, value: Any) -> int:
        return self.slots.setdefault(value, len(self.slots))

    def block(self, block: ir.Block) -> Block:
        arguments = list(block.arguments)
        kinds = tuple(read_kind(argument.type) for argument in arguments)
        result = Block(tuple(map(self.slot, arguments)), kinds)
        result.steps = [self.step(op.operation) for op in block.operations]
        return result

    def step(self, operation: ir.Operation) -> Step:
        copies = self.carried(operation) if operation.name == "scf.for" else ()
        regions = tuple(self.block(b) for region in operation.regions for b in region.blocks)
        attributes = {a.name: read_attribute(a.attr) for a in _named(operation)}
        dialect, _, name = operation.name.partition(".")
        row = OPS.get(name) if dialect == "spyre" else None
        if row is not None:
            known = {a.name for a in row.attributes}
            given = {n: v for n, v in attributes.items() if n in known}
            attributes = row.attribute_values(given)
        kinds = tuple(read_kind(value.type) for value in operation.results)
        return Step(
            operation.name,
            tuple(map(self.slot, operation.operands)),
            tuple(map(self.slot, operation.results)),
            tuple(read_kind(value.type) for value in operation.operands),
            kinds,
            attributes,
            regions,
            operation.location,
            row,
            dialect in ("arith", "tensor")
            and any(isinstance(kind, TensorKind) and kind.valid is not None for kind in kinds),
            operation in self.in_place,
            copies,
        )

    def carried(self, loop: ir.Operation) -> tuple[bool, ...]:
        """Which loop-carried tensors are updated in place; marks the writes that do it."""
        arguments = list(loop.regions[0].blocks[0].arguments)[1:]
        return tuple(
            self.updated(argument, loop, i) and (loop, i) not in self.donated
            for i, argument in enumerate(arguments)
        )

    def updated(self, value: Any, loop: ir.Operation, position: int) -> bool:
        """Whether `value` only ever flows through writes into itself to the loop's yield."""
        chain: list[ir.Operation] = []
        nested: list[tuple[ir.Operation, int]] = []
        while True:
            uses = list(value.uses)
            if len(uses) != 1:
                return False
            user, number = uses[0].owner.operation, uses[0].operand_number
            if user.name == "scf.yield" and _parent(user) == loop and number == position:
                break
            if _parent(user) != loop:
                return False
            if user.name == "spyre.insert_slice" and number == 1:
                chain.append(user)
                value = user.results[0]
            elif user.name == "scf.for" and number >= 3:
                inner = list(user.regions[0].blocks[0].arguments)[number - 2]
                if not self.updated(inner, user, number - 3):
                    return False
                nested.append((user, number - 3))
                value = user.results[number - 3]
            else:
                return False
        self.in_place.update(chain)
        self.donated.update(nested)
        return bool(chain or nested)


def _parent(operation: ir.Operation) -> ir.Operation | None:
    return None if operation.parent is None else operation.parent.operation


def _named(operation: ir.Operation) -> list[ir.NamedAttribute]:
    attributes = operation.attributes
    return [attributes[i] for i in range(len(attributes))]


def read_function(operation: ir.Operation, reader: FunctionReader | None = None) -> Function:
    """A `func.func` with a body, as steps; `reader` sees every value and operation."""
    attributes = operation.attributes
    blocks = len(operation.regions[0].blocks)
    if blocks > 1:
        raise Refusal(
            "SPY136",
            f"a function of {blocks} blocks is not known to the interpreter",
            remedy="write loops and branches with scf",
            place=operation.location,
        )
    reader = FunctionReader() if reader is None else reader
    body = reader.block(operation.regions[0].blocks[0])
    type = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    private = (
        "sym_visibility" in attributes
        and ir.StringAttr(attributes["sym_visibility"]).value != "public"
    )
    return Function(
        ir.StringAttr(attributes["sym_name"]).value,
        body,
        tuple(read_kind(result) for result in type.results),
        len(reader.slots),
        (*_argument_symbols(operation), *_body_symbols(operation, body.kinds)),
        not private,
    )


def _argument_symbols(operation: ir.Operation) -> tuple[Symbol, ...]:
    if "arg_attrs" not in operation.attributes:
        return ()
    symbols = []
    for number, attributes in enumerate(ir.ArrayAttr(operation.attributes["arg_attrs"])):
        given = ir.DictAttr(attributes)
        if "spyre.extent" in given:
            limits = read_attribute(given["spyre.range"]) if "spyre.range" in given else None
            name = ir.StringAttr(given["spyre.extent"]).value
            symbols.append(Symbol(name, number, limits))
    return tuple(symbols)


def _body_symbols(operation: ir.Operation, kinds: Sequence[Kind]) -> Iterator[Symbol]:
    """Symbols that `spyre.extent` introduces for an argument, of those in the types of arguments:
    these need the value before the body begins."""
    needed = {
        name
        for kind in kinds
        if isinstance(kind, TensorKind) and kind.valid is not None
        for extent in kind.valid
        for name in names_in(extent)
    }
    if not needed:
        return
    entry = operation.regions[0].blocks[0]
    taken: set[int] = set()
    for op in entry.operations:
        if op.operation.name != "spyre.extent":
            continue
        name, value = ir.StringAttr(op.operation.attributes["symbol"]).value, op.operands[0]
        if name in needed and isinstance(value.owner, ir.Block) and value.owner == entry:
            number = ir.BlockArgument(value).arg_number
            given = op.operation.attributes
            limits = read_attribute(given["range"]) if "range" in given else None
            if number not in taken:
                taken.add(number)
                yield Symbol(name, number, limits)


def read_module(module: ir.Module | ir.Operation) -> dict[str, Function]:
    """The functions with bodies of a module, by name, in order."""
    top = module.operation if isinstance(module, ir.Module) else module
    functions: dict[str, Function] = {}
    for operation in top.regions[0].blocks[0].operations:
        op = operation.operation
        if op.name == "func.func" and len(op.regions[0].blocks):
            function = read_function(op)
            functions[function.name] = function
    return functions
