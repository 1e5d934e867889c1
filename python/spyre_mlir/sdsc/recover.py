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
from spyre_mlir.sdsc.model import Axis, Constant, Cut, Dim, Hbm, Lx, Mask, Operand, Sdsc


@dataclass(frozen=True, slots=True)
class _Document:
    """The body of a document, the path to it, and the extents and number of cores that it
    states."""

    body: dict[str, Any]
    path: Path
    extents: dict[str, int]
    cores: int


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


def recover(document: dict[str, Any], addresses: Mapping[int, Hbm]) -> Sdsc:
    """The SDSC of a document; `addresses` gives the address of each symbol id in the bundle.

    Fault where labels, orders, sizes or addresses do not fit together."""
    ((key, top),) = document.items()
    ((function, body),) = top["dscs_"][0].items()
    path: Path = (key, "dscs_", 0, function)
    dims = tuple(Dim(name[:-1], body["N_"][name]) for name in body["N_"] if name != "name_")
    state = _Document(body, path, {dim.label: dim.extent for dim in dims}, top["numCoresUsed_"])
    cut = _cut(state, top["coreIdToWkSlice_"], (key, "coreIdToWkSlice_"))
    count = len(body["labeledDs_"])
    if len(body["scheduleTree_"]) != count:
        raise Fault((*path, "scheduleTree_"), f"expected one node for each of {count} operands")
    constants = body["constantInfo_"]
    return Sdsc(
        function=function,
        unit=body["computeOp_"][0]["exUnit"],
        dims=dims,
        operands=tuple(_operand(state, index, dict(cut), addresses) for index in range(count)),
        cut=cut,
        reads_output=len(body["computeOp_"][0]["inputLabeledDs"]) == count,
        constants=()
        if isinstance(constants, str)
        else tuple(_constant(constant) for constant in constants.values()),
        mask=tuple(
            Mask(dim, ranges[0][0], ranges[0][1])
            for dim, ranges in body["coordinateMasking_"].items()
        ),
        provenance=top["debug_handle_"],
    )


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
    state: _Document, index: int, counts: dict[str, int], addresses: Mapping[int, Hbm]
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
        tuple(axes), stick, labeled["dataFormat_"], _place(state, node, node_path, addresses)
    )


def _gap(gaps: dict[str, str] | None, path: Path) -> int:
    if gaps is None:
        return 0
    if len(set(gaps.values())) != 1:
        raise Fault(path, "gaps differ between cores")
    return int(next(iter(gaps.values())))


def _place(
    state: _Document, node: dict[str, Any], path: Path, addresses: Mapping[int, Hbm]
) -> Hbm | Lx:
    starts = list(node["startAddressCoreCorelet_"]["data_"].values())
    if node["component_"] == "lx":
        table = node["coordinates_"]["coreIdToWkSlice_"]
        own = (*path, "coordinates_", "coreIdToWkSlice_")
        return Lx(int(starts[0]), _cut(state, table, own) if table else None)
    address = addresses.get(int(starts[0]))
    if address is None:
        raise Fault(
            (*path, "startAddressCoreCorelet_", "data_"),
            f"symbol {starts[0]} has no value in bundle.mlir",
        )
    return address


def _constant(constant: dict[str, Any]) -> Constant:
    return Constant(
        constant["name_"], constant["dataFormat_"], constant["data_"]["data_"]["[0, 0, 0]"][0]
    )
