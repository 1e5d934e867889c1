# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs of operations that read one another, under limits that force most of them into tiles:
chains, several readers, reductions in the middle, products, transposed readers, pieces put together."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from spyre_mlir import builders as b
from spyre_mlir import encodings, ir
from spyre_mlir.tensors import TensorType

Value = Any
UNARY = ("neg", "abs", "relu", "tanh", "sigmoid")
BINARY = ("add", "sub", "maximum", "minimum")
REDUCED = ("max", "min", "mean")
STICKS_TURNED = 2 * 64 * 128
"""Bytes of the smallest tile that turns sticks, with as much again for accumulating in f32."""


@dataclass
class Graph:
    """A program, and a limit in bytes that most of its tensors exceed."""

    seed: int
    rng: random.Random = field(init=False)
    shape: tuple[int, ...] = field(init=False)
    span_limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        rank = self.rng.choice((2, 2, 3))
        few = (2, 3, 4, 6, 8)
        rows = [self.rng.choice((64, 96, 128, 192, 256) if rank == 2 else (*few, 12, 16, 24, 48))]
        rows += [self.rng.choice(few) for _ in range(rank - 2)]
        self.shape = (*rows, 64 * self.rng.choice((1, 2, 3, 4)))
        size = 2
        for extent in self.shape:
            size *= extent
        self.span_limit = max(STICKS_TURNED, size // self.rng.choice((1, 2, 3, 5, 8)) - 128)

    def module(self) -> ir.Module:
        """The program, in the current context."""
        from mlir.dialects import func

        with ir.Location.unknown():
            module = ir.Module.create()
            types = [encodings.write(TensorType(self.shape, "f16"))] * 2
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("main", (types, []))
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                results = self.body(list(block.arguments))
                func.ReturnOp(results)
            signature = ir.FunctionType.get(types, [result.type for result in results])
            function.attributes["function_type"] = ir.TypeAttr.get(signature)
        return module

    def body(self, made: list[Value]) -> list[Value]:
        """Adds operations to what is made; the last one and some others are results."""
        arguments = len(made)
        for _ in range(self.rng.randint(3, 12)):
            made.append(self.step(made))
        others = [value for value in made[arguments:-1] if self.rng.random() < 0.15]
        return list(dict.fromkeys([*others, made[-1]]))

    def step(self, made: list[Value]) -> Value:
        """One or a few operations; the result has the shape of the graph."""
        x = self.recent(made)
        dims = len(self.shape)
        kind = self.rng.choice(("unary", "unary", "binary", "binary", "norm", "norm", *OTHERS))
        if kind == "unary":
            return b.build(self.rng.choice(UNARY), x)
        if kind == "binary":
            return b.build(self.rng.choice(BINARY), x, self.recent(made))
        if kind == "norm":
            dim = self.rng.randrange(dims)
            part = b.build(self.rng.choice(REDUCED), x, dims=[dim], keep_dims=True)
            part = b.neg(part) if self.rng.random() < 0.5 else part
            return b.add(x, part)
        if kind == "turned" and dims == 3:
            order = [1, 0, 2]
            y = b.build(self.rng.choice(UNARY), b.transpose(x, permutation=order))
            return b.transpose(y, permutation=order)
        if kind == "product" and dims == 2:
            scores = b.batch_matmul(
                b.tanh(x), b.tanh(b.transpose(self.recent(made), permutation=[1, 0]))
            )
            return b.batch_matmul(b.sigmoid(scores), b.tanh(x))
        if kind == "joined" and self.shape[0] > 1:
            half = self.shape[0] // 2
            rest = (self.shape[0] - half, *self.shape[1:])
            first = b.slice(x, static_offsets=[0] * dims, shape=(half, *self.shape[1:]))
            second = b.slice(x, static_offsets=[half] + [0] * (dims - 1), shape=rest)
            return b.concat(b.neg(second), first, dim=0)
        if kind == "seen" and dims == 3:
            return b.reshape(b.abs(b.reshape(x, shape=(1, *self.shape))), shape=self.shape)
        return b.relu(x)

    def recent(self, made: list[Value]) -> Value:
        """One of the last values, seldom an older one."""
        return made[max(0, len(made) - 1 - int(self.rng.expovariate(0.7)))]


OTHERS = ("turned", "product", "joined", "seen")
