# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of the machine: bytes, and a shadow that says which of them hold data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES

Bytes = NDArray[np.uint8]
Array = NDArray[Any]

DATA = 0
"""Shadow of a byte that holds data."""

POISON = 1
"""Shadow of a byte that was written, but holds no data: padding, an unspecified lane, or a value
that was computed from such a byte."""

UNWRITTEN = 2
"""Shadow of a byte that nobody wrote."""

READ = 1
"""Mark of a stick that was read."""

WRITTEN = 2
"""Mark of a stick that was written."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Device memory of one tensor: `bytes`, and one `shadow` per byte (DATA, POISON or
    UNWRITTEN)."""

    bytes: Bytes
    shadow: Bytes

    def __post_init__(self) -> None:
        for array in (self.bytes, self.shadow):
            if array.dtype != np.uint8 or array.ndim != 1 or array.size % STICK_BYTES:
                raise Refusal(
                    "SPY146",
                    f"a buffer is whole sticks of {STICK_BYTES} bytes in one dim, not "
                    f"{list(array.shape)} of {array.dtype}",
                )
        if self.bytes.size != self.shadow.size:
            raise Refusal(
                "SPY146",
                f"{self.bytes.size} bytes have a shadow of {self.shadow.size} bytes",
            )

    @classmethod
    def of(cls, bytes: Bytes) -> Buffer:
        """Bytes that all hold data."""
        return cls(bytes, np.full(bytes.shape, DATA, np.uint8))

    @classmethod
    def empty(cls, size: int) -> Buffer:
        """`size` bytes that nobody wrote. They read as NaN, or -1."""
        return cls(np.full(size, 0xFF, np.uint8), np.full(size, UNWRITTEN, np.uint8))


@dataclass(slots=True, eq=False)
class Store:
    """A memory that a bundle works on, in rows of one stick.

    `touched` marks the sticks that were read and written; `writer` has the number of the operation
    that wrote a stick last, -1 for none; `owner` is scratch, -1 throughout between operations."""

    name: str
    sticks: Bytes
    shadow: Bytes
    touched: Bytes = field(init=False)
    writer: NDArray[np.int32] = field(init=False)
    owner: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.sticks)
        self.touched = np.zeros(count, np.uint8)
        self.writer = np.full(count, -1, np.int32)
        self.owner = np.full(count, -1, np.int64)

    @classmethod
    def holding(cls, name: str, buffer: Buffer) -> Store:
        """A store with a copy of a buffer."""
        rows = (-1, STICK_BYTES)
        return cls(name, buffer.bytes.reshape(rows).copy(), buffer.shadow.reshape(rows).copy())

    @classmethod
    def blank(cls, name: str, size: int) -> Store:
        """A store of `size` bytes that are never looked at."""
        none = np.empty((size // STICK_BYTES, 0), np.uint8)
        return cls(name, none, none)

    @property
    def buffer(self) -> Buffer:
        """What the store holds."""
        return Buffer(self.sticks.reshape(-1), self.shadow.reshape(-1))
