# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`policy = seed`: the reference planner restated, for comparison. Not sound, and never the
default.

It looks at the result in a layout rebuilt for the tile, and for reductions at the inputs as they
are; never at the inputs of elementwise operations. It counts host bytes, cuts by exact divisors
only, and takes a span that no legal split can reduce for none. The check of the final bundle
applies to its plans as to all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from spyre_mlir import seed_layouts
from spyre_mlir.accesses import Access, device_coordinates, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import host_bytes
from spyre_mlir.kernels import Kernel
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.quasiaffine import Expression, symbol
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.value_ranges import value_range

SPLITS_PER_DIM = 16
"""Legal splits of one dim that the reference considers."""

COMBINATIONS = 512
"""Combinations of splits that it tries."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Span limit in bytes, largest split count, most dims that may overflow."""

    span_limit: int
    count_cap: int
    max_dims: int


@dataclass(frozen=True, slots=True)
class View:
    """An access as the reference sees it: device coordinates over ranges, and the host's bytes per
    element."""

    label: str
    coordinates: tuple[Expression, ...]
    ranges: Mapping[str, int]
    device_size: tuple[int, ...]
    item_bytes: int

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole buffer."""
        return prod(self.device_size) * self.item_bytes


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span over the limit and one host dim that drives it: `extent` steps of `inner` elements."""

    host_dim: int
    span: int
    extent: int
    inner: int
    total_bytes: int
    lanes: int
    symbol: str
    source: str | None

    @property
    def reason(self) -> str:
        """`output span overflow`, or which input."""
        if self.source is None:
            return "output span overflow"
        return f"input span overflow for {self.source}"


def view_of(access: Access, extents: Mapping[str, int]) -> View:
    """The view of an access of a kernel."""
    return View(
        access.label,
        device_coordinates(access, extents),
        extents,
        access.layout.device_size,
        host_bytes(access.element),
    )


def extent_of(
    coordinate: Expression, ranges: Mapping[str, int], splits: Mapping[str, int]
) -> int | None:
    """The extent with ranges divided by splits; None where one does not divide, or is not known."""
    divided = {}
    for name in coordinate.symbols():
        split = splits.get(name, 1)
        if name not in ranges or ranges[name] % split:
            return None
        divided[name] = ranges[name] // split
    found = value_range(coordinate, divided)
    return found.extent if found.exact else None


def output_candidates(
    view: View, dims: Mapping[str, int], limit: int, splits: Mapping[str, int]
) -> list[Candidate] | None:
    """The spans of the result over `limit` bytes; None if an extent is not known."""
    found = []
    for dim, coordinate in enumerate(view.coordinates[:-1]):
        names = coordinate.symbols()
        if not names or any(name not in dims for name in names):
            continue
        extent = extent_of(coordinate, view.ranges, splits)
        if extent is None:
            return None
        inner = prod(view.device_size[dim + 1 :])
        found += _over(view, extent, inner, names, dims, limit, None)
    return found


def input_candidates(
    views: Iterable[View], dims: Mapping[str, int], limit: int, splits: Mapping[str, int]
) -> list[Candidate]:
    """The spans of inputs over `limit` bytes that result dims alone drive, inner dims as large as
    the tile makes them."""
    found: list[Candidate] = []
    for view in views:
        for dim, coordinate in enumerate(view.coordinates[:-1]):
            names = coordinate.symbols()
            if not names or any(name not in dims for name in names):
                continue
            extent = extent_of(coordinate, view.ranges, splits)
            inner = _tiled_inner(view, dim, splits)
            if extent is not None and inner is not None:
                found += _over(view, extent, inner, names, dims, limit, view.label)
    return found


def _tiled_inner(view: View, dim: int, splits: Mapping[str, int]) -> int | None:
    inner = 1
    for coordinate, size in zip(
        view.coordinates[dim + 1 :], view.device_size[dim + 1 :], strict=False
    ):
        extent = extent_of(coordinate, view.ranges, splits) if coordinate.terms else size
        if extent is None:
            return None
        inner *= min(extent, size)
    return inner


def _over(
    view: View,
    extent: int,
    inner: int,
    names: Sequence[str],
    dims: Mapping[str, int],
    limit: int,
    source: str | None,
) -> list[Candidate]:
    span = extent * inner * view.item_bytes
    if span <= limit:
        return []
    lanes = view.device_size[-1]
    return [
        Candidate(dims[name], span, extent, inner, view.total_bytes, lanes, name, source)
        for name in names
    ]


def host_dim_order(spans: Iterable[tuple[int, int]]) -> list[int]:
    """Host dims of (host dim, span) pairs: largest span first, first appearance on ties."""
    largest: dict[int, int] = {}
    for dim, span in spans:
        largest[dim] = max(largest.get(dim, 0), span)
    return sorted(largest, key=lambda dim: -largest[dim])


def contraction_dims(
    dims: Mapping[str, int], symbols_read: Iterable[Collection[str]]
) -> dict[str, int]:
    """The map of a batch matmul: empty unless exactly one symbol is read that is not in it."""
    reduced = {name for names in symbols_read for name in names if name not in dims}
    return dict(dims) if len(reduced) == 1 else {}


def stick_dim(layout: Layout, strides: Sequence[int]) -> int | None:
    """The host dim whose stride is that of the stick; None if there is none (a sparse stick)."""
    for dim, stride in enumerate(strides):
        if stride == layout.stride_map[-1]:
            return dim
    return None


def keeps_sticks(
    layout: Layout, shape: Sequence[int], strides: Sequence[int], dim: int, split: int
) -> bool:
    """Whether cutting a host dim leaves the sticks of a buffer whole, as far as can be told."""
    stick = stick_dim(layout, strides)
    if split <= 1:
        return True
    if stick is None:
        return False
    if stick != dim:
        return True
    return shape[dim] % split == 0 and shape[dim] // split % layout.elements_per_stick == 0


def legal_splits(kernel: Kernel, dim: int, extent: int, cap: int) -> list[int]:
    """Divisors from 1 to `cap` that leave the sticks of every operand whole; a reduction keeps more
    than one step of its result's dims."""
    reduction = is_reduction(kernel)
    legal = [1]
    for split in range(2, min(cap, extent) + 1):
        if extent % split or (reduction and extent // split <= 1):
            continue
        if _sticks_whole(kernel, dim, split):
            legal.append(split)
    return legal


def _sticks_whole(kernel: Kernel, dim: int, split: int) -> bool:
    result = kernel.writes[0]
    if not keeps_sticks(result.layout, result.shape, result.strides, dim, split):
        return False
    names = {d.symbol for d in kernel.dims if d.host_dim == dim}
    for access in kernel.reads:
        for host, coordinate in enumerate(_host_coordinates(access, kernel.extents)):
            if names.isdisjoint(coordinate.symbols()):
                continue
            if not keeps_sticks(access.layout, access.shape, access.strides, host, split):
                return False
    return True


def _host_coordinates(access: Access, extents: Mapping[str, int]) -> tuple[Expression, ...]:
    """The coordinates of an access in its host shape."""
    host = Layout((*access.shape, 1), (*access.strides, -1))
    on_host = Access(access.label, access.buffer, host, access.element, access.index)
    return device_coordinates(on_host, extents)[:-1]


def is_reduction(kernel: Kernel) -> bool:
    """Whether the reference would call the operation a reduction."""
    return any(dim.reduction for dim in kernel.dims)


def fewest_splits(legal: list[int], required: int) -> list[int]:
    """At most SPLITS_PER_DIM of the legal splits: the smallest, those near `required`, the
    largest."""
    if len(legal) <= SPLITS_PER_DIM:
        return legal
    chosen = {1}
    for split in legal:
        if len(chosen) < 5:
            chosen.add(split)
    first = next((i for i, split in enumerate(legal) if split >= required), len(legal))
    chosen.update(legal[max(first - 2, 0) : first + 4])
    for split in reversed(legal):
        if len(chosen) >= SPLITS_PER_DIM:
            break
        chosen.add(split)
    return sorted(chosen)


def search_splits(
    name: str,
    candidates: Sequence[Candidate],
    extents: Sequence[int],
    caps: Caps,
    legal: Callable[[int], list[int]],
    fits: Callable[[Mapping[int, int]], bool],
) -> dict[int, int] | None:
    """Host dim -> split of the cheapest combination that fits; None if nothing overflows.

    Raises Refusal SPY060 too many dims, SPY062 a dim without range, SPY061 nothing fits."""
    order = host_dim_order((c.host_dim, c.span) for c in candidates)
    if not order:
        return None
    if len(order) > caps.max_dims:
        raise Refusal(
            "SPY060",
            f"{name}: host dims {order} overflow; policy seed tiles at most {caps.max_dims}",
        )
    choices = []
    for dim in order:
        if dim >= len(extents) or extents[dim] <= 1:
            raise Refusal("SPY062", f"{name}: host dim {dim} overflows and has no range to split")
        required = max(-(-c.span // caps.span_limit) for c in candidates if c.host_dim == dim)
        choices.append(fewest_splits(legal(dim), required))
    for combination in sorted(product(*choices), key=_cost)[:COMBINATIONS]:
        splits = {d: s for d, s in zip(order, combination, strict=True) if s > 1}
        if splits and fits(splits):
            return dict(sorted(splits.items()))
    raise Refusal(
        "SPY061",
        f"{name}: no combination of splits of host dims {order} brings every span within "
        f"{caps.span_limit} bytes",
        notes=tuple(f"{c.reason}: host dim {c.host_dim}, {c.span} bytes" for c in candidates),
    )


def _cost(counts: tuple[int, ...]) -> tuple[int, int, int, tuple[int, ...]]:
    return prod(counts), sum(count > 1 for count in counts), max(counts), counts


def plan_seed(kernel: Kernel, caps: Caps) -> TilePlan | None:
    """The reference's plan of a kernel, or None where it has none.

    Raises Refusal SPY060, SPY061 or SPY062 where it raises `Unsupported`."""
    result = kernel.writes[0] if kernel.writes else None
    if result is None or not result.shape:
        return None
    if any(access.indirect for access in kernel.accesses):
        return None
    if any(dim.symbolic for dim in kernel.dims):
        return None
    candidates = all_candidates(kernel, caps, {})
    splits = search_splits(
        kernel.label or kernel.name,
        candidates,
        result.shape,
        caps,
        lambda dim: legal_splits(kernel, dim, result.shape[dim], caps.count_cap),
        lambda chosen: remains_within(kernel, caps, chosen),
    )
    if splits is None:
        return None
    levels = tuple(
        Level("parallel", dim, split, result.shape[dim] // split) for dim, split in splits.items()
    )
    return TilePlan(levels, reason="; ".join(sorted({c.reason for c in candidates})))


def result_dims(kernel: Kernel) -> dict[str, int]:
    """Symbol -> host dim of the result."""
    return {d.symbol: d.host_dim for d in kernel.dims if d.host_dim is not None}


def all_candidates(kernel: Kernel, caps: Caps, splits: Mapping[int, int]) -> list[Candidate]:
    """Candidates of the result, then of a reduction's inputs, before tiling."""
    dims = result_dims(kernel)
    view = view_of(kernel.writes[0], kernel.extents)
    found = output_candidates(view, dims, caps.span_limit, {}) or []
    return found + controlled_inputs(kernel, caps, splits)


def controlled_inputs(kernel: Kernel, caps: Caps, splits: Mapping[int, int]) -> list[Candidate]:
    """Input candidates of a reduction, without those on dims that have no legal split."""
    if not is_reduction(kernel):
        return []
    dims = result_dims(kernel)
    if kernel.family == "contract":
        dims = contraction_dims(dims, [access.index.symbols() for access in kernel.reads])
    by_symbol = {name: splits.get(dim, 1) for name, dim in dims.items()}
    views = [view_of(access, kernel.extents) for access in kernel.reads]
    found = input_candidates(views, dims, caps.span_limit, by_symbol)
    shape = kernel.writes[0].shape
    splittable = {
        dim
        for dim in {candidate.host_dim for candidate in found}
        if dim < len(shape) and len(legal_splits(kernel, dim, shape[dim], caps.count_cap)) > 1
    }
    return [candidate for candidate in found if candidate.host_dim in splittable]


def remains_within(kernel: Kernel, caps: Caps, splits: Mapping[int, int]) -> bool:
    """Whether nothing that the reference looks at overflows after tiling.

    The result is measured in a layout rebuilt for the tile, with the tile's own strides and ranges;
    a layout that cannot be rebuilt, or an extent that is not known, counts as an overflow."""
    result = kernel.writes[0]
    tile = tuple(size // splits.get(dim, 1) for dim, size in enumerate(result.shape))
    dims = result_dims(kernel)
    extents = {
        d.symbol: d.extent if d.host_dim is None else d.extent // splits.get(d.host_dim, 1)
        for d in kernel.dims
    }
    try:
        layout = seed_layouts.resize(result.layout, result.shape, tile)
        strides = contiguous_strides(tile)
        index = flat_index([symbol(name) for name in dims], [strides[d] for d in dims.values()])
        moved = Access(result.label, result.buffer, layout, result.element, index, True)
        view = view_of(moved, extents)
    except Refusal:
        return False
    over = output_candidates(view, dims, caps.span_limit, {})
    if over is None or over:
        return False
    return not controlled_inputs(kernel, caps, splits)
