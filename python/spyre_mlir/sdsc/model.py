# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an SDSC bundle means, each fact once.

The files of a bundle say most things many times over: the number of cores in nine places, each
extent in every fold of every operand, each address once per core. Here every fact stands once and
the rest follows from it:

* `Sdsc`: one operation on the cores: its dims, how the cores cut them, its operands.
* `Operand`: how one tensor lies in memory (axes from inner to outer, gaps, stick, format) and
  where.
* `Bundle`: the operations in counted loops, and the pool that they share.

`spyre_mlir.sdsc.emit` and `spyre_mlir.sdsc.bundle` expand the model to the public files,
`spyre_mlir.sdsc.load` recovers it; each is the inverse of the other. Sizes are in elements,
addresses and strides in bytes. All figures are integers.

An operand's memory is row-major over its axes, the last axis outermost, inside them whole sticks of
128 bytes: axis by axis `size = (extent + gap)`, counted in sticks for the stick dim. So strides and
the address of every core follow, and need no field. (Source: restated bundle specification, and all
bundles observed from the reference compiler.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from spyre_mlir.formats import FORMATS, Format
from spyre_mlir.hardware import STICK_BYTES

LABELS: tuple[str, ...] = ("mb", "x", "y", "i", "j", "ki", "kj", "out", "in")
"""The names that the backend knows for iteration dims."""

POOL: Literal["pool"] = "pool"
"""The buffer of intermediates that all operations of a bundle share."""

Cut = tuple[tuple[str, int], ...]
"""How cores share the work: (dim label, slices) for every dim, the fastest first.

Core c works on slice c mod n of the first entry, (c // n) mod m of the second, and so on."""


@dataclass(frozen=True, slots=True)
class Symbolic:
    """An extent that is known when the bundle runs.

    `tag` says what the caller has to pass: an expression over the symbols of the program, rounded
    up to a multiple of `granularity` elements. The granularity is whole sticks and whole shares of
    all cores."""

    tag: str
    granularity: int


@dataclass(frozen=True, slots=True)
class Dim:
    """One iteration dim: its label and its extent in elements, rounded up to whole sticks where it
    lies in a stick.

    Of a `symbolic` dim, `extent` is the largest one: memory is laid out for it, whatever the caller
    passes."""

    label: str
    extent: int
    symbolic: Symbolic | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that the caller passes: the value of `tag`, rounded up to a multiple of
    `granularity`, at most `maximum`."""

    tag: str
    granularity: int
    maximum: int

    @property
    def type(self) -> str:
        """Its type in `bundle.mlir`."""
        return (
            f"!sdscbundle.input_arg<index, granularity={self.granularity}, "
            f"max_value={self.maximum}>"
        )


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of an operand in memory.

    `iterates` is False where the operand has one place (or one stick) for the whole dim: broadcast
    or reduced. `gap` counts the elements behind the extent that belong to the buffer and not to the
    operation."""

    dim: str
    iterates: bool = True
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Hbm:
    """A place in device memory: `offset` bytes behind the start of a buffer.

    `buffer` is the index of a kernel argument, or `POOL`. `advances` gives the bytes that one trip
    of each enclosing loop adds, outermost loop first; empty where the address is the same in every
    trip."""

    buffer: int | Literal["pool"]
    offset: int = 0
    advances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lx:
    """A place in the scratchpad of every core: `address` bytes from its start.

    `cut` says which core holds which slice, where that is not the cut of the operation (a shuffle
    between cores)."""

    address: int
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of an operation: axes from inner to outer, the dim that lies in the stick, format
    and place.

    The stick dim is one of the axes (there it counts in sticks). A matmul operand lists its own
    dims only, any other operand all dims of the operation."""

    axes: tuple[Axis, ...]
    stick: str
    format: str
    place: Hbm | Lx

    @property
    def storage(self) -> Format:
        """The device format. KeyError for a format that the device does not store."""
        return FORMATS[self.format]

    def sizes(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """Device size along each axis, inner to outer; the stick dim counts in sticks, a standing
        axis is 1."""
        eps = self.storage.elements_per_stick
        return tuple(
            1
            if not axis.iterates
            else (extents[axis.dim] + axis.gap) // (eps if axis.dim == self.stick else 1)
            for axis in self.axes
        )

    def strides(self, extents: Mapping[str, int]) -> dict[str, int]:
        """Bytes from one element (of the stick dim: from one stick) to the next, 0 along axes that
        stand."""
        strides, inner = {}, STICK_BYTES
        for axis, size in zip(self.axes, self.sizes(extents), strict=True):
            strides[axis.dim] = inner if axis.iterates else 0
            inner *= size
        return strides

    def bytes(self, extents: Mapping[str, int]) -> int:
        """Bytes of the buffer that the axes describe, gaps included."""
        return STICK_BYTES * prod(self.sizes(extents))


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the function: its agreed name, its format and its bits as the file states
    them."""

    name: str
    format: str
    bits: int


@dataclass(frozen=True, slots=True)
class Mask:
    """Along `dim` only the first `valid` elements hold data; the `pad` behind them are replaced by
    the mask value.

    The value is the constant "samv-maskvalue", which the operation then has to have. With a `tag`
    the number of valid elements is known when the bundle runs, as that of a symbolic dim is:
    `valid` is the largest, and `pad` the most that can lie behind them in the dim's extent."""

    dim: str
    valid: int
    pad: int
    tag: str | None = None


Steps = tuple[tuple[int, int], ...]
"""How an address goes with symbolic extents: (number of the parameter, bytes per granule) each."""


@dataclass(frozen=True, slots=True)
class Sdsc:
    """One operation on the cores.

    `function` is the device function, `unit` the execution unit ("pt" the systolic array, "sfp" the
    vector unit). `dims` stand in iteration order, output dims first. The last operand is the
    output; `reads_output` says that the function lists it among its inputs too, as reductions do.
    `provenance` is passed through unread."""

    function: str
    unit: Literal["pt", "sfp"]
    dims: tuple[Dim, ...]
    operands: tuple[Operand, ...]
    cut: Cut
    reads_output: bool = False
    constants: tuple[Constant, ...] = ()
    mask: tuple[Mask, ...] = ()
    provenance: Mapping[str, object] | None = field(default=None, hash=False)

    @property
    def cores(self) -> int:
        """Cores that take part."""
        return prod(slices for _, slices in self.cut)

    @property
    def extents(self) -> dict[str, int]:
        """Dim label -> extent in elements, the largest one of a symbolic dim."""
        return {dim.label: dim.extent for dim in self.dims}

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the caller has to pass for this operation: the extents of symbolic dims, in
        iteration order, then the valid elements of symbolic masks."""
        return (
            *(
                Parameter(dim.symbolic.tag, dim.symbolic.granularity, dim.extent)
                for dim in self.dims
                if dim.symbolic is not None
            ),
            *(Parameter(mask.tag, 1, mask.valid) for mask in self.mask if mask.tag is not None),
        )

    def slices(self, cut: Cut | None = None) -> list[dict[str, int]]:
        """Per core: dim label -> slice, by `cut`, or by the operation's own."""
        own = self.cut if cut is None else cut
        table = []
        for core in range(self.cores):
            at, rest = {}, core
            for label, count in own:
                rest, at[label] = divmod(rest, count)
            table.append(at)
        return table

    def core_offsets(self, operand: Operand) -> list[int]:
        """Per core: bytes from the operand's first element to where the core's slice begins."""
        extents, counts = self.extents, dict(self.cut)
        strides = operand.strides(extents)
        eps = operand.storage.elements_per_stick
        steps = {
            label: strides[label]
            * (extents[label] // count // (eps if label == operand.stick else 1))
            for label, count in counts.items()
            if count > 1 and strides.get(label)
        }
        offsets = [0]
        for label, count in self.cut:
            step = steps.get(label, 0)
            offsets = [offset + index * step for index in range(count) for offset in offsets]
        return offsets

    def core_steps(self, operand: Operand) -> list[tuple[int, Steps]]:
        """Per core, where its slice begins, as `core_offsets`: the bytes that are known, and those
        that go with symbolic extents."""
        extents, strides, counts = self.extents, operand.strides(self.extents), dict(self.cut)
        eps = operand.storage.elements_per_stick
        moving = [dim for dim in self.dims if dim.symbolic is not None]
        numbers = {dim.label: number for number, dim in enumerate(moving)}
        grains = {d.label: d.symbolic.granularity for d in moving if d.symbolic is not None}
        starts: list[tuple[int, Steps]] = [(0, ())]
        for label, count in self.cut:
            unit = counts[label] * (eps if label == operand.stick else 1)
            step = grains.get(label, extents[label]) // unit * strides.get(label, 0)
            if label in numbers and step:
                more = [
                    ((numbers[label], index * step),) if index else () for index in range(count)
                ]
                starts = [(at, (*steps, *own)) for own in more for at, steps in starts]
            else:
                starts = [(at + i * step, steps) for i in range(count) for at, steps in starts]
        return starts


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop: `trips` times the operations and loops of its body."""

    trips: int
    body: tuple[Sdsc | Loop, ...]


@dataclass(frozen=True, slots=True)
class PoolBuffer:
    """The pool: `bytes` that the bundle allocates, or None where the caller passes the pool as
    first parameter."""

    bytes: int | None


@dataclass(frozen=True, slots=True)
class Bundle:
    """A program: operations and loops in order, and the pool if any operand lies in it.

    Its parameters are the arguments that operands use, by rising index, then the extents that
    symbolic dims and masks ask for, each once, by first use."""

    body: tuple[Sdsc | Loop, ...]
    pool: PoolBuffer | None = None

    def operations(self) -> Iterator[tuple[Sdsc, tuple[int, ...]]]:
        """Operations depth first, each with the trip counts of its enclosing loops, outermost
        first."""
        yield from _operations(self.body, ())

    @property
    def arguments(self) -> tuple[int, ...]:
        """Indices of the kernel arguments in use, rising."""
        return tuple(
            sorted(
                {
                    operand.place.buffer
                    for sdsc, _ in self.operations()
                    for operand in sdsc.operands
                    if isinstance(operand.place, Hbm) and operand.place.buffer != POOL
                }
            )
        )

    @property
    def parameters(self) -> dict[Parameter, tuple[int, int]]:
        """What the caller passes for symbolic dims and masks, by first use: the number of the
        operation, and that of the parameter in it."""
        found: dict[Parameter, tuple[int, int]] = {}
        for index, (sdsc, _) in enumerate(self.operations()):
            for number, parameter in enumerate(sdsc.parameters):
                found.setdefault(parameter, (index, number))
        return found


def _operations(
    body: tuple[Sdsc | Loop, ...], trips: tuple[int, ...]
) -> Iterator[tuple[Sdsc, tuple[int, ...]]]:
    for node in body:
        if isinstance(node, Loop):
            yield from _operations(node.body, (*trips, node.trips))
        else:
            yield node, trips
