# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts as values: worked examples of the reference's runtime, and cells placed one by one."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_layouts import random_placed

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import (
    Layout,
    address_of,
    contiguous_strides,
    coordinates_at,
    coordinates_of,
    device_layout,
    host_dims,
    host_index,
    offset_at,
    retile,
    stick_dim,
)

WORKED = [
    ([], [1, 64], [-1, -1]),
    ([1], [1, 64], [-1, -1]),
    ([5], [1, 64], [64, 1]),
    ([150], [3, 64], [64, 1]),
    ([1024, 256], [4, 1024, 64], [64, 256, 1]),
    ([3, 5], [1, 3, 64], [64, 5, 1]),
    ([100, 150], [3, 100, 64], [64, 150, 1]),
    ([64, 1], [1, 64, 64], [-1, 1, -1]),
    ([50, 10, 200], [10, 4, 50, 64], [200, 64, 2000, 1]),
    ([128, 256, 512], [256, 8, 128, 64], [512, 64, 131072, 1]),
    ([2, 20, 16, 64], [20, 16, 1, 2, 64], [1024, 64, 64, 20480, 1]),
    ([1, 8195, 256, 64], [8195, 256, 1, 1, 64], [16384, 64, 64, -1, 1]),
    ([4, 1, 7, 33], [1, 7, 1, 4, 64], [-1, 33, 64, 231, 1]),
    ([2, 2, 257, 64, 64], [2, 257, 64, 1, 2, 64], [1052672, 4096, 64, 64, 2105344, 1]),
]


@pytest.mark.parametrize(("shape", "size", "steps"), WORKED)
def test_default_layouts(shape: list[int], size: list[int], steps: list[int]) -> None:
    assert device_layout(shape, "f16") == Layout(tuple(size), tuple(steps))


@pytest.mark.parametrize(
    ("shape", "strides", "order", "size", "steps"),
    [
        ([128, 256], None, (1, 0), [2, 256, 64], [16384, 1, 256]),
        ([256, 128], (1, 256), (1, 0), [4, 128, 64], [64, 256, 1]),
        ([128, 256], None, (0, 1, -1), [256, 1, 128, 64], [1, -1, 256, -1]),
        ([128], None, (0, -1), [1, 128, 64], [-1, 1, -1]),
        ([8, 16, 32], None, (2, 0, 1), [8, 1, 32, 64], [512, 2048, 1, 32]),
    ],
)
def test_dim_orders(
    shape: list[int],
    strides: tuple[int, ...] | None,
    order: tuple[int, ...],
    size: list[int],
    steps: list[int],
) -> None:
    layout = device_layout(shape, "f16", strides=strides, order=order)
    assert layout == Layout(tuple(size), tuple(steps))
    assert layout.sparse == (order[-1] == -1)


def test_figures_of_a_layout() -> None:
    layout = device_layout((1024, 256), "f32", arrangement="STANDARD")
    assert layout == Layout((8, 1024, 32), (32, 256, 1), None, "STANDARD")
    assert (layout.bytes, layout.element_bytes, layout.elements_per_stick) == (1 << 20, 4, 32)
    assert layout.stored_as("f32").name == "IEEE_FP32"
    assert Layout((1, 64), (64, 1), "SENINT16").stored_as("f16").name == "SENINT16"
    assert str(layout) == "[8, 1024, 32] : [32, 256, 1]"


@pytest.mark.parametrize(
    ("shape", "element", "options"),
    [
        ((2,) * 7, "f16", {}),
        ((4, 4), "f64", {}),
        ((4, 4), "f16", {"order": (0,)}),
        ((4, 4), "f16", {"order": (0, 0)}),
        ((4, 4), "f16", {"order": (-1, 0, 1)}),
        ((4, 4), "f16", {"strides": (1,)}),
        ((4, 0), "f16", {}),
        ((), "f16", {"order": (-1,)}),
    ],
)
def test_what_no_layout_holds(shape: tuple[int, ...], element: str, options: dict) -> None:
    with pytest.raises(Refusal) as refused:
        device_layout(shape, element, **options)
    assert refused.value.code == "SPY027"


def test_six_dims_and_sparse_six_dims() -> None:
    assert device_layout((2, 3, 4, 5, 6, 7), "f16").device_size == (3, 4, 5, 6, 1, 2, 64)
    sparse = device_layout((2, 3, 4, 5, 6, 7), "f16", order=(0, 1, 2, 3, 4, 5, -1))
    assert sparse.device_size == (3, 4, 5, 6, 7, 1, 2, 64)


def test_stick_dims() -> None:
    assert stick_dim(device_layout((128, 256), "f16"), (256, 1)) == 1
    assert stick_dim(device_layout((128, 256), "f16", order=(1, 0)), (256, 1)) == 0
    assert stick_dim(device_layout((128, 256), "f16", order=(0, 1, -1)), (256, 1)) is None
    assert stick_dim(device_layout((64, 1), "f16"), (1, 1)) is None
    # Of two dims of one stride the first is named.
    assert stick_dim(Layout((1, 64), (64, 1)), (1, 1)) == 0


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 40))
def test_host_offsets_device_coordinates_and_addresses_are_one_to_one(seed: int) -> None:
    placed = random_placed(random.Random(seed), most=70)
    layout = placed.layout
    seen = {}
    for index in product(*map(range, placed.shape)):
        offset = sum(i * stride for i, stride in zip(index, placed.strides, strict=True))
        coordinates = placed.coordinates(index)
        assert coordinates_at(layout, offset) == coordinates
        assert offset_at(layout, coordinates) == offset
        assert host_index(layout, placed.shape, coordinates, strides=placed.strides) == index
        address = address_of(layout, coordinates)
        assert address % layout.element_bytes == 0
        assert coordinates_of(layout, address) == coordinates
        seen[address] = index
    # Every other cell of device memory is padding.
    for address in range(0, layout.bytes, layout.element_bytes):
        cell = coordinates_of(layout, address)
        found = host_index(layout, placed.shape, cell, strides=placed.strides)
        assert found == seen.get(address)


def test_addresses_outside() -> None:
    layout = device_layout((4, 64), "f16")
    with pytest.raises(IndexError):
        coordinates_of(layout, layout.bytes)
    with pytest.raises(IndexError):
        coordinates_of(layout, -1)
    for offset in (-1, 4 * 64):
        with pytest.raises(Refusal, match="SPY025"):
            coordinates_at(layout, offset)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 40))
def test_a_tile_keeps_dim_order_and_stick(seed: int) -> None:
    draw = random.Random(seed)
    placed = random_placed(draw)
    tile = tuple(draw.randint(1, size) for size in placed.shape)
    found = retile(placed.layout, placed.shape, tile, strides=placed.strides)
    assert found == device_layout(tile, placed.element, order=placed.order)


def test_a_tile_keeps_blocking_format_and_unit_dims() -> None:
    rows = Layout((1, 8, 4, 256, 64), (-1, 4 * 16384, 16384, 64, 1), "SENINT16", "STANDARD")
    assert retile(rows, (32, 256, 64), (12, 100, 64)) == Layout(
        (1, 3, 4, 100, 64), (-1, 4 * 6400, 6400, 64, 1), "SENINT16", "STANDARD"
    )
    assert retile(rows, (32, 256, 64), (3, 256, 64)).device_size == (1, 1, 3, 256, 64)


def test_retiling_to_the_same_shape_changes_nothing() -> None:
    for shape, _, _ in WORKED[1:]:
        layout = device_layout(shape, "f16")
        assert retile(layout, shape, shape) == layout


def test_layouts_that_cannot_be_cut() -> None:
    with pytest.raises(Refusal, match="SPY028"):
        retile(device_layout((8, 64), "f16"), (8, 64), (9, 64))
    with pytest.raises(Refusal, match="SPY028"):
        retile(device_layout((8, 64), "f16"), (8, 64), (8,))
    with pytest.raises(Refusal, match="no host dim"):
        host_dims(Layout((8, 64), (96, 1)), (8, 64))


def test_host_dims_say_where_a_device_dim_runs() -> None:
    layout = device_layout((2, 20, 16, 128), "f16")
    assert host_dims(layout, (2, 20, 16, 128)) == ((1, 1), (2, 1), (3, 64), (0, 1), (3, 1))
    # One stick only: the number of sticks does not move.
    assert host_dims(device_layout((20, 64), "f16"), (20, 64)) == (None, (0, 1), (1, 1))
    assert contiguous_strides((2, 20, 16)) == (320, 16, 1)
