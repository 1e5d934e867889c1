# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations share loops. Observed groupings are cases; here are the default rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import contiguous_strides, device_layout
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.tiling import Level, Options, TilePlan, plan_tiles
from spyre_mlir.tiling.groups import (
    Grouping,
    Member,
    common_levels,
    group,
    member_of,
    plan_program,
)

SHAPE = (20, 16, 64)
LIMIT = 8192


def access(
    buffer: str,
    shape: tuple[int, ...],
    names: tuple[str, ...],
    *,
    order: tuple[int, ...] | None = None,
    written: bool = False,
) -> Access:
    strides = contiguous_strides(shape)
    index = flat_index([symbol(name) for name in names], strides)
    layout = device_layout(shape, "f16", order=order)
    return Access(buffer, buffer, layout, "f16", index, written, shape, strides)


def kernel(label: str, extents: dict[str, int], reduced: str, *accesses: Access) -> Kernel:
    units = stick_granules(accesses, extents)
    kept = [name for name in extents if name not in reduced]
    dims = tuple(
        Dim(n, e, n in reduced, None if n in reduced else kept.index(n), units[n])
        for n, e in extents.items()
    )
    return Kernel("op", "op", dims, accesses, label)


def pointwise(
    label: str, *reads: str, shape: tuple[int, ...] = SHAPE, turned: bool = False
) -> Kernel:
    names = ("a", "b", "c")[: len(shape)]
    extents = dict(zip(names, shape, strict=True))
    read_names = (names[1], names[0], *names[2:]) if turned else names
    read_shape = tuple(extents[name] for name in read_names)
    accesses = [access(read, read_shape, read_names) for read in reads]
    return kernel(label, extents, "", *accesses, access(label, shape, names, written=True))


def row_sum(label: str, read: str) -> Kernel:
    """Over dim 0."""
    accesses = [access(read, SHAPE, ("k", "b", "c"))]
    result = access(label, SHAPE[1:], ("b", "c"), written=True)
    return kernel(label, {"b": 16, "c": 64, "k": 20}, "k", *accesses, result)


def grouped(
    *kernels: Kernel,
    hints: dict[str, TilePlan] | None = None,
    limit: int = LIMIT,
    materialize: bool = False,
) -> Grouping:
    options = Options(span_limit=limit)
    hints = hints or {}
    members = []
    for op in kernels:
        hint = hints.get(op.label)
        plan = None if hint else plan_tiles(op, options)
        members.append(member_of(op, plan, hint=hint, options=options))
    return group(members, materialize=materialize)


def shapes(grouping: Grouping) -> list[tuple[tuple[int, ...], int]]:
    return [(found.members, found.shared) for found in grouping.groups]


def test_a_pointwise_chain_shares_one_loop() -> None:
    found = grouped(pointwise("y", "x"), pointwise("z", "y"), pointwise("w", "z", "y"))
    assert shapes(found) == [((0, 1, 2), 1)]
    assert len({plan.group for plan in found.plans if plan}) == 1
    assert {str(plan.levels[0]) for plan in found.plans if plan} == {"parallel(1) 8 x 2"}


def test_independent_pointwise_operations_with_equal_plans_share_too() -> None:
    assert shapes(grouped(pointwise("y", "x"), pointwise("z", "v"))) == [((0, 1), 1)]


def test_a_reader_conforms_to_the_run() -> None:
    # By itself z needs 4 tiles of b; its producer y, with a wider input, has 8.
    y = pointwise("y", "x")
    wide = access("x", (20, 32, 64), ("a", "b", "c"), order=(1, 0, 2))
    y = kernel("y", {"a": 20, "b": 16, "c": 64}, "", wide, y.accesses[-1])
    z = pointwise("z", "y")
    found = grouped(y, z, limit=10240)
    first, second = found.plans
    assert first is not None and second is not None
    assert first.levels[0] == second.levels[0]
    assert shapes(found)[0][0] == (0, 1)


def test_a_reduction_joins_and_its_readers_join_it() -> None:
    found = grouped(pointwise("y", "x"), row_sum("s", "y"), limit=8192)
    assert shapes(found) == [((0, 1), 1)]
    y, s = found.plans
    assert y is not None and s is not None
    assert str(y.levels[0]) == "parallel(1) 8 x 2"
    assert str(s.levels[0]) == "parallel(0) 8 x 2"


def test_a_reduction_over_the_tiled_dim_does_not_join() -> None:
    y = pointwise("y", "x")
    over = access("y", SHAPE, ("a", "k", "c"))
    s = kernel(
        "s",
        {"a": 20, "c": 64, "k": 16},
        "k",
        over,
        access("s", (20, 64), ("a", "c"), written=True),
    )
    members = [
        member_of(y, plan_tiles(y, Options(span_limit=LIMIT))),
        member_of(s, TilePlan((Level("parallel", 0, 10, 2),)), options=Options(span_limit=LIMIT)),
    ]
    with pytest.raises(Refusal) as caught:
        group(members)
    assert caught.value.code == "SPY052"
    assert "s is tiled and reads y" in str(caught.value)
    apart = group(members, materialize=True)
    assert shapes(apart) == [((0,), 1), ((1,), 1)]


def test_restickify_and_matmul_share_the_dim_that_both_cut() -> None:
    # The weight is 256 x 512, stick on k; turned, its stick lies on n.
    n, k = 256, 512
    turn = kernel(
        "turned",
        {"n": n, "k": k},
        "",
        access("w", (n, k), ("n", "k")),
        access("turned", (n, k), ("n", "k"), order=(1, 0), written=True),
    )
    multiply = kernel(
        "out",
        {"m": 4, "n": n, "k": k},
        "k",
        access("x", (4, k), ("m", "k")),
        access("turned", (n, k), ("n", "k"), order=(1, 0)),
        access("out", (4, n), ("m", "n"), written=True),
    )
    limit = 2 * k * 128
    found = grouped(turn, multiply, limit=limit)
    assert shapes(found) == [((0, 1), 1)]
    first, second = found.plans
    assert first is not None and second is not None
    assert [str(level) for level in first.levels] == ["parallel(0) 2 x 128", "parallel(1) 2 x 256"]
    assert [str(level) for level in second.levels] == ["parallel(1) 2 x 128"]


def test_common_levels_are_found_again() -> None:
    y = pointwise("y", "x", shape=(16, 20, 64))
    z = pointwise("z", "y", turned=True, shape=(20, 16, 64))
    found = plan_program([y, z], Options(span_limit=LIMIT))
    plans = [plan for plan in found.plans if plan]
    assert common_levels([member_of(y, None), member_of(z, None)], plans) == 1
    swapped = [plans[0], replace(plans[1], levels=plans[1].levels[::-1])]
    assert common_levels([member_of(y, None), member_of(z, None)], swapped) == 0


def test_an_operation_without_kernel_ends_the_run() -> None:
    ops = [pointwise("y", "x"), None, pointwise("z", "v")]
    assert shapes(plan_program(ops, Options(span_limit=LIMIT))) == [((0,), 1), ((2,), 1)]


def test_without_nested_levels_all_are_shared() -> None:
    y = pointwise("y", "x", shape=(16, 20, 64))
    z = pointwise("z", "y", turned=True, shape=(20, 16, 64))
    options = Options(span_limit=LIMIT)
    apart = plan_program([y, z], options, nested=False, materialize=True)
    assert shapes(apart) == [((0,), 1), ((1,), 2)]
    chain = plan_program([pointwise("y", "x"), pointwise("z", "y")], options, nested=False)
    assert shapes(chain) == [((0, 1), 1)]


def test_a_turned_reader_shares_the_dim_under_its_own_number() -> None:
    y = pointwise("y", "x", shape=(16, 20, 64))
    z = pointwise("z", "y", turned=True, shape=(20, 16, 64))
    found = grouped(y, z)
    assert shapes(found) == [((0, 1), 1)]
    assert found.plans[0] is not None and found.plans[1] is not None
    assert str(found.plans[0].levels[0]) == "parallel(1) 5 x 4"
    # What z needs beyond that, it cuts inside the common loop.
    assert list(map(str, found.plans[1].levels)) == ["parallel(0) 5 x 4", "parallel(1) 8 x 2"]


def test_hints_win_and_block_their_readers() -> None:
    hint = TilePlan((Level("parallel", 1, 4, 4),), origin="hint")
    y, z = pointwise("y", "x"), pointwise("z", "y")
    found = grouped(y, pointwise("z", "v"), hints={"y": hint})
    assert found.plans[0] == hint and shapes(found) == [((1,), 1)]
    with pytest.raises(Refusal) as caught:
        grouped(y, z, hints={"y": hint})
    assert caught.value.code == "SPY051"
    assert grouped(y, z, hints={"y": hint, "z": hint}).plans == (hint, hint)


def test_a_closed_loop_is_not_joined() -> None:
    small = pointwise("t", "v", shape=(2, 2, 64))
    with pytest.raises(Refusal) as caught:
        grouped(pointwise("y", "x"), small, pointwise("z", "y"))
    assert caught.value.code == "SPY050"
    assert "z is tiled and reads y" in caught.value.message


def test_loops_over_reduction_ranges_alone_are_joined_by_none() -> None:
    def member(name: str, kind: str, reads: str) -> Member:
        plan = TilePlan((Level(kind, 0, 5, 4),))  # type: ignore[arg-type]
        index = (symbol("a"),)
        return Member(name, name, kind == "reduction", index, ((reads, index),), plan)

    found = group([member("s", "reduction", "x"), member("t", "parallel", "s")])
    assert shapes(found) == [((0,), 1), ((1,), 1)]


def test_no_plan_no_group() -> None:
    small = pointwise("t", "v", shape=(2, 2, 64))
    assert grouped(small) == Grouping((None,), ())
