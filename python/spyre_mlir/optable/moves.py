# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move, name or generate cells and compute nothing, and the one that introduces a
symbol."""

from __future__ import annotations

from . import domains
from .model import (
    ALL,
    NUMBERS,
    Attribute,
    Device,
    DomainFunction,
    Example,
    Op,
    Operand,
    Result,
    element_constraint,
)

T = "tensor<4x8xf16>"
NARROW = "tensor<4x8xf16, #spyre.encoding<valid_shape = [3, 8]>>"
ONE_ELEMENT = "operands and result must have one element type"
OF_ANY = element_constraint(ALL)
INDICES = ("i16", "i32", "i64")
VIEW = " It names cells of its operand and reads none: a cell not yet written stays so."
PADS = ("zero", "min", "max")

_BY_ADDRESSES = Device()


def _move(
    name: str,
    summary: str,
    description: str,
    *,
    operands: tuple[Operand, ...],
    constraints: tuple[str, ...],
    example: Example,
    rule: str,
    tiling: str,
    attributes: tuple[Attribute, ...] = (),
    elements: tuple[str, ...] = ALL,
    device: Device = _BY_ADDRESSES,
    domain: DomainFunction | None = None,
    addresses: str | None = None,
) -> Op:
    return Op(
        name=name,
        family="move",
        summary=summary,
        description=description,
        operands=operands,
        results=(Result("result"),),
        attributes=attributes,
        elements=elements,
        constraints=constraints,
        example=example,
        rule=rule,
        device=device,
        tiling=tiling,
        domain=domain,
        addresses=addresses,
    )


_INPUT = (Operand("input"),)
_OFFSETS = Operand("offsets", role="index", kind="index", arity="many")
_STATIC_OFFSETS = Attribute("static_offsets", "i64_array")
_WINDOW = (
    "one offset a dim; literal offsets must be 0 or more and the window must lie inside the whole"
)

_LAYOUT = (
    _move(
        "restickify",
        "the same tensor with the stick on another dim",
        "The operand's cells in a buffer whose layout is that of the result's type: sticks of one"
        " dim become sticks of another. Shape, values and valid region stay.",
        operands=_INPUT,
        constraints=("operand and result must have one shape", ONE_ELEMENT, OF_ANY),
        example=Example((T,), (T,)),
        rule="restickify",
        tiling="move",
        device=Device(
            functions=tuple((element, "ReStickifyOpHBM") for element in ("f16", "bf16", "i1")),
            refusal="the device turns sticks of 16-bit floats only, as which i1 is kept too; cast to f16 before"
            " restickify, or choose the layout where the tensor is made",
        ),
        domain=domains.same,
    ),
)

_WINDOWS = (
    _move(
        "slice",
        "a window of a tensor",
        "result[i] = source[offset + i], in steps of one; the result's shape is the window's. An"
        " offset is a literal or an index value; in `static_offsets` the smallest i64 refers to the"
        " next index operand. The window must lie inside the source's shape, which an index value"
        " promises and the interpreter checks. The result's region is the part of the source's"
        " region that falls into the window." + VIEW,
        operands=(Operand("source"), _OFFSETS),
        constraints=("source and result must have one rank and one element type", _WINDOW, OF_ANY),
        example=Example(
            (T, "index"),
            ("tensor<2x8xf16>",),
            text=f"%0 = spyre.slice %arg0[%arg1, 0] : ({T}) -> tensor<2x8xf16>",
        ),
        rule="window",
        tiling="view",
        attributes=(_STATIC_OFFSETS,),
        domain=domains.window,
    ),
    _move(
        "insert_slice",
        "a tensor with a window overwritten",
        "The destination with destination[offset + i] = source[i] for exactly the valid cells of"
        " the source, which must lie provably inside the destination's valid box. The result has"
        " the destination's type. Where the destination has no other use the write is in place."
        " Cells of the destination are not read: one not yet written stays so unless overwritten.",
        operands=(
            Operand("source", role="source"),
            Operand("destination", role="target"),
            _OFFSETS,
        ),
        constraints=(
            "source and destination must have one rank and one element type, and the result the"
            " destination's type",
            _WINDOW,
            OF_ANY,
        ),
        example=Example(
            ("tensor<2x8xf16>", T, "index"),
            (T,),
            text="%0 = spyre.insert_slice %arg0 into %arg1[%arg2, 0] :"
            f" (tensor<2x8xf16>, {T}) -> {T}",
        ),
        rule="write",
        tiling="move",
        attributes=(_STATIC_OFFSETS,),
        device=Device(functions=(("", "identity"),)),
        domain=domains.write,
    ),
    _move(
        "set_valid_shape",
        "the same tensor with a narrower valid region",
        "Metadata only: the region is the one written, as in the result's type, and must provably"
        " lie inside the operand's. Layout and pad stay." + VIEW,
        operands=_INPUT,
        constraints=(
            "operand and result must differ in their valid region only",
            "the extents must be those of the result's type",
            OF_ANY,
        ),
        example=Example(
            (T,),
            (NARROW,),
            text=f"%0 = spyre.set_valid_shape %arg0 [3, 8] : ({T}) -> {NARROW}",
        ),
        rule="narrow",
        tiling="view",
        attributes=(Attribute("valid_shape", "extents"),),
        domain=domains.same,
    ),
)

_SHAPES = (
    _move(
        "reshape",
        "the same cells under another shape",
        "Cells in row-major order, read under the result's shape. A partial region must be"
        " exactly representable in the new shape." + VIEW,
        operands=_INPUT,
        constraints=(
            "operand and result must have the same number of elements",
            ONE_ELEMENT,
            OF_ANY,
        ),
        example=Example((T,), ("tensor<2x16xf16>",)),
        rule="reshape",
        tiling="view",
        addresses="operand and result have one row-major flat index",
    ),
    _move(
        "transpose",
        "permuted dims",
        "result dim i is operand dim permutation[i]; valid extents are permuted alike." + VIEW,
        operands=_INPUT,
        constraints=(
            "the result shape must be the operand shape permuted",
            ONE_ELEMENT,
            OF_ANY,
            "permutation must be a permutation of the operand's dims",
        ),
        example=Example((T,), ("tensor<8x4xf16>",), "permutation = [1, 0]"),
        rule="transpose",
        tiling="view",
        attributes=(Attribute("permutation", "i64_array"),),
        domain=domains.transpose,
    ),
    _move(
        "broadcast",
        "replicated along dims",
        "The operand, right-aligned, replicated along dims that it lacks or where its extent is"
        " 1. A replicated cell must be provably valid; the result is fully valid along"
        " replicated dims and keeps the operand's extents along the others." + VIEW,
        operands=_INPUT,
        constraints=(
            "the operand shape must broadcast, right-aligned, to the result shape",
            ONE_ELEMENT,
            OF_ANY,
        ),
        example=Example(("tensor<4x1xf16>",), (T,)),
        rule="broadcast",
        tiling="view",
        domain=domains.elementwise,
    ),
)

_JOINS = (
    _move(
        "concat",
        "tensors one after another along a dim",
        "The operands in order along `dim`. All but the last must be provably valid along `dim`;"
        " along the other dims all must have provably equal valid extents.",
        operands=(Operand("inputs", arity="many"),),
        constraints=(
            "there must be one operand or more",
            ONE_ELEMENT,
            OF_ANY,
            "dim must be in [0, rank)",
            "extents must be equal but along dim, where the result's is their sum",
        ),
        example=Example((T, T), ("tensor<8x8xf16>",), "dim = 0 : i64"),
        rule="concat",
        tiling="move",
        attributes=(Attribute("dim", "i64"),),
        device=Device(functions=(("", "identity"),)),
        addresses="one copy per operand, each written at the sum of the extents before it",
    ),
    _move(
        "gather",
        "cells picked along a dim by index",
        "result[a..., j..., b...] = source[a..., indices[j...], b...], with the index in the"
        " place of `dim`: the result shape is the source shape with the extent at `dim`"
        " replaced by the shape of `indices`. Every valid index must lie in [0, valid extent of"
        " the source at dim); another one is an error when the program is run.",
        operands=(Operand("source"), Operand("indices", role="index", elements=INDICES)),
        constraints=(
            "the result shape must be the source shape with the shape of indices in the place of"
            " dim",
            "source and result must have one element type",
            OF_ANY,
            element_constraint(INDICES, "element type of indices"),
            "dim must be in [0, rank of source)",
        ),
        example=Example((T, "tensor<3xi32>"), ("tensor<3x8xf16>",), "dim = 0 : i64"),
        rule="gather",
        tiling="move",
        domain=domains.gather,
        attributes=(Attribute("dim", "i64"),),
        device=Device(
            refusal="indirect addresses have no form in this compiler's SDSC; the nearest is"
            " batch_matmul with a one-hot matrix"
        ),
    ),
    _move(
        "scatter",
        "cells written along a dim by index",
        "The destination with destination[a..., indices[j], b...] = source[a..., j, b...], j at"
        " `dim`; of equal indices the last one wins. The result has the destination's type and"
        " region; a valid source cell must land inside it, which the interpreter checks."
        " Destination cells are not read.",
        operands=(
            Operand("source", role="source"),
            Operand("indices", role="index", elements=INDICES),
            Operand("destination", role="target"),
        ),
        constraints=(
            "destination and result must have one type, and source its rank and its extents but"
            " at dim",
            "source and destination must have one element type",
            OF_ANY,
            "indices must have rank 1 and the source's extent at dim",
            element_constraint(INDICES, "element type of indices"),
            "dim must be in [0, rank of destination)",
        ),
        example=Example(("tensor<2x8xf16>", "tensor<2xi32>", T), (T,), "dim = 0 : i64"),
        rule="scatter",
        tiling="move",
        domain=domains.scatter,
        attributes=(Attribute("dim", "i64"),),
        device=Device(
            refusal="indirect addresses have no form in this compiler's SDSC; the nearest is"
            " batch_matmul with a one-hot matrix, then select"
        ),
    ),
    _move(
        "sort",
        "sorted along a dim",
        "The valid cells along `dim` in increasing (or decreasing) order, in the valid positions."
        " NaN counts as larger than everything; equal cells keep their order.",
        operands=_INPUT,
        constraints=(
            "operand and result must have one shape",
            ONE_ELEMENT,
            element_constraint(NUMBERS),
            "dim must be in [0, rank)",
        ),
        example=Example((T,), (T,), "descending = true, dim = 1 : i64"),
        rule="sort",
        tiling="none",
        attributes=(Attribute("dim", "i64"), Attribute("descending", "bool", False)),
        elements=NUMBERS,
        device=Device(
            refusal="the device has no sort; the nearest is spyre.topk, which gives the largest"
            " in order"
        ),
        addresses="positions along dim depend on the values",
    ),
    _move(
        "fillpad",
        "padding filled, everything valid",
        "The operand's valid cells, and `pad` everywhere else: zero, or the smallest (min) or"
        " largest (max) value of the element type, an infinity where it has one. The result is"
        " fully valid. Its shape may be larger than the operand's, dim by dim.",
        operands=_INPUT,
        constraints=(
            "operand and result must have one rank, and no result extent below the operand's",
            ONE_ELEMENT,
            OF_ANY,
            "pad must be one of zero, min, max",
        ),
        example=Example((NARROW,), (T,), 'pad = "zero"'),
        rule="fillpad",
        tiling="move",
        attributes=(Attribute("pad", "string", choices=PADS),),
        device=Device(functions=(("", "identity"),)),
        domain=domains.same,
    ),
)

_GENERATORS = (
    _move(
        "full",
        "one value everywhere",
        "Every valid cell is the scalar operand.",
        operands=(Operand("value", kind="scalar"),),
        constraints=("value and result must have one element type", OF_ANY),
        example=Example(("f16",), (T,)),
        rule="generate",
        tiling="move",
        device=Device(functions=(("", "identity"),)),
        domain=domains.same,
    ),
    _move(
        "iota",
        "positions along a dim",
        "Every valid cell is start + its position along `dim`, rounded (wrapped) to the element"
        " type.",
        operands=(),
        constraints=(element_constraint(NUMBERS), "dim must be in [0, rank)"),
        example=Example((), (T,), "dim = 1 : i64, start = 0 : i64"),
        rule="generate",
        tiling="none",
        attributes=(Attribute("dim", "i64"), Attribute("start", "i64", 0)),
        elements=NUMBERS,
        device=Device(
            refusal="the device generates no positions; pass them as an argument of the function"
        ),
        domain=domains.same,
    ),
    _move(
        "empty",
        "a buffer not yet written",
        "A buffer of the result's type; the region in its type is the one that will be valid once"
        " filled. Reading a cell before it is written is an error when the program is run.",
        operands=(),
        constraints=(OF_ANY,),
        example=Example((), (T,)),
        rule="generate",
        tiling="view",
        addresses="none: nothing is read or written",
    ),
)

_SYMBOL = (
    Op(
        name="extent",
        family="symbol",
        summary="introduces a symbol",
        description="Binds the name of a symbol to an index value for this activation of the"
        " function. Stands in the entry block only, once per symbol. `range` declares the least and"
        " the largest value, both inclusive; the interpreter checks it.",
        operands=(Operand("value", role="index", kind="index"),),
        results=(),
        attributes=(
            Attribute("symbol", "string"),
            Attribute("range", "i64_array", optional=True),
        ),
        elements=(),
        constraints=(
            "a symbol must be introduced in the entry block of a function",
            "the symbol must be a name that is no reserved word, and the range [low, high] with low"
            " not above high",
        ),
        example=Example(("index",), (), text='spyre.extent "n" = %arg0 in [0, 64]'),
        rule="none",
        device=_BY_ADDRESSES,
        tiling="none",
        addresses="none: it binds a symbol",
    ),
)

OPS = (*_LAYOUT, *_WINDOWS, *_SHAPES, *_JOINS, *_GENERATORS, *_SYMBOL)
