# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cores per iteration symbol: spans first, then matmul by cost, then the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES

from .matmul import cheapest
from .work import (
    CoreSpan,
    Cuts,
    Work,
    core_spans,
    divisors,
    largest_divisor,
    masked_symbols,
    output_symbols,
    pieces,
    reductions,
    units,
    widest,
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


@lru_cache(maxsize=65536)
def divide(work: Work, *, cores: int = CORES, limit: int = SPAN_LIMIT_BYTES) -> Division:
    """Divides one operation over at most `cores` cores so that no core's span exceeds `limit`
    bytes.

    Sticks are never cut and every share is whole. Refusals: SPY110 a span stays over the limit,
    SPY111 it would take cuts of two reduction symbols."""
    minima = cuts_for_spans(work, cores=cores, limit=limit)
    cuts = default_cuts(work, minima, cores=cores)
    by_cost = False
    if work.matmul and all(cut == 1 for cut in minima.values()):
        best = cheapest(work, cores)
        if best is not None and prod(best.values()) >= prod(cuts.values()):
            best = {s.name: best[s.name] for s in work.symbols}
            by_cost = best != cuts
            cuts = best
    check(work, cuts, limit=limit)
    return Division(tuple(cuts.items()), tuple(minima.items()), by_cost)


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
            first = max(best, key=lambda n: best[n])
            cuts[first] = best[first]
    return cuts


def cuts_for_spans(work: Work, *, cores: int, limit: int) -> dict[str, int]:
    """The fewest cuts with which each operand in turn, inputs first, keeps its spans within `limit`
    bytes.

    Device dims outer to inner: of the allowed cuts of the symbols in the coordinate the widest span
    that fits is taken, else the narrowest. What one operand commits is the least for the next. The
    result may still be over the limit: `check` decides."""
    cuts = {s.name: 1 for s in work.symbols}
    for number, operand in enumerate(work.operands):
        for coordinate in operand.coordinates[:-1]:
            span = widest(work, cuts, number)
            if span is None or span.bytes <= limit:
                break
            if coordinate.terms:
                cuts = _fit(work, cuts, number, coordinate.symbols(), cores, limit)
    _at_most_one_reduction(work, cuts)
    return cuts


def _fit(
    work: Work, cuts: dict[str, int], operand: int, names: tuple[str, ...], cores: int, limit: int
) -> dict[str, int]:
    allowed = pieces(work)
    # The operands of a matmul hold zeros in their padding, so nothing is masked there.
    fixed = frozenset() if work.matmul else masked_symbols(work)
    spent = prod(cut for name, cut in cuts.items() if name not in names)
    ways = [
        [d for d in divisors(allowed[n]) if cuts[n] <= d <= cores and (d == 1 or n not in fixed)]
        for n in names
    ]
    best: tuple[tuple[int, int], dict[str, int]] | None = None
    for way in product(*ways):
        if spent * prod(way) > cores:
            continue
        tried = cuts | dict(zip(names, way, strict=True))
        span = widest(work, tried, operand)
        size = span.bytes if span else 0
        # Spans that fit come before those that do not; of the first the widest, of the others the
        # narrowest.
        rank = (0, -size) if size <= limit else (1, size)
        if best is None or (rank, prod(way)) < (best[0], prod(best[1][n] for n in names)):
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


def check(work: Work, cuts: Cuts, *, limit: int = SPAN_LIMIT_BYTES) -> None:
    """Refuses (SPY110) if any span of any operand exceeds `limit` bytes on some core."""
    over = [
        span
        for number in range(len(work.operands))
        for span in core_spans(work, cuts, number)
        if span.bytes > limit
    ]
    if over:
        raise _over_limit(work, cuts, over, limit)


def _over_limit(work: Work, cuts: Cuts, over: list[CoreSpan], limit: int) -> Refusal:
    worst = max(over, key=lambda span: span.bytes)
    label = work.operands[worst.operand].label
    done = " x ".join(f"{name}:{cut}" for name, cut in cuts.items() if cut > 1) or "no cut"
    return Refusal(
        "SPY110",
        f"one core reaches {worst.bytes} bytes of {label} along device dim {worst.device_dim},"
        f" {worst.bytes - limit} bytes over the limit of {limit} bytes, with the work divided as"
        f" {done}",
        notes=tuple(
            Note(
                f"{work.operands[span.operand].label}: device dim {span.device_dim} spans"
                f" {span.extent} steps of {span.step_bytes} bytes, {span.bytes} bytes"
            )
            for span in over
        ),
        remedy="tile the operation, or use more cores",
    )
