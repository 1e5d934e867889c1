# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `arith` does, on scalars and, cell by cell, on tensors.

Integers wrap at their width; `index` has 64 bits. Floats are computed in their own type (narrow
ones in f32, rounded once). A tensor's result cell is poison if a cell that it reads is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Array, Cells, dtype_of, is_float, round_to, widen
from spyre_mlir.interpreter.machine import Frame, Handler, Machine
from spyre_mlir.interpreter.program import Kind, Step, TensorKind
from spyre_mlir.interpreter.regular import merge

Values = Sequence[Any]


def _element(kind: Kind) -> str:
    return kind.element if isinstance(kind, TensorKind) else kind


def _array(value: Any, element: str) -> Array:
    """A value as an array of the type it is computed in."""
    values = value.values if isinstance(value, Cells) else np.asarray(value, dtype_of(element))
    return widen(values, element)


def _unsigned(array: Array) -> Array:
    return array.view(np.dtype(f"u{array.dtype.itemsize}")) if array.dtype.kind == "i" else array


def _wrap(values: Array, kind: Kind, operands: list[Any]) -> Any:
    """A computed array as a value of the result's type, poison from the operands."""
    element = _element(kind)
    if values.dtype.kind == "u" and element != "ui8":
        values = values.view(np.dtype(f"i{values.dtype.itemsize}"))
    if element not in ("index", "f64"):
        values = round_to(values, element)
    if isinstance(kind, TensorKind):
        masks = [v.poison for v in operands if isinstance(v, Cells)]
        return Cells(values, merge(masks, values.shape))
    return int(values[()]) if element == "index" else values.astype(dtype_of(element))[()]


def _pointwise(function: Callable[..., Any], *, unsigned: bool = False) -> Handler:
    def handler(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
        pairs = zip(operands, step.operand_kinds, strict=True)
        arrays = [_array(value, _element(kind)) for value, kind in pairs]
        if unsigned:
            arrays = [_unsigned(array) for array in arrays]
        with np.errstate(all="ignore"):
            values = np.asarray(function(*arrays))
        return [_wrap(values, step.result_kinds[0], operands)]

    return handler


def _divided(function: Callable[..., Any], *, unsigned: bool = False) -> Handler:
    """Integer division: a zero divisor is refused."""
    inner = _pointwise(function, unsigned=unsigned)

    def handler(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
        divisor = _array(operands[1], _element(step.operand_kinds[1]))
        if (divisor == 0).any():
            raise Refusal("SPY131", f"{step.name}: an integer is divided by zero")
        return inner(machine, frame, step, operands)

    return handler


def _shifted(function: Callable[..., Any], *, unsigned: bool = False) -> Handler:
    """Shifts: a count that is not below the width is refused."""
    inner = _pointwise(function, unsigned=unsigned)

    def handler(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
        count = _array(operands[1], _element(step.operand_kinds[1]))
        if ((count < 0) | (count >= 8 * count.dtype.itemsize)).any():
            raise Refusal("SPY131", f"{step.name}: the shift count is outside the width")
        return inner(machine, frame, step, operands)

    return handler


def _truncated(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, b)
    inexact = quotient * b != a
    return np.asarray(quotient + (inexact & ((a < 0) != (b < 0))).astype(quotient.dtype))


def _ceiling(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, b)
    return np.asarray(quotient + (quotient * b != a).astype(quotient.dtype))


_SIGNED = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def _compare_integers(a: Array, b: Array, predicate: int) -> Array:
    """Predicates 0 to 5 signed, 6 to 9 unsigned, in MLIR's order."""
    if predicate >= 6:
        return np.asarray(_SIGNED[predicate - 4](_unsigned(a), _unsigned(b)))
    return np.asarray(_SIGNED[predicate](a, b))


_FLOAT = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)


def _compare_floats(a: Array, b: Array, predicate: int) -> Array:
    """Predicates in MLIR's order: false, oeq..one, ord, ueq..une, uno, true."""
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full(unordered.shape, predicate == 15)
    if predicate in (7, 14):
        return np.asarray(unordered if predicate == 14 else ~unordered)
    ordered = predicate < 7
    test = _FLOAT[predicate - 1 if ordered else predicate - 8](a, b)
    return np.asarray(test & ~unordered if ordered else test | unordered)


def _compared(function: Callable[[Array, Array, int], Array]) -> Handler:
    def handler(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
        pairs = zip(operands, step.operand_kinds, strict=True)
        a, b = (_array(value, _element(kind)) for value, kind in pairs)
        values = function(a, b, int(step.attributes["predicate"]))
        return [_wrap(values, step.result_kinds[0], operands)]

    return handler


def constant(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """A literal: a number or a dense array."""
    value, kind = step.attributes["value"], step.result_kinds[0]
    if isinstance(kind, TensorKind):
        return [Cells(np.asarray(value))]
    if kind == "index":
        return [int(value)]
    if kind == "ui8":
        value = int(value) & 0xFF
    # A float literal rounds to its type; an integer literal fits it.
    return [np.asarray(value).astype(dtype_of(kind))[()]]


def select(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """The second or the third operand, by the first one: a flag, or one per cell."""
    chooser, yes, no = operands
    if not isinstance(chooser, Cells):
        return [yes if bool(chooser) else no]
    values = np.where(chooser.values, yes.values, no.values)
    none = np.zeros(values.shape, np.bool_)
    branches = [none if v.poison is None else v.poison for v in (yes, no)]
    taken = np.where(chooser.values, *branches)
    poison = taken if chooser.poison is None else taken | chooser.poison
    return [Cells(values, poison if poison.any() else None)]


def convert(machine: Machine, frame: Frame, step: Step, operands: list[Any]) -> Values:
    """Change of number type; the operation's name says from what to what."""
    source, kind = _element(step.operand_kinds[0]), step.result_kinds[0]
    values = _array(operands[0], source)
    if step.name in _FROM_UNSIGNED:
        values = values.astype(np.uint8) if values.dtype == np.bool_ else _unsigned(values)
    elif values.dtype == np.bool_:
        # A signed i1 is 0 or -1.
        values = -values.astype(np.int8)
    target = _element(kind)
    if target in ("index", "f64"):
        return [_wrap(values.astype(dtype_of(target)), kind, operands)]
    if target == "i1" and not is_float(source):
        return [_wrap((values & 1).astype(np.bool_), kind, operands)]
    with np.errstate(all="ignore"):
        return [_wrap(round_to(values, target), kind, operands)]


_FROM_UNSIGNED = ("arith.extui", "arith.uitofp", "arith.index_castui")

_CONVERSIONS = (
    *("extsi", "extui", "trunci", "index_cast", "index_castui"),
    *("sitofp", "uitofp", "fptosi", "fptoui", "extf", "truncf"),
)

HANDLERS: dict[str, Handler] = {
    "arith.constant": constant,
    "arith.select": select,
    "arith.cmpi": _compared(_compare_integers),
    "arith.cmpf": _compared(_compare_floats),
    "arith.addi": _pointwise(np.add),
    "arith.subi": _pointwise(lambda a, b: np.bitwise_xor(a, b) if a.dtype == bool else a - b),
    "arith.muli": _pointwise(np.multiply),
    "arith.divsi": _divided(_truncated),
    "arith.floordivsi": _divided(np.floor_divide),
    "arith.ceildivsi": _divided(_ceiling),
    "arith.remsi": _divided(np.fmod),
    "arith.divui": _divided(np.floor_divide, unsigned=True),
    "arith.ceildivui": _divided(_ceiling, unsigned=True),
    "arith.remui": _divided(np.fmod, unsigned=True),
    "arith.maxsi": _pointwise(np.maximum),
    "arith.minsi": _pointwise(np.minimum),
    "arith.maxui": _pointwise(np.maximum, unsigned=True),
    "arith.minui": _pointwise(np.minimum, unsigned=True),
    "arith.andi": _pointwise(np.bitwise_and),
    "arith.ori": _pointwise(np.bitwise_or),
    "arith.xori": _pointwise(np.bitwise_xor),
    "arith.shli": _shifted(np.left_shift),
    "arith.shrsi": _shifted(np.right_shift),
    "arith.shrui": _shifted(np.right_shift, unsigned=True),
    "arith.addf": _pointwise(np.add),
    "arith.subf": _pointwise(np.subtract),
    "arith.mulf": _pointwise(np.multiply),
    "arith.divf": _pointwise(np.true_divide),
    "arith.remf": _pointwise(np.fmod),
    "arith.negf": _pointwise(np.negative),
    "arith.maximumf": _pointwise(np.maximum),
    "arith.minimumf": _pointwise(np.minimum),
    "arith.maxnumf": _pointwise(np.fmax),
    "arith.minnumf": _pointwise(np.fmin),
    **{f"arith.{name}": convert for name in _CONVERSIONS},
}
"""Operation name -> what it does."""
