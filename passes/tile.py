# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-tile: plans and hints become loops over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spyre_mlir import encodings, ir
from spyre_mlir.accumulators import Accumulator
from spyre_mlir.diagnostics import Note, Refusal, refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import retile
from spyre_mlir.operations import dims_of, domain_of, kernel_of, walk
from spyre_mlir.optable import Domain
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.planning import PLAN, WRITE, is_rearranged, shared_levels
from spyre_mlir.properties import LAYOUTS, TILED
from spyre_mlir.tensors import TensorType
from spyre_mlir.tiling.accumulation import accumulation_of, divides
from spyre_mlir.tiling.hints import check_levels, resolve
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.windows import (
    Index,
    Piece,
    Pieces,
    inserted,
    inserted_at,
    moved,
    part,
    repeated,
    sliced,
    tile_type,
    window_of,
)


@dataclass(frozen=True)
class Tile(
    Pass,
    name="spyre-tile",
    anchor="func.func",
    dependent_dialects=("arith", "scf", "spyre"),
    requires=(LAYOUTS,),
    provides=(TILED,),
):
    """Carry out tile plans and hints: loops over windows.

    Operations of one group share their loops. What is read from outside is sliced, what is used outside is inserted
    into a tensor that the loops carry, and what stays inside is a compact tile. A remainder follows its loop. Where a
    reduced range is divided, its first tile makes an accumulator and the others are combined with it."""

    tiled = statistic("operations tiled")
    loops = statistic("loops made")

    def run(self, op: ir.Operation) -> None:
        for members in _groups(op):
            group = _Group(members)
            group.rewrite()
            self.tiled.add(len(members))
            self.loops.add(group.loops)


def _groups(function: ir.Operation) -> list[list[ir.Operation]]:
    """The planned operations, those of one group together, in order."""
    groups: list[list[ir.Operation]] = []
    numbers: list[int] = []
    for op in walk(function, lambda op: PLAN in op.attributes):
        number = op.attributes[PLAN].group
        if numbers and numbers[-1] == number:
            groups[-1].append(op)
        else:
            groups.append([op])
            numbers.append(number)
    return groups


@dataclass(frozen=True, slots=True)
class _Member:
    """One operation of a group: its domain; the iteration dim of each level that it shares, outer to inner; the levels
    that it does not share, with their dims; and those over its reduced range, which stand inside all others."""

    op: ir.Operation
    domain: Domain
    shared: tuple[int, ...]
    inner: tuple[_DimLevel, ...]
    reduced: tuple[_DimLevel, ...]
    kernel: Kernel | None = None
    """Only where the reduced range is divided."""


_DimLevel = tuple[int, Level]
"""A level, and the iteration dim that it divides."""

_Body = Callable[[tuple[Piece, ...], list[ir.Value] | None], list[ir.Value]]
"""Makes what stands innermost: from the pieces of the levels around and what the loops carry (None: this tile makes it)
to what they carry on."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a tile stands. `cut` says which pieces of the whole tensors it covers; `made` has the tiles of the loops
    around it, of which it covers the pieces `inner`. `carried` are the whole tensors that the loops carry, `filled` the
    tiles that inner loops fill."""

    cut: Pieces
    made: dict[ir.Value, ir.Value]
    carried: dict[ir.Value, ir.Value]
    filled: dict[ir.Value, ir.Value] = field(default_factory=dict)
    inner: Pieces = field(default_factory=dict)

    def within(self, dims: Sequence[int], pieces: Sequence[Piece]) -> _Scope:
        """The same place in a tile that is cut further."""
        new = dict(zip(dims, pieces, strict=True))
        return replace(self, cut={**self.cut, **new}, inner={**self.inner, **new})


class _Views:
    """The views of what a group makes that only rearrange dims: they are repeated inside the loops."""

    def __init__(self, ops: Sequence[ir.Operation]) -> None:
        self.members = set(ops)
        self.found: dict[ir.Value, bool] = {}
        """Result of a view -> whether it is used outside the group."""
        self.dead: list[list[ir.Operation]] = []
        """Per operation: its views that nothing outside uses, users first."""
        for op in ops:
            known = len(self.found)
            for result in op.results:
                self.leaves(result)
            new = list(self.found.items())[known:]
            self.dead.append([value.owner.operation for value, leaves in new if not leaves])

    def leaves(self, value: ir.Value) -> bool:
        """Whether a value is used outside the group, by way of its views too."""
        outside = False
        for use in value.uses:
            user = use.owner.operation
            if user in self.members:
                continue
            if is_rearranged(user):
                view = user.results[0]
                if view not in self.found:
                    self.found[view] = self.leaves(view)
                outside = outside or self.found[view]
            else:
                outside = True
        return outside

    def inside(self, value: ir.Value) -> ir.Operation | None:
        """The view that a value is the result of, if it views what the group makes."""
        return value.owner.operation if value in self.found else None

    def move_behind(self, last: ir.Operation) -> None:
        """Views that are used outside go behind the loops."""
        for view in [value.owner for value, leaves in self.found.items() if leaves]:
            view.move_after(last)  # users come first, so they end up behind

    def erase_of(self, member: int) -> None:
        """Erases the views of an operation that nothing outside uses."""
        for view in self.dead[member]:
            view.erase()


class _Group:
    """Operations under one loop nest: the outer levels that their plans share, and inside them the others of each."""

    def __init__(self, ops: Sequence[ir.Operation]) -> None:
        plans = [_plan(op) for op in ops]
        depth = _shared(ops, plans)
        self.shared = plans[0].levels[:depth]
        self.members = [_member(op, plan, depth) for op, plan in zip(ops, plans, strict=True)]
        self.ends = _ends(self.members, self.shared)
        """Level (its identity) -> where what is valid along it ends, if before its last tile."""
        self.views = _Views(ops)
        self.results = [
            result
            for op in ops
            for result in op.results
            if op.name == WRITE or self.views.leaves(result)
        ]
        self.loops = 0

    def rewrite(self) -> None:
        """Replaces the operations by their loop nest, which stands where the last of them stood."""
        last = self.members[-1].op
        with ir.InsertionPoint(last), last.location:
            initial = [_initial(result) for result in self.results]
            carried = self._nest(self.shared, initial, self._body)
        self.views.move_behind(last)
        for result, empty, value in zip(self.results, initial, carried, strict=True):
            result.replace_all_uses_with(value)
            if result.owner.name != WRITE and next(empty.uses, None) is None:
                empty.owner.erase()  # an accumulator is the whole result
        for number, member in reversed(list(enumerate(self.members))):
            self.views.erase_of(number)
            member.op.erase()

    def _nest(
        self,
        levels: Sequence[Level],
        carried: list[ir.Value] | None,
        body: _Body,
        pieces: tuple[Piece, ...] = (),
    ) -> list[ir.Value]:
        """Loops over the levels, outer to inner; `pieces` says what those around cover.

        If nothing is carried yet, the first tile stands before the loop, which runs over the others."""
        if not levels:
            return body(pieces, carried)
        level, *inner = levels
        first = 0
        if carried is None or level.count == 1:
            carried = self._nest(inner, carried, body, (*pieces, Piece(0, level.size)))
            first = 1
        end = self.ends.get(id(level), level.extent)
        whole = min(level.count, end // level.size)
        if whole - first > 1:
            carried = self._loop(level, (first, whole), inner, carried, body, pieces)
            first = whole
        rest = [Piece(at * level.size, level.size) for at in range(first, level.count)]
        if level.remainder:
            rest.append(Piece(level.count * level.size, level.remainder))
        for piece in rest:
            if int(piece.begin) < end:
                carried = self._nest(inner, carried, body, (*pieces, piece))
        return carried

    def _loop(
        self,
        level: Level,
        tiles: tuple[int, int],
        levels: Sequence[Level],
        carried: list[ir.Value],
        body: _Body,
        pieces: tuple[Piece, ...],
    ) -> list[ir.Value]:
        """A loop over tiles of a level, from the first to before the last of `tiles`."""
        from mlir.dialects import arith, scf

        index, (begin, end) = ir.IndexType.get(), (at * level.size for at in tiles)
        low, high, step = (
            arith.ConstantOp(index, value).result for value in (begin, end, level.size)
        )
        loop = scf.ForOp(low, high, step, carried)
        self.loops += 1
        with ir.InsertionPoint(loop.body):
            piece = Piece(loop.induction_variable, level.size)
            inner = self._nest(levels, list(loop.inner_iter_args), body, (*pieces, piece))
            scf.YieldOp(inner)
        return list(loop.results)

    def _body(self, pieces: tuple[Piece, ...], carried: list[ir.Value] | None) -> list[ir.Value]:
        """One tile of every member."""
        assert carried is not None
        made: dict[ir.Value, ir.Value] = {}
        state = dict(zip(self.results, carried, strict=True))
        for member in self.members:
            scope = _Scope(dict(zip(member.shared, pieces, strict=True)), made, state)
            if member.inner:
                self._fill(member, scope)
            else:
                self._tile(member, scope)
        return [state[result] for result in self.results]

    def _fill(self, member: _Member, scope: _Scope) -> None:
        """The levels that a member has for itself fill its tile of the shared ones."""
        results, indices = list(member.op.results), member.domain.results
        whole = [
            scope.carried[result]
            if result in scope.carried
            else spyre.EmptyOp(
                encodings.write(tile_type(result, index, scope.cut, window=False))
            ).result
            for result, index in zip(results, indices, strict=True)
        ]
        dims = [dim for dim, _ in member.inner]

        def body(pieces: tuple[Piece, ...], carried: list[ir.Value] | None) -> list[ir.Value]:
            assert carried is not None
            now = dict(zip(results, carried, strict=True))
            tile = replace(
                scope.within(dims, pieces),
                made=dict(scope.made),
                carried={r: v for r, v in now.items() if r in scope.carried},
                filled={r: v for r, v in now.items() if r not in scope.carried},
            )
            self._tile(member, tile)
            return [{**tile.carried, **tile.filled}[result] for result in results]

        filled = self._nest([level for _, level in member.inner], whole, body)
        for result, index, value in zip(results, indices, filled, strict=True):
            if result in scope.carried:
                scope.carried[result] = value
                scope.made[result] = sliced(value, index, scope.cut)
            else:
                scope.made[result] = value

    def _tile(self, member: _Member, scope: _Scope) -> None:
        """One tile of one member, written into the tensors that the loops carry or fill."""
        if member.op.name == WRITE:
            written = member.op.results[0]
            into = self._write(member, scope, scope.carried[written])
            scope.carried[written] = scope.made[written] = into
            return
        types = [
            self._part_type(scope.filled[result], index, scope.inner)
            if result in scope.filled
            else tile_type(result, index, scope.cut, window=result in scope.carried)
            for result, index in zip(member.op.results, member.domain.results, strict=True)
        ]
        if member.reduced:
            found = [self._accumulated(member, scope, types[0])]
        else:
            operands = [
                self._operand(value, index, scope)
                for value, index in zip(member.op.operands, member.domain.operands, strict=True)
            ]
            found = list(repeated(member.op, operands, types).results)
        for result, index, new in zip(member.op.results, member.domain.results, found, strict=True):
            scope.made[result] = new
            if result in scope.carried:
                into = scope.carried[result]
                whole = new.type == into.type
                scope.carried[result] = new if whole else inserted(new, into, index, scope.cut)
            elif result in scope.filled:
                into = scope.filled[result]
                scope.filled[result] = inserted(new, into, index, scope.inner)

    def _accumulated(self, member: _Member, scope: _Scope, type: TensorType) -> ir.Value:
        """One tile of a result whose reduced range lies in several tiles."""
        assert member.kernel is not None
        result, index = member.op.results[0], member.domain.results[0]
        accumulator = Accumulator(
            member.op,
            member.domain,
            member.kernel,
            accumulation_of(member.kernel),
            tile_type(result, index, scope.cut, window=False),
        )
        dims = [dim for dim, _ in member.reduced]

        def body(pieces: tuple[Piece, ...], carried: list[ir.Value] | None) -> list[ir.Value]:
            place = scope.within(dims, pieces)

            def read(number: int) -> ir.Value:
                return self._operand(
                    member.op.operands[number], member.domain.operands[number], place
                )

            if carried is None:
                return accumulator.first(read, place.cut)
            return accumulator.later(carried, read, place.cut)

        carried = self._nest([level for _, level in member.reduced], None, body)
        return accumulator.result(carried, type)

    def _operand(self, value: ir.Value, index: Index, scope: _Scope) -> ir.Value:
        """What a tile reads: of a tile that was made in these loops, or of a whole tensor."""
        view = None if value in scope.made else self.views.inside(value)
        if view is not None:
            return self._viewed(view, index, scope)
        if value not in scope.made:
            return sliced(value, index, scope.cut)
        return sliced(scope.made[value], index, scope.inner)

    def _viewed(self, view: ir.Operation, index: Index, scope: _Scope) -> ir.Value:
        """The same view of a tile of its operand."""
        assert index is not None, "what is not indexed is in no loop with what makes it"
        entries = domain_of(view).operands[0]
        assert entries is not None, "a view in a group rearranges dims"
        source = tuple(index[entry.terms[0][0]] for entry in entries)
        tile = self._operand(view.operands[0], source, scope)
        whole, part = encodings.read(view.results[0].type), encodings.read(tile.type)
        dims = [entry.terms[0][0] for entry in entries]
        shape = tuple(part.shape[dims.index(dim)] for dim in range(len(dims)))
        layout = whole.layout
        if layout is not None and not part.window:
            layout = retile(layout, whole.shape, shape)
        valid = tuple(part.valid[dims.index(dim)] for dim in range(len(dims)))
        type = replace(
            whole,
            shape=shape,
            layout=layout,
            window=part.window,
            valid_shape=None if valid == shape else valid,
        )
        return repeated(view, [tile], [type]).results[0]

    def _part_type(self, whole: ir.Value, index: Index, inner: Pieces) -> TensorType:
        assert index is not None, "a result of a tiled operation is indexed by its domain"
        tensor = encodings.read(whole.type)
        return window_of(tensor, *part(tensor.shape, index, inner))

    def _write(self, member: _Member, scope: _Scope, into: ir.Value) -> ir.Value:
        """One tile of a write goes into the destination that the loops carry."""
        source, index = member.op.operands[0], member.domain.operands[0]
        tile = self._operand(source, index, scope)
        begins = [
            moved(begin, scope.cut.get(dim)) for dim, begin in enumerate(_written_at(member.op))
        ]
        return inserted_at(tile, into, begins)


def _ends(members: Sequence[_Member], shared: Sequence[Level]) -> dict[int, int]:
    """Where what is valid ends along levels that cover more: sticks are turned as a whole, past it."""
    found: dict[int, int] = {}
    for member in members:
        tensors = zip(
            (*member.op.operands, *member.op.results),
            (*member.domain.operands, *member.domain.results),
            strict=True,
        )
        valid = [
            (entry.terms, extent)
            for value, index in tensors
            if index is not None and isinstance(value.type, ir.RankedTensorType)
            for entry, extent in zip(index, encodings.read(value.type).valid, strict=True)
            if entry.divisor == 1 and entry.constant == 0 and isinstance(extent, int)
        ]
        for dim, level in (*zip(member.shared, shared, strict=True), *member.inner):
            end = min((extent for terms, extent in valid if terms == ((dim, 1),)), default=0)
            if 0 < end < level.extent:
                found[id(level)] = min(end, found.get(id(level), end))
    return found


def _initial(result: ir.Value) -> ir.Value:
    """What the loops carry for a result: the destination of a write, or a tensor to be filled."""
    if result.owner.name == WRITE:
        return result.owner.operands[1]
    return spyre.EmptyOp(result.type).result


def _written_at(op: ir.Operation) -> list[int | ir.Value]:
    """The offsets of a write, one per dim."""
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    dynamic = iter(list(op.operands)[2:])
    static = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    return [next(dynamic) if offset == marker else offset for offset in static]


def _shared(ops: Sequence[ir.Operation], plans: Sequence[TilePlan]) -> int:
    """How many levels operations under one group share. Refused (SPY045) where hints share none."""
    if len(ops) == 1:
        return sum(level.kind == "parallel" for level in plans[0].levels)
    shared = shared_levels(ops, plans)
    if not shared:
        raise Refusal(
            "SPY045",
            f"'{ops[-1].name}' is in the loops of group {plans[-1].group}, whose tiles are not its own",
            notes=tuple(Note(f"'{op.name}' is in the group", op) for op in ops[:-1]),
            remedy="give what does not share its loops a group number of its own",
            place=ops[-1],
        )
    return shared


def _plan(op: ir.Operation) -> TilePlan:
    plan = read_plan(op.attributes[PLAN])
    if plan.origin == "auto" and not divides(plan.levels):
        return plan
    with refused_at(op):
        kernel = kernel_of(op)
        if kernel is None:
            raise Refusal("SPY045", f"'{op.name}' computes nothing that a plan could divide")
        if plan.origin == "hint":
            plan = resolve(plan, dims_of(op, kernel))
        check_levels(plan, kernel)
    return plan


def _member(op: ir.Operation, plan: TilePlan, depth: int) -> _Member:
    """An operation with its levels, of which the first `depth` are shared."""
    domain = domain_of(op)
    levels = list(zip(_dims(plan, domain), plan.levels, strict=True))
    reduced = tuple(
        (dim, level) for dim, level in levels if level.kind == "reduction" and level.tiles > 1
    )
    return _Member(
        op,
        domain,
        tuple(dim for dim, _ in levels[:depth]),
        tuple((dim, level) for dim, level in levels[depth:] if level.kind == "parallel"),
        reduced,
        kernel_of(op) if reduced else None,
    )


def _dims(plan: TilePlan, domain: Domain) -> tuple[int, ...]:
    """The iteration dim of each level."""
    parallel = [i for i, reduced in enumerate(domain.reduction) if not reduced]
    reductions = [i for i, reduced in enumerate(domain.reduction) if reduced]
    return tuple(
        (parallel if level.kind == "parallel" else reductions)[int(level.dim)]
        for level in plan.levels
    )
