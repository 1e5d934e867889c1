# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of one operation on large shapes: extents logarithmic, primes weighted, ranks 1 to
5, every operation of the table that has a kernel, through views too."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import isqrt, prod
from typing import Any

from spyre_mlir import builders, encodings, ir
from spyre_mlir.kernels import Kernel
from spyre_mlir.operations import kernel_of, walk
from spyre_mlir.optable import OPS, Op
from spyre_mlir.passmanager import parse, run
from spyre_mlir.tensors import TensorType

PREPARE = "builtin.module(spyre-check-program,func.func(spyre-assign-layouts))"

POINTWISE = [
    row
    for row in OPS.values()
    if row.domain is not None and row.tiling == "pointwise" and row.family != "norm"
]
REDUCTIONS = [row for row in OPS.values() if row.family == "reduce"]
OTHERS = [
    *("exx2", "layernorm_scale", "layernorm_norm", "batch_matmul", "matmul_acc", "topk"),
    *("restickify", "insert_slice", "fillpad", "full", "iota", "gather", "scatter"),
]
VIEWS = ["slice", "transpose", "reshape", "broadcast"]

Build = Callable[["Maker"], Any]


def is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))


def random_extent(rng: random.Random, most: int) -> int:
    """Logarithmic up to `most`; every second one is the next prime below."""
    extent = round(2 ** rng.uniform(0, most.bit_length() - 1))
    if rng.random() < 0.5:
        while extent > 2 and not is_prime(extent):
            extent -= 1
    return extent


def random_shape(rng: random.Random, bits: int, rank: int | None = None) -> list[int]:
    """About 2^bits elements in 1 to 5 dims."""
    rank = rng.randint(1, 5) if rank is None else rank
    weights = [rng.random() + 0.05 for _ in range(rank)]
    shape = []
    for weight in weights:
        extent = max(1, round(2 ** (bits * weight / sum(weights)) * rng.uniform(0.6, 1.5)))
        if rng.random() < 0.5:
            while extent > 2 and not is_prime(extent):
                extent -= 1
        shape.append(extent)
    return shape


class Maker:
    """A function under construction: arguments on demand."""

    def __init__(self, rng: random.Random, block: ir.Block) -> None:
        self.rng, self.block = rng, block

    def argument(self, shape: list[int], element: str = "f16") -> ir.Value:
        type = encodings.write(TensorType(tuple(shape), element))
        return self.block.add_argument(type, ir.Location.current)

    def scalar(self, element: str) -> ir.Value:
        type = ir.F16Type.get() if element == "f16" else ir.Type.parse(element)
        return self.block.add_argument(type, ir.Location.current)

    def viewed(self, shape: list[int], element: str = "f16") -> ir.Value:
        """A value of this shape: an argument, or a view of one."""
        view = self.rng.choice([None, None, None, *VIEWS])
        rank = len(shape)
        if view == "slice":
            lanes = 64
            ends = [self.rng.choice([0, 0, 1, 3, 64]) for _ in shape]
            starts = [self.rng.choice([0, end]) for end in ends]
            starts[-1] = starts[-1] // lanes * lanes
            whole = [s + e for s, e in zip(shape, ends, strict=True)]
            source = self.argument(whole, element)
            return builders.slice(source, static_offsets=starts, shape=shape)
        if view == "transpose" and rank > 1:
            order = list(range(rank))
            self.rng.shuffle(order)
            source = self.argument([shape[order.index(i)] for i in range(rank)], element)
            return builders.transpose(source, permutation=order)
        if view == "reshape" and rank > 1:
            at = self.rng.randrange(rank - 1)
            merged = [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]]
            return builders.reshape(self.argument(merged, element), shape=shape)
        if view == "broadcast" and rank > 1:
            narrow = [1 if self.rng.random() < 0.3 else extent for extent in shape]
            return builders.broadcast(self.argument(narrow, element), shape=shape)
        return self.argument(shape, element)


def _element(row: Op) -> str:
    return "f16" if "f16" in row.elements else row.elements[0]


def _pointwise(make: Maker, row: Op, shape: list[int]) -> Any:
    element = _element(row)
    operands = []
    for operand in row.operands:
        if operand.role == "scratch":
            continue
        if operand.kind == "scalar":
            operands.append(make.scalar(element))
        elif operand.role == "predicate":
            operands.append(make.argument(shape, "i1"))
        else:
            operands.append(make.viewed(shape, element))
    given: dict[str, Any] = {"element": "f32"} if row.name == "cast" else {}
    given |= {"predicate": "lt"} if row.name == "cmp" else {}
    given |= {"slope": 0.1} if row.name == "leaky_relu" else {}
    given |= {"min": 0.0, "max": 1.0} if row.name == "clip" else {}
    return builders.build(row.name, *operands, **given)


def _reduction(make: Maker, row: Op, shape: list[int]) -> Any:
    rng, rank = make.rng, len(shape)
    dims = sorted(rng.sample(range(rank), rng.choice([1, 1, 1, min(2, rank)])))
    given: dict[str, Any] = {"keep_dims": rng.random() < 0.5}
    positions = row.name.startswith("arg")
    given |= {"dim": dims[0], "element": "i32"} if positions else {"dims": dims}
    return builders.build(row.name, make.viewed(shape, _element(row)), **given)


def _other(make: Maker, name: str, shape: list[int]) -> Any:
    rng = make.rng
    rows, last = shape[:-1], shape[-1]
    if name in ("batch_matmul", "matmul_acc"):
        shape = shape if len(shape) > 1 else [1, *shape]
        *batch, m, n = shape
        k = random_extent(rng, 1 << 14)
        lhs, rhs = make.viewed([*batch, m, k]), make.viewed([*batch, k, n])
        if name == "matmul_acc":
            return builders.matmul_acc(make.argument(shape), lhs, rhs)
        return builders.batch_matmul(lhs, rhs)
    if name == "topk":
        dim = rng.randrange(len(shape))
        return builders.topk(make.viewed(shape, "f32"), k=min(4, shape[dim]), dim=dim)
    if name == "exx2":
        return builders.exx2(make.viewed(shape))
    if name == "layernorm_scale":
        return builders.layernorm_scale(make.argument([*rows, 2]), eps=1e-5)
    if name == "layernorm_norm":
        sides = [make.argument([*rows, 2]), make.argument([*rows, 1])]
        return builders.layernorm_norm(
            make.viewed(shape), *sides, make.argument([last]), make.argument([last])
        )
    if name == "insert_slice":
        whole = [extent + rng.choice([0, 0, 1, 64]) for extent in shape]
        at = [0] * len(shape)
        return builders.insert_slice(make.viewed(shape), make.argument(whole), static_offsets=at)
    if name in ("gather", "scatter"):
        dim = rng.randrange(len(shape))
        other = [*shape[:dim], random_extent(rng, 1 << 12), *shape[dim + 1 :]]
        if name == "gather":
            places = make.argument([shape[dim]], "i32")
            return builders.gather(make.argument(other), places, dim=dim)
        places = make.argument([other[dim]], "i32")
        return builders.scatter(make.argument(other), places, make.argument(shape), dim=dim)
    if name == "full":
        return builders.full(make.scalar("f16"), shape=shape, element="f16")
    if name == "iota":
        return builders.iota(dim=rng.randrange(len(shape)), shape=shape, element="i32")
    if name == "fillpad":
        return builders.fillpad(make.argument(shape), pad="zero")
    return builders.restickify(make.viewed(shape))


def random_module(seed: int, bits: tuple[int, int] = (20, 38)) -> tuple[str, ir.Module]:
    """(name of the operation, a module with one function that has it), in the current context.

    The result has about 2^bits elements, bits between the two."""
    rng = random.Random(seed)
    kind = rng.choice(["pointwise", "reduction", "other"])
    shape = random_shape(rng, rng.uniform(*bits))
    module = ir.Module.create(loc=ir.Location.unknown())
    from mlir.dialects import func

    with ir.Location.unknown(), ir.InsertionPoint(module.body):
        function = func.FuncOp("main", ir.FunctionType.get([], []))
        block = function.add_entry_block()
        make = Maker(rng, block)
        with ir.InsertionPoint(block):
            if kind == "pointwise":
                row = rng.choice(POINTWISE)
                name, result = row.name, _pointwise(make, row, shape)
            elif kind == "reduction":
                row = rng.choice(REDUCTIONS)
                name, result = row.name, _reduction(make, row, shape)
            else:
                name = rng.choice(OTHERS)
                result = _other(make, name, shape)
            results = list(result) if isinstance(result, tuple) else [result]
            func.ReturnOp(results)
        type = ir.FunctionType.get(
            [a.type for a in block.arguments], [value.type for value in results]
        )
        function.attributes["function_type"] = ir.TypeAttr.get(type)
    module.operation.verify()
    return name, module


def random_kernels(seed: int, bits: tuple[int, int] = (20, 38)) -> list[Kernel]:
    """The kernels of a random program on default layouts, restickifies included."""
    with ir.Context():
        _, module = random_module(seed, bits)
        run(parse(PREPARE), module.operation)
        found = [kernel_of(op) for op in walk(module.operation)]
    return [kernel for kernel in found if kernel is not None]


def elements(kernel: Kernel) -> int:
    """Points of the iteration domain."""
    return prod(kernel.extents.values())
