# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of which the reference compiler's bundles were observed, written in the dialect.

Arguments stand in the order in which the observed bundle numbers them. How far a bundle of ours may differ from the
observed one is said per program by a word of docs/lowering.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spyre_mlir import builders as b
from spyre_mlir import encodings, ir
from spyre_mlir.operations import meaning
from spyre_mlir.tensors import TensorType

Value = Any


@dataclass(frozen=True)
class Program:
    """`body` makes the result (or results) from one value per argument.

    `levels`, in the text of a tile plan, are the loops around operations of the first result's shape."""

    cores: int
    arguments: tuple[TensorType, ...]
    body: Callable[..., Value]
    differs: str = ""
    levels: str = ""

    def module(self) -> ir.Module:
        """The program as a function, in the current context."""
        from mlir.dialects import func

        with ir.Location.unknown():
            module = ir.Module.create()
            types = [encodings.write(argument) for argument in self.arguments]
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("program", (types, []))
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                results = self.body(*block.arguments)
                results = list(results) if isinstance(results, tuple) else [results]
                func.ReturnOp(results)
                if self.levels:
                    _tile(block, self.levels)
            signature = ir.FunctionType.get(types, [result.type for result in results])
            function.attributes["function_type"] = ir.TypeAttr.get(signature)
        return module


def _tile(block: ir.Block, levels: str) -> None:
    """Hints on the operations that compute, of the shape of the first of them."""
    plan = f"#spyre.tile_plan<origin = hint, group = 0, levels = [{levels}]>"
    operations = [op.operation for op in block.operations]
    rows = [(op, meaning(op)) for op in operations]
    computing = [op for op, row in rows if row is not None and row.tiling != "view"]
    for op in computing:
        if list(op.results[0].type.shape) == list(computing[0].results[0].type.shape):
            op.attributes["spyre.tile"] = ir.Attribute.parse(plan)


def t(*shape: int, element: str = "f16") -> TensorType:
    return TensorType(shape, element)


def scalar(value: float, element: str = "f16") -> Value:
    from mlir.dialects import arith

    return arith.ConstantOp(ir.Type.parse(element), value).result


def of(
    cores: int, *arguments: TensorType, differs: str = "", levels: str = ""
) -> Callable[[Any], Program]:
    return lambda body: Program(cores, arguments, body, differs, levels)


def softmax(x: Value, dim: int) -> Value:
    shifted = b.sub(x, b.max(x, dims=[dim], keep_dims=True))
    powers = b.exp(shifted)
    return b.div(powers, b.sum(powers, dims=[dim], keep_dims=True))


def linear(x: Value, weight: Value) -> Value:
    return b.batch_matmul(x, b.transpose(weight, permutation=[1, 0]))


def leaky_relu(x: Value) -> Value:
    return b.select(b.cmp(x, scalar(0.0), predicate="gt"), x, b.mul(x, scalar(0.01)))


def log_softmax(x: Value) -> Value:
    shifted = b.sub(x, b.max(x, dims=[1], keep_dims=True))
    return b.sub(shifted, b.log(b.sum(b.exp(shifted), dims=[1], keep_dims=True)))


def residual_norm(x: Value, y: Value, weight: Value) -> Value:
    total = b.add(x, y)
    mean = b.mean(b.mul(total, total), dims=[2], keep_dims=True)
    return b.mul(b.mul(total, b.rsqrt(b.add(mean, scalar(1e-6)))), weight)


def block(x: Value, weight: Value, up: Value, down: Value) -> Value:
    moments = b.exx2(x)
    normal = b.layernorm_norm(x, moments, b.layernorm_scale(moments, eps=1e-5), weight, weight)
    return b.add(x, linear(b.gelu(linear(normal, up)), down))


def gated(gate: Value, x: Value, up: Value, down: Value) -> Value:
    return linear(b.mul(b.silu(linear(x, gate)), linear(x, up)), down)


def swapped(x: Value) -> Value:
    return b.transpose(x, permutation=[0, 1, 3, 2])


def attention(key: Value, query: Value, value: Value) -> Value:
    scores = b.mul(b.batch_matmul(query, swapped(key)), scalar(0.125))
    return b.batch_matmul(softmax(scores, 3), value)


def repeated(x: Value) -> Value:
    """Each head twice."""
    grouped = b.reshape(x, shape=(1, 4, 1, 64, 64))
    copies = b.identity(b.broadcast(grouped, shape=(1, 4, 2, 64, 64)))
    return b.reshape(copies, shape=(1, 8, 64, 64))


def grouped_attention(key: Value, query: Value, value: Value) -> Value:
    scores = b.batch_matmul(query, swapped(repeated(key)))
    return b.batch_matmul(softmax(scores, 3), repeated(value))


def clip_twice(x: Value) -> Value:
    return b.clip(b.clip(x, min=-1.0, max=65504.0), min=-65504.0, max=1.0)


X = t(128, 256)
ROWS = t(96, 200)
BOX = t(6, 10, 128)
WIDE = t(2, 3, 8, 192)

AUGUST: dict[str, Program] = {
    "add_fp16_128x256": of(32, X, X)(b.add),
    "add_fp16_128x256_4core": of(4, X, X)(b.add),
    "add_fp16_100x150_1core": of(1, t(100, 150), t(100, 150))(b.add),
    "add_2x3x4x5x128_4core": of(4, t(2, 3, 4, 5, 128), t(2, 3, 4, 5, 128))(b.add),
    "add_bcast_128x256_256_4core": of(4, X, t(256))(b.add),
    "add_bcast_both3_4x1x128_1x16x128_4core": of(4, t(4, 1, 128), t(1, 16, 128))(b.add),
    "add_bcast_lead_8x16x128_16x128_4core": of(4, t(8, 16, 128), t(16, 128))(b.add),
    "add_bcast_unalcol_9x100_9x1_3core": of(3, t(9, 100), t(9, 1))(b.add),
    "add_fp32_2x3x4x40_2core": of(2, *[t(2, 3, 4, 40, element="f32")] * 2)(b.add),
    "addscalar3_8x16x128_8core": of(8, t(8, 16, 128))(
        lambda x: b.add(b.mul(x, scalar(2.0)), scalar(3.0))
    ),
    "mul_96x200_4core": of(4, ROWS, ROWS)(b.mul),
    "maximum_96x200_4core": of(4, ROWS, ROWS)(b.maximum),
    "square_128x256_4core": of(4, X)(lambda x: b.mul(x, x)),
    "lt_96x200_4core": of(4, ROWS, ROWS)(lambda x, y: b.cmp(x, y, predicate="lt")),
    "exp_128x256_4core": of(4, X)(b.exp),
    "gelu_128x256_4core": of(4, X)(b.gelu),
    "log_128x256_4core": of(4, X)(b.log),
    "neg_128x256_4core": of(4, X)(b.neg),
    "leaky_relu_128x256_4core": of(4, X)(leaky_relu),
    "mish_128x256_4core": of(4, X)(lambda x: b.mul(x, b.tanh(b.softplus(x)))),
    "hardtanh_128x256_4core": of(4, X)(clip_twice),
    "where_bcast_mask_2x4x32x64_8core": of(
        8, t(2, 4, 32, 64), t(32, 64, element="i1"), differs="arguments"
    )(lambda x, mask: b.select(mask, x, b.mul(x, scalar(0.5)))),
    "full_add_64x64_2core": of(2, t(64, 64), differs="arguments")(
        lambda x: b.add(x, b.full(scalar(2.0), shape=(64, 64), element="f16"))
    ),
    "cast_fp32_fp16_64x128_4core": of(4, t(64, 128, element="f32"))(
        lambda x: b.cast(x, element="f16")
    ),
    "cast_fp32_fp16_7x100_2core": of(2, t(7, 100, element="f32"))(
        lambda x: b.cast(x, element="f16")
    ),
    "cast_from_fp8_64x128_4core": of(4, t(64, 128, element="f8E4M3FN"))(
        lambda x: b.cast(x, element="f16")
    ),
    # Reductions.
    "sum_dim-1_128x256_4core": of(4, X)(lambda x: b.sum(x, dims=[1])),
    "sum_dim0_128x256_4core": of(4, X)(lambda x: b.sum(x, dims=[0])),
    "sum_dim01_4x8x128_4core": of(4, t(4, 8, 128))(lambda x: b.sum(x, dims=[0, 1])),
    "sum_dim0_512x64_8core": of(8, t(512, 64))(lambda x: b.sum(x, dims=[0])),
    "sum_dim0_6x10x128_4core": of(4, BOX)(lambda x: b.sum(x, dims=[0])),
    "sum_dim1_3x65_2core": of(2, t(3, 65))(lambda x: b.sum(x, dims=[1])),
    "sum_dim1_6x10x128_2core": of(2, BOX)(lambda x: b.sum(x, dims=[1])),
    "sum_dim3_2x3x8x192_8core": of(8, WIDE)(lambda x: b.sum(x, dims=[3])),
    "sum_fp32_dim1_64x100_4core": of(4, t(64, 100, element="f32"))(lambda x: b.sum(x, dims=[1])),
    "sum_fp32_dim1_5x6x70_4core": of(4, t(5, 6, 70, element="f32"))(lambda x: b.sum(x, dims=[1])),
    "sum_keepdim0_64x200_4core": of(4, t(64, 200))(lambda x: b.sum(x, dims=[0], keep_dims=True)),
    "mean_all_64x128_4core": of(4, t(64, 128))(lambda x: b.mean(x, dims=[0, 1])),
    "mean_dim0_96x200_4core": of(4, ROWS)(lambda x: b.mean(x, dims=[0])),
    "mean_dim1_8x64_1core": of(1, t(8, 64))(lambda x: b.mean(x, dims=[1])),
    "mean_dim2_6x10x128_4core": of(4, BOX)(lambda x: b.mean(x, dims=[2])),
    "amax_dim0_7x130_2core": of(2, t(7, 130))(lambda x: b.max(x, dims=[0])),
    "amax_dim1_6x10x128_2core": of(2, BOX)(lambda x: b.max(x, dims=[1])),
    "amax_dim2_2x3x8x192_4core": of(4, WIDE)(lambda x: b.max(x, dims=[2])),
    "amin_dim0_100_1core": of(1, t(100))(lambda x: b.min(x, dims=[0])),
    "amin_dim0_96x200_4core": of(4, ROWS)(lambda x: b.min(x, dims=[0])),
    "amin_dim1_32x4096_32core": of(32, t(32, 4096))(lambda x: b.min(x, dims=[1])),
    "amin_dim2_2x3x8x192_4core": of(4, WIDE)(lambda x: b.min(x, dims=[2])),
    "max_both_64x128_4core": of(4, t(64, 128))(lambda x: b.max(x, dims=[1])),
    "prod_dim0_4x128_4core": of(4, t(4, 128))(lambda x: b.prod(x, dims=[0])),
    "topk_64x128_4core": of(4, t(64, 128), differs="repeated restickify")(
        lambda x: b.topk(x, k=4, dim=1, element="f16")
    ),
    # Products.
    "bmm_2x64x128x256_4core": of(4, t(2, 64, 128), t(2, 128, 256))(b.batch_matmul),
    "bmm_5x33x320x192_32core": of(32, t(5, 33, 320), t(5, 320, 192))(b.batch_matmul),
    "matmul_3d_2d_4x32x128x256_8core": of(8, t(4, 32, 128), X)(b.batch_matmul),
    "mm_1x256x512_4core": of(4, t(1, 256), t(256, 512))(b.batch_matmul),
    "mm_1x4096x1024_32core": of(32, t(1, 4096), t(4096, 1024))(b.batch_matmul),
    "mm_4x11008x128_kfaston_32core": of(32, t(4, 11008), t(11008, 128))(b.batch_matmul),
    "mm_32x4096x64_kfaston_32core": of(32, t(32, 4096), t(4096, 64))(b.batch_matmul),
    "mm_512x512x512_8core": of(8, t(512, 512), t(512, 512))(b.batch_matmul),
    "mm_37x100x70_4core": of(4, t(37, 100), t(100, 70), differs="arguments pool")(b.batch_matmul),
    # Operands whose stick lies on the wrong dim; views.
    "linear_2x64_1024x64_4core": of(4, t(1024, 64), t(2, 64))(lambda w, x: linear(x, w)),
    "linear_1x4096_4096_32core": of(32, t(4096, 4096), t(1, 4096))(lambda w, x: linear(x, w)),
    "linear_2x128x512_2048_32core": of(32, t(2048, 512), t(2, 128, 512))(lambda w, x: linear(x, w)),
    "linear_relu_64x256_512_8core": of(8, t(512, 256), t(64, 256))(
        lambda w, x: b.relu(linear(x, w))
    ),
    "transpose_contig_128x256_4core": of(4, X)(
        lambda x: b.restickify(b.transpose(x, permutation=[1, 0]))
    ),
    "mm_out_transposed_add_64x128x64_8core": of(
        8, t(64, 128), t(128, 64), t(64, 64), differs="transposed result"
    )(lambda x, y, z: b.add(b.transpose(b.batch_matmul(x, y), permutation=[1, 0]), z)),
    "permute_4d_2x4x64x128_8core": of(8, t(2, 4, 64, 128))(
        lambda x: b.identity(b.transpose(x, permutation=[0, 2, 1, 3]))
    ),
    "squeeze_16x1x128_4core": of(4, t(16, 1, 128))(
        lambda x: b.add(b.reshape(x, shape=(16, 128)), scalar(1.0))
    ),
    "expand_clone_1x128_64_4core": of(4, t(1, 128))(
        lambda x: b.identity(b.broadcast(x, shape=(64, 128)))
    ),
    "slice_last_aligned_4d_4core": of(4, WIDE)(
        lambda x: b.relu(b.slice(x, static_offsets=[0, 0, 0, 64], shape=(2, 3, 8, 128)))
    ),
    "qkT_scaled_2x4x64x128_16core": of(16, *[t(2, 4, 64, 128)] * 2)(
        lambda k, q: b.mul(b.batch_matmul(q, swapped(k)), scalar(0.088))
    ),
    # Chains.
    "attn_1x8x128x64_32core_lx": of(32, *[t(1, 8, 128, 64)] * 3, differs="scratchpad division")(
        attention
    ),
    "attn_gqa_1x8x64x64_16core": of(
        16, t(1, 4, 64, 64), t(1, 8, 64, 64), t(1, 4, 64, 64), differs="reshaped operand"
    )(grouped_attention),
    "softmax_1x32x128x128_32core_lx": of(32, t(1, 32, 128, 128), differs="scratchpad")(
        lambda x: softmax(x, 3)
    ),
    "chain3_large_2048x4096_32core_lx": of(32, *[t(2048, 4096)] * 2, differs="scratchpad")(
        lambda x, y: b.sub(b.mul(b.exp(b.add(x, y)), x), y)
    ),
    "softmax_128x256_4core": of(4, X, differs="scratchpad")(lambda x: softmax(x, 1)),
    "softmax_128x1024_32core_lx": of(32, t(128, 1024), differs="scratchpad")(
        lambda x: softmax(x, 1)
    ),
    "softmax_4d_2x4x64x64_32core_lx": of(32, t(2, 4, 64, 64), differs="scratchpad")(
        lambda x: softmax(x, 3)
    ),
    "softmax_dim0_64x192_4core_lx": of(4, t(64, 192), differs="scratchpad")(
        lambda x: softmax(x, 0)
    ),
    "softmax_fp32upcast_64x128_4core": of(4, t(64, 128))(
        lambda x: softmax(b.cast(x, element="f32"), 1)
    ),
    "log_softmax_64x128_4core": of(4, t(64, 128))(log_softmax),
    "sum_then_mul_64x128_4core_lx": of(4, t(64, 128), differs="scratchpad")(
        lambda x: b.mul(x, b.sum(x, dims=[1], keep_dims=True))
    ),
    "residual_norm_2x32x256_8core": of(
        8, t(2, 32, 256), t(2, 32, 256), t(256), differs="arguments"
    )(residual_norm),
    "block_64x128_8core": of(8, t(64, 128), t(128), t(256, 128), t(128, 256))(block),
    "mlp_gated_128x512x2048_32core": of(32, t(2048, 512), t(128, 512), t(2048, 512), t(512, 2048))(
        gated
    ),
    # Loops, which the August tree has compute into a tile and copy it out.
    **{
        name: of(cores, *types, differs="copied tiles", levels=levels)(body)
        for name, cores, types, levels, body in (
            ("so_add_1024x64_span8192_4core", 4, [t(1024, 64)] * 2, "parallel(0) 4 x 256", b.add),
            (
                "so_add_1x32x32x128_span1024_4core",
                4,
                [t(1, 32, 32, 128)] * 2,
                "parallel(1) 8 x 4, parallel(2) 4 x 8",
                b.add,
            ),
            (
                "so_add_1x64x32x64_span8192_4core",
                4,
                [t(1, 64, 32, 64)] * 2,
                "parallel(1) 8 x 8",
                b.add,
            ),
            ("so_add_1x8195x256x64", 4, [t(1, 8195, 256, 64)] * 2, "", b.add),
            (
                "so_add_1x8x16x16x64_span1024_4core",
                4,
                [t(1, 8, 16, 16, 64)] * 2,
                "parallel(2) 8 x 2, parallel(3) 2 x 8",
                b.add,
            ),
            (
                "so_add_2x8192x256x64_reallimit_4core",
                4,
                [t(2, 8192, 256, 64)] * 2,
                "parallel(1) 2 x 4096",
                b.add,
            ),
            (
                "so_add_8192x49152_reallimit_32core",
                32,
                [t(8192, 49152)] * 2,
                "parallel(1) 2 x 24576",
                b.add,
            ),
            (
                "so_add_8x16x128_span8192_4core",
                4,
                [t(8, 16, 128)] * 2,
                "parallel(1) 2 x 8",
                b.add,
            ),
            (
                "so_mul_fp32_8x16x64_span8192_4core",
                4,
                [t(8, 16, 64, element="f32")] * 2,
                "parallel(1) 2 x 8",
                b.mul,
            ),
            (
                "so_amax0_4x32x32x64_8c_span4096_8core",
                8,
                [t(4, 32, 32, 64)],
                "parallel(0) 8 x 4, parallel(1) 16 x 2",
                lambda x: b.max(x, dims=[0]),
            ),
            (
                "so_sum0_2x20x16x64_span8192_4core",
                4,
                [t(2, 20, 16, 64)],
                "parallel(0) 10 x 2",
                lambda x: b.sum(x, dims=[0]),
            ),
            (
                "so_chain_1x64x64x64_span2048_4core",
                4,
                [t(1, 64, 64, 64)] * 2,
                "parallel(1) 8 x 8, parallel(2) 4 x 16",
                lambda x, y: b.relu(b.mul(b.add(x, y), y)),
            ),
            (
                "so_gelu_bias_1x32x16x64_span8192_4core",
                4,
                [t(1, 32, 16, 64), t(64)],
                "parallel(1) 4 x 8",
                lambda x, y: b.gelu(b.add(x, y)),
            ),
            (
                "so_chain_smallshape_mix_span8192_4core",
                4,
                [t(1, 32, 16, 64), t(1, 32, 16, 64), t(4, 64)],
                "parallel(1) 4 x 8",
                lambda x, y, z: (b.mul(b.add(x, y), y), b.add(z, scalar(1.0))),
            ),
        )
    },
}
"""Folder of test/data/sdsc/aug -> the program."""

JULY: dict[str, Program] = {
    "add_bcast_128x256_256_4core": AUGUST["add_bcast_128x256_256_4core"],
    "add_fp16_100x150_1core": AUGUST["add_fp16_100x150_1core"],
    "add_fp16_128x256": AUGUST["add_fp16_128x256"],
    "add_fp16_128x256_4core": AUGUST["add_fp16_128x256_4core"],
    "bmm_2x64x128x256_4core": AUGUST["bmm_2x64x128x256_4core"],
    "exp_128x256_4core": AUGUST["exp_128x256_4core"],
    "sum_dim-1_128x256_4core": AUGUST["sum_dim-1_128x256_4core"],
    "sum_dim0_128x256_4core": AUGUST["sum_dim0_128x256_4core"],
    "so_add_1x8195x256x64": of(4, *[t(1, 8195, 256, 64)] * 2)(b.add),
    "linear_2x64_1024x64_4core": of(4, t(1024, 64), t(2, 64), differs="pool passed")(
        lambda w, x: linear(x, w)
    ),
    "softmax_128x256_4core": AUGUST["softmax_128x256_4core"],
    "so_add_1x24x8x128_span2048_4core": of(4, *[t(1, 24, 8, 128)] * 2, levels="parallel(1) 3 x 8")(
        b.add
    ),
    "so_add_bcast_1x20x16x64_64_span8192_4core": of(
        4, t(1, 20, 16, 64), t(64), levels="parallel(1) 4 x 5"
    )(b.add),
    "so_where_1x32x16x64_span8192_4core": of(
        4, t(1, 32, 16, 64, element="i1"), *[t(1, 32, 16, 64)] * 2, levels="parallel(1) 4 x 8"
    )(b.select),
    "so_sum1_20x16x64_span8192_4core": of(4, t(20, 16, 64))(lambda x: b.sum(x, dims=[1])),
    "so_sum0_4x32x64_keepdim_span4096_4core": of(4, t(4, 32, 64), levels="parallel(0) 4 x 8")(
        lambda x: b.sum(x, dims=[0], keep_dims=True)
    ),
    "so_mm_256x128x64_span8192_4core": of(4, t(256, 128), t(128, 64), levels="parallel(0) 4 x 64")(
        b.batch_matmul
    ),
    "so_bmm_8x32x64x64_span8192_4core": of(
        4, t(8, 32, 64), t(8, 64, 64), levels="parallel(1) 4 x 8"
    )(b.batch_matmul),
    "so_bmm_8x32x64x64_span32768_4core": of(4, t(8, 32, 64), t(8, 64, 64))(b.batch_matmul),
    "so_sum0_4x32x32x64_span2048_4core": of(
        4, t(4, 32, 32, 64), levels="parallel(0) 16 x 2, parallel(1) 16 x 2"
    )(lambda x: b.sum(x, dims=[0])),
    "so_addscalar_1x32x32x64_fp32_span2048_4core": of(
        4,
        t(1, 32, 32, 64, element="f32"),
        differs="pool passed",
        levels="parallel(1) 8 x 4, parallel(2) 2 x 16",
    )(lambda x: b.add(b.mul(x, scalar(2.0, "f32")), scalar(1.0, "f32"))),
    "so_chain_2x8195x256x64_reallimit_32core": of(
        32, *[t(2, 8195, 256, 64)] * 2, differs="pool passed"
    )(lambda x, y: b.exp(b.mul(b.add(x, y), y))),
    "so_add_8195x256x64_reallimit_4core": of(4, *[t(8195, 256, 64)] * 2)(b.add),
}
"""Folder of test/data/sdsc/jul -> the program. Tiled loops write into their result, as we do."""
