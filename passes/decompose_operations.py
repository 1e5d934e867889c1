# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-decompose-operations: operations that the device computes in several steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from spyre_mlir import encodings, ir
from spyre_mlir.builders import assuming, build, create
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.dialects import spyre
from spyre_mlir.operations import attributes, computed_results, domain_of, meaning, walk
from spyre_mlir.optable.model import FLOAT8
from spyre_mlir.padding import (
    buffer,
    constant,
    empty,
    padded,
    rounded_up,
    trimmed,
    turned,
    whole_sticks,
)
from spyre_mlir.padding_lanes import ends_in_stick, hold_numbers
from spyre_mlir.partial_sticks import TURNED, other_stick
from spyre_mlir.passmanager import Pass, statistic
from spyre_mlir.plan_attributes import read_plan, write_plan
from spyre_mlir.planning import PLAN
from spyre_mlir.region_reader import RegionReader
from spyre_mlir.stick_widths import TRUTH, chosen, compared, in_whole_sticks, lanes_of
from spyre_mlir.sticks import with_stick
from spyre_mlir.tensors import TensorType


@dataclass(frozen=True)
class DecomposeOperations(
    Pass,
    name="spyre-decompose-operations",
    anchor="func.func",
    dependent_dialects=("arith", "spyre"),
):
    """Replace operations that the device computes in several steps.

    Sums and differences of three operands become two operations, a product that accumulates a product and a sum, a
    concatenation one copy per operand into one buffer, a scan one operation for each result, filled padding a copy over
    the filled buffer, a leaky_relu with another slope than the device's a choice. Where the valid cells of the reduced
    dim of a product end within a stick, the second factor is copied into a buffer that has zeros behind them, and so is
    the first where no numbers may lie behind its own. Between elements of several widths a conversion stands, in
    buffers whose last sticks end together. Where the device would have to scan or multiply along sticks, each cell gets
    a stick of its own."""

    decomposed = statistic("operations decomposed")

    def run(self, op: ir.Operation) -> None:
        composed = walk(op, _is_composed)
        if not composed:
            return
        with assuming(RegionReader(op).facts):
            for inner in composed:
                with refused_at(inner):
                    self.decomposed.add(_decompose(inner))


Rewrite = Callable[[ir.Operation], "ir.Value[ir.Type] | None"]


def _is_composed(op: ir.Operation) -> bool:
    """Whether an operation has to be replaced, or changed."""
    row = meaning(op)
    if row is None or row.name not in REWRITES:
        return row is not None and len(op.results) > 1
    return CONDITIONS[row.name](op) if row.name in CONDITIONS else True


def _decompose(op: ir.Operation) -> bool:
    """Replaces an operation, if it is to be; whether it was."""
    row = meaning(op)
    if row is None:
        return False
    with ir.InsertionPoint(op), op.location:
        if len(op.results) > 1:
            return _one_result_each(op)
        if not _is_composed(op):
            return False
        with _hint_kept(op):
            new = REWRITES[row.name](op)
    if new is None:
        return False
    result = op.results[0]
    if new.type != result.type:
        new.set_type(result.type)
    result.replace_all_uses_with(new)
    op.erase()
    return True


@contextmanager
def _hint_kept(op: ir.Operation) -> Iterator[None]:
    """Gives a hint on an operation to the steps that take its place: those that make its shape share its loops, those
    that reduce its range divide it."""
    if PLAN not in op.attributes:
        yield
        return
    block = ir.InsertionPoint(op).block
    before = {operation.operation for operation in block.operations}
    yield
    plan = read_plan(op.attributes[PLAN])
    outside = tuple(level for level in plan.levels if level.kind == "parallel")
    for step in [o.operation for o in block.operations if o.operation not in before]:
        row = meaning(step)
        if row is None or row.tiling in ("view", "none") or PLAN in step.attributes:
            continue
        levels = outside if row.combine is None else plan.levels
        if levels and list(step.results[0].type.shape) == list(op.results[0].type.shape):
            step.attributes[PLAN] = write_plan(replace(plan, levels=levels))
            if "spyre.dims" in op.attributes:
                count = len(domain_of(step).extents)
                names = list(ir.ArrayAttr(op.attributes["spyre.dims"]))[:count]
                step.attributes["spyre.dims"] = ir.ArrayAttr.get(names)


def _one_result_each(op: ir.Operation) -> bool:
    """One operation for each result that is used: the device has a function for each."""
    used, row = computed_results(op), meaning(op)
    assert row is not None
    if _is_replicated(op.operands[0]):
        # The function counts along the one dim that its operand does not run over.
        op.operands[0] = build("identity", op.operands[0])
    given, rank = attributes(op, row), len(op.operands[0].type.shape)
    scan = _chosen_one if given["k"] == 1 else _topk if rank == 1 else None
    if scan is not None:
        for result in used:
            new = scan(op, given, result.result_number)
            if new.type != result.type:  # a symbol of one value is that value
                new.set_type(result.type)
            result.replace_all_uses_with(new)
        op.erase()
        return True
    *others, _ = used
    for result in others:
        result.replace_all_uses_with(op.clone().results[result.result_number])
    return bool(others)


def _is_replicated(value: ir.Value[ir.Type]) -> bool:
    """Whether a tensor is a view, maybe of views, of which one replicates cells."""
    while isinstance(value, ir.OpResult):
        op = value.owner.operation
        row = meaning(op)
        if row is None or row.tiling != "view":
            return False
        if row.name == "broadcast" and list(value.type.shape) != list(op.operands[0].type.shape):
            return True
        value = op.operands[0]
    return False


def _two_steps(op: ir.Operation) -> ir.Value[ir.Type]:
    """`(a . b) + c`, each step rounded."""
    row = meaning(op)
    assert row is not None
    first, second = row.device.decomposition
    a, b, c = op.operands
    return build(second, build(first, a, b), c)


def _product_and_sum(op: ir.Operation) -> ir.Value[ir.Type]:
    """The product, rounded to the elements of the accumulator, is added to it where both hold data."""
    accumulator, lhs, rhs = op.operands
    product = build("batch_matmul", lhs, rhs, element=str(accumulator.type.element_type))
    if _is_multiplied(product.owner):
        product = _instead(product, _product)
    held, given = (encodings.read(value.type) for value in (accumulator, product))
    if given.valid == held.valid or not all(isinstance(extent, int) for extent in given.valid):
        return build("add", accumulator, product)
    start = [0] * held.rank
    cut = [
        build("slice", value, static_offsets=start, shape=given.valid)
        for value in (accumulator, product)
    ]
    return build("insert_slice", build("add", *cut), accumulator, static_offsets=start)


def _instead(value: ir.Value[ir.Type], rewrite: Rewrite) -> ir.Value[ir.Type]:
    """A value that was just built, or what takes its place."""
    with ir.InsertionPoint(value.owner):
        new = rewrite(value.owner)
    if new is None:
        return value
    value.owner.erase()
    return new


def _lanes(tensor: TensorType) -> int:
    return lanes_of(tensor.element)


def _cast(op: ir.Operation) -> ir.Value[ir.Type] | None:
    """A cast to truth values asks whether cells differ from zero; one to the same elements changes nothing."""
    source, result = (str(v.type.element_type) for v in (op.operands[0], op.results[0]))
    if source == result:
        return build("identity", op.operands[0])
    if result != "i1" or source in FLOAT8:
        return in_whole_sticks(op, source, result)
    return _instead(build("cmp", op.operands[0], constant(source, 0.0), predicate="ne"), _compare)


def _compare(op: ir.Operation) -> ir.Value[ir.Type] | None:
    return compared(op, _elements(op)[0])


def _select(op: ir.Operation) -> ir.Value[ir.Type] | None:
    return chosen(op, str(op.results[0].type.element_type))


def _selects(op: ir.Operation) -> ir.Value[ir.Type]:
    return _instead(build("select", *op.operands), _select)


def _prod(op: ir.Operation) -> ir.Value[ir.Type]:
    """A product over all dims: each cell is replicated along a stick of its own, which the device does not multiply."""
    row = meaning(op)
    assert row is not None
    product = build("prod", _spread(op.operands[0]), dims=list(attributes(op, row)["dims"]))
    return _first(product, 0, tuple(op.results[0].type.shape))


Attributes = Mapping[str, Any]


def _chosen_one(op: ir.Operation, given: Attributes, number: int) -> ir.Value[ir.Type]:
    """The largest cell, or its position: the device chooses two at least, from two at least."""
    value, kind = op.operands[0], encodings.read(op.results[number].type)
    dim, shape = given["dim"], tuple(value.type.shape)
    held = list(encodings.read(value.type).valid)
    if held[dim] == 1:
        one = build("slice", value, static_offsets=[0] * kind.rank, shape=kind.shape)
        return build("identity", one) if number == 0 else _full(kind, 0.0)
    held[dim] = 2
    types = [encodings.read(result.type) for result in op.results]
    two = tuple(2 if d == dim else extent for d, extent in enumerate(shape))
    wide = [
        encodings.write(TensorType(two, type.element, valid_shape=tuple(held))) for type in types
    ]
    made = create("topk", [value], wide, k=2, dim=dim)
    found = made.results[number]
    if len(shape) == 1:
        found = _topk(made, {"k": 2, "dim": dim}, number)
        made.erase()
    return build("slice", found, static_offsets=[0] * kind.rank, shape=kind.shape)


def _topk(op: ir.Operation, given: Attributes, number: int) -> ir.Value[ir.Type]:
    """A result of a scan over one dim: the device scans no stick, so each cell is replicated along one of its own."""
    k, spread = given["k"], _spread(op.operands[0])
    elements = [str(result.type.element_type) for result in op.results]
    wide = [TensorType((k, spread.type.shape[-1]), element) for element in elements]
    found = create("topk", [spread], list(map(encodings.write, wide)), k=k, dim=0).results[number]
    across = build("transpose", found, permutation=[1, 0])
    return _first(build("restickify", across), 0, (k,))


def _spread(value: ir.Value[ir.Type]) -> ir.Value[ir.Type]:
    """A tensor with one more dim, a stick along which each cell is replicated."""
    tensor = encodings.read(value.type)
    column = build("reshape", value, shape=(*tensor.shape, 1))
    return build("broadcast", column, shape=(*tensor.shape, _lanes(tensor)))


def _first(value: ir.Value[ir.Type], dim: int, shape: tuple[int, ...]) -> ir.Value[ir.Type]:
    """The first cells of a tensor along a dim, of which all are equal, under another shape."""
    full = tuple(value.type.shape)
    cut = tuple(1 if d == dim else extent for d, extent in enumerate(full))
    return build(
        "reshape", build("slice", value, static_offsets=[0] * len(full), shape=cut), shape=shape
    )


DEVICE_SLOPE = 0.01
"""The slope of the device's leaky_relu, which takes no constant: the default of the operation."""


def _has_own_slope(op: ir.Operation) -> bool:
    row = meaning(op)
    assert row is not None
    return bool(attributes(op, row)["slope"] != DEVICE_SLOPE)


def _leaky_relu(op: ir.Operation) -> ir.Value[ir.Type]:
    """x where it is above zero, else x times the slope."""
    row = meaning(op)
    assert row is not None
    (x,) = op.operands
    element = str(x.type.element_type)
    zero, slope = (constant(element, v) for v in (0.0, attributes(op, row)["slope"]))
    above = _instead(build("cmp", x, zero, predicate="gt"), _compare)
    return _instead(build("select", above, x, build("mul", x, slope)), _select)


def _concat(op: ir.Operation) -> ir.Value[ir.Type]:
    row = meaning(op)
    assert row is not None
    dim = attributes(op, row)["dim"]
    result = encodings.read(op.results[0].type)
    extents = [part.type.shape[dim] for part in op.operands]
    inside = any(at % _lanes(result) for at in accumulate(extents[:-1]))
    if inside and dim == result.rank - 1 and result.layout is None and result.element in TURNED:
        return _turned_concat(list(op.operands), dim, result)
    return _joined(op.operands, empty(result), dim)


def _joined(
    parts: Iterable[ir.Value[ir.Type]], whole: ir.Value[ir.Type], dim: int
) -> ir.Value[ir.Type]:
    """A buffer filled with tensors one after another."""
    at = 0
    for part in parts:
        offsets = [0] * len(part.type.shape)
        offsets[dim] = at
        whole = build("insert_slice", part, whole, static_offsets=offsets)
        at += part.type.shape[dim]
    return whole


def _turned_concat(
    parts: list[ir.Value[ir.Type]], dim: int, result: TensorType
) -> ir.Value[ir.Type]:
    """A concatenation within sticks: joined with another dim on the sticks, then turned back."""
    other = other_stick(result.shape, dim)
    if other is None:
        rows = [build("reshape", part, shape=(1, *part.type.shape)) for part in parts]
        valid = (1, *result.valid)
        row = TensorType((1, *result.shape), result.element, valid_shape=valid)
        return build("reshape", _turned_concat(rows, dim + 1, row), shape=result.shape)
    whole = whole_sticks(result.shape, (dim, other))
    kind = TensorType(whole, result.element, valid_shape=result.valid)
    joined = _joined(parts, buffer(kind, other), dim)
    return trimmed(turned(joined, dim), result.shape)


def _fillpad(op: ir.Operation) -> ir.Value[ir.Type]:
    row = meaning(op)
    assert row is not None
    tensor = encodings.read(op.results[0].type)
    return _filled(op.operands[0], tensor, _extreme(attributes(op, row)["pad"], tensor.element))


def _filled(value: ir.Value[ir.Type], kind: TensorType, number: float) -> ir.Value[ir.Type]:
    """A buffer of a type that holds a tensor, and behind its cells one number.

    Where a symbolic extent ends within a stick, the sticks are turned: cells then end with a row."""
    given = encodings.read(value.type)
    inside = bool(given.rank) and not isinstance(given.valid[-1], int) and ends_in_stick(value)
    if not inside or kind.layout is not None or kind.element not in TURNED:
        return _copied(value, _full(kind, number))
    if given.valid[:-1] != kind.valid[:-1] or given.shape[:-1] != kind.shape[:-1]:
        shape, valid = (*kind.shape[:-1], given.shape[-1]), (*kind.valid[:-1], given.valid[-1])
        value = _copied(value, _full(TensorType(shape, kind.element, valid_shape=valid), number))
        given = encodings.read(value.type)
    dim, other = kind.rank - 1, other_stick(kind.shape, kind.rank - 1)
    if other is None:
        row = build("reshape", value, shape=(1, *given.shape))
        above = TensorType((1, *kind.shape), kind.element, valid_shape=(1, *kind.valid))
        return build("reshape", _filled(row, above, number), shape=kind.shape)
    shape = whole_sticks(kind.shape, (dim, other))
    onto = with_stick(shape, kind.element, other)
    filled = _full(TensorType(shape, kind.element, onto, valid_shape=kind.valid), number)
    return trimmed(turned(_copied(value, filled), dim), kind.shape)


def _copied(value: ir.Value[ir.Type], onto: ir.Value[ir.Type]) -> ir.Value[ir.Type]:
    """A buffer with a tensor at its start. Regions were proved before, with what is known of symbols."""
    offsets = [0] * len(value.type.shape)
    return create("insert_slice", [value, onto], [onto.type], static_offsets=offsets).results[0]


def _full(tensor: TensorType, value: float) -> ir.Value[ir.Type]:
    return spyre.FullOp(encodings.write(tensor), constant(tensor.element, value)).result


def _extreme(pad: str, element: str) -> float:
    """What padding is filled with: 0, or an end of the range of a float type."""
    if pad == "zero":
        return 0.0
    if element not in ("f16", "bf16", "f32"):
        raise Refusal(
            "SPY096",
            f"the device is given no smallest or largest value of {element}",
            remedy="fill with zero, or cast to f16 before",
        )
    return float("inf") if pad == "max" else -float("inf")


def _with_zeros(value: ir.Value[ir.Type], tensor: TensorType) -> ir.Value[ir.Type]:
    """The same tensor in a buffer that has zeros behind the cells of its last dim, up to a whole stick."""
    whole = (*tensor.shape[:-1], rounded_up(tensor.shape[-1], _lanes(tensor)))
    kind = TensorType(whole, tensor.element, valid_shape=(*tensor.valid[:-1], whole[-1]))
    held = trimmed(_filled(value, kind, 0.0), tensor.shape)
    same = encodings.write(replace(encodings.read(held.type), valid_shape=tensor.valid))
    extents = [extent if isinstance(extent, int) else str(extent) for extent in tensor.valid]
    return create("set_valid_shape", [held], [same], valid_shape=extents).results[0]


def _whole_factors(op: ir.Operation, lhs: TensorType, rhs: TensorType) -> bool:
    """Lets a product over a symbolic extent run over whole sticks, with zeros in both factors behind the extent."""
    whole = rounded_up(lhs.shape[-1], _lanes(rhs))
    *rows, _ = lhs.shape
    *batch, _, columns = rhs.shape
    *held, _, n = rhs.valid
    left = TensorType((*rows, whole), lhs.element, valid_shape=(*lhs.valid[:-1], whole))
    right = TensorType((*batch, whole, columns), rhs.element, valid_shape=(*held, whole, n))
    op.operands[0] = _filled(op.operands[0], left, 0.0)
    op.operands[1] = _filled(op.operands[1], right, 0.0)
    return True


def _whole_sticks(op: ir.Operation) -> bool:
    """Lets a product read its second factor from a buffer with zeros behind the cells that take part, up to a whole
    stick: what lies there in the first factor is padding."""
    if not ends_in_stick(op.operands[0]):
        return False
    lhs, rhs = (encodings.read(operand.type) for operand in op.operands)
    lanes, taken = _lanes(rhs), lhs.valid[-1]
    if not isinstance(taken, int):
        return _whole_factors(op, lhs, rhs)
    if not hold_numbers(op.operands[0]):
        op.operands[0] = _with_zeros(op.operands[0], lhs)
    *batch, k, n = rhs.shape
    *held, _, columns = rhs.valid
    whole, rank = rounded_up(taken, lanes), rhs.rank
    shape = (*batch, rounded_up(k, lanes), n)
    buffer = empty(TensorType(shape, rhs.element, valid_shape=(*held, whole, columns)))
    zeros = TensorType((*batch, lanes, n), rhs.element, valid_shape=(*held, lanes, columns))
    behind = [0] * rank
    behind[-2] = whole - lanes
    buffer = build("insert_slice", _full(zeros, 0.0), buffer, static_offsets=behind)
    cells = op.operands[1]
    if taken != k:
        cells = build("slice", cells, static_offsets=[0] * rank, shape=(*batch, taken, n))
    buffer = build("insert_slice", cells, buffer, static_offsets=[0] * rank)
    op.operands[1] = build("slice", buffer, static_offsets=[0] * rank, shape=rhs.shape)
    return True


def _product(op: ir.Operation) -> ir.Value[ir.Type] | None:
    """A product in whole sticks; one of 16-bit factors that is written as f32 fills whole sticks of both.

    One over a single cell is an elementwise one, of a column and a row. One with a single column has it replicated, so
    that there is a dim along its sticks."""
    lhs, rhs, result = (encodings.read(v.type) for v in (*op.operands, op.results[0]))
    if lhs.shape[-1] == 1 and lhs.valid_shape is None:
        return build("mul", *(_as(factor, result.element) for factor in op.operands))
    columns = rounded_up(rhs.shape[-1], _lanes(rhs))
    if rhs.shape[-1] == 1:
        factor = build("broadcast", op.operands[1], shape=(*rhs.shape[:-1], columns))
        if not ends_in_stick(op.operands[0]):
            factor = build("identity", factor)  # in sticks of its own; else it is copied anyway
    elif _is_wider(op):
        factor = padded(op.operands[1], (*rhs.shape[:-1], columns))
    else:
        _whole_sticks(op)
        return None
    made = build("batch_matmul", op.operands[0], factor, element=result.element)
    with ir.InsertionPoint(made.owner):
        _whole_sticks(made.owner)
    return trimmed(made, result.shape)


def _as(value: ir.Value[ir.Type], element: str) -> ir.Value[ir.Type]:
    """A tensor with elements of another type, if they are not."""
    if str(value.type.element_type) == element:
        return value
    return _instead(build("cast", value, element=element), _cast)


def _is_wider(op: ir.Operation) -> bool:
    """Whether the last sticks of a product's rows end elsewhere than those of its second factor."""
    rhs, result = (encodings.read(v.type) for v in (op.operands[1], op.results[0]))
    n = rhs.shape[-1]
    apart = rounded_up(n, _lanes(result)) != rounded_up(n, _lanes(rhs))
    return apart and result.layout is None


def _elements(op: ir.Operation) -> tuple[str, str]:
    """Element types of the first tensor operand and the first result."""
    tensors = [v for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
    return str(tensors[0].type.element_type), str(op.results[0].type.element_type)


def _converts(op: ir.Operation) -> bool:
    """Whether a cast is none, asks for truth, or leads between sticks that do not end together."""
    source, result = _elements(op)
    if source == result or (result == "i1" and source not in FLOAT8):
        return True
    lanes, shape = {lanes_of(source), lanes_of(result)}, tuple(op.results[0].type.shape)
    return len(lanes) > 1 and (not shape or len({rounded_up(shape[-1], w) for w in lanes}) > 1)


def _is_multiplied(op: ir.Operation) -> bool:
    if _elements(op)[0] not in MULTIPLIED:
        return False  # refused at lowering
    one = 1 in (op.operands[0].type.shape[-1], op.operands[1].type.shape[-1])
    return one or ends_in_stick(op.operands[0]) or _is_wider(op)


def _reduces_all(op: ir.Operation) -> bool:
    row = meaning(op)
    assert row is not None
    return len(attributes(op, row)["dims"]) == len(op.operands[0].type.shape)


MULTIPLIED = ("f16", "bf16")
"""Element types of factors that are laid out here: second factors of 8 bits have two dims in their sticks."""

REWRITES: dict[str, Rewrite] = {
    "addc": _two_steps,
    "subc": _two_steps,
    "addsc": _two_steps,
    "subsc": _two_steps,
    "matmul_acc": _product_and_sum,
    "selects": _selects,
    "leaky_relu": _leaky_relu,
    "select": _select,
    "cmp": _compare,
    "cast": _cast,
    "prod": _prod,
    "batch_matmul": _product,
    "concat": _concat,
    "fillpad": _fillpad,
}
"""Operation -> what takes its place, built at the insertion point; None if it stays, changed or not."""

CONDITIONS: dict[str, Callable[[ir.Operation], bool]] = {
    "leaky_relu": _has_own_slope,
    "select": lambda op: lanes_of(_elements(op)[1]) != lanes_of(TRUTH),
    "cmp": lambda op: lanes_of(_elements(op)[0]) != lanes_of(TRUTH),
    "cast": _converts,
    "prod": _reduces_all,
    "batch_matmul": _is_multiplied,
}
"""When they have to be, where they do not always."""
