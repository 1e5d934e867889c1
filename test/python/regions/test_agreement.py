# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The elementwise rule and the union against masks computed cell by cell."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest

from spyre_mlir.extents import Extent, evaluate, parse
from spyre_mlir.prover import NO_FACTS, arguments
from spyre_mlir.regions import Part, Region, RegionRefusal, broadcast_shape, combine, infer, unite
from spyre_mlir.tensors import TensorType

LARGEST = 6

Masks = np.ndarray


def tensor(shape: tuple[int, ...], valid: Region | None = None, **more: object) -> TensorType:
    return TensorType(shape, "f16", valid_shape=None if valid == shape else valid, **more)  # type: ignore[arg-type]


def boxes(rank: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(LARGEST + 1), repeat=rank))


def masks(rank: int) -> Masks:
    """One row per box: the cells of a cube that lie in it."""
    cells = np.indices((LARGEST,) * rank).reshape(rank, -1)
    sides = np.array(boxes(rank))
    return np.asarray((cells[None, :, :] < sides[:, :, None]).all(axis=1))


def is_box(rank: int, cells: Masks) -> Masks:
    """Whether each row of cells fills the smallest box at the origin around it."""
    cube = cells.reshape(len(cells), *(LARGEST,) * rank)
    volume = np.ones(len(cells), dtype=np.int64)
    for axis in range(rank):
        others = tuple(1 + other for other in range(rank) if other != axis)
        used = cube.any(axis=others) if others else cube
        volume *= np.where(used.any(axis=1), LARGEST - used[:, ::-1].argmax(axis=1), 0)
    return np.asarray(volume == cells.sum(axis=1))


def outcomes(
    rank: int, decide: Callable[[list[Part], tuple[int, ...]], Region]
) -> dict[tuple[int, int], int]:
    """(i, j) -> the number of the resulting box, or -1 for a refusal, for all unordered pairs."""
    shape = (LARGEST,) * rank
    every = boxes(rank)
    number = {box: i for i, box in enumerate(every)}
    found: dict[tuple[int, int], int] = {}
    for i, j in itertools.combinations_with_replacement(range(len(every)), 2):
        parts = [Part("lhs", shape, every[i]), Part("rhs", shape, every[j])]
        try:
            found[i, j] = number[decide(parts, shape)]  # type: ignore[index]
        except RegionRefusal:
            found[i, j] = -1
    return found


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_all_pairs_agree(rank: int) -> None:
    every = boxes(rank)
    shape = (LARGEST,) * rank
    pairs = itertools.combinations_with_replacement(every, 2)
    for a, b in pairs:
        parts = [Part("lhs", shape, a), Part("rhs", shape, b)]
        if a == b:
            assert combine("add", parts, shape, "agree", NO_FACTS) == a
            continue
        with pytest.raises(RegionRefusal) as refusal:
            combine("add", parts, shape, "agree", NO_FACTS)
        dim = refusal.value.dim
        assert dim is not None and a[dim] != b[dim] and a[:dim] == b[:dim]
        assert refusal.value.extents == (a[dim], b[dim])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_all_pairs_intersect(rank: int) -> None:
    found = outcomes(rank, lambda parts, shape: combine("x", parts, shape, "intersect", NO_FACTS))
    cells = masks(rank)
    left, right = np.array(list(found)).T
    result = np.array(list(found.values()))
    assert (result >= 0).all()
    assert (cells[result] == (cells[left] & cells[right])).all()


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_all_pairs_unite(rank: int) -> None:
    found = outcomes(rank, lambda parts, shape: unite("part_add", parts, shape, NO_FACTS))
    cells = masks(rank)
    left, right = np.array(list(found)).T
    result = np.array(list(found.values()))
    union = cells[left] | cells[right]
    accepted = result >= 0
    assert (accepted == is_box(rank, union)).all()
    assert (cells[result[accepted]] == union[accepted]).all()


def random_part(rng: random.Random, shape: tuple[int, ...], label: str) -> Part:
    """An operand that broadcasts to the shape, some dims 1, some missing."""
    own = shape[rng.randint(0, len(shape)) :] if rng.random() < 0.4 else shape
    physical = tuple(1 if rng.random() < 0.3 else size for size in own)
    # Few different extents, so that agreement is not rare.
    valid = tuple(rng.choice([size, max(size - 1, 0), min(size, 1)]) for size in physical)
    return Part(label, physical, valid)


def cells_of(part: Part, shape: tuple[int, ...]) -> Masks:
    mask = np.zeros(part.shape, dtype=bool)
    mask[tuple(slice(0, extent) for extent in part.valid)] = True  # type: ignore[misc]
    return np.broadcast_to(mask, shape)


def test_broadcasting_operands_against_masks_and_in_every_order() -> None:
    rng = random.Random(3)
    accepted = {"agree": 0, "intersect": 0, "union": 0}
    for _ in range(3000):
        shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 3)))
        parts = [random_part(rng, shape, f"operand{i}") for i in range(rng.randint(2, 4))]
        whole = broadcast_shape("add", parts)
        covers = [cells_of(part, whole) for part in parts]
        for rule in ("agree", "intersect", "union"):
            results = {decided(rule, order, whole) for order in itertools.permutations(parts)}
            assert len(results) == 1, (rule, parts)
            (region,) = results
            if region is None:
                continue
            accepted[rule] += 1
            mask = cells_of(Part("result", whole, region), whole)
            expected = np.logical_or.reduce(covers) if rule == "union" else None
            if expected is None:
                expected = np.logical_and.reduce(covers)
            assert (mask == expected).all(), (rule, parts, region)
    assert min(accepted.values()) > 200, accepted


def decided(rule: str, parts: tuple[Part, ...], shape: tuple[int, ...]) -> Region | None:
    try:
        if rule == "union":
            return unite("part_add", parts, shape, NO_FACTS)
        return combine("add", parts, shape, rule, NO_FACTS)
    except RegionRefusal:
        return None


SYMBOLIC = ("n", "m", "n + 1", "min(n, 8)", "min(m, n)", "max(n, 3)", "8", "4", "2 * n - n")


def test_symbolic_operands_give_one_type_in_every_order() -> None:
    facts = arguments((), {"n": (0, 8), "m": (0, 8)})
    for rule in ("agree", "intersect", "union"):
        for those in itertools.combinations(SYMBOLIC, 3):
            parts = [Part(f"p{i}", (16,), (parse(text),)) for i, text in enumerate(those)]
            results: set[Region | None] = set()
            for order in itertools.permutations(parts):
                try:
                    if rule == "union":
                        results.add(unite("x", order, (16,), facts))
                    else:
                        results.add(combine("x", order, (16,), rule, facts))
                except RegionRefusal:
                    results.add(None)
            assert len(results) == 1, (rule, those, results)
            (region,) = results
            if rule == "intersect":
                assert region is not None
            if region is not None:
                check_values(rule, parts, region)


def check_values(rule: str, parts: list[Part], region: Region) -> None:
    for n in range(9):
        for m in range(9):
            values = {"n": n, "m": m}
            those = [evaluate(part.valid[0], values) for part in parts]
            expected = {"agree": those[0], "intersect": min(those), "union": max(those)}[rule]
            assert evaluate(region[0], values) == expected


def test_the_two_programs_of_the_open_question() -> None:
    full, narrow = tensor((64, 64)), tensor((64, 64), (parse("valid_tok"), 64))
    for operands in ((full, narrow), (narrow, full)):
        with pytest.raises(RegionRefusal) as refusal:
            infer("add", operands)
        text = str(refusal.value)
        assert refusal.value.code == "SPY072" and refusal.value.verdict == "sometimes"
        assert "lhs" in text and "rhs" in text and "dim 0" in text
        assert "accepted, with the region [min(valid_tok, 64), 64]" in text
        (result,) = infer("add", operands, policy="intersect")
        assert result.valid == (parse("min(valid_tok, 64)"), 64)
    facts = arguments((narrow,), {})
    (result,) = infer("add", (full, narrow), policy="intersect", facts=facts)
    assert result.valid == (parse("valid_tok"), 64)


def test_refusals_say_what_helps() -> None:
    with pytest.raises(RegionRefusal) as refusal:
        infer("add", (tensor((8, 16), (8, 4)), tensor((8, 16), (8, 10))))
    assert str(refusal.value).splitlines() == [
        "SPY072: spyre.add: operands lhs and rhs do not provably agree on the valid extent of dim"
        " 1: lhs has 4, rhs has 10",
        "note: an elementwise operation reads every operand at each cell and writes one region",
        "note: under the policy 'intersect' this is accepted, with the region [8, 4]",
        "remedy: narrow rhs with spyre.set_valid_shape to [8, 4], or fill the padding of lhs with"
        " spyre.fillpad first",
    ]
    with pytest.raises(RegionRefusal) as refusal:
        infer("part_max", (tensor((8, 16), (4, 10)), tensor((8, 16), (8, 4))))
    assert refusal.value.code == "SPY075" and refusal.value.extents == (8, 10)
    assert "lhs is valid over [4, 10]" in str(refusal.value)
    with pytest.raises(RegionRefusal) as refusal:
        infer("part_max", (tensor((8,), (parse("n"),)), tensor((8,), (parse("m"),))))
    assert refusal.value.code == "SPY074" and "fails for" in str(refusal.value)
    with pytest.raises(RegionRefusal) as refusal:
        infer("mul", (tensor((8, 16)), tensor((8, 1), (8, parse("n")))))
    assert refusal.value.code == "SPY073" and refusal.value.labels == ("rhs",)
    with pytest.raises(RegionRefusal, match="do not broadcast"):
        infer("mul", (tensor((8, 16)), tensor((8, 3))))


@pytest.mark.parametrize("policy", ["agree", "intersect"])
def test_a_singleton_needs_a_valid_cell_under_every_policy(policy: str) -> None:
    column: tuple[Extent, ...] = (8, 0)
    with pytest.raises(RegionRefusal) as refusal:
        infer("add", (tensor((8, 16)), tensor((8, 1), column)), policy=policy)
    assert refusal.value.code == "SPY073"
    # A result dim of one cell widens nothing.
    (result,) = infer("add", (tensor((8, 1), column), tensor((8, 1), column)), policy=policy)
    assert result.valid == column


def test_unknown_policy() -> None:
    with pytest.raises(ValueError, match="policy"):
        infer("add", (tensor((2,)), tensor((2,), (1,))), policy="trust")


def test_a_partly_valid_column_cannot_be_laid_along_the_wrong_axis() -> None:
    """The fault of a layout repair that turned a [M, 1] operand into [1, M].

    There is no such repair in this dialect: an operand is read by the indexing map of its own
    shape. Written out, a transposed column does not agree with the matrix and is refused."""
    matrix, column = tensor((128, 128), (40, 64)), tensor((128, 1), (40, 1))
    (result,) = infer("add", (matrix, column))
    assert result.valid == (40, 64)
    (turned,) = infer("transpose", (column,), {"permutation": (1, 0)})
    assert (turned.shape, turned.valid) == ((1, 128), (1, 40))
    with pytest.raises(RegionRefusal) as refusal:
        infer("add", (matrix, turned))
    assert (refusal.value.dim, refusal.value.extents) == (1, (64, 40))
