# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work division against observed divisions, and its properties by brute force."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir.cases.division_cases import kernel_of, work_division
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import device_layout
from spyre_mlir.quasiaffine import Expression, literal, symbol
from spyre_mlir.work_division import (
    Operand,
    Symbol,
    Work,
    candidates,
    core_slices,
    core_spans,
    cost,
    cuts_for_spans,
    divide,
    divide_work,
    roles,
    shares,
    units,
)
from spyre_mlir.work_division.work import core_range, masked_symbols, stick_lanes

RECORDS = json.loads((Path(__file__).parents[1] / "data/work_division.json").read_text())


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_observed_divisions_are_reproduced(number: int) -> None:
    outcome = work_division(RECORDS[number])
    assert outcome.got == outcome.expected


def test_a_refusal_names_operand_figures_and_remedy() -> None:
    case = next(record for record in RECORDS if record["status"] == "error")
    with pytest.raises(Refusal) as caught:
        divide(kernel_of(case["ir_ops"][0]), cores=8, limit=16384)
    assert str(caught.value).splitlines() == [
        "SPY110: one core reaches 40960 bytes of buf0 along device dim 0, 24576 bytes over the"
        " limit of 16384 bytes, with the work divided as d0:5",
        "note: buf0: device dim 0 spans 16 steps of 2560 bytes, 40960 bytes",
        "remedy: tile the operation, or use more cores",
    ]


def test_equal_work_is_divided_once_whatever_its_names() -> None:
    kernel = kernel_of(RECORDS[20]["ir_ops"][0])
    renamed = tuple(replace(a, label="other", buffer="other") for a in kernel.accesses)
    again = replace(kernel, name="other", label="other", accesses=renamed)
    assert divide(again) is divide(kernel)


def operand(shape: dict[str, int], element: str = "f16", offset: int = 0) -> Operand:
    """A contiguous tensor whose dims are the symbols, in the default layout."""
    layout = device_layout(tuple(shape.values()), element)
    lanes, names = layout.device_size[-1], tuple(shape)
    last = symbol(names[-1]) + offset
    tiles = last // lanes
    if len(names) == 1:
        coordinates: tuple[Expression, ...] = (tiles, last % lanes)
    else:
        coordinates = (*map(symbol, names[1:-1]), tiles, symbol(names[0]), last % lanes)
    index, step = literal(0), 1
    for name in reversed(names):
        index = index + symbol(name) * step
        step *= shape[name]
    return Operand(layout.device_size, coordinates, index)


def elementwise(shape: dict[str, int], element: str = "f16") -> Work:
    tensor = operand(shape, element)
    return Work(tuple(Symbol(n, e) for n, e in shape.items()), (tensor, tensor), (tensor,))


def reduction(shape: dict[str, int], reduced: str) -> Work:
    kept = {n: e for n, e in shape.items() if n != reduced}
    names = (*kept, reduced)
    symbols = tuple(Symbol(name, shape[name]) for name in names)
    return Work(symbols, (operand(shape),), (operand(kept),))


def matmul(m: int, n: int, k: int, batch: int = 0) -> Work:
    outer = {"b": batch} if batch else {}
    sizes = {**outer, "m": m, "n": n, "k": k}
    left = operand({**outer, "m": m, "k": k})
    right = operand({**outer, "k": k, "n": n})
    output = operand({**outer, "m": m, "n": n})
    return Work(tuple(Symbol(*s) for s in sizes.items()), (left, right), (output,), True)


extents = st.sampled_from([1, 2, 3, 5, 8, 12, 37, 64, 65, 100, 128, 150, 192, 256])
shapes = st.integers(1, 4).flatmap(
    lambda rank: st.tuples(*[extents] * rank).map(
        lambda sizes: {f"d{i}": size for i, size in enumerate(sizes)}
    )
)
works = st.one_of(
    st.builds(elementwise, shapes, st.sampled_from(["f16", "f32", "i8"])),
    st.builds(
        lambda shape, which: reduction(shape, f"d{which % len(shape)}"),
        shapes.filter(lambda shape: len(shape) > 1),
        st.integers(0, 3),
    ),
    st.builds(matmul, extents, extents, extents, st.sampled_from([0, 2, 3])),
)


def reach(work: Work, tensor: Operand, cuts: dict[str, int]) -> int:
    """Bytes of the widest span over all cores, from the coordinates of every cell a core sees."""
    share = shares(work, cuts)
    widest, step = 0, 128
    for dim in range(len(tensor.device_size) - 2, -1, -1):
        coordinate = tensor.coordinates[dim]
        names = coordinate.symbols()
        if names:
            sizes = {s.name: s.extent for s in work.symbols}
            starts = [range(0, sizes[n], share[n]) for n in names]
            for at in product(*starts):
                seen = [
                    coordinate.evaluate(dict(zip(names, point, strict=True)))
                    for point in product(
                        *(
                            range(start, min(start + share[n], sizes[n]))
                            for n, start in zip(names, at, strict=True)
                        )
                    )
                ]
                if max(seen) > min(seen):
                    widest = max(widest, (max(seen) - min(seen) + 1) * step)
        step *= tensor.device_size[dim]
    return widest


@settings(max_examples=150, deadline=None)
@given(works, st.sampled_from([1, 2, 4, 7, 24, 32]), st.sampled_from([2**12, 2**15, 2**28]))
def test_every_share_is_whole_and_every_span_fits(work: Work, cores: int, limit: int) -> None:
    try:
        division, fits = divide_work(work, cores=cores, limit=limit)
    except Refusal as refusal:
        assert refusal.code == "SPY111"
        return
    cuts = dict(division.cuts)
    assert [name for name, _ in division.cuts] == [s.name for s in work.symbols]
    assert 1 <= division.cores <= cores
    lanes, share = stick_lanes(work), shares(work, cuts)
    for s in work.symbols:
        assert units(work)[s.name] % cuts[s.name] == 0
        assert cuts[s.name] == 1 or share[s.name] % lanes.get(s.name, 1) == 0
        assert share[s.name] * cuts[s.name] >= s.extent > share[s.name] * (cuts[s.name] - 1)
    if not work.matmul:
        assert all(cuts[name] == 1 for name in masked_symbols(work))
    widest = max((reach(work, tensor, cuts) for tensor in work.operands), default=0)
    assert fits == (widest <= limit)


@settings(max_examples=60, deadline=None)
@given(works, st.sampled_from([4, 32]))
def test_core_spans_are_those_of_the_cells(work: Work, cores: int) -> None:
    cuts = dict(divide_work(work, cores=cores)[0].cuts)
    sizes = {s.name: s.extent for s in work.symbols}
    for tensor in work.operands:
        spans = core_spans(tensor, sizes, shares(work, cuts))
        assert all(span.exact for span in spans)
        assert max((span.bytes for span in spans), default=0) == reach(work, tensor, cuts)


def test_the_worst_core_counts_not_the_first() -> None:
    # A share of 96 elements straddles one or two tiles of 64, as the core goes.
    coordinate = symbol("d0") // 64
    found = core_range(coordinate, {"d0": 192}, {"d0": 96})
    assert (found.extent, found.exact) == (2, True)
    # The first core wraps around, the others do not.
    wrapped = core_range((symbol("d0") + 60) % 64, {"d0": 64}, {"d0": 8})
    assert wrapped.extent == 64


expressions = st.builds(
    lambda a, b, offset, divisor, modulus: ((a + b + offset) // divisor) % modulus,
    st.sampled_from([symbol("d0"), symbol("d0") * 3, symbol("d0") * 8]),
    st.sampled_from([symbol("d1"), symbol("d1") * 5, literal(0)]),
    st.integers(0, 9),
    st.sampled_from([1, 2, 3, 8]),
    st.sampled_from([2, 5, 12, 1000]),
)


@settings(max_examples=200, deadline=None)
@given(expressions, st.sampled_from([3, 4, 8, 12]), st.sampled_from([2, 6]))
def test_ranges_of_odd_coordinates_are_those_of_the_worst_core(
    coordinate: Expression, share: int, other: int
) -> None:
    sizes = {"d0": 24, "d1": 6}
    most = 0
    for start, across in product(range(0, 24, share), range(0, 6, other)):
        seen = [
            coordinate.evaluate({"d0": i, "d1": j})
            for i in range(start, start + share)
            for j in range(across, across + other)
        ]
        most = max(most, max(seen) - min(seen) + 1)
    found = core_range(coordinate, sizes, {"d0": share, "d1": other})
    assert found.extent == most if found.exact else found.extent >= most


def test_a_span_that_fits_no_core_is_not_called_fit() -> None:
    work = reduction({"d0": 2, "d1": 20, "d2": 16, "d3": 64}, "d0")
    assert divide_work(work, cores=32, limit=16384)[1]
    assert not divide_work(work, cores=8, limit=16384)[1]


def test_more_reductions_than_one_are_refused() -> None:
    # The input is over the limit in two reduced dims, the output is one stick.
    whole = operand({"a": 1, "r": 64, "q": 64, "n": 64})
    output = operand({"a": 1, "n": 64})
    work = Work(
        (Symbol("a", 1), Symbol("n", 64), Symbol("r", 64), Symbol("q", 64)), (whole,), (output,)
    )
    assert cuts_for_spans(work, cores=32, limit=64 * 64 * 128 // 32)["r"] == 32
    with pytest.raises(Refusal) as caught:
        divide_work(work, cores=4096, limit=32 * 128)
    assert caught.value.code == "SPY111"
    assert "r" in caught.value.message and "q" in caught.value.message


def test_symbolic_dims_are_cut_by_divisors_of_their_granularity() -> None:
    tensor = operand({"d0": 4096, "d1": 64})
    symbols = (Symbol("d0", 4096, granularity=12), Symbol("d1", 64))
    assert dict(divide_work(Work(symbols, (tensor,), (tensor,)))[0].cuts) == {"d0": 4, "d1": 1}
    # 192 elements are three sticks; 96 are no whole number of sticks.
    tensor = operand({"d0": 4, "d1": 1920})
    for grain, cut in ((192, 3), (96, 1), (1, 1)):
        symbols = (Symbol("d0", 1), Symbol("d1", 1920, granularity=grain))
        assert dict(divide_work(Work(symbols, (tensor,), (tensor,)))[0].cuts)["d1"] == cut


def test_masked_reductions_stay_on_one_core() -> None:
    assert dict(divide_work(reduction({"d0": 7, "d1": 512}, "d1"))[0].cuts) == {"d0": 1, "d1": 8}
    assert dict(divide_work(reduction({"d0": 7, "d1": 500}, "d1"))[0].cuts) == {"d0": 1, "d1": 1}
    said = reduction({"d0": 7, "d1": 512}, "d1")
    masked = (said.symbols[0], Symbol("d1", 512, masked=True))
    assert dict(divide_work(Work(masked, said.inputs, said.outputs))[0].cuts)["d1"] == 1


def test_paired_weight_sticks_keep_the_contraction_whole() -> None:
    work = matmul(16, 128, 2048)
    free = divide_work(work)[0]
    assert dict(free.cuts)["k"] > 1
    whole = Work(work.symbols, work.inputs, work.outputs, True, whole_contraction=True)
    part = roles(whole)
    assert part is not None
    assert all(dict(way.cuts)["k"] == 1 for way in candidates(whole, part, 32))


def test_candidates_are_all_ways_within_the_cores_in_order() -> None:
    work = matmul(64, 256, 192, batch=2)
    part = roles(work)
    assert part is not None and part.batch == ("b",) and not part.shared
    ways = [tuple(cut for _, cut in way.cuts) for way in candidates(work, part, 32)]
    every = product(range(1, 33), repeat=4)
    sizes = (2, 64, 4, 3)
    assert ways == [
        way
        for way in every
        if prod(way) <= 32 and all(s % c == 0 for s, c in zip(sizes, way, strict=True))
    ]


def test_cost_in_microseconds_by_hand() -> None:
    # 1 core, one row block of 512: compute at full efficiency, HBM, lanes and wide columns.
    compute = 512**3 / 1_536_000
    memory = 2 * 3 * 512**2 / 204_800
    whole = cost((1, 1), (512, 1), (512, 1), (512, 1), shared=True, cores=1)
    assert whole == pytest.approx(compute + memory + 10 * 2 + 3 * 2 * 5)


def test_slices_run_through_the_first_symbol_fastest_or_the_contraction() -> None:
    cuts = (("m", 2), ("n", 1), ("k", 3))
    plain = [(s["m"], s["n"], s["k"]) for s in core_slices(cuts)]
    assert plain == [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1), (0, 0, 2), (1, 0, 2)]
    fast = [(s["m"], s["k"]) for s in core_slices(cuts, contraction_first="k")]
    assert fast == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert list(core_slices(cuts)[0]) == ["m", "n", "k"]
    assert core_slices(()) == ({},)


@given(st.lists(st.integers(1, 4), max_size=4))
def test_every_slice_has_exactly_one_core(sizes: list[int]) -> None:
    cuts = [(f"d{i}", size) for i, size in enumerate(sizes)]
    last = cuts[-1][0] if cuts else None
    for first in (None, last):
        seen = [tuple(s.values()) for s in core_slices(cuts, contraction_first=first)]
        assert sorted(seen) == sorted(product(*(range(size) for size in sizes)))
