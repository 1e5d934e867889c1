# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed layouts, resized layouts, coordinates, extents and spans. None is out of scope.

Resized layouts and coordinates run under `policy = seed`, which restates the reference literally;
an extent is the exact one wherever the reference can tell one at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spyre_mlir import seed_layouts
from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.cases.outcomes import Case, Handler, Outcome
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import device_format
from spyre_mlir.layouts import Layout, device_layout, retile, stick_dim
from spyre_mlir.quasiaffine import parse
from spyre_mlir.spans import spans
from spyre_mlir.value_ranges import value_range

ELEMENTS = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
}
"""The cases' names of element types -> ours."""


def layout_of(record: Mapping[str, Any]) -> Layout:
    """The device layout that a record describes by `device_size` and `stride_map`."""
    return Layout(tuple(record["device_size"]), tuple(record["stride_map"]))


def access_of(record: Mapping[str, Any]) -> tuple[Access, dict[str, int]]:
    """The access that a record describes by `dep` and `layout`, and the extents of its symbols."""
    dep, layout = record["dep"], record["layout"]
    access = Access(
        dep["buffer"],
        dep["buffer"],
        layout_of(layout),
        ELEMENTS[layout["dtype"]],
        parse(dep["index"]),
        record.get("role") == "output",
        tuple(layout["host_size"]),
        tuple(layout["host_stride"]),
    )
    return access, dict(dep["ranges"])


def _default(case: Case) -> Outcome:
    inputs, expected = case["inputs"], case["expected"]
    element = ELEMENTS.get(inputs["dtype"], inputs["dtype"])
    strides, order = inputs.get("host_stride"), inputs.get("dim_order")
    layout = device_layout(inputs["host_size"], element, strides=strides, order=order)
    full = {
        "device_size": list(layout.device_size),
        "stride_map": list(layout.stride_map),
        "device_dtype": device_format(element).name,
        "elems_per_stick": layout.elements_per_stick,
    }
    return Outcome(expected, {key: full.get(key) for key in expected})


def _sizes(layout: Layout) -> dict[str, Any]:
    return {"device_size": list(layout.device_size), "stride_map": list(layout.stride_map)}


def _resize(case: Case) -> Outcome:
    inputs = case["inputs"]
    layout, old, new = layout_of(inputs), inputs["old_host"], inputs["new_host"]
    try:
        got = _sizes(seed_layouts.resize(layout, old, new))
    except Refusal as refusal:
        ambiguous = "ambiguous" in refusal.message
        got = {
            "kind": "error",
            "reason_code": "STICK_DIM_AMBIGUOUS" if ambiguous else refusal.code,
        }
    beside = {"default_policy": _sizes(retile(layout, old, new))}
    return Outcome(case["expected"], got, beside=beside)


def _coordinates(case: Case) -> Outcome:
    inputs = case["inputs"]
    layout, index, ranges = layout_of(inputs), parse(inputs["index"]), inputs["ranges"]
    got = [str(c) for c in seed_layouts.coordinates(layout, index, ranges)]
    exact: Any
    try:
        found = device_coordinates(Access("index", "", layout, "f16", index), ranges)
        exact = [str(c) for c in found]
    except Refusal as refusal:
        exact = str(refusal)
    expected = [str(parse(text)) for text in case["expected"]]
    return Outcome(expected, got, beside={"default_policy": exact})


def _extent(case: Case) -> Outcome:
    inputs = case["inputs"]
    if "args" in inputs:
        coordinate, dep, splits = inputs["args"]
        ranges = dict(dep["ranges"])
    else:
        coordinate, ranges, splits = inputs["coord"], inputs["ranges"], inputs["splits"]
    expected = case.get("expected_exact", case["expected"])
    expression = parse(coordinate)
    known = all(
        ranges.get(symbol, 0) > 0 and ranges[symbol] % splits.get(symbol, 1) == 0
        for symbol in expression.symbols()
    )
    got, exact = None, None
    if known:
        extents = {symbol: extent // splits.get(symbol, 1) for symbol, extent in ranges.items()}
        exact = value_range(expression, extents).extent
        if seed_layouts.extent(expression, extents) is not None:
            got = exact
    return Outcome(expected, {"kind": "value", "value": got}, beside={"exact": exact})


def _stick(case: Case) -> Outcome:
    (tensor,) = case["inputs"]["args"]
    steps = tuple(tensor["device_layout"]["stride_map"])
    got = stick_dim(Layout((1,) * len(steps), steps), tensor["stride"])
    return Outcome(case["expected"], {"kind": "value", "value": got})


def _spans(case: Case) -> tuple[str, ...]:
    """Every operand of a program's operations: coordinates, extents and spans, before tiling."""
    return tuple(
        f"{op['buffer']}: {operand['dep']['buffer']}: {text}"
        for op in case["ops"]
        for operand in (op.get("output"), *op.get("inputs", ()))
        if operand is not None
        for text in _operand(operand)
    )


def _operand(record: Mapping[str, Any]) -> Iterator[str]:
    access, extents = access_of(record)
    ours = [str(c) for c in device_coordinates(access, extents)]
    theirs = [str(parse(text)) for text in record["device_coordinates"]]
    if ours != theirs:
        yield f"coordinates {ours} instead of {theirs}"
    found = [
        (s.device_dim, s.extent, s.stride_bytes, s.bytes, s.symbols) for s in spans(access, extents)
    ]
    # The records count host bytes; a span is made of device bytes.
    width = access.layout.element_bytes
    expected = []
    for seen in record["spans"]:
        extent = seen["exact_extent"]
        stride = seen.get("full_stride_elems", seen["stride_elems"]) * width
        symbols = tuple(sorted([*seen["output_symbols"], *seen["other_symbols"]]))
        expected.append((seen["device_dim"], extent, stride, extent * stride, symbols))
        plain = seen["stride_elems"] * width == stride and record["layout"]["itemsize"] == width
        if plain and seen["span_bytes"] != extent * stride:
            yield f"{seen['span_bytes']} bytes observed, {extent * stride} from its extent"
    if found != expected:
        yield f"spans {found} instead of {expected}"


HANDLERS: dict[str, Handler] = {
    "layout.default": _default,
    "layout.dim_order": _default,
    "layout.resize": _resize,
    "coords": _coordinates,
    "span_elems": _extent,
    "stick_dim": _stick,
    "spans": _spans,
}
"""Category -> what runs its cases; `spans` hands back the differences, one sentence each."""
