# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the machine keeps numbers: the bytes of each device format, and the conversions.

The 16-bit float of the device (one bit of sign, six of exponent, nine of fraction) is kept as an
IEEE half, so that f16 is held exactly; bf16 is held as the nearest half, a boolean as 0 or 1."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from spyre_mlir.machine.memory import Array

STORED: dict[str, np.dtype[Any]] = {
    "SEN169_FP16": np.dtype(np.float16),
    "IEEE_FP32": np.dtype(np.float32),
    "SEN143_FP8": np.dtype(ml_dtypes.float8_e4m3fn),
    "SEN152_FP8": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "SENINT8": np.dtype(np.int8),
    "SENINT16": np.dtype(np.int16),
    "IEEE_INT32": np.dtype(np.int32),
    "SENUINT32": np.dtype(np.uint32),
}
"""Device format -> numpy type of its bytes."""

HOST: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
}
"""Element type -> numpy type of host arrays."""


def integral(dtype: np.dtype[Any]) -> bool:
    """Whether a numpy type holds integers (booleans included)."""
    return dtype.kind in "biu"


def widen(values: Array) -> Array:
    """Values in the type that they are computed in: f32, or 64-bit integers."""
    return values.astype(np.int64 if integral(values.dtype) else np.float32)


def convert(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in another type: floats to nearest even, integers to the low bits; a float to an
    integer is truncated and saturated, NaN gives 0."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        if integral(dtype) and not integral(values.dtype):
            if dtype == np.bool_:
                return np.asarray(values != 0)
            info = np.iinfo(dtype)
            whole = np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0.0)
            # 2^63 as a float is one above the largest 64-bit integer.
            most = float(info.max) if info.bits < 64 else 2.0**63 - 1024
            values = np.clip(whole, float(info.min), most)
        converted: Array = values.astype(dtype)
        return converted
