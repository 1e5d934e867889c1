# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The planner against every address of every operand of random small operations."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import pytest
from oracles.tiled_addresses import cheapest, covers_once, finest, is_legal
from random_kernels import Case, random_case

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import Layout
from spyre_mlir.spans import spans
from spyre_mlir.tiling import Options, TilePlan, plan_tiles
from spyre_mlir.tiling.search import Remainders

SLOW = pytest.mark.slow


def plan_of(case: Case, **options: object) -> TilePlan | None:
    chosen = Options(span_limit=case.limit, **options)  # type: ignore[arg-type]
    return plan_tiles(case.kernel, chosen, compact=case.compact)


def tiles_of(case: Case, plan: TilePlan | None) -> dict[str, int]:
    by_dim = {dim.host_dim: dim.symbol for dim in case.kernel.dims if not dim.reduction}
    return {by_dim[level.dim]: level.size for level in plan.levels} if plan else {}


def check(seed: int, remainder: Remainders) -> str:
    case = random_case(seed, symbolic=seed % 5 == 0)
    if case is None:
        return "no operation"
    try:
        plan = plan_of(case, remainder=remainder)
    except Refusal as refusal:
        assert refusal.code in ("SPY040", "SPY041", "SPY042"), (seed, str(refusal))
        assert not is_legal(case.program, finest(case.program, case.fixed), case.limit), seed
        return refusal.code
    tiles = tiles_of(case, plan)
    assert is_legal(case.program, tiles, case.limit), (seed, str(plan))
    assert covers_once(case.program, tiles), (seed, str(plan))
    for level in plan.levels if plan else ():
        (dim,) = [d for d in case.kernel.dims if d.host_dim == level.dim]
        assert level.extent == dim.extent and level.size % dim.stick == 0, (seed, str(plan))
    return "plan" if plan else "fits"


def check_ragged(seed: int) -> str:
    """Slices that begin within sticks along dims that end within sticks: plans are legal on every
    cell, and what is refused is not legal on whole sticks."""
    case = random_case(seed, ragged=True)
    if case is None or not case.ragged:
        return "no operation"
    try:
        plan = plan_of(case, remainder=REMAINDERS[seed % 4])
    except Refusal as refusal:
        assert not is_legal(case.program, finest(case.program, case.fixed), case.limit), seed
        return refusal.code
    tiles = tiles_of(case, plan)
    assert is_legal(case.program, tiles, case.limit, padding=False), (seed, str(plan))
    assert covers_once(case.program, tiles), (seed, str(plan))
    return "plan" if plan else "fits"


def check_extents(seed: int) -> None:
    """Untiled extents equal the enumerated ones (cells only, where no stick is rounded up)."""
    case = random_case(seed)
    if case is None or any(d.extent % d.stick for d in case.kernel.dims):
        return
    is_legal(case.program, {}, case.limit)
    for number, access in enumerate(case.kernel.accesses):
        if case.program.operands[number].compact:
            continue
        ours = {span.device_dim: span.extent for span in spans(access, case.kernel.extents)}
        for dim in range(len(access.layout.device_size) - 1):
            assert ours.get(dim, 1) == case.program.worst[number, dim], (seed, access.label, dim)


def check_cost(seed: int) -> None:
    case = random_case(seed)
    if case is None or case.compact:
        return
    units = [-(-d.extent // d.stick) for d in case.kernel.dims if d.symbol not in case.fixed]
    if prod(units) > 250:
        return
    cap, dims = seed % 7 + 2, seed % 3 + 1
    for remainder, exact in (("never", True), ("fallback", True), ("always", False)):
        want = cheapest(case.program, case.limit, case.fixed, cap=cap, max_dims=dims, exact=exact)
        if want is None:
            continue
        plan = plan_of(case, remainder=remainder, count_cap=cap, max_dims=dims)
        counts = [level.tiles for level in plan.levels] if plan else []
        assert (prod(counts), len(counts), max(counts, default=1)) == want, (seed, remainder)


REMAINDERS: tuple[Remainders, ...] = ("fallback", "fallback", "never", "always")


def test_sample() -> None:
    found = Counter(check(seed, REMAINDERS[seed % 4]) for seed in range(400))
    assert found["plan"] > 100 and found["fits"] > 50 and found["SPY042"] > 10
    for seed in range(400):
        check_extents(seed)


def test_ragged_slices() -> None:
    found = Counter(check_ragged(seed) for seed in range(600))
    assert found["plan"] > 60 and found["SPY040"] > 5, found


@SLOW
def test_all_ragged_slices() -> None:
    found = Counter(check_ragged(seed) for seed in range(600, 6000))
    assert found["plan"] > 500, found


def test_cost_of_a_sample() -> None:
    for seed in range(60):
        check_cost(seed)


@SLOW
def test_all() -> None:
    found = Counter(check(seed, REMAINDERS[seed % 4]) for seed in range(400, 6400))
    assert sum(found.values()) - found["no operation"] > 5000
    for seed in range(400, 6400):
        check_extents(seed)


@SLOW
def test_cost_of_all() -> None:
    for seed in range(60, 2000):
        check_cost(seed)


@pytest.mark.parametrize("start", [0, 100])
def test_a_larger_limit_never_needs_more_tiles(start: int) -> None:
    for seed in range(start, start + 100):
        case = random_case(seed)
        if case is None:
            continue
        counts = []
        for limit in (128, 256, 640, 1024, 4096, 1 << 20):
            try:
                plan = plan_of(replace(case, limit=limit), remainder="always", max_dims=5)
            except Refusal:
                counts.append(None)
            else:
                counts.append(plan.tiles if plan else 1)
        known = [count for count in counts if count is not None]
        assert known == sorted(known, reverse=True), (seed, counts)
        assert None not in counts[counts.index(known[0]) :] if known else True, (seed, counts)


def test_a_unit_device_dim_changes_nothing() -> None:
    for seed in range(150):
        case = random_case(seed)
        if case is None:
            continue
        accesses = []
        for number, access in enumerate(case.kernel.accesses):
            at = (seed + number) % len(access.layout.device_size)
            sizes, steps = list(access.layout.device_size), list(access.layout.stride_map)
            sizes.insert(at, 1)
            steps.insert(at, -1)
            accesses.append(replace(access, layout=Layout(tuple(sizes), tuple(steps))))
        wider = replace(case, kernel=replace(case.kernel, accesses=tuple(accesses)))
        results = []
        for variant in (case, wider):
            try:
                results.append(str(plan_of(variant)))
            except Refusal as refusal:
                results.append(refusal.code)
        assert results[0] == results[1], seed


def test_plans_for_windows_are_legal_for_compact_tiles() -> None:
    """What lets a group keep its members' plans when what passes between them becomes a tile."""
    looked = 0
    for seed in range(600):
        case = random_case(seed)
        if case is None or not case.compact:
            continue
        try:
            plan = plan_of(replace(case, compact=set()))
        except Refusal:
            continue
        assert is_legal(case.program, tiles_of(case, plan), case.limit), seed
        looked += 1
    assert looked > 50
