# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows, writes, reshapes and joins against cells counted one by one."""

from __future__ import annotations

import itertools
import random
from math import prod

import numpy as np
import pytest

from spyre_mlir.extents import Extent, evaluate, parse
from spyre_mlir.layouts import Layout
from spyre_mlir.optable import DYNAMIC
from spyre_mlir.prover import NO_FACTS, Facts, arguments
from spyre_mlir.regions import Region, RegionRefusal, check, infer, join, reshaped, written
from spyre_mlir.tensors import TensorType


def tensor(shape: tuple[int, ...], *valid: Extent | str, pad: str | None = None) -> TensorType:
    region = tuple(parse(e) if isinstance(e, str) else e for e in valid)
    return TensorType(shape, "f16", valid_shape=region or None, pad=pad)


def cells(shape: tuple[int, ...], region: Region, at: tuple[int, ...] | None = None) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    at = at or (0,) * len(shape)
    mask[tuple(slice(o, o + e) for o, e in zip(at, region, strict=True))] = True  # type: ignore[operator]
    return mask


def box_of(mask: np.ndarray) -> tuple[int, ...] | None:
    """The box at the origin that these cells fill, or None."""
    if not mask.any():
        return (0,) * mask.ndim
    box = tuple(int(edge.max()) + 1 for edge in np.nonzero(mask))
    return box if prod(box) == mask.sum() else None


def factorings(count: int, rank: int) -> list[tuple[int, ...]]:
    if rank == 1:
        return [(count,)]
    return [
        (size, *rest)
        for size in range(1, count + 1)
        if count % size == 0
        for rest in factorings(count // size, rank - 1)
    ]


@pytest.mark.parametrize("count", [8, 12, 16, 18])
def test_reshape_accepts_exactly_what_is_a_box(count: int) -> None:
    shapes = [shape for rank in (1, 2, 3) for shape in factorings(count, rank)]
    rng = random.Random(count)
    accepted = refused = 0
    for shape in shapes:
        for region in itertools.product(*(range(size + 1) for size in shape)):
            flat = cells(shape, region).reshape(-1)
            for target in rng.sample(shapes, 4):
                expected = box_of(flat.reshape(target))
                found = reshaped(shape, region, target, NO_FACTS)
                if found is None or expected is None:
                    assert found is expected, (shape, region, target, expected)
                    refused += 1
                    continue
                assert (cells(target, found).reshape(-1) == flat).all(), (shape, region, target)
                accepted += 1
    assert accepted > 100 and refused > 20


def test_symbolic_reshape_is_exact_for_every_value() -> None:
    rng = random.Random(9)
    shapes = [s for count in (8, 12, 16, 24) for r in (1, 2, 3) for s in factorings(count, r)]
    accepted = 0
    for _ in range(3000):
        shape = rng.choice(shapes)
        target = rng.choice([s for s in shapes if prod(s) == prod(shape)])
        region = tuple(
            parse(rng.choice(["a", "b"])) if rng.random() < 0.4 else rng.choice([size, size, 1])
            for size in shape
        )
        found = reshaped(shape, region, target, NO_FACTS)
        if found is None:
            continue
        accepted += 1
        highest = min(
            (s for s, e in zip(shape, region, strict=True) if not isinstance(e, int)), default=0
        )
        for a, b in itertools.product(range(highest + 1), repeat=2):
            values = {"a": a, "b": b}
            before = tuple(evaluate(extent, values) for extent in region)
            after = tuple(evaluate(extent, values) for extent in found)
            flat = cells(shape, before).reshape(-1)
            assert all(x <= y for x, y in zip(after, target, strict=True))
            assert (cells(target, after).reshape(-1) == flat).all(), (shape, region, target, found)
    assert accepted > 300


@pytest.mark.parametrize(
    ("before", "target", "region"),
    [
        (tensor((8, 16), 5, 16), (16, 8), (10, 8)),
        (tensor((8, 16), 5, 16), (128,), (80,)),
        (tensor((8, 16), "v", 16), (8, 4, 4), ("v", 4, 4)),
        (tensor((8, 16), "v", 16), (32, 4), ("4 * v", 4)),
        (tensor((1, 8, 16), 1, 5, 5), (8, 16), (5, 5)),
        (tensor((2, 2, 2), 2, 1, 2), (2, 4), (2, 2)),
        (tensor((8, 16), "v", 5), (8, 16, 1), ("v", 5, 1)),
        (tensor((1, 8), "v", 8), (8,), None),
        (tensor((8, 1), 8, "v"), (1, 8, 1), (1, 8, "v")),
        (tensor((8, 16), 5, 16), (4, 32), None),
        (tensor((8, 16), 8, 5), (16, 8), None),
        (tensor((8, 16), "v", 16), (4, 32), None),
    ],
)
def test_reshape_examples(
    before: TensorType, target: tuple[int, ...], region: tuple | None
) -> None:
    if region is None:
        with pytest.raises(RegionRefusal) as refusal:
            infer("reshape", (before,), {"shape": target})
        assert refusal.value.code == "SPY080"
        return
    (result,) = infer("reshape", (before,), {"shape": target})
    assert result.valid == tuple(parse(e) if isinstance(e, str) else e for e in region)


def test_windows_against_cells() -> None:
    for held, offset, size in itertools.product(range(9), range(9), range(1, 9)):
        source = tensor((8,), held)
        attributes = {"static_offsets": (offset,), "shape": (size,)}
        if offset + size > 8:
            with pytest.raises(RegionRefusal) as refusal:
                infer("slice", (source,), attributes)
            assert refusal.value.code == "SPY078"
            continue
        (result,) = infer("slice", (source,), attributes)
        mask = cells((8,), (held,))[offset : offset + size]
        assert result.valid == box_of(mask)


def test_symbolic_windows_for_every_value() -> None:
    facts = arguments((), {"n": (0, 8), "i": (0, 5)})
    for text in ("n", "n - n + 6", "min(n, 5)", "8", "max(n, 2)"):
        source = tensor((8,), text)
        for offset in ("i", "2", "0"):
            given = {"static_offsets": (DYNAMIC,), "shape": (3,)}
            (result,) = infer("slice", (source, parse(offset)), given, facts=facts)
            for n, i in itertools.product(range(9), range(6)):
                values = {"n": n, "i": i}
                held, at = evaluate(source.valid[0], values), evaluate(parse(offset), values)
                mask = cells((8,), (held,))[at : at + 3]
                assert (evaluate(result.valid[0], values),) == box_of(mask)


def test_windows_keep_layout_and_pad() -> None:
    layout = Layout((1, 64, 64), (64, 64, 1))
    source = TensorType((64, 64), "f16", layout, False, (40, 64), "zero")
    (part,) = infer("slice", (source,), {"static_offsets": (0, 0), "shape": (32, 64)})
    assert part == TensorType((32, 64), "f16", layout, True, None, "zero")
    (whole,) = infer("slice", (source,), {"static_offsets": (0, 0), "shape": (64, 64)})
    assert whole == source


def test_a_loop_over_the_valid_part_sees_full_windows() -> None:
    """Induction variables are hidden symbols: they prove, and no type may name them."""
    source = tensor((20, 8), 15, 8)
    facts = NO_FACTS.with_range("iv", 0, 4, hidden=True)
    given = {"static_offsets": (DYNAMIC, 0), "shape": (3, 8)}
    (result,) = infer("slice", (source, parse("3 * iv")), given, facts=facts)
    assert result.valid_shape is None
    wider = facts.with_range("jv", 0, 5, hidden=True)
    for offset, known in ((parse("3 * jv"), wider), (None, NO_FACTS)):
        with pytest.raises(RegionRefusal) as refusal:
            infer("slice", (source, offset), given, facts=known)
        assert refusal.value.code == "SPY079"
    (full,) = infer("slice", (tensor((20, 8)), None), given)
    assert full.valid_shape is None


def test_written_regions_against_cells() -> None:
    shape = (4, 3)
    every = list(itertools.product(range(5), range(4)))
    accepted = 0
    for old, new, at in itertools.product(every, every, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)]):
        target, source = tensor(shape, *old), tensor(shape, *new)
        fits = all(o + e <= s for o, e, s in zip(at, new, shape, strict=True))
        if not fits:
            continue
        expected = box_of(cells(shape, old) | cells(shape, new, at))
        try:
            region = written("write", target, source, at, NO_FACTS)
        except RegionRefusal:
            assert expected is None, (old, new, at)
            continue
        accepted += 1
        union = cells(shape, old) | cells(shape, new, at)
        assert (cells(shape, region) == union).all(), (old, new, at, region)
    assert accepted > 500


def test_insert_slice_has_the_destinations_type() -> None:
    target = tensor((64, 128), 32, 128)
    given = {"static_offsets": (20, 0)}
    assert infer("insert_slice", (tensor((12, 128)), target), given) == (target,)
    with pytest.raises(RegionRefusal) as refusal:
        infer("insert_slice", (tensor((12, 128)), tensor((64, 128), 20, 128)), given)
    assert refusal.value.code == "SPY081"
    assert "spyre.empty over the region [32, 128]" in str(refusal.value)
    # In a loop: the windows stay inside for every value of the induction variable.
    facts = NO_FACTS.with_range("iv", 0, 1, hidden=True)
    moving = {"static_offsets": (DYNAMIC, 0)}
    operands = (tensor((16, 128)), target, parse("16 * iv"))
    assert infer("insert_slice", operands, moving, facts=facts) == (target,)
    with pytest.raises(RegionRefusal, match="not provably inside"):
        infer("insert_slice", (tensor((16, 128)), target, None), moving)
    # Nothing is written, wherever it is.
    nothing = tensor((16, 128), 0, 128)
    assert infer("insert_slice", (nothing, target, None), moving) == (target,)


def test_narrowing_is_proved_and_ends_the_promise_of_a_pad() -> None:
    source = tensor((8, 16), 8, "n", pad="zero")
    facts = arguments((source,), {})
    (same,) = infer("set_valid_shape", (source,), {"valid_shape": (8, parse("n"))}, facts=facts)
    assert same == source
    less = {"valid_shape": (4, parse("n"))}
    (result,) = infer("set_valid_shape", (source,), less, facts=facts)
    assert result.valid == (4, parse("n")) and result.pad is None
    (text,) = infer("set_valid_shape", (source,), {"valid_shape": ("4", "n")}, facts=facts)
    assert text == result
    for region in ((9, parse("n")), (8, parse("n + 1")), (8, parse("n - 1")), (8, 16)):
        with pytest.raises(RegionRefusal) as refusal:
            infer("set_valid_shape", (source,), {"valid_shape": region}, facts=facts)
        assert refusal.value.code == "SPY082"
    with pytest.raises(RegionRefusal) as refusal:
        infer("set_valid_shape", (source,), {"valid_shape": (8,)})
    assert refusal.value.code == "SPY071"


def test_broadcast_transpose_fillpad_and_generators() -> None:
    (wide,) = infer("broadcast", (tensor((4, 1), 3, 1),), {"shape": (2, 4, 8)})
    assert (wide.shape, wide.valid) == ((2, 4, 8), (2, 3, 8))
    with pytest.raises(RegionRefusal, match="SPY073"):
        infer("broadcast", (tensor((4, 1), 3, 0),), {"shape": (4, 8)})
    with pytest.raises(RegionRefusal, match="SPY070"):
        infer("broadcast", (tensor((4, 2)),), {"shape": (4, 8)})
    (turned,) = infer("transpose", (tensor((2, 3, 4), 1, 2, 3),), {"permutation": (2, 0, 1)})
    assert (turned.shape, turned.valid) == ((4, 2, 3), (3, 1, 2))
    (filled,) = infer("fillpad", (tensor((4, 8), 3, "n"),), {"pad": "min"})
    assert (filled.valid_shape, filled.pad) == (None, "min")
    plain = tensor((4, 8))
    assert infer("fillpad", (tensor((4, 8), 3, "n"),), {"pad": "min"}, results=(plain,)) == (plain,)
    (grown,) = infer("fillpad", (tensor((4, 8)),), {"pad": "zero", "shape": (8, 8)})
    assert grown.shape == (8, 8) and grown.valid_shape is None
    with pytest.raises(RegionRefusal, match="shrink"):
        infer("fillpad", (tensor((4, 8)),), {"pad": "zero", "shape": (4, 4)})
    stated = tensor((8,), "n")
    with pytest.raises(RegionRefusal, match="SPY071"):
        infer("empty", (), results=(stated,))
    assert infer("empty", (), results=(stated,), facts=arguments((stated,), {})) == (stated,)
    assert infer("extent", (None,)) == ()


def test_check_and_join() -> None:
    n = tensor((8,), "n")
    check(n, NO_FACTS, what="argument 0", proved=False)
    check(n, arguments((n,), {}), what="result", proved=True)
    for bad, proved in ((tensor((8,), 9), False), (tensor((8,), -1), False), (n, True)):
        with pytest.raises(RegionRefusal, match="SPY071"):
            check(bad, NO_FACTS, what="it", proved=proved)
    two = tensor((8, 8), "min(n, 8)", 4), tensor((8, 8), "n", 4)
    facts = Facts().with_range("n", 0, 8)
    joined = {join(a, b, facts, what="scf.if") for a, b in (two, two[::-1])}
    assert joined == {two[0]}
    with pytest.raises(RegionRefusal) as refusal:
        join(*two, NO_FACTS, what="scf.if")
    assert refusal.value.code == "SPY087" and refusal.value.dim == 0
    with pytest.raises(RegionRefusal, match="pad zero meets None"):
        join(tensor((8,), 4, pad="zero"), tensor((8,), 4), NO_FACTS, what="scf.if")
