# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cores per iteration symbol: spans first, then matmul by cost, then the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Kernel
from spyre_mlir.spans import Span

from .matmul import cheapest
from .work import (
    Cuts,
    Operand,
    Work,
    core_spans,
    divisors,
    largest_divisor,
    masked_symbols,
    output_symbols,
    pieces,
    reductions,
    shares,
    units,
    work_of,
)


@dataclass(frozen=True, slots=True)
class Division:
    """Symbol -> pieces, in iteration order. `for_spans` is what the spans alone asked for;
    `by_cost` says that the matmul cost chose other cuts than the default."""

    cuts: tuple[tuple[str, int], ...]
    for_spans: tuple[tuple[str, int], ...]
    by_cost: bool = False

    @property
    def cores(self) -> int:
        """Cores at work."""
        return prod(cut for _, cut in self.cuts)


def divide(
    kernel: Kernel,
    *,
    cores: int = CORES,
    limit: int = SPAN_LIMIT_BYTES,
    granularities: Mapping[str, int] | None = None,
    masked: Iterable[str] = (),
    whole_contraction: bool = False,
) -> Division:
    """Divides one operation over at most `cores` cores so that no span of any core exceeds `limit`
    bytes.

    Sticks are never cut and every share is whole. `granularities`: of symbolic dims, in elements,
    by symbol. `masked`: reductions that mask cells. `whole_contraction`: see `Work`. Refusals:
    SPY110 a span stays over the limit, SPY111 it would take cuts of two reduction symbols."""
    work = work_of(
        kernel, granularities=granularities, masked=masked, whole_contraction=whole_contraction
    )
    division, fits = divide_work(work, cores=cores, limit=limit)
    if not fits:
        check(kernel, division.cuts, limit=limit)
    return division


@lru_cache(maxsize=65536)
def divide_work(
    work: Work, *, cores: int = CORES, limit: int = SPAN_LIMIT_BYTES
) -> tuple[Division, bool]:
    """The division, and whether all spans fit in it. Refusal: SPY111."""
    minima = cuts_for_spans(work, cores=cores, limit=limit)
    cuts = default_cuts(work, minima, cores=cores)
    by_cost = False
    if work.matmul and all(cut == 1 for cut in minima.values()):
        best = cheapest(work, cores)
        if best is not None and prod(best.values()) >= prod(cuts.values()):
            best = {s.name: best[s.name] for s in work.symbols}
            by_cost = best != cuts
            cuts = best
    reach = _Reach(work)
    fits = all(reach.bytes(operand, cuts) <= limit for operand in work.operands)
    return Division(tuple(cuts.items()), tuple(minima.items()), by_cost), fits


class _Reach:
    """Spans of the operands of one operation under changing cuts."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.extents = {s.name: s.extent for s in work.symbols}

    def spans(self, operand: Operand, cuts: Cuts) -> tuple[Span, ...]:
        return core_spans(operand, self.extents, shares(self.work, cuts))

    def bytes(self, operand: Operand, cuts: Cuts) -> int:
        """The largest span, 0 if nothing varies."""
        return max((span.bytes for span in self.spans(operand, cuts)), default=0)


def default_cuts(work: Work, minima: Cuts, *, cores: int) -> dict[str, int]:
    """Output symbols by falling size, then at most one reduction, on top of the cuts `minima`."""
    size, allowed = units(work), pieces(work)
    cuts = {s.name: minima.get(s.name, 1) for s in work.symbols}
    left = cores
    for cut in cuts.values():
        left //= cut
    free = [s.name for s in work.symbols if cuts[s.name] == 1]
    outputs = output_symbols(work)
    for name in sorted((n for n in free if n in outputs), key=lambda n: -size[n]):
        cuts[name] = largest_divisor(allowed[name], left)
        left //= cuts[name]
    masked = masked_symbols(work)
    others = [s.name for s in work.symbols if s.name not in outputs]
    if all(cuts[name] == 1 for name in others):
        best = {n: largest_divisor(allowed[n], left) for n in others if n not in masked}
        if best:
            first = max(best, key=lambda n: (best[n], size[n]))
            cuts[first] = best[first]
    return cuts


def cuts_for_spans(work: Work, *, cores: int, limit: int) -> dict[str, int]:
    """The fewest cuts with which each operand in turn, inputs first, keeps its spans within `limit`
    bytes.

    Device dims outer to inner: of the allowed cuts of the symbols in the coordinate the widest span
    that fits is taken, else the narrowest. What one operand commits is the least for the next. The
    result may still be over the limit. Refusal: SPY111."""
    cuts = {s.name: 1 for s in work.symbols}
    reach = _Reach(work)
    for operand in work.operands:
        for coordinate in operand.coordinates[:-1]:
            if reach.bytes(operand, cuts) <= limit:
                break
            if coordinate.terms:
                cuts = _fit(reach, operand, cuts, coordinate.symbols(), cores, limit)
    _at_most_one_reduction(work, cuts)
    return cuts


def _fit(
    reach: _Reach,
    operand: Operand,
    cuts: dict[str, int],
    names: tuple[str, ...],
    cores: int,
    limit: int,
) -> dict[str, int]:
    work = reach.work
    allowed = pieces(work)
    # The operands of a matmul hold zeros in their padding, so nothing is masked there.
    fixed = frozenset() if work.matmul else masked_symbols(work)
    spent = prod(cut for name, cut in cuts.items() if name not in names)
    ways = [
        [d for d in divisors(allowed[n]) if cuts[n] <= d <= cores and (d == 1 or n not in fixed)]
        for n in names
    ]
    best: tuple[tuple[int, int, int], dict[str, int]] | None = None
    for way in product(*ways):
        if spent * prod(way) > cores:
            continue
        tried = cuts | dict(zip(names, way, strict=True))
        size = reach.bytes(operand, tried)
        # What fits comes before what does not; of the former the widest, of the latter the
        # narrowest.
        rank = (0, -size, prod(way)) if size <= limit else (1, size, prod(way))
        if best is None or rank < best[0]:
            best = rank, tried
    return cuts if best is None else best[1]


def _at_most_one_reduction(work: Work, cuts: Cuts) -> None:
    cut = [name for name in sorted(reductions(work)) if cuts[name] > 1]
    if len(cut) > 1:
        raise Refusal(
            "SPY111",
            f"the spans ask to cut {len(cut)} reduction dims across cores ({', '.join(cut)});"
            " one can be",
            remedy="tile one of them, so that each tile fits with the other one whole",
        )


def check(
    kernel: Kernel, cuts: Iterable[tuple[str, int]], *, limit: int = SPAN_LIMIT_BYTES
) -> None:
    """Refuses (SPY110) if any span of any operand exceeds `limit` bytes on some core."""
    done = dict(cuts)
    work = work_of(kernel)
    reach = _Reach(work)
    over = [
        (access.label, span)
        for access, operand in zip(kernel.reads + kernel.writes, work.operands, strict=True)
        for span in reach.spans(operand, done)
        if span.bytes > limit
    ]
    if over:
        raise _over_limit(done, over, limit)


def _over_limit(cuts: Cuts, over: list[tuple[str, Span]], limit: int) -> Refusal:
    label, worst = max(over, key=lambda item: item[1].bytes)
    done = " x ".join(f"{name}:{cut}" for name, cut in cuts.items() if cut > 1)
    return Refusal(
        "SPY110",
        f"one core reaches {worst.bytes} bytes of {label} along device dim {worst.device_dim},"
        f" {worst.bytes - limit} bytes over the limit of {limit} bytes, with the work"
        + (f" divided as {done}" if done else " not divided"),
        notes=tuple(
            f"{name}: device dim {span.device_dim} spans {'' if span.exact else 'at most '}"
            f"{span.extent} steps of {span.stride_bytes} bytes, {span.bytes} bytes"
            for name, span in over
        ),
        remedy="tile the operation, or use more cores",
    )
