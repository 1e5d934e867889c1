# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the operations of a bundle reach, in the worst trip of their loops, on every core.

Works on the model alone, independent of the planner that chose tiles and of the memory plan that
chose addresses. A core's slice of an operand is a box, so its extent along each axis, and with it
the span, is exact and the same in every trip; the address is affine in the loop variables, so the
worst trip is the first or the last of each loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spyre_mlir.hardware import CORES, LOOP_TRIPS_MAX, LX_BYTES, STICK_BYTES
from spyre_mlir.sdsc.bundle import BUNDLE_FILE, file_name
from spyre_mlir.sdsc.findings import Finding, json_path
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Loop, Lx, Operand, Sdsc


@dataclass(frozen=True, slots=True)
class Use:
    """One operand of one operation: the bytes of its buffer that it touches, over all cores and
    trips.

    `first` is the lowest byte, `end` one past the highest, `size` the bytes that the operand's axes
    describe."""

    place: str
    file: str
    buffer: int | str
    first: int
    end: int
    size: int
    writes: bool
    looped: bool


def check(bundle: Bundle, *, limit: int) -> Iterator[Finding]:
    """Findings on loops, cores, spans (over `limit` bytes), and on addresses outside their
    buffers."""
    yield from _loops(bundle.body)
    uses: list[Use] = []
    for index, (sdsc, trips) in enumerate(bundle.operations()):
        file = file_name(index)
        if sdsc.cores > CORES:
            place = json_path((f"{index}_{sdsc.function}", "numCoresUsed_"))
            message = f"{sdsc.cores} cores, the accelerator has {CORES}"
            yield Finding("SPY163", file, place, message)
        for number, operand in enumerate(sdsc.operands):
            place = json_path(
                (f"{index}_{sdsc.function}", "dscs_", 0, sdsc.function, "scheduleTree_", number)
            )
            yield from _spans(sdsc, operand, file, place, limit)
            if isinstance(operand.place, Lx):
                yield from _scratchpad(sdsc, operand, operand.place, file, place)
            else:
                use = _use(sdsc, operand, operand.place, trips, file, place)
                yield from _alignment(operand.place, use)
                uses.append(use)
    yield from _buffers(bundle, uses)


def box(sdsc: Sdsc, operand: Operand) -> dict[str, int]:
    """Per axis: places that one core touches along it; sticks along the stick dim."""
    counts = dict(sdsc.cut)
    if isinstance(operand.place, Lx) and operand.place.cut is not None:
        counts = dict(operand.place.cut)
    extents, eps = sdsc.extents, operand.storage.elements_per_stick
    return {
        axis.dim: extents[axis.dim]
        // counts.get(axis.dim, 1)
        // (eps if axis.dim == operand.stick else 1)
        if axis.iterates
        else 1
        for axis in operand.axes
    }


def _loops(body: tuple[Sdsc | Loop, ...]) -> Iterator[Finding]:
    for node in body:
        if isinstance(node, Loop):
            if not 1 <= node.trips <= LOOP_TRIPS_MAX:
                yield Finding(
                    "SPY162",
                    BUNDLE_FILE,
                    "",
                    f"a loop of {node.trips} trips, 1 to {LOOP_TRIPS_MAX} count",
                )
            yield from _loops(node.body)


def reach(sdsc: Sdsc, operand: Operand) -> int:
    """The largest span of one core in an operand in device memory, in bytes; 0 in the scratchpad."""
    if isinstance(operand.place, Lx):
        return 0
    return max((span for *_, span in _steps(sdsc, operand)), default=0)


def _steps(sdsc: Sdsc, operand: Operand) -> Iterator[tuple[str, int, int, int]]:
    """(dim, places, bytes between them, span in bytes) along each axis of which a core touches more than one place."""
    counts = box(sdsc, operand)
    stride = step = STICK_BYTES
    for axis, size in zip(operand.axes, operand.sizes(sdsc.extents), strict=True):
        # The last step ends where the next axis inside does: a window or a digit leaves a gap.
        count = counts[axis.dim]
        if count > 1:
            yield axis.dim, count, stride, (count - 1) * stride + step
        step = count * stride
        stride *= size


def _spans(sdsc: Sdsc, operand: Operand, file: str, place: str, limit: int) -> Iterator[Finding]:
    if isinstance(operand.place, Lx):
        return
    for dim, count, stride, span in _steps(sdsc, operand):
        if span > limit:
            message = (
                f"one core spans {span} bytes along {dim} ({count} x {stride} bytes), "
                f"{span - limit} bytes over the limit of {limit}"
            )
            yield Finding("SPY161", file, place, message)


def _scratchpad(sdsc: Sdsc, operand: Operand, lx: Lx, file: str, place: str) -> Iterator[Finding]:
    size = STICK_BYTES
    for count in box(sdsc, operand).values():
        size *= count
    if lx.address < 0 or lx.address % STICK_BYTES:
        yield Finding("SPY160", file, place, f"scratchpad address {lx.address} is not on a stick")
    if lx.address + size > LX_BYTES:
        message = f"ends at byte {lx.address + size} of a scratchpad of {LX_BYTES} bytes"
        yield Finding("SPY163", file, place, message)


def _use(
    sdsc: Sdsc, operand: Operand, hbm: Hbm, trips: tuple[int, ...], file: str, place: str
) -> Use:
    strides = operand.strides(sdsc.extents)
    reach = STICK_BYTES + sum(
        (count - 1) * strides[dim] for dim, count in box(sdsc, operand).items()
    )
    travel = [advance * (count - 1) for advance, count in zip(hbm.advances, trips, strict=False)]
    return Use(
        place,
        file,
        hbm.buffer,
        hbm.offset + sum(min(step, 0) for step in travel),
        hbm.offset + sum(max(step, 0) for step in travel) + max(sdsc.core_offsets(operand)) + reach,
        operand.bytes(sdsc.extents),
        operand is sdsc.operands[-1],
        bool(trips),
    )


def _alignment(hbm: Hbm, use: Use) -> Iterator[Finding]:
    for what, figure in (
        ("starts", hbm.offset),
        *(("advances by", advance) for advance in hbm.advances),
    ):
        if figure % STICK_BYTES:
            yield Finding(
                "SPY160",
                use.file,
                use.place,
                f"{what} {figure} bytes, no multiple of a stick of {STICK_BYTES}",
            )


def _buffers(bundle: Bundle, uses: list[Use]) -> Iterator[Finding]:
    """Every use inside its buffer. An argument is as large as the largest operand that describes
    it."""
    sizes: dict[int | str, int] = {}
    for use in uses:
        sizes[use.buffer] = max(sizes.get(use.buffer, 0), use.size)
    if POOL in sizes and bundle.pool is None:
        yield Finding("SPY160", BUNDLE_FILE, "", "operands lie in a pool that there is not")
        return
    pool = bundle.pool.bytes if bundle.pool is not None else None
    for use in uses:
        size = pool if use.buffer == POOL else sizes[use.buffer]
        if use.first < 0 or (size is not None and use.end > size):
            yield Finding(
                "SPY160",
                use.file,
                use.place,
                f"touches bytes {use.first} to {use.end} of {_name(use.buffer)}, which has {size}",
            )
    yield from _waste(sizes, uses, pool)


def _waste(sizes: dict[int | str, int], uses: list[Use], pool: int | None) -> Iterator[Finding]:
    """A pool with bytes that nobody uses; a result that loops write, but not to its end."""
    ends: dict[int | str, int] = {}
    for use in uses:
        if use.writes or use.buffer == POOL:
            # A place in the pool is as large as the tensor in it, of which a part may be used.
            end = max(use.end, use.first + use.size) if use.buffer == POOL else use.end
            ends[use.buffer] = max(ends.get(use.buffer, 0), end)
    in_loops = {use.buffer for use in uses if use.writes and use.looped}
    for buffer, end in ends.items():
        size = pool if buffer == POOL else sizes[buffer] if buffer in in_loops else None
        if size is not None and end < size:
            message = f"{_name(buffer)} has {size} bytes, the operations end at byte {end}"
            yield Finding("SPY164", BUNDLE_FILE, "", message)
    if pool is not None and POOL not in ends:
        yield Finding("SPY164", BUNDLE_FILE, "", f"nothing uses the pool of {pool} bytes")


def _name(buffer: int | str) -> str:
    return "the pool" if buffer == POOL else f"argument {buffer}"
