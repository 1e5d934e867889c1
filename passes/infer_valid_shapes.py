# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-infer-valid-shapes: which cells of every result hold data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from spyre_mlir import encodings, ir, regions
from spyre_mlir.diagnostics import Note
from spyre_mlir.dialects import spyre
from spyre_mlir.listings import Listing
from spyre_mlir.optable import Op
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.region_reader import (
    RegionReader,
    callee_of,
    causes,
    functions_of,
    has_body,
    label_of,
    name_of,
    signature_of,
)
from spyre_mlir.regions import RegionRefusal
from spyre_mlir.regions.agreement import smallest
from spyre_mlir.regions.refusals import replaced, spelled
from spyre_mlir.retyping import Retyping
from spyre_mlir.tensors import TensorType


@dataclass(frozen=True)
class InferValidShapes(
    Pass,
    name="spyre-infer-valid-shapes",
    anchor="builtin.module",
    dependent_dialects=("spyre",),
):
    """Derive the valid region and pad of every result.

    Each operation's rule is applied in order, callees before their callers. What a loop carries keeps the type of its
    initial value; types that meet in a branch, a loop, a call or a return must agree. A function's results are what it
    returns, unless its signature states a region. Under the policy `intersect` operands that are valid over more than
    the others are narrowed to what all of them hold, so that afterwards operands agree; without `narrow` they stay,
    and the result's region is the smallest. Layouts are those of spyre-assign-layouts."""

    policy: Literal["agree", "intersect"] = option(
        "agree", help="whether operands agree, or what all of them hold is valid"
    )
    narrow: bool = option(True, help="whether intersect narrows operands to what all of them hold")

    changed = statistic("result types changed")
    narrowed = statistic("operands narrowed")

    def run(self, op: ir.Operation) -> None:
        functions = {name_of(function): function for function in functions_of(op)}
        inference = _Inference(functions, self.policy, self.narrow)
        for name in functions:
            inference.function(name)
        self.changed.add(inference.changed)
        self.narrowed.add(inference.narrowed)


class _Inference:
    """One run over the functions of a module."""

    def __init__(self, functions: dict[str, ir.Operation], policy: str, narrow: bool) -> None:
        self.functions = functions
        self.policy = policy
        self.narrow = narrow and policy == "intersect"
        self.done: set[str] = set()
        self.changed = 0
        self.narrowed = 0

    def function(self, name: str) -> None:
        """Infers a function, if that was not done. One that is being inferred keeps its signature meanwhile."""
        function = self.functions.get(name)
        if function is None or name in self.done:
            return
        self.done.add(name)
        if has_body(function):
            _Body(self, function).run()


class _Body:
    """One function."""

    def __init__(self, inference: _Inference, function: ir.Operation) -> None:
        self.inference = inference
        self.function = function
        self.reader = RegionReader(function)
        self._written: dict[tuple[object, ...], ir.Type] = {}
        self.listing = Listing(function)
        self.retyping = Retyping(self.listing, self._visit)

    def run(self) -> None:
        self.retyping.run(0, len(self.listing.kinds))
        self.inference.changed += self.retyping.changed

    def _visit(self, number: int) -> bool:
        """One operation; whether all that was done is to set types."""
        op = self.listing.operation(number)
        row = self.reader.row(op.name)
        if row is None:
            return self._upstream(op, number)
        if op.name == "spyre.extent":
            self.reader.introduce(op)
            self.retyping.forget()
            return False
        narrowed = self.inference.narrowed
        self._derive(op, row)
        return self.inference.narrowed == narrowed

    def _inside(self, number: int) -> None:
        """The operations inside one."""
        self.retyping.run(number + 1, self.listing.ends[number])

    def _derive(self, op: ir.Operation, row: Op) -> None:
        policy = "agree" if self.inference.narrow else self.inference.policy
        while True:
            try:
                written, derived = self.reader.derive(op, row, policy)
                break
            except RegionRefusal as refusal:
                if self.inference.narrow and refusal.code == "SPY072":
                    self._narrow(op, row, refusal)
                    continue
                refusal.place = op
                refusal.notes += causes(op, row, refusal.labels, self.reader)
                raise
        for number, (old, new) in enumerate(zip(written, derived, strict=True)):
            if new is not old:
                self._retype(op.results[number], old, new)

    def _retype(self, result: ir.Value, old: TensorType, new: TensorType) -> None:
        """Region and pad as derived; the layout is left to the pass that assigns it."""
        if (old.valid_shape, old.pad) == (new.valid_shape, new.pad):
            return
        key = (id(old), new.valid_shape, new.pad)  # the reader keeps `old`
        type = self._written.get(key)
        if type is None:
            wanted = replace(old, valid_shape=new.valid_shape, pad=new.pad)
            type = self._written[key] = encodings.write(wanted)
        result.set_type(type)
        self.inference.changed += 1

    def _narrow(self, op: ir.Operation, row: Op, refusal: RegionRefusal) -> None:
        """Narrows the two operands of which a refusal speaks to what both of them hold along its dim."""
        rank = len(op.results[0].type.shape)
        extent = smallest(list(refusal.extents), self.reader.facts)
        assert refusal.dim is not None
        for number, value in enumerate(op.operands):
            if label_of(row, number) not in refusal.labels:
                continue
            tensor = self.reader.read(value.type)
            dim = refusal.dim - (rank - tensor.rank)
            if row.rule == "concat" and dim >= op.attributes["dim"].value:
                dim += 1  # the rule speaks of the dims without the one along which it joins
            if tensor.valid[dim] != extent:
                region = replaced(tensor.valid, dim, extent)
                kind = replace(tensor, valid_shape=region, pad=None)
                op.operands[number] = self._view(value, kind, op)
                self.inference.narrowed += 1

    def _view(self, value: ir.Value, tensor: TensorType, user: ir.Operation) -> ir.Value:
        """The value with the region of `tensor`, for use by `user`."""
        extents = ir.ArrayAttr.get(
            [ir.ExtentAttr.get(e if isinstance(e, int) else str(e)) for e in tensor.valid]
        )
        with ir.InsertionPoint(user), user.location:
            return spyre.SetValidShapeOp(encodings.write(tensor), value, extents).result

    # Types that meet.

    def _upstream(self, op: ir.Operation, number: int) -> bool:
        if op.name == "scf.for":
            self._loop(op, number)
        elif op.name == "scf.if":
            self._branches(op, number)
        elif op.name == "func.call":
            self._call(op)
        elif op.name == "func.return":
            self._return(op)
        elif len(op.regions):
            self._inside(number)
        else:
            return True
        return False

    def _loop(self, op: ir.Operation, number: int) -> None:
        body = op.regions[0].blocks[0]
        carried = [value.type for value in list(op.operands)[3:]]
        for inside, type in zip(list(body.arguments)[1:], carried, strict=True):
            inside.set_type(type)
        before = self.reader.enter(op)
        self.retyping.forget()
        self._inside(number)
        end = _terminator(body)
        for position, type in enumerate(carried):
            what = f"value #{position} that the loop carries, on entry and after a trip"
            self._meet(end, position, type, what, op.operands[3 + position])
        self.reader.facts = before
        self.retyping.forget()
        for result, type in zip(op.results, carried, strict=True):
            result.set_type(type)

    def _branches(self, op: ir.Operation, number: int) -> None:
        self._inside(number)
        if not len(op.results):
            return
        ends = [_terminator(region.blocks[0]) for region in op.regions]
        for position, result in enumerate(op.results):
            types = [end.operands[position].type for end in ends]
            what = f"result #{position} of the two branches"
            if types[0] != types[1] and isinstance(types[0], ir.RankedTensorType):
                first, second = map(self.reader.read, types)
                with _met_at(ends[1], ends[0].operands[position], "the first branch yields this"):
                    joined = encodings.write(
                        regions.join(first, second, self.reader.facts, what=what)
                    )
                for end in ends:
                    self._meet(end, position, joined, what, end.operands[position])
                result.set_type(joined)
            else:
                result.set_type(types[0])

    def _call(self, op: ir.Operation) -> None:
        name = callee_of(op)
        self.inference.function(name)
        callee = self.inference.functions.get(name)
        if callee is None:
            return  # MLIR's verifier speaks of it
        signature = signature_of(callee)
        for number, type in enumerate(signature.inputs):
            self._meet(
                op, number, type, f"argument #{number} of @{name}, there and at the call", callee
            )
        for result, type in zip(op.results, signature.results, strict=True):
            result.set_type(type)

    def _return(self, op: ir.Operation) -> None:
        signature = signature_of(self.function)
        results = list(signature.results)
        for number, (value, stated) in enumerate(zip(op.operands, results, strict=True)):
            if not isinstance(stated, ir.RankedTensorType):
                continue
            if self.reader.read(stated).valid_shape is None:
                results[number] = value.type
            else:
                what = f"result #{number} of the function, returned and as its signature states it"
                self._meet(op, number, stated, what, self.function)
        if results != list(signature.results):
            made = ir.FunctionType.get(list(signature.inputs), results)
            self.function.attributes["function_type"] = ir.TypeAttr.get(made)

    def _meet(
        self, user: ir.Operation, number: int, wanted: ir.Type, what: str, other: object
    ) -> None:
        """Lets an operand have the type that it must have, or refuses at its user (SPY087)."""
        value = user.operands[number]
        if value.type == wanted or not isinstance(value.type, ir.RankedTensorType):
            return
        have, want = self.reader.read(value.type), self.reader.read(wanted)
        if have.layout is None or want.layout is None:
            have = replace(have, layout=want.layout, window=want.window)
        with _met_at(user, other, "the other type is from here"):
            regions.join(want, have, self.reader.facts, what=what)
            if have.valid_shape != want.valid_shape and want.pad is not None:
                raise RegionRefusal(
                    "SPY087",
                    f"{what}: pad {want.pad} is promised outside {spelled(want.valid)}, and outside"
                    f" {spelled(have.valid)}, which is equal but spelled otherwise",
                    remedy="spell both regions alike",
                )
        if have.valid_shape != want.valid_shape:
            user.operands[number] = self._view(value, want, user)


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


@contextmanager
def _met_at(user: ir.Operation, other: object, note: str) -> Iterator[None]:
    """Places a refusal at the user, with a note at the other side."""
    try:
        yield
    except RegionRefusal as refusal:
        refusal.place = user
        refusal.notes += (Note(note, other),)
        raise
