# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation as the plans see it: an iteration domain, and how each tensor is reached from it."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import Expr


@dataclass(frozen=True, slots=True)
class Dim:
    """One iteration dim. `extent` is in elements, the largest one where it is symbolic.

    `fixed` says why the dim cannot be divided (a symbolic extent, a data-dependent index), or is None."""

    symbol: str
    extent: int
    reduction: bool = False
    fixed: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """One tensor of the operation.

    `coordinates` has one expression per device dim of `layout`, in the symbols of the domain; the last one runs in the
    stick. `index` is the flat host index, in elements of the buffer that owns the memory. `buffer` names that buffer:
    two accesses of one buffer share it. `compact`: the tensor is an intermediate that a tile may hold for itself; else
    it is a window of a full-size buffer, whose strides stay."""

    label: str
    buffer: str
    layout: Layout
    coordinates: tuple[Expr, ...]
    index: Expr
    written: bool = False
    compact: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operation: dims in iteration order (those of the result first), accesses with the written ones last.

    `tiling` is how the operation table lets the planner treat it ("pointwise", "reduction", ...)."""

    name: str
    tiling: str
    dims: tuple[Dim, ...]
    accesses: tuple[Access, ...]

    @property
    def extents(self) -> dict[str, int]:
        """Symbol -> extent."""
        return {dim.symbol: dim.extent for dim in self.dims}

    @property
    def writes(self) -> tuple[Access, ...]:
        """The tensors written."""
        return tuple(access for access in self.accesses if access.written)

    @property
    def reads(self) -> tuple[Access, ...]:
        """The tensors read."""
        return tuple(access for access in self.accesses if not access.written)
