# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a kernel to its SDSC: alignment and forming, done once per shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.alignment import Symbol, Tensor, align, term_sum
from spyre_mlir.forming import Operand, Operation, form, moved
from spyre_mlir.kernels import Dim as KernelDim
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout
from spyre_mlir.mixed_sticks import in_widest_sticks
from spyre_mlir.quasiaffine import Expression
from spyre_mlir.sdsc.model import Hbm, Lx, Sdsc
from spyre_mlir.sdsc.model import Operand as SdscOperand


def aligned_operation(
    kernel: Kernel,
    *,
    function: str,
    splits: Mapping[str, int],
    places: Sequence[Hbm | Lx],
    constants: tuple[tuple[str, float], ...] = (),
    provenance: Mapping[str, object] | None = None,
) -> Operation:
    """A kernel, aligned: the extents of its dims are the valid ones, of one tile.

    `splits` are cores per symbol (1 where it says nothing), `places` has one entry per access:
    where the buffer that owns the memory begins for the first tile, and how it advances with the
    enclosing loops. Raises the refusals of `device_coordinates` and of `align`."""
    found = [device_coordinates(access, kernel.extents) for access in kernel.accesses]
    extents, found = in_widest_sticks(kernel.accesses, kernel.extents, found)
    symbols = tuple(
        Symbol(dim.symbol, extents[dim.symbol], splits.get(dim.symbol, 1), dim.reduction)
        for dim in kernel.dims
    )
    tensors = [
        Tensor(access.layout.device_size, tuple(term_sum(c) for c in coordinates))
        for access, coordinates in zip(kernel.accesses, found, strict=True)
    ]
    aligned = align(symbols, tensors)
    operands = tuple(
        Operand(tensor, access.layout.stored_as(access.element).name, place)
        for tensor, access, place in zip(aligned.tensors, kernel.accesses, places, strict=True)
    )
    reduces = any(dim.reduction for dim in kernel.dims)
    symbolic = tuple(dim for dim in kernel.dims if dim.symbolic)
    return Operation(function, aligned.symbols, operands, reduces, constants, provenance, symbolic)


def form_kernel(
    kernel: Kernel,
    *,
    function: str,
    splits: Mapping[str, int],
    places: Sequence[Hbm | Lx],
    constants: tuple[tuple[str, float], ...] = (),
    k_fast: bool = True,
    provenance: Mapping[str, object] | None = None,
) -> Sdsc:
    """`form` of `aligned_operation`. What does not depend on places is formed once per shape: long
    programs repeat themselves."""
    formed, starts = _formed(
        function,
        tuple((_shape_of(dim), splits.get(dim.symbol, 1)) for dim in kernel.dims),
        tuple((a.label, a.layout, a.element, a.index) for a in kernel.accesses),
        constants,
        k_fast,
    )
    operands = tuple(
        SdscOperand(o.axes, o.stick, o.format, moved(place, start))
        for o, place, start in zip(formed.operands, places, starts, strict=True)
    )
    return replace(formed, operands=operands, provenance=provenance)


def _shape_of(dim: KernelDim) -> tuple[str, int, bool, str | None, bool]:
    """What an SDSC depends on of a dim."""
    return dim.symbol, dim.extent, dim.reduction, dim.symbolic, dim.exact


@lru_cache(maxsize=1 << 12)
def _formed(
    function: str,
    dims: tuple[tuple[tuple[str, int, bool, str | None, bool], int], ...],
    accesses: tuple[tuple[str, Layout, str, Expression], ...],
    constants: tuple[tuple[str, float], ...],
    k_fast: bool,
) -> tuple[Sdsc, tuple[int, ...]]:
    """The SDSC with every buffer at 0, and the bytes at which each operand then begins."""
    kernel = Kernel(
        function,
        "",
        tuple(
            KernelDim(symbol, extent, reduction, symbolic=symbolic, exact=exact)
            for (symbol, extent, reduction, symbolic, exact), _ in dims
        ),
        tuple(Access(label, "", layout, element, i) for label, layout, element, i in accesses),
    )
    operation = aligned_operation(
        kernel,
        function=function,
        splits={shape[0]: split for shape, split in dims},
        places=[Hbm(0)] * len(accesses),
        constants=constants,
    )
    formed = form(operation, k_fast=k_fast)
    places = (operand.place for operand in formed.operands)
    return formed, tuple(place.offset for place in places if isinstance(place, Hbm))
