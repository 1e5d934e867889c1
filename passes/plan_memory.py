# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-plan-memory: where every value lies."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.listings import PLACE
from spyre_mlir.memory import Copy, MemoryPlan, Place, plan_memory
from spyre_mlir.memory_reader import ProgramReader
from spyre_mlir.options import check_range
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.properties import LAYOUTS, PLACED, TILED
from spyre_mlir.scalars import pass_scalars


@dataclass(frozen=True)
class PlanMemory(
    Pass,
    name="spyre-plan-memory",
    anchor="builtin.module",
    dependent_dialects=("spyre",),
    requires=(LAYOUTS, TILED),
    provides=(PLACED,),
):
    """Give every computed value a place: an argument, a result, or the pool of intermediates.

    Buffers are updated in place where nothing else needs them, else copied first. Places in the pool are shared by
    values that do not live at the same time. Scalar operands become arguments behind the function's own."""

    pool_limit: int = option(0, help="largest pool, in bytes; 0: no limit")
    pool_bytes = statistic("bytes of the pools")
    copies = statistic("copies inserted")

    def __post_init__(self) -> None:
        check_range(self, "pool_limit", least=0)

    def run(self, op: ir.Operation) -> None:
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and function.operation.regions[0].blocks:
                self._function(function.operation)

    def _function(self, function: ir.Operation) -> None:
        pass_scalars(function)
        reader = ProgramReader(function)
        with refused_at(function):
            plan = plan_memory(reader.program, pool_limit=self.pool_limit or None)
        for at, number in reader.updates:
            if number not in plan.direct:
                update = reader.listing.operation(at)
                raise Refusal(
                    "SPY122",
                    f"'{update.name}': the source is computed where it is inserted, over what is still needed",
                    remedy="copy the source with spyre.identity before it is inserted",
                    place=update,
                )
        _place(plan, reader)
        for copy in plan.copies:
            _insert(copy, plan, reader)
        if plan.pool_bytes:
            count = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), plan.pool_bytes)
            function.attributes["spyre.pool_bytes"] = count
        self.pool_bytes.add(plan.pool_bytes)
        self.copies.add(len(plan.copies))


def _place(plan: MemoryPlan, reader: ProgramReader) -> None:
    """Writes the place of every value that owns memory to the operation that makes it."""
    numbers: dict[Place, int] = {}
    choice = [-1] * len(reader.listing.kinds)
    for at, value in reader.owners:
        choice[at] = numbers.setdefault(plan.places[value], len(numbers))
    reader.listing.set_attributes(PLACE, [_attribute(place, reader) for place in numbers], choice)


def _attribute(place: Place, reader: ProgramReader) -> ir.PlaceAttr:
    """Results are the buffers behind the arguments."""
    if place.kind == "pool":
        return ir.PlaceAttr.get("pool", 0, place.offset)
    number = place.number + (reader.buffers if place.kind == "result" else 0)
    return ir.PlaceAttr.get("argument", number, place.offset)


def _insert(copy: Copy, plan: MemoryPlan, reader: ProgramReader) -> None:
    source = reader.source(copy)
    with (
        reader.insertion_point(copy),
        source.location if hasattr(source, "location") else ir.Location.unknown(),
    ):
        new = spyre.IdentityOp(source.type, source)
    new.operation.attributes[PLACE] = _attribute(plan.places[copy.target], reader)
    reader.substitute(copy, new.result)
