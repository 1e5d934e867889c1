# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-lower-to-sdscbundle: one structured SDSC per operation, run in counted loops."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir, lowering
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.dialects import sdscbundle
from spyre_mlir.launches import Form, Launches
from spyre_mlir.listings import Listing
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.properties import DIVIDED, LAYOUTS, PLACED, TILED, computes
from spyre_mlir.scalars import CONSTANT, constants_of
from spyre_mlir.sdsc.model import Parameter
from spyre_mlir.sdsc_attributes import FUNCTION, parameter_types


@dataclass(frozen=True)
class LowerToSdscbundle(
    Pass,
    name="spyre-lower-to-sdscbundle",
    anchor="builtin.module",
    dependent_dialects=("affine", "arith", "func", "scf", "sdscbundle"),
    requires=(LAYOUTS, TILED, DIVIDED, PLACED),
):
    """Turn the function of a module into a bundle.

    Every operation becomes an `sdscbundle.sdsc` of the module, launched in the loops that were around it. The
    parameters are the function's tensors, then its results."""

    lowered = statistic("operations lowered")

    def run(self, op: ir.Operation) -> None:
        module = op.regions[0].blocks[0]
        functions = [f.operation for f in module.operations if f.operation.name == "func.func"]
        bodies = [f for f in functions if len(f.regions[0].blocks)]
        listings = [Listing(f) for f in bodies]
        if not any(computes(inner) for listing in listings for inner in listing.examples):
            return
        if len(bodies) != 1:
            raise Refusal(
                "SPY095",
                f"a bundle is one function; the module has {len(bodies)} with a body",
                remedy="inline the calls and remove what is not called",
                place=bodies[1],
            )
        writer = _Writer(bodies[0], listings[0])
        writer.function()
        self.lowered.add(writer.count)


class _Writer:
    """Writes the lowered module beside the function, then takes the function away."""

    def __init__(self, source: ir.Operation, listing: Listing) -> None:
        self.source = source
        self.listing = listing
        self.launches = Launches(listing, source)
        self.extents: dict[Parameter, None] = {}
        self.forms: list[list[Form] | None] = [None] * len(listing.examples)
        self.computing = listing.per_kind(computes)
        self.loops = listing.per_kind(lambda op: op.name == "scf.for")

    @property
    def count(self) -> int:
        """SDSCs written."""
        return self.launches.count

    def function(self) -> None:
        from mlir.dialects import func

        source = self.source
        count = lowering.parameter_count(source)
        with ir.InsertionPoint(source), source.location:
            bundle = func.FuncOp(FUNCTION, (parameter_types(count, ()), []))
            block = bundle.add_entry_block()
            self._constants(source, bundle.operation, count)
        with ir.InsertionPoint(block), source.location:
            if "spyre.pool_bytes" in source.attributes:
                size = source.attributes["spyre.pool_bytes"]
                sdscbundle.DeviceMemAllocateOp(ir.IndexType.get(), size)
            self._block(0, len(self.listing.kinds), block)
            func.ReturnOp([])
        self._take_extents(bundle.operation, block)
        source.erase()

    def _constants(self, source: ir.Operation, bundle: ir.Operation, count: int) -> None:
        """Values of the parameters that the compiler added."""
        constants = constants_of(source)
        if constants:
            given = [ir.DictAttr.get({})] * count
            for number, constant in constants.items():
                given[number] = ir.DictAttr.get({CONSTANT: constant})
            bundle.attributes["arg_attrs"] = ir.ArrayAttr.get(given)

    def _take_extents(self, bundle: ir.Operation, block: ir.Block) -> None:
        """Parameters for the extents of symbolic dims, behind the others."""
        if not self.extents:
            return
        types = parameter_types(0, self.extents)
        for type in types:
            block.add_argument(type, self.source.location)
        given = ir.FunctionType(ir.TypeAttr(bundle.attributes["function_type"]).value)
        made = ir.FunctionType.get([*given.inputs, *types], [])
        bundle.attributes["function_type"] = ir.TypeAttr.get(made)
        if "arg_attrs" in bundle.attributes:
            none = [ir.DictAttr.get({})] * len(types)
            attributes = [*ir.ArrayAttr(bundle.attributes["arg_attrs"]), *none]
            bundle.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)

    def _block(self, first: int, last: int, block: ir.Block) -> None:
        """Operations by number, to the end of a block; the insertion point is there."""
        kinds, ends = self.listing.kinds, self.listing.ends
        at = first
        while at < last:
            kind = kinds[at]
            if self.loops[kind]:
                self.launches.write(block)
                self._loop(at)
            elif self.computing[kind]:
                self.launches.add(at, self.forms[kind] or self._formed(kind))
            at = ends[at]
        self.launches.write(block)

    def _loop(self, number: int) -> None:
        from mlir.dialects import arith, scf

        op = self.listing.operation(number)
        index = ir.IndexType.get()
        trips = lowering.trips(op)
        with op.location:
            low, high, step = (arith.ConstantOp(index, v).result for v in (0, trips, 1))
            loop = scf.ForOp(low, high, step)
            with ir.InsertionPoint(loop.body):
                self._block(number + 1, self.listing.ends[number], loop.body)
                scf.YieldOp([])

    def _formed(self, kind: int) -> list[Form]:
        op = self.listing.examples[kind]
        with refused_at(op):
            sdscs = lowering.lower(op)
        self.extents.update(dict.fromkeys(p for sdsc in sdscs for p in sdsc.parameters))
        forms = self.forms[kind] = [self.launches.form(sdsc) for sdsc in sdscs]
        return forms
