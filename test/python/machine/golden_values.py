# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the observed bundles compute, in numpy: for each folder its arguments, in the order of the
bundle, and the results, which follow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Golden:
    """`arguments`: shape and element type, or a number: a stick that holds it. `order`: dim order
    of the results' layouts, None for the default. `positive`: random numbers in (0, 1)."""

    arguments: tuple[tuple[tuple[int, ...], str] | float, ...]
    value: Callable[..., Array]
    order: tuple[int, ...] | None = None
    element: str = "f16"
    positive: bool = False


def t(*shape: int, element: str = "f16") -> tuple[tuple[int, ...], str]:
    return shape, element


def of(*arguments: Any, **options: Any) -> Callable[[Callable[..., Array]], Golden]:
    return lambda value: Golden(arguments, value, **options)


def sparse(rank: int) -> tuple[int, ...]:
    """The dim order of a result of `rank` dims that holds one value a stick."""
    return (*range(rank), -1)


def softmax(x: Array, dim: int = -1) -> Array:
    powers = np.exp(x - x.max(axis=dim, keepdims=True))
    return powers / powers.sum(axis=dim, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def log_softmax(x: Array) -> Array:
    return np.log(softmax(x))


def normalised(x: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt((x * x).mean(axis=-1, keepdims=True) - mean**2 + 1e-5)


def block(x: Array, weight: Array, up: Array, down: Array) -> Array:
    return x + gelu((normalised(x) * weight + weight) @ up.T) @ down.T


def residual_norm(x: Array, y: Array, eps: Array, weight: Array) -> Array:
    total = x + y
    return total / np.sqrt((total**2).mean(axis=-1, keepdims=True) + eps) * weight


def gated(gate: Array, x: Array, up: Array, down: Array) -> Array:
    first = x @ gate.T
    return (first * sigmoid(first) * (x @ up.T)) @ down.T


def attention(k: Array, q: Array, scale: Array, v: Array) -> Array:
    return softmax(q @ k.swapaxes(-1, -2) * scale) @ v


def grouped_attention(k: Array, q: Array, v: Array) -> Array:
    k, v = (np.repeat(a, 2, axis=1) for a in (k, v))
    return softmax(q @ k.swapaxes(-1, -2)) @ v


def best(x: Array) -> Sequence[Array]:
    order = np.argsort(-x, axis=1, kind="stable")[:, :4]
    return np.take_along_axis(x, order, axis=1), order


X = t(128, 256)
ROWS = t(96, 200)
BOX = t(6, 10, 128)
WIDE = t(2, 3, 8, 192)
F32 = "f32"
LONG = t(1, 8195, 256, 64)

AUGUST: dict[str, Golden] = {
    "add_fp16_128x256": of(X, X)(np.add),
    "add_fp16_128x256_4core": of(X, X)(np.add),
    "add_fp16_100x150_1core": of(t(100, 150), t(100, 150))(np.add),
    "add_2x3x4x5x128_4core": of(t(2, 3, 4, 5, 128), t(2, 3, 4, 5, 128))(np.add),
    "add_bcast_128x256_256_4core": of(X, t(256))(np.add),
    "add_bcast_both3_4x1x128_1x16x128_4core": of(t(4, 1, 128), t(1, 16, 128))(np.add),
    "add_bcast_lead_8x16x128_16x128_4core": of(t(8, 16, 128), t(16, 128))(np.add),
    "add_bcast_unalcol_9x100_9x1_3core": of(t(9, 100), t(9, 1))(np.add),
    "add_fp32_2x3x4x40_2core": of(*[t(2, 3, 4, 40, element=F32)] * 2, element=F32)(np.add),
    "addscalar3_8x16x128_8core": of(t(8, 16, 128), 2.0, 3.0)(lambda x, a, b: x * a + b),
    "mul_96x200_4core": of(ROWS, ROWS)(np.multiply),
    "maximum_96x200_4core": of(ROWS, ROWS)(np.maximum),
    "square_128x256_4core": of(X)(np.square),
    "lt_96x200_4core": of(ROWS, ROWS, element="i1")(np.less),
    "exp_128x256_4core": of(X)(np.exp),
    "gelu_128x256_4core": of(X)(gelu),
    "log_128x256_4core": of(X, positive=True)(np.log),
    "neg_128x256_4core": of(X)(np.negative),
    "leaky_relu_128x256_4core": of(X, 0.0, 0.01)(lambda x, a, b: np.where(x > a, x, x * b)),
    "mish_128x256_4core": of(X)(lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "hardtanh_128x256_4core": of(X)(lambda x: np.clip(x, -1, 1)),
    "where_bcast_mask_2x4x32x64_8core": of(t(2, 4, 32, 64), 0.5, t(32, 64, element="i1"))(
        lambda x, half, mask: np.where(mask, x, x * half)
    ),
    "full_add_64x64_2core": of(2.0, t(64, 64))(np.add),
    "cast_fp32_fp16_64x128_4core": of(t(64, 128, element=F32))(np.positive),
    "cast_fp32_fp16_7x100_2core": of(t(7, 100, element=F32))(np.positive),
    "cast_from_fp8_64x128_4core": of(t(64, 128, element="f8E4M3FN"))(np.positive),
    # Reductions.
    "sum_dim-1_128x256_4core": of(X, order=sparse(1))(lambda x: x.sum(1)),
    "sum_dim0_128x256_4core": of(X)(lambda x: x.sum(0)),
    "sum_dim01_4x8x128_4core": of(t(4, 8, 128))(lambda x: x.sum((0, 1))),
    "sum_dim0_512x64_8core": of(t(512, 64))(lambda x: x.sum(0)),
    "sum_dim0_6x10x128_4core": of(BOX)(lambda x: x.sum(0)),
    "sum_dim1_3x65_2core": of(t(3, 65), order=sparse(1))(lambda x: x.sum(1)),
    "sum_dim1_6x10x128_2core": of(BOX)(lambda x: x.sum(1)),
    "sum_dim3_2x3x8x192_8core": of(WIDE, order=sparse(3))(lambda x: x.sum(3)),
    "sum_fp32_dim1_64x100_4core": of(t(64, 100, element=F32), element=F32, order=sparse(1))(
        lambda x: x.sum(1)
    ),
    "sum_fp32_dim1_5x6x70_4core": of(t(5, 6, 70, element=F32), element=F32)(lambda x: x.sum(1)),
    "sum_keepdim0_64x200_4core": of(t(64, 200))(lambda x: x.sum(0, keepdims=True)),
    "mean_all_64x128_4core": of(t(64, 128))(np.mean),
    "mean_dim0_96x200_4core": of(ROWS)(lambda x: x.mean(0)),
    "mean_dim1_8x64_1core": of(t(8, 64), order=sparse(1))(lambda x: x.mean(1)),
    "mean_dim2_6x10x128_4core": of(BOX, order=sparse(2))(lambda x: x.mean(2)),
    "amax_dim0_7x130_2core": of(t(7, 130))(lambda x: x.max(0)),
    "amax_dim1_6x10x128_2core": of(BOX)(lambda x: x.max(1)),
    "amax_dim2_2x3x8x192_4core": of(WIDE)(lambda x: x.max(2)),
    "amin_dim0_100_1core": of(t(100))(np.min),
    "amin_dim0_96x200_4core": of(ROWS)(lambda x: x.min(0)),
    "amin_dim1_32x4096_32core": of(t(32, 4096), order=sparse(1))(lambda x: x.min(1)),
    "amin_dim2_2x3x8x192_4core": of(WIDE)(lambda x: x.min(2)),
    "max_both_64x128_4core": of(t(64, 128), order=sparse(1))(lambda x: x.max(1)),
    "prod_dim0_4x128_4core": of(t(4, 128))(lambda x: x.prod(0)),
    "topk_64x128_4core": of(t(64, 128), order=(1, 0))(best),
    # Products.
    "bmm_2x64x128x256_4core": of(t(2, 64, 128), t(2, 128, 256))(np.matmul),
    "bmm_5x33x320x192_32core": of(t(5, 33, 320), t(5, 320, 192))(np.matmul),
    "matmul_3d_2d_4x32x128x256_8core": of(t(4, 32, 128), X)(np.matmul),
    "mm_1x256x512_4core": of(t(1, 256), t(256, 512))(np.matmul),
    "mm_1x4096x1024_32core": of(t(1, 4096), t(4096, 1024))(np.matmul),
    "mm_4x11008x128_kfaston_32core": of(t(4, 11008), t(11008, 128))(np.matmul),
    "mm_32x4096x64_kfaston_32core": of(t(32, 4096), t(4096, 64))(np.matmul),
    "mm_512x512x512_8core": of(t(512, 512), t(512, 512))(np.matmul),
    "mm_37x100x70_4core": of(0.0, t(100, 70), t(37, 100))(lambda zero, w, x: x @ w + zero),
    # Operands whose stick lies on the wrong dim; views.
    "linear_2x64_1024x64_4core": of(t(1024, 64), t(2, 64))(lambda w, x: x @ w.T),
    "linear_1x4096_4096_32core": of(t(4096, 4096), t(1, 4096))(lambda w, x: x @ w.T),
    "linear_2x128x512_2048_32core": of(t(2048, 512), t(2, 128, 512))(lambda w, x: x @ w.T),
    "linear_relu_64x256_512_8core": of(t(512, 256), t(64, 256))(
        lambda w, x: np.maximum(x @ w.T, 0)
    ),
    "transpose_contig_128x256_4core": of(X)(np.transpose),
    "mm_out_transposed_add_64x128x64_8core": of(t(64, 128), t(128, 64), t(64, 64), order=(1, 0))(
        lambda x, y, z: (x @ y).T + z
    ),
    "permute_4d_2x4x64x128_8core": of(t(2, 4, 64, 128))(lambda x: x.swapaxes(1, 2)),
    "squeeze_16x1x128_4core": of(t(16, 1, 128), 1.0)(lambda x, one: x[:, 0] + one),
    "expand_clone_1x128_64_4core": of(t(1, 128))(lambda x: np.repeat(x, 64, axis=0)),
    "slice_last_aligned_4d_4core": of(WIDE)(lambda x: np.maximum(x[..., 64:], 0)),
    "rope_1x4x64x128_8core/k1": of(t(4, 64, 64), t(1, 4, 64, 128), t(64, 128), t(1, 4, 64, 128))(
        lambda turned, x, sine, rest: rest + np.concatenate([turned[None], x[..., :64]], -1) * sine
    ),
    # Chains.
    "softmax_128x256_4core": of(X)(softmax),
    "softmax_128x1024_32core_lx": of(t(128, 1024))(softmax),
    "softmax_1x32x128x128_32core_lx": of(t(1, 32, 128, 128))(softmax),
    "softmax_4d_2x4x64x64_32core_lx": of(t(2, 4, 64, 64))(softmax),
    "softmax_dim0_64x192_4core_lx": of(t(64, 192))(lambda x: softmax(x, 0)),
    "softmax_fp32upcast_64x128_4core": of(t(64, 128), element=F32)(softmax),
    "log_softmax_64x128_4core": of(t(64, 128))(log_softmax),
    "sum_then_mul_64x128_4core_lx": of(t(64, 128))(lambda x: x * x.sum(1, keepdims=True)),
    "residual_norm_2x32x256_8core": of(t(2, 32, 256), t(2, 32, 256), 1e-6, t(256))(residual_norm),
    "block_64x128_8core": of(t(64, 128), t(128), t(256, 128), t(128, 256))(block),
    "mlp_gated_128x512x2048_32core": of(t(2048, 512), t(128, 512), t(2048, 512), t(512, 2048))(
        gated
    ),
    "chain3_large_2048x4096_32core_lx": of(t(2048, 4096), t(2048, 4096))(
        lambda x, y: np.exp(x + y) * x - y
    ),
    "attn_1x8x128x64_32core_lx": of(t(1, 8, 128, 64), t(1, 8, 128, 64), 0.125, t(1, 8, 128, 64))(
        attention
    ),
    "attn_gqa_1x8x64x64_16core": of(t(1, 4, 64, 64), t(1, 8, 64, 64), t(1, 4, 64, 64))(
        grouped_attention
    ),
    "qkT_scaled_2x4x64x128_16core": of(t(2, 4, 64, 128), t(2, 4, 64, 128), 0.125)(
        lambda k, q, scale: q @ k.swapaxes(-1, -2) * scale
    ),
    # Loops.
    "so_add_1024x64_span8192_4core": of(t(1024, 64), t(1024, 64))(np.add),
    "so_add_1x32x32x128_span1024_4core": of(t(1, 32, 32, 128), t(1, 32, 32, 128))(np.add),
    "so_add_1x64x32x64_span8192_4core": of(t(1, 64, 32, 64), t(1, 64, 32, 64))(np.add),
    "so_add_1x8x16x16x64_span1024_4core": of(t(1, 8, 16, 16, 64), t(1, 8, 16, 16, 64))(np.add),
    "so_add_8x16x128_span8192_4core": of(t(8, 16, 128), t(8, 16, 128))(np.add),
    "so_amax0_4x32x32x64_8c_span4096_8core": of(t(4, 32, 32, 64))(lambda x: x.max(0)),
    "so_bmm_2x16x1024x64_span65536_4core": of(0.0, t(2, 16, 1024), t(2, 1024, 64))(
        lambda zero, x, y: x @ y + zero
    ),
    "so_chain3_1x32x16x64_span8192_4core_lx": of(t(1, 32, 16, 64), t(1, 32, 16, 64))(
        lambda x, y: np.exp((x + y) * y)
    ),
    "so_chain_1x64x64x64_span2048_4core": of(t(1, 64, 64, 64), t(1, 64, 64, 64))(
        lambda x, y: np.maximum((x + y) * y, 0)
    ),
    "so_chain_smallshape_mix_span8192_4core": of(t(1, 32, 16, 64), t(1, 32, 16, 64), t(4, 64), 1.0)(
        lambda x, y, z, one: ((x + y) * y, z + one)
    ),
    "so_gelu_bias_1x32x16x64_span8192_4core": of(t(1, 32, 16, 64), t(64))(lambda x, y: gelu(x + y)),
    "so_mm_64x1024x64_span32768_4core": of(0.0, t(64, 1024), t(1024, 64))(
        lambda zero, x, y: x @ y + zero
    ),
    "so_mul_fp32_8x16x64_span8192_4core": of(*[t(8, 16, 64, element=F32)] * 2, element=F32)(
        np.multiply
    ),
    "so_sum0_2x20x16x64_span8192_4core": of(t(2, 20, 16, 64))(lambda x: x.sum(0)),
    "so_add_1x8195x256x64": of(LONG, LONG)(np.add),
    "so_add_2x8192x256x64_reallimit_4core": of(*[t(2, 8192, 256, 64)] * 2)(np.add),
    "so_add_8192x49152_reallimit_32core": of(*[t(8192, 49152)] * 2)(np.add),
}
"""Folder of test/data/sdsc/aug -> what its bundle computes."""

JULY: dict[str, Golden] = {
    **{
        name: AUGUST[name]
        for name in (
            "add_bcast_128x256_256_4core",
            "add_fp16_100x150_1core",
            "add_fp16_128x256",
            "add_fp16_128x256_4core",
            "bmm_2x64x128x256_4core",
            "exp_128x256_4core",
            "linear_2x64_1024x64_4core",
            "so_add_1x8195x256x64",
            "softmax_128x256_4core",
            "sum_dim-1_128x256_4core",
            "sum_dim0_128x256_4core",
        )
    },
    "so_add_1x24x8x128_span2048_4core": of(t(1, 24, 8, 128), t(1, 24, 8, 128))(np.add),
    "so_add_bcast_1x20x16x64_64_span8192_4core": of(t(1, 20, 16, 64), t(64))(np.add),
    "so_addscalar_1x32x32x64_fp32_span2048_4core": of(
        t(1, 32, 32, 64, element=F32), 2.0, 3.0, element=F32
    )(lambda x, a, b: x * a + b),
    "so_bmm_8x32x64x64_span32768_4core": of(t(8, 32, 64), t(8, 64, 64))(np.matmul),
    "so_bmm_8x32x64x64_span8192_4core": of(t(8, 32, 64), t(8, 64, 64))(np.matmul),
    "so_linear_16x128_384_span65536_4core": of(t(384, 128), t(16, 128))(lambda w, x: x @ w.T),
    "so_linear_1x64_768_span65536_4core": of(t(768, 64), t(1, 64))(lambda w, x: x @ w.T),
    "so_mm_256x128x64_span8192_4core": of(t(256, 128), t(128, 64))(np.matmul),
    "so_sum0_4x32x32x64_span2048_4core": of(t(4, 32, 32, 64))(lambda x: x.sum(0)),
    "so_sum0_4x32x64_keepdim_span4096_4core": of(t(4, 32, 64))(lambda x: x.sum(0, keepdims=True)),
    "so_sum1_20x16x64_span8192_4core": of(t(20, 16, 64))(lambda x: x.sum(1)),
    "so_where_1x32x16x64_span8192_4core": of(
        t(1, 32, 16, 64, element="i1"), t(1, 32, 16, 64), t(1, 32, 16, 64)
    )(np.where),
    "so_add_8195x256x64_reallimit_4core": of(*[t(8195, 256, 64)] * 2)(np.add),
    "so_chain_2x8195x256x64_reallimit_32core": of(*[t(2, 8195, 256, 64)] * 2)(
        lambda x, y: np.exp((x + y) * y)
    ),
    "so_linear_128x5120_51200_reallimit_32core": of(t(51200, 5120), t(128, 5120))(
        lambda w, x: x @ w.T
    ),
}
"""Folder of test/data/sdsc/jul -> what its bundle computes."""

ROPE: dict[str, Golden] = {
    "rope_1x4x64x128_8core/k0": of(t(1, 4, 64, 128), t(64, 128))(
        lambda x, cosine: (x * cosine, -x[0, ..., 64:])
    ),
}

LARGE = (
    "so_add_1x8195x256x64",
    "so_add_2x8192x256x64_reallimit_4core",
    "so_add_8192x49152_reallimit_32core",
    "so_add_8195x256x64_reallimit_4core",
    "so_chain_2x8195x256x64_reallimit_32core",
    "so_linear_128x5120_51200_reallimit_32core",
)
"""Bundles on half a gigabyte and more."""

GOLDENS: dict[str, Golden] = {
    **{f"aug/{name}": golden for name, golden in {**AUGUST, **ROPE}.items()},
    **{f"jul/{name}": golden for name, golden in JULY.items()},
}
