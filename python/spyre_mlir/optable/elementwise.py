# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Binary, comparing and three-operand operations: one result cell from one cell of each operand.

The constraints C1 to C4 are shared: they mean the same for every operation of this module."""

from __future__ import annotations

from typing import Any

from . import domains
from .model import (
    ALL,
    BOOL,
    INTEGERS,
    NUMBERS,
    Attribute,
    Device,
    Example,
    Op,
    Operand,
    Result,
    element_constraint,
)

SHAPES = (
    "operand shapes must broadcast, right-aligned, and the result shape must be their broadcast"
)
ONE_ELEMENT = "operands and result must have one element type"
ONE_TENSOR = "at least one value operand must be a tensor"

T = "tensor<4x8xf16>"
WORDS = "tensor<4x8xi32>"
PACKED = "tensor<4x32xui8, #spyre.encoding<valid_shape = [4, 1]>>"
ROUNDED = " Floats are computed in f32 and rounded once to nearest even; integers wrap."


def _constraints(elements: tuple[str, ...]) -> tuple[str, ...]:
    return (SHAPES, ONE_ELEMENT, element_constraint(elements), ONE_TENSOR)


def is_float(np: Any, array: Any) -> bool:
    """Whether an array of the compute type holds floats (f16, bf16 and f8 are computed in f32)."""
    return bool(np.issubdtype(array.dtype, np.floating))


def _divide(np: Any, a: Any, b: Any) -> Any:
    if is_float(np, a):
        return np.true_divide(a, b)
    quotient = np.floor_divide(a, b)
    inexact = quotient * b != a
    return quotient + (inexact & ((a < 0) != (b < 0))).astype(quotient.dtype)


def _binary(
    name: str,
    summary: str,
    description: str,
    scalar: Any,
    *,
    elements: tuple[str, ...] = NUMBERS,
    device: Device,
    commutative: bool = False,
    scratch: bool = False,
    hazard: tuple[str, Any] | None = None,
) -> Op:
    operands: tuple[Operand, ...] = (
        Operand("lhs", kind="either"),
        Operand("rhs", kind="either"),
    )
    if scratch:
        operands += (Operand("scratch", role="scratch", arity="optional"),)
    of = T if "f16" in elements else WORDS
    return Op(
        name=name,
        family="binary",
        summary=summary,
        description=description,
        operands=operands,
        results=(Result("result"),),
        attributes=(),
        elements=elements,
        constraints=_constraints(elements),
        example=Example((of, of), (of,)),
        rule="elementwise",
        device=device,
        tiling="pointwise",
        scalar=scalar,
        domain=domains.elementwise_scratch if scratch else domains.elementwise,
        commutative=commutative,
        one_step=True,
        exact=name in ("maximum", "minimum"),
        hazard=hazard,
    )


def _zero_divisor(np: Any, a: Any, b: Any) -> Any:
    return np.zeros(b.shape, bool) if is_float(np, b) else b == 0


def _bad_count(np: Any, a: Any, b: Any) -> Any:
    return (b < 0) | (b >= 8 * b.dtype.itemsize)


ZERO_DIVISOR = ("an integer is divided by zero", _zero_divisor)
BAD_COUNT = ("the shift count is outside [0, width of the element type)", _bad_count)


def _function(name: str) -> Device:
    return Device(functions=(("", name),))


NAN_RULE = " A NaN in either operand gives NaN; between +0 and -0 either may be returned."
COUNT_RULE = (
    " The count is read per cell and must lie in [0, width of the element type); any other count"
    " on a valid cell is an error when the program is run."
)

_BINARY = (
    _binary(
        "add",
        "sum of two tensors",
        "`lhs + rhs`, cell by cell." + ROUNDED,
        lambda np, a, b: np.add(a, b),
        device=_function("add"),
        commutative=True,
    ),
    _binary(
        "sub",
        "difference of two tensors",
        "`lhs - rhs`, cell by cell." + ROUNDED,
        lambda np, a, b: np.subtract(a, b),
        device=_function("sub"),
    ),
    _binary(
        "mul",
        "product of two tensors",
        "`lhs * rhs`, cell by cell." + ROUNDED,
        lambda np, a, b: np.multiply(a, b),
        device=_function("mul"),
        commutative=True,
    ),
    _binary(
        "div",
        "quotient of two tensors",
        "`lhs / rhs`, cell by cell. Floats are computed in f32 and rounded once; x / 0 is an"
        " infinity or NaN as in IEEE 754. Integers truncate towards zero and wrap; an integer"
        " zero as divisor of a valid cell is an error when the program is run.",
        _divide,
        device=_function("realdiv"),
        hazard=ZERO_DIVISOR,
    ),
    _binary(
        "maximum",
        "larger of two tensors",
        "The larger of `lhs` and `rhs`, cell by cell." + NAN_RULE,
        lambda np, a, b: np.maximum(a, b),
        device=_function("maximum"),
        commutative=True,
    ),
    _binary(
        "minimum",
        "smaller of two tensors",
        "The smaller of `lhs` and `rhs`, cell by cell." + NAN_RULE,
        lambda np, a, b: np.minimum(a, b),
        device=_function("minimum"),
        commutative=True,
    ),
    _binary(
        "fmod",
        "remainder with the sign of the dividend",
        "`lhs - trunc(lhs / rhs) * rhs`, exact, with the sign of `lhs` (C's fmod). A float zero"
        " as divisor gives NaN; an integer zero as divisor of a valid cell is an error when the"
        " program is run.",
        lambda np, a, b: np.fmod(a, b),
        hazard=ZERO_DIVISOR,
        device=Device(
            refusal="the device has no fmod; the nearest is x - trunc(x / y) * y from realdiv,"
            " floor, mul and sub"
        ),
    ),
    _binary(
        "rem",
        "remainder with the sign of the divisor",
        "`lhs - floor(lhs / rhs) * rhs`, with the sign of `rhs`. An optional third operand is"
        " workspace: it is never read, takes no part in valid regions, and need not match in"
        " shape. A float zero as divisor gives NaN; an integer zero as divisor of a valid cell"
        " is an error when the program is run.",
        lambda np, a, b: np.remainder(a, b),
        hazard=ZERO_DIVISOR,
        device=Device(
            refusal="the device has no rem; the nearest is x - floor(x / y) * y from realdiv,"
            " floor, mul and sub"
        ),
        scratch=True,
    ),
    _binary(
        "and",
        "bitwise and",
        "Bitwise `lhs & rhs`; of i1, logical and.",
        lambda np, a, b: np.bitwise_and(a, b),
        elements=INTEGERS + BOOL,
        device=Device(
            functions=(("i1", "mul"),),
            refusal="the device has no bitwise and; of i1 it is mul",
        ),
        commutative=True,
    ),
    _binary(
        "or",
        "bitwise or",
        "Bitwise `lhs | rhs`; of i1, logical or.",
        lambda np, a, b: np.bitwise_or(a, b),
        elements=INTEGERS + BOOL,
        device=Device(
            refusal="the device has no or; of i1 the nearest is maximum of the operands cast to f16"
        ),
        commutative=True,
    ),
    _binary(
        "xor",
        "bitwise exclusive or",
        "Bitwise `lhs ^ rhs`; of i1, logical exclusive or. An optional third operand is"
        " workspace: it is never read, takes no part in valid regions, and need not match in"
        " shape.",
        lambda np, a, b: np.bitwise_xor(a, b),
        elements=INTEGERS + BOOL,
        device=Device(
            refusal="the device has no xor; of i1 the nearest is notequal of the operands cast to"
            " f16"
        ),
        commutative=True,
        scratch=True,
    ),
    _binary(
        "shl",
        "shift left",
        "`lhs << rhs`, bits shifted out are lost." + COUNT_RULE,
        lambda np, a, b: np.left_shift(a, b),
        elements=INTEGERS,
        hazard=BAD_COUNT,
        device=Device(refusal="the device has no shift; the nearest is mul by a power of two"),
    ),
    _binary(
        "shr",
        "shift right",
        "`lhs >> rhs`: arithmetic for signed element types, logical for ui8." + COUNT_RULE,
        lambda np, a, b: np.right_shift(a, b),
        elements=INTEGERS,
        hazard=BAD_COUNT,
        device=Device(
            refusal="the device has no shift; the nearest is realdiv by a power of two, then floor"
        ),
    ),
)

PREDICATES = ("eq", "ne", "gt", "ge", "lt", "le")
_COMPARE_FUNCTIONS = (
    ("eq", "equal"),
    ("ne", "notequal"),
    ("gt", "greaterthan"),
    ("ge", "greaterequal"),
    ("lt", "lesserthan"),
    ("le", "lesserequal"),
)
PREDICATE = Attribute("predicate", "string", choices=PREDICATES)
PREDICATE_KNOWN = "predicate must be one of eq, ne, gt, ge, lt, le"


def _compare(np: Any, a: Any, b: Any, *, predicate: str) -> Any:
    names = {
        "eq": np.equal,
        "ne": np.not_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
        "lt": np.less,
        "le": np.less_equal,
    }
    return names[predicate](a, b)


_COMPARED = NUMBERS + BOOL
_COMPARE_CONSTRAINTS = (
    SHAPES,
    "operands must have one element type",
    element_constraint(_COMPARED, "operand element type"),
    ONE_TENSOR,
    PREDICATE_KNOWN,
)

_COMPARE = (
    Op(
        name="cmp",
        family="compare",
        summary="comparison, one i1 per cell",
        description="`lhs predicate rhs`, cell by cell, as i1. Ordered: with a NaN every"
        " predicate is false but `ne`, which is true. -0 equals +0.",
        operands=(Operand("lhs", kind="either"), Operand("rhs", kind="either")),
        results=(Result("result", BOOL),),
        attributes=(PREDICATE,),
        elements=_COMPARED,
        constraints=(*_COMPARE_CONSTRAINTS, "result element type must be i1"),
        example=Example((T, T), ("tensor<4x8xi1>",), 'predicate = "lt"'),
        rule="elementwise",
        device=Device(functions=_COMPARE_FUNCTIONS),
        tiling="pointwise",
        scalar=_compare,
        one_step=True,
        domain=domains.elementwise,
    ),
    Op(
        name="cmp_packed",
        family="compare",
        summary="comparison, eight cells per byte",
        description="`lhs predicate rhs` as `cmp`, packed along the last dim: bit `c mod 8`"
        " (lowest first) of byte `c floordiv 8` is the cell c. The logical region is agreed on"
        " as for any elementwise operation, then packed: the last valid extent v becomes ceil(v"
        " / 8), the last physical extent c becomes ceil(c / 8) rounded up to a multiple of 32."
        " Bits of a valid byte beyond the logical region are 0.",
        operands=(Operand("lhs", kind="either"), Operand("rhs", kind="either")),
        results=(Result("result", ("ui8",)),),
        attributes=(PREDICATE,),
        elements=_COMPARED,
        constraints=(
            "the result shape must be the broadcast operand shape with its last extent c packed to"
            " ceil(c / 8) rounded up to a multiple of 32",
            *_COMPARE_CONSTRAINTS[1:],
            "result element type must be ui8",
            "operands must have rank 1 or more",
        ),
        example=Example((T, T), (PACKED,), 'predicate = "lt"'),
        rule="packed_predicate",
        device=Device(
            refusal="the device has no packed predicates; the nearest is spyre.cmp, one cell per"
            " predicate"
        ),
        tiling="none",
        scalar=_compare,
        one_step=True,
        domain=domains.compare_packed,
    ),
)


def _add_add(np: Any, a: Any, b: Any, c: Any, *, rounded: Any) -> Any:
    return np.add(rounded(np.add(a, b)), c)


def _subtract_add(np: Any, a: Any, b: Any, c: Any, *, rounded: Any) -> Any:
    return np.add(rounded(np.subtract(a, b)), c)


def _three(
    name: str,
    summary: str,
    description: str,
    scalar: Any,
    *,
    middle: str,
    steps: tuple[str, str],
) -> Op:
    return Op(
        name=name,
        family="three_operands",
        summary=summary,
        description=description
        + " Floats are rounded after each of the two steps, as the two operations it is lowered"
        " to; integers wrap.",
        operands=(Operand("lhs"), Operand("rhs", kind=middle), Operand("rhs2")),
        results=(Result("result"),),
        attributes=(),
        elements=NUMBERS,
        constraints=(SHAPES, ONE_ELEMENT, element_constraint(NUMBERS)),
        example=Example((T, "f16" if middle == "scalar" else T, T), (T,)),
        rule="elementwise",
        device=Device(decomposition=steps),
        tiling="pointwise",
        scalar=scalar,
        domain=domains.elementwise,
        rounds_between=True,
    )


_THREE = (
    _three(
        "addc",
        "sum of three tensors",
        "`(lhs + rhs) + rhs2`, cell by cell.",
        _add_add,
        middle="tensor",
        steps=("add", "add"),
    ),
    _three(
        "subc",
        "difference of two tensors plus a third",
        "`(lhs - rhs) + rhs2`, cell by cell: the third operand is added, as in the vector"
        " instruction of this name.",
        _subtract_add,
        middle="tensor",
        steps=("sub", "add"),
    ),
    _three(
        "addsc",
        "tensor plus scalar plus tensor",
        "`(lhs + rhs) + rhs2`, cell by cell, with a scalar in the middle.",
        _add_add,
        middle="scalar",
        steps=("add", "add"),
    ),
    _three(
        "subsc",
        "tensor minus scalar plus tensor",
        "`(lhs - rhs) + rhs2`, cell by cell, with a scalar in the middle: the third operand is"
        " added.",
        _subtract_add,
        middle="scalar",
        steps=("sub", "add"),
    ),
)

MASK = ("i1", "ui8")
MASK_CONSTRAINT = (
    "the mask must be i1 and broadcast to the result shape, or packed ui8 whose leading extents"
    " are the result's and whose last extent times 8 covers the result's"
)
MASK_MEANING = (
    " The mask is i1, one cell per cell, or ui8, packed along the last dim as `cmp_packed` writes"
    " it. It takes no part in the agreement of valid regions, but must provably cover the"
    " result's region. The branch not chosen is not observed."
)
_MOVED = ALL

_SELECT = (
    Op(
        name="select",
        family="three_operands",
        summary="choice between two tensors by a mask",
        description="`on_true` where the mask holds, else `on_false`." + MASK_MEANING,
        operands=(
            Operand("mask", role="predicate", elements=MASK),
            Operand("on_true", kind="either"),
            Operand("on_false", kind="either"),
        ),
        results=(Result("result"),),
        attributes=(),
        elements=_MOVED,
        constraints=(
            SHAPES,
            "on_true, on_false and result must have one element type",
            element_constraint(_MOVED),
            ONE_TENSOR,
            MASK_CONSTRAINT,
        ),
        example=Example(("tensor<4x8xi1>", T, T), (T,)),
        rule="select",
        device=Device(
            functions=(("i1", "where3"),),
            refusal="the device reads no packed mask; where3 takes an i1 mask of one cell per"
            " cell, as spyre.cmp gives it",
        ),
        tiling="pointwise",
        scalar=lambda np, mask, a, b: np.where(mask, a, b),
        domain=domains.select,
    ),
    Op(
        name="selects",
        family="three_operands",
        summary="choice between a tensor and a scalar by a mask",
        description="`source` where the mask holds, else `otherwise`." + MASK_MEANING,
        operands=(
            Operand("mask", role="predicate", elements=MASK),
            Operand("source"),
            Operand("otherwise", kind="scalar"),
        ),
        results=(Result("result"),),
        attributes=(),
        elements=_MOVED,
        constraints=(
            "source and result must have one shape",
            "source, otherwise and result must have one element type",
            element_constraint(_MOVED),
            "the mask must be i1 of the result shape, or packed ui8 whose leading extents are the"
            " result's and whose last extent times 8 covers the result's",
        ),
        example=Example((PACKED, T, "f16"), (T,)),
        rule="select",
        device=Device(
            functions=(("i1", "where3"),),
            refusal="the device reads no packed mask; where3 takes an i1 mask of one cell per"
            " cell, as spyre.cmp gives it",
        ),
        tiling="pointwise",
        scalar=lambda np, mask, a, b: np.where(mask, a, b),
        domain=domains.select,
    ),
)


def _part(name: str, verb: str, base: str, scalar: Any) -> Op:
    return Op(
        name=name,
        family="part",
        summary=f"{verb} where both operands hold data, a copy where one does",
        description=f"On cells valid in both operands `spyre.{base}`; on cells valid in one of"
        " them that operand's value. The result's region is the union of the two regions,"
        " which must provably be one of them; what lies outside the union is not observable."
        " Same rounding as the operation it is made of.",
        operands=(Operand("lhs"), Operand("rhs")),
        results=(Result("result"),),
        attributes=(),
        elements=NUMBERS,
        constraints=(SHAPES, ONE_ELEMENT, element_constraint(NUMBERS)),
        example=Example((T, T), (T,)),
        rule="union",
        device=Device(decomposition=("identity", base)),
        tiling="pointwise",
        scalar=scalar,
        domain=domains.elementwise,
        commutative=True,
        one_step=True,
    )


_PART = (
    _part("part_add", "sum", "add", lambda np, a, b: np.add(a, b)),
    _part("part_mul", "product", "mul", lambda np, a, b: np.multiply(a, b)),
    _part("part_max", "maximum", "maximum", lambda np, a, b: np.maximum(a, b)),
    _part("part_min", "minimum", "minimum", lambda np, a, b: np.minimum(a, b)),
)

OPS = (*_BINARY, *_COMPARE, *_THREE, *_SELECT, *_PART)
