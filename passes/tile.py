# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-tile: plans and hints become loops over windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spyre_mlir import encodings, ir
from spyre_mlir.diagnostics import refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.layouts import retile
from spyre_mlir.operations import domain_of, kernel_of, meaning, walk
from spyre_mlir.optable import Domain, Linear
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.plan_attributes import read_plan
from spyre_mlir.properties import LAYOUTS, TILED
from spyre_mlir.tensors import TensorType
from spyre_mlir.tiling.hints import resolve
from spyre_mlir.tiling.plans import TilePlan

PLAN = "spyre.tile"
WRITE = "spyre.insert_slice"


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
    """One operation of a group: its domain, and the iteration dim of each level."""

    op: ir.Operation
    domain: Domain
    dims: tuple[int, ...]


class _Group:
    """Operations under one loop nest."""

    def __init__(self, ops: Sequence[ir.Operation], read: encodings.Reader) -> None:
        self.read = read
        plans = [_plan(op) for op in ops]
        self.plan = plans[0]
        self.members = [
            _Member(op, domain_of(op), _dims(plan, domain_of(op)))
            for op, plan in zip(ops, plans, strict=True)
        ]
        inside = set(ops)
        self.results = [
            result
            for op in ops
            for result in op.results
            if op.name == WRITE or any(use.owner.operation not in inside for use in result.uses)
        ]
        self.loops = 0

    def rewrite(self) -> None:
        """Replaces the operations by their loop nest, which stands where the last of them stood."""
        last = self.members[-1].op
        with ir.InsertionPoint(last), last.location:
            carried = [_initial(result) for result in self.results]
            carried = self._level(0, {}, carried)
        for result, value in zip(self.results, carried, strict=True):
            result.replace_all_uses_with(value)
        for member in reversed(self.members):
            member.op.erase()

    def _level(
        self, number: int, pieces: Mapping[int, _Piece], carried: list[ir.Value]
    ) -> list[ir.Value]:
        """Emits the levels from `number` on; `pieces` says what the levels around cover."""
        if number == len(self.plan.levels):
            return self._body(pieces, carried)
        level = self.plan.levels[number]
        full = level.count * level.size
        if level.count == 1:
            carried = self._level(number + 1, {**pieces, number: _Piece(0, level.size)}, carried)
        else:
            carried = self._loop(number, full, level.size, pieces, carried)
        if level.remainder:
            rest = _Piece(full, level.remainder)
            carried = self._level(number + 1, {**pieces, number: rest}, carried)
        return carried

    def _loop(
        self,
        number: int,
        full: int,
        size: int,
        pieces: Mapping[int, _Piece],
        carried: list[ir.Value],
    ) -> list[ir.Value]:
        from mlir.dialects import arith, scf

        index = ir.IndexType.get()
        low, high, step = (arith.ConstantOp(index, value).result for value in (0, full, size))
        loop = scf.ForOp(low, high, step, carried)
        self.loops += 1
        with ir.InsertionPoint(loop.body):
            piece = _Piece(loop.induction_variable, size)
            inner = self._level(number + 1, {**pieces, number: piece}, list(loop.inner_iter_args))
            scf.YieldOp(inner)
        return list(loop.results)

    def _body(self, pieces: Mapping[int, _Piece], carried: list[ir.Value]) -> list[ir.Value]:
        """One tile of every member."""
        made: dict[ir.Value, ir.Value] = {}
        state = dict(zip(self.results, carried, strict=True))
        for member in self.members:
            cut = {dim: pieces[number] for number, dim in enumerate(member.dims)}
            if member.op.name == WRITE:
                written = member.op.results[0]
                state[written] = made[written] = self._write(member, cut, made, state[written])
                continue
            operands = [
                made.get(value, value) if value in made else _sliced(value, index, cut, self.read)
                for value, index in zip(member.op.operands, member.domain.operands, strict=True)
            ]
            types = [
                _tile_type(result, index, cut, self.read, outside=result in state)
                for result, index in zip(member.op.results, member.domain.results, strict=True)
            ]
            tile = _clone(member.op, operands, types)
            for result, index, new in zip(
                member.op.results, member.domain.results, tile.results, strict=True
            ):
                made[result] = new
                if result in state:
                    state[result] = _insert(new, state[result], index, cut)
        return [state[result] for result in self.results]

    def _write(
        self,
        member: _Member,
        cut: Mapping[int, _Piece],
        made: Mapping[ir.Value, ir.Value],
        into: ir.Value,
    ) -> ir.Value:
        """One tile of a write goes into the destination that the loops carry."""
        source, index = member.op.operands[0], member.domain.operands[0]
        tile = made[source] if source in made else _sliced(source, index, cut, self.read)
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


def _plan(op: ir.Operation) -> TilePlan:
    plan = read_plan(op.attributes[PLAN])
    if plan.origin == "auto":
        return plan
    with refused_at(op):
        return resolve(plan, op_dims(op))


def op_dims(op: ir.Operation) -> tuple[tuple[str | None, int, bool], ...]:
    """(name or None, extent, whether reduced) of each iteration dim; names stand in `spyre.dims`."""
    kernel = kernel_of(op)
    assert kernel is not None
    names: list[str | None] = [None] * len(kernel.dims)
    if "spyre.dims" in op.attributes:
        for number, name in enumerate(ir.ArrayAttr(op.attributes["spyre.dims"])):
            names[number] = name.value
    return tuple(
        (name, dim.extent, dim.reduction) for name, dim in zip(names, kernel.dims, strict=True)
    )


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
