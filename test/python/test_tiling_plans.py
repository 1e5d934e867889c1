# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile plans as values and as text."""

from __future__ import annotations

import pytest

from spyre_mlir.tiling import Level, TilePlan, parse_plan
from spyre_mlir.tiling.plans import parse_level

TEXTS = [
    "#spyre.tile_plan<origin = auto, group = 0, levels = [parallel(1) 5 x 1639],"
    ' reason = "span of the result">',
    "#spyre.tile_plan<origin = hint, group = 2,"
    " levels = [parallel(h) 5, reduction(0) 2 x 64 + 22]>",
    "#spyre.tile_plan<origin = auto, group = 0, levels = []>",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_round_trip(text: str) -> None:
    assert str(parse_plan(text)) == text


def test_a_remainder_is_a_tile() -> None:
    level = parse_level("parallel(0) 2 x 64 + 22")
    assert (level.tiles, level.extent) == (3, 150)
    assert TilePlan((level, Level("parallel", 1, 5, 4))).tiles == 15


@pytest.mark.parametrize("text", ["parallel(0)", "parallel(0) 2 x 4 + 4", "other(0) 2", ""])
def test_what_is_no_level(text: str) -> None:
    with pytest.raises(ValueError, match=r"level|remainder"):
        parse_level(text)


def test_what_is_no_plan() -> None:
    with pytest.raises(ValueError, match="not a tile plan"):
        parse_plan("#spyre.layout<[1] : [1]>")
