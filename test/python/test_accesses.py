# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Device coordinates and spans of accesses: worked examples, observed ones, and random views of
random layouts, where every cell is placed one by one."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_layouts import Placed, random_placed

from spyre_mlir.accesses import (
    Access,
    device_coordinates,
    flat_index,
    reshaped_indices,
    stick_symbols,
)
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Dim, Kernel, stick_granules, window_granules
from spyre_mlir.layouts import Layout, contiguous_strides, device_layout
from spyre_mlir.quasiaffine import Expression, parse, symbol
from spyre_mlir.spans import _linear_spans, _spans, spans, strides_bytes


def access(layout: Layout, index: Expression | str, element: str = "f16") -> Access:
    index = parse(index) if isinstance(index, str) else index
    return Access("operand", "buffer", layout, element, index)


ROWS = Layout((4, 128, 64), (64, 256, 1))


@pytest.mark.parametrize(
    ("layout", "index", "extents", "coordinates"),
    [
        (ROWS, "256*a + b", {"a": 128, "b": 256}, ["floor(b/64)", "a", "Mod(b, 64)"]),
        (ROWS, "a", {"a": 32768}, ["floor(Mod(a, 256)/64)", "floor(a/256)", "Mod(a, 64)"]),
        (ROWS, "256*a + b + 64", {"a": 128, "b": 64}, ["1", "a", "b"]),
        (ROWS, "a + 256*b", {"a": 256, "b": 128}, ["floor(a/64)", "b", "Mod(a, 64)"]),
        (
            Layout((16, 1, 8, 64), (64, 64, 1024, 1)),
            "64*a + b",
            {"a": 128, "b": 64},
            ["Mod(a, 16)", "0", "floor(a/16)", "b"],
        ),
        (
            Layout((16, 1, 8, 64), (64, 64, 1024, 1)),
            "2048*a + 64*b + c",
            {"a": 4, "b": 16, "c": 64},
            ["b", "0", "2*a", "c"],
        ),
        # A row is padded from 150 to 192 lanes: the flat index goes through the rows first.
        (
            Layout((3, 100, 64), (64, 150, 1)),
            "a",
            {"a": 15000},
            ["floor(Mod(a, 150)/64)", "floor(a/150)", "Mod(Mod(a, 150), 64)"],
        ),
        # Carries between symbols are kept.
        (
            ROWS,
            "32*a + b",
            {"a": 100, "b": 40},
            [
                "floor(Mod(32*a + b, 256)/64)",
                "floor((32*a + b)/256)",
                "Mod(32*a + b, 64)",
            ],
        ),
        # The remainder of a bounded index is the index.
        (
            Layout((1, 64, 64), (64, 64, 1)),
            "ModularIndexing(64*a + b, 1, 4096)",
            {"a": 64, "b": 64},
            ["0", "a", "b"],
        ),
    ],
)
def test_worked_coordinates(
    layout: Layout, index: str, extents: dict[str, int], coordinates: list[str]
) -> None:
    found = device_coordinates(access(layout, index), extents)
    assert [str(c) for c in found] == coordinates


@pytest.mark.parametrize(
    ("index", "extents", "code", "words"),
    [
        ("256*a + x", {"a": 4, "b": 4}, "SPY022", "depends on x"),
        ("256*a - b + 255", {"a": 4, "b": 4}, "SPY023", "backwards"),
        ("65280 - 256*floor(a/2)", {"a": 4}, "SPY023", "backwards"),
        ("256*loaded + b", {"loaded": 4, "b": 4}, "SPY024", "indirectly"),
    ],
)
def test_what_has_no_coordinates(
    index: str, extents: dict[str, int], code: str, words: str
) -> None:
    operand = replace(access(ROWS, index), indirect=("loaded",))
    for ask in (device_coordinates, spans):
        with pytest.raises(Refusal) as refused:
            ask(operand, extents)
        assert refused.value.code == code
        assert words in refused.value.message
        assert f"its index is {operand.index}" in str(refused.value)


def test_an_index_off_the_layout() -> None:
    sparse = device_layout((128, 2), "f16", strides=(8, 4))
    for ask in (device_coordinates, spans):
        with pytest.raises(Refusal, match="SPY025"):
            ask(access(sparse, "8*a + b"), {"a": 128, "b": 4})


def test_an_access_beyond_its_buffer() -> None:
    spans(access(ROWS, "256*a + b"), {"a": 128, "b": 256})
    for index in ("256*a + b", "256*a + b + 256"):
        with pytest.raises(Refusal, match=r"SPY026.*128 steps"):
            spans(access(ROWS, index), {"a": 129, "b": 256})


def test_a_descending_symbol_of_one_value_does_not_descend() -> None:
    found = device_coordinates(access(ROWS, "256*a - b + 1"), {"a": 4, "b": 1})
    assert [str(c) for c in found] == ["0", "a", "1"]


def test_the_span_of_the_seed() -> None:
    operand = access(device_layout((1, 8195, 256, 64), "f16"), "16384*h + 64*l + d")
    found = spans(operand, {"h": 8195, "l": 256, "d": 64})
    assert [(s.device_dim, s.extent, s.stride_bytes, s.bytes, s.symbols) for s in found] == [
        (0, 8195, 32768, 268_533_760, ("h",)),
        (1, 256, 128, 32768, ("l",)),
    ]
    assert all(s.exact for s in found)


def test_bytes_are_those_of_the_device() -> None:
    extents = {"a": 128, "b": 256}
    for element, size in (("i1", 2), ("i64", 4), ("f32", 4), ("i8", 1), ("ui8", 4)):
        layout = device_layout((128, 256), element)
        assert layout.element_bytes == size
        found = spans(access(layout, "256*a + b", element), extents)
        assert [s.bytes for s in found] == [128 * 128 * -(-256 * size // 128), 128 * 128]
        assert strides_bytes(layout) == (128 * 128, 128, size)


def test_a_sparse_result_spans_its_dims() -> None:
    layout = device_layout((1, 8195, 256), "f16", order=(0, 1, 2, -1))
    assert layout.device_size == (8195, 256, 1, 1, 64)
    found = spans(access(layout, "256*a + b"), {"a": 8195, "b": 256})
    assert [(s.device_dim, s.extent, s.bytes) for s in found] == [
        (0, 8195, 8195 * 256 * 128),
        (1, 256, 256 * 128),
    ]


def test_a_bound_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from spyre_mlir import value_ranges

    layout = Layout((64, 64), (64, 1))
    index = 64 * parse("Mod(a + 5*b, 17) + Mod(a + 3*b, 19)")
    value_ranges._values.cache_clear()
    monkeypatch.setattr(value_ranges, "ENUMERATION_LIMIT", 16)
    (found,) = spans(access(layout, index), {"a": 40, "b": 40})
    value_ranges._values.cache_clear()
    assert not found.exact
    assert found.extent == 35


def random_view(draw: random.Random, placed: Placed) -> tuple[list[Expression], dict[str, int]]:
    """One index per host dim over fresh symbols: whole, sliced, strided, fixed, split, or
    reshaped."""
    indices, extents = [], {}
    for dim, size in enumerate(placed.shape):
        name = f"s{dim}"
        match draw.randrange(6):
            case 0:
                indices.append(Expression(draw.randrange(size)))
                continue
            case 1:
                start = draw.randrange(size)
                index, extent = symbol(name) + start, draw.randint(1, size - start)
            case 2:
                step = draw.randint(1, 3)
                index, extent = step * symbol(name), -(-size // step)
            case 3:
                inner = draw.choice([2, 4, 32])
                outer = max(1, size // inner)
                extents[f"t{dim}"] = min(inner, size)
                index, extent = inner * symbol(name) + symbol(f"t{dim}"), outer
            case _:
                index, extent = symbol(name), size
        indices.append(index)
        extents[name] = extent
    if draw.random() < 0.3:
        # The tensor seen in its dims reversed, row-major.
        viewed = tuple(reversed(placed.shape))
        extents = {f"s{dim}": size for dim, size in enumerate(viewed)}
        indices = list(reshaped_indices([symbol(s) for s in extents], viewed, placed.shape))
    return indices, extents


@settings(max_examples=600, deadline=None)
@given(st.integers(0, 1 << 48))
def test_every_cell_lies_where_the_coordinates_say(seed: int) -> None:
    draw = random.Random(seed)
    placed = random_placed(draw)
    indices, extents = random_view(draw, placed)
    operand = access(placed.layout, flat_index(indices, placed.strides), placed.element)
    ours = device_coordinates(operand, extents)
    seen = set()
    for point in product(*(range(extent) for extent in extents.values())):
        values = dict(zip(extents, point, strict=True))
        cell = tuple(index.evaluate(values) for index in indices)
        assert tuple(c.evaluate(values) for c in ours) == placed.coordinates(cell)
        seen.add(placed.coordinates(cell))
    width = 128 // placed.layout.elements_per_stick
    expected, stride = [], 128
    for dim in reversed(range(len(ours) - 1)):
        values_seen = {coordinates[dim] for coordinates in seen}
        extent = max(values_seen) - min(values_seen) + 1
        if extent > 1:
            expected.insert(0, (dim, extent, stride, extent * stride))
        stride *= placed.layout.device_size[dim]
    found = spans(operand, extents)
    assert [(s.device_dim, s.extent, s.stride_bytes, s.bytes) for s in found] == expected
    assert all(s.exact for s in found)
    # The bytes between the first and the last cell never exceed the largest span, or a stick.
    positions = [_position(placed.layout, c) * width for c in seen]
    reach = max(positions) - min(positions) + width
    assert reach <= max([s.bytes for s in found], default=128)


def _position(layout: Layout, coordinates: tuple[int, ...]) -> int:
    position = 0
    for coordinate, size in zip(coordinates, layout.device_size, strict=True):
        position = position * size + coordinate
    return position


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 1 << 48))
def test_the_fast_way_is_the_general_way(seed: int) -> None:
    draw = random.Random(seed)
    placed = random_placed(draw)
    indices, extents = random_view(draw, placed)
    operand = access(placed.layout, flat_index(indices, placed.strides), placed.element)
    symbols = operand.index.symbols()
    fast = None
    if operand.index.is_linear:
        sizes = tuple(extents[s] for s in symbols)
        fast = _linear_spans(placed.layout, operand.index, sizes)
    if fast is not None:
        assert fast == _spans(operand, extents)


def test_a_unit_device_dim_changes_nothing() -> None:
    plain = access(ROWS, "256*a + b + 128")
    extents = {"a": 100, "b": 128}
    unit = access(Layout((4, 1, 128, 64), (64, -1, 256, 1)), "256*a + b + 128")
    assert [s.bytes for s in spans(plain, extents)] == [s.bytes for s in spans(unit, extents)]


def test_reshapes() -> None:
    a, b = symbol("a"), symbol("b")
    flat = reshaped_indices([a, b], (6, 4), (24,))
    assert flat == (4 * a + b,)
    split = reshaped_indices([a], (24,), (6, 4))
    assert [str(e) for e in split] == ["floor(a/4)", "Mod(a, 4)"]
    joined = reshaped_indices([a, b], (6, 4), (3, 8))
    assert [str(e) for e in joined] == ["floor((4*a + b)/8)", "Mod(4*a + b, 8)"]
    strides = contiguous_strides((6, 4))
    assert flat_index([b, a], [strides[1], strides[0]], 3) == 4 * a + b + 3


def test_sticks_are_cut_whole() -> None:
    rows = access(device_layout((128, 256), "f16"), "256*a + b")
    columns = access(device_layout((128, 256), "f16", order=(1, 0)), "256*a + b")
    words = access(device_layout((128, 256), "f32"), "256*a + b", "f32")
    sparse = access(device_layout((128, 256), "f16", order=(0, 1, -1)), "256*a + b")
    extents = {"a": 128, "b": 256}
    assert stick_symbols(rows, extents) == {"b": 64}
    assert stick_symbols(columns, extents) == {"a": 64}
    assert stick_symbols(words, extents) == {"b": 32}
    assert stick_symbols(sparse, extents) == {}
    assert stick_symbols(access(ROWS, "256*a + 2*b"), {"a": 128, "b": 128}) == {"b": 32}
    assert stick_symbols(access(ROWS, "32*a + b"), {"a": 100, "b": 32}) == {"a": 2, "b": 64}
    assert stick_granules((rows, columns), extents) == {"a": 64, "b": 64}
    assert stick_granules((sparse,), extents) == {"a": 1, "b": 1}


def test_windows_of_reshaped_operands_move_by_one_step_a_trip() -> None:
    """Columns of (8, 4, 128) under one dim, of a buffer in which the 8 and the 4 lie apart."""
    split = access(ROWS, "4096*floor(a/512) + 65536*floor(Mod(a, 512)/128) + Mod(a, 128) + 128*b")
    assert window_granules((split,)) == {"a": 512, "b": 1}
    assert window_granules((access(ROWS, "256*a + b"),)) == {}
    moved = access(ROWS, "floor(3*a/4) + Mod(2*a, 6)")
    assert window_granules((moved,)) == {"a": 12}
    index, steps = moved.index, []
    for start in range(0, 48, 12):
        steps.append(index.substitute({"a": start}).constant)
    assert {b - a for a, b in pairwise(steps)} == {9}


def test_a_kernel_names_its_dims_and_accesses() -> None:
    read = access(ROWS, "256*a + b")
    written = replace(read, label="result", written=True)
    kernel = Kernel(
        "sum", "reduction", (Dim("a", 128, host_dim=0), Dim("b", 256, True)), (read, written)
    )
    assert kernel.extents == {"a": 128, "b": 256}
    assert kernel.reads == (read,) and kernel.writes == (written,)
    assert kernel.dim("b").reduction
    with pytest.raises(KeyError):
        kernel.dim("c")
