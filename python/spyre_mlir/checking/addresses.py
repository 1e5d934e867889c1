# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Addresses of a bundle at full size, proved with integer sets: nothing is enumerated.

Of every operation in its loops: what it touches lies inside its buffers; no two cells of its output,
in no two trips in which the output advances, share a stick; all results are written to their end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spyre_mlir.checking.report import Addresses
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Operand, Sdsc


@dataclass(frozen=True, slots=True)
class Touch:
    """The sticks of one operand: `steps` of (positions, distance in sticks), those of loops first.

    `loops` counts the steps that are trips of loops."""

    name: str
    buffer: int | str
    start: int
    steps: tuple[tuple[int, int], ...]
    loops: int


def prove(bundle: Bundle, sizes: Mapping[int, int], results: Sequence[int]) -> Addresses:
    """What holds of the addresses of a bundle.

    `sizes`: bytes of each parameter; `results`: the parameters that must be written in full.
    Refusal SPY203 if islpy is not installed."""
    isl = _isl()
    whole: dict[int | str, int] = dict(sizes.items())
    if bundle.pool is not None and bundle.pool.bytes is not None:
        whole[POOL] = bundle.pool.bytes
    faults: list[str] = []
    written: dict[int | str, Any] = {}
    operations = 0
    for number, (sdsc, trips) in enumerate(bundle.operations()):
        operations += 1
        *reads, output = (_touch(number, sdsc, i, trips) for i in range(len(sdsc.operands)))
        for touch in (*reads, output):
            if touch is not None and touch.buffer in whole:
                faults += _outside(touch, whole[touch.buffer])
        if output is None:
            continue
        faults += _overlaps(isl, output)
        sticks = _map(isl, output).range()
        known = written.get(output.buffer)
        written[output.buffer] = sticks if known is None else known.union(sticks)
    for parameter in results:
        faults += _uncovered(isl, parameter, sizes[parameter], written.get(parameter))
    return Addresses(operations, len(written), tuple(faults))


def _isl() -> Any:
    try:
        import islpy
    except ImportError:
        raise Refusal(
            "SPY203",
            "addresses at full size are proved with islpy, which is not installed",
            remedy="pip install 'spyre-mlir[check]'",
        ) from None
    return islpy


def _touch(number: int, sdsc: Sdsc, index: int, trips: tuple[int, ...]) -> Touch | None:
    """What operand `index` touches; None in the scratchpad."""
    operand = sdsc.operands[index]
    place = operand.place
    if not isinstance(place, Hbm):
        return None
    advances = place.advances or (0,) * len(trips)
    moving = [(t, a // STICK_BYTES) for t, a in zip(trips, advances, strict=True) if a and t > 1]
    steps = [*moving, *_positions(sdsc, operand)]
    name = f"sdsc_{number}.json ({sdsc.function}), operand {index}"
    return Touch(name, place.buffer, place.offset // STICK_BYTES, tuple(steps), len(moving))


def _positions(sdsc: Sdsc, operand: Operand) -> Iterator[tuple[int, int]]:
    extents = sdsc.extents
    strides = operand.strides(extents)
    lanes = operand.storage.elements_per_stick
    for axis in operand.axes:
        count = extents[axis.dim] // lanes if axis.dim == operand.stick else extents[axis.dim]
        if axis.iterates and count > 1:
            yield count, strides[axis.dim] // STICK_BYTES


def _outside(touch: Touch, size: int) -> Iterator[str]:
    first = touch.start + sum(min(0, (n - 1) * step) for n, step in touch.steps)
    last = touch.start + sum(max(0, (n - 1) * step) for n, step in touch.steps)
    if first < 0 or (last + 1) * STICK_BYTES > size:
        yield (
            f"{touch.name} touches bytes {first * STICK_BYTES} to {(last + 1) * STICK_BYTES} of a"
            f" buffer of {size}"
        )


def _map(isl: Any, touch: Touch) -> Any:
    """{ [positions] -> [stick] }."""
    names = [f"i{k}" for k in range(len(touch.steps))]
    bounds = [f"0 <= {name} < {n}" for name, (n, _) in zip(names, touch.steps, strict=True)]
    terms = [str(touch.start)]
    terms += [f"{step}*{name}" for name, (_, step) in zip(names, touch.steps, strict=True)]
    condition = f" : {' and '.join(bounds)}" if bounds else ""
    return isl.Map(f"{{ [{', '.join(names)}] -> [{' + '.join(terms)}]{condition} }}")


def _overlaps(isl: Any, touch: Touch) -> Iterator[str]:
    if not _map(isl, touch).is_injective():
        yield f"{touch.name} writes a stick for two cells, or in two trips"


def _uncovered(isl: Any, parameter: int, size: int, written: Any) -> Iterator[str]:
    wanted = isl.Set(f"{{ [i] : 0 <= i < {size // STICK_BYTES} }}")
    if written is None:
        yield f"nothing is written to parameter {parameter}"
    elif not wanted.is_subset(written):
        missing = wanted.subtract(written).lexmin()
        yield f"parameter {parameter} is not written to its end: {missing}"
