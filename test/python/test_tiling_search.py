# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the search against enumeration: reaches, sizes, products of extents, budgets."""

from __future__ import annotations

import random
from itertools import product
from math import prod

import pytest

from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.quasiaffine import Expression, symbol
from spyre_mlir.tiling import Options, fronts, plan_tiles, search
from spyre_mlir.tiling.fronts import Factor, ProductSearch
from spyre_mlir.tiling.reaches import largest_tile, summands
from spyre_mlir.tiling.sizes import Listed, Multiples, divisors, every_size, exact_sizes


def random_expression(rng: random.Random) -> Expression:
    a, b = symbol("a"), symbol("b")
    d, m = rng.randint(2, 12), rng.randint(2, 6)
    x, y, c = rng.randint(1, 9), rng.randint(1, 20), rng.randint(0, 9)
    return rng.choice(
        [
            (a * x + c) // d,
            (a + c) % d,
            ((a + c) // d) % m,
            ((a * x + c) % (d * m)) // d,
            (a * y + b * x + c) // d,
            ((a * y + b) // d) % m,
            a // d + a * x,
            a % d + (a // d) * m,
            a * y + b,
            (a * y + b) // d + a * 2,
        ]
    )


def test_reaches_are_those_of_the_worst_tile() -> None:
    rng = random.Random(1)
    for _ in range(1500):
        expression = random_expression(rng)
        domains = {"a": rng.randint(1, 40), "b": rng.randint(1, 20)}
        tiles = {name: rng.randint(1, domains[name]) for name in domains}
        for part in summands(expression):
            ranges = [
                [range(k, min(k + tiles[n], domains[n])) for k in range(0, domains[n], tiles[n])]
                for n in part.symbols
            ]
            worst = 0
            for box in product(*ranges):
                values = [
                    part.expression.evaluate(dict(zip(part.symbols, point, strict=True)))
                    for point in product(*box)
                ]
                worst = max(worst, max(values) - min(values))
            assert part.reach(tiles, domains) == worst, (str(expression), domains, tiles)


def test_largest_tile() -> None:
    rng = random.Random(2)
    a = symbol("a")
    for _ in range(300):
        x, d, c, bound = (rng.randint(1, 9) for _ in range(4))
        expression = (a * x + c) // d
        (part,) = summands(expression)
        found = largest_tile(part.expression, bound)
        if found is None:
            continue
        first = [
            part.expression.evaluate({"a": n - 1}) - part.expression.evaluate({"a": 0})
            for n in range(1, 200)
        ]
        assert found == sum(reach <= bound for reach in first), (str(expression), bound)


@pytest.mark.parametrize("units", [1, 2, 17, 36, 97, 100])
def test_multiples_are_the_smallest_tiles_of_each_count(units: int) -> None:
    for cap, largest in product((1, 7, 64), (1, 3, units)):
        if largest > units:
            continue
        best = {}
        for count, tile in every_size(units, cap):
            if tile <= largest:
                best[count] = min(best.get(count, tile), tile)
        sizes = Multiples(units, cap, largest)
        assert list(sizes) == sorted(best.items()) if sizes else not best
        for count in range(1, cap + 1):
            known = best.get(count)
            assert sizes.with_count(count) == (None if known is None else (count, known))
        for limit, most in product((0, 1, 2, 5, units), (1, 4, cap)):
            fitting = [c for c, t in every_size(units, min(cap, most)) if t <= min(largest, limit)]
            first = sizes.first(lambda tile, limit=limit: tile <= limit, most)
            assert (first and first[0]) == (min(fitting) if fitting else None)


def test_an_excluded_tile_is_passed_over() -> None:
    for units, excluded in ((100, 34), (100, 100), (12, 1), (97, 49)):
        sizes = Multiples(units, 64, units, excluded=excluded)
        assert all(tile != excluded for _, tile in sizes)
        least = next((c for c, t in every_size(units, 64) if t <= excluded and t != excluded), None)
        first = sizes.first(lambda tile, excluded=excluded: tile <= excluded, 64)
        assert (first and first[0]) == least and (first is None or first[1] != excluded)


def test_divisors() -> None:
    assert divisors(1) == (1,) and divisors(36) == (1, 2, 3, 4, 6, 9, 12, 18, 36)
    assert exact_sizes(36, 5) == ((1, 36), (2, 18), (3, 12), (4, 9))


def test_products_of_extents_are_minimised() -> None:
    rng = random.Random(3)
    tried = 0
    for _ in range(400):
        count = rng.randint(2, 4)
        units = [rng.randint(1, {2: 60, 3: 20, 4: 9}[count]) for _ in range(count)]
        cap, dims = rng.choice([4, 16, 64]), rng.randint(1, count)
        exact = rng.random() < 0.5
        lists = [exact_sizes(n, cap) if exact else every_size(n, cap) for n in units]
        sizes = [
            Listed(s, nested=True) if exact else Multiples(n, cap, n)
            for n, s in zip(units, lists, strict=True)
        ]
        allowed = rng.randint(1, max(2, prod(units)))
        factors = [Factor(s, lambda t: t, n) for n, s in zip(units, sizes, strict=True)]
        found = ProductSearch(factors, allowed, dims).run()
        costs = []
        for choice in product(*lists):
            counts = tuple(c for c, _ in choice)
            cut = sum(c > 1 for c in counts)
            if cut <= dims and prod(t for _, t in choice) <= allowed:
                costs.append((prod(counts), cut, max(counts), counts))
        if not costs:
            assert found is None
            continue
        assert found is not None and search.cost_of(found) == min(costs), (units, allowed, dims)
        tried += 1
    assert tried > 150


SHAPE = (453, 1127, 808, 105, 114)


def test_a_budget_that_ends_leaves_a_plan_that_is_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    op = kernels_of("add", [SHAPE] * 2, "f16")[0]
    compact = {"x0", "x1", "result"}
    options = Options(remainder="always")
    best = plan_tiles(op, options, compact=compact)
    assert best is not None and best.proved
    monkeypatch.setattr(fronts, "STATES", 1)
    monkeypatch.setattr(search, "STEP_BUDGET", 400)
    plan = plan_tiles(op, options, compact=compact)
    assert plan is not None and not plan.proved and plan.tiles >= best.tiles
    monkeypatch.setattr(search, "STEP_BUDGET", 1)
    with pytest.raises(Refusal) as caught:
        plan_tiles(op, options, compact=compact)
    assert caught.value.code == "SPY044"
