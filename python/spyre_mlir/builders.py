# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders that derive result types: `builders.add(x, y)`.

One function per operation of the table, by its name. Operands are values; attributes are keywords with Python values;
what the operands do not tell is a keyword too (`shape=`, `element=`). The result type follows from the operation's
valid-region rule (`spyre_mlir.regions.infer`). The generated classes of `spyre_mlir.dialects.spyre` take result types
as they are given.

    with context, location, ir.InsertionPoint(block):
        total = builders.sum(builders.mul(x, y), dims=[1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from spyre_mlir import encodings, ir, regions
from spyre_mlir.optable import DYNAMIC, OPS
from spyre_mlir.prover import NO_FACTS, Facts

Result = Any
"""An `ir.Value`, a tuple of them for several results, None for an operation without."""


_assumed: ContextVar[Facts] = ContextVar("facts of builders", default=NO_FACTS)


@contextmanager
def assuming(facts: Facts) -> Iterator[None]:
    """What is known of symbols, where operations are built inside and say nothing else of it."""
    token = _assumed.set(facts)
    try:
        yield
    finally:
        _assumed.reset(token)


def build(
    name: str,
    *operands: ir.Value[Any],
    policy: str = "agree",
    facts: Facts | None = None,
    **given: Any,
) -> Result:
    """Builds `spyre.<name>` at the current insertion point.

    `policy` is that of valid regions, `facts` what is known of symbols (see `assuming`). KeyError for an unknown
    operation or attribute, RegionRefusal (SPY070 to SPY089) where regions do not agree, ir.MLIRError where the
    operation's constraints do not hold."""
    row = OPS[name]
    shaped: dict[str, Any] = {key: given.pop(key) for key in ("shape", "element") if key in given}
    values = row.attribute_values(given)
    types = regions.infer(
        name,
        [_type(value) for value in operands],
        {**values, **shaped},
        policy=policy,
        facts=_assumed.get() if facts is None else facts,
    )
    op = create(name, operands, [encodings.write(type) for type in types], **given)
    op.verify()
    results = tuple(op.results)
    return results[0] if len(results) == 1 else (results or None)


def create(
    name: str, operands: Sequence[ir.Value[Any]], types: Sequence[ir.Type], **given: Any
) -> ir.Operation:
    """`spyre.<name>` with result types as they are given, unverified; attributes as Python values."""
    return ir.Operation.create(
        f"spyre.{name}",
        results=list(types),
        operands=list(operands),
        attributes={
            a.name: _attribute(a.kind, a.name, given[a.name])
            for a in OPS[name].attributes
            if a.name in given
        },
    )


def _type(value: ir.Value[Any]) -> Any:
    return encodings.read(value.type) if isinstance(value.type, ir.RankedTensorType) else None


def _attribute(kind: str, name: str, value: Any) -> ir.Attribute:
    """A Python value as the attribute that the operation takes."""
    i64 = ir.IntegerType.get_signless(64)
    if kind == "i64":
        return ir.IntegerAttr.get(i64, value)
    if kind == "f64":
        return ir.FloatAttr.get(ir.F64Type.get(), float(value))
    if kind == "bool":
        return ir.BoolAttr.get(value)
    if kind == "extents":
        return ir.ArrayAttr.get(
            [ir.ExtentAttr.get(e if isinstance(e, (int, str)) else str(e)) for e in value]
        )
    if kind == "i64_array" and name in ("static_offsets", "range"):
        marker = ir.ShapedType.get_dynamic_stride_or_offset()
        return ir.DenseI64ArrayAttr.get([marker if v == DYNAMIC else v for v in value])
    if kind == "i64_array":
        return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, v) for v in value])
    return ir.StringAttr.get(value)


def __getattr__(name: str) -> Callable[..., Result]:
    if name.rstrip("_") not in OPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(build, name.rstrip("_"))


def __dir__() -> list[str]:
    return sorted(["assuming", "build", *OPS])
