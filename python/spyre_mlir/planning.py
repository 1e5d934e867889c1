# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of a function: its operations as the planner and the groups see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.kernels import Kernel
from spyre_mlir.operations import PREFIX, domain_of, kernel_of, meaning, storage_of
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.quasiaffine import ZERO, Expression, symbol
from spyre_mlir.tiling import Options, TilePlan, plan_tiles
from spyre_mlir.tiling.groups import (
    Member,
    SeedRules,
    SharedLevels,
    common_levels,
    group,
    host_coordinates,
)

PLAN = "spyre.tile"
WRITE = "spyre.insert_slice"

BARRIER = Member("", "", False, (), ())
"""Stands for what no loop may be moved over: it ends the open run."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An operation and its plan. A hint is a plan that a user has written."""

    op: ir.Operation
    plan: TilePlan
    hinted: bool


def plan_function(
    function: ir.Operation, options: Options, *, materialize: bool = False
) -> list[Planned]:
    """The tiled operations of a function, in order, groups numbered behind those of the hints.

    With `materialize`, what cannot share the loop of what it reads reads a full-size intermediate.
    Raises what `plan_tiles` and `group` raise, at the operation."""
    entries = list(Members(options).of(sequence(function)))
    members = [member for _, member in entries]
    if all(member.plan is None and member.hint is None for member in members):
        return []
    rules = SeedRules() if options.policy == "seed" else SharedLevels()
    try:
        grouping = group(members, rules, materialize=materialize)
    except Refusal as refusal:
        refusal.place = entries[refusal.place][0]
        raise
    first = 1 + max((m.hint.group for m in members if m.hint is not None), default=-1)
    found = []
    for (op, member), plan in zip(entries, grouping.plans, strict=True):
        if op is not None and plan is not None:
            hinted = member.hint is not None
            number = plan.group if hinted else first + plan.group
            found.append(Planned(op, replace(plan, group=number), hinted))
    return found


def sequence(root: ir.Operation) -> Iterator[ir.Operation | None]:
    """The operations of the dialect in program order. None stands for what must not be moved over:
    other operations that have tensors, and the ends of regions."""
    for region in root.regions:
        for block in region.blocks:
            yield None
            for operation in block.operations:
                op = operation.operation
                if len(op.regions):
                    yield from sequence(op)
                elif not op.name.startswith(PREFIX):
                    if any(isinstance(v.type, ir.RankedTensorType) for v in op.operands):
                        yield None
                elif op.name != "spyre.empty":  # which has no value yet, wherever it stands
                    yield op
                    if op.name == WRITE and any(_overwrites(use) for use in op.results[0].uses):
                        yield None
    yield None


def _overwrites(use: ir.OpOperand) -> bool:
    """Whether a value is written again: writes keep their order, so they share no loop."""
    return bool(use.owner.operation.name == WRITE) and use.operand_number == 1


def is_rearranged(op: ir.Operation) -> bool:
    """Whether an operation only says in which order the dims of its operand are seen: a tile of its
    result is the same of a tile of its operand."""
    row = meaning(op)
    if row is None or row.domain is None or row.tiling != "view" or len(row.operands) != 1:
        return False
    entries = domain_of(op).operands[0]
    plain = [(((dim, 1),), 1, 0) for dim in range(len(op.results[0].type.shape))]
    return entries is not None and plain == sorted(
        (entry.terms, entry.divisor, entry.constant) for entry in entries
    )


def shared_levels(ops: Sequence[ir.Operation], plans: Sequence[TilePlan]) -> int:
    """How many outer levels the plans of one group have in common."""
    if len(ops) == 1:
        return len(plans[0].levels)
    return common_levels([member for _, member in Members(Options()).of(ops, plans)], plans)


class Members:
    """Operations as grouping sees them: dims counted as the levels of plans count them, one name for
    each buffer."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.names: dict[ir.Value, str] = {}
        self.written: dict[str, tuple[int | None, ...]] = {}
        """Buffer of a tiled operation -> the dim of the buffer that each parallel dim runs over."""

    def of(
        self, ops: Iterable[ir.Operation | None], plans: Sequence[TilePlan] | None = None
    ) -> Iterator[tuple[ir.Operation | None, Member]]:
        """Operations with their members; `plans` are those that are known."""
        run: set[str] = set()
        for position, op in enumerate(ops):
            member = BARRIER
            if op is not None:
                with refused_at(op):
                    member = self._member(op, plans[position] if plans else None)
            if (
                op is not None
                and member is BARRIER
                and (is_rearranged(op) or not self._reads_any(op, run))
            ):
                continue  # it may stand behind the loop of a run, or before it
            if member is BARRIER:
                run.clear()
            elif member.result in run and plans is None:  # what is there is written over in place
                yield None, BARRIER
                run.clear()
            run.add(member.result)
            yield op, member

    def _member(self, op: ir.Operation, plan: TilePlan | None) -> Member:
        kernel = kernel_of(op)
        if kernel is None:
            return BARRIER
        hint = None
        if plan is None and PLAN in op.attributes:
            hint = read_plan(op.attributes[PLAN])
        elif plan is None:
            plan = plan_tiles(replace(kernel, label=f"'{op.name}'"), self.options)
        if plan is None and hint is None:
            return BARRIER
        through = tuple(self._reads(op, kernel))
        result = self._buffer(op.results[0])
        self.written[result] = _dims_written(kernel)

        def replan(given: dict[str, int]) -> TilePlan | None:
            try:
                return plan_tiles(kernel, self.options, given=given)
            except Refusal:
                return None

        return Member(
            f"'{op.name}'",
            result,
            any(dim.reduction for dim in kernel.dims),
            tuple(symbol(name) for name in _parallel(kernel)),
            through,
            plan,
            hint,
            replan,
        )

    def _reads_any(self, op: ir.Operation, buffers: set[str]) -> bool:
        return any(
            isinstance(value.type, ir.RankedTensorType) and self._buffer(value) in buffers
            for value in (op.operands if buffers else ())
        )

    def _buffer(self, value: ir.Value) -> str:
        return self.names.setdefault(storage_of(value).owner, f"v{len(self.names)}")

    def _reads(
        self, op: ir.Operation, kernel: Kernel
    ) -> Iterator[tuple[str, tuple[Expression, ...]]]:
        """The reads of what a tiled operation writes; without coordinates where they are unknown."""
        reads = iter(kernel.reads)
        operands = list(op.operands)
        if op.name == WRITE:
            operands = operands[:1]
        for value, index in zip(operands, domain_of(op).operands, strict=False):
            if not isinstance(value.type, ir.RankedTensorType):
                continue
            access = None if index is None else next(reads)
            buffer = self._buffer(value)
            if buffer not in self.written:
                continue
            if access is None or access.indirect:
                yield buffer, ()
                continue
            cells = host_coordinates(access, kernel)
            dims = self.written[buffer]
            yield buffer, tuple(ZERO if dim is None else cells[dim] for dim in dims)


def _parallel(kernel: Kernel) -> list[str]:
    return [dim.symbol for dim in kernel.dims if not dim.reduction]


def _dims_written(kernel: Kernel) -> tuple[int | None, ...]:
    """The dim of the buffer over which each parallel dim runs alone: a reduction that keeps its dims
    has more of them in the buffer. None where there is none."""
    cells = [str(cell) for cell in host_coordinates(kernel.writes[0], kernel)]
    return tuple(cells.index(name) if name in cells else None for name in _parallel(kernel))
