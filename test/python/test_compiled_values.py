# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs computed from their bundles, element by element, against what the programs mean.

The machine here is the smallest that can be wrong in the same way as the device: it knows of a bundle only extents,
axes, gaps, places and loops, and reads and writes whole sticks. Cells that no one wrote are NaN."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod

import numpy as np
import pytest
from golden_programs import Program, linear, of, scalar, softmax, t

import spyre_mlir
from spyre_mlir import builders as b
from spyre_mlir import interpreter, ir
from spyre_mlir.compiler import Bundle
from spyre_mlir.layouts import Layout, address_of, coordinates_at, device_layout
from spyre_mlir.sdsc import model

LANES = 64
BYTES = 2

Elementwise = Callable[..., float]

ELEMENTWISE: dict[str, Elementwise] = {
    "identity": lambda x: x,
    "ReStickifyOpHBM": lambda x: x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "realdiv": lambda x, y: x / y,
    "exp": np.exp,
    "relufwd": lambda x: max(x, 0.0),
}
REDUCTIONS = {"sum": sum, "max": max}


class Machine:
    """Buffers of f16 elements, as floats, and the bundle that runs on them."""

    def __init__(self, bundle: Bundle, buffers: dict[int | str, np.ndarray]) -> None:
        self.buffers = buffers
        self.run(bundle.model.body, ())

    def run(self, nodes: tuple[model.Sdsc | model.Loop, ...], trips: tuple[int, ...]) -> None:
        for node in nodes:
            if isinstance(node, model.Loop):
                for trip in range(node.trips):
                    self.run(node.body, (*trips, trip))
            else:
                self.operation(node, trips)

    def operation(self, sdsc: model.Sdsc, trips: tuple[int, ...]) -> None:
        valid = {mask.dim: mask.valid for mask in sdsc.mask}
        gathered: dict[int, list[tuple[float, ...]]] = {}
        *reads, written = sdsc.operands
        for point in points(sdsc):
            masked = any(point[dim] >= extent for dim, extent in valid.items())
            if masked and sdsc.function != "exp":
                continue
            values = tuple(
                self.read(operand, place(sdsc, operand, point), trips) for operand in reads
            )
            gathered.setdefault(place(sdsc, written, point), []).append(values)
        for at, cells in gathered.items():
            self.write(written, at, trips, computed(sdsc.function, cells))

    def read(self, operand: model.Operand, element: int, trips: tuple[int, ...]) -> float:
        return float(self.buffer(operand)[self.start(operand, trips) + element])

    def write(
        self, operand: model.Operand, element: int, trips: tuple[int, ...], value: float
    ) -> None:
        self.buffer(operand)[self.start(operand, trips) + element] = value

    def buffer(self, operand: model.Operand) -> np.ndarray:
        assert isinstance(operand.place, model.Hbm)
        return self.buffers[operand.place.buffer]

    def start(self, operand: model.Operand, trips: tuple[int, ...]) -> int:
        assert isinstance(operand.place, model.Hbm)
        advances = operand.place.advances or (0,) * len(trips)
        moved = sum(a * trip for a, trip in zip(advances, trips, strict=True))
        return (operand.place.offset + moved) // BYTES


def points(sdsc: model.Sdsc) -> Iterator[dict[str, int]]:
    names = [dim.label for dim in sdsc.dims]
    for values in product(*(range(dim.extent) for dim in sdsc.dims)):
        yield dict(zip(names, values, strict=True))


def place(sdsc: model.Sdsc, operand: model.Operand, point: dict[str, int]) -> int:
    """Elements from the start of the operand to its cell at `point`."""
    extents = {dim.label: dim.extent for dim in sdsc.dims}
    offset, inner = 0, LANES
    for axis in operand.axes:
        if not axis.iterates:
            continue
        size, at = extents[axis.dim] + axis.gap, point[axis.dim]
        if axis.dim == operand.stick:
            offset += at % LANES
            size, at = size // LANES, at // LANES
        offset += at * inner
        inner *= size
    return offset


def computed(function: str, cells: list[tuple[float, ...]]) -> float:
    name = function.removesuffix("nonstick")
    if name in REDUCTIONS:
        return REDUCTIONS[name](cell[0] for cell in cells)
    if name == "batchmatmul":
        return sum(x * y for x, y in cells if y != 0.0)  # zeros stand where the first factor ends
    return ELEMENTWISE[name](*cells[-1])


def lanes_of(array: np.ndarray, layout: Layout) -> np.ndarray:
    """The device buffer of a host array."""
    buffer = np.full(layout.bytes // BYTES, np.nan)
    for flat, value in enumerate(array.reshape(-1)):
        buffer[address_of(layout, coordinates_at(layout, flat)) // BYTES] = value
    return buffer


def host_array(buffer: np.ndarray, shape: tuple[int, ...], layout: Layout) -> np.ndarray:
    flat = [
        buffer[address_of(layout, coordinates_at(layout, i)) // BYTES] for i in range(prod(shape))
    ]
    return np.array(flat).reshape(shape)


PROGRAMS = {
    "chain": of(4, t(4, 100), t(100))(lambda x, y: b.exp(b.mul(b.add(x, y), scalar(0.5)))),
    "softmax": of(2, t(4, 70))(lambda x: softmax(x, 1)),
    "sum": of(2, t(3, 5, 70))(lambda x: b.sum(x, dims=[1])),
    "product": of(2, t(4, 64), t(64, 70))(b.batch_matmul),
    "unaligned product": of(2, t(4, 70), t(70, 10))(b.batch_matmul),
    "batched": of(2, t(2, 4, 64), t(2, 64, 10))(b.batch_matmul),
    "linear": of(2, t(64, 64), t(4, 64))(lambda w, x: linear(x, w)),
    "unaligned linear": of(2, t(70, 10), t(4, 10))(lambda w, x: linear(x, w)),
    "transposed": of(2, t(70, 10), t(10, 70))(
        lambda x, y: b.add(y, b.transpose(x, permutation=[1, 0]))
    ),
    "permuted": of(2, t(3, 5, 2, 64))(lambda x: b.relu(b.transpose(x, permutation=[2, 0, 1, 3]))),
    "window": of(2, t(6, 192))(
        lambda x: b.relu(b.slice(x, static_offsets=[2, 64], shape=(3, 128)))
    ),
    "window of a transposed tensor": of(2, t(64, 192), t(128, 64))(
        lambda x, y: b.add(
            y,
            b.slice(b.transpose(x, permutation=[1, 0]), static_offsets=[64, 0], shape=(128, 64)),
        )
    ),
    "concat": of(2, t(3, 64), t(3, 70))(lambda x, y: b.concat(x, y, dim=1)),
    "concat of rows": of(2, t(3, 70), t(2, 70))(lambda x, y: b.concat(x, y, dim=0)),
    "split dim": of(2, t(6, 64), t(2, 3, 64))(
        lambda x, y: b.add(b.reshape(x, shape=(2, 3, 64)), y)
    ),
    "merged dims": of(2, t(2, 3, 64), t(6, 64))(lambda x, y: b.add(b.reshape(x, shape=(6, 64)), y)),
    "merged after a transpose": of(2, t(3, 2, 64), t(6, 64))(
        lambda x, y: b.add(b.reshape(b.transpose(x, permutation=[1, 0, 2]), shape=(6, 64)), y)
    ),
    "broadcast": of(2, t(1, 70), t(3, 1))(lambda x, y: b.mul(b.broadcast(x, shape=(3, 70)), y)),
    "full": of(2, t(3, 70))(lambda x: b.sub(b.full(scalar(2.0), shape=(3, 70), element="f16"), x)),
    "returned view": of(2, t(3, 70))(lambda x: b.transpose(x, permutation=[1, 0])),
    "inserted": of(2, t(3, 64), t(5, 192))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[1, 64])
    ),
}


TILED = {
    "add": of(1, t(8, 4, 64), t(8, 4, 64))(b.add),
    "broadcast": of(1, t(8, 4, 64), t(4, 64))(b.mul),
    "sum": of(1, t(8, 4, 64))(lambda x: b.sum(x, dims=[0])),
    "transposed": of(1, t(4, 8, 64), t(8, 4, 64))(
        lambda x, y: b.add(b.transpose(x, permutation=[1, 0, 2]), y)
    ),
    "window": of(1, t(10, 6, 128), t(8, 4, 64))(
        lambda x, y: b.sub(b.slice(x, static_offsets=[1, 2, 64], shape=(8, 4, 64)), y)
    ),
    "split dim": of(1, t(32, 64), t(8, 4, 64))(
        lambda x, y: b.add(b.reshape(x, shape=(8, 4, 64)), y)
    ),
    "chain": of(1, t(8, 4, 64), t(8, 4, 64))(lambda x, y: b.exp(b.add(x, y))),
}
"""Programs that reach further than 1024 bytes."""


def check(program: Program, **options: int) -> Bundle:
    """Compiles a program, runs the bundle, and compares with what the program means."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, a.shape).astype(np.float16) for a in program.arguments]
    with ir.Context():
        module = program.module()
        (expected,) = interpreter.run(module, arrays)
        bundle = spyre_mlir.compile(module, cores=program.cores, **options)
    buffers: dict[int | str, np.ndarray] = {
        number: lanes_of(array, device_layout(array.shape, "f16"))
        for number, array in enumerate(arrays)
    }
    for number, value in bundle.constants.items():
        buffers[number] = np.full(LANES, value)
    result = max(bundle.model.arguments)
    layout = returned_layout(program)
    buffers[result] = np.full(layout.bytes // BYTES, np.nan)
    pool = bundle.model.pool
    buffers[model.POOL] = np.full((pool.bytes or 0) // BYTES if pool else 0, np.nan)
    Machine(bundle, buffers)
    found = host_array(buffers[result], expected.shape, layout)
    assert np.allclose(found, expected.astype(float), atol=2e-2, rtol=2e-2)
    return bundle


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_bundle_computes_the_program(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", TILED.values(), ids=TILED)
def test_loops_compute_the_program(program: Program) -> None:
    bundle = check(program, span_limit=1024)
    assert any(isinstance(node, model.Loop) for node in bundle.model.body)


def returned_layout(program: Program) -> Layout:
    """The layout that the compiler gave to the result."""
    from spyre_mlir import encodings, passmanager

    with ir.Context():
        module = program.module()
        passes = "builtin.module(func.func(spyre-decompose-operations,spyre-assign-layouts))"
        passmanager.run(passmanager.parse(passes), module.operation)
        (function,) = module.body.operations
        (kind,) = function.attributes["function_type"].value.results
        layout = encodings.read(kind).layout
        assert layout is not None
        return layout
