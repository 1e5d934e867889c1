# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-divide-work: cores per iteration dim."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.listings import Listing
from spyre_mlir.operations import kernel_of
from spyre_mlir.options import check_range
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.properties import DIVIDED, LAYOUTS, TILED, computes
from spyre_mlir.work_division import divide


@dataclass(frozen=True)
class DivideWork(
    Pass,
    name="spyre-divide-work",
    anchor="func.func",
    dependent_dialects=("spyre",),
    requires=(LAYOUTS, TILED),
    provides=(DIVIDED,),
):
    """Divide every operation over the cores.

    Sticks are never cut and every share is whole. Fails where a core would still reach over the limit."""

    cores: int = option(CORES, help="cores to divide over")
    span_limit: int = option(SPAN_LIMIT_BYTES, help="largest span of one core, in bytes")
    divided = statistic("operations divided over more than one core")

    def __post_init__(self) -> None:
        check_range(self, "cores", least=1, most=CORES)
        check_range(self, "span_limit", least=1, most=SPAN_LIMIT_BYTES)

    def run(self, op: ir.Operation) -> None:
        listing = Listing(op)
        splits = listing.per_kind(self._splits)
        listing.set_attribute_of_kinds(
            "spyre.division", [None if s is None else ir.WorkDivisionAttr.get(s) for s in splits]
        )
        divided = [s is not None and max(s, default=1) > 1 for s in splits]
        self.divided.add(sum(divided[kind] for kind in listing.kinds))

    def _splits(self, op: ir.Operation) -> list[int] | None:
        if not computes(op) or "spyre.division" in op.attributes:
            return None
        with refused_at(op):
            kernel = kernel_of(op)
            if kernel is None:
                return None
            for dim in kernel.dims:
                if not dim.extent:
                    raise Refusal(
                        "SPY102",
                        f"no cell of '{op.name}' holds data: its iteration dim {dim.symbol} has the valid extent 0",
                        remedy="leave the operation out, or give it cells",
                    )
            cuts = dict(divide(kernel, cores=self.cores, limit=self.span_limit).cuts)
        return [cuts.get(dim.symbol, 1) for dim in kernel.dims]
