# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations share loops. Observed groupings are cases; here are the default rules."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import contiguous_strides, device_layout
from spyre_mlir.quasiaffine import symbol
from spyre_mlir.tiling import Level, Options, TilePlan
from spyre_mlir.tiling.groups import Grouping, common_levels, group, plan_program
from spyre_mlir.tiling.members import Builder, Member
from spyre_mlir.tiling.seed_groups import SeedMember, group_seed

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
    materialize: bool = True,
) -> Grouping:
    given = {
        position: hints[op.label]
        for position, op in enumerate(kernels)
        if hints and op.label in hints
    }
    options = Options(span_limit=limit)
    return plan_program(kernels, options, hints=given, materialize=materialize)


def members_of(*kernels: Kernel) -> list[Member]:
    builder = Builder(Options(span_limit=LIMIT))
    return [builder.add(k, [a.buffer for a in k.accesses], planned=False) for k in kernels]


def levels(grouping: Grouping, position: int) -> list[str]:
    plan = grouping.plans[position]
    return [] if plan is None else [str(level) for level in plan.levels]


def shapes(grouping: Grouping) -> list[tuple[tuple[int, ...], int]]:
    return [(found.members, found.shared) for found in grouping.groups]


def test_a_pointwise_chain_shares_one_loop() -> None:
    found = grouped(pointwise("y", "x"), pointwise("z", "y"), pointwise("w", "z", "y"))
    assert shapes(found) == [((0, 1, 2), 1)]
    assert len({plan.group for plan in found.plans if plan}) == 1
    assert {str(plan.levels[0]) for plan in found.plans if plan} == {"parallel(1) 8 x 2"}


def test_independent_pointwise_operations_with_equal_plans_share_too() -> None:
    assert shapes(grouped(pointwise("y", "x"), pointwise("z", "v"))) == [((0, 1), 1)]


def test_each_member_cuts_for_itself_what_the_others_need_not() -> None:
    """By itself z needs 4 tiles of b; its producer y, with a wider input, 10 of a inside them."""
    wide = access("x", (20, 32, 64), ("a", "b", "c"), order=(1, 0, 2))
    y = kernel("y", {"a": 20, "b": 16, "c": 64}, "", wide, pointwise("y").accesses[-1])
    found = grouped(y, pointwise("z", "y"), limit=10240)
    assert shapes(found) == [((0, 1), 1)]
    assert levels(found, 0) == ["parallel(1) 4 x 4", "parallel(0) 10 x 2"]
    assert levels(found, 1) == ["parallel(1) 4 x 4"]


def test_a_run_is_cut_anew_for_a_reader() -> None:
    """Alone y needs 8 tiles of b; its reader, whose other operand is wider, 16. So many more tiles
    of y cost as much as a buffer of eight spans."""
    y, z = pointwise("y", "x"), pointwise("z", "y", "v")
    wide = access("v", (40, 16, 64), ("a", "b", "c"))
    z = kernel("z", {"a": 20, "b": 16, "c": 64}, "", z.accesses[0], wide, z.accesses[-1])
    assert levels(grouped(y, limit=5120), 0) == ["parallel(1) 8 x 2"]
    found = grouped(y, z, limit=5120)
    assert shapes(found) == [((0, 1), 1)]
    assert levels(found, 0) == levels(found, 1) == ["parallel(1) 16 x 1"]


def test_a_reduction_joins_and_its_readers_join_it() -> None:
    found = grouped(pointwise("y", "x"), row_sum("s", "y"), limit=8192)
    assert shapes(found) == [((0, 1), 1)]
    y, s = found.plans
    assert y is not None and s is not None
    assert str(y.levels[0]) == "parallel(1) 8 x 2"
    assert str(s.levels[0]) == "parallel(0) 8 x 2"


def over_columns(label: str, read: str) -> Kernel:
    """A reduction over dim 1."""
    accesses = [access(read, SHAPE, ("a", "k", "c"))]
    result = access(label, (20, 64), ("a", "c"), written=True)
    found = kernel(label, {"a": 20, "c": 64, "k": 16}, "k", *accesses, result)
    return replace(found, name="sum", family="reduce")


def spread(label: str, read: str, column: str) -> Kernel:
    """Combines a tensor with what `over_columns` makes."""
    y = pointwise(label, read)
    c = access(column, (20, 64), ("a", "c"))
    return kernel(label, {"a": 20, "b": 16, "c": 64}, "", y.accesses[0], c, y.accesses[-1])


def test_what_is_reduced_over_the_tiled_dim_has_its_full_size() -> None:
    """The sum needs all of b, along which alone y can be cut."""
    y, s = pointwise("y", "x"), over_columns("s", "y")
    found = grouped(y, s)
    assert shapes(found) == [((0,), 1), ((1,), 1)]
    assert levels(found, 0) == ["parallel(1) 8 x 2"]
    assert levels(found, 1)[0].startswith("reduction(0)")
    with pytest.raises(Refusal) as caught:
        grouped(y, s, materialize=False)
    assert caught.value.code == "SPY052" and caught.value.place == 1
    assert "s is tiled and reads y" in str(caught.value)


def test_small_operations_between_are_in_the_loop() -> None:
    """The sum of a tile and its root are small; what they scale is not."""

    def column(label: str, read: str) -> Kernel:
        names, shape = ("b", "c"), SHAPE[1:]
        accesses = [access(read, shape, names), access(label, shape, names, written=True)]
        return kernel(label, {"b": 16, "c": 64}, "", *accesses)

    y, z = pointwise("y", "x"), pointwise("z", "y", "r")
    r = access("r", SHAPE[1:], ("b", "c"))
    z = kernel("z", {"a": 20, "b": 16, "c": 64}, "", z.accesses[0], r, z.accesses[-1])
    found = grouped(y, row_sum("s", "y"), column("r", "s"), z)
    assert shapes(found) == [((0, 1, 2, 3), 1)]
    assert levels(found, 2) == ["parallel(0) 8 x 2"]
    # What nothing in the loop reads stays outside of it.
    found = grouped(y, row_sum("s", "y"), column("r", "s"), column("t", "s"))
    assert shapes(found) == [((0, 1), 1)]
    assert found.plans[2] is None and found.plans[3] is None


def test_what_two_runs_make_is_read_in_one_loop() -> None:
    found = grouped(pointwise("y", "x"), pointwise("v", "u"), pointwise("z", "y", "v"))
    assert shapes(found) == [((0, 1, 2), 1)]


def test_an_intermediate_that_only_fits_in_tiles() -> None:
    """What is reduced cannot be cut along the range: a window of all of y spans too much, a tile
    does not."""
    y, s = pointwise("y", "x"), replace(over_columns("s", "y"), name="op", family="op")
    own = Builder(Options(span_limit=LIMIT)).add(s, ["y", "s"])
    assert own.refusal is not None and own.refusal.code == "SPY042"
    found = grouped(y, s)
    assert shapes(found) == [((0, 1), 1)]
    assert levels(found, 0) == ["parallel(0) 5 x 4", "parallel(1) 8 x 2"]
    assert levels(found, 1) == ["parallel(0) 5 x 4"]
    # With another reader of y, which sees it whole, there is no way.
    with pytest.raises(Refusal) as caught:
        grouped(y, s, replace(pointwise("w", "y", turned=True), name="w"), limit=2000)
    assert caught.value.place == 1


def test_no_circle_of_loops() -> None:
    """w reads y, and the sum of all of y's columns: the loop of y ends before that of the sum."""
    found = grouped(pointwise("y", "x"), over_columns("s", "y"), spread("w", "y", "s"))
    assert shapes(found) == [((0,), 1), ((1,), 1), ((2,), 1)]


def test_no_circle_through_what_is_in_no_loop() -> None:
    """w reads y, and what is made of a reshaped y, behind the loop of y."""
    y, w = pointwise("y", "x"), pointwise("w", "y")
    some = access("y", SHAPE, ("j", "k", "c"))
    few = kernel(
        "s", {"c": 64, "j": 2, "k": 2}, "jk", some, access("s", (64,), ("c",), written=True)
    )
    column = access("s", (64,), ("c",))
    w = kernel("w", {"a": 20, "b": 16, "c": 64}, "", w.accesses[0], column, w.accesses[-1])

    options = Options(span_limit=LIMIT)
    builder = Builder(options)
    members = [
        builder.add(y, ["x", "y"], escapes=False),
        builder.add(few, ["y", "s"], opaque=(0,), escapes=False),
        builder.add(w, ["y", "s", "w"]),
    ]
    assert not members[1].needs_tiles
    assert shapes(group(members, options)) == [((0,), 1), ((2,), 1)]


def test_a_common_loop_is_given_up_where_it_costs_more() -> None:
    """y alone needs 2 tiles, its reader 16, over a buffer of two spans."""
    chain = [pointwise(f"y{n + 1}", f"y{n}") for n in range(4)]
    z = pointwise("z", "y4", "v")
    wide = access("v", (120, 16, 64), ("a", "b", "c"))
    z = kernel("z", {"a": 20, "b": 16, "c": 64}, "", z.accesses[0], wide, z.accesses[-1])
    found = grouped(*chain, z, limit=20480)
    assert shapes(found) == [((0, 1, 2, 3), 1), ((4,), 1)]
    assert levels(found, 0) == ["parallel(1) 2 x 8"]
    assert levels(found, 4) == ["parallel(1) 16 x 1"]


def test_a_long_run_without_a_common_split_is_cut_into_long_intervals() -> None:
    """All of it shares a and c, but the chains are cut along b, which the operation between reduces:
    no tile of a alone is small enough."""
    names = [f"p{n}" for n in range(13)]
    first = [pointwise(name, read) for read, name in pairwise(["x", *names])]
    between = [over_columns("s", names[-1]), spread("q0", "x", "s")]
    second = [pointwise(f"q{n + 1}", f"q{n}") for n in range(12)]
    found = grouped(*first, *between, *second, limit=1024)
    members = [group.members for group in found.groups]
    assert [at for group in members for at in group] == list(range(27))
    assert max(map(len, members)) >= 12


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
    assert common_levels(members_of(y, z), plans) == 1
    swapped = [plans[0], replace(plans[1], levels=plans[1].levels[::-1])]
    assert common_levels(members_of(y, z), swapped) == 0


def test_an_operation_without_kernel_ends_the_run() -> None:
    ops = [pointwise("y", "x"), None, pointwise("z", "v")]
    assert shapes(plan_program(ops, Options(span_limit=LIMIT))) == [((0,), 1), ((2,), 1)]


def test_a_turned_reader_shares_the_dim_under_its_own_number() -> None:
    y = pointwise("y", "x", shape=(16, 20, 64))
    z = pointwise("z", "y", turned=True, shape=(20, 16, 64))
    found = grouped(y, z)
    assert shapes(found) == [((0, 1), 1)]
    assert found.plans[0] is not None and found.plans[1] is not None
    assert str(found.plans[0].levels[0]) == "parallel(1) 5 x 4"
    # What z needs beyond that, it cuts inside the common loop.
    assert levels(found, 1) == ["parallel(0) 5 x 4", "parallel(1) 8 x 2"]


def test_hints_win_and_block_their_readers() -> None:
    hint = TilePlan((Level("parallel", 1, 4, 4),), origin="hint")
    y, z = pointwise("y", "x"), pointwise("z", "y")
    found = grouped(y, pointwise("z", "v"), hints={"y": hint})
    assert found.plans[0] == hint and shapes(found) == [((1,), 1)]
    with pytest.raises(Refusal) as caught:
        grouped(y, z, hints={"y": hint}, materialize=False)
    assert caught.value.code == "SPY051"
    assert shapes(grouped(y, z, hints={"y": hint})) == [((1,), 1)]
    assert grouped(y, z, hints={"y": hint, "z": hint}).plans == (hint, hint)


def test_policy_seed_refuses_what_is_closed_or_joins_nothing() -> None:
    """The open run of the reference ends with a reduction, and with what is not tiled."""

    def member(name: str, kind: str, *reads: str, tiled: bool = True) -> SeedMember:
        plan = TilePlan((Level(kind, 0, 5, 4),))  # type: ignore[arg-type]
        index = (symbol("a"),)
        through = tuple((read, index) for read in reads)
        return SeedMember(name, name, kind == "reduction", index, through, plan if tiled else None)

    found = group_seed([member("s", "reduction", "x"), member("t", "parallel", "s")])
    assert shapes(found) == [((0,), 1), ((1,), 1)]
    y, z = member("y", "parallel", "x"), member("z", "parallel", "y")
    assert shapes(group_seed([y, z])) == [((0, 1), 1)]
    small = member("w", "parallel", "v", tiled=False)
    with pytest.raises(Refusal) as caught:
        group_seed([y, small, z])
    assert caught.value.code == "SPY050"
    assert "z is tiled and reads y" in caught.value.message
    assert shapes(group_seed([y, small, z], materialize=True)) == [((0,), 1), ((2,), 1)]


def test_what_holds_one_tile_is_told() -> None:
    found = grouped(pointwise("y", "x"), pointwise("z", "y"), pointwise("w", "z", "y"))
    assert found.compact == ((1,), (0, 1), (0, 1))


def test_no_plan_no_group() -> None:
    small = pointwise("t", "v", shape=(2, 2, 64))
    assert grouped(small) == Grouping((None,), (), ((),))
