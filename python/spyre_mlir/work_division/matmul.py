# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix multiplication: cores by an analytic cost in microseconds.

The constants were fitted to measured hardware (source: the reference compiler)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import log2, prod

from .work import Cuts, Operand, Work, divisors, output_symbols, pieces, stick_lanes, units

MACS_PER_MICROSECOND = 98.304e12 / 2 / 32 / 1e6
"""Multiply-adds of one core in a microsecond, all its lanes busy."""
HBM_BYTES_PER_MICROSECOND = 204800


@dataclass(frozen=True, slots=True)
class Roles:
    """Which symbol plays which part. `shared`: all batches use one weight."""

    batch: tuple[str, ...]
    row: str
    column: str
    contracted: str
    shared: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to cut: (elements, pieces) of batch, rows, columns and the contracted dim, the last
    two in whole sticks, and the cost in microseconds."""

    batch: tuple[int, int]
    rows: tuple[int, int]
    columns: tuple[int, int]
    contracted: tuple[int, int]
    shared: bool
    cost: float
    cuts: tuple[tuple[str, int], ...]

    @property
    def cores(self) -> int:
        """Cores at work."""
        return prod(cut for _, cut in self.cuts)


def roles(work: Work) -> Roles | None:
    """The parts of the symbols, or None where they are not clear (then the default division
    decides)."""
    outputs, lanes = output_symbols(work), stick_lanes(work)
    contracted = [s.name for s in work.symbols if s.name not in outputs]
    columns = [s.name for s in work.symbols if s.name in outputs and s.name in lanes]
    if len(columns) != 1 or len(contracted) != 1:
        return None
    rows = [s.name for s in work.symbols if s.name in outputs and s.name not in lanes]
    once = [n for n in rows if sum(_uses(operand, n) for operand in work.inputs) == 1]
    if not once:
        return None
    coefficients = dict(work.outputs[-1].index.terms)
    row = min(once, key=lambda name: coefficients.get(name, 0))
    batch = tuple(name for name in rows if name != row)
    return Roles(batch, row, columns[0], contracted[0], len(once) > 1 or not batch)


def _uses(operand: Operand, name: str) -> bool:
    return any(name in coordinate.symbols() for coordinate in operand.coordinates)


def candidates(work: Work, part: Roles, cores: int) -> Iterator[Candidate]:
    """Every way to cut into at most `cores` pieces: batch, rows, columns, contracted dim, each
    ascending."""
    size, allowed, lanes = units(work), pieces(work), stick_lanes(work)
    batch = prod(size[name] for name in part.batch)
    names = (*part.batch, part.row, part.column, part.contracted)
    # Both are counted in whole sticks: the padding is computed as well.
    columns = size[part.column] * lanes[part.column]
    contracted = size[part.contracted] * lanes.get(part.contracted, 1)
    ways = [divisors(allowed[name]) for name in names]
    if work.whole_contraction:
        ways[-1] = (1,)
    for cuts in product(*([w for w in way if w <= cores] for way in ways)):
        if prod(cuts) > cores:
            continue
        *batch_cuts, m, n, k = cuts
        sizes = (
            (batch, prod(batch_cuts)),
            (size[part.row], m),
            (columns, n),
            (contracted, k),
        )
        yield Candidate(
            *sizes,
            part.shared,
            cost(*sizes, shared=part.shared, cores=cores),
            tuple(zip(names, cuts, strict=True)),
        )


def cheapest(work: Work, cores: int) -> Cuts | None:
    """The cuts of lowest cost, the first of equals; None where the parts of the symbols are not
    clear."""
    part = roles(work)
    if part is None:
        return None
    return dict(min(candidates(work, part, cores), key=lambda candidate: candidate.cost).cuts)


def _above(ratio: float) -> float:
    """log2 of what exceeds 1."""
    return log2(ratio) if ratio > 1 else 0.0


def cost(
    batch: tuple[int, int],
    rows: tuple[int, int],
    columns: tuple[int, int],
    contracted: tuple[int, int],
    *,
    shared: bool,
    cores: int,
) -> float:
    """Microseconds of a matrix multiplication, each argument (elements, pieces), on at most `cores`
    cores."""
    (B, b), (M, m), (N, n), (K, k) = batch, rows, columns, contracted
    used = b * m * n * k
    tile_rows, tile_columns = max(1, M // m), max(1, N // n)
    efficiency: float = min(1.0, (max(1.0, tile_rows / 8) / 5) ** 0.25)
    total: float = B * M * N * K / used / (MACS_PER_MICROSECOND * efficiency)
    moved = 2 * (B * M * K + (1 if shared else B) * K * N + B * M * N)
    readers = max(m, n) if shared else n
    total += moved / HBM_BYTES_PER_MICROSECOND * max(1.0, (readers / 8) ** 0.75)
    total += (k - 1) * B * M * N / (b * m * n) * (1e-3 if shared else 1e-4)
    target = max(4, min(cores // 2, max(1, M // 32)))
    total += 10 * _above(target / m)
    total += 30 * _above(16 / tile_rows)
    total += 25 * _above(tile_columns / 512)
    deep = _above(K / N) * log2(n)
    if shared:
        if M // m >= 16:
            total += _above(4096 / N) * _above(tile_columns / 128) * 5
        total += deep * 10
    elif M // m >= 16:
        total += deep * 20
    total += 150 * _above(cores / used)
    return total if shared else total + 10 * log2(b)
