# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-to-sdsc: all passes from a program to its bundle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from spyre_mlir.passes.assign_layouts import AssignLayouts
from spyre_mlir.passes.check_program import CheckProgram
from spyre_mlir.passes.decompose_operations import DecomposeOperations
from spyre_mlir.passes.divide_work import DivideWork
from spyre_mlir.passes.infer_valid_shapes import InferValidShapes
from spyre_mlir.passes.lower_part_ops import LowerPartOps
from spyre_mlir.passes.lower_to_sdscbundle import LowerToSdscbundle
from spyre_mlir.passes.materialize_extents import MaterializeExtents
from spyre_mlir.passes.plan_memory import PlanMemory
from spyre_mlir.passes.plan_span_overflow import PlanSpanOverflow
from spyre_mlir.passes.tile import Tile
from spyre_mlir.passes.verify_valid_regions import VerifyValidRegions

from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.options import check_range
from spyre_mlir.passmanager import Pass, Pipeline, option


@dataclass(frozen=True)
class ToSdsc(Pipeline, name="spyre-to-sdsc"):
    """Compile a program of the dialect spyre into an SDSC bundle.

    Regions are inferred and proved on the program as it was written, before operations are decomposed and laid out.
    Under the policy `intersect` operands are narrowed until they agree. Memory is planned before work is divided, so
    that copies that it inserts are divided as well."""

    cores: int = option(CORES, help="cores to divide over")
    span_limit: int = option(SPAN_LIMIT_BYTES, help="largest span of one core, in bytes")
    plan: bool = option(True, help="whether operations that reach too far are tiled")
    remainder: Literal["never", "fallback", "always"] = option(
        "fallback", help="when a last tile may be smaller"
    )
    reductions: Literal["never", "fallback", "always"] = option(
        "fallback", help="when a reduced range may be divided, and its parts combined"
    )
    division: Literal["ignored", "counted"] = option(
        "ignored", help="whether tiles may reach further than each core does after work division"
    )
    policy: Literal["agree", "intersect"] = option(
        "agree", help="whether valid regions of operands agree, or what all of them hold is valid"
    )

    def __post_init__(self) -> None:
        check_range(self, "cores", least=1, most=CORES)
        check_range(self, "span_limit", least=1, most=SPAN_LIMIT_BYTES)

    def passes(self) -> Iterable[Pass]:
        return (
            CheckProgram(),
            MaterializeExtents(),
            InferValidShapes(policy=self.policy),
            VerifyValidRegions(),
            LowerPartOps(),
            DecomposeOperations(),
            AssignLayouts(),
            PlanSpanOverflow(
                enabled=self.plan,
                span_limit=self.span_limit,
                remainder=self.remainder,
                reductions=self.reductions,
                division=self.division,
                cores=self.cores,
            ),
            Tile(),
            PlanMemory(),
            DivideWork(cores=self.cores, span_limit=self.span_limit),
            LowerToSdscbundle(),
        )
