# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed work divisions: every operation of a case is divided anew, from its layouts and indices.
None is out of scope.

A case has `cores`, `ir_ops`, where the limit was lowered `span_limit_work_division` (bytes), and
for a matmul `matmul_cost_evaluations`, of its last operation."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any

from spyre_mlir.accesses import Access
from spyre_mlir.cases.layout_cases import ELEMENTS, layout_of
from spyre_mlir.cases.outcomes import Case, Handler, Outcome
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.quasiaffine import parse
from spyre_mlir.work_division import (
    Candidate,
    candidates,
    cuts_for_spans,
    default_cuts,
    divide,
    roles,
    units,
    work_of,
)

Record = Mapping[str, Any]


def kernel_of(ir_op: Record) -> Kernel:
    """The kernel of one entry of `ir_ops`."""

    def access(tensor: Record, written: bool) -> Access:
        return Access(
            tensor["buffer"],
            tensor["buffer"],
            layout_of(tensor["layout"]),
            ELEMENTS[tensor["layout"]["dtype"]],
            parse(tensor["index"]),
            written,
        )

    output = access(ir_op["output"], True)
    kept = output.index.symbols()
    return Kernel(
        name=ir_op["reduction_type"] or "pointwise",
        family="contract" if ir_op["reduction_type"] == "batchmatmul" else "other",
        dims=tuple(
            Dim(symbol, extent, reduction=symbol not in kept)
            for symbol, extent in ir_op["iteration_space"].items()
        ),
        accesses=(*(access(tensor, False) for tensor in ir_op["reads"]), output),
        label=ir_op["output"]["buffer"],
    )


_OBSERVED = (
    "size_used_for_division",
    "splits_after_span_reduction",
    "splits",
    "divided_by",
    "matmul_default_splits",
)


def _divided(ir_op: Record, cores: int, limit: int) -> dict[str, Any]:
    """Ours, of what was observed of one operation."""
    kernel = kernel_of(ir_op)
    work = work_of(kernel)
    minima = cuts_for_spans(work, cores=cores, limit=limit)
    got: dict[str, Any] = {
        "size_used_for_division": units(work),
        "splits_after_span_reduction": minima,
    }
    if "matmul_default_splits" in ir_op:
        got["matmul_default_splits"] = default_cuts(work, minima, cores=cores)
    try:
        division = divide(kernel, cores=cores, limit=limit)
    except Refusal as refusal:
        return got | {"refused": refusal.code}
    return got | {
        "splits": dict(division.cuts),
        "divided_by": "matmul_cost" if division.by_cost else "default",
    }


def _costs(case: Case, seen: Record) -> dict[str, Any]:
    """Ours, of what was observed of the cost of a matmul."""
    work = work_of(kernel_of(case["ir_ops"][-1]))
    part = roles(work)
    ours = [] if part is None else list(candidates(work, part, case["cores"]))
    if not ours:
        return {"count": 0}
    cheapest = sorted(ours, key=lambda candidate: candidate.cost)[:4]
    got: dict[str, Any] = {
        "count": len(ours),
        "first_enumerated": _listed(ours[0], seen["first_enumerated"]),
        "last_enumerated": _listed(ours[-1], seen["last_enumerated"]),
        "lowest_four": _all_listed(cheapest, seen["lowest_four"]),
    }
    if "all" in seen:
        got["all"] = _all_listed(ours, seen["all"])
    return got


def _all_listed(ours: list[Candidate], seen: list[list[Any]]) -> list[list[Any]]:
    padded = seen + [[]] * (len(ours) - len(seen))
    return [_listed(candidate, row) for candidate, row in zip(ours, padded, strict=False)]


def _listed(candidate: Candidate, seen: list[Any]) -> list[Any]:
    """As a row of the case; a cost that agrees to nine digits is that of the case."""
    parts = (candidate.batch, candidate.rows, candidate.columns, candidate.contracted)
    cost = candidate.cost
    if seen and isclose(cost, seen[-1], rel_tol=1e-9):
        cost = seen[-1]
    return [*(list(part) for part in parts), candidate.shared, cost]


def work_division(case: Case) -> Outcome:
    """All of a case: sizes, cuts that spans ask for, final cuts, and the costs of a matmul."""
    limit = case.get("span_limit_work_division", SPAN_LIMIT_BYTES)
    expected: dict[str, Any] = {
        "ir_ops": [
            {name: op[name] for name in _OBSERVED if name in op}
            | ({} if "splits" in op else {"refused": "SPY110"})
            for op in case["ir_ops"]
        ]
    }
    got: dict[str, Any] = {
        "ir_ops": [_divided(op, case["cores"], limit) for op in case["ir_ops"]],
    }
    if "matmul_cost_evaluations" in case:
        expected["costs"] = case["matmul_cost_evaluations"]
        got["costs"] = _costs(case, case["matmul_cost_evaluations"])
    return Outcome(expected, got)


HANDLERS: dict[str, Handler] = {"work_division": work_division}
"""Category -> what runs a case of it."""
