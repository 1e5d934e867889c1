# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: all families of operations, ranks, element types, layouts, valid regions, symbols,
hints, limits and cores. What the builders refuse is drawn again."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod
from typing import Any

from fuzz_programs import Operand, Program, Statement, Writer, context

from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import parse
from spyre_mlir.hardware import SPAN_LIMIT_BYTES, STICK_BYTES
from spyre_mlir.layouts import device_layout
from spyre_mlir.tensors import TensorType

ELEMENTS_MAX = 3000
"""Most elements of one tensor: programs are run many times."""

STICKS_MAX = 1024
"""Most sticks of a layout that is written: under a small limit each may be a trip of its own."""

BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
UNARY = (
    *("abs", "neg", "exp", "fast_exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh"),
    *("fast_sigmoid", "relu", "relu6", "leaky_relu", "gelu", "silu", "mish", "softplus", "floor"),
    "identity",
)
REDUCTIONS = ("sum", "max", "min", "mean", "absmax")
WITHOUT_FUNCTION = ("fmod", "sin", "cos", "argmax", "argmin", "sort")
"""Operations that the device has no function for: drawn seldom, for the stages before lowering."""


class Generator:
    """One program, by seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        r = self.random
        rank = r.choice([1, 2, 2, 2, 3, 3, 3, 4, 4, 5])
        self.element = r.choices(["f16", "f32", "bf16"], [75, 18, 7])[0]
        self.base = self._shape(rank)
        self.partial = r.random() < 0.25
        self.symbols: tuple[tuple[str, int, int], ...] = ()
        self.box: dict[int, int | str] = {}
        if self.partial:
            self._narrow()

    def _shape(self, rank: int) -> tuple[int, ...]:
        r = self.random
        last = r.choice([1, 3, 32, 63, 64, 64, 64, 65, 70, 100, 128, 128, 130, 192])
        shape = [last]
        for _ in range(rank - 1):
            room = max(1, ELEMENTS_MAX // prod(shape))
            shape.insert(0, r.choice([n for n in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16) if n <= room]))
        return tuple(shape)

    def _narrow(self) -> None:
        """Chooses dims of the base shape that are valid in part only, by size."""
        r = self.random
        for size in dict.fromkeys(self.base):
            if size > 1 and r.random() < 0.5:
                if r.random() < 0.6 and not self.symbols:
                    self.symbols = (("n", r.randint(1, size), size),)
                    self.box[size] = "n"
                else:
                    self.box[size] = r.randint(1, size - 1)

    def program(self) -> Program:
        """The program of the seed."""
        with context(), ir.Location.unknown():
            return _Drawing(self).program()


class _Drawing:
    """Draws statements that the builders accept, one after another."""

    def __init__(self, choices: Generator) -> None:
        self.choices, self.random = choices, choices.random
        r = self.random
        self.arguments = tuple(self._argument() for _ in range(r.choice([1, 1, 2, 2, 3])))
        self.writer = Writer(self.arguments, choices.symbols)
        self.statements: list[Statement] = []
        self.names = [f"a{i}" for i in range(len(self.arguments))]

    def _argument(self) -> TensorType:
        r, base = self.random, self.choices.base
        shape, kind = base, r.random()
        if kind < 0.15 and len(base) > 1:
            shape = tuple(1 if r.random() < 0.4 else n for n in base)
        elif kind < 0.3 and len(base) > 1:
            shape = base[r.randint(1, len(base) - 1) :]
        elif kind < 0.4 and len(base) > 1:
            shape = tuple(r.sample(base, len(base)))
        elif kind < 0.5:
            shape = (*base[:-2], base[-1], r.choice([1, 8, 64, 70]))
        if prod(shape) > 4 * ELEMENTS_MAX:
            shape = base
        element = self.choices.element if r.random() < 0.9 else r.choice(["f16", "i1", "i32"])
        layout = None
        if r.random() < 0.15 and len(shape) > 1 and element == "f16":
            layout = device_layout(shape, element, order=r.sample(range(len(shape)), len(shape)))
            layout = layout if layout.bytes <= STICKS_MAX * STICK_BYTES else None
        valid = None
        if self.choices.box and r.random() < 0.8:
            valid = tuple(self.choices.box.get(n, n) for n in shape)
            valid = tuple(parse(e) if isinstance(e, str) else e for e in valid)
        pad = r.choice([None, None, None, "zero"]) if valid not in (None, shape) else None
        return TensorType(shape, element, layout, False, valid, pad)

    def program(self) -> Program:
        r = self.random
        wanted, tries = r.choice([1, 1, 2, 2, 3, 4, 5, 7]), 0
        while len(self.statements) < wanted and tries < 60:
            tries += 1
            self._draw()
        made = [f"s{s.number}.0" for s in self.statements]
        results = made[-1:] or ["a0"]
        if len(made) > 1 and r.random() < 0.3:
            results.append(r.choice(made[:-1]))
        return Program(
            self.arguments,
            tuple(self.statements),
            tuple(results),
            self.choices.symbols,
            r.choice([1, 2, 3, 4, 4, 7, 8, 32]),
            self._limit(),
            r.random() < 0.97,
            "intersect" if self.choices.partial and r.random() < 0.3 else "agree",
        ).without_unused()

    def _limit(self) -> int:
        """A limit that about half of the programs exceed."""
        r = self.random
        if r.random() < 0.4:
            return SPAN_LIMIT_BYTES
        sticks = max(prod(t.shape[:-1]) * -(-t.shape[-1] // 64) for t in self.arguments)
        return 128 * max(1, r.choice([sticks // 2, sticks // 3, sticks // 4, 2 * sticks, 4, 16]))

    def _draw(self) -> None:
        draw = self.random.choices([f for f, _ in DRAWS], [w for _, w in DRAWS])[0]
        drawn = draw(self)
        if drawn is None:
            return
        op, operands, given = drawn
        hint = self._hint(operands) if op in (*UNARY, *BINARY) else ()
        statement = Statement(len(self.statements), op, tuple(operands), given, hint)
        try:
            names = self.writer.add(statement)
        except (Refusal, ir.MLIRError):
            return
        if any(prod(self.type_of(name).shape) > 4 * ELEMENTS_MAX for name in names):
            for name in names:
                del self.writer.values[name]
            return
        self.statements.append(statement)
        self.names += names[:1] if self.random.random() < 0.8 else names

    def _hint(self, operands: list[Operand]) -> tuple[tuple[int, int], ...]:
        r = self.random
        if r.random() > 0.05 or not isinstance(operands[0], str):
            return ()
        shape = self.type_of(operands[0]).shape
        dim = r.randrange(max(1, len(shape)))
        return ((dim, r.choice([2, 3, 4])),)

    def type_of(self, name: str) -> TensorType:
        return self.writer.type_of(name)

    def pick(self, wanted: Callable[[TensorType], bool] = lambda _: True) -> str | None:
        """A value, the newest ones more often."""
        fitting = [name for name in self.names if wanted(self.type_of(name))]
        if not fitting:
            return None
        weights = [1 + 2 * position for position in range(len(fitting))]
        return self.random.choices(fitting, weights)[0]

    def floating(self) -> str | None:
        return self.pick(lambda t: t.element in ("f16", "f32", "bf16"))


Drawn = tuple[str, list[Any], dict[str, Any]] | None


def _binary(d: _Drawing) -> Drawn:
    r = d.random
    a = d.floating() if r.random() < 0.93 else d.pick(lambda t: t.element == "i32")
    if a is None:
        return None
    left = d.type_of(a)
    op = r.choice(BINARY)
    if left.element == "i32" and op == "div":
        return None
    if r.random() < 0.2:
        return op, [a, r.choice([0.5, 2.0, -1.0, 3.0])], {}
    b = d.pick(lambda t: t.element == left.element and _broadcasts(t.shape, left.shape))
    if b is None:
        return None
    return op, r.sample([a, b], 2), {}


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def _unary(d: _Drawing) -> Drawn:
    a = d.floating()
    op = d.random.choice(UNARY)
    if a is not None and op in ("floor", "log") and d.type_of(a).element == "bf16":
        op = "identity"  # of bf16 kept as a half: what is nearly an integer, or nearly zero, may jump
    return None if a is None else (op, [a], {})


def _clip(d: _Drawing) -> Drawn:
    a = d.floating()
    return None if a is None else ("clip", [a], {"min": -1.0, "max": d.random.choice([0.5, 2.0])})


def _three(d: _Drawing) -> Drawn:
    r = d.random
    a = d.floating()
    if a is None:
        return None
    left = d.type_of(a)
    b, c = (
        d.pick(lambda t: t.element == left.element and _broadcasts(t.shape, left.shape))
        for _ in range(2)
    )
    op = r.choice(["addc", "subc", "addsc", "subsc"])
    return (op, [a, 2.0, c], {}) if op.endswith("sc") else (op, [a, b, c], {})


def _compare(d: _Drawing) -> Drawn:
    drawn = _binary(d)
    if drawn is None:
        return None
    predicate = d.random.choice(["eq", "ne", "gt", "ge", "lt", "le"])
    if any(isinstance(o, str) and d.type_of(o).element == "bf16" for o in drawn[1]):
        return None  # bf16 is kept as a half: what is nearly equal may or may not be equal
    return "cmp", drawn[1], {"predicate": predicate}


def _select(d: _Drawing) -> Drawn:
    mask, a = d.pick(lambda t: t.element == "i1"), d.floating()
    if mask is None or a is None:
        return None
    left = d.type_of(a)
    b = d.pick(lambda t: t.element == left.element and _broadcasts(t.shape, left.shape))
    return d.random.choice([("select", [mask, a, b], {}), ("selects", [mask, a, -1.0], {})])


def _logic(d: _Drawing) -> Drawn:
    a, b = (d.pick(lambda t: t.element == "i1") for _ in range(2))
    return None if a is None or b is None else ("and", [a, b], {})


def _part(d: _Drawing) -> Drawn:
    a = d.floating()
    if a is None:
        return None
    left = d.type_of(a)
    b = d.pick(lambda t: t.element == left.element and t.shape == left.shape)
    return d.random.choice(["part_add", "part_mul", "part_max", "part_min"]), [a, b], {}


def _cast(d: _Drawing) -> Drawn:
    a = d.pick()
    element = d.random.choice(["f16", "f32", "f16"])
    return None if a is None else ("cast", [a], {"element": element})


def _reduce(d: _Drawing) -> Drawn:
    r = d.random
    a = d.floating()
    if a is None or not d.type_of(a).shape:
        return None
    rank = d.type_of(a).rank
    dims = sorted(r.sample(range(rank), r.choice([1, 1, 1, min(2, rank)])))
    if r.random() < 0.1:
        return "prod", [a], {"dims": dims, "keep_dims": r.random() < 0.5}
    return r.choice(REDUCTIONS), [a], {"dims": dims, "keep_dims": r.random() < 0.6}


def _moments(d: _Drawing) -> Drawn:
    a = d.floating()
    return None if a is None else ("exx2", [a], {})


def _norm_scale(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.rank > 0 and t.shape[-1] == 2)
    return None if a is None else ("layernorm_scale", [a], {"eps": 1e-3})


def _norm(d: _Drawing) -> Drawn:
    made = {s.op: s for s in d.statements}
    if "exx2" not in made or "layernorm_scale" not in made:
        return None
    moments, scale = made["exx2"], made["layernorm_scale"]
    source = moments.operands[0]
    weight = d.pick(lambda t: t.shape == d.type_of(str(source)).shape[-1:])
    values = [source, f"s{moments.number}.0", f"s{scale.number}.0", weight, weight]
    return None if weight is None else ("layernorm_norm", values, {})


def _matmul(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.element in ("f16", "bf16") and t.rank > 1)
    if a is None:
        return None
    left = d.type_of(a)
    b = d.pick(lambda t: t.element == left.element and t.rank > 1 and t.shape[-2] == left.shape[-1])
    return None if b is None else ("batch_matmul", [a, b], {})


def _product_with_itself(d: _Drawing) -> Drawn:
    """A transposed operand, to be multiplied with what it was."""
    a = d.pick(lambda t: t.element == "f16" and t.rank > 1)
    if a is None:
        return None
    rank = d.type_of(a).rank
    order = [*range(rank - 2), rank - 1, rank - 2]
    for statement in d.statements:
        if statement.op == "transpose" and list(statement.given["permutation"]) == order:
            source = statement.operands[0]
            return (
                "batch_matmul",
                d.random.choice(
                    [[source, f"s{statement.number}.0"], [f"s{statement.number}.0", source]]
                ),
                {},
            )
    return "transpose", [a], {"permutation": order}


def _accumulate(d: _Drawing) -> Drawn:
    drawn = _matmul(d)
    if drawn is None:
        return None
    a, b = (d.type_of(name).shape for name in drawn[1])
    shape = (*a[:-1], b[-1])
    c = d.pick(lambda t: t.shape == shape and t.element == "f16")
    return None if c is None else ("matmul_acc", [c, *drawn[1]], {})


def _topk(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.rank > 1 and t.element in ("f16",))
    if a is None:
        return None
    dim = d.random.randrange(d.type_of(a).rank)
    k = min(d.type_of(a).shape[dim], d.random.choice([1, 2, 4]))
    return "topk", [a], {"k": k, "dim": dim, "element": "f16"}


def _transpose(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.rank > 1)
    if a is None:
        return None
    rank = d.type_of(a).rank
    return "transpose", [a], {"permutation": d.random.sample(range(rank), rank)}


def _restickify(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.element == "f16")
    return None if a is None else ("restickify", [a], {})


def _reshape(d: _Drawing) -> Drawn:
    r = d.random
    a = d.pick(lambda t: t.rank > 0)
    if a is None:
        return None
    shape = list(d.type_of(a).shape)
    at = r.randrange(len(shape))
    kind = r.random()
    if kind < 0.4 and len(shape) > 1:
        at = min(at, len(shape) - 2)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    elif kind < 0.7:
        divisors = [n for n in (2, 3, 4, 5, 64) if shape[at] % n == 0]
        if not divisors or len(shape) > 4:
            return None
        n = r.choice(divisors)
        shape[at : at + 1] = [shape[at] // n, n]
    elif kind < 0.85 and len(shape) < 5:
        shape.insert(at, 1)
    elif 1 in shape and len(shape) > 1:
        shape.remove(1)
    return "reshape", [a], {"shape": tuple(shape)}


def _broadcast(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: 1 in t.shape or t.rank < 3)
    if a is None:
        return None
    r = d.random
    shape = [r.choice([2, 3, 64]) if n == 1 and r.random() < 0.7 else n for n in d.type_of(a).shape]
    if r.random() < 0.4:
        shape.insert(0, r.choice([2, 3]))
    return "broadcast", [a], {"shape": tuple(shape)}


def _window(d: _Drawing, shape: tuple[int, ...]) -> tuple[list[int], tuple[int, ...]]:
    """Offsets and shape of a window: mostly whole sticks of the last dim."""
    r = d.random
    offsets, sizes = [], []
    for dim, n in enumerate(shape):
        unit = 64 if dim == len(shape) - 1 and r.random() < 0.9 else 1
        units = n // unit
        if units < 2 or r.random() < 0.4:
            offsets.append(0)
            sizes.append(n)
            continue
        start = r.randrange(units)
        offsets.append(start * unit)
        sizes.append(r.randint(1, units - start) * unit)
    return offsets, tuple(sizes)


def _slice(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.rank > 0)
    if a is None:
        return None
    offsets, shape = _window(d, d.type_of(a).shape)
    return "slice", [a], {"static_offsets": offsets, "shape": shape}


def _insert(d: _Drawing) -> Drawn:
    r = d.random
    a = d.pick(lambda t: t.rank > 0)
    if a is None:
        return None
    source = d.type_of(a)
    b = d.pick(
        lambda t: (
            t.element == source.element
            and t.rank == source.rank
            and all(x <= y for x, y in zip(source.shape, t.shape, strict=True))
        )
    )
    if b is None:
        return None
    offsets = [
        0 if x == y else r.choice([0, (y - x) // 64 * 64 if dim == source.rank - 1 else y - x])
        for dim, (x, y) in enumerate(zip(source.shape, d.type_of(b).shape, strict=True))
    ]
    return "insert_slice", [a, b], {"static_offsets": offsets}


def _narrow(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.rank > 0)
    if a is None:
        return None
    r, tensor = d.random, d.type_of(a)
    dim = r.randrange(tensor.rank)
    valid = list(tensor.valid)
    if not isinstance(valid[dim], int) or valid[dim] < 2:
        return None
    symbol = d.choices.symbols
    if symbol and symbol[0][2] <= valid[dim] and r.random() < 0.5:
        valid[dim] = "n"
    else:
        valid[dim] = r.randint(1, valid[dim])
    return "set_valid_shape", [a], {"valid_shape": [e if e == "n" else _spelled(e) for e in valid]}


def _spelled(extent: Any) -> int | str:
    return extent if isinstance(extent, int) else str(extent)


def _concat(d: _Drawing) -> Drawn:
    r = d.random
    a = d.pick(lambda t: t.rank > 0)
    if a is None:
        return None
    left = d.type_of(a)
    dim = r.randrange(left.rank)
    b = d.pick(
        lambda t: (
            t.element == left.element
            and t.rank == left.rank
            and all(
                i == dim or x == y for i, (x, y) in enumerate(zip(left.shape, t.shape, strict=True))
            )
        )
    )
    return None if b is None else ("concat", [a, b], {"dim": dim})


def _fillpad(d: _Drawing) -> Drawn:
    a = d.pick(lambda t: t.valid_shape is not None) or (
        d.pick() if d.random.random() < 0.2 else None
    )
    if a is None:
        return None
    shape = d.type_of(a).shape
    return "fillpad", [a], {"pad": d.random.choice(["zero", "min", "max"]), "shape": shape}


def _full(d: _Drawing) -> Drawn:
    a = d.floating()
    if a is None:
        return None
    tensor = d.type_of(a)
    return "full", [d.random.choice([0.0, 1.5])], {"shape": tensor.shape, "element": tensor.element}


def _loop(d: _Drawing) -> Drawn:
    r = d.random
    a = d.pick(lambda t: t.rank > 1 and t.shape[0] > 1 and t.element in ("f16", "f32"))
    if a is None:
        return None
    rows = d.type_of(a).shape[0]
    divisors = [n for n in range(1, rows) if rows % n == 0]
    given: dict[str, Any] = {"step": r.choice(divisors)}
    if r.random() < 0.5:
        return "map", [a], {**given, "inner": r.choice(["exp", "neg", "relu", "identity"])}
    return "fold", [a], {**given, "inner": r.choice(["add", "maximum", "mul"])}


def _without_function(d: _Drawing) -> Drawn:
    r = d.random
    op = r.choice(WITHOUT_FUNCTION)
    a = d.floating()
    if a is None:
        return None
    if op in ("sin", "cos"):
        return op, [a], {}
    if op == "fmod":
        return op, [a, 2.0], {}
    if op in ("argmax", "argmin"):
        return op, [a], {"dim": 0, "element": "i32"}
    return (op, [a], {"dim": 0}) if op == "sort" else None


DRAWS: tuple[tuple[Callable[[_Drawing], Drawn], float], ...] = (
    (_binary, 22),
    (_unary, 16),
    (_clip, 2),
    (_three, 3),
    (_compare, 4),
    (_select, 4),
    (_logic, 1),
    (_part, 3),
    (_cast, 3),
    (_reduce, 10),
    (_moments, 1.5),
    (_norm_scale, 2),
    (_norm, 4),
    (_matmul, 6),
    (_product_with_itself, 4),
    (_accumulate, 2),
    (_topk, 1.5),
    (_transpose, 6),
    (_restickify, 1.5),
    (_reshape, 4),
    (_broadcast, 3),
    (_slice, 5),
    (_insert, 3),
    (_narrow, 1.5),
    (_concat, 3),
    (_fillpad, 2),
    (_full, 1.5),
    (_loop, 3),
    (_without_function, 0.7),
)
"""What is drawn, and how often."""
