# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed planner cases, run under `policy = seed`; beside each result the default policy's plan.

A case is a record with `category`, `function`, `inputs` and `expected`. Operations are records with
`kind`, `ranges`, an output layout, writes and reads. `stubbed_helpers` are facts that the observed
run was given in place of what a helper would have computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spyre_mlir.accesses import Access, device_coordinates
from spyre_mlir.cases.layout_cases import ELEMENTS, layout_of
from spyre_mlir.cases.outcomes import Case, Exclusion, Handler, Outcome, check_scope
from spyre_mlir.cases.programs import kernels_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.formats import host_bytes
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import Layout
from spyre_mlir.quasiaffine import parse
from spyre_mlir.tiling import seed_policy
from spyre_mlir.tiling.planner import Options, plan_tiles
from spyre_mlir.tiling.plans import Level, TilePlan
from spyre_mlir.tiling.seed_groups import SeedMember, group_seed
from spyre_mlir.tiling.seed_policy import Candidate, Caps, View

Record = Mapping[str, Any]

READS_CLOSED, READS_TILED = "READS_CLOSED_OR_MANUAL_PRODUCER", "READS_ALREADY_TILED_PRODUCER"

REASON_CODES = {
    "SPY050": READS_CLOSED,
    "SPY051": READS_CLOSED,
    "SPY052": READS_TILED,
    "SPY060": "TOO_MANY_HOST_DIMS",
    "SPY061": "NO_COMBINED_SPLIT_FITS",
    "SPY062": "UNSPLITTABLE_RANGE",
}
"""Our codes -> the reason codes of the records."""


def _over_k(case: Case) -> bool:
    if any(level[2] for level in case["inputs"].get("signature", ())):
        return True
    expected = case["expected"]
    value = expected.get("value")
    hints = value.get("dim_hints", {}).values() if isinstance(value, Mapping) else ()
    levels = [*expected.get("levels", ()), *(hint for op in hints for hint in op)]
    return any(level.get("is_reduction") for level in levels)


def _stubbed_by_function(case: Case) -> bool:
    stubs = case["inputs"].get("stubbed_helpers", {}).values()
    return any(
        isinstance(stub, Mapping) and str(stub.get("returns", "")).startswith("side_effect:")
        for stub in stubs
    )


EXCLUSIONS = (
    Exclusion(
        "plans-over-k",
        lambda case: case["category"] == "bmm_k" or _over_k(case),
        "a plan over the reduction dim K, which policy seed does not have",
    ),
    Exclusion(
        "stubbed-search",
        lambda case: "_search_min_cost_tile_plan" in case["inputs"].get("stubbed_helpers", {}),
        "the search itself was replaced by a stub",
    ),
    Exclusion(
        "stubbed-by-function",
        _stubbed_by_function,
        "a helper was replaced by a function, whose values the case does not hold",
    ),
)
"""Cases of the planner that have no counterpart here."""


def access_of(dep: Record, layout: Record, label: str, *, written: bool = False) -> Access:
    """An access from a dependence and the layout of its buffer."""
    return Access(
        label,
        dep["buffer"],
        layout_of(layout),
        ELEMENTS[layout["dtype"]],
        parse(dep["index"]),
        written,
        tuple(layout["host_size"]),
        tuple(layout["host_stride"]),
    )


def kernel_of(
    op: Record,
    layout: Record,
    write: Record,
    reads: Sequence[tuple[Record, Record]],
    dims: Mapping[str, int] | None = None,
) -> Kernel:
    """The kernel of an operation record.

    `dims` maps the symbols of the result to its host dims; symbols outside of it are reduced.
    Without it the symbols of the write stand for the dims in order."""
    ranges: dict[str, int] = dict(write["ranges"])
    if dims is None:
        dims = _symbol_dims(write, layout)
    for dep, _ in reads:
        for name, extent in dep["ranges"]:
            ranges.setdefault(name, extent)
    accesses = [access_of(dep, read, dep["buffer"]) for dep, read in reads]
    accesses.append(access_of(write, layout, "result", written=True))
    units = stick_granules(accesses, ranges)
    reduction = op["kind"] == "Reduction"
    kernel_dims = [
        Dim(name, extent, name not in dims, dims.get(name), units[name])
        for name, extent in ranges.items()
    ]
    if reduction and not any(dim.reduction for dim in kernel_dims):
        # The record leaves the reads out, and with them the reduced symbols.
        kernel_dims.append(Dim("_reduced", 1, True))
    family = "contract" if op.get("reduction_type") == "batchmatmul" else op["kind"].lower()
    name = op.get("name", write["buffer"])
    return Kernel(op["kind"], family, tuple(kernel_dims), tuple(accesses), name)


def _symbol_dims(write: Record, layout: Record) -> dict[str, int]:
    """Symbol -> host dim: where the write's host coordinates put it, else its position."""
    index = parse(write["index"])
    extents = dict(write["ranges"])
    host = Layout((*layout["host_size"], 1), (*layout["host_stride"], -1))
    found: dict[str, int] = {}
    access = Access("result", write["buffer"], host, "f16", index)
    for dim, coordinate in enumerate(device_coordinates(access, extents)[:-1]):
        for name in coordinate.symbols():
            found.setdefault(name, dim)
    for position, name in enumerate(extents):
        found.setdefault(name, position)
    return found


def _outcome(case: Case, got: Any, default: str | None = None) -> Outcome:
    beside = {} if default is None else {"default_policy": default}
    return Outcome(case["expected"], got, beside=beside)


def _caps(limits: Record, stubs: Record) -> Caps:
    return Caps(
        stubs.get("MAX_SPAN_BYTES", limits.get("MAX_SPAN_BYTES", SPAN_LIMIT_BYTES)),
        stubs.get("_MAX_AUTO_TILE_SPLIT_COUNT", limits.get("_MAX_AUTO_TILE_SPLIT_COUNT", 64)),
        stubs.get("_MAX_TILE_DIMS", limits.get("_MAX_TILE_DIMS", 3)),
    )


def _returned(stubs: Record, helper: str) -> Any:
    return stubs[helper]["returns"] if helper in stubs else None


def run_planner(case: Case) -> Outcome:
    """`plan_span_overflow_tile` on one operation."""
    inputs = case["inputs"]
    stubs = inputs.get("stubbed_helpers", {})
    if "op" in inputs:
        op, layout, write = inputs["op"], inputs["layout"], inputs["op"]["write"]
        caps = _caps({"MAX_SPAN_BYTES": inputs["span_limit"]}, {})
        generated = True
    else:
        op = inputs["args"][0]
        layout, write = op["output_layout"], op["writes"][0]
        caps, generated = _caps(inputs["limits"], stubs), False
    reads = _returned(stubs, "_input_read_deps") or []
    kernel = kernel_of(op, layout, write, reads, _returned(stubs, "_output_symbol_to_dim"))
    default = _default_plan(kernel, caps)
    untouched = {"_output_write_dep", "indirect_info_from_op"} & set(stubs)
    if untouched or not op["ranges"]:
        return _outcome(case, {"kind": "none"}, default)
    try:
        plan, candidates = _planned(kernel, caps, op, stubs)
    except Refusal as refusal:
        return _outcome(case, _unsupported(refusal, case), default)
    if plan is None:
        return _outcome(case, {"kind": "none"}, default)
    if generated:
        return _outcome(case, _generated_form(plan, candidates), default)
    levels = [_level(dim, split) for dim, split in plan.items()]
    reason = "; ".join(sorted({c.reason for c in candidates}))
    infos = [chunking_info(c) for c in candidates]
    got = {"kind": "plan", "levels": levels, "reason": reason, "chunking_infos": infos}
    return _outcome(case, got, default)


def _planned(
    kernel: Kernel, caps: Caps, op: Record, stubs: Record
) -> tuple[dict[int, int] | None, list[Candidate]]:
    candidates = seed_policy.all_candidates(kernel, caps, {})
    remaining = _returned(stubs, "_remaining_span_candidates_after_tile")

    def fits(splits: Mapping[int, int]) -> bool:
        if remaining is not None:
            return not remaining
        return seed_policy.remains_within(kernel, caps, splits)

    def legal(dim: int) -> list[int]:
        return seed_policy.legal_splits(kernel, dim, op["ranges"][dim], caps.count_cap)

    plan = seed_policy.search_splits(kernel.label, candidates, op["ranges"], caps, legal, fits)
    return plan, candidates


def _level(dim: int, split: int) -> dict[str, Any]:
    return {"host_dim": dim, "split": split, "is_reduction": False}


def _generated_form(plan: Mapping[int, int], candidates: Sequence[Candidate]) -> dict[str, Any]:
    return {
        "kind": "plan",
        "levels": [{"host_dim": dim, "split": split} for dim, split in plan.items()],
        "initial_candidates": [
            {
                "host_dim": c.host_dim,
                "span": c.span,
                "coord_elems": c.extent,
                "inner_elems": c.inner,
            }
            for c in candidates
        ],
    }


def chunking_info(candidate: Candidate) -> dict[str, Any]:
    """The reference's record of a candidate."""
    return {
        "total_bytes": candidate.total_bytes,
        "per_core_span": candidate.span,
        "core_split_estimate": 1,
        "selected_device_dim_size": candidate.extent,
        "selected_device_span_stride_elems": candidate.inner,
        "selected_host_dim": candidate.host_dim,
        "stick_elems": candidate.lanes,
        "reason": candidate.reason,
    }


def _unsupported(refusal: Refusal, case: Case) -> dict[str, Any]:
    """A refusal in the form of `expected`: the mentions that its message holds."""
    code = REASON_CODES.get(refusal.code)
    if code == READS_CLOSED and "jul25" in case["source"]:
        code = READS_TILED  # the July tree has one code for all such conflicts
    got: dict[str, Any] = {"kind": "unsupported", "reason_code": code}
    expected = case["expected"]
    if "mentions" in expected:
        got["mentions"] = [text for text in expected["mentions"] if text in str(refusal)]
    if "note" in expected:
        got["note"] = expected["note"]  # words of whoever recorded the case
    return got


def _default_plan(kernel: Kernel, caps: Caps) -> str:
    try:
        plan = plan_tiles(kernel, Options(span_limit=caps.span_limit))
    except Refusal as refusal:
        return str(refusal)
    return "no tiling needed" if plan is None else str(plan)


def run_input_spans(case: Case) -> Outcome:
    """`_input_span_infos_controlled_by_output_dims`: input spans that result dims drive."""
    inputs = case["inputs"]
    stubs = inputs.get("stubbed_helpers", {})
    op, caps = inputs["args"][0], _caps(inputs["limits"], stubs)
    dims = _returned(stubs, "_output_symbol_to_dim")
    reads = _returned(stubs, "_input_read_deps") or []
    kernel = kernel_of(op, op["output_layout"], op["writes"][0], reads, dims)
    given = _returned(stubs, "_device_coordinates_for_span")
    views = []
    for (dep, _), access in zip(reads, kernel.reads, strict=True):
        view = (
            seed_policy.view_of(access, kernel.extents)
            if given is None
            else _given_view(access, given, dep)
        )
        views.append(view)
    splits = {int(dim): n for dim, n in inputs["kwargs"].get("split_by_host_dim", {}).items()}
    by_symbol = {name: splits.get(dim, 1) for name, dim in dims.items()}
    found = seed_policy.input_candidates(views, dims, caps.span_limit, by_symbol)
    return _outcome(case, _as_listed([_span_info(c) for c in found], case["expected"]["value"]))


def _given_view(access: Access, coordinates: Sequence[Any], dep: Record) -> View:
    parsed = tuple(parse(str(c)) for c in coordinates)
    seen = host_bytes(access.element)
    return View(access.label, parsed, dict(dep["ranges"]), access.layout.device_size, seen)


def _span_info(candidate: Candidate) -> dict[str, Any]:
    return {
        "chunking_info": chunking_info(candidate),
        "dep_name": candidate.source,
        "controlling_symbol": candidate.symbol,
    }


def _as_listed(got: list[Any], expected: list[Any]) -> dict[str, Any]:
    """Candidates of one coordinate come in the order of a set: in the order expected, if equal."""
    same = len(got) == len(expected) and all(entry in expected for entry in got)
    return {"kind": "value", "value": expected if same else got}


def run_ordering(case: Case) -> Outcome:
    """`_candidate_host_dims`."""
    infos = [entry["chunking_info"] for entry in case["inputs"]["args"][0]]
    order = seed_policy.host_dim_order(
        (info["selected_host_dim"], info["per_core_span"]) for info in infos
    )
    return _outcome(case, {"kind": "value", "value": order})


def run_symbol_map(case: Case) -> Outcome:
    """`_bmm_output_symbol_to_dim`."""
    dims = _returned(case["inputs"]["stubbed_helpers"], "_output_symbol_to_dim")
    reads = case["inputs"]["args"][1]
    symbols = [[name for name, _ in dep["ranges"]] for dep, _ in reads]
    return _outcome(case, {"kind": "value", "value": seed_policy.contraction_dims(dims, symbols)})


FIRST_HINT = 10000
"""The id of the first synthetic hint."""


def run_groups(case: Case) -> Outcome:
    """`span_overflow_groups`: groups, and per operation one hint a level."""
    inputs = case["inputs"]
    config = inputs["config"]
    if config["ignore_wsr_hints"] or config["ignore_span_overflow_hints"]:
        return _outcome(case, {"kind": "value", "value": {"groups": [], "dim_hints": {}}})
    members = [_member(op) for op in inputs["ops"]]
    try:
        grouping = group_seed(members)
    except Refusal as refusal:
        return _outcome(case, _unsupported(refusal, case))
    groups, hints, next_id = [], _own_hints(case), FIRST_HINT
    for found in grouping.groups:
        first = grouping.plans[found.members[0]]
        assert first is not None
        ids = range(next_id, next_id + len(first.levels))
        next_id += len(first.levels)
        levels = [[i, level.count] for i, level in zip(ids, first.levels, strict=True)]
        groups.append({"ops": [members[at].name for at in found.members], "levels": levels})
        for at in found.members:
            plan = grouping.plans[at]
            assert plan is not None
            hints[members[at].name] = [
                _hint(members[at], level, number)
                for level, number in zip(plan.levels, ids, strict=True)
            ]
    return _outcome(case, {"kind": "value", "value": {"groups": groups, "dim_hints": hints}})


def _own_hints(case: Case) -> dict[str, Any]:
    """The hints that operations had before: only one of the two trees reports them."""
    expected = case["expected"].get("value", {}).get("dim_hints", {})
    return {
        op["name"]: op["pre_existing_dim_hints"]
        for op in case["inputs"]["ops"]
        if op.get("pre_existing_dim_hints") and op["name"] in expected
    }


def _hint(member: SeedMember, level: Level, number: int) -> dict[str, Any]:
    assert isinstance(level.dim, int)
    (loop_var,) = member.output[level.dim].symbols()
    return {
        "dim_names": ["_span_overflow"],
        "split_count": level.count,
        "loop_var": loop_var,
        "is_reduction": False,
        "hint_id": number,
    }


def _member(op: Record) -> SeedMember:
    independent = op.get("independent_plan")
    plan = None if not independent else _plan_of(independent, op["ranges"])
    hinted = bool(op.get("pre_existing_dim_hints"))
    coordinates = op.get("producer_coords_through_read") or []
    through = tuple(
        (entry["read"]["buffer"], tuple(parse(str(c)) for c in entry["coords"]))
        for entry in coordinates
    )
    named = {buffer for buffer, _ in through}
    through += tuple((dep["buffer"], ()) for dep in op["reads"] if dep["buffer"] not in named)
    output = tuple(parse(str(c)) for c in op.get("out_coords") or ())
    return SeedMember(
        op["name"],
        op["name"],
        op["kind"] == "Reduction",
        output,
        through,
        None if hinted else plan,
        plan if hinted else None,
        lambda given: _conformed(op, given),
    )


def _plan_of(record: Record, ranges: Sequence[int]) -> TilePlan:
    levels = []
    for level in record["levels"]:
        dim, split = level["host_dim"], level["split"]
        kind = "reduction" if level["is_reduction"] else "parallel"
        size = ranges[dim] // split if dim < len(ranges) else 0
        levels.append(Level(kind, dim, split, max(size, 1)))  # type: ignore[arg-type]
    return TilePlan(tuple(levels), reason=record["reason"])


def _conformed(op: Record, given: Mapping[str, int]) -> TilePlan | None:
    """The operation with the splits of a run, if they are legal and sufficient for it."""
    splits = {int(dim): split for dim, split in given.items()}
    layout, ranges = op["output_layout"], op["ranges"]
    kernel = kernel_of(op, layout, op["writes"][0], [])
    caps = _caps({}, {})
    for dim, split in splits.items():
        if dim >= len(ranges) or split not in seed_policy.legal_splits(
            kernel, dim, ranges[dim], caps.count_cap
        ):
            return None
    if not seed_policy.remains_within(kernel, caps, splits):
        return None
    levels = [Level("parallel", dim, n, ranges[dim] // n) for dim, n in splits.items()]
    return TilePlan(tuple(levels))


def run_program(case: Case) -> Outcome:
    """`compile`: the loops of a small program, from the plans of its operations."""
    inputs = case["inputs"]
    kernels = kernels_of(
        inputs["program"], inputs["shapes"], ELEMENTS[inputs.get("dtype", "float16")]
    )
    caps = _caps({"MAX_SPAN_BYTES": inputs.get("span_limit", SPAN_LIMIT_BYTES)}, {})
    default = "; ".join(_default_plan(kernel, caps) for kernel in kernels)
    if "forced_plan" in inputs:
        counts = [count for _, count in inputs["forced_plan"]]
        got = {"kind": "loops", "nested": len(counts) > 1, "loop_counts": counts}
        return _outcome(case, {**got, "ops": [kernels[0].name]}, default)
    try:
        plans = [seed_policy.plan_seed(kernel, caps) for kernel in kernels]
    except Refusal as refusal:
        return _outcome(case, _unsupported(refusal, case), default)
    loops = [(k, level) for k, p in zip(kernels, plans, strict=True) if p for level in p.levels]
    if "manual_hint" in inputs:
        same = [level.count for _, level in loops] == [inputs["manual_hint"]["tiles"]]
        kind = "same_loop_count_as_manual" if same else "other_loops"
        return _outcome(case, {"kind": kind, "n_loops": len(loops)}, default)
    got = {
        "kind": "loops",
        "loop_counts": [level.count for _, level in loops],
        "ops": [kernel.name for kernel, _ in loops],
        "tiled_symbols": [[_symbol_name(kernel, level)] for kernel, level in loops],
    }
    return _outcome(case, got, default)


def _symbol_name(kernel: Kernel, level: Level) -> str:
    names = [dim.symbol for dim in kernel.dims if dim.host_dim == level.dim]
    return names[0]


def _scoped(handler: Callable[[Case], Outcome]) -> Handler:
    def run(case: Case) -> Outcome:
        check_scope(case, EXCLUSIONS)
        return handler(case)

    return run


HANDLERS: dict[str, Handler] = {
    "planner": _scoped(run_planner),
    "planner.generated": _scoped(run_planner),
    "input_span": _scoped(run_input_spans),
    "ordering": _scoped(run_ordering),
    "bmm_symbol_map": _scoped(run_symbol_map),
    "adapter.groups": _scoped(run_groups),
    "codegen": _scoped(run_program),
    # All observed cases of these are excluded by their fields.
    "input_deps": _scoped(run_planner),
    "adapter.hints": _scoped(run_groups),
    "bmm_k": _scoped(run_planner),
}
"""Category -> what runs its cases."""
