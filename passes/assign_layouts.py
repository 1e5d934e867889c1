# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-assign-layouts: a device layout for every tensor, and every operand's stick on the dim where its operation
reads it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial

from spyre_mlir import encodings, ir, partial_sticks
from spyre_mlir.builders import assuming
from spyre_mlir.diagnostics import refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.layouts import Layout, default_layout
from spyre_mlir.listings import BOUNDS, WRITE, Listing
from spyre_mlir.operations import layout_of, meaning
from spyre_mlir.optable import Op
from spyre_mlir.padding import padded, rounded_up, trimmed
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.properties import LAYOUTS
from spyre_mlir.region_reader import RegionReader
from spyre_mlir.retyping import Key, Retyping
from spyre_mlir.sticks import (
    Sticks,
    lies_in_pairs,
    stick_of,
    sticks,
    view_layout,
    with_stick,
)


@dataclass(frozen=True)
class AssignLayouts(
    Pass,
    name="spyre-assign-layouts",
    anchor="func.func",
    dependent_dialects=("spyre",),
    provides=(LAYOUTS,),
):
    """Give every tensor a device layout.

    An elementwise result lies as the first operand of its shape does, a reduction over the stick leaves one value a
    stick, every other tensor takes the default layout. Layouts that are written stay. Where an operation reads a stick
    along another dim than the one it lies on, `spyre.restickify` is inserted, once per value and dim."""

    assigned = statistic("layouts assigned")
    restickified = statistic("operands restickified")

    def run(self, op: ir.Operation) -> None:
        if not op.regions[0].blocks:
            return
        assigner = _Assigner(op)
        with assuming(RegionReader(op).facts):
            assigner.run()
        _adjust_signature(op)
        self.assigned.add(assigner.assigned + assigner.retyping.changed)
        self.restickified.add(assigner.restickified)


DESTINATION = 1
"""The operand of an insertion that is written into."""

Made = dict[tuple[ir.Value, int], ir.Value]
"""(value, dim) -> the value with that dim on the stick."""


class _Assigner:
    """One function."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.listing = Listing(function)
        self.retyping = Retyping(self.listing, self._visit)
        self.assigned = 0
        self.restickified = 0
        self.visited = 0
        """Operations that were looked at, those made on the way included."""
        self.last = -1
        """Number of the last one that was there before."""
        self.current: ir.Operation | None = None
        self.asked: dict[Key, Sticks] = {}
        """What operations asked of sticks, by kind and states of the operands."""
        self.erased: ir.Operation | ir.OpView | None = None
        self.previous: ir.Operation | None = None
        self.laid: dict[tuple[ir.Type, Layout | None], ir.Type] = {}
        """Type without a layout, and the layout it is given, None for the default -> the type with it."""
        self.turned: dict[tuple[ir.Type, int], ir.Type] = {}
        """Type of whole sticks, dim -> the type with that dim on the stick."""
        self.transposed: dict[tuple[Hashable, ...], ir.Type] = {}
        self.moved: set[ir.Value] = set()
        """Values that lie otherwise than was written, so that views of them do as well."""
        self.made: Made = {}
        self.masks = partial_sticks.Masks(
            function.regions[0].blocks[0], partial(self._laid, made={})
        )

    def run(self) -> None:
        """Layouts for the whole function."""
        self._blocks(self.function, 0, len(self.listing.kinds))

    def _blocks(self, op: ir.Operation, first: int, last: int) -> None:
        """Layouts for what blocks of an operation take, and the operations in them, from `first` to before `last`."""
        outer, self.made = self.made, {}
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self._assign(argument, None)
        self.retyping.run(first, last)
        self.made = outer

    def _visit(self, number: int) -> bool | None:
        """One operation. What is filled in place depends on what stands before, and is never done by number."""
        op = self.listing.operation(number)
        if number != self.last + 1:
            self.previous = None
        self.last = number
        if len(op.regions):
            self._region(op, number)
            return False
        operands, visited = list(op.operands), self.visited
        self.current = op
        self._operation(op, self.made)
        if self.erased is op:
            return None
        self.previous = op
        alone = self.visited == visited + 1 and list(op.operands) == operands
        return alone and op.name not in (WRITE, "spyre.full")

    def _operation(self, op: ir.Operation, made: Made) -> ir.Value | None:
        """Lays an operation out; what takes the place of its result, if the operation was replaced."""
        self.visited += 1
        if op.name == "func.return":
            self._returned(op, made)
        row = meaning(op)
        if row is None or not op.results:
            for result in op.results:
                self._assign(result, None)
            return None
        with refused_at(op):
            if row.tiling == "view" and row.operands:
                self._assign_view(op)
                return self._in_place_of(op, made)
            if op.name == WRITE:
                self._own_destination(op, made)
                whole = op.operands[DESTINATION].type
                if _lies_otherwise(op.results[0].type, whole):
                    self._retype(op.results[0], whole)
                _fill_in_place(op, self.previous)
            new = self._in_place_of(op, made)
            if new is not None:
                return new
            if row.rule == "norm_scale":
                self._paired(op, made)
            wanted = self._sticks(op, row)
            for number, dim in wanted.operands:
                op.operands[number] = self._restickified(op, op.operands[number], dim, made)
            self._results(op, wanted)
            return None

    def _sticks(self, op: ir.Operation, row: Op) -> Sticks:
        """`sticks`, found out once for all operations of one kind and states that were there before. What is filled in
        place has another type by now."""
        if op is not self.current or op.name == WRITE:
            return sticks(op, row)
        key = self.retyping.key
        if key not in self.asked:
            self.asked[key] = sticks(op, row)
        return self.asked[key]

    def _in_place_of(self, op: ir.Operation, made: Made) -> ir.Value | None:
        """Replaces an operation that begins or ends within a stick where the device cannot; by what."""
        if op.name not in PARTIAL:
            return None
        operand, rewrite = PARTIAL[op.name]
        stick = stick_of(op.operands[operand])
        if stick is None:
            return None
        with ir.InsertionPoint(op), op.location:
            new = rewrite(op, stick, self.masks, partial(self._laid, made=made))
        if new is not None:
            if _lies_otherwise(op.results[0].type, new.type):
                self.moved.add(new)
            op.results[0].replace_all_uses_with(new)
            op.erase()
            self.erased = op
        return new

    def _laid(self, value: ir.Value, made: Made) -> ir.Value:
        """A value just made, its operation laid out."""
        op = value.owner.operation
        new = self._operation(op, made)
        if new is not None:
            return new
        self.previous = op
        return value

    def _region(self, op: ir.Operation, number: int) -> None:
        """An operation that holds others; a loop carries what it is given."""
        carried = list(op.operands)[BOUNDS:] if op.name == "scf.for" else []
        if carried:
            inside = list(op.regions[0].blocks[0].arguments)[1:]
            for value, argument in zip(carried, inside, strict=True):
                self._retype(argument, value.type)
        self._blocks(op, number + 1, self.listing.ends[number])
        for value, result in zip(carried, op.results, strict=False):
            self._retype(result, value.type)
        for result in op.results:
            self._assign(result, None)

    def _turned(self, value: ir.Value, dim: int, made: Made) -> ir.Value:
        """The value in a buffer with `dim` on the stick. Sticks are turned as a whole: both dims are read and written
        in whole sticks, in buffers that have them."""
        if (value.type, dim) in self.turned:
            return spyre.RestickifyOp(self.turned[value.type, dim], value).result
        tensor = encodings.read(value.type)
        lanes = layout_of(tensor).elements_per_stick
        lies = stick_of(value) if any(extent % lanes for extent in tensor.shape) else None
        turned = (dim, lies)
        whole = tuple(
            rounded_up(extent, lanes) if d in turned else extent
            for d, extent in enumerate(tensor.shape)
        )
        if whole != tensor.shape:
            value = padded(value, whole)
            model = None if lies is None else with_stick(whole, tensor.element, lies)
            self._assign(value.owner.operands[1], model)
            self._operation(value.owner, made)
        result = replace(encodings.read(value.type), window=False, pad=None)
        result = replace(result, layout=with_stick(whole, tensor.element, dim))
        found: ir.Value = spyre.RestickifyOp(encodings.write(result), value).result
        if whole == tensor.shape:
            self.turned[value.type, dim] = found.type
            return found
        found = trimmed(found, tensor.shape)
        self._operation(found.owner, made)
        return found

    def _returned(self, end: ir.Operation, made: Made) -> None:
        """A result is a buffer of its own, not a piece of another one."""
        for number, value in enumerate(end.operands):
            if not isinstance(value.type, ir.RankedTensorType) or not isinstance(
                value, ir.OpResult
            ):
                continue
            tensor = encodings.read(value.type)
            row = meaning(value.owner)
            if row is None or row.tiling != "view":
                continue
            if tensor.window or (row.rule == "reshape" and not _ends_with_stick(value)):
                plain = encodings.write(replace(tensor, layout=None, window=False))
                with ir.InsertionPoint(end), end.location:
                    copy = spyre.IdentityOp(plain, value)
                self._operation(copy.operation, made)
                end.operands[number] = copy.result

    def _own_destination(self, op: ir.Operation, made: Made) -> None:
        """What is written into is a buffer of its own: of a view or an argument, a copy, which is planned like all
        that computes."""
        value = op.operands[DESTINATION]
        if isinstance(value, ir.OpResult):
            row = meaning(value.owner)
            if row is None or row.tiling != "view" or not row.operands:
                return
        elif value.owner.owner != self.function:
            return  # what a loop carries is its own
        tensor = encodings.read(value.type)
        plain = encodings.write(replace(tensor, layout=None, window=False))
        with ir.InsertionPoint(op), op.location:
            copy = self._laid(spyre.IdentityOp(plain, value).result, made)
        op.operands[DESTINATION] = copy
        self._retype(op.results[0], copy.type)

    def _paired(self, op: ir.Operation, made: Made) -> None:
        """Pairs of which both cells are read from one stick lie there: turned, or copied, if they do not."""
        value = op.operands[0]
        if lies_in_pairs(value):
            return
        last = len(value.type.shape) - 1
        if stick_of(value) not in (None, last):
            op.operands[0] = self._restickified(op, value, last, made)
            return
        plain = encodings.write(replace(encodings.read(value.type), layout=None, window=False))
        with ir.InsertionPoint(op), op.location:
            op.operands[0] = self._laid(spyre.IdentityOp(plain, value).result, made)

    def _results(self, op: ir.Operation, wanted: Sticks) -> None:
        for result, stick in zip(op.results, wanted.results, strict=True):
            tensor = encodings.read(result.type)
            layout = wanted.model
            if layout is None or tensor.shape != tuple(op.results[0].type.shape):
                layout = with_stick(tensor.shape, tensor.element, stick)
            self._assign(result, layout)

    def _assign_view(self, op: ir.Operation) -> None:
        result = encodings.read(op.results[0].type)
        if result.layout is not None and op.operands[0] not in self.moved:
            return
        layout, window = view_layout(op)
        type = encodings.write(replace(result, layout=layout, window=window))
        self._retype(op.results[0], type)
        self.assigned += 1

    def _retype(self, value: ir.Value, type: ir.Type) -> None:
        """Gives a value another type; where it was written to lie otherwise, its views follow."""
        if _lies_otherwise(value.type, type):
            self.moved.add(value)
        value.set_type(type)

    def _assign(self, value: ir.Value, layout: Layout | None) -> None:
        type = value.type
        if not isinstance(type, ir.RankedTensorType):
            return
        tensor = encodings.read(type)
        if tensor.layout is None:
            given = type, layout
            if given not in self.laid:
                layout = layout or default_layout(tensor.shape, tensor.element)
                self.laid[given] = encodings.write(replace(tensor, layout=layout))
            value.set_type(self.laid[given])
            self.assigned += 1

    def _restickified(
        self,
        user: ir.Operation,
        value: ir.Value,
        dim: int,
        made: Made,
    ) -> ir.Value:
        """The value with the stick on `dim`, for use by `user`. What is transposed is turned before it is."""
        if (value, dim) in made:
            return made[value, dim]
        source = value.owner if isinstance(value, ir.OpResult) else None
        if source is not None and source.name == "spyre.transpose":
            permutation = ir.ArrayAttr(source.attributes["permutation"])
            base = self._restickified(user, source.operands[0], permutation[dim].value, made)
            with ir.InsertionPoint(user):
                new = source.clone()
            new.operands[0] = base
            self._retransposed(new, (value.type, base.type, permutation))
            found = new.results[0]
        else:
            with ir.InsertionPoint(user), user.location:
                found = self._turned(value, dim, made)
            self.restickified += 1
        made[value, dim] = found
        return found

    def _retransposed(self, new: ir.Operation, given: tuple[Hashable, ...]) -> None:
        """The type of what is transposed after it was turned, found once for what it follows from."""
        if given not in self.transposed:
            tensor = encodings.read(new.results[0].type)
            new.results[0].set_type(encodings.write(replace(tensor, layout=None)))
            self._assign_view(new)
            self.transposed[given] = new.results[0].type
        else:
            new.results[0].set_type(self.transposed[given])
            self.assigned += 1


PARTIAL: dict[str, tuple[int, partial_sticks.Rewrite]] = {
    "spyre.insert_slice": (1, partial_sticks.inserted),
    "spyre.slice": (0, partial_sticks.windowed),
    "spyre.reshape": (0, partial_sticks.reshaped),
    "spyre.restickify": (0, partial_sticks.restickified),
}
"""Operation -> the operand whose sticks count, and what takes its place where it begins or ends within one."""


def _lies_otherwise(written: ir.Type, type: ir.Type) -> bool:
    """Whether a type says another layout, or another window flag, than the written one, which has a layout."""
    if written == type or not isinstance(written, ir.RankedTensorType):
        return False
    old, new = encodings.read(written), encodings.read(type)
    return old.layout is not None and (old.layout, old.window) != (new.layout, new.window)


def _ends_with_stick(value: ir.Value) -> bool:
    """Whether the last dim of a tensor, if any, runs through the lanes of its sticks."""
    return stick_of(value) in (None, len(value.type.shape) - 1)


def _fill_in_place(op: ir.Operation, previous: ir.Operation | None) -> None:
    """Lets a tensor full of one value that is made for an insertion, right before, be made where it is inserted."""
    source, destination = op.operands[0], op.operands[1]
    if not isinstance(source, ir.OpResult) or source.owner.name != "spyre.full":
        return
    alone = all(len(list(value.uses)) == 1 for value in (source, destination))
    if alone and source.owner.operation == previous and isinstance(destination, ir.OpResult):
        tensor, whole = (encodings.read(value.type) for value in (source, destination))
        source.set_type(encodings.write(replace(tensor, layout=whole.layout, window=True)))


def _adjust_signature(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    results = [value.type for value in end.operands] if end.name == "func.return" else []
    signature = ir.FunctionType.get([argument.type for argument in block.arguments], results)
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
