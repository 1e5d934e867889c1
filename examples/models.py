# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of language models as programs, at any size.

    python examples/models.py

writes each of `MODELS` at its full size as a program (.mlir) and why it is tiled as it is (.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spyre_mlir import builders as b
from spyre_mlir import encodings, ir
from spyre_mlir.explanations import Explanation, explain_program
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.tensors import TensorType
from spyre_mlir.tiling import Options
from spyre_mlir.tiling.cost import Cost

Value = Any
FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Model:
    """`about` says what it shows; `shapes` are those of the arguments, f16 each; `body` makes the
    result. `small` is the same at a size that can be run, `span_limit` the limit (bytes) under which
    it needs the same loops."""

    about: str
    shapes: tuple[tuple[int, ...], ...]
    body: Callable[..., Value]
    small: Model | None = None
    span_limit: int = 0

    def module(self) -> ir.Module:
        """The program, in the current context."""
        from mlir.dialects import func

        with ir.Location.unknown():
            module = ir.Module.create()
            types = [encodings.write(TensorType(shape, "f16")) for shape in self.shapes]
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("main", (types, []))
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                result = self.body(*block.arguments)
                func.ReturnOp([result])
            signature = ir.FunctionType.get(types, [result.type])
            function.attributes["function_type"] = ir.TypeAttr.get(signature)
        module.operation.verify()
        return module

    def text(self) -> str:
        """The program as a file."""
        with ir.Context():
            lines = str(self.module()).splitlines()[1:-1]
        about = [f"// {line}" for line in self.about.splitlines()]
        return "\n".join([*about, *(line.removeprefix("  ") for line in lines)]) + "\n"


def scalar(value: float) -> Value:
    """A constant of the program."""
    from mlir.dialects import arith

    return arith.ConstantOp(ir.F16Type.get(), value).result


def linear(x: Value, weight: Value) -> Value:
    """x times the transposed weight, which is stored as (outputs, inputs)."""
    return b.batch_matmul(x, b.transpose(weight, permutation=[1, 0]))


def softmax(x: Value) -> Value:
    """Over the last dim."""
    dim = len(x.type.shape) - 1
    powers = b.exp(b.sub(x, b.max(x, dims=[dim], keep_dims=True)))
    return b.div(powers, b.sum(powers, dims=[dim], keep_dims=True))


def rms_norm(x: Value, weight: Value) -> Value:
    """x over the root of the mean of its squares, scaled."""
    mean = b.mean(b.mul(x, x), dims=[1], keep_dims=True)
    return b.mul(b.mul(x, b.rsqrt(b.add(mean, scalar(1e-5)))), weight)


def rotated(x: Value, cos: Value, sin: Value) -> Value:
    """Rotary positions: the halves of each head change places, the second one negated."""
    tokens, heads, width = x.type.shape
    half = (tokens, heads, width // 2)
    first = b.slice(x, static_offsets=[0, 0, 0], shape=half)
    second = b.slice(x, static_offsets=[0, 0, width // 2], shape=half)
    turned = b.concat(b.neg(second), first, dim=2)
    return b.add(b.mul(x, cos), b.mul(turned, sin))


def lm_head(rows: int, vocabulary: int, hidden: int) -> Model:
    about = (
        f"LM head: {rows} rows times a weight of {vocabulary} x {hidden}, stored with its stick on the\n"
        "reduced dim. The weight is turned before the product."
    )
    return Model(about, ((rows, hidden), (vocabulary, hidden)), linear)


def long_rows(rows: int, columns: int) -> Model:
    about = f"Softmax over {rows} rows of {columns} elements."
    return Model(about, ((rows, columns),), softmax)


def norm(tokens: int, hidden: int) -> Model:
    about = f"RMSNorm of {tokens} tokens of {hidden} elements."
    return Model(about, ((tokens, hidden), (hidden,)), rms_norm)


def gated_mlp(tokens: int, hidden: int, inner: int) -> Model:
    def body(x: Value, scale: Value, gate: Value, up: Value, down: Value) -> Value:
        y = rms_norm(x, scale)
        return b.add(x, linear(b.mul(b.silu(linear(y, gate)), linear(y, up)), down))

    about = (
        f"Gated MLP block: {tokens} tokens of {hidden} elements, {inner} inside, with its norm and\n"
        "residual. Arguments: tokens, scale of the norm, weights gate, up and down."
    )
    wide, narrow = (inner, hidden), (hidden, inner)
    return Model(about, ((tokens, hidden), (hidden,), wide, wide, narrow), body)


def attention(tokens: int, hidden: int, heads: int, shared: int, width: int) -> Model:
    """`shared` heads of keys and values, `heads` of queries, of `width` elements each."""
    group = heads // shared

    def body(
        x: Value,
        scale: Value,
        query: Value,
        key: Value,
        value: Value,
        out: Value,
        cos: Value,
        sin: Value,
        mask: Value,
    ) -> Value:
        y = rms_norm(x, scale)
        q = rotated(b.reshape(linear(y, query), shape=(tokens, heads, width)), cos, sin)
        k = rotated(b.reshape(linear(y, key), shape=(tokens, shared, width)), cos, sin)
        q = b.reshape(q, shape=(tokens, shared, group, width))
        k = b.reshape(k, shape=(tokens, shared, 1, width))
        v = b.reshape(linear(y, value), shape=(tokens, shared, 1, width))
        q, v = (b.transpose(t, permutation=[1, 2, 0, 3]) for t in (q, v))
        scores = b.batch_matmul(q, b.transpose(k, permutation=[1, 2, 3, 0]))
        scores = b.add(b.mul(scores, scalar(width**-0.5)), mask)
        found = b.batch_matmul(softmax(scores), v)
        found = b.identity(b.transpose(found, permutation=[2, 0, 1, 3]))
        found = b.identity(b.reshape(found, shape=(tokens, heads * width)))
        return b.add(x, linear(found, out))

    about = (
        f"Attention block: {tokens} tokens of {hidden} elements, {heads} heads of queries and {shared} of\n"
        f"keys and values, {width} elements each, with its norm, rotary positions and residual. Arguments:\n"
        "tokens, scale of the norm, weights of queries, keys, values and output, cosines and sines of the\n"
        "positions, mask added to the scores."
    )
    weights = ((heads * width, hidden), *[(shared * width, hidden)] * 2, (hidden, heads * width))
    positions = (tokens, 1, width)
    shapes = ((tokens, hidden), (hidden,), *weights, positions, positions, (1, tokens, tokens))
    return Model(about, shapes, body)


HIDDEN, HEADS, SHARED, WIDTH, INNER = 4096, 32, 8, 128, 14336
"""A model of 8 billion parameters."""


def with_small(model: Model, small: Model, span_limit: int) -> Model:
    return Model(model.about, model.shapes, model.body, small, span_limit)


MODELS: dict[str, Model] = {
    "lm_head_49152": with_small(
        lm_head(64, 49152, HIDDEN), lm_head(2, 768, 256), 2 * 768 * 128 - 128
    ),
    "lm_head_49216": with_small(
        lm_head(64, 49216, HIDDEN), lm_head(2, 832, 256), 2 * 832 * 128 - 128
    ),
    "softmax_long_rows": with_small(long_rows(1024, 262144), long_rows(16, 1024), 16384),
    "rms_norm_4k": with_small(norm(4096, HIDDEN), norm(64, 256), 1 << 20),
    "rms_norm_32k": with_small(norm(32768, HIDDEN), norm(128, 256), 65536 - 128),
    "mlp_4k": with_small(gated_mlp(4096, HIDDEN, INNER), gated_mlp(64, 256, 512), 1 << 20),
    "mlp_32k": with_small(
        gated_mlp(32768, HIDDEN, INNER), gated_mlp(1024, 128, 448), 1024 * 128 * 2 - 128
    ),
    "attention_4k": with_small(
        attention(4096, HIDDEN, HEADS, SHARED, WIDTH), attention(256, 128, 4, 2, 128), 294912
    ),
    "attention_32k": with_small(
        attention(32768, HIDDEN, HEADS, SHARED, WIDTH),
        attention(128, 512, 8, 4, 128),
        128 * 512 * 2 - 128,
    ),
}
"""File name -> model at its full size."""


def explain(model: Model, span_limit: int = SPAN_LIMIT_BYTES) -> Explanation:
    """The plans of a model, in the current context."""
    return explain_program(model.module(), Options(span_limit=span_limit))


def explained(name: str, model: Model) -> str:
    """Why a program is tiled as it is, as a page: a line for each operation."""
    with ir.Context():
        explanation = explain(model)
    planned = [report for report in explanation.reports if report.plan is not None]
    costs = [report.cost for report in planned if report.cost is not None]
    lines = [
        f"<!-- Generated by examples/models.py; in full: spyre explain examples/{name}.mlir -->",
        "",
        f"# {name}",
        "",
        model.about,
        "",
        f"{len(explanation.reports)} operations, {len(planned)} of them in tiles, under a limit of "
        f"{explanation.limit} bytes. Those cost",
        f"{sum(costs, Cost())}.",
        "",
        "Operations of one loop have one number; those without one are not tiled. Compact is what holds one tile.",
        "",
        "| | operation | loop | tiles, outer to inner | for the | compact |",
        "|---|---|---|---|---|---|",
    ]
    for number, report in enumerate(explanation.reports):
        cells = [str(number), report.name]
        if report.plan is not None:
            levels = ", ".join(map(str, report.plan.levels))
            cells += [str(report.plan.group), levels, report.plan.reason or ""]
            cells.append(", ".join(report.compact))
        else:
            cells += [""] * 4
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    for name, model in MODELS.items():
        (FOLDER / f"{name}.mlir").write_text(model.text())
        (FOLDER / f"{name}.md").write_text(explained(name, model))


if __name__ == "__main__":
    main()
