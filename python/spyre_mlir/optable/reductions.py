# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, normalisation pieces, contractions and the scan."""

from __future__ import annotations

from typing import Any

from . import domains
from .model import (
    FLOAT8,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    Attribute,
    Combine,
    Device,
    Example,
    Op,
    Operand,
    Result,
    element_constraint,
)

T = "tensor<4x8xf16>"
DIMS = Attribute("dims", "i64_array")
KEEP = Attribute("keep_dims", "bool", False)
INDICES = ("i16", "i32", "i64")

REDUCED_SHAPE = (
    "the result shape must be the operand shape with the reduced dims dropped, or of"
    " extent 1 under keep_dims"
)
DIMS_RANGE = "dims must be distinct, increasing, at least one, and each in [0, rank)"
ONE_ELEMENT = "operand and result must have one element type"
OVER_VALID = (
    " Only valid cells take part, so a partly valid reduced dim is exact. A reduction over no"
    " cell at all is refused: by the verifier where it is provable, else when the program is"
    " run."
)
IN_F32 = (
    " f16 and bf16 are accumulated in f32 and rounded once; f32 in f32; integers in 64 bits,"
    " then wrapped."
)


def _wide(np: Any, x: Any) -> Any:
    """Floats as they are, integers in 64 bits."""
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(np.int64)


def _named(name: str, nonstick: str | None = None) -> Device:
    return Device(functions=(("stick", name), ("nonstick", nonstick or f"{name}nonstick")))


def _reduction(
    name: str,
    summary: str,
    description: str,
    scalar: Any,
    *,
    elements: tuple[str, ...] = NUMBERS,
    device: Device,
    combine: Combine,
) -> Op:
    return Op(
        name=name,
        family="reduce",
        summary=summary,
        description=description + OVER_VALID,
        operands=(Operand("input"),),
        results=(Result("result"),),
        attributes=(DIMS, KEEP),
        elements=elements,
        constraints=(REDUCED_SHAPE, ONE_ELEMENT, element_constraint(elements), DIMS_RANGE),
        example=Example((T,), ("tensor<4xf16>",), "dims = [1], keep_dims = false"),
        rule="reduce",
        device=device,
        tiling="reduction",
        scalar=scalar,
        domain=domains.reduce,
        combine=combine,
    )


_NONE_EMPTY = " NaN in any of them gives NaN."

_REDUCE = (
    _reduction(
        "sum",
        "sum over dims",
        "Sum of the cells along `dims`." + IN_F32,
        lambda np, x, axes: np.sum(_wide(np, x), axis=axes),
        device=_named("sum"),
        combine=Combine("add"),
    ),
    _reduction(
        "max",
        "largest over dims",
        "Largest of the cells along `dims`." + _NONE_EMPTY,
        lambda np, x, axes: np.max(x, axis=axes),
        device=_named("max"),
        combine=Combine("maximum"),
    ),
    _reduction(
        "min",
        "smallest over dims",
        "Smallest of the cells along `dims`." + _NONE_EMPTY,
        lambda np, x, axes: np.min(x, axis=axes),
        device=_named("min"),
        combine=Combine("minimum"),
    ),
    _reduction(
        "mean",
        "mean over dims",
        "Sum of the cells along `dims` divided by the number of valid cells summed. Accumulated"
        " and divided in f32, rounded once.",
        lambda np, x, axes: np.mean(x, axis=axes),
        elements=FLOATS,
        device=Device(
            functions=(("stick", "mean"), ("nonstick", "meannonstick")),
            constants=(("scaling_factor", "1 / number of reduced cells"),),
        ),
        combine=Combine("add", part="sum", divided=True),
    ),
    _reduction(
        "absmax",
        "largest magnitude over dims",
        "Largest of |x| along `dims`; integers wrap as in `abs`." + _NONE_EMPTY,
        lambda np, x, axes: np.max(np.abs(x), axis=axes),
        elements=FLOATS + SIGNED,
        device=_named("absmax"),
        combine=Combine("maximum"),
    ),
    _reduction(
        "prod",
        "product over dims",
        "Product of the cells along `dims`." + IN_F32,
        lambda np, x, axes: np.prod(_wide(np, x), axis=axes),
        device=Device(
            functions=(("nonstick", "prodnonstick"),),
            refusal="the device multiplies over non-stick dims only; restickify the operand so"
            " that the stick lies on another dim",
        ),
        combine=Combine("mul"),
    ),
)


def _position(name: str, which: str, scalar: Any, combine: Combine) -> Op:
    return Op(
        name=name,
        family="reduce",
        summary=f"position of the {which} along a dim",
        description=f"Position along `dim`, counted from 0, of the {which} cell; of equal ones"
        f" the first. A NaN counts as the {which}, the first NaN wins." + OVER_VALID,
        operands=(Operand("input"),),
        results=(Result("result", INDICES),),
        attributes=(Attribute("dim", "i64"), KEEP),
        elements=NUMBERS,
        constraints=(
            "the result shape must be the operand shape with dim dropped, or of extent 1 under"
            " keep_dims",
            element_constraint(NUMBERS, "operand element type"),
            element_constraint(INDICES, "result element type"),
            "dim must be in [0, rank)",
            "the result element type must hold every position along dim",
        ),
        example=Example((T,), ("tensor<4xi32>",), "dim = 1 : i64, keep_dims = false"),
        rule="reduce",
        device=Device(
            refusal=f"the device has no {name}; the nearest is spyre.topk with k = 1"
            + ("" if name == "argmax" else " of the negated operand")
        ),
        tiling="reduction",
        scalar=scalar,
        domain=domains.reduce,
        combine=combine,
    )


_ARG = (
    _position(
        "argmax",
        "largest",
        lambda np, x, axes: np.argmax(x, axis=axes[0]),
        Combine("maximum", part="max", positions="le"),
    ),
    _position(
        "argmin",
        "smallest",
        lambda np, x, axes: np.argmin(x, axis=axes[0]),
        Combine("minimum", part="min", positions="ge"),
    ),
)

_NORM = (
    Op(
        name="exx2",
        family="norm",
        summary="mean and mean of squares along the last dim",
        description="For each row (all dims but the last) a pair: cell 0 is the mean of the row,"
        " cell 1 the mean of its squares. The device writes both into one stick per row and"
        " publishes no host form of them; this dialect gives the pair a last dim of extent 2,"
        " which occupies exactly that stick, in lanes 0 and 1. With `zero_mean` cell 0 is 0."
        " The means are over the row's valid cells. Accumulated in f32, each rounded once."
        + OVER_VALID,
        operands=(Operand("input"),),
        results=(Result("moments"),),
        attributes=(Attribute("zero_mean", "bool", False),),
        elements=FLOATS,
        constraints=(
            "the result shape must be the operand shape with the last extent 2",
            ONE_ELEMENT,
            element_constraint(FLOATS),
            "the operand must have rank 1 or more",
        ),
        example=Example((T,), ("tensor<4x2xf16>",)),
        rule="moments",
        device=Device(
            functions=(("", "exx2"),),
            constants=(("exx2scale", "1 / number of reduced cells"), ("useZeroMean", "zero_mean")),
        ),
        tiling="reduction",
        domain=domains.moments,
        combine=Combine("add", divided=True, weighted=True),
    ),
    Op(
        name="layernorm_scale",
        family="norm",
        summary="reciprocal standard deviation of each row",
        description="From the pairs (m, q) of `exx2`: 1 / sqrt(q - m^2 + eps), one per row, in a"
        " last dim of extent 1. eps is added in f32; computed in f32 and rounded once. If m is"
        " 0 throughout (`zero_mean`) this is the scale of RMS normalisation.",
        operands=(Operand("moments"),),
        results=(Result("scale"),),
        attributes=(Attribute("eps", "f64", 1e-5),),
        elements=FLOATS,
        constraints=(
            "the operand's last extent must be 2, and the result shape the operand shape with the"
            " last extent 1",
            ONE_ELEMENT,
            element_constraint(FLOATS),
        ),
        example=Example(("tensor<4x2xf16>",), ("tensor<4x1xf16>",), "eps = 1.0e-05 : f64"),
        rule="norm_scale",
        device=Device(functions=(("", "layernormscale"),), constants=(("eps", "eps"),)),
        tiling="pointwise",
        domain=domains.norm_scale,
    ),
    Op(
        name="layernorm_norm",
        family="norm",
        summary="normalises each row",
        description="(operand - m) * scale * weight + bias, where m is cell 0 of the row's pair"
        " from `exx2`, scale that of `layernorm_scale`, weight and bias run along the last dim."
        " Computed in f32 and rounded once.",
        operands=(
            Operand("input"),
            Operand("moments"),
            Operand("scale"),
            Operand("weight"),
            Operand("bias"),
        ),
        results=(Result("result"),),
        attributes=(),
        elements=FLOATS,
        constraints=(
            "operand and result must have one shape",
            "operands and result must have one element type",
            element_constraint(FLOATS),
            "moments must have the operand shape with the last extent 2, scale the one with the"
            " last extent 1",
            "weight and bias must have rank 1 and the operand's last extent",
        ),
        example=Example(
            (T, "tensor<4x2xf16>", "tensor<4x1xf16>", "tensor<8xf16>", "tensor<8xf16>"), (T,)
        ),
        rule="norm",
        device=Device(functions=(("", "layernormnorm"),)),
        tiling="pointwise",
        scalar=lambda np, x, m, scale, weight, bias: (x - m) * scale * weight + bias,
        domain=domains.norm,
    ),
)

_FACTORS = (*FLOATS, *FLOAT8, *INTEGERS)
_CONTRACT_CONSTRAINTS = (
    "both factors must have rank 2 or more",
    "the last extent of lhs must equal the last but one of rhs",
    "batch extents must broadcast, right-aligned, and the result shape must be batch x M x N",
    "both factors must have one element type, one of " + ", ".join(_FACTORS),
    "the result element type must be the factors' or f32 for f16 and bf16 factors, f16, bf16 or"
    " f32 for f8 factors, the factors' or i32 for i8, ui8 and i16 factors",
)
_ACCUMULATED = (
    " Products and sums are taken in f32 (integers in 64 bits), rounded (wrapped) once to the"
    " result's element type; the order of summation is not specified. K runs over the valid"
    " extent of lhs, which rhs must cover; over no k the sum is 0."
)
PRODUCTS = (*FLOATS, "i8", "i16", "i32", "i64", "ui8")
"""Element types that a matrix product may have."""

_CONTRACT = (
    Op(
        name="batch_matmul",
        family="contract",
        summary="matrix product, batched",
        description="result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]; leading"
        " dims broadcast." + _ACCUMULATED,
        operands=(Operand("lhs"), Operand("rhs")),
        results=(Result("result", PRODUCTS),),
        attributes=(),
        elements=_FACTORS,
        constraints=_CONTRACT_CONSTRAINTS,
        example=Example(("tensor<4x8xf16>", "tensor<8x16xf16>"), ("tensor<4x16xf16>",)),
        rule="contract",
        device=Device(
            functions=(
                ("f16", "batchmatmul"),
                ("bf16", "batchmatmul"),
            ),
            refusal="the device multiplies matrices of f16 and bf16; its batchmatmulfp8 and"
            " batchmatmulint8 read second factors with two dims in each stick, which no layout"
            " of the dialect states; cast the factors to f16",
        ),
        tiling="contraction",
        domain=domains.contract,
        combine=Combine("add"),
    ),
    Op(
        name="matmul_acc",
        family="contract",
        summary="matrix product added to an accumulator",
        description="accumulator + batch_matmul(lhs, rhs). The product is rounded to the"
        " accumulator's element type, then the sum is, as the two operations that it is lowered"
        " to. The result's region is the accumulator's; where the product's region ends"
        " short of it, the accumulator's value stays." + _ACCUMULATED,
        operands=(
            Operand("accumulator", role="accumulator", elements=PRODUCTS),
            Operand("lhs"),
            Operand("rhs"),
        ),
        results=(Result("result", PRODUCTS),),
        attributes=(),
        elements=_FACTORS,
        constraints=(
            *_CONTRACT_CONSTRAINTS,
            "accumulator and result must have one shape and one element type",
        ),
        example=Example(
            ("tensor<4x16xf16>", "tensor<4x8xf16>", "tensor<8x16xf16>"), ("tensor<4x16xf16>",)
        ),
        rule="accumulate",
        device=Device(decomposition=("batch_matmul", "add")),
        tiling="contraction",
        domain=domains.contract,
        combine=Combine("add", into="accumulator"),
    ),
)

_SCAN = (
    Op(
        name="topk",
        family="scan",
        summary="the k largest along a dim, with their positions",
        description="values: the k largest cells along `dim` in decreasing order; indices: their"
        " positions along `dim`, counted from 0. Equal cells keep their order. NaN counts as"
        " larger than everything. Only valid cells take part; at least k of them must be valid,"
        " provably, else when the program is run. Both results have extent k in the place of"
        " `dim`. Indices may have the values' element type: that is how the device writes them.",
        operands=(Operand("input"),),
        results=(Result("values"), Result("indices", (*INDICES, *FLOATS))),
        attributes=(Attribute("k", "i64"), Attribute("dim", "i64")),
        elements=NUMBERS,
        constraints=(
            "both results must have the operand shape with extent k at dim",
            "operand and values must have one element type",
            element_constraint(NUMBERS),
            "the element type of indices must be one of i16, i32, i64 or the values', and hold"
            " every position along dim",
            "dim must be in [0, rank)",
            "k must be in [1, extent of dim]",
        ),
        example=Example((T,), ("tensor<4x2xf16>", "tensor<4x2xi32>"), "dim = 1 : i64, k = 2 : i64"),
        rule="topk",
        device=Device(functions=(("values", "topkvalue"), ("indices", "topkindex"))),
        tiling="scan",
        domain=domains.topk,
    ),
)

OPS = (*_REDUCE, *_ARG, *_NORM, *_CONTRACT, *_SCAN)
