# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference's rules, restated: its examples, and where they differ from what is exact."""

from __future__ import annotations

import pytest

from spyre_mlir import seed_layouts
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import Layout, device_layout, retile
from spyre_mlir.quasiaffine import parse
from spyre_mlir.value_ranges import value_range


@pytest.mark.parametrize(
    ("old", "new", "order", "size", "steps"),
    [
        ((1024, 256), (1024, 100), None, (2, 1024, 64), (64, 100, 1)),
        ((20, 16, 64), (20, 8, 64), None, (8, 1, 20, 64), (64, 64, 512, 1)),
        ((64, 64), (32, 64), None, (1, 32, 64), (64, 64, 1)),
        ((64, 64), (32, 64), (1, 0), (1, 64, 64), (4096, 1, 64)),
        ((2, 2, 128), (1, 2, 128), None, (2, 2, 1, 64), (128, 64, -1, 1)),
        ((1, 20, 16, 64), (1, 5, 16, 64), None, (5, 16, 1, 1, 64), (1024, 64, -1, -1, 1)),
    ],
)
def test_resized_layouts(
    old: tuple[int, ...],
    new: tuple[int, ...],
    order: tuple[int, ...] | None,
    size: tuple[int, ...],
    steps: tuple[int, ...],
) -> None:
    layout = device_layout(old, "f16", order=order)
    assert seed_layouts.resize(layout, old, new) == Layout(size, steps)


@pytest.mark.parametrize(
    ("shape", "order"),
    [((1, 1), None), ((1, 1, 1, 64), (0, 1, 3, 2)), ((1, 128, 1, 64), (0, 1, 3, 2))],
)
def test_ambiguous_layouts(shape: tuple[int, ...], order: tuple[int, ...] | None) -> None:
    layout = device_layout(shape, "f16", order=order)
    with pytest.raises(Refusal, match="SPY028"):
        seed_layouts.resize(layout, shape, shape)
    # The planner's own rule knows which dim is which.
    assert retile(layout, shape, shape) == layout


def test_symbols_alone_lose_their_carry() -> None:
    layout, index = Layout((4, 128, 64), (64, 256, 1)), parse("32*a + b")
    found = seed_layouts.coordinates(layout, index, {"a": 100, "b": 40})
    assert [str(c) for c in found] == [
        "floor(Mod(a, 8)/2)",
        "floor(a/8)",
        "32*Mod(a, 2) + b",
    ]


def test_a_symbol_under_one_remainder_counts_as_the_remainder() -> None:
    layout = Layout((4, 128, 64), (64, 256, 1))
    found = seed_layouts.coordinates(layout, parse("256*Mod(a, 4) + b"), {"a": 16, "b": 64})
    assert [str(c) for c in found] == ["0", "Mod(a, 4)", "b"]


@pytest.mark.parametrize(
    ("text", "extents", "seed"),
    [
        ("a", {"a": 100}, 100),
        ("floor(a/64)", {"a": 150}, 3),
        ("floor(Mod(a, 2048)/64)", {"a": 6000}, 32),
        ("floor(h/2048) + floor(2*Mod(l, 2048))", {"h": 4096, "l": 1024}, 2048),
        ("Mod(s, 64) + Mod(s, 128)", {"s": 200}, 191),
        ("Mod(3*a, 64)", {"a": 20}, None),
        ("Mod(a + 1, 64)", {"a": 20}, None),
        ("a", {"b": 20}, None),
    ],
)
def test_extents(text: str, extents: dict[str, int], seed: int | None) -> None:
    assert seed_layouts.extent(parse(text), extents) == seed
    if seed is not None:
        assert value_range(parse(text), extents).extent == seed


def test_extents_that_are_wrong() -> None:
    assert seed_layouts.extent(parse("100 - a"), {"a": 10}) == -8
    assert value_range(parse("100 - a"), {"a": 10}).extent == 10
    moduli = parse("Mod(s, 96) + Mod(s, 64)")
    assert seed_layouts.extent(moduli, {"s": 200}) == 127
    assert value_range(moduli, {"s": 200}).extent == 159
