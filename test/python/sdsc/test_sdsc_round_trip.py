# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing are each the inverse of the other: on observed bundles and on generated
ones."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import FOLDERS, name, texts

from spyre_mlir.sdsc.bundle import write_text
from spyre_mlir.sdsc.emit import emit
from spyre_mlir.sdsc.load import load, read_texts
from spyre_mlir.sdsc.model import (
    Axis,
    Bundle,
    Constant,
    Dim,
    Hbm,
    Loop,
    Lx,
    Operand,
    PoolBuffer,
    Sdsc,
)
from spyre_mlir.sdsc.write import files


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_an_observed_bundle_is_written_as_it_was_read(folder: Path) -> None:
    """Text and JSON (key order included) up to white space."""
    observed = texts(folder)
    written = files(load(folder))
    assert written.keys() == observed.keys()
    assert written["bundle.mlir"].split() == observed["bundle.mlir"].split()
    for file, text in observed.items():
        if file.endswith(".json"):
            assert json.dumps(json.loads(written[file])) == json.dumps(json.loads(text)), file


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_an_observed_bundle_is_read_as_it_was_written(folder: Path) -> None:
    bundle = load(folder)
    reading = read_texts(files(bundle))
    assert reading.findings == ()
    assert reading.bundle == bundle


def test_files_are_the_same_bytes_each_time() -> None:
    for folder in FOLDERS[:10]:
        assert list(files(load(folder)).items()) == list(files(load(folder)).items())


@st.composite
def sdscs(draw: st.DrawFn, loops: int) -> Sdsc:
    """An operation on 1 to 4 dims with operands of any order, gaps, places and formats."""
    labels = draw(
        st.sampled_from([("out",), ("mb", "out"), ("mb", "x", "out"), ("mb", "x", "y", "out")])
    )
    formats = ("SEN169_FP16", "IEEE_FP32", "SEN143_FP8")
    format = draw(st.sampled_from(formats))
    sticks = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True))
    slices = {label: draw(st.sampled_from([1, 1, 2, 3])) for label in labels}
    extents = {
        label: slices[label] * draw(st.integers(1, 3)) * (128 if label in sticks else 1)
        for label in labels
    }
    order = draw(st.permutations(labels))
    operands = []
    for _ in range(draw(st.integers(2, 4))):
        stick = draw(st.sampled_from(sticks))
        axes = []
        for label in draw(st.permutations(labels)):
            iterates = draw(st.booleans())
            unit = 128 if label == stick else 1
            axes.append(
                Axis(
                    label,
                    iterates,
                    draw(st.sampled_from([0, 0, unit, 3 * unit])) if iterates else 0,
                )
            )
        operands.append(Operand(tuple(axes), stick, format, draw(places(loops, slices, order))))
    return Sdsc(
        function=draw(st.sampled_from(["add", "exp", "sum"])),
        unit="sfp",
        dims=tuple(Dim(label, extents[label]) for label in labels),
        operands=tuple(operands),
        cut=tuple((label, slices[label]) for label in order),
        reads_output=draw(st.booleans()),
        constants=tuple(
            draw(
                st.lists(
                    st.builds(
                        Constant,
                        st.sampled_from(["eps", "clipMin"]),
                        st.just(format),
                        st.integers(0, 2**32 - 1),
                    ),
                    max_size=2,
                )
            )
        ),
    )


def places(loops: int, slices: dict[str, int], order: list[str]) -> st.SearchStrategy[Hbm | Lx]:
    """A place in an argument, the pool or the scratchpad."""
    bytes = st.integers(0, 8).map(lambda sticks: 128 * sticks)
    advances = st.one_of(
        st.just(()), st.tuples(*[bytes] * loops).map(lambda steps: steps if any(steps) else ())
    )
    reversed_cut = tuple((label, slices[label]) for label in reversed(order))
    return st.one_of(
        st.builds(Hbm, st.sampled_from([0, 1, 2, "pool"]), bytes, advances),
        st.builds(Lx, bytes, st.sampled_from([None, reversed_cut])),
    )


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    """Operations before, in and behind up to two nested loops."""
    body: tuple[Sdsc | Loop, ...] = tuple(draw(st.lists(sdscs(2), min_size=1, max_size=2)))
    body = (*draw(st.lists(sdscs(1), max_size=1)), Loop(draw(st.integers(1, 9)), body))
    body = (*draw(st.lists(sdscs(0), max_size=1)), Loop(draw(st.integers(1, 9)), body))
    if draw(st.booleans()):
        body = (*body, Loop(2, (draw(sdscs(1)),)))
    in_pool = any(
        isinstance(operand.place, Hbm) and operand.place.buffer == "pool"
        for sdsc, _ in Bundle(body).operations()
        for operand in sdsc.operands
    )
    pool = st.builds(PoolBuffer, st.one_of(st.none(), st.integers(1, 10**6)))
    return Bundle(body, draw(pool) if in_pool else None)


@settings(max_examples=60, deadline=None)
@given(bundles())
def test_a_generated_bundle_is_read_as_it_was_written(bundle: Bundle) -> None:
    reading = read_texts(files(bundle))
    assert reading.findings == ()
    assert reading.bundle == bundle


def _start(sdsc: Sdsc, operand: Operand, core: int) -> int:
    """Bytes to the first element of a core's slice, by walking the device layout element by
    element."""
    at, rest = {}, core
    for label, count in sdsc.cut:
        at[label] = rest % count * (sdsc.extents[label] // count)
        rest //= count
    eps = operand.storage.elements_per_stick
    offset, inner = 0, 128
    for axis in operand.axes:
        unit = eps if axis.dim == operand.stick else 1
        size = (sdsc.extents[axis.dim] + axis.gap) // unit if axis.iterates else 1
        offset += inner * (at[axis.dim] // unit) if axis.iterates else 0
        inner *= size
    return offset


@settings(max_examples=60, deadline=None)
@given(sdscs(0))
def test_core_offsets_are_those_of_the_device_layout(sdsc: Sdsc) -> None:
    for operand in sdsc.operands:
        expected = [_start(sdsc, operand, core) for core in range(sdsc.cores)]
        assert sdsc.core_offsets(operand) == expected


def test_every_order_of_a_cut_is_read_back() -> None:
    axes = (Axis("mb"), Axis("x"), Axis("out"))
    for order, fastest in product(permutations(("mb", "x", "out")), (2, 4)):
        cut = tuple((label, fastest if k == 0 else k) for k, label in enumerate(order))
        sdsc = Sdsc(
            function="exp",
            unit="sfp",
            dims=(Dim("mb", 8), Dim("x", 8), Dim("out", 512)),
            operands=(
                Operand(axes, "out", "SEN169_FP16", Hbm(0)),
                Operand(axes, "out", "SEN169_FP16", Hbm(1)),
            ),
            cut=cut,
        )
        bundle = Bundle((sdsc,))
        assert read_texts(files(bundle)).bundle == bundle


def test_one_address_has_one_symbol_in_an_operation() -> None:
    axes = (Axis("mb"), Axis("out"))
    twice = Operand(axes, "out", "SEN169_FP16", Hbm(0))
    sdsc = Sdsc(
        function="mul",
        unit="sfp",
        dims=(Dim("mb", 4), Dim("out", 64)),
        operands=(twice, twice, Operand(axes, "out", "SEN169_FP16", Hbm(1))),
        cut=(("mb", 2), ("out", 1)),
    )
    document = emit(sdsc)
    nodes = document["0_mul"]["dscs_"][0]["mul"]["scheduleTree_"]
    starts = [list(node["startAddressCoreCorelet_"]["data_"].values()) for node in nodes]
    assert starts == [["-1", "-2"], ["-1", "-2"], ["-3", "-4"]]
    text = write_text(Bundle((sdsc,)))
    assert '"symbol_ids"=[-1, -2, -3, -4]' in text
