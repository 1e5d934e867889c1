# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Alignment against observed alignments, rule by rule, and by enumeration of every point."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir.accesses import Access, device_coordinates, flat_index
from spyre_mlir.alignment import Aligned, Symbol, Tensor, align, aligned_tensor, term_sum
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import contiguous_strides, device_layout
from spyre_mlir.quasiaffine import Expression, parse, symbol

RECORDS = json.loads((Path(__file__).parents[1] / "data/alignments.json").read_text())


def tensor(size: list[int], coordinates: list[str]) -> Tensor:
    return Tensor(tuple(size), tuple(term_sum(parse(c)) for c in coordinates))


def described(aligned: Aligned, names: Mapping[str, str] | None = None) -> tuple[Any, Any]:
    """Symbols and tensors as the records write them, symbols renamed."""
    new = {s.name: s.name for s in aligned.symbols} if names is None else names
    symbols = sorted([new[s.name], s.extent, s.split] for s in aligned.symbols)
    tensors = []
    for t in aligned.tensors:
        texts = [str(c) for c in t.coordinates]
        for old in new:
            texts = [text.replace(old, f"<{old}>") for text in texts]
        for old, name in new.items():
            texts = [text.replace(f"<{old}>", name) for text in texts]
        tensors.append([list(t.device_size), texts])
    return symbols, tensors


def reordered(aligned: Aligned, record: Mapping[str, Any]) -> bool:
    """Whether the two are equal but for the order of the loops: the reference compiler walks a
    transposed result in the order of its memory, before alignment."""
    names = [s.name for s in aligned.symbols]
    wanted = (sorted(record["aligned_symbols"]), record["aligned_tensors"])
    return any(
        described(aligned, dict(zip(names, order, strict=True))) == wanted
        for order in permutations(names)
    )


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r["op"])
def test_observed_alignments(record: Mapping[str, Any]) -> None:
    symbols = [Symbol(*s) for s in record["symbols"]]
    tensors = [tensor(*t) for t in record["tensors"]]
    if len(tensors) > len(record["aligned_tensors"]):
        # A read that was redirected to a padded copy is still listed before alignment.
        tensors.pop(1)
    aligned = align(symbols, tensors)
    wanted = (sorted(record["aligned_symbols"]), record["aligned_tensors"])
    if described(aligned) == wanted:
        assert [s.name for s in aligned.symbols] == [s[0] for s in record["aligned_symbols"]]
    else:
        assert reordered(aligned, record)


def test_few_observed_alignments_need_a_reason() -> None:
    redirected = [r for r in RECORDS if len(r["tensors"]) > len(r["aligned_tensors"])]
    walked = [
        r
        for r in RECORDS
        if r not in redirected
        and [s[1] for s in r["symbols"] if s[1] > 1] != [s[1] for s in r["aligned_symbols"]]
    ]
    assert (len(RECORDS), len(redirected), len(walked)) == (154, 1, 2)


# --- rule by rule ------------------------------------------------------------------------------


def one(symbols: dict[str, int], size: list[int], coordinates: list[str]) -> tuple[Any, Any]:
    return described(align([Symbol(n, e) for n, e in symbols.items()], [tensor(size, coordinates)]))


def test_units_vanish_and_the_stick_takes_the_first_unit_dim() -> None:
    assert one(
        {"a": 1, "b": 8195, "c": 256, "d": 64}, [8195, 256, 1, 1, 64], ["b", "c", "0", "0", "d"]
    ) == (
        [["c0", 8195, 1], ["c1", 256, 1], ["c2", 64, 1]],
        [[[1, 8195, 256, 64], ["floor(c2/64)", "c0", "c1", "Mod(c2, 64)"]]],
    )


def test_a_symbol_is_cut_where_any_tensor_cuts_it() -> None:
    aligned = align(
        [Symbol("a", 32768, 8)],
        [
            tensor([4, 128, 64], ["floor(Mod(a, 256)/64)", "floor(a/256)", "Mod(a, 64)"]),
            tensor([512, 64], ["floor(a/64)", "Mod(a, 64)"]),
        ],
    )
    assert described(aligned) == (
        [["c0", 128, 2], ["c1", 256, 4]],  # 8 cores: 4 of 4 sticks, then 2 rows
        [
            [[4, 128, 64], ["floor(c1/64)", "c0", "Mod(c1, 64)"]],
            [[128, 4, 64], ["c0", "floor(c1/64)", "Mod(c1, 64)"]],
        ],
    )
    assert [s.origin for s in aligned.symbols] == ["a", "a"]


def test_a_step_leaves_a_gap() -> None:
    assert one({"a": 4, "b": 64}, [8, 1, 64], ["2*a + 1", "floor(b/64)", "Mod(b, 64)"]) == (
        [["c0", 4, 1], ["c1", 64, 1], ["z0", 1, 1]],
        [[[1, 4, 2, 64], ["floor(c1/64)", "c0", "z0 + 1", "Mod(c1, 64)"]]],
    )


def test_a_dim_that_stays_is_a_gap_and_other_tensors_give_it_a_unit_dim() -> None:
    aligned = align(
        [Symbol("c0", 4), Symbol("c1", 64, 8), Symbol("c2", 64)],
        [
            tensor([4, 64, 2, 64], ["c0", "c1", "1", "Mod(c2, 64)"]),
            tensor([64, 1, 4, 64], ["c1", "0", "c0", "Mod(c2, 64)"]),
        ],
    )
    assert described(aligned) == (
        [["c0", 4, 1], ["c1", 64, 8], ["c2", 64, 1], ["z0", 1, 1]],
        [
            [[1, 4, 64, 2, 64], ["floor(c2/64)", "c0", "c1", "z0 + 1", "Mod(c2, 64)"]],
            [[1, 1, 64, 4, 64], ["floor(c2/64)", "z0", "c1", "c0", "Mod(c2, 64)"]],
        ],
    )


def test_two_symbols_in_one_dim_become_two_dims() -> None:
    assert one({"a": 3, "b": 4, "c": 64}, [12, 1, 64], ["4*a + b", "0", "c"]) == (
        [["c0", 3, 1], ["c1", 4, 1], ["c2", 64, 1]],
        [[[1, 3, 4, 64], ["floor(c2/64)", "c0", "c1", "Mod(c2, 64)"]]],
    )


@pytest.mark.parametrize(
    ("symbols", "size", "coordinates", "code"),
    [
        ({"a": 4, "b": 32}, [4, 64], ["a", "b + 32"], "SPY090"),  # a stick read from its middle
        ({"a": 4, "b": 32}, [4, 64], ["a", "2*b"], "SPY090"),  # every other lane
        ({"a": 4, "b": 100}, [4, 64], ["a", "b"], "SPY090"),  # beyond the lanes
        ({"a": 3, "b": 3, "c": 64}, [5, 64], ["a + b", "c"], "SPY090"),  # on a diagonal
        ({"a": 4, "b": 6, "c": 64}, [24, 64], ["4*a + b", "c"], "SPY090"),  # overlapping
        ({"a": 4, "b": 64}, [4, 64], ["a - 1", "b"], "SPY090"),  # before the start
        ({"a": 150, "b": 64}, [64, 3, 64], ["Mod(a, 64)", "floor(a/64)", "b"], "SPY091"),
        ({"a": 4, "b": 2, "c": 64}, [4, 5, 64], ["a", "2*b", "c"], "SPY091"),
    ],
)
def test_refusals(
    symbols: dict[str, int], size: list[int], coordinates: list[str], code: str
) -> None:
    with pytest.raises(Refusal) as refusal:
        one(symbols, size, coordinates)
    assert refusal.value.code == code


@pytest.mark.parametrize(("extent", "split"), [(9, 2), (100, 4)])
def test_cores_take_whole_rows_and_whole_sticks(extent: int, split: int) -> None:
    place = [["a", "0", "0"], ["floor(a/64)", "0", "Mod(a, 64)"]][extent == 100]
    with pytest.raises(Refusal) as refusal:
        align([Symbol("a", extent, split)], [tensor([extent, 1, 64], place)])
    assert refusal.value.code == "SPY092"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("floor(c/64) + 1", "floor(c/64) + 1"),
        ("floor((4*c + 2)/8)", "floor(c/2)"),
        ("Mod(4*c + 2, 64)", "4*Mod(c, 16) + 2"),
        ("floor(Mod(c, 256)/64)", "Mod(floor(c/64), 4)"),
        ("Mod(floor(c/8), 4)", "Mod(floor(c/8), 4)"),
    ],
)
def test_coordinates_follow_one_symbol(text: str, terms: str) -> None:
    assert str(term_sum(parse(text))) == terms


@pytest.mark.parametrize("text", ["floor((a + b)/3)", "Mod(a + 1, 4)", "floor((4*c)/6)"])
def test_coordinates_that_do_not(text: str) -> None:
    with pytest.raises(Refusal):
        term_sum(parse(text))


def test_what_is_aligned_already_has_one_symbol_a_dim() -> None:
    aligned = aligned_tensor((2, 4, 64), [parse(c) for c in ("floor(b/64)", "a + 1", "Mod(b, 64)")])
    assert [str(c) for c in aligned.coordinates] == ["floor(b/64)", "a + 1", "Mod(b, 64)"]
    with pytest.raises(Refusal):
        aligned_tensor((8, 64), [parse("2*a"), parse("0")])


# --- every point -------------------------------------------------------------------------------


def row_major(size: tuple[int, ...], coordinates: list[int]) -> int:
    offset = 0
    for extent, coordinate in zip(size, coordinates, strict=True):
        assert 0 <= coordinate < extent
        offset = offset * extent + coordinate
    return offset


def piece_values(aligned: Aligned, point: Mapping[str, int]) -> dict[str, int]:
    """The aligned symbols where the original ones have the values of `point`."""
    rest, values = dict(point), {}
    for part in reversed(aligned.symbols):
        if part.origin is None:
            values[part.name] = 0
        else:
            rest[part.origin], values[part.name] = divmod(rest[part.origin], part.extent)
    return values


@st.composite
def views(draw: st.DrawFn) -> tuple[dict[str, int], list[Access]]:
    """A box of symbols and tensors read through it: each a window, with a step, of a buffer whose
    host dims it walks in an order of its own, with runs of symbols flattened into one dim."""
    rank = draw(st.integers(1, 3))
    extents = {f"s{i}": draw(st.sampled_from((1, 2, 3, 4, 6))) for i in range(rank)}
    extents[f"s{rank}"] = draw(st.sampled_from((8, 40, 64, 100, 128)))
    accesses = []
    for number in range(draw(st.integers(1, 3))):
        walked = draw(st.permutations(list(extents)[:-1])) if rank > 1 else ["s0"]
        names = [n for n in walked if draw(st.booleans())] + [f"s{rank}"]
        shape, indices = [], []
        for name in names[:-1]:
            step, before, behind = (draw(st.integers(*b)) for b in ((1, 2), (0, 1), (0, 1)))
            shape.append(before * step + extents[name] * step + behind * step)
            indices.append(symbol(name) * step + before * step)
        before = draw(st.sampled_from((0, 0, 64)))
        shape.append(before + extents[names[-1]] + draw(st.sampled_from((0, 0, 64))))
        indices.append(symbol(names[-1]) + before)
        flat = draw(st.booleans()) and len(shape) > 1 and shape[-1] % 64 == 0
        index = flat_index(indices, contiguous_strides(shape))
        buffer = (prod(shape),) if flat else tuple(shape)
        layout = device_layout(buffer, "f16")
        accesses.append(Access(f"t{number}", f"b{number}", layout, "f16", index))
    return extents, accesses


def points(extents: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for values in product(*(range(e) for e in extents.values())):
        yield dict(zip(extents, values, strict=True))


ALIGNED: list[bool] = []


@settings(max_examples=150, deadline=None)
@given(views())
def test_alignment_moves_no_element(case: tuple[dict[str, int], list[Access]]) -> None:
    extents, accesses = case
    coordinates = [device_coordinates(access, extents) for access in accesses]
    try:
        aligned = align(
            [Symbol(n, e) for n, e in extents.items()],
            [
                Tensor(a.layout.device_size, tuple(term_sum(c) for c in cs))
                for a, cs in zip(accesses, coordinates, strict=True)
            ],
        )
    except Refusal:
        ALIGNED.append(False)
        return
    ALIGNED.append(True)
    assert len({len(t.device_size) for t in aligned.tensors}) == 1
    assert prod(s.extent for s in aligned.symbols) == prod(extents.values())
    for point in points(extents):
        values = piece_values(aligned, point)
        for access, before, after in zip(accesses, coordinates, aligned.tensors, strict=True):
            assert row_major(
                access.layout.device_size, [evaluated(c, point) for c in before]
            ) == row_major(after.device_size, [c.at(values) for c in after.coordinates])


def evaluated(expression: Expression, point: Mapping[str, int]) -> int:
    return int(expression.evaluate(point))


def test_most_views_align() -> None:
    """The property above would hold of an `align` that refuses everything."""
    assert sum(ALIGNED) * 2 > len(ALIGNED) >= 100
