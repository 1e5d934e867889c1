# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed work divisions: every lowered operation of a record is divided anew and compared.

A record has `cores`, `status`, optionally `span_limit_work_division` (bytes), `ir_ops`, and for
matmuls `matmul_cost_evaluations` (of the last one)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isclose
from typing import Any

from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.quasiaffine import parse
from spyre_mlir.work_division import (
    Candidate,
    Operand,
    Symbol,
    Work,
    candidates,
    cuts_for_spans,
    default_cuts,
    divide_work,
    roles,
    units,
)

Record = Mapping[str, Any]


def work_of_record(ir_op: Record) -> Work:
    """The work of one entry of `ir_ops`."""

    def operand(tensor: Record) -> Operand:
        return Operand(
            tuple(tensor["layout"]["device_size"]),
            tuple(parse(text) for text in tensor["device_coordinates"]),
            parse(tensor["index"]),
        )

    return Work(
        tuple(Symbol(name, extent) for name, extent in ir_op["iteration_space"].items()),
        tuple(operand(tensor) for tensor in ir_op["reads"]),
        (operand(ir_op["output"]),),
        ir_op["reduction_type"] == "batchmatmul",
    )


def differences(record: Record) -> tuple[str, ...]:
    """What differs from the record, one sentence each; empty if nothing does."""
    found = [text for number in range(len(record["ir_ops"])) for text in _division(record, number)]
    if "matmul_cost_evaluations" in record:
        found += _costs(record)
    return tuple(found)


def _division(record: Record, number: int) -> Iterator[str]:
    seen = record["ir_ops"][number]
    cores, limit = record["cores"], record.get("span_limit_work_division", SPAN_LIMIT_BYTES)
    work = work_of_record(seen)
    minima = cuts_for_spans(work, cores=cores, limit=limit)
    division, fits = divide_work(work, cores=cores, limit=limit)
    compared: list[tuple[str, object, object]] = [
        ("sizes", units(work), seen["size_used_for_division"]),
        ("cuts for spans", minima, seen["splits_after_span_reduction"]),
        ("compiled", fits, "splits" in seen),
    ]
    if fits and "splits" in seen:
        compared += [
            ("cuts", dict(division.cuts), seen["splits"]),
            ("chosen by cost", division.by_cost, seen["divided_by"] == "matmul_cost"),
        ]
    if "matmul_default_splits" in seen:
        expected = seen["matmul_default_splits"]
        compared.append(("default cuts", default_cuts(work, minima, cores=cores), expected))
    for what, ours, theirs in compared:
        if ours != theirs:
            yield f"operation {number}: {what}: {ours} instead of {theirs}"


def _costs(record: Record) -> Iterator[str]:
    seen = record["matmul_cost_evaluations"]
    work = work_of_record(next(op for op in reversed(record["ir_ops"]) if _is_matmul(op)))
    part = roles(work)
    ours = [] if part is None else list(candidates(work, part, record["cores"]))
    if len(ours) != seen["count"]:
        yield f"{len(ours)} ways to cut the matmul instead of {seen['count']}"
        return
    pairs = [(ours[0], seen["first_enumerated"]), (ours[-1], seen["last_enumerated"])]
    pairs += zip(sorted(ours, key=lambda c: c.cost)[:4], seen["lowest_four"], strict=True)
    if "all" in seen:
        pairs += zip(ours, seen["all"], strict=True)
    for candidate, expected in pairs:
        if not _same(candidate, expected):
            yield f"matmul cost: {candidate} instead of {expected}"


def _is_matmul(ir_op: Record) -> bool:
    return bool(ir_op["reduction_type"] == "batchmatmul")


def _same(candidate: Candidate, expected: list[Any]) -> bool:
    parts = (candidate.batch, candidate.rows, candidate.columns, candidate.contracted)
    return (
        [list(part) for part in parts] == expected[:4]
        and candidate.shared == expected[4]
        and isclose(candidate.cost, expected[5], rel_tol=1e-9)
    )


def recognises(record: Record) -> bool:
    """Whether a record is an observed work division."""
    return "ir_ops" in record and "cores" in record


HANDLERS: dict[str, Callable[[Record], tuple[str, ...]]] = {"work_division": differences}
"""Format -> what differs from a record, one sentence each."""
