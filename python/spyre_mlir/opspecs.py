# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference compiler's op spec lists, read into plain values.

An op spec list is what the reference compiler hands to its bundle writer: operations and
counted loops, aligned (see `spyre_mlir.alignment`), divided over cores, with an address per
tensor. It comes in two forms: JSON (`{"kernel", "pool_size", "specs": [...]}` or the bare list)
and the debug print of the objects. The print has no formats, no constants and no pool size; the
reader leaves them out.

The reader is strict: a key, a spelling or a type that it does not know is an error that names
its place, never skipped. `bundle` turns what was read into an SDSC bundle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from spyre_mlir import forming, quasiaffine
from spyre_mlir.alignment import AlignedTensor, Symbol, aligned_tensor
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import FORMATS
from spyre_mlir.forming import form_bundle
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.sdsc.model import POOL, Bundle, Cut, Hbm, Lx

Place = Literal["argument", "pool", "caller_pool", "lx"]

PLACES: dict[str, Place] = {
    "hbm": "argument",
    "hbm_pool": "pool",
    "pool": "caller_pool",
    "lx": "lx",
}
"""Key of an allocation -> where the tensor lies. The pool is allocated by the bundle (August tree)
or passed by the caller (July tree)."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Where a tensor lies: the index of a kernel argument, or a byte offset in pool or LX."""

    place: Place
    value: int


@dataclass(frozen=True, slots=True)
class WorkDivision:
    """A tensor's own division over cores, where it differs from the operation's: slices per symbol
    and the slice of a core as an expression in `core_id`."""

    slices: tuple[tuple[str, int], ...]
    core_to_slice: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class TensorArg:
    """One operand: device size outer to inner, one coordinate per device dim.

    `advance` gives elements per trip of each loop symbol, None where the spec has no such field.
    (In the July tree the advance follows from the tiled symbols, unless `per_tile_fixed`.)
    `device_format` is None in the debug print."""

    is_input: bool
    arg_index: int
    device_size: tuple[int, ...]
    coordinates: tuple[Expression, ...]
    allocation: Allocation
    device_format: str | None = None
    advance: tuple[tuple[str, int], ...] | None = None
    element_arrangement: str | None = None
    per_tile_fixed: bool = False
    work_division: WorkDivision | None = None


@dataclass(frozen=True, slots=True)
class IterationSymbol:
    """One iteration symbol: extent in elements and cores that it is divided over."""

    name: str
    extent: int
    split: int


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One operation. `tiled_symbols` has one entry per enclosing loop, innermost first: the symbols
    that the loop advances (empty: none). `constants` are the function's constants, by name."""

    op: str
    is_reduction: bool
    iteration_space: tuple[IterationSymbol, ...]
    args: tuple[TensorArg, ...]
    tiled_symbols: tuple[tuple[str, ...], ...] = ()
    trip_counts: tuple[tuple[str, int], ...] = ()
    constants: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class LoopSpec:
    """A counted loop over operations and loops."""

    count: int
    body: tuple[OpSpec | LoopSpec, ...]


Spec = OpSpec | LoopSpec


@dataclass(frozen=True, slots=True)
class SpecList:
    """One kernel: what it runs, in order. `pool_bytes` is None where the text does not say."""

    body: tuple[Spec, ...]
    name: str | None = None
    pool_bytes: int | None = None


def read(text: str) -> SpecList:
    """Reads either form. Raises SPY094 with the JSON path or the line of what cannot be read."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Refusal("SPY094", f"not JSON: {error}") from None
        return from_json(data)
    return _Print(text).read()


def from_json(data: Any) -> SpecList:
    """Reads the structured form: an object with `specs`, or the list itself."""
    if isinstance(data, list):
        return SpecList(_specs(data, "$"))
    node = _Node(data, "$")
    node.only("kernel", "pool_size", "specs")
    pool = node.optional("pool_size", int)
    return SpecList(_specs(node.get("specs", list), "$.specs"), node.optional("kernel", str), pool)


# --- to a bundle --------------------------------------------------------------------------------

FORMAT_OF_LANES = {32: "IEEE_FP32", 64: "SEN169_FP16", 128: "SEN143_FP8"}
"""Elements per stick -> the device format that the debug print leaves out; others of the same
width differ in name only."""


def bundle(specs: SpecList, *, k_fast: bool = True) -> Bundle:
    """The SDSC bundle of a spec list.

    The pool takes the bytes that the list states, else what its operands span. `k_fast` as in
    `spyre_mlir.forming.form`. Raises Refusals of reading coordinates and of forming."""
    arguments = [arg for spec in operations(specs.body) for arg in spec.args]
    nbytes = specs.pool_bytes
    if nbytes is None and not any(a.allocation.place == "caller_pool" for a in arguments):
        ends = [
            a.allocation.value + STICK_BYTES * prod(a.device_size[:-1])
            for a in arguments
            if a.allocation.place == "pool"
        ]
        nbytes = max(ends, default=0)
    return form_bundle(program(specs.body), pool_bytes=nbytes, k_fast=k_fast)


def operations(body: Iterable[Spec]) -> Iterator[OpSpec]:
    """The operations, depth first."""
    for spec in body:
        if isinstance(spec, LoopSpec):
            yield from operations(spec.body)
        else:
            yield spec


def program(
    body: Iterable[Spec], trips: tuple[int, ...] = ()
) -> tuple[forming.Operation | forming.Repeat, ...]:
    """Specs as aligned operations; `trips` are those of the enclosing loops, outermost first."""
    items: list[forming.Operation | forming.Repeat] = []
    for spec in body:
        if isinstance(spec, LoopSpec):
            inner = program(spec.body, (*trips, spec.count))
            items.append(forming.Repeat(spec.count, inner))
        else:
            items.append(_operation(spec, trips))
    return tuple(items)


def _operation(spec: OpSpec, trips: tuple[int, ...]) -> forming.Operation:
    shuffled = any(arg.work_division is not None for arg in spec.args)
    return forming.Operation(
        function="shuffle" if shuffled else spec.op,
        symbols=tuple(
            Symbol(s.name, s.extent, s.split, origin=None if s.name.startswith("z") else s.name)
            for s in spec.iteration_space
        ),
        operands=tuple(_operand(spec, arg, trips) for arg in spec.args),
        is_reduction=spec.is_reduction,
        constants=spec.constants,
    )


def _operand(spec: OpSpec, arg: TensorArg, trips: tuple[int, ...]) -> forming.Operand:
    tensor = aligned_tensor(arg.device_size, arg.coordinates)
    storage = arg.device_format or FORMAT_OF_LANES.get(tensor.lanes)
    if storage not in FORMATS or FORMATS[storage].elements_per_stick != tensor.lanes:
        raise Refusal("SPY094", f"{spec.op}: no format {storage} with {tensor.lanes} lanes")
    kind, value = arg.allocation.place, arg.allocation.value
    place: Hbm | Lx
    if kind == "lx":
        place = Lx(value, _own_cut(spec, arg))
    elif kind == "argument":
        place = Hbm(arg.arg_index, 0, _advances(spec, arg, tensor, trips))
    else:
        place = Hbm(POOL, value, _advances(spec, arg, tensor, trips))
    return forming.Operand(tensor, storage, place)


def _advances(
    spec: OpSpec, arg: TensorArg, tensor: AlignedTensor, trips: tuple[int, ...]
) -> tuple[int, ...]:
    """Bytes per trip of each enclosing loop, outermost first.

    A tiled symbol is either a loop's own (then the operand says how far it moves) or an iteration
    symbol (then an argument moves by one tile of it, times the trips of inner loops over it, while
    intermediates in the pool are tiles at fixed addresses)."""
    word = STICK_BYTES // tensor.lanes
    stated = dict(arg.advance or ())
    reached = {s.name: s.extent for s in spec.iteration_space}
    found = []
    for count, level in zip(reversed(trips), spec.tiled_symbols, strict=False):
        elements = 0
        for symbol in level:
            elements += stated.get(symbol, 0)
            if symbol in reached and arg.allocation.place == "argument" and not arg.per_tile_fixed:
                elements += _elements_along(tensor, symbol, reached[symbol])
                reached[symbol] *= count
        found.append(elements * word)
    return tuple(reversed(found)) + (0,) * (len(trips) - len(found))


def _elements_along(tensor: AlignedTensor, symbol: str, steps: int) -> int:
    """Device elements between two values of a symbol that are `steps` apart."""
    inner = tensor.lanes
    for size, coordinate in zip(
        reversed(tensor.device_size[:-1]), reversed(tensor.coordinates[:-1]), strict=True
    ):
        if coordinate.symbol == symbol:
            if steps % coordinate.divisor:
                raise Refusal("SPY094", f"a tile of {steps} elements of {symbol} cuts a stick")
            return steps // coordinate.divisor * inner
        inner *= size
    return 0


def _own_cut(spec: OpSpec, arg: TensorArg) -> Cut | None:
    """The cut of an operand that is divided over cores in its own way."""
    own = arg.work_division
    if own is None:
        return None
    slices, cores = dict(own.slices), prod(n for _, n in own.slices)
    labels = dict(
        zip(
            (s.name for s in spec.iteration_space),
            forming.dim_labels(spec.op, len(spec.iteration_space)),
            strict=True,
        )
    )
    names = [s.name for s in spec.iteration_space]
    stride = 1
    for name in names:  # the first dim changes fastest from core to core
        for core in range(cores if slices.get(name, 1) > 1 else 0):
            stated = dict(own.core_to_slice)[name].evaluate({"core_id": core})
            if stated != core // stride % slices.get(name, 1):
                raise Refusal("SPY094", f"{spec.op}: {name} is dealt to cores in another order")
        stride *= slices.get(name, 1)
    return tuple((labels[name], slices.get(name, 1)) for name in names)


# --- JSON ---------------------------------------------------------------------------------------


class _Node:
    """A JSON object with its path, read key by key."""

    def __init__(self, data: Any, path: str) -> None:
        if not isinstance(data, Mapping):
            raise Refusal("SPY094", f"{path}: expected an object, found {type(data).__name__}")
        self.data, self.path = data, path

    def only(self, *keys: str) -> None:
        unknown = [k for k in self.data if k not in keys]
        if unknown:
            raise Refusal("SPY094", f"{self.path}: unknown key {unknown[0]!r}")

    def get(self, key: str, kind: type) -> Any:
        if key not in self.data:
            raise Refusal("SPY094", f"{self.path}: key {key!r} is missing")
        return _typed(self.data[key], kind, f"{self.path}.{key}")

    def optional(self, key: str, kind: type) -> Any:
        return None if self.data.get(key) is None else self.get(key, kind)


def _typed(value: Any, kind: type, path: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        found = type(value).__name__
        raise Refusal("SPY094", f"{path}: expected {kind.__name__}, found {found} {value!r}")
    return value


def _specs(items: list[Any], path: str) -> tuple[Spec, ...]:
    return tuple(_spec(item, f"{path}[{i}]") for i, item in enumerate(items))


def _spec(data: Any, path: str) -> Spec:
    node = _Node(data, path)
    if "loop" in node.data:
        node.only("loop", "body")
        return LoopSpec(node.get("loop", int), _specs(node.get("body", list), f"{path}.body"))
    node.only(
        "op",
        "is_reduction",
        "iteration_space",
        "args",
        "tiled_symbols_innermost_first",
        "tiled_symbol_trip_counts",
        "op_info",
    )
    space = node.get("iteration_space", dict)
    args = node.get("args", list)
    return OpSpec(
        op=node.get("op", str),
        is_reduction=node.get("is_reduction", bool),
        iteration_space=tuple(_symbol(n, v, f"{path}.iteration_space") for n, v in space.items()),
        args=tuple(_argument(a, f"{path}.args[{i}]") for i, a in enumerate(args)),
        tiled_symbols=tuple(
            tuple(level) for level in node.optional("tiled_symbols_innermost_first", list) or ()
        ),
        trip_counts=tuple((node.optional("tiled_symbol_trip_counts", dict) or {}).items()),
        constants=_constants(node),
    )


def _constants(node: _Node) -> tuple[tuple[str, float], ...]:
    info = node.optional("op_info", dict)
    if info is None:
        return ()
    inner = _Node(info, f"{node.path}.op_info")
    inner.only("constants")
    found = inner.get("constants", dict)
    for name, value in found.items():
        if not isinstance(value, (bool, int, float)):
            raise Refusal("SPY094", f"{inner.path}.constants.{name}: {value!r} is not a number")
    return tuple((name, float(value)) for name, value in found.items())


def _symbol(name: str, value: Any, path: str) -> IterationSymbol:
    numbers = _typed(value, list, f"{path}.{name}")
    if len(numbers) != 2 or not all(type(n) is int and n > 0 for n in numbers):
        raise Refusal("SPY094", f"{path}.{name}: expected [extent, split], found {value!r}")
    return IterationSymbol(name, *numbers)


def _argument(data: Any, path: str) -> TensorArg:
    node = _Node(data, path)
    node.only(
        "is_input",
        "arg_index",
        "device_dtype",
        "device_size",
        "device_coordinates",
        "allocation",
        "device_tile_advance_expr",
        "element_arrangement",
        "per_tile_fixed",
        "work_division",
        "name",
    )
    advance = node.optional("device_tile_advance_expr", str)
    coordinates = node.get("device_coordinates", list)
    return _checked(
        TensorArg(
            is_input=node.get("is_input", bool),
            arg_index=node.get("arg_index", int),
            device_size=tuple(_typed(n, int, path) for n in node.get("device_size", list)),
            coordinates=tuple(_expression(str(c), path) for c in coordinates),
            allocation=_allocation(node.get("allocation", dict), path),
            device_format=node.optional("device_dtype", str),
            advance=None if advance is None else _advance(advance, path),
            element_arrangement=node.optional("element_arrangement", str),
            per_tile_fixed=node.optional("per_tile_fixed", bool) or False,
            work_division=_work_division(node.optional("work_division", dict), path),
        ),
        path,
    )


def _checked(arg: TensorArg, path: str) -> TensorArg:
    if len(arg.device_size) != len(arg.coordinates) or not arg.device_size:
        raise Refusal(
            "SPY094",
            f"{path}: {len(arg.device_size)} device sizes but {len(arg.coordinates)} coordinates",
        )
    return arg


def _allocation(data: Mapping[str, Any], path: str) -> Allocation:
    if len(data) != 1 or next(iter(data)) not in PLACES:
        raise Refusal(
            "SPY094",
            f"{path}.allocation: expected one of {', '.join(PLACES)}, found {dict(data)!r}",
        )
    ((key, value),) = data.items()
    return Allocation(PLACES[key], _typed(value, int, f"{path}.allocation.{key}"))


def _work_division(data: Any, path: str) -> WorkDivision | None:
    if data is None:
        return None
    node = _Node(data, f"{path}.work_division")
    node.only("work_slices", "core_id_to_work_slice")
    cores = node.get("core_id_to_work_slice", dict)
    return WorkDivision(
        tuple(node.get("work_slices", dict).items()),
        tuple((symbol, _expression(text, path)) for symbol, text in cores.items()),
    )


def _expression(text: str, path: str) -> Expression:
    try:
        return quasiaffine.parse(text)
    except (Refusal, ValueError) as error:
        raise Refusal("SPY094", f"{path}: coordinate {text!r} cannot be read: {error}") from None


def _advance(text: str, path: str) -> tuple[tuple[str, int], ...]:
    """`floor(a*s) + floor(b*t)`: elements per trip of each loop symbol."""
    expression = _expression(text, path)
    if expression.constant or not expression.is_linear:
        raise Refusal("SPY094", f"{path}: tile advance {text!r} is no sum of multiples")
    return tuple((str(symbol), elements) for symbol, elements in expression.terms)


# --- the debug print ----------------------------------------------------------------------------

_LOOP = re.compile(r"LoopSpec\(count=(\d+)\)")
_OP = re.compile(r"OpSpec\(op='(\w+)', is_reduction=(True|False), iteration_space=\{(.*)\}\)")
_ARG = re.compile(
    r"TensorArg\((input|output), arg_index=(-?\d+), device_size=\[([\d, ]*)\], "
    r"device_coordinates=\[(.*?)\], (?:device_tile_advance_expr=(.*?), )?"
    r"allocation=\{'(\w+)': (\d+)\}\)"
)
_TILED = re.compile(r"tiled_symbols=\[(.*)\]")


class _Print:
    """The debug print, line by line."""

    def __init__(self, text: str) -> None:
        lines = ((i, line.strip()) for i, line in enumerate(text.splitlines(), 1))
        self.lines = [(i, line) for i, line in lines if line]
        self.at = 0

    def read(self) -> SpecList:
        body = self.body(nested=False)
        return SpecList(body)

    def body(self, *, nested: bool) -> tuple[Spec, ...]:
        specs: list[Spec] = []
        while self.at < len(self.lines) and self.line != "]":
            specs.append(self.spec())
        if nested != (self.at < len(self.lines)):
            raise self.error("a loop ends here" if not nested else "the loop does not end")
        return tuple(specs)

    @property
    def line(self) -> str:
        return self.lines[self.at][1]

    def error(self, what: str) -> Refusal:
        last = min(self.at, len(self.lines) - 1)
        number, line = self.lines[last] if self.lines else (1, "")
        return Refusal("SPY094", f"line {number}: {what}: {line!r}")

    def spec(self) -> Spec:
        if match := _LOOP.fullmatch(self.line):
            self.at += 1
            if self.at == len(self.lines) or self.line != "body=[":
                raise self.error("expected 'body=['")
            self.at += 1
            body = self.body(nested=True)
            self.at += 1
            return LoopSpec(int(match[1]), body)
        if match := _OP.fullmatch(self.line):
            return self.operation(match)
        raise self.error("expected OpSpec or LoopSpec")

    def operation(self, match: re.Match[str]) -> OpSpec:
        space = re.findall(r"(\w+): \((\d+), (\d+)\)", match[3])
        if ", ".join(f"{n}: ({e}, {s})" for n, e, s in space) != match[3]:
            raise self.error("iteration space cannot be read")
        self.at += 1
        args: list[TensorArg] = []
        while self.at < len(self.lines) and self.line.startswith("TensorArg"):
            args.append(self.argument())
            self.at += 1
        tiled: tuple[tuple[str, ...], ...] = ()
        if self.at < len(self.lines) and (found := _TILED.fullmatch(self.line)):
            levels = re.findall(r"\[([^\]]*)\]", found[1])
            tiled = tuple(tuple(re.findall(r"\w+", level)) for level in levels)
            self.at += 1
        symbols = tuple(IterationSymbol(n, int(e), int(s)) for n, e, s in space)
        return OpSpec(match[1], match[2] == "True", symbols, tuple(args), tiled)

    def argument(self) -> TensorArg:
        match = _ARG.fullmatch(self.line)
        if match is None:
            raise self.error("tensor argument cannot be read")
        role, index, sizes, coordinates, advance, place, value = match.groups()
        path = f"line {self.lines[self.at][0]}"
        return _checked(
            TensorArg(
                is_input=role == "input",
                arg_index=int(index),
                device_size=tuple(int(n) for n in sizes.split(",")),
                coordinates=tuple(_expression(c, path) for c in _items(coordinates)),
                allocation=_allocation({place: int(value)}, path),
                advance=None if advance in (None, "None") else _advance(advance, path),
            ),
            path,
        )


def _items(text: str) -> list[str]:
    """The items of a printed list: commas inside parentheses belong to the item."""
    items, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            items.append("")
        else:
            items[-1] += char
    return [item.strip() for item in items]
