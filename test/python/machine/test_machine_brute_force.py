# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine against loops over cores and elements, one address at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir import machine
from spyre_mlir.hardware import LX_BYTES
from spyre_mlir.sdsc.model import Axis, Bundle, Dim, Hbm, Loop, Lx, Operand, Sdsc

LANES, BYTES = 64, 2
LABELS = ("mb", "x", "y", "out")
Draw = Any


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


@st.composite
def operations(draw: Draw) -> Sdsc:
    """`add` or a reduction over rows: random dims, cuts, orders, gaps, operands that stand still."""
    count = draw(st.integers(1, 3))
    labels = (*LABELS[: count - 1], "out")
    extents = [draw(st.integers(1, 4)) for _ in labels[:-1]] + [64 * draw(st.integers(1, 2))]
    sticks = [*extents[:-1], extents[-1] // LANES]
    cut = tuple(
        (label, draw(st.sampled_from(divisors(size))))
        for label, size in zip(labels, sticks, strict=True)
    )
    if prod(slices for _, slices in cut) > 32:
        cut = tuple((label, 1) for label in labels)
    cut = tuple(draw(st.permutations(cut)))

    def operand(number: int, stands: set[str], lx: bool) -> Operand:
        axes = tuple(
            Axis(
                label,
                label not in stands,
                0
                if label in stands
                else draw(st.integers(0, 2)) * (LANES if label == "out" else 1),
            )
            for label in draw(st.permutations(labels))
        )
        place = Lx(128 * draw(st.integers(0, 3))) if lx else Hbm(number, 128 * number)
        return Operand(axes, "out", "SEN169_FP16", place)

    reduces = count > 1 and draw(st.booleans())
    reduced = {draw(st.sampled_from(labels[:-1]))} if reduces else set()
    if reduces:
        inputs = [operand(0, set(), False)]
    else:
        second = {label for label in labels if draw(st.booleans())}
        inputs = [operand(0, set(), False), operand(1, second, False)]
    dims = tuple(Dim(label, extent) for label, extent in zip(labels, extents, strict=True))
    output = operand(len(inputs), reduced, False)
    name = "sumnonstick" if reduces else "add"
    return Sdsc(name, "sfp", dims, (*inputs, output), cut, reads_output=reduces)


def address(sdsc: Sdsc, operand: Operand, core: int, local: dict[str, int]) -> int:
    """Elements from the start of the operand's buffer to its cell on a core."""
    extents, slices = sdsc.extents, sdsc.slices()[core]
    counts = dict(sdsc.cut)
    inner, total, lane = LANES, 0, 0
    for axis in operand.axes:
        if not axis.iterates:
            continue
        at = slices[axis.dim] * (extents[axis.dim] // counts[axis.dim]) + local[axis.dim]
        size = extents[axis.dim] + axis.gap
        if axis.dim == operand.stick:
            at, lane, size = at // LANES, at % LANES, size // LANES
        total += at * inner
        inner *= size
    assert isinstance(operand.place, Hbm)
    return operand.place.offset // BYTES + total + lane


def by_loops(sdsc: Sdsc, memory: list[Any]) -> None:
    """Runs the operation element by element. Sums are exact: the values are small integers."""
    counts = dict(sdsc.cut)
    ranges = [range(dim.extent // counts[dim.label]) for dim in sdsc.dims]
    *inputs, output = sdsc.operands
    sums: dict[int, float] = {}
    for core in range(sdsc.cores):
        for point in product(*ranges):
            local = dict(zip(sdsc.extents, point, strict=True))
            values = [
                memory[k][address(sdsc, operand, core, local)] for k, operand in enumerate(inputs)
            ]
            at = address(sdsc, output, core, local)
            sums[at] = sum(values) + (sums.get(at, 0.0) if sdsc.reads_output else 0.0)
    for at, value in sums.items():
        memory[-1][at] = value


def buffers(sdsc: Sdsc) -> list[Any]:
    rng = np.random.default_rng(0)
    sizes = [o.place.offset + o.bytes(sdsc.extents) for o in sdsc.operands]  # type: ignore[union-attr]
    return [rng.integers(-8, 8, size // BYTES).astype(np.float16) for size in sizes]


@settings(max_examples=60, deadline=None)
@given(sdsc=operations())
def test_one_operation(sdsc: Sdsc) -> None:
    memory = buffers(sdsc)
    done = machine.run_bundle(Bundle((sdsc,)), [m.view(np.uint8) for m in memory])
    by_loops(sdsc, memory)
    for number, wanted in enumerate(memory):
        assert (done.arguments[number].bytes.view(np.float16) == wanted).all()


@settings(max_examples=30, deadline=None)
@given(sdsc=operations(), trips=st.integers(1, 3))
def test_loops_move_operands(sdsc: Sdsc, trips: int) -> None:
    """Every trip works on operands of its own, one behind the other."""
    sizes = [operand.bytes(sdsc.extents) for operand in sdsc.operands]
    moving = [
        replace(operand, place=replace(operand.place, advances=(size,) if any_step else ()))
        for operand, size in zip(sdsc.operands, sizes, strict=True)
        for any_step in (trips > 1,)
    ]
    looped = replace(sdsc, operands=tuple(moving))
    rng = np.random.default_rng(1)
    memory = [
        rng.integers(-8, 8, (operand.place.offset + trips * size) // BYTES).astype(np.float16)  # type: ignore[union-attr]
        for operand, size in zip(sdsc.operands, sizes, strict=True)
    ]
    bundle = Bundle((Loop(trips, (looped,)),))
    done = machine.run_bundle(bundle, [m.view(np.uint8) for m in memory])
    for trip in range(trips):
        shifted = [
            replace(operand, place=Hbm(k, operand.place.offset + trip * size))  # type: ignore[union-attr]
            for k, (operand, size) in enumerate(zip(sdsc.operands, sizes, strict=True))
        ]
        by_loops(replace(sdsc, operands=tuple(shifted)), memory)
    assert (done.arguments[len(memory) - 1].bytes.view(np.float16) == memory[-1]).all()


@settings(max_examples=30, deadline=None)
@given(sdsc=operations())
def test_the_scratchpad_holds_the_slice_of_each_core(sdsc: Sdsc) -> None:
    """Through the scratchpad and back is the identity, and touches no more than the slices."""
    source = sdsc.operands[0]
    there = Operand(
        tuple(replace(axis, gap=0) for axis in source.axes), "out", source.format, Lx(256)
    )
    back = replace(source, place=Hbm(1))
    into = Sdsc("identity", "sfp", sdsc.dims, (source, there), sdsc.cut)
    out = Sdsc("identity", "sfp", sdsc.dims, (there, back), sdsc.cut)
    rng = np.random.default_rng(2)
    size = source.bytes(sdsc.extents)
    x = rng.integers(-8, 8, size // BYTES).astype(np.float16)
    given = [x.view(np.uint8), machine.Buffer.empty(size)]
    done = machine.run_bundle(Bundle((into, out)), given)
    touched = done.touched[1].written
    rows = done.arguments[1].bytes.view(np.float16).reshape(-1, LANES)
    assert (rows[touched] == x.reshape(-1, LANES)[touched]).all()
    assert touched.sum() == prod(sdsc.extents.values()) // LANES
    written = np.flatnonzero(done.touched["lx"].written)
    cores = written // (LX_BYTES // 128)
    assert set(cores.tolist()) == set(range(sdsc.cores))
    per_core = prod(sdsc.extents.values()) // LANES // sdsc.cores
    assert sorted(set((written % (LX_BYTES // 128)).tolist())) == list(range(2, 2 + per_core))
