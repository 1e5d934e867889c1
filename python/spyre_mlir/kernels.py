# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: one operation as its iteration domain and its accesses, on plain values.

The planner, work division and lowering read kernels, never operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import lcm

from spyre_mlir.accesses import Access, stick_symbols
from spyre_mlir.extents import divisor, parse
from spyre_mlir.value_ranges import period


@dataclass(frozen=True, slots=True)
class Dim:
    """One dim of the iteration domain.

    `symbol` names it in the accesses; `extent` counts its values (of the valid box; a symbolic
    extent counts with its maximum, and `symbolic` is its text). `exact`: what lies behind a
    symbolic extent holds other data, or would be combined with it; elsewhere nobody sees whether it
    is computed on. `host_dim` is the dim of the result's shape
    that it runs over, None for a reduction. `stick` is 1, or the elements per stick where the dim
    lies on the stick of an operand, or the steps after which the place in a reshaped operand repeats:
    it is cut in multiples of it. `loaded`: nothing runs over the dim, its value is a position that is
    loaded from memory, and may be any below the extent."""

    symbol: str
    extent: int
    reduction: bool = False
    host_dim: int | None = None
    stick: int = 1
    symbolic: str | None = None
    exact: bool = False
    loaded: bool = False

    @property
    def granule(self) -> int:
        """Elements of which an exact dim is a multiple, whatever its symbols are; 1 for one that is
        loaded, which stays whole; 0 for any other dim, which may be run over up to a multiple of what
        the cores ask for."""
        if self.loaded:
            return 1
        return divisor(parse(self.symbolic)) if self.symbolic and self.exact else 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operation: `name` is the key of the operation table, `family` its family there, `label`
    what diagnostics call it. Dims stand in the order of the result's shape, reductions last;
    accesses in the order of the operands, what is written last."""

    name: str
    family: str
    dims: tuple[Dim, ...]
    accesses: tuple[Access, ...]
    label: str = ""

    @property
    def extents(self) -> dict[str, int]:
        """Symbol -> extent, in the order of the dims."""
        return {dim.symbol: dim.extent for dim in self.dims}

    def dim(self, symbol: str) -> Dim:
        """The dim of this symbol. KeyError if there is none."""
        for dim in self.dims:
            if dim.symbol == symbol:
                return dim
        raise KeyError(symbol)

    @property
    def reads(self) -> tuple[Access, ...]:
        """The accesses that are read."""
        return tuple(access for access in self.accesses if not access.written)

    @property
    def writes(self) -> tuple[Access, ...]:
        """The accesses that are written."""
        return tuple(access for access in self.accesses if access.written)


def stick_granules(accesses: Iterable[Access], extents: Mapping[str, int]) -> dict[str, int]:
    """Symbol -> the multiple in which it must be cut so that every operand is cut in whole sticks
    (`Dim.stick`)."""
    granules = dict.fromkeys(extents, 1)
    for access in accesses:
        for symbol, elements in stick_symbols(access, extents).items():
            granules[symbol] = max(granules[symbol], elements)
    return granules


def window_granules(accesses: Iterable[Access]) -> dict[str, int]:
    """Symbol -> the multiple in which it must be cut so that the windows of a loop move by one step a
    trip, for symbols that are divided in an index: those of reshaped operands."""
    granules: dict[str, int] = {}
    for access in accesses:
        if access.index.is_linear:
            continue
        for symbol in access.index.symbols():
            steps, _ = period(access.index, symbol)
            granules[symbol] = lcm(granules.get(symbol, 1), steps)
    return granules
