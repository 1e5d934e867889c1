# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of operations that rename or state cells. A view keeps the pad: it still holds."""

from __future__ import annotations

from spyre_mlir.extents import Extent, parse
from spyre_mlir.prover import equal, less_equal
from spyre_mlir.tensors import TensorType

from .boundaries import check
from .query import Query
from .refusals import RegionRefusal, counterexample, spelled

Results = tuple[TensorType, ...]


def transpose(query: Query) -> Results:
    """Extents are permuted as the dims are."""
    tensor, order = query.tensor(0), query.attribute("permutation")
    shape = tuple(tensor.shape[dim] for dim in order)
    region = tuple(tensor.valid[dim] for dim in order)
    return (query.made(shape, region, pad=tensor.pad),)


def broadcast(query: Query) -> Results:
    """Full along replicated dims, whose one cell is provably valid (SPY073); else the operand's."""
    tensor, shape = query.tensor(0), query.stated_shape()
    lead = len(shape) - tensor.rank
    if lead < 0 or any(
        held not in (1, size) for held, size in zip(tensor.shape, shape[lead:], strict=True)
    ):
        raise RegionRefusal(
            "SPY070",
            f"{query.name}: shape {spelled(tensor.shape)} does not broadcast to {spelled(shape)}",
        )
    region: list[Extent] = list(shape)
    for dim, (held, extent) in enumerate(zip(tensor.shape, tensor.valid, strict=True), start=lead):
        if held == shape[dim]:
            region[dim] = extent
            continue
        answer = equal(extent, 1, query.facts)
        if not answer.holds:
            raise RegionRefusal(
                "SPY073",
                f"{query.name}: the operand is replicated along dim {dim} from its one cell, but"
                f" its valid extent there is {extent}, which is not provably 1",
                notes=counterexample(answer, f"{extent} == 1"),
                remedy="make the cell valid, or fill the operand with spyre.fillpad first",
                dim=dim,
                labels=(query.label(0),),
                extents=(extent,),
                verdict=answer.verdict,
            )
    return (query.made(shape, tuple(region), pad=tensor.pad),)


def narrow(query: Query) -> Results:
    """The region that is written, provably inside the operand's (SPY082).

    Cells that leave the region hold data, so a pad that the operand promises is promised no more,
    unless the region stays."""
    tensor = query.tensor(0)
    region = tuple(
        parse(extent) if isinstance(extent, str) else extent
        for extent in query.attribute("valid_shape")
    )
    if len(region) != tensor.rank:
        raise RegionRefusal(
            "SPY071",
            f"{query.name}: {spelled(region)} has {len(region)} extents, the tensor has rank"
            f" {tensor.rank}",
        )
    for dim, (extent, held) in enumerate(zip(region, tensor.valid, strict=True)):
        for low, high in ((0, extent), (extent, held)):
            answer = less_equal(low, high, query.facts)
            if not answer.holds:
                raise RegionRefusal(
                    "SPY082",
                    f"{query.name}: extent {extent} of dim {dim} is not provably inside the"
                    f" operand's valid region {spelled(tensor.valid)}: {low} <= {high} is needed",
                    notes=counterexample(answer, f"{low} <= {high}"),
                    remedy=_narrow_remedy(extent, held),
                    dim=dim,
                    labels=(query.label(0),),
                    extents=(extent, held),
                    verdict=answer.verdict,
                )
    pad = tensor.pad if region == tensor.valid else None
    layout, window = tensor.layout, tensor.window
    return (query.made(tensor.shape, region, pad=pad, layout=layout, window=window),)


def _narrow_remedy(extent: Extent, held: Extent) -> str:
    if isinstance(extent, int):
        return "only a part of the valid region can be named; spyre.fillpad makes cells valid"
    names = ", ".join(extent.symbols)
    return f"use min({extent}, {held}), or declare a range of {names} that keeps it inside"


def fillpad(query: Query) -> Results:
    """Everything valid; the result's shape may be larger. The pad that was written is recorded."""
    tensor = query.tensor(0)
    grown = query.stated is not None or "shape" in query.attributes
    shape = query.stated_shape() if grown else tensor.shape
    for dim, (held, size) in enumerate(zip(tensor.shape, shape, strict=True)):
        if size < held:
            raise RegionRefusal(
                "SPY070",
                f"{query.name}: dim {dim} would shrink from {held} to {size} elements",
                remedy="take a part with spyre.slice first",
                dim=dim,
                extents=(held, size),
            )
    return (query.made(shape, shape, pad=query.attribute("pad")),)


def generate(query: Query) -> Results:
    """The region is the one that the result's type states; it must provably fit (SPY071)."""
    if query.stated is not None:
        stated = query.stated[0]
    else:
        region = query.attributes.get("valid_shape")
        shape = query.stated_shape()
        stated = TensorType(shape, query.element(), valid_shape=region and tuple(region))
    check(stated, query.facts, what=f"{query.name}: the result", proved=True)
    return (query.made(stated.shape, stated.valid, layout=stated.layout, window=stated.window),)
