# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poison is never lost and never invented.

For every operation a table of reads, written cell by cell and independent of the interpreter, says
which operand cells a result cell is made of. A random program of one operation must then be refused
exactly if a valid result cell reads a cell that holds no data, and its valid cells must not change
when the values of such cells do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cells import random_values

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import DTYPES, Bound, Cells, evaluate
from spyre_mlir.optable import OPS

Cell = tuple[int, ...]
Shape = tuple[int, ...]
Reads = Callable[[Cell, "Program"], list[tuple[int, Cell]]]
"""(result cell, program) -> (operand, cell) pairs that it reads."""


@dataclass
class Program:
    """One operation with its types; `reads` is the oracle."""

    name: str
    operands: list[Bound]
    result: Shape
    reads: Reads
    element: str = "i32"
    attributes: dict[str, Any] = field(default_factory=dict)
    view: bool = False
    results: int = 1


def _aligned(cell: Cell, shape: Shape) -> Cell:
    tail = cell[len(cell) - len(shape) :]
    return tuple(0 if extent == 1 else i for i, extent in zip(tail, shape, strict=True))


def read_elementwise(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    return [(i, _aligned(cell, bound.shape)) for i, bound in enumerate(program.operands)]


def _valid(cell: Cell, bound: Bound) -> bool:
    return all(i < extent for i, extent in zip(cell, bound.box, strict=True))


def read_reduced(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    dims = program.attributes.get("dims") or (program.attributes["dim"],)
    bound = program.operands[0]
    kept = iter(cell)
    ranges = [range(bound.box[i]) if i in dims else [next(kept)] for i in range(len(bound.shape))]
    row = zip(ranges, bound.box, strict=True)
    if any(i not in dims and r[0] >= e for i, (r, e) in enumerate(row)):
        return [(0, bound.shape)]
    return [(0, point) for point in itertools.product(*ranges)]


def read_line(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    dim, bound = program.attributes["dim"], program.operands[0]
    if cell[dim] >= (program.attributes.get("k") or bound.box[dim]):
        return [(0, tuple(bound.shape))]
    return [(0, (*cell[:dim], i, *cell[dim + 1 :])) for i in range(bound.box[dim])]


def read_product(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    lhs, rhs = program.operands
    *batch, m, n = cell
    ks = range(lhs.box[-1])
    left = _aligned(tuple(batch), lhs.shape[:-2])
    right = _aligned(tuple(batch), rhs.shape[:-2])
    pairs = [((0, (*left, m, k)), (1, (*right, k, n))) for k in ks]
    outside = [] if _valid((*left, m, 0), _wide(lhs, -1)) else [(0, lhs.shape)]
    outside += [] if _valid((*right, 0, n), _wide(rhs, -2)) else [(1, rhs.shape)]
    return [read for pair in pairs for read in pair] + outside


def _wide(bound: Bound, dim: int) -> Bound:
    box = list(bound.box)
    box[dim] = max(1, box[dim])
    return Bound(bound.shape, bound.element, tuple(box))


def read_transposed(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    permutation = program.attributes["permutation"]
    return [(0, tuple(cell[permutation.index(i)] for i in range(len(cell))))]


def read_reshaped(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    flat = int(np.ravel_multi_index(cell, program.result)) if cell else 0
    return [(0, tuple(int(i) for i in np.unravel_index(flat, program.operands[0].shape)))]


def read_window(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    offsets = program.attributes["static_offsets"]
    return [(0, tuple(i + o for i, o in zip(cell, offsets, strict=True)))]


def read_joined(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    dim, at = program.attributes["dim"], cell[program.attributes["dim"]]
    for number, bound in enumerate(program.operands):
        if at < bound.shape[dim]:
            return [(number, (*cell[:dim], at, *cell[dim + 1 :]))]
        at -= bound.shape[dim]
    raise AssertionError


def read_row_of_pairs(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    bound = program.operands[0]
    reads = [(0, (*cell[:-1], i)) for i in range(bound.box[-1])]
    return reads if _valid((*cell[:-1], 0), _wide(bound, -1)) else [(0, bound.shape)]


def read_pair(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    return [(0, (*cell[:-1], i)) for i in (0, 1)]


def read_norm(cell: Cell, program: Program) -> list[tuple[int, Cell]]:
    row = (*cell[:-1], 0)
    return [(0, cell), (1, row), (2, row), (3, cell[-1:]), (4, cell[-1:])]


def _shapes(draw: Any, most: int = 3) -> Shape:
    return tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=most)))


def _bound(draw: Any, shape: Shape, element: str) -> Bound:
    if draw(st.booleans()):
        return Bound(shape, element)
    return Bound(shape, element, tuple(draw(st.integers(0, e)) for e in shape))


def _elementwise(draw: Any) -> Program:
    names = [n for n, op in OPS.items() if op.rule in ("elementwise", "unary", "cast")]
    name = draw(st.sampled_from(names))
    op, shape = OPS[name], _shapes(draw)
    element = draw(st.sampled_from([e for e in op.elements if e in ("f16", "i32", "i1")]))
    count = len([o for o in op.operands if o.role == "value" and o.arity == "one"])
    bounds = []
    for i in range(count):
        cut = draw(st.integers(0, len(shape) - 1)) if i else 0
        ones = [e if i == 0 or draw(st.booleans()) else 1 for e in shape[cut:]]
        kept = shape if op.operands[i].kind == "scalar" else tuple(ones)
        bounds.append(_bound(draw, kept, element))
    attributes = {"clip": {"min": -1.0, "max": 1.0}}.get(name, {})
    if op.family == "compare":
        attributes = {"predicate": "lt"}
    if any(o.kind == "scalar" for o in op.operands):
        name = {"addsc": "addc", "subsc": "subc"}[name]
    return Program(name, bounds, shape, read_elementwise, element, attributes)


def _reduced(draw: Any) -> Program:
    name = draw(
        st.sampled_from(["sum", "max", "min", "absmax", "prod", "mean", "argmax", "argmin"])
    )
    shape = _shapes(draw)
    dims = sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    attributes: dict[str, Any] = {"dims": tuple(dims)}
    if name.startswith("arg"):
        attributes, dims = {"dim": dims[0]}, dims[:1]
    element = "f16" if name == "mean" else "i32"
    result = tuple(e for i, e in enumerate(shape) if i not in dims)
    bound = _bound(draw, shape, element)
    return Program(name, [bound], result, read_reduced, element, attributes)


def _lines(draw: Any) -> Program:
    name, shape = draw(st.sampled_from(["sort", "topk"])), _shapes(draw)
    dim = draw(st.integers(0, len(shape) - 1))
    if name == "sort":
        return Program(name, [_bound(draw, shape, "i32")], shape, read_line, "i32", {"dim": dim})
    k = draw(st.integers(1, shape[dim]))
    result = (*shape[:dim], k, *shape[dim + 1 :])
    box = tuple(draw(st.integers(k if i == dim else 0, e)) for i, e in enumerate(shape))
    bound = Bound(shape, "i32", box)
    return Program(name, [bound], result, read_line, "i32", {"dim": dim, "k": k}, results=2)


def _product(draw: Any) -> Program:
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    batch = draw(st.sampled_from([(), (2,), (3, 1)]))
    lhs = _bound(draw, (*batch, m, k), "i32")
    rhs = _bound(draw, (k, n), "i32")
    return Program("batch_matmul", [lhs, rhs], (*batch, m, n), read_product)


def _move(draw: Any) -> Program:
    shape = _shapes(draw)
    bound = _bound(draw, shape, "i32")
    kind = draw(st.sampled_from(["set_valid_shape", "transpose", "reshape", "slice", "broadcast"]))
    if kind == "transpose":
        permutation = tuple(draw(st.permutations(range(len(shape)))))
        result = tuple(shape[p] for p in permutation)
        attributes: dict[str, Any] = {"permutation": permutation}
        return Program(kind, [bound], result, read_transposed, "i32", attributes, view=True)
    if kind == "reshape":
        flat = int(np.prod(shape))
        split = draw(st.sampled_from([d for d in range(1, flat + 1) if flat % d == 0]))
        return Program(kind, [bound], (split, flat // split), read_reshaped, view=True)
    if kind == "slice":
        offsets = tuple(draw(st.integers(0, e - 1)) for e in shape)
        sizes = zip(shape, offsets, strict=True)
        result = tuple(draw(st.integers(1, e - o)) for e, o in sizes)
        attributes = {"static_offsets": offsets}
        return Program(kind, [bound], result, read_window, "i32", attributes, view=True)
    if kind == "broadcast":
        shape = tuple(1 if draw(st.booleans()) else e for e in shape)
        bound = _bound(draw, shape, "i32")
        result = (2, *(3 if e == 1 else e for e in shape))
        return Program(kind, [bound], result, read_elementwise, view=True)
    attributes = {"valid_shape": shape}
    return Program(kind, [bound], shape, read_elementwise, "i32", attributes, view=True)


def _joined(draw: Any) -> Program:
    shape = _shapes(draw)
    dim = draw(st.integers(0, len(shape) - 1))
    shapes = [(*shape[:dim], draw(st.integers(1, 3)), *shape[dim + 1 :]) for _ in range(3)]
    result = (*shape[:dim], sum(s[dim] for s in shapes), *shape[dim + 1 :])
    bounds = [_bound(draw, s, "i32") for s in shapes]
    return Program("concat", bounds, result, read_joined, "i32", {"dim": dim})


def _norm(draw: Any) -> Program:
    rows = _shapes(draw, 2)
    n = draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["exx2", "layernorm_scale", "layernorm_norm"]))
    pair, whole, one = (*rows, 2), (*rows, n), (*rows, 1)
    if kind == "exx2":
        return Program(kind, [_bound(draw, whole, "f16")], pair, read_row_of_pairs, "f16")
    if kind == "layernorm_scale":
        return Program(kind, [_bound(draw, pair, "f16")], one, read_pair, "f16")
    shapes = [whole, pair, one, (n,), (n,)]
    bounds = [_bound(draw, s, "f16") for s in shapes]
    return Program(kind, bounds, whole, read_norm, "f16")


@st.composite
def programs(draw: Any) -> Program:
    makers = [_elementwise, _elementwise, _reduced, _lines, _product, _move, _joined, _norm]
    program: Program = draw(st.sampled_from(makers))(draw)
    return program


def _element_of_result(program: Program) -> str:
    if program.name.startswith("cmp"):
        return "i1"
    return program.operands[0].element


@st.composite
def situations(draw: Any) -> tuple[Program, tuple[int, ...], list[Any], int]:
    """A program, the valid box that its result claims, and which cells were never written."""
    program = draw(programs())
    if program.name == "cmp_packed":
        program.name = "cmp"
    box = tuple(draw(st.integers(0, e)) for e in program.result)
    if draw(st.booleans()):
        box = _largest_box(program)
    seed = draw(st.integers(0, 1 << 16))
    rng = np.random.default_rng(seed)
    rate = draw(st.sampled_from([0.0, 0.0, 0.1]))
    unwritten = [rng.random(b.shape) < rate for b in program.operands]
    return program, box, unwritten, seed


def _lacking(program: Program, unwritten: list[Any]) -> list[Any]:
    """Per operand, the mask of cells without data."""
    masks = []
    for bound, mask in zip(program.operands, unwritten, strict=True):
        whole = mask.copy()
        for cell in np.ndindex(bound.shape):
            whole[cell] |= not _valid(cell, bound)
        masks.append(whole)
    return masks


def _poisoned(program: Program, lacking: list[Any]) -> Any:
    """The oracle: which result cells read a cell without data (or one that does not exist)."""
    result = np.zeros(program.result, bool)
    for cell in np.ndindex(program.result):
        for number, read in program.reads(cell, program):
            shape = program.operands[number].shape
            exists = all(i < e for i, e in zip(read, shape, strict=True))
            result[cell] |= bool(lacking[number][read]) if exists else True
    return result


def _largest_box(program: Program) -> tuple[int, ...]:
    """A box as large as one dim after the other allows, without cells lacking data."""
    good = ~_poisoned(
        program, _lacking(program, [np.zeros(b.shape, bool) for b in program.operands])
    )
    box = [0] * good.ndim
    if not good.ndim or not good[(0,) * good.ndim]:
        return tuple(box)
    box = [1] * good.ndim
    for dim in range(good.ndim):
        while box[dim] < good.shape[dim]:
            box[dim] += 1
            if not good[tuple(slice(0, e) for e in box)].all():
                box[dim] -= 1
                break
    return tuple(box)


def _run(program: Program, box: Shape, masks: list[Any], arrays: list[Any]) -> tuple[Cells, ...]:
    cells = [
        Cells(array, mask if mask.any() else None)
        for array, mask in zip(arrays, masks, strict=True)
    ]
    element = _element_of_result(program)
    first = "i32" if program.name.startswith("arg") else element
    bounds = [Bound(program.result, e, box) for e in (first, "i32")][: program.results]
    return evaluate(program.name, cells, program.operands, bounds, program.attributes)


def _inputs(program: Program, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays = [random_values(rng, b.shape, b.element) for b in program.operands]
    if program.name in ("div", "fmod", "rem") and program.element == "i32":
        arrays[1] = np.where(arrays[1] == 0, 3, arrays[1]).astype(np.int32)
    if program.name in ("shl", "shr"):
        arrays[1] = np.abs(arrays[1] % 32).astype(np.int32)
    return arrays


@settings(max_examples=600, deadline=None)
@given(situations())
def test_poison_is_neither_lost_nor_invented(situation: Any) -> None:
    program, box, unwritten, seed = situation
    masks = _lacking(program, unwritten)
    expected = _poisoned(program, masks)
    region = tuple(slice(0, e) for e in box)
    beyond = expected
    if program.view:
        clean = [np.zeros(b.shape, bool) for b in program.operands]
        beyond = _poisoned(program, _lacking(program, clean))
    arrays = _inputs(program, seed)
    if not beyond[region].any() and _reads_nothing(program, box):
        with pytest.raises(Refusal, match="SPY132"):
            _run(program, box, masks, arrays)
        return
    if beyond[region].any():
        with pytest.raises(Refusal, match=r"SPY13[02]"):
            _run(program, box, masks, arrays)
        return
    results = _run(program, box, masks, arrays)
    _check_masks(program, box, results, expected)
    _check_no_influence(program, box, masks, arrays, results)


def _reads_nothing(program: Program, box: Shape) -> bool:
    """Whether a reduction has a valid result cell that no cell goes into."""
    names = ("reduce", "moments")
    if OPS[program.name].rule not in names:
        return False
    bound = program.operands[0]
    dims = program.attributes.get("dims") or (program.attributes.get("dim", len(bound.shape) - 1),)
    return any(bound.box[i] == 0 for i in dims) and 0 not in box


def _check_masks(program: Program, box: Shape, results: tuple[Cells, ...], expected: Any) -> None:
    for cells in results:
        mask = np.zeros(program.result, bool) if cells.poison is None else cells.poison
        for cell in np.ndindex(program.result):
            inside = all(i < e for i, e in zip(cell, box, strict=True))
            assert mask[cell] == (bool(expected[cell]) if inside else True)


def _check_no_influence(
    program: Program, box: Shape, masks: list[Any], arrays: list[Any], results: tuple[Cells, ...]
) -> None:
    changed = []
    for bound, array, mask in zip(program.operands, arrays, masks, strict=True):
        other = random_values(np.random.default_rng(99), bound.shape, bound.element, special=True)
        changed.append(np.where(mask, other, array).astype(DTYPES[bound.element]))
    again = _run(program, box, masks, changed)
    for before, after in zip(results, again, strict=True):
        seen = np.zeros(program.result, bool)
        seen[tuple(slice(0, e) for e in box)] = True
        if before.poison is not None:
            seen &= ~before.poison
        assert before.values[seen].tobytes() == after.values[seen].tobytes()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_part_operations_are_a_union(data: Any) -> None:
    draw = data.draw
    shape = _shapes(draw)
    name = draw(st.sampled_from(["part_add", "part_mul", "part_max", "part_min"]))
    bounds = [_bound(draw, shape, "i32") for _ in range(2)]
    box = tuple(draw(st.integers(0, e)) for e in shape)
    program = Program(name, bounds, shape, read_elementwise)
    never = [np.zeros(shape, bool) for _ in bounds]
    masks, arrays = _lacking(program, never), _inputs(program, draw(st.integers(0, 999)))
    region = tuple(slice(0, e) for e in box)
    if (masks[0] & masks[1])[region].any():
        with pytest.raises(Refusal, match="SPY130"):
            _run(program, box, masks, arrays)
        return
    (cells,) = _run(program, box, masks, arrays)
    whole = {"part_add": "add", "part_mul": "mul", "part_max": "maximum", "part_min": "minimum"}
    full = Bound(shape, "i32")
    (both,) = evaluate(whole[name], [Cells(a) for a in arrays], [full, full], [full])
    for cell in itertools.product(*(range(e) for e in box)):
        want = arrays[0] if masks[1][cell] else arrays[1] if masks[0][cell] else both.values
        assert cells.values[cell] == want[cell]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_writes_touch_what_they_write(data: Any) -> None:
    draw = data.draw
    shape = _shapes(draw)
    target = _bound(draw, shape, "i32")
    offsets = tuple(draw(st.integers(0, e - 1)) for e in shape)
    small = tuple(draw(st.integers(1, e - o)) for e, o in zip(shape, offsets, strict=True))
    source = _bound(draw, small, "i32")
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    unwritten = rng.random(shape) < 0.5
    for cell in np.ndindex(shape):
        unwritten[cell] |= not _valid(cell, target)
    old, new = (random_values(rng, s, "i32") for s in (shape, small))
    beyond = np.array([[not _valid(c, source)] for c in np.ndindex(small)]).reshape(small)
    cells = [Cells(new, beyond if beyond.any() else None), Cells(old, unwritten)]
    written = [
        tuple(a + o for a, o in zip(c, offsets, strict=True)) for c in np.ndindex(source.box)
    ]
    bounds = [source, target]
    attributes = {"static_offsets": offsets}
    if any(not _valid(cell, target) for cell in written):
        with pytest.raises(Refusal, match="SPY133"):
            evaluate("insert_slice", cells, bounds, [target], attributes)
        return
    (got,) = evaluate("insert_slice", cells, bounds, [target], attributes)
    mask = np.zeros(shape, bool) if got.poison is None else got.poison
    for cell in np.ndindex(shape):
        fresh = cell in written
        assert mask[cell] == (not fresh and unwritten[cell])
        origin = tuple(a - o for a, o in zip(cell, offsets, strict=True))
        assert got.values[cell] == (new[origin] if fresh else old[cell])


def test_empty_is_all_poison_and_views_keep_it() -> None:
    bound = Bound((2, 3), "f16")
    (fresh,) = evaluate("empty", [], [], [bound])
    assert fresh.poison is not None and fresh.poison.all()
    (turned,) = evaluate(
        "transpose", [fresh], [bound], [Bound((3, 2), "f16")], {"permutation": (1, 0)}
    )
    assert turned.poison is not None and turned.poison.all()
    with pytest.raises(Refusal, match=r"SPY130: spyre.exp: .*valid cell \[0, 0\].*"):
        evaluate("exp", [fresh], [bound], [bound])
    with pytest.raises(Refusal, match=r"SPY130: spyre.insert_slice: .*never written"):
        evaluate(
            "insert_slice", [fresh, fresh], [bound, bound], [bound], {"static_offsets": (0, 0)}
        )


def test_select_reads_the_chosen_branch_only() -> None:
    part, full = Bound((4,), "f16", (2,)), Bound((4,), "f16")
    x = np.arange(4, dtype=np.float16)
    lacking = Cells(x, np.array([False, False, True, True]))
    first = np.array([True, True, False, False])
    kinds = [Bound((4,), "i1"), part, full]
    (got,) = evaluate("select", [Cells(first), lacking, Cells(x)], kinds, [full])
    assert got.poison is None and got.values.tolist() == [0, 1, 2, 3]
    with pytest.raises(Refusal, match=r"SPY130: spyre.select: .*valid cell \[2\]"):
        evaluate("select", [Cells(~first), lacking, Cells(x)], kinds, [full])
