# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-materialize-extents: symbols that only types use become index arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.listings import Listing
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.region_reader import (
    EXTENT,
    callee_of,
    functions_of,
    has_body,
    introduced_by,
    introduced_by_arguments,
    name_of,
    signature_of,
    symbols_in,
)


@dataclass(frozen=True)
class MaterializeExtents(Pass, name="spyre-materialize-extents", anchor="builtin.module"):
    """Make symbols that only types use into index arguments.

    A symbol that the types in a function use and nothing introduces becomes an argument
    `index {spyre.extent = "n"}`, and so does one that a function it calls needs. New arguments come last, in the order
    of their names, so that the numbers of the others stay. Every call passes its own symbol of the same name."""

    materialized = statistic("arguments added")

    def run(self, op: ir.Operation) -> None:
        contents = {name_of(f): _Contents(f) for f in functions_of(op)}
        missing = _missing(contents)
        for name, names in missing.items():
            if names:
                contents[name].append(names)
                self.materialized.add(len(names))
        for content in contents.values():
            for call in content.calls:
                content.extend(call, missing.get(callee_of(call), ()))


class _Contents:
    """One function: the symbols it uses and introduces, and its calls."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.used: dict[str, None] = {}
        self.values: dict[str, ir.Value | None] = {}
        self._places: dict[str, ir.Operation] = {}
        self._types: set[ir.Type] = set()
        signature = signature_of(function)
        for type in (*signature.inputs, *signature.results):
            self._use(type)
        arguments = list(function.regions[0].blocks[0].arguments) if has_body(function) else []
        for introduction in introduced_by_arguments(function):
            assert introduction.argument is not None
            self.values[introduction.name] = arguments[introduction.argument] if arguments else None
        self._use_blocks(function)
        listing = Listing(function)
        for op in listing.examples:
            for result in op.results:
                self._use(result.type)
            self._use_blocks(op)
        self.calls = listing.select(lambda op: op.name == "func.call")
        for op in listing.select(lambda op: op.name == "spyre.extent"):
            name = introduced_by(op).name
            self.values[name] = op.operands[0]
            self._places[name] = op

    def _use_blocks(self, op: ir.Operation) -> None:
        """The types of what the blocks of an operation take."""
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self._use(argument.type)

    def _use(self, type: ir.Type) -> None:
        if type not in self._types and isinstance(type, ir.RankedTensorType):
            self._types.add(type)
            if isinstance(type.encoding, ir.EncodingAttr):
                self.used.update(dict.fromkeys(symbols_in(encodings.read(type))))

    def append(self, names: Sequence[str]) -> None:
        """New arguments behind the others."""
        function, signature = self.function, signature_of(self.function)
        index = ir.IndexType.get()
        inputs = [*signature.inputs, *[index] * len(names)]
        made = ir.FunctionType.get(inputs, list(signature.results))
        given = [ir.DictAttr.get({})] * len(signature.inputs)
        if "arg_attrs" in function.attributes:
            given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        given += [ir.DictAttr.get({EXTENT: ir.StringAttr.get(name)}) for name in names]
        function.attributes["function_type"] = ir.TypeAttr.get(made)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)
        for name in names:
            self.values[name] = None
            if has_body(function):
                block = function.regions[0].blocks[0]
                self.values[name] = block.add_argument(index, function.location)

    def extend(self, call: ir.Operation, names: Sequence[str]) -> None:
        """Passes this function's own symbols to new arguments of a callee."""
        if not names:
            return
        with ir.InsertionPoint(call), call.location:
            new = ir.Operation.create(
                "func.call",
                results=[result.type for result in call.results],
                operands=[*call.operands, *[self._passed(name, call) for name in names]],
                attributes=dict(call.attributes.items()),
            )
        for old, result in zip(call.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        call.erase()

    def _passed(self, name: str, call: ir.Operation) -> ir.Value:
        value = self.values[name]
        assert value is not None, "a function with a call has a body"
        place = self._places.get(name)
        if place is not None and not _stands_before(place, call):
            raise Refusal(
                "SPY014",
                f"the call of @{callee_of(call)} needs {name}, which is introduced after it",
                notes=(Note(f"{name} is introduced here", place),),
                remedy=f"introduce {name} before the call",
                place=call,
            )
        return value


def _stands_before(place: ir.Operation, call: ir.Operation) -> bool:
    """Whether an operation of the entry block stands before the one that a call is, or is in."""
    outer = call
    while outer.parent is not None and outer.parent.name != "func.func":
        outer = outer.parent
    return bool(place.is_before_in_block(outer))


def _missing(contents: Mapping[str, _Contents]) -> dict[str, tuple[str, ...]]:
    """The symbols that each function lacks: its own, and those of the functions it calls, sorted."""
    needed = {name: set(c.used) - set(c.values) for name, c in contents.items()}
    callers: dict[str, list[str]] = {}
    for name, content in contents.items():
        for call in content.calls:
            callers.setdefault(callee_of(call), []).append(name)
    work = [name for name, names in needed.items() if names]
    while work:
        callee = work.pop()
        for caller in callers.get(callee, ()):
            new = needed[callee] - set(contents[caller].values) - needed[caller]
            if new:
                needed[caller] |= new
                work.append(caller)
    return {name: tuple(sorted(names)) for name, names in needed.items()}
