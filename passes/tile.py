# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-tile: plans and hints become loops over windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import Note, Refusal, refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.layouts import retile
from spyre_mlir.operations import dims_of, domain_of, kernel_of, meaning, walk
from spyre_mlir.optable import Domain, Linear
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.planning import PLAN, WRITE, is_rearranged, shared_levels
from spyre_mlir.properties import LAYOUTS, TILED
from spyre_mlir.tensors import TensorType
from spyre_mlir.tiling.hints import check_levels, resolve
from spyre_mlir.tiling.plans import Level, TilePlan


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
    into a tensor that the loops carry, and what stays inside is a compact tile. A remainder follows its loop."""

    tiled = statistic("operations tiled")
    loops = statistic("loops made")

    def run(self, op: ir.Operation) -> None:
        read = encodings.Reader()
        for members in _groups(op):
            group = _Group(members, read)
            group.rewrite()
            self.tiled.add(len(members))
            self.loops.add(group.loops)


def _groups(function: ir.Operation) -> list[list[ir.Operation]]:
    """The planned operations, those of one group together, in order."""
    groups: list[list[ir.Operation]] = []
    numbers: list[int] = []
    for op in walk(function):
        if PLAN not in op.attributes:
            continue
        number = op.attributes[PLAN].group
        if numbers and numbers[-1] == number:
            groups[-1].append(op)
        else:
            groups.append([op])
            numbers.append(number)
    return groups


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of one iteration dim that a tile covers: where it begins (a literal or an induction variable), and its
    size in elements."""

    begin: int | ir.Value
    size: int


@dataclass(frozen=True, slots=True)
class _Member:
    """One operation of a group: its domain, the iteration dim of each level, and the levels that it does not share."""

    op: ir.Operation
    domain: Domain
    dims: tuple[int, ...]
    inner: tuple[Level, ...] = ()


_Body = Callable[[tuple[_Piece, ...], list[ir.Value]], list[ir.Value]]
"""Makes what stands innermost: from the pieces of the levels around and what the loops carry, to what they carry on."""


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

    def __init__(self, ops: Sequence[ir.Operation], read: encodings.Reader) -> None:
        self.read = read
        plans = [_plan(op) for op in ops]
        self.shared = plans[0].levels[: _shared(ops, plans)]
        self.members = [
            _Member(op, domain_of(op), _dims(plan, domain_of(op)), plan.levels[len(self.shared) :])
            for op, plan in zip(ops, plans, strict=True)
        ]
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
            carried = [_initial(result) for result in self.results]
            carried = self._nest(self.shared, carried, self._body)
        self.views.move_behind(last)
        for result, value in zip(self.results, carried, strict=True):
            result.replace_all_uses_with(value)
        for number, member in reversed(list(enumerate(self.members))):
            self.views.erase_of(number)
            member.op.erase()

    def _nest(
        self,
        levels: Sequence[Level],
        carried: list[ir.Value],
        body: _Body,
        pieces: tuple[_Piece, ...] = (),
    ) -> list[ir.Value]:
        """Loops over the levels, outer to inner; `pieces` says what those around cover."""
        if not levels:
            return body(pieces, carried)
        level, *inner = levels
        full = level.count * level.size
        if level.count == 1:
            carried = self._nest(inner, carried, body, (*pieces, _Piece(0, level.size)))
        else:
            carried = self._loop(level, inner, carried, body, pieces)
        if level.remainder:
            rest = _Piece(full, level.remainder)
            carried = self._nest(inner, carried, body, (*pieces, rest))
        return carried

    def _loop(
        self,
        level: Level,
        levels: Sequence[Level],
        carried: list[ir.Value],
        body: _Body,
        pieces: tuple[_Piece, ...],
    ) -> list[ir.Value]:
        from mlir.dialects import arith, scf

        index, full = ir.IndexType.get(), level.count * level.size
        low, high, step = (arith.ConstantOp(index, value).result for value in (0, full, level.size))
        loop = scf.ForOp(low, high, step, carried)
        self.loops += 1
        with ir.InsertionPoint(loop.body):
            piece = _Piece(loop.induction_variable, level.size)
            inner = self._nest(levels, list(loop.inner_iter_args), body, (*pieces, piece))
            scf.YieldOp(inner)
        return list(loop.results)

    def _body(self, pieces: tuple[_Piece, ...], carried: list[ir.Value]) -> list[ir.Value]:
        """One tile of every member."""
        made: dict[ir.Value, ir.Value] = {}
        state = dict(zip(self.results, carried, strict=True))
        for member in self.members:
            cut = dict(zip(member.dims, pieces, strict=False))
            if member.inner:
                self._inner(member, cut, made, state)
            else:
                self._tile(member, cut, cut, made, state)
        return [state[result] for result in self.results]

    def _inner(
        self,
        member: _Member,
        cut: Mapping[int, _Piece],
        made: dict[ir.Value, ir.Value],
        state: dict[ir.Value, ir.Value],
    ) -> None:
        """The levels that a member has for itself fill its tile of the shared ones."""
        results = list(member.op.results)
        indices = member.domain.results
        own = member.dims[len(self.shared) :]
        whole = [
            state[result]
            if result in state
            else spyre.EmptyOp(_tile_type(result, index, cut, self.read, outside=False)).result
            for result, index in zip(results, indices, strict=True)
        ]

        def body(pieces: tuple[_Piece, ...], carried: list[ir.Value]) -> list[ir.Value]:
            inner = dict(zip(own, pieces, strict=True))
            filled = dict(zip(results, carried, strict=True))
            local = {r: v for r, v in filled.items() if r not in state}
            outside = {r: v for r, v in filled.items() if r in state}
            self._tile(member, {**cut, **inner}, inner, dict(made), outside, local)
            return [{**outside, **local}[result] for result in results]

        filled = self._nest(member.inner, whole, body)
        for result, index, value in zip(results, indices, filled, strict=True):
            if result in state:
                state[result] = value
                made[result] = _sliced(value, index, cut, self.read)
            else:
                made[result] = value

    def _tile(
        self,
        member: _Member,
        cut: Mapping[int, _Piece],
        inner: Mapping[int, _Piece],
        made: dict[ir.Value, ir.Value],
        state: dict[ir.Value, ir.Value],
        local: dict[ir.Value, ir.Value] | None = None,
    ) -> None:
        """One tile of one member. `cut` is where it lies in whole tensors, `inner` where in the tiles `made` around it;
        it goes into the tensors of `state` that the loops carry, or the tiles of `local` that inner loops fill."""
        if member.op.name == WRITE:
            written = member.op.results[0]
            state[written] = made[written] = self._write(member, cut, inner, made, state[written])
            return
        nested = local is not None
        local = local or {}
        operands = [
            self._operand(value, index, cut, inner, made, nested)
            for value, index in zip(member.op.operands, member.domain.operands, strict=True)
        ]
        types = [
            _tile_type(result, index, cut, self.read, outside=result in state)
            if result not in local
            else self._part_type(local[result], index, inner)
            for result, index in zip(member.op.results, member.domain.results, strict=True)
        ]
        tile = _clone(member.op, operands, types)
        for result, index, new in zip(
            member.op.results, member.domain.results, tile.results, strict=True
        ):
            made[result] = new
            if result in state:
                state[result] = _insert(new, state[result], index, cut)
            elif result in local:
                local[result] = _insert(new, local[result], index, inner)

    def _operand(
        self,
        value: ir.Value,
        index: tuple[Linear, ...] | None,
        cut: Mapping[int, _Piece],
        inner: Mapping[int, _Piece],
        made: Mapping[ir.Value, ir.Value],
        nested: bool,
    ) -> ir.Value:
        """What a tile reads: of a tile that was made in these loops, or of a whole tensor."""
        view = None if value in made else self.views.inside(value)
        if view is not None:
            return self._viewed(view, index, cut, inner, made, nested)
        if value not in made:
            return _sliced(value, index, cut, self.read)
        return _sliced(made[value], index, inner, self.read) if nested else made[value]

    def _viewed(
        self,
        view: ir.Operation,
        index: tuple[Linear, ...] | None,
        cut: Mapping[int, _Piece],
        inner: Mapping[int, _Piece],
        made: Mapping[ir.Value, ir.Value],
        nested: bool,
    ) -> ir.Value:
        """The same view of a tile of its operand."""
        assert index is not None, "what is not indexed is in no loop with what makes it"
        entries = domain_of(view).operands[0]
        assert entries is not None, "a view in a group rearranges dims"
        source = tuple(index[entry.terms[0][0]] for entry in entries)
        tile = self._operand(view.operands[0], source, cut, inner, made, nested)
        whole, part = self.read(view.results[0].type), self.read(tile.type)
        dims = [entry.terms[0][0] for entry in entries]
        shape = tuple(part.shape[dims.index(dim)] for dim in range(len(dims)))
        layout = whole.layout
        if layout is not None and not part.window:
            layout = retile(layout, whole.shape, shape)
        valid = _window(whole, shape, ()).valid_shape
        type = replace(whole, shape=shape, layout=layout, window=part.window, valid_shape=valid)
        return _clone(view, [tile], [encodings.write(type)]).results[0]

    def _part_type(
        self, whole: ir.Value, index: tuple[Linear, ...] | None, inner: Mapping[int, _Piece]
    ) -> ir.Type:
        assert index is not None, "a result of a tiled operation is indexed by its domain"
        tensor = self.read(whole.type)
        return encodings.write(_window(tensor, *_part(tensor.shape, index, inner)))

    def _write(
        self,
        member: _Member,
        cut: Mapping[int, _Piece],
        inner: Mapping[int, _Piece],
        made: Mapping[ir.Value, ir.Value],
        into: ir.Value,
    ) -> ir.Value:
        """One tile of a write goes into the destination that the loops carry."""
        source, index = member.op.operands[0], member.domain.operands[0]
        tile = self._operand(source, index, cut, inner, made, bool(member.inner))
        begins = [_moved(begin, cut.get(dim)) for dim, begin in enumerate(_written_at(member.op))]
        static, dynamic = _offsets(begins)
        return spyre.InsertSliceOp(into.type, tile, into, dynamic, static).result


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


def _moved(begin: int | ir.Value, piece: _Piece | None) -> int | ir.Value:
    """Where a tile of a write begins: the offset of the whole, moved by the tile's own."""
    from mlir.dialects import arith

    if piece is None or piece.begin == 0:
        return begin
    if isinstance(begin, int) and isinstance(piece.begin, int):
        return begin + piece.begin
    if begin == 0:
        return piece.begin
    index = ir.IndexType.get()
    parts = [
        arith.ConstantOp(index, part).result if isinstance(part, int) else part
        for part in (piece.begin, begin)
    ]
    return arith.AddIOp(*parts).result


def _shared(ops: Sequence[ir.Operation], plans: Sequence[TilePlan]) -> int:
    """How many levels operations under one group share. Refused (SPY045) where hints share none."""
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
    with refused_at(op):
        check_levels(plan)
        if plan.origin == "auto":
            return plan
        kernel = kernel_of(op)
        if kernel is None:
            raise Refusal("SPY045", f"'{op.name}' computes nothing that a plan could divide")
        return resolve(plan, dims_of(op, kernel))


def _dims(plan: TilePlan, domain: Domain) -> tuple[int, ...]:
    """The iteration dim of each level."""
    parallel = [i for i, reduced in enumerate(domain.reduction) if not reduced]
    reductions = [i for i, reduced in enumerate(domain.reduction) if reduced]
    return tuple(
        (parallel if level.kind == "parallel" else reductions)[int(level.dim)]
        for level in plan.levels
    )


def _part(
    shape: Sequence[int], index: tuple[Linear, ...], cut: Mapping[int, _Piece]
) -> tuple[list[int], list[int | ir.Value]]:
    """Shape of one operand's tile, and where it begins in each dim."""
    sizes, begins = list(shape), [0] * len(shape)
    for dim, entry in enumerate(index):
        for iteration, _ in entry.terms:
            if iteration in cut:
                sizes[dim], begins[dim] = cut[iteration].size, cut[iteration].begin
    return sizes, begins


def _window(
    tensor: TensorType, sizes: Sequence[int], begins: Sequence[int | ir.Value]
) -> TensorType:
    """The window of a tensor: the parent's layout, and of its valid region what lies inside.

    A plan divides the valid box, so a dim that is cut is fully valid in every tile."""
    valid = tuple(
        size if size != whole else extent
        for size, whole, extent in zip(sizes, tensor.shape, tensor.valid, strict=True)
    )
    return replace(
        tensor,
        shape=tuple(sizes),
        window=True,
        valid_shape=None if valid == tuple(sizes) else valid,
        pad=None,
    )


def _sliced(
    value: ir.Value,
    index: tuple[Linear, ...] | None,
    cut: Mapping[int, _Piece],
    read: encodings.Reader,
) -> ir.Value:
    if index is None or not isinstance(value.type, ir.RankedTensorType):
        return value
    tensor = read(value.type)
    sizes, begins = _part(tensor.shape, index, cut)
    if tuple(sizes) == tensor.shape:
        return value
    static, dynamic = _offsets(begins)
    type = encodings.write(_window(tensor, sizes, begins))
    return spyre.SliceOp(type, value, dynamic, static).result


def _offsets(begins: Sequence[int | ir.Value]) -> tuple[list[int], list[ir.Value]]:
    marker = ir.ShapedType.get_dynamic_stride_or_offset()
    static = [begin if isinstance(begin, int) else marker for begin in begins]
    return static, [begin for begin in begins if not isinstance(begin, int)]


def _tile_type(
    result: ir.Value,
    index: tuple[Linear, ...] | None,
    cut: Mapping[int, _Piece],
    read: encodings.Reader,
    *,
    outside: bool,
) -> ir.Type:
    """A window where the tile is written into its buffer, else a compact tile with a layout of its own."""
    assert index is not None, "a result of a tiled operation is indexed by its domain"
    tensor = read(result.type)
    sizes, begins = _part(tensor.shape, index, cut)
    window = _window(tensor, sizes, begins)
    if outside:
        return encodings.write(window)
    assert tensor.layout is not None, "layouts are required of tiled operations"
    layout = retile(tensor.layout, tensor.shape, sizes)
    return encodings.write(replace(window, window=False, layout=layout))


def _clone(
    op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]
) -> ir.Operation:
    row = meaning(op)
    assert row is not None
    own = {a.name: op.attributes[a.name] for a in row.attributes if a.name in op.attributes}
    return ir.Operation.create(op.name, results=types, operands=operands, attributes=own)


def _insert(
    tile: ir.Value, into: ir.Value, index: tuple[Linear, ...] | None, cut: Mapping[int, _Piece]
) -> ir.Value:
    assert index is not None
    _, begins = _part(into.type.shape, index, cut)
    static, dynamic = _offsets(begins)
    return spyre.InsertSliceOp(into.type, tile, into, dynamic, static).result
