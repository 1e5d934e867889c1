# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the planner answers: the seed's examples, options, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spyre_mlir.accesses import Access
from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LOOP_TRIPS_MAX
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.tiling import Options, plan_tiles
from spyre_mlir.tiling.planner import skipped


def kernel(program: str, *shapes: tuple[int, ...], element: str = "f16") -> Kernel:
    return kernels_of(program, shapes, element)[-1]


def levels(op: Kernel, **options: object) -> str:
    plan = plan_tiles(op, Options(**options))  # type: ignore[arg-type]
    return "none" if plan is None else ", ".join(map(str, plan.levels))


def add(*shape: int, element: str = "f16") -> Kernel:
    return kernel("add", shape, shape, element=element)


def turned_weight(columns: int, inner: int) -> Kernel:
    return kernels_of("linear(x,w)", [(1, inner), (columns, inner)], "f16")[0]


@pytest.mark.parametrize(
    ("op", "options", "expected"),
    [
        (add(1, 8195, 256, 64), {}, "parallel(1) 5 x 1639"),
        (kernel("sum dim=-1", (1, 8195, 256, 64)), {}, "parallel(1) 5 x 1639"),
        (
            kernel("sum dim=0", (2, 20, 16, 64)),
            {"span_limit": 8192},
            "parallel(0) 10 x 2, parallel(1) 8 x 2",
        ),
        (kernel("linear(x,w)", (2, 64), (1024, 64)), {"span_limit": 8192}, "parallel(1) 16 x 64"),
        (add(4096, 4096, 4096, 64), {}, "parallel(1) 4096 x 1, parallel(2) 16 x 256"),
        (add(4096, 4032, 4032, 64), {}, "parallel(1) 4032 x 1, parallel(2) 8 x 504"),
        (turned_weight(49152, 4096), {}, "parallel(0) 2 x 24576, parallel(1) 2 x 2048"),
        (kernel("linear(x,w)", (1, 4096), (49152, 4096)), {}, "parallel(1) 2 x 24576"),
        (add(1, 8192, 256, 64), {}, "parallel(1) 2 x 4096"),  # 256 MiB are over the limit
        (add(1, 8191, 256, 64), {}, "none"),
        (add(150), {"span_limit": 128}, "parallel(0) 2 x 64 + 22"),
    ],
)
def test_the_seeds_examples(op: Kernel, options: dict, expected: str) -> None:
    assert levels(op, **options) == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (add(8192, 49159), "parallel(1) 3 x 12352 + 12103"),
        (kernel("linear(x,w)", (1, 4096), (49216, 4096)), "parallel(1) 1 x 24640 + 24576"),
        (add(1, 8209, 256, 64), "parallel(1) 1 x 4105 + 4104"),  # 8209 is a prime
    ],
)
def test_remainders_where_no_divisor_fits(op: Kernel, expected: str) -> None:
    assert levels(op) == expected


def test_exactness_is_decided_per_level() -> None:
    # Dim 1 is a prime above the cap and takes a remainder; dim 0 has a divisor and keeps it.
    assert levels(add(60, 101, 64), span_limit=128 * 60 * 10) == "parallel(1) 10 x 10 + 1"
    rows = Layout((101, 1, 60, 1, 64), (60 * 64, -1, 64, -1, 1))
    op = add(101, 60, 64)
    loose = replace(op.accesses[0], layout=rows)  # dim 0 outside in one operand, dim 1 in others
    op = replace(op, accesses=(loose, *op.accesses[1:]))
    limit = 128 * 60 * 10
    assert levels(op, span_limit=limit) == "parallel(0) 10 x 10 + 1, parallel(1) 12 x 5"


def test_remainder_option() -> None:
    op = add(100, 64)
    assert levels(op, span_limit=128 * 40) == "parallel(0) 4 x 25"
    assert levels(op, span_limit=128 * 40, remainder="always") == "parallel(0) 2 x 34 + 32"
    assert levels(add(101, 64), span_limit=128 * 40, remainder="never") == "parallel(0) 101 x 1"


def test_caps_are_preferences() -> None:
    assert levels(add(128, 64), span_limit=128) == "parallel(0) 128 x 1"
    assert levels(add(128, 64), span_limit=128 * 2, count_cap=4) == "parallel(0) 64 x 2"
    five = levels(add(*[64] * 6), span_limit=128)
    assert five.count("64 x 1") == 5
    assert levels(add(1, 8195, 256, 64), enabled=False) == "none"


def test_inputs_of_elementwise_operations_count() -> None:
    op = add(64, 64)
    wide = Layout((1, 64, 4, 64), (64, 256, 64, 1))  # rows 4 sticks apart
    first = op.accesses[0]
    strided = Access("x0", "x0", wide, "f16", first.index, False, (64, 64), (64, 1))
    strided = replace(strided, layout=Layout((64, 4, 64), (64, -1, 1)))
    op = replace(op, accesses=(strided, *op.accesses[1:]))
    assert levels(op, span_limit=128 * 64) == "parallel(0) 4 x 16"


def test_device_bytes_count_not_host_bytes() -> None:
    # Booleans take two bytes on the device, 64-bit integers four.
    assert levels(add(8, 64, element="i1"), span_limit=8 * 128) == "none"
    assert levels(add(8, 64, element="i1"), span_limit=4 * 128) == "parallel(0) 2 x 4"
    assert levels(add(8, 32, element="i64"), span_limit=8 * 128) == "none"


def test_a_symbolic_dim_is_not_tiled() -> None:
    op = add(1, 8195, 256, 64)
    op = replace(
        op, dims=tuple(replace(d, symbolic="n" if d.host_dim == 1 else None) for d in op.dims)
    )
    with pytest.raises(Refusal) as caught:
        plan_tiles(op)
    assert caught.value.code == "SPY041"
    assert "its extent is symbolic" in str(caught.value)


def test_a_span_of_the_reduction_is_refused_with_figures() -> None:
    with pytest.raises(Refusal) as caught:
        limited = Options(span_limit=4096 * 128, reductions="never")
        plan_tiles(kernel("sum dim=0", (65536, 64)), limited)
    text = str(caught.value)
    assert caught.value.code == "SPY042"
    assert "x, device dim 1: 65536 steps of 128 bytes span 8388608 bytes, 7864320 over" in text
    assert "dim reduction(0) of extent 65536 cannot be cut: it is a reduction dim" in text


def largest(*shape: int) -> Kernel:
    """The largest over the first dim."""
    return replace(kernel("sum dim=0", shape), name="max")


def test_reduction_ranges_are_cut_where_they_may() -> None:
    limit = {"span_limit": 4096 * 128}
    assert levels(largest(65536, 64), **limit) == "reduction(0) 16 x 4096"
    # Tiles of the operand are cast to f32, which take twice the bytes.
    assert levels(kernel("sum dim=0", (65536, 64)), **limit) == "reduction(0) 32 x 2048"
    # What the result's dims can do alone, they do.
    assert levels(largest(64, 4096, 64), span_limit=128 * 4096) == "parallel(0) 64 x 64"


def test_reduction_ranges_are_cut_where_fewer_operations_run() -> None:
    # A compact operand may be cut along any dim: 4099 rows one by one, or 4 times 16 of the reduced range, three
    # combinations and a copy.
    op = largest(64, 4099, 64)
    for reductions, expected in (
        ("fallback", "parallel(0) 4099 x 1"),
        ("always", "reduction(0) 4 x 16"),
    ):
        options = Options(
            span_limit=16 * 4099 * 128,
            remainder="never",
            reductions=reductions,  # type: ignore[arg-type]
        )
        plan = plan_tiles(op, options, compact={"x"})
        assert plan is not None and ", ".join(map(str, plan.levels)) == expected


def test_a_scan_is_not_cut() -> None:
    op = replace(largest(65536, 64), name="topk", label="'spyre.topk'")
    with pytest.raises(Refusal) as caught:
        plan_tiles(op, Options(span_limit=4096 * 128))
    assert caught.value.code == "SPY042"
    assert "'spyre.topk' cannot combine what it finds in parts of its range" in str(caught.value)


def test_output_and_reduction_dims_together() -> None:
    op = kernel("linear(x,w)", (4096, 8192), (1024, 8192))
    op = replace(op, name="batch_matmul")
    found = levels(op, span_limit=64 * 1024 * 128)
    assert "parallel" in found and "reduction" in found, found


def test_more_tiles_than_the_loop_counter_allows() -> None:
    # Each of 2 * 65535 + 1 rows spans more than the limit allows with two of them.
    rows = 2 * LOOP_TRIPS_MAX + 1
    with pytest.raises(Refusal) as caught:
        plan_tiles(add(rows, 64), Options(span_limit=128 * 2))
    assert caught.value.code == "SPY040"
    assert "can be cut down to 3 elements" in str(caught.value)


def test_indirect_access_is_left_alone() -> None:
    op = add(1, 8195, 256, 64)
    gathered = replace(op.accesses[0], indirect=("c1",))
    op = replace(op, accesses=(gathered, *op.accesses[1:]))
    assert plan_tiles(op) is None
    assert skipped(op) is not None and "indirectly" in str(skipped(op))


def test_compact_tiles_span_less() -> None:
    op = add(64, 1024)
    windows = Options(span_limit=64 * 128)
    assert levels(op, span_limit=64 * 128) == "parallel(1) 16 x 64"
    plan = plan_tiles(op, windows, compact={"x0", "x1", "result"})
    assert plan is not None and plan.tiles == 16


def test_given_tiles_are_kept() -> None:
    op = add(1, 8195, 256, 64)
    plan = plan_tiles(op, given={"c1": 1639})
    assert plan is not None and str(plan.levels[0]) == "parallel(1) 5 x 1639"
    plan = plan_tiles(op, given={"c2": 128})
    assert plan is not None and len(plan.levels) == 2


def test_planning_changes_nothing() -> None:
    op = add(4096, 4096, 4096, 64)
    assert plan_tiles(op) == plan_tiles(op)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (add(1, 8195, 256, 64), "none"),  # 5 cores with 1639 rows each
        (add(1, 8209, 256, 64), "parallel(1) 1 x 4105 + 4104"),  # a prime, cut by no core
        (add(1, 64 * 8195, 256, 64), "parallel(1) 4 x 131120"),  # 20 cores with 6556 rows
        (kernel("linear(x,w)", (1, 4096), (49152, 4096)), "none"),
    ],
)
def test_plans_that_count_on_work_division(op: Kernel, expected: str) -> None:
    assert levels(op, division="counted") == expected


def test_fewer_cores_need_more_tiles() -> None:
    op = add(1, 64 * 8192, 256, 64)
    counts = []
    for cores in (1, 2, 8, 32):
        plan = plan_tiles(op, Options(division="counted", cores=cores))
        counts.append(plan.tiles if plan else 1)
    assert counts[0] == 65 and counts == sorted(counts, reverse=True) and counts[-1] <= 8


def test_reduced_ranges_in_tiles_are_not_counted_on() -> None:
    op = kernel("sum dim=0", (65536, 64))
    small = Options(span_limit=1024 * 128, cores=32)
    assert levels(op, span_limit=2048 * 128, division="counted") == "none"  # 32 cores, one range
    assert plan_tiles(op, replace(small, division="counted")) == plan_tiles(op, small)
