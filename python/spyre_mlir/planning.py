# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of a function: its operations as the planner and the groups see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.listings import WRITE, Listing
from spyre_mlir.operations import PREFIX, domain_of, kernel_of, meaning
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.tiling import Options, TilePlan
from spyre_mlir.tiling.groups import common_levels, group
from spyre_mlir.tiling.members import BARRIER, Builder, Member
from spyre_mlir.tiling.seed_groups import group_seed, seed_member

PLAN = "spyre.tile"


@dataclass(frozen=True, slots=True)
class Planned:
    """An operation and its plan. A hint is a plan that a user has written."""

    op: ir.Operation
    number: int
    """In the listing of the function."""
    plan: TilePlan
    hinted: bool
    compact: tuple[str, ...] = ()
    """Labels of the operands and results that hold one tile of a common loop."""


def _labels(member: Member, accesses: Sequence[int]) -> tuple[str, ...]:
    kernel = member.kernel
    return () if kernel is None else tuple(kernel.accesses[at].label for at in accesses)


def plan_function(
    function: ir.Operation, options: Options, *, materialize: bool = True
) -> list[Planned]:
    """The tiled operations of a function, in order, groups numbered behind those of the hints.

    With `materialize`, what cannot share the loop of what it reads reads a full-size intermediate.
    Raises what `group` raises, at the operation."""
    listing, make = Listing(function), Members(options)
    planned = listing.per_kind(make.are_planned)
    if not any(planned):
        return []
    seed = options.policy == "seed"
    chosen = [True] * len(listing.kinds) if seed else concerned(listing, planned)
    numbers = list(sequence(listing, chosen, ordered_writes=seed))
    ops = [None if number is None else listing.operation(number) for number in numbers]
    entries = [
        (number, op, member) for number, (op, member) in zip(numbers, make.of(ops), strict=True)
    ]
    members = [member for _, _, member in entries]
    try:
        if options.policy == "seed":
            entries = [entries[at] for at in _in_seed(members)]
            seeds = [seed_member(member, options) for _, _, member in entries]
            grouping = group_seed(seeds, materialize=materialize)
        else:
            grouping = group(members, options, materialize=materialize)
    except Refusal as refusal:
        refusal.place = entries[refusal.place][1]
        raise
    first = 1 + max((m.hint.group for m in members if m.hint is not None), default=-1)
    found = []
    compact = grouping.compact or [()] * len(entries)
    for (number, op, member), plan, tiles in zip(entries, grouping.plans, compact, strict=True):
        if op is not None and number is not None and plan is not None:
            hinted = member.hint is not None
            group_number = plan.group if hinted else first + plan.group
            whole = replace(plan, group=group_number)
            found.append(Planned(op, number, whole, hinted, _labels(member, tiles)))
    return found


def concerned(listing: Listing, planned: Sequence[bool]) -> list[bool]:
    """Per operation whether grouping has to see it, given which kinds have a plan: those operations, what reads, also
    by way of others, what they write, and what they read from, which refusals name.

    Nothing else shares a loop with them or stands between two of them. Loops that are there are seen with all that is
    in them."""
    kinds, ends, results = listing.kinds, listing.ends, listing.results
    counts = listing.per_kind(lambda op: len(op.results))
    written = bytearray(listing.value_count)
    chosen = [False] * len(kinds)
    inside = 0
    for at, (kind, given) in enumerate(zip(kinds, listing.operands, strict=True)):
        inside = max(inside, ends[at]) if ends[at] > at + 1 else inside
        if at < inside or planned[kind] or any(map(written.__getitem__, given)):
            chosen[at] = True
            first = results[at]
            last = first + counts[kind] if ends[at] == at + 1 else _first_value(listing, ends[at])
            written[first:last] = b"\1" * (last - first)
    shown = listing.per_kind(_is_view)
    for at in [at for at, kind in enumerate(kinds) if planned[kind]]:
        for value in listing.operands[at]:
            source = listing.maker(value)
            while source is not None and shown[kinds[source]]:
                source = listing.maker(listing.operands[source][0])
            if source is not None:
                chosen[source] = True
    return chosen


def _first_value(listing: Listing, number: int) -> int:
    """The first value that is defined from an operation on."""
    return listing.results[number] if number < len(listing.kinds) else listing.value_count


def _is_view(op: ir.Operation) -> bool:
    row = meaning(op)
    return row is not None and row.tiling == "view" and bool(row.operands)


def _in_seed(members: Sequence[Member]) -> Iterator[int]:
    """What policy seed sees: not what is untiled and reads nothing that is tiled."""
    tiled: set[str] = set()
    for at, member in enumerate(members):
        planned = member.needs_tiles or member.hint is not None
        if planned or member.barrier or any(buffer in tiled for buffer, _ in member.through):
            yield at
        if planned:
            tiled.update(member.results)


def sequence(
    listing: Listing, chosen: Sequence[bool], *, ordered_writes: bool = False
) -> Iterator[int | None]:
    """The chosen operations that compute, in program order. None stands for what must not be moved
    over: other operations that have tensors, and the ends of regions; with `ordered_writes`, a write
    whose result is written again as well."""
    barriers = listing.per_kind(_is_barrier)
    computing = listing.per_kind(_is_computed)
    ends = {end for at, end in enumerate(listing.ends) if end > at + 1}
    yield None
    for at, kind in enumerate(listing.kinds):
        if at in ends or barriers[kind]:
            yield None
        if chosen[at] and computing[kind]:
            yield at
        if ordered_writes and any(
            _overwrites(use) for result in listing.operation(at).results for use in result.uses
        ):
            yield None
    yield None


def _is_barrier(op: ir.Operation) -> bool:
    """Whether no loop may be moved over an operation, or over the beginning of what it holds."""
    if len(op.regions):
        return True
    return not op.name.startswith(PREFIX) and any(_is_tensor(value) for value in op.operands)


def _is_computed(op: ir.Operation) -> bool:
    """Whether an operation of the dialect computes; an empty tensor has no value yet, wherever it stands."""
    row = meaning(op)
    return row is not None and op.name != "spyre.empty" and not _is_view(op) and not len(op.regions)


def _overwrites(use: ir.OpOperand) -> bool:
    """Whether a value is written over."""
    return bool(use.owner.operation.name == WRITE) and use.operand_number == 1


def is_rearranged(op: ir.Operation) -> bool:
    """Whether an operation only says in which order the dims of its operand are seen: a tile of its
    result is the same of a tile of its operand."""
    row = meaning(op)
    if row is None or row.domain is None or row.tiling != "view" or len(row.operands) != 1:
        return False
    if row.rule == "narrow":
        return False  # the extents that it states are those of the whole tensor
    entries = domain_of(op).operands[0]
    plain = [(((dim, 1),), 1, 0) for dim in range(len(op.results[0].type.shape))]
    return entries is not None and plain == sorted(
        (entry.terms, entry.divisor, entry.constant) for entry in entries
    )


def shared_levels(ops: Sequence[ir.Operation], plans: Sequence[TilePlan]) -> int:
    """How many outer levels the plans of one group have in common."""
    if len(ops) == 1:
        return len(plans[0].levels)
    members = [member for _, member in Members(Options()).of(ops, planned=False)]
    return common_levels(members, plans)


class Members:
    """Operations as grouping sees them, one name for each buffer."""

    def __init__(self, options: Options) -> None:
        self.builder = Builder(options)
        self.names: dict[ir.Value, str] = {}

    def of(
        self, ops: Iterable[ir.Operation | None], *, planned: bool = True
    ) -> Iterator[tuple[ir.Operation | None, Member]]:
        """Operations that compute, with their members. Not `planned`: nothing is asked but what
        they read of one another."""
        for op in ops:
            if op is None:
                yield None, BARRIER
                continue
            with refused_at(op):
                yield op, self._member(op, planned)

    def are_planned(self, op: ir.Operation) -> bool:
        """Whether the operations of a kind have a hint, or need tiles by themselves."""
        if PLAN in op.attributes:
            return True
        with refused_at(op):
            kernel = kernel_of(op) if op.name.startswith(PREFIX) else None
            return kernel is not None and any(self.builder.own(kernel, f"'{op.name}'"))

    def _member(self, op: ir.Operation, planned: bool) -> Member:
        name, kernel = f"'{op.name}'", kernel_of(op)
        if kernel is None:
            results = tuple(self._buffer(result) for result in op.results)
            self.builder.made(results)
            reads = [(self._buffer(value), ()) for value in op.operands if _is_tensor(value)]
            return Member(name, results, through=tuple(reads))
        hint = read_plan(op.attributes[PLAN]) if planned and PLAN in op.attributes else None
        domain, values = domain_of(op), [*op.operands, *op.results]
        buffers: list[str] = []
        opaque: list[int] = []
        whole: list[str] = []
        row = meaning(op)
        assert row is not None
        targets = any(operand.role == "target" for operand in row.operands)
        indices = (*domain.operands, *domain.results)
        for number, (value, index) in enumerate(zip(values, indices, strict=True)):
            if not _is_tensor(value):
                continue
            if index is None:
                whole.append(self._buffer(value))
                continue
            # What is written over is complete before, so it is made in another loop.
            target = number < len(row.operands) and row.operands[number].role == "target"
            if not _is_repeated(value) or target:
                opaque.append(len(buffers))
            buffers.append(self._buffer(value))
        return self.builder.add(
            kernel,
            buffers,
            name=name,
            opaque=opaque,
            whole=whole,
            hint=hint,
            escapes=targets or any(_escapes(result) for result in op.results),
            planned=planned,
        )

    def _buffer(self, value: ir.Value) -> str:
        """The name of what a view shows, or of the value itself."""
        return self.names.setdefault(_shown(value), f"v{len(self.names)}")


def _shown(value: ir.Value) -> ir.Value:
    while isinstance(value, ir.OpResult):
        row = meaning(value.owner)
        if row is None or row.tiling != "view" or not row.operands:
            break
        value = value.owner.operands[0]
    return value


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _is_repeated(value: ir.Value) -> bool:
    """Whether a tile of a value can be made in a loop: all views that it is seen through only
    rearrange dims, and it is not what a write leaves of its destination."""
    while isinstance(value, ir.OpResult):
        row = meaning(value.owner)
        if row is None or row.tiling != "view" or not row.operands:
            return bool(value.owner.name != WRITE)
        if not is_rearranged(value.owner.operation):
            return False
        value = value.owner.operands[0]
    return True


def _escapes(value: ir.Value) -> bool:
    """Whether a value, or a view of it, is used by what is no operation of the dialect that
    computes."""
    for use in value.uses:
        user = use.owner.operation
        row = meaning(user)
        if row is None or (row.tiling == "view" and _escapes(user.results[0])):
            return True
    return False
