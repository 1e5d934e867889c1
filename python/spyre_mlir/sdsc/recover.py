# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the JSON of one SDSC back to the model: the facts, each from one place of the document.

The document has passed the schema. What it says elsewhere about the same facts is not looked at
here: the reader emits the result again and compares. So only what would make that impossible is a
`Fault`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from spyre_mlir.formats import FORMATS
from spyre_mlir.sdsc.findings import Fault, Path
from spyre_mlir.sdsc.model import (
    Axis,
    Constant,
    Cut,
    Dim,
    Hbm,
    Lx,
    Mask,
    Operand,
    Sdsc,
    Symbolic,
)
from spyre_mlir.sdsc.parse import Given, Value


@dataclass(frozen=True, slots=True)
class _Document:
    """The body of a document, the path to it, and the extents and number of cores that it
    states."""

    body: dict[str, Any]
    path: Path
    extents: dict[str, int]
    cores: int
    tags: dict[str, str]


def start_symbols(document: dict[str, Any]) -> list[list[int]]:
    """Per operand in device memory: the symbol ids of its start, core by core. Others have an empty
    list."""
    ((_, top),) = document.items()
    ((_, body),) = top["dscs_"][0].items()
    return [
        [int(symbol) for symbol in node["startAddressCoreCorelet_"]["data_"].values()]
        if node["component_"] == "hbm"
        else []
        for node in body["scheduleTree_"]
    ]


def recover(document: dict[str, Any], values: Mapping[int, Value]) -> Sdsc:
    """The SDSC of a document; `values` gives the value of each symbol id in the bundle.

    Fault where labels, orders, sizes or addresses do not fit together."""
    ((key, top),) = document.items()
    ((function, body),) = top["dscs_"][0].items()
    path: Path = (key, "dscs_", 0, function)
    dims = tuple(Dim(name[:-1], body["N_"][name]) for name in body["N_"] if name != "name_")
    extents = {dim.label: dim.extent for dim in dims}
    tags = top.get("inputSymbolsAndTags_", {})
    state = _Document(body, path, extents, top["numCoresUsed_"], tags)
    cut = _cut(state, top["coreIdToWkSlice_"], (key, "coreIdToWkSlice_"))
    count = len(body["labeledDs_"])
    if len(body["scheduleTree_"]) != count:
        raise Fault((*path, "scheduleTree_"), f"expected one node for each of {count} operands")
    constants = body["constantInfo_"]
    return Sdsc(
        function=function,
        unit=body["computeOp_"][0]["exUnit"],
        dims=tuple(Dim(d.label, d.extent, _symbolic(state, d, dict(cut))) for d in dims),
        operands=tuple(_operand(state, index, dict(cut), values) for index in range(count)),
        cut=cut,
        reads_output=len(body["computeOp_"][0]["inputLabeledDs"]) == count,
        constants=()
        if isinstance(constants, str)
        else tuple(_constant(constant) for constant in constants.values()),
        mask=tuple(
            _mask(state, dim, ranges[0], values)
            for dim, ranges in body["coordinateMasking_"].items()
        ),
        provenance=top["debug_handle_"],
    )


def _symbolic(state: _Document, dim: Dim, counts: Mapping[str, int]) -> Symbolic | None:
    """What a document says of a symbolic dim, None for any other."""
    symbols = state.body.get("dimToSymbolMapping_", {}).get(dim.label)
    if symbols is None:
        return None
    place = (*state.path, "dataStageParam_", "0", "ss_", "symbolicDimInfo_")
    info = state.body["dataStageParam_"]["0"]["ss_"]["symbolicDimInfo_"].get(dim.label)
    if info is None:
        raise Fault(place, f"the symbolic dim {dim.label} has no granularity")
    granularity = info["granularity_"] * counts[dim.label]
    if dim.extent % granularity:
        reason = f"{dim.label} = {dim.extent} is no multiple of {granularity}"
        raise Fault((*place, dim.label, "granularity_"), reason)
    path = (*state.path, "dimToSymbolMapping_", dim.label)
    return Symbolic(_tag(state, symbols[0], path), granularity)


def _tag(state: _Document, symbol: int, path: Path) -> str:
    if str(symbol) not in state.tags:
        raise Fault(path, f"symbol {symbol} has no tag")
    return state.tags[str(symbol)]


def _mask(state: _Document, dim: str, given: list[int], values: Mapping[int, Value]) -> Mask:
    """A mask; a negative number of valid elements is the symbol that gives it."""
    valid, pad = given
    if valid > 0:
        return Mask(dim, valid, pad)
    path = (*state.path, "coordinateMasking_", dim)
    passed = values.get(valid)
    if not isinstance(passed, Given):
        raise Fault(path, f"symbol {valid} is no extent that bundle.mlir passes")
    return Mask(dim, passed.maximum, pad, _tag(state, valid, path))


def _cut(state: _Document, table: dict[str, dict[str, int]], path: Path) -> Cut:
    """The cut that a table of slices per core spells out; its keys stand fastest first."""
    counts: dict[str, int] = {}
    for slices in table.values():
        for label, index in slices.items():
            counts[label] = max(counts.get(label, 1), index + 1)
    if counts.keys() != state.extents.keys():
        raise Fault(path, f"dims {', '.join(counts)}, expected {', '.join(state.extents)}")
    for label, count in counts.items():
        if state.extents[label] % count:
            raise Fault(path, f"{count} slices do not divide {label} = {state.extents[label]}")
    if prod(counts.values()) != state.cores:
        raise Fault(path, f"slices of {prod(counts.values())} cores, for {state.cores} cores")
    return tuple(counts.items())


def _operand(
    state: _Document, index: int, counts: dict[str, int], values: Mapping[int, Value]
) -> Operand:
    body = state.body
    node, labeled = body["scheduleTree_"][index], body["labeledDs_"][index]
    node_path = (*state.path, "scheduleTree_", index)
    labeled_path = (*state.path, "labeledDs_", index)
    layout = body["primaryDsInfo_"].get(labeled["dsType_"])
    if layout is None:
        raise Fault((*labeled_path, "dsType_"), f"no layout class {labeled['dsType_']}")
    canonical, order = layout["layoutDimOrder_"], node["layoutDimOrder_"]
    (stick,) = layout["stickDimOrder_"]
    if sorted(canonical) != sorted(order) or stick not in order:
        raise Fault(
            (*node_path, "layoutDimOrder_"),
            f"dims {', '.join(order)} are not those of class {labeled['dsType_']}",
        )
    if len(labeled["scale_"]) != len(canonical):
        raise Fault((*labeled_path, "scale_"), f"expected {len(canonical)} entries")
    scales = dict(zip(canonical, labeled["scale_"], strict=True))
    eps = FORMATS[labeled["dataFormat_"]].elements_per_stick
    axes = []
    for dim in order:
        if dim not in state.extents:
            raise Fault((*node_path, "layoutDimOrder_"), f"{dim} is no dim of the operation")
        gap = _gap(node.get("backGapCore_", {}).get(dim), (*node_path, "backGapCore_", dim))
        axis = Axis(dim, scales[dim] == 1, gap)
        unit = eps if dim == stick and axis.iterates else 1
        if state.extents[dim] // counts.get(dim, 1) % unit or gap % unit:
            raise Fault((*node_path, "layoutDimOrder_"), f"{dim} is cut inside a stick of {unit}")
        axes.append(axis)
    return Operand(
        tuple(axes), stick, labeled["dataFormat_"], _place(state, node, node_path, values)
    )


def _gap(gaps: dict[str, str] | None, path: Path) -> int:
    if gaps is None:
        return 0
    if len(set(gaps.values())) != 1:
        raise Fault(path, "gaps differ between cores")
    return int(next(iter(gaps.values())))


def _place(
    state: _Document, node: dict[str, Any], path: Path, values: Mapping[int, Value]
) -> Hbm | Lx:
    starts = list(node["startAddressCoreCorelet_"]["data_"].values())
    if node["component_"] == "lx":
        table = node["coordinates_"]["coreIdToWkSlice_"]
        own = (*path, "coordinates_", "coreIdToWkSlice_")
        return Lx(int(starts[0]), _cut(state, table, own) if table else None)
    address = values.get(int(starts[0]))
    if not isinstance(address, Hbm):
        reason = (
            "no value in bundle.mlir" if address is None else "a value that is no fixed address"
        )
        place = (*path, "startAddressCoreCorelet_", "data_")
        raise Fault(place, f"symbol {starts[0]} of core 0 has {reason}")
    return address


def _constant(constant: dict[str, Any]) -> Constant:
    return Constant(
        constant["name_"], constant["dataFormat_"], constant["data_"]["data_"]["[0, 0, 0]"][0]
    )
