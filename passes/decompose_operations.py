# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-decompose-operations: operations that the device computes in several steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from spyre_mlir import encodings, ir
from spyre_mlir.builders import build, create
from spyre_mlir.diagnostics import Refusal, refused_at
from spyre_mlir.layouts import device_layout
from spyre_mlir.operations import attributes, computed_results, meaning, walk
from spyre_mlir.padding import buffer, empty, rounded_up, trimmed, turned, whole_sticks
from spyre_mlir.padding_lanes import ends_in_stick, hold_numbers
from spyre_mlir.partial_sticks import TURNED, other_stick
from spyre_mlir.passmanager import Pass, statistic
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
    the first where no numbers may lie behind its own."""

    decomposed = statistic("operations decomposed")

    def run(self, op: ir.Operation) -> None:
        for inner in walk(op, _is_composed):
            with refused_at(inner):
                self.decomposed.add(_decompose(inner))


Rewrite = Callable[[ir.Operation], "ir.Value[ir.Type]"]


def _is_composed(op: ir.Operation) -> bool:
    """Whether an operation may have to be replaced."""
    row = meaning(op)
    if row is None or row.name in REWRITES or len(op.results) > 1:
        return row is not None
    return row.name == "batch_matmul" and ends_in_stick(op.operands[0])


def _decompose(op: ir.Operation) -> bool:
    """Replaces an operation, if it is to be; whether it was."""
    row = meaning(op)
    if row is None:
        return False
    with ir.InsertionPoint(op), op.location:
        if len(op.results) > 1:
            return _one_result_each(op)
        if row.name == "batch_matmul":
            return _whole_sticks(op)
        if row.name not in REWRITES or (row.name == "leaky_relu" and not _has_own_slope(op)):
            return False
        new = REWRITES[row.name](op)
    result = op.results[0]
    if new.type != result.type:
        new.set_type(result.type)
    result.replace_all_uses_with(new)
    op.erase()
    return True


def _one_result_each(op: ir.Operation) -> bool:
    """One operation for each result that is used: the device has a function for each."""
    *others, _ = computed_results(op)
    for result in others:
        result.replace_all_uses_with(op.clone().results[result.result_number])
    return bool(others)


def _two_steps(op: ir.Operation) -> ir.Value[ir.Type]:
    """`(a . b) + c`, each step rounded."""
    row = meaning(op)
    assert row is not None
    first, second = row.device.decomposition
    a, b, c = op.operands
    return build(second, build(first, a, b), c)


def _product_and_sum(op: ir.Operation) -> ir.Value[ir.Type]:
    accumulator, lhs, rhs = op.operands
    product = build("batch_matmul", lhs, rhs)
    with ir.InsertionPoint(product.owner):
        _whole_sticks(product.owner)
    return build("add", accumulator, product)


def _lanes(tensor: TensorType) -> int:
    return device_layout((), tensor.element).elements_per_stick


def _select(op: ir.Operation) -> ir.Value[ir.Type]:
    return build("select", *op.operands)


DEVICE_SLOPE = 0.01
"""The slope of the device's leaky_relu, which takes no constant: the default of the operation."""


def _has_own_slope(op: ir.Operation) -> bool:
    row = meaning(op)
    assert row is not None
    return bool(attributes(op, row)["slope"] != DEVICE_SLOPE)


def _leaky_relu(op: ir.Operation) -> ir.Value[ir.Type]:
    """x where it is above zero, else x times the slope."""
    from mlir.dialects import arith

    row = meaning(op)
    assert row is not None
    (x,) = op.operands
    element = x.type.element_type
    zero, slope = (arith.ConstantOp(element, v).result for v in (0.0, attributes(op, row)["slope"]))
    return build("select", build("cmp", x, zero, predicate="gt"), x, build("mul", x, slope))


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


REWRITES: dict[str, Rewrite] = {
    "addc": _two_steps,
    "subc": _two_steps,
    "addsc": _two_steps,
    "subsc": _two_steps,
    "matmul_acc": _product_and_sum,
    "selects": _select,
    "leaky_relu": _leaky_relu,
    "concat": _concat,
    "fillpad": _fillpad,
}
"""Operation -> what takes its place, built at the insertion point."""


def _full(tensor: TensorType, value: float) -> ir.Value[ir.Type]:
    from mlir.dialects import arith

    from spyre_mlir.dialects import spyre

    element = ir.Type.parse(tensor.element)
    number = value if isinstance(element, ir.FloatType) else int(value)
    scalar = arith.ConstantOp(element, number).result
    return spyre.FullOp(encodings.write(tensor), scalar).result


def _extreme(pad: str, element: str) -> float:
    """What padding is filled with: 0, or an end of the range of a float type."""
    if element == "ui8":
        raise Refusal(
            "SPY096",
            "a scalar of ui8 cannot be written as arith.constant",
            remedy="pass the cells as i8",
        )
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
    return build("set_valid_shape", held, valid_shape=tensor.valid)


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
