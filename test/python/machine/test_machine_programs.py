# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host arrays to device bytes and back; bundles of programs, with constants and symbols."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spyre_mlir
from spyre_mlir import machine
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import parse
from spyre_mlir.layouts import Layout, address_of, coordinates_at, device_layout
from spyre_mlir.machine.formats import HOST
from spyre_mlir.sdsc.model import Axis, Bundle, Dim, Hbm, Operand, Sdsc, Symbolic
from spyre_mlir.tensors import TensorType

SHAPES = st.lists(st.integers(1, 70), min_size=0, max_size=3).map(tuple)


@given(shape=SHAPES, element=st.sampled_from(list(HOST)), data=st.data())
def test_arrays_come_back_and_padding_holds_no_data(
    shape: tuple[int, ...], element: str, data: st.DataObject
) -> None:
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    layout = device_layout(shape, element, order=order)
    rng = np.random.default_rng(0)
    array = (rng.integers(0, 2, shape) if element == "i1" else rng.integers(0, 8, shape)).astype(
        HOST[element]
    )
    valid = tuple(data.draw(st.integers(0, size)) for size in shape)
    buffer = machine.to_device(array, layout, valid)
    found, poison = machine.from_device(buffer, layout, shape, element)
    inside = np.zeros(shape, np.bool_)
    inside[tuple(slice(0, extent) for extent in valid)] = True
    assert (poison == ~inside).all()
    assert found.dtype == array.dtype and (found[inside] == array[inside]).all()
    assert (buffer.shadow == machine.DATA).sum() == inside.sum() * layout.element_bytes


@given(shape=SHAPES, data=st.data())
def test_every_cell_lies_where_the_layout_says(shape: tuple[int, ...], data: st.DataObject) -> None:
    layout = device_layout(shape, "f16")
    array = (np.arange(int(np.prod(shape))) % 2048).astype(np.float16).reshape(shape)
    flat = data.draw(st.integers(0, array.size - 1))
    lanes = machine.to_device(array, layout).bytes.view(np.float16)
    assert lanes[address_of(layout, coordinates_at(layout, flat)) // 2] == array.reshape(-1)[flat]


def test_cells_that_are_named_hold_no_data() -> None:
    layout, array = device_layout((2, 3), "i32"), np.arange(6, dtype=np.int32).reshape(2, 3)
    named = np.array([[False, True, False], [False, False, True]])
    buffer = machine.to_device(array, layout, poison=named)
    found, poison = machine.from_device(buffer, layout, (2, 3), "i32")
    assert (poison == named).all()
    assert (found[named] == np.iinfo(np.int32).max).all()


@pytest.mark.parametrize(
    ("array", "layout"),
    [
        (np.zeros((2, 3)), device_layout((2, 3), "f32")),
        (np.zeros((2, 3), np.float16), device_layout((2, 3), "f32")),
        (np.zeros((2, 200), np.float16), device_layout((2, 3), "f16")),
        (np.zeros((5, 3), np.float16), Layout((1, 4, 64), (-1, 3, 1))),
        (np.zeros((4, 3), np.float16), Layout((1, 4, 64), (-1, 3, -1))),
    ],
)
def test_layouts_that_do_not_hold_an_array(array: Any, layout: Layout) -> None:
    with pytest.raises(Refusal, match="SPY146"):
        machine.to_device(array, layout)


def test_a_buffer_of_another_size() -> None:
    with pytest.raises(Refusal, match="takes 256 bytes, the buffer has 128"):
        machine.from_device(machine.Buffer.empty(128), device_layout((2, 3), "f16"), (2, 3), "f16")


PROGRAM = """
func.func @f(%x: tensor<4x100xf16>) -> tensor<4x100xf16> {
  %half = arith.constant 0.5 : f16
  %0 = spyre.mul %x, %half : (tensor<4x100xf16>, f16) -> tensor<4x100xf16>
  return %0 : tensor<4x100xf16>
}
"""
KIND = TensorType((4, 100), "f16", device_layout((4, 100), "f16"))
X = np.random.default_rng(0).standard_normal((4, 100)).astype(np.float16)


def test_constants_come_from_the_bundle_or_its_folder(tmp_path: Path) -> None:
    bundle = spyre_mlir.compile(PROGRAM, cores=2)
    bundle.write(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "constants.json").read_text()) == {"1": 0.5}
    for source in (bundle, tmp_path / "out"):
        ((found, poison),) = machine.run_program(source, ([KIND], [KIND]), [X])
        assert (found == X / 2).all() and not poison.any()
    ((found, _),) = machine.run_program(bundle.files, ([KIND], [KIND]), [X], constants={1: 3.0})
    assert (found == (X.astype(np.float32) * 3).astype(np.float16)).all()


def test_a_result_without_data_says_who_wrote_it() -> None:
    bundle = spyre_mlir.compile(PROGRAM, cores=2)
    partly = replace(KIND, valid_shape=(3, 100))
    with pytest.raises(Refusal) as caught:
        machine.run_program(bundle, ([partly], [KIND]), [X])
    assert str(caught.value).splitlines()[:2] == [
        "SPY144: cell [3, 0] of result 0 holds no data",
        "note: byte 384 of argument 2: written by sdsc_0.json on core 1",
    ]
    machine.run_program(bundle, ([partly], [partly]), [X])


def test_results_that_the_bundle_has_not() -> None:
    bundle = spyre_mlir.compile(PROGRAM, cores=2)
    with pytest.raises(Refusal, match="SPY144: the bundle writes nothing to result 1"):
        machine.run_program(bundle, ([KIND], [KIND, KIND]), [X])
    with pytest.raises(Refusal, match=r"SPY146: a tensor of .* has no layout"):
        machine.run_program(bundle, ([KIND], [replace(KIND, layout=None)]), [X])


def symbolic(tag: str = "n + 1") -> Bundle:
    """Rows of 128 halves, 8 at most, in granules of 2 for 2 cores."""
    kinds = [
        Operand((Axis("out"), Axis("mb")), "out", "SEN169_FP16", Hbm(number)) for number in (0, 1)
    ]
    dims = (Dim("mb", 8, Symbolic(tag, 2)), Dim("out", 128))
    return Bundle((Sdsc("neg", "sfp", dims, tuple(kinds), (("mb", 2), ("out", 1))),))


@pytest.mark.parametrize(("n", "rows"), [(-1, 0), (0, 2), (1, 2), (2, 4), (6, 8), (7, 8)])
def test_symbolic_extents_run_in_granules(n: int, rows: int) -> None:
    x = np.random.default_rng(1).standard_normal((8, 128)).astype(np.float16)
    given = [machine.Buffer.of(x.reshape(-1).view(np.uint8)), machine.Buffer.empty(x.nbytes)]
    done = machine.run_bundle(symbolic(), given, symbols={"n": n})
    found = done.arguments[1]
    assert (found.bytes.view(np.float16).reshape(8, 128)[:rows] == -x[:rows]).all()
    assert (found.shadow.reshape(8, 256)[:rows] == machine.DATA).all()
    assert (found.shadow.reshape(8, 256)[rows:] == machine.UNWRITTEN).all()
    assert done.touched[0].read.sum() == 2 * rows


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ({}, "SPY134: the symbol n has no value"),
        ({"n": 8}, "SPY134: n \\+ 1 is 9, and the bundle is laid out for up to 8"),
    ],
)
def test_values_of_symbols_that_do_not_fit(symbols: dict[str, int], message: str) -> None:
    given = [np.zeros(2048, np.uint8)] * 2
    with pytest.raises(Refusal, match=message):
        machine.run_bundle(symbolic(), given, symbols=symbols)


def test_the_box_of_a_program_follows_its_symbols() -> None:
    bundle = symbolic("n")
    rows = parse("n")
    kind = TensorType((8, 128), "f16", Layout((8, 2, 64), (128, 64, 1)), valid_shape=(rows, 128))
    x = np.ones((8, 128), np.float16)
    ((found, poison),) = machine.run_program(bundle, ([kind], [kind]), [x], symbols={"n": 3})
    assert (found[:3] == -1).all() and not poison[:3].any() and poison[3:].all()
