# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of the Spyre accelerator: the only place where they are written down."""

from __future__ import annotations

STICK_BYTES = 128
"""Bytes of one stick, the unit of transfer; sticks are 128-byte aligned (SDSC bundle specification)."""

SPAN_LIMIT_BYTES = 65535 * 4096
"""Largest span, in bytes, that one core may reach from one base: the 16-bit address counter times 4096 bytes.

268 431 360 bytes, just under 256 MiB; a span of exactly 256 MiB is over it."""

LOOP_TRIPS_MAX = 65535
"""Largest trip count of one counted loop: the hardware's loop counter has 16 bits."""

CORES = 32
"""Cores of one accelerator."""

LX_BYTES = 2 * 1024 * 1024
"""Bytes of on-chip scratchpad (LX) of one core."""
