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
from spyre_mlir.tensors import TensorType

Value = Any


@dataclass(frozen=True)
class Program:
    """`body` makes the result (or results) from one value per argument."""

    cores: int
    arguments: tuple[TensorType, ...]
    body: Callable[..., Value]
    differs: str = ""

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
            signature = ir.FunctionType.get(types, [result.type for result in results])
            function.attributes["function_type"] = ir.TypeAttr.get(signature)
        return module


def t(*shape: int, element: str = "f16") -> TensorType:
    return TensorType(shape, element)


def scalar(value: float, element: str = "f16") -> Value:
    from mlir.dialects import arith

    return arith.ConstantOp(ir.Type.parse(element), value).result


def of(cores: int, *arguments: TensorType, differs: str = "") -> Callable[[Any], Program]:
    return lambda body: Program(cores, arguments, body, differs)


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
    # Chains.
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
    "so_add_8195x256x64_reallimit_4core": of(4, *[t(8195, 256, 64)] * 2)(b.add),
}
"""Folder of test/data/sdsc/jul -> the program. Tiled loops write into their result, as we do."""
