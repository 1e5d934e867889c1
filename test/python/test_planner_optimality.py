# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random shapes of every operation: each is planned, or proved impossible; and with as few tiles as
brute force over tile sizes finds.

Enumeration needs small shapes, so the limit is scaled down with them; on shapes of up to 2^38
elements a refusal is proved by one tile of the finest size that reaches too far."""

from __future__ import annotations

import gc
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, product
from math import prod
from statistics import median

import numpy as np
import pytest
from oracles.tile_sizes import Enumerated, optimum, optimum_of_policy
from random_programs import elements, random_kernels

from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LOOP_TRIPS_MAX, SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.optable import OPS
from spyre_mlir.tiling import Options, TilePlan, plan_tiles
from spyre_mlir.tiling.candidates import axes_of, constraints_of
from spyre_mlir.tiling.cost import tiles_needed

MOST_CELLS = 1 << 13
"""Cells of a domain that is enumerated."""

MOST_CHOICES = 3000
"""Tile sizes of all axes together that are enumerated."""


def tiles_of(kernel: Kernel, plan: TilePlan | None) -> list[int]:
    """Elements per tile of each dim."""
    sizes = {(level.kind, level.dim): level.size for level in plan.levels} if plan else {}
    found, reduced = [], 0
    for dim in kernel.dims:
        key = ("reduction", reduced) if dim.reduction else ("parallel", dim.host_dim)
        reduced += dim.reduction
        found.append(sizes.get(key, -(-dim.extent // dim.stick) * dim.stick))
    return found


def free_axes(kernel: Kernel, *, reductions: bool) -> list[int]:
    """The dims that may be cut: not those of a scan that count what it chooses."""
    combines = OPS[kernel.name].combine is not None
    read = {name for access in kernel.reads for name in access.index.symbols()}
    chosen = OPS[kernel.name].tiling == "scan"
    return [
        at
        for at, dim in enumerate(kernel.dims)
        if (not dim.reduction or (reductions and combines))
        and dim.extent > dim.stick
        and not (chosen and dim.symbol not in read)
    ]


def small_kernels(first: int) -> Iterator[tuple[int, Kernel]]:
    """Kernels whose tile sizes can be enumerated, with the seeds that they come from."""
    for seed in count(first):
        try:
            kernels = random_kernels(seed, (5, 12))
        except Exception:
            continue  # no program, e.g. positions that the element type does not hold
        for kernel in kernels:
            sizes = prod(-(-dim.extent // dim.stick) for dim in kernel.dims)
            if elements(kernel) <= MOST_CELLS and sizes <= MOST_CHOICES:
                yield seed, kernel


@dataclass
class Tally:
    ours: list[int] = field(default_factory=list)
    policy: list[int] = field(default_factory=list)
    always: list[int] = field(default_factory=list)
    optimum: list[int] = field(default_factory=list)
    needed: list[int] = field(default_factory=list)
    impossible: int = 0
    fits: int = 0


def planned(kernel: Kernel, **options: object) -> TilePlan | str | None:
    try:
        return plan_tiles(kernel, Options(**options))  # type: ignore[arg-type]
    except Refusal as refusal:
        return refusal.code


def compare(seed: int, kernel: Kernel, tally: Tally) -> None:
    rng = random.Random(seed)
    largest = max(access.layout.bytes for access in kernel.accesses)
    limit = max(STICK, round(largest / 2 ** rng.uniform(0, 7)))
    program = Enumerated(kernel, limit)
    plan = planned(kernel, span_limit=limit, reductions="never")
    free = free_axes(kernel, reductions=False)
    if isinstance(plan, str):
        assert plan != "SPY044", (seed, kernel)
        assert not optimum(program, free), (seed, kernel.extents, limit, plan)
        tally.impossible += 1
        return
    assert program.legal(tiles_of(kernel, plan)), (seed, str(plan))
    if plan is None:
        tally.fits += 1
        return
    tally.ours.append(plan.tiles)
    tally.policy.append(optimum_of_policy(program, free))
    every = planned(kernel, span_limit=limit, reductions="never", remainder="always")
    assert isinstance(every, TilePlan)
    tally.always.append(every.tiles)
    tally.optimum.append(optimum(program, free))
    domains = {name: axis.domain for name, axis in axes_of(kernel, reductions="never").items()}
    needed = tiles_needed(constraints_of(kernel, limit, ()), domains)
    assert needed <= tally.optimum[-1], (seed, needed, tally.optimum[-1])
    tally.needed.append(needed)


STICK = 128


def ratios(tally: Tally) -> dict[str, float]:
    """Total and median of our tiles over the optimum of the policy, and over that of any tiles."""
    found = {}
    for name, ours, best in (
        ("fallback over policy", tally.ours, tally.policy),
        ("always over optimum", tally.always, tally.optimum),
        ("fallback over optimum", tally.ours, tally.optimum),
        ("optimum over lower bound", tally.optimum, tally.needed),
    ):
        found[f"{name}, total"] = sum(ours) / sum(best)
        found[f"{name}, median"] = median(a / b for a, b in zip(ours, best, strict=True))
        found[f"{name}, worst"] = max(a / b for a, b in zip(ours, best, strict=True))
    return found


def measure(first: int, wanted: int) -> tuple[Tally, dict[str, float]]:
    tally = Tally()
    for number, (seed, kernel) in enumerate(small_kernels(first)):
        if number == wanted:
            break
        compare(seed, kernel, tally)
    return tally, ratios(tally)


def check_tiles(first: int, wanted: int) -> None:
    tally, found = measure(first, wanted)
    assert len(tally.ours) > wanted // 4, tally
    assert found["fallback over policy, total"] <= 1.1, found
    assert found["fallback over policy, median"] == 1.0, found
    assert found["always over optimum, total"] <= 1.1, found
    assert found["always over optimum, median"] == 1.0, found
    print(len(tally.ours), "tiled,", tally.fits, "fit,", tally.impossible, "impossible", found)


def digits(flat: np.ndarray, kernel: Kernel, number: int) -> Iterator[tuple[np.ndarray, int]]:
    """(coordinates, bytes per step) of each device dim but the stick, from flat indices."""
    layout = kernel.accesses[number].layout
    sizes, steps = layout.device_size, layout.stride_map
    moving = [d for d, (n, s) in enumerate(zip(sizes, steps, strict=True)) if s > 0 and n > 1]
    for dim in sorted(moving, key=lambda d: -steps[d]):
        digit, flat = flat // steps[dim], flat % steps[dim]
        if dim < len(sizes) - 1:
            yield digit, prod(sizes[dim + 1 : -1]) * STICK


def reaches_too_far(kernel: Kernel, tile: list[int], starts: list[int]) -> bool:
    """Whether some span of one tile is over the limit: by its corners, and by the cells of the first
    stick along each dim, all of which are addresses that the tile touches."""
    ends = [min(s + t, d.extent) for s, t, d in zip(starts, tile, kernel.dims, strict=True)]
    points = []
    for start, end in zip(starts, ends, strict=True):
        points.append(sorted({start, end - 1, *range(start, min(end, start + 2))}))
    grid = np.array(list(product(*points)), dtype=object)
    values = {d.symbol: grid[:, at] for at, d in enumerate(kernel.dims)}
    for number, access in enumerate(kernel.accesses):
        flat = access.index.constant + sum(
            coefficient * eval(str(atom), {"floor": np.floor, "Mod": np.mod}, values)
            for atom, coefficient in access.index.terms
        )
        if isinstance(flat, int):
            continue
        for digit, stride in digits(flat, kernel, number):
            extent = max(digit) - min(digit) + 1
            if extent > 1 and extent * stride > SPAN_LIMIT_BYTES:
                return True
    return False


def finest_tiles(kernel: Kernel, free: list[int]) -> list[int]:
    """Elements of the smallest tiles that the loop counter allows."""
    found = []
    for at, dim in enumerate(kernel.dims):
        units = -(-dim.extent // dim.stick)
        least = -(-units // LOOP_TRIPS_MAX) if at in free else units
        found.append(least * dim.stick)
    return found


def some_starts(kernel: Kernel, tile: list[int], rng: random.Random) -> Iterator[list[int]]:
    """The first and the last tile, and others."""
    counts = [-(-d.extent // t) for d, t in zip(kernel.dims, tile, strict=True)]
    yield [0] * len(tile)
    yield [(c - 1) * t for c, t in zip(counts, tile, strict=True)]
    for _ in range(30):
        yield [rng.randrange(c) * t for c, t in zip(counts, tile, strict=True)]


def check_full_size(seed: int) -> Counter[str]:
    """Plans reach nowhere too far in the tiles looked at; refusals are proved by one tile."""
    found: Counter[str] = Counter()
    rng = random.Random(seed)
    try:
        kernels = random_kernels(seed)
    except Exception:
        return Counter({"no program": 1})
    for kernel in kernels:
        plan = planned(kernel)
        if isinstance(plan, str):
            free = free_axes(kernel, reductions=True)
            finest = finest_tiles(kernel, free)
            proof = any(
                reaches_too_far(kernel, finest, s) for s in some_starts(kernel, finest, rng)
            )
            assert proof, (seed, kernel.name, kernel.extents, plan)
            found["impossible"] += 1
            continue
        tile = tiles_of(kernel, plan)
        for starts in some_starts(kernel, tile, rng):
            assert not reaches_too_far(kernel, tile, starts), (seed, kernel.name, str(plan))
        found["tiled" if plan else "fits"] += 1
    return found


def test_tiles_of_a_sample() -> None:
    check_tiles(0, 100)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tiles_of_2000_shapes() -> None:
    check_tiles(1000, 2000)


def test_a_sample_is_planned_or_impossible() -> None:
    found: Counter[str] = Counter()
    for seed in range(100):
        found += check_full_size(seed)
    assert found["tiled"] > 50 and found["no program"] < 10, found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_2000_shapes_are_planned_or_impossible() -> None:
    found: Counter[str] = Counter()
    for seed in range(2000):
        found += check_full_size(seed)
    assert found["tiled"] > 1000 and found["no program"] < 100, found
    print(found)


def test_compact_tiles_of_primes_take_no_longer() -> None:
    times = []
    for shape in (
        (1039, 9, 565, 2692, 709),
        (453, 1127, 808, 105, 114),
        (1009, 1013, 1019, 1021, 1031),
        (809, 1571, 30893, 72),
        (1073741827, 64),
        (99991, 8191, 64),
    ):
        kernel = kernels_of("add", [shape] * 2, "f16")[0]
        for remainder in ("never", "fallback", "always"):
            options = Options(remainder=remainder)
            start = time.process_time()
            try:
                plan_tiles(kernel, options, compact={"x0", "x1", "result"})
            except Refusal as refusal:  # 2^30 + 3 rows have no divisor up to 65535
                assert refusal.code == "SPY040" and shape[0] == 1073741827 and remainder == "never"
            times.append(time.process_time() - start)
    assert median(times) < 0.010 and max(times) < 0.060, times  # the garbage collector included


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_shape_takes_long() -> None:
    times = []
    for seed in range(2000):
        try:
            kernels = random_kernels(seed)
        except Exception:
            continue
        gc.collect(0)
        gc.disable()
        for kernel in kernels:
            start = time.process_time()
            planned(kernel)
            times.append(time.process_time() - start)
        gc.enable()
    print(f"median {median(times) * 1e3:.3f} ms, longest {max(times) * 1e3:.2f} ms")
    assert max(times) < 0.020
