# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses: how one operand of an operation reaches memory, as a function of the iteration."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import Expression


@dataclass(frozen=True, slots=True)
class Access:
    """One operand of one operation.

    `index` is flat: host elements, from the start of the buffer that owns the memory, over the iteration symbols.
    `layout` is the layout of that buffer. `shape` and `strides` are the buffer's host shape and host strides (elements);
    a view or a window shows in the index only. `indirect` names the symbols whose values are loaded from memory
    (gather, scatter)."""

    label: str
    buffer: str
    layout: Layout
    element: str
    index: Expression
    written: bool = False
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    indirect: tuple[str, ...] = ()
