# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Valid regions: which cells of a result hold data. One function, `infer`, for every operation.

The rule of an operation is named in the operation table and implemented here once. Builders and
`spyre-infer-valid-shapes` call it; the verifier pass derives again and compares. A rule accepts
only what is proved for all values of the symbols; everything else is a refusal of codes SPY070 to
SPY089, which names the operands, the dim, both extents, values that break the rule, a remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spyre_mlir.extents import Extent
from spyre_mlir.optable import OPS
from spyre_mlir.prover import NO_FACTS, Facts
from spyre_mlir.tensors import TensorType

from . import computed, moved, windows
from .agreement import POLICIES, Part, Region, broadcast_shape, combine, unite
from .boundaries import check, join
from .query import Query
from .refusals import RegionRefusal, spelled
from .reshaping import reshape, reshaped
from .windows import written

Rule = Callable[[Query], tuple[TensorType, ...]]

RULES: dict[str, Rule] = {
    "elementwise": computed.elementwise,
    "union": computed.union,
    "unary": computed.unchanged,
    "cast": computed.unchanged,
    "select": computed.select,
    "packed_predicate": computed.packed_predicate,
    "reduce": computed.reduce,
    "moments": computed.moments,
    "norm_scale": computed.norm_scale,
    "norm": computed.norm,
    "contract": computed.contract,
    "accumulate": computed.accumulate,
    "topk": computed.topk,
    "restickify": computed.restickify,
    "transpose": moved.transpose,
    "reshape": reshape,
    "broadcast": moved.broadcast,
    "window": windows.window,
    "write": windows.write,
    "narrow": moved.narrow,
    "fillpad": moved.fillpad,
    "concat": computed.concat,
    "gather": computed.gather,
    "scatter": computed.scatter,
    "sort": computed.unchanged,
    "generate": moved.generate,
    "none": computed.none,
}
"""Rule name of the operation table -> the rule. The docstring of a rule says what it does."""

_BY_OPERATION = {name: (op, RULES[op.rule]) for name, op in OPS.items()}
_KEEPS_TYPE = frozenset(
    name
    for name, op in OPS.items()
    if op.rule in ("elementwise", "unary")
    and op.results[0].elements is None
    and all(operand.role == "value" for operand in op.operands)
)


def infer(
    op: str,
    operands: Sequence[TensorType | Extent | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    policy: str = "agree",
    facts: Facts = NO_FACTS,
    results: Sequence[TensorType] | None = None,
) -> tuple[TensorType, ...]:
    """The result types of `spyre.<op>`.

    `operands`: a TensorType per tensor; None per scalar; per index value its extent, over hidden
    symbols of `facts` if types cannot name it, or None if nothing is known of it. `results` are the
    result types as written: shape, element type, layout and window flag are taken from there,
    regions and pads are derived; a type that is as derived is returned itself. Without them, shapes
    and element types follow from the operands, or are attributes "shape" and "element" where they
    do not.

    KeyError for an unknown operation or a missing attribute, ValueError for an unknown policy,
    RegionRefusal for everything that the rules refuse."""
    if results is not None and op in _KEEPS_TYPE and _kept(operands, results[0]):
        return (results[0],)
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is none of {', '.join(POLICIES)}")
    record, rule = _BY_OPERATION[op]
    try:
        return rule(Query(record, operands, attributes or {}, policy, facts, results))
    except (IndexError, ValueError) as error:  # a dim that an operand does not have
        shapes = [list(o.shape) for o in operands if isinstance(o, TensorType)]
        raise RegionRefusal(
            "SPY070",
            f"spyre.{op}: operands of shapes {', '.join(map(str, shapes))} do not fit each other,"
            " or the attributes",
        ) from error


def _kept(operands: Sequence[TensorType | Extent | None], written: TensorType) -> bool:
    """Whether every tensor has the shape and region of the result: most operations of a program."""
    if written.pad is not None:
        return False
    tensors = 0
    for operand in operands:
        if operand is None:
            continue
        if operand is not written and (
            not isinstance(operand, TensorType)
            or operand.shape != written.shape
            or operand.valid_shape != written.valid_shape
            or (written.layout is None and operand.layout is not None)
        ):
            return False
        tensors += 1
    return tensors > 0


__all__ = [
    "POLICIES",
    "RULES",
    "Part",
    "Query",
    "Region",
    "RegionRefusal",
    "Rule",
    "broadcast_shape",
    "check",
    "combine",
    "infer",
    "join",
    "reshaped",
    "spelled",
    "unite",
    "written",
]
