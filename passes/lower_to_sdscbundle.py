# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-lower-to-sdscbundle: one structured SDSC per operation, run in counted loops."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir, lowering
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.dialects import sdscbundle
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.properties import DIVIDED, LAYOUTS, PLACED, TILED, computes
from spyre_mlir.scalars import CONSTANT, constants_of
from spyre_mlir.sdsc.model import Parameter
from spyre_mlir.sdsc_attributes import FUNCTION, parameter_types, write_sdsc


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
        if not any(computes(inner) for f in bodies for inner in lowering.walk(f)):
            return
        if len(bodies) != 1:
            raise Refusal(
                "SPY095",
                f"a bundle is one function; the module has {len(bodies)} with a body",
                remedy="inline the calls and remove what is not called",
                place=bodies[1],
            )
        writer = _Writer(module)
        writer.function(bodies[0])
        self.lowered.add(writer.count)


class _Writer:
    """Writes the lowered module beside the function, then takes the function away."""

    def __init__(self, module: ir.Block) -> None:
        self.module = module
        self.count = 0
        self.extents: dict[Parameter, None] = {}

    def function(self, source: ir.Operation) -> None:
        from mlir.dialects import func

        body = source.regions[0].blocks[0]
        count = lowering.parameter_count(source)
        self.at = ir.InsertionPoint(source)
        with self.at, source.location:
            bundle = func.FuncOp(FUNCTION, (parameter_types(count, ()), []))
            block = bundle.add_entry_block()
            self._constants(source, bundle.operation, count)
        with ir.InsertionPoint(block), source.location:
            if "spyre.pool_bytes" in source.attributes:
                size = source.attributes["spyre.pool_bytes"]
                sdscbundle.DeviceMemAllocateOp(ir.IndexType.get(), size)
            self._block(body)
            func.ReturnOp([])
        self._take_extents(source, bundle.operation)
        source.erase()

    def _constants(self, source: ir.Operation, bundle: ir.Operation, count: int) -> None:
        """Values of the parameters that the compiler added."""
        constants = constants_of(source)
        if constants:
            given = [
                ir.DictAttr.get({CONSTANT: constants[i]} if i in constants else {})
                for i in range(count)
            ]
            bundle.attributes["arg_attrs"] = ir.ArrayAttr.get(given)

    def _take_extents(self, source: ir.Operation, bundle: ir.Operation) -> None:
        """Parameters for the extents of symbolic dims, behind the others."""
        if not self.extents:
            return
        types = parameter_types(0, self.extents)
        for type in types:
            bundle.regions[0].blocks[0].add_argument(type, source.location)
        given = ir.FunctionType(ir.TypeAttr(bundle.attributes["function_type"]).value)
        made = ir.FunctionType.get([*given.inputs, *types], [])
        bundle.attributes["function_type"] = ir.TypeAttr.get(made)
        if "arg_attrs" in bundle.attributes:
            none = [ir.DictAttr.get({})] * len(types)
            attributes = [*ir.ArrayAttr(bundle.attributes["arg_attrs"]), *none]
            bundle.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)

    def _block(self, block: ir.Block) -> None:
        for operation in block.operations:
            op = operation.operation
            if op.name == "scf.for":
                self._loop(op)
            elif computes(op):
                self._operation(op)

    def _loop(self, op: ir.Operation) -> None:
        from mlir.dialects import arith, scf

        index = ir.IndexType.get()
        trips = lowering.trips(op)
        with op.location:
            low, high, step = (arith.ConstantOp(index, v).result for v in (0, trips, 1))
            loop = scf.ForOp(low, high, step)
            with ir.InsertionPoint(loop.body):
                self._block(op.regions[0].blocks[0])
                scf.YieldOp([])

    def _operation(self, op: ir.Operation) -> None:
        with refused_at(op):
            sdscs = lowering.lower(op)
        self.extents.update(dict.fromkeys(p for sdsc in sdscs for p in sdsc.parameters))
        for sdsc in sdscs:
            name = f"sdsc_{self.count}"
            with op.location:
                with self.at:
                    write_sdsc(sdsc, name)
                sdscbundle.LaunchOp(name)
            self.count += 1
