# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs whose valid regions have symbolic extents, for test_symbolic_extents.py.

Types are written `t<4x8xf16: 4, n>`, see `test_symbolic_extents.program`."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import prod

Extent = int | str
Ranges = dict[str, tuple[int, int]]

ROWS = (1, 2, 3, 4, 5, 7, 8, 20, 33, 64, 70)
LANES = (5, 64, 70, 128, 150, 192)


def spelled(shape: list[int], valid: list[Extent]) -> str:
    """A tensor type."""
    sizes = "x".join(map(str, shape))
    region = "" if valid == shape else f": {', '.join(map(str, valid))}"
    return f"t<{sizes}xf16{region}>"


@dataclass
class Chain:
    """A program that computes one value after another."""

    draw: random.Random
    shape: list[int] = field(default_factory=list)
    valid: list[Extent] = field(default_factory=list)
    ranges: Ranges = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    value: str = "%x"

    def start(self) -> None:
        """The first argument."""
        rank = self.draw.randint(1, 4)
        self.shape = [self.draw.choice(ROWS) for _ in range(rank - 1)] + [self.draw.choice(LANES)]
        while prod(self.shape) > 10000:
            self.shape = [max(1, size // 2) for size in self.shape]
        self.valid = [self.extent(size) for size in self.shape]
        self.arguments = [f"%x: {self.type}"]

    def extent(self, size: int) -> Extent:
        """How much of a dim is valid."""
        free = [name for name in "nmk" if name not in self.ranges]
        kind = self.draw.choice(["full", "full", "part", "n", "n", "4 * n", "64 * n", "n + 1"])
        if kind == "full" or not free or (kind in ("n + 1", "part") and size < 2):
            return size
        if kind == "part":
            return self.draw.randint(1, size)
        step = {"4 * n": 4, "64 * n": 64}.get(kind, 1)
        most = (size - (kind == "n + 1")) // step
        if not most:
            return size
        self.ranges[free[0]] = (1, most)
        return kind.replace("n", free[0])

    @property
    def type(self) -> str:
        """The type of the last value."""
        return spelled(self.shape, self.valid)

    def argument(self, shape: list[int], valid: list[Extent]) -> tuple[str, str]:
        """A further argument: its name and type."""
        name, kind = f"%a{len(self.arguments)}", spelled(shape, valid)
        self.arguments.append(f"{name}: {kind}")
        return name, kind

    def add(self, text: str, operands: list[str], shape: list[int], valid: list[Extent]) -> None:
        """An operation; its result is the last value now."""
        name = f"%{len(self.lines)}"
        result = spelled(shape, valid)
        self.lines.append(f"{name} = spyre.{text} : ({', '.join(operands)}) -> {result}")
        self.value, self.shape, self.valid = name, shape, valid

    def step(self) -> None:
        """One more operation."""
        kinds = [self.unary, self.binary, self.broadcast, self.reduction, self.reduction]
        kinds += [self.insertion, self.union, self.filled, self.transposed]
        kinds += [self.product] * (2 * (len(self.shape) == 2))
        self.draw.choice(kinds)()

    def unary(self) -> None:
        name = self.draw.choice(["relu", "exp", "neg", "abs"])
        self.add(f"{name} {self.value}", [self.type], self.shape, self.valid)

    def binary(self) -> None:
        name = self.draw.choice(["add", "mul", "sub"])
        both = [self.type] * 2
        self.add(f"{name} {self.value}, {self.value}", both, self.shape, self.valid)

    def broadcast(self) -> None:
        name, kind = self.argument(self.shape[-1:], self.valid[-1:])
        self.add(f"add {self.value}, {name}", [self.type, kind], self.shape, self.valid)

    def reduction(self) -> None:
        name = self.draw.choice(["sum", "max", "min", "absmax"])
        dims = sorted(
            self.draw.sample(range(len(self.shape)), min(len(self.shape), self.draw.randint(1, 2)))
        )
        shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
        valid = [1 if d in dims else extent for d, extent in enumerate(self.valid)]
        self.add(
            f"{name} {self.value} {{dims = {dims}, keep_dims = true}}", [self.type], shape, valid
        )

    def insertion(self) -> None:
        rows = self.shape[:-1]
        at = [self.draw.choice([0, 1, 3]) for _ in rows] + [self.draw.choice([0, 0, 64, 67])]
        room = [self.draw.choice([0, 2]) for _ in rows] + [self.draw.choice([0, 0, 64])]
        shape = [a + size + more for a, size, more in zip(at, self.shape, room, strict=True)]
        name, kind = self.argument(shape, list(shape))
        self.add(
            f"insert_slice {self.value} into {name}{at}", [self.type, kind], shape, list(shape)
        )

    def union(self) -> None:
        shape, name = self.shape, self.draw.choice(["part_add", "part_max"])
        whole, kind = self.argument(shape, list(shape))
        self.add(f"{name} {whole}, {self.value}", [kind, self.type], shape, list(shape))

    def filled(self) -> None:
        self.add(
            f'fillpad {self.value} {{pad = "zero"}}', [self.type], self.shape, list(self.shape)
        )

    def transposed(self) -> None:
        order = self.draw.sample(range(len(self.shape)), len(self.shape))
        shape, valid = [self.shape[d] for d in order], [self.valid[d] for d in order]
        self.add(f"transpose {self.value} {{permutation = {order}}}", [self.type], shape, valid)

    def product(self) -> None:
        columns = self.draw.choice([10, 64, 70])
        name, kind = self.argument([self.shape[1], columns], [self.valid[1], columns])
        shape, valid = [self.shape[0], columns], [self.valid[0], columns]
        self.add(f"batch_matmul {self.value}, {name}", [self.type, kind], shape, valid)


def random_program(seed: int) -> tuple[str, Ranges]:
    """A function, and the ranges of its symbols."""
    chain = Chain(random.Random(seed))
    chain.start()
    for _ in range(chain.draw.randint(1, 3)):
        chain.step()
    given = ", ".join([*chain.arguments, *(["SYMBOLS"] if chain.ranges else [])])
    body = "\n  ".join([*chain.lines, f"return {chain.value} : {chain.type}"])
    return f"func.func @f({given}) -> {chain.type} {{\n  {body}\n}}", chain.ranges
