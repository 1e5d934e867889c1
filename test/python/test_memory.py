# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory: blocks never overlap, and planned programs compute what they say."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_machine import build, run_in_memory, run_on_values

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.memory import (
    Block,
    Carried,
    Compute,
    Copy,
    Empty,
    Loop,
    Place,
    Pool,
    Program,
    Update,
    View,
    allocate,
    pack,
    peak,
    plan_memory,
)

POOLS = json.loads((Path(__file__).parents[1] / "data/pools.json").read_text())


@pytest.mark.parametrize("seen", POOLS, ids=lambda seen: seen["program"])
def test_observed_pools_are_reproduced(seen: dict[str, object]) -> None:
    blocks = [Block(*block) for block in seen["blocks"]]  # type: ignore[attr-defined]
    pool = allocate(blocks)
    if seen["pieces"]:
        # A tensor written piece by piece takes its memory twice in the reference compiler.
        assert pool.bytes <= seen["bytes"]  # type: ignore[operator]
    else:
        assert (list(pool.offsets), pool.bytes) == (seen["offsets"], seen["bytes"])


blocks = st.lists(
    st.builds(
        lambda size, first, length: Block(size, first, first + length),
        st.sampled_from([1, 100, 128, 256, 300, 1024]),
        st.integers(0, 20),
        st.integers(0, 6),
    ),
    max_size=24,
)


def overlaps(blocks: list[Block], pool: Pool) -> list[tuple[int, int]]:
    spans = list(zip(blocks, pool.offsets, strict=True))
    return [
        (i, j)
        for i, (a, x) in enumerate(spans)
        for j, (b, y) in enumerate(spans[:i])
        if a.first <= b.last and b.first <= a.last and x < y + b.bytes and y < x + a.bytes
    ]


@given(blocks)
def test_live_blocks_never_overlap(blocks: list[Block]) -> None:
    for pool in (allocate(blocks), pack(blocks)):
        assert overlaps(blocks, pool) == []
        assert all(offset % 128 == 0 for offset in pool.offsets)
        assert pool.bytes % 128 == 0
        assert all(o + b.bytes <= pool.bytes for b, o in zip(blocks, pool.offsets, strict=True))
        assert peak(blocks)[0] <= pool.bytes <= sum(-(-b.bytes // 128) * 128 for b in blocks)


@given(blocks, st.integers(0, 40))
def test_a_pool_is_within_its_limit_or_refused(blocks: list[Block], sticks: int) -> None:
    try:
        assert allocate(blocks, limit=sticks * 128).bytes <= sticks * 128
    except Refusal as refusal:
        assert refusal.code == "SPY120"
        assert pack(blocks).bytes > sticks * 128


def test_memory_is_used_again() -> None:
    chain = [Block(4096, step, step + 1) for step in range(100)]
    assert allocate(chain).bytes == 2 * 4096
    assert allocate(chain).offsets[:4] == (0, 4096, 0, 4096)


def test_a_pool_over_its_limit_is_packed_before_it_is_refused() -> None:
    # Two holes side by side are not joined at first.
    blocks = [Block(128, 0, 0), Block(128, 0, 0), Block(256, 1, 1)]
    assert allocate(blocks).bytes == 512
    assert allocate(blocks, limit=256).bytes == 256
    with pytest.raises(Refusal) as caught:
        allocate(blocks, limit=128)
    assert "128 bytes over its limit of 128 bytes" in caught.value.message
    assert "at step 0 there are 2 buffers alive, 256 bytes" in str(caught.value)


# Programs.


def tiled(direct: bool = True) -> Program:
    """out = empty; for i: t = f(x[i]); out[i] = t."""
    body = (
        View(1, 11, part=True, window="i"),
        Compute("f", (11,), 12),
        Update("insert", 12, 20, 21, window="i", direct=direct),
    )
    loop = Loop("for", (Carried(10, 20, 21, 22),), body)
    return Program((1,), (Empty(10), loop), (22,), {1: 1024, 10: 1024, 12: 256})


def test_a_tile_that_is_read_as_well_stays_where_it_is_inserted() -> None:
    read = Compute("g", (12,), 13)
    body = (
        Compute("f", (1,), 12),
        Update("insert", 12, 20, 21, window="i"),
        read,
        Update("other", 13, 30, 31, window="i"),
    )
    carried = (Carried(10, 20, 21, 22), Carried(11, 30, 31, 32))
    sizes = {1: 1024, 10: 1024, 11: 1024, 12: 256, 13: 256}
    program = Program((1,), (Empty(10), Empty(11), Loop("for", carried, body)), (32, 22), sizes)
    plan = plan_memory(program)
    assert plan.direct == {21, 31} and plan.copies == ()
    assert plan.places[12] == Place("result", number=1)
    # Not where something else is written there before it is read.
    over = (Compute("h", (1,), 14), Update("over", 14, 21, 23, window="j"))
    carried = (Carried(10, 20, 23, 22), carried[1])
    loop = Loop("for", carried, (*body[:2], *over, *body[2:]))
    sizes[14] = 256
    assert (
        21 not in plan_memory(Program((1,), (Empty(10), Empty(11), loop), (32, 22), sizes)).direct
    )
    # Nor where the loop hands it on.
    loop = Loop("for", (Carried(10, 20, 21, 22), Carried(12 + 40, 50, 12, 51)), body[:2])
    last = Program((1, 52), (Empty(10), loop), (22, 51), {**sizes, 52: 256})
    assert plan_memory(last).direct == frozenset()


def test_tiles_are_computed_inside_the_result() -> None:
    plan = plan_memory(tiled())
    result = Place("result", number=0)
    assert [plan.places[v] for v in (10, 20, 21, 22, 12)] == [result] * 5
    assert plan.direct == {21} and plan.copies == () and plan.pool_bytes == 0
    assert plan.places[11] == plan.places[1] == Place("argument", number=0)


def test_a_tile_that_may_not_be_written_directly_lies_in_the_pool() -> None:
    plan = plan_memory(tiled(direct=False))
    assert plan.places[12] == Place("pool", offset=0) and plan.pool_bytes == 256
    assert plan.direct == frozenset()


def test_tiles_of_one_loop_lie_beside_each_other_unless_the_pool_is_too_small() -> None:
    steps = tuple(Compute(i, (i + 10,), i + 11) for i in range(4))
    loop = Loop("for", (), (Compute("a", (1,), 10), *steps, Compute("b", (14,), 15)))
    program = Program((1,), (loop,), (), dict.fromkeys(range(1, 16), 1024))
    assert plan_memory(program).pool_bytes == 6 * 1024
    assert plan_memory(program, pool_limit=2048).pool_bytes == 2048
    with pytest.raises(Refusal) as caught:
        plan_memory(program, pool_limit=1024)
    assert caught.value.code == "SPY120"


def test_partial_sums_accumulate_in_place() -> None:
    body = (Compute("matmul", (1,), 11), Compute("add", (10, 11), 12, in_step=(10, 11)))
    loop = Loop("for", (Carried(2, 10, 12, 13),), body)
    program = Program((1,), (Compute("zero", (), 2), loop), (13,), dict.fromkeys(range(20), 512))
    plan = plan_memory(program)
    assert plan.copies == ()
    assert plan.places[12] == plan.places[2] == plan.places[13] == Place("result", number=0)
    assert plan.places[11] == Place("pool", offset=0)
    # If the sum may not lie over what it reads, it takes a copy at the end of the body.
    apart = Loop("for", loop.carried, (body[0], Compute("add", (10, 11), 12)))
    plan = plan_memory(Program((1,), (program.body[0], apart), (13,), program.sizes))
    assert plan.copies == (Copy(12, 10, "for", at_end=True),)
    assert plan.places[12].kind == "pool"


def test_partial_sums_of_a_window_accumulate_in_place() -> None:
    body = (
        View(20, 11, part=True, window=("i", 256)),
        Compute("add", (11, 1), 12, in_step=(11,)),
        Update("insert", 12, 20, 21, window=("i", 256)),
    )
    loop = Loop("for", (Carried(10, 20, 21, 22),), body)
    program = Program((1,), (Compute("zero", (), 10), loop), (22,), {10: 1024, 12: 256, 20: 1024})
    assert plan_memory(program).direct == {21}
    other = Update("insert", 12, 20, 21, window=("j", 256))
    loop = Loop("for", loop.carried, (*body[:2], other))
    assert plan_memory(Program((1,), (program.body[0], loop), (22,), program.sizes)).direct == set()


def test_a_destination_that_is_still_needed_is_copied() -> None:
    body = (
        Compute("f", (1,), 10),
        Compute("g", (1,), 11),
        Update("insert", 11, 10, 12, window=0),
        Compute("h", (10, 12), 13),
    )
    plan = plan_memory(Program((1,), body, (13,), {10: 512, 11: 128, 13: 512}))
    (copy,) = plan.copies
    assert (copy.source, copy.key) == (10, "insert")
    assert plan.places[copy.target] == plan.places[12] != plan.places[10]


def test_arguments_are_never_written() -> None:
    plan = plan_memory(Program((1, 2), (Update("u", 2, 1, 3),), (3, 1), {1: 256}))
    assert plan.places[1] == Place("argument", number=0)
    assert [(c.key, c.operand) for c in plan.copies] == [("u", 0), (None, 1)]
    assert plan.places[3] == Place("result", number=0)
    assert plan.places[plan.copies[1].target] == Place("result", number=1)


def test_carried_values_that_change_places_go_over_new_memory() -> None:
    loop = Loop("for", (Carried(1, 10, 11, 12), Carried(2, 11, 10, 13)), ())
    plan = plan_memory(Program((1, 2), (loop,), (12, 13), dict.fromkeys(range(20), 128)))
    before = [c for c in plan.copies if not c.at_end]
    after = [c for c in plan.copies if c.at_end]
    assert [(c.source, c.key, c.operand) for c in before] == [(1, "for", 0), (2, "for", 1)]
    assert [c.source for c in after[:2]] == [11, 10]
    assert [(c.source, c.target) for c in after[2:]] == [
        (after[0].target, 10),
        (after[1].target, 11),
    ]


def test_ill_formed_programs_are_refused() -> None:
    for body in (
        (Compute("f", (9,), 1),),
        (Compute("f", (), 1), Compute("g", (), 1)),
        (Loop("l", (), (Compute("f", (), 1),)), Compute("g", (1,), 2)),
        (Compute("f", (), 1),),
    ):
        with pytest.raises(Refusal) as caught:
            plan_memory(Program((), body, (), {}))
        assert caught.value.code == "SPY121"


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_planned_programs_compute_what_they_say(data: st.DataObject) -> None:
    program = build(data.draw)
    plans = [plan_memory(program)]
    assert plans[0] == plan_memory(program)
    if plans[0].pool_bytes:
        with suppress(Refusal):
            plans.append(plan_memory(program, pool_limit=plans[0].pool_bytes - 1))
    for plan in plans:
        for trips in (0, 1, 2, 3):
            assert run_in_memory(program, plan, trips) == run_on_values(program, trips)
