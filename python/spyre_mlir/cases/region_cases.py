# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Observed valid regions: each case asked of `spyre_mlir.regions`, refusals included.

Extents are compared in normal form, refusals by code (`CODES`), dim, operands and extents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spyre_mlir.cases.outcomes import Case, Exclusion, Handler, Outcome, check_scope
from spyre_mlir.cases.region_statements import Asked, ask, extent
from spyre_mlir.extents import Extent, evaluate, symbols
from spyre_mlir.prover import NO_FACTS, Facts, equal
from spyre_mlir.regions import RegionRefusal
from spyre_mlir.tensors import TensorType

CODES: dict[str, tuple[str, ...]] = {
    "E_AGREE": ("SPY072",),
    "E_DIV_VALID": ("SPY072",),
    "E_DIV_DIVISOR_ROWS": ("SPY072",),
    "E_PRELU_VALID": ("SPY072",),
    "E_ROWADD_ROWS": ("SPY072",),
    "E_ROWADD_WIDTH": ("SPY073",),
    "E_BROADCAST_SINGLETON": ("SPY073",),
    "E_UNION_NO_WIDEST": ("SPY074",),
    "E_UNION_NOT_RECTANGLE": ("SPY075",),
    "E_RANK": ("SPY071",),
    "E_BOUNDS": ("SPY071", "SPY082"),
    "E_GEN": ("SPY071",),
    "E_REDUCE_EMPTY": ("SPY076",),
    "E_DIV_PHYS": ("SPY070",),
    "E_FILLPAD_SHRINK": ("SPY070",),
    "E_MASK": ("SPY077",),
    "E_NEG_OFFSET": ("SPY078",),
    "E_OOB_READ": ("SPY078",),
    "E_WRITE_OOB": ("SPY078",),
    "E_REQ_GT_WINDOW": ("SPY082",),
    "E_DROPDIM": ("SPY082",),
    "E_SETVALID": ("SPY082",),
    "E_RESHAPE_WIDEN": ("SPY082",),
    "E_RESHAPE": ("SPY080", "SPY070"),
    "E_WRITE": ("SPY081",),
    "E_MM_PHYS": ("SPY070",),
    "E_MM": ("SPY077", "SPY084"),
}
"""Code of the reference, or how it begins -> ours. The longest entry that fits counts."""


def _texts(case: Case) -> Iterator[Any]:
    """Every extent that a case writes."""
    for record in case["operands"]:
        yield from record.get("shape") or ()
        yield from record.get("valid_shape") or ()
    for key in ("shape", "valid_shape", "valid", "offset", "index"):
        yield from case.get("attrs", {}).get(key, ())


def _is_extent(text: Any) -> bool:
    try:
        extent(text)
    except ValueError:
        return False
    return True


def _name(case: Case) -> str:
    return str(case["op"]).split("(")[0].partition("->")[0].rpartition(".")[2]


def _flat_layout(shape: list[Any]) -> str:
    return "col_major" if len(shape) == 2 and shape[1] == 1 and shape[0] != 1 else "row_major"


def _blocked(case: Case) -> bool:
    return any(
        "slayout" in record
        or "fractal" in record
        or record.get("blayout", _flat_layout(record.get("shape", [])))
        != _flat_layout(record.get("shape", []))
        for record in case["operands"]
    )


def _widened(case: Case) -> bool:
    """A partly valid operand, and a result that claims everything, in the era that does so."""
    expected = case["expected"]
    results = expected.get("results", [expected])
    claims = all(r.get("shape") == r.get("valid_shape") is not None for r in results)
    partial = any(
        record.get("valid_shape") not in (None, record.get("shape"))
        for record in case["operands"]
        if record.get("role") not in ("scratch", "predicate")
    )
    return case["era"] == "main" and expected["status"] == "accept" and claims and partial


def _ranks_differ(case: Case) -> bool:
    """A window or a source of another rank than its tensor."""
    ranks = {len(record["shape"]) for record in case["operands"] if "shape" in record}
    if _name(case) in ("slice", "load", "extract"):
        ranks.add(len(case.get("attrs", {}).get("shape", ())))
    return _name(case) in ("slice", "load", "extract", "assemble", "store") and len(ranks) > 1


_FOREIGN = (
    *("gather", "gatherb", "gather_row", "gather_mask", "gather_compare"),
    *("reinterpret_view", "view", "move"),
)

EXCLUSIONS = (
    Exclusion(
        "distributed tensors",
        lambda case: any(r.get("kind") == "distributed_tensor" for r in case["operands"]),
        "the dialect has no tensors distributed over devices",
    ),
    Exclusion(
        "core split",
        lambda case: case["category"] == "split" or "shard" in _name(case) or "aic" in _name(case),
        "a tensor is not split between two kinds of cores here; work is divided by loops",
    ),
    Exclusion(
        "compact tiles",
        lambda case: (
            case["category"] == "compact" or any("compact" in record for record in case["operands"])
        ),
        "there is no packing by valid rows: a layout follows from the shape",
    ),
    Exclusion(
        "block layouts",
        _blocked,
        "block and scatter layouts of tiles do not exist: a device layout is sticks and strides",
    ),
    Exclusion(
        "extents of another type",
        lambda case: not all(map(_is_extent, _texts(case))),
        "an extent is a signed 64-bit integer; there are no unsigned or floating literals",
    ),
    Exclusion(
        "symbolic physical dims",
        lambda case: any(
            isinstance(size, str)
            for record in case["operands"]
            for size in record.get("shape") or ()
        ),
        "shapes are literal; only valid extents are symbolic",
    ),
    Exclusion(
        "windows of another rank",
        _ranks_differ,
        "a window has the rank of its tensor; other ranks are a reshape",
    ),
    Exclusion(
        "clamped windows",
        lambda case: bool(case.get("attrs", {}).get("clamp")),
        "a window lies inside its tensor; it is not clamped",
    ),
    Exclusion(
        "padding by a window",
        lambda case: "pad_value" in case.get("attrs", {}) and "fillpad" not in _name(case),
        "a window keeps its tensor's pad; another one is given by spyre.fillpad",
    ),
    Exclusion(
        "operations that the dialect lacks",
        lambda case: (
            _name(case) in _FOREIGN or (_name(case) == "mgather" and len(case["operands"]) != 2)
        ),
        "byte gathers, gathers by mask, row gathers into a tile, reinterpreted elements and moves"
        " between memory spaces are no operations of the dialect",
    ),
    Exclusion(
        "vector products of the matrix unit",
        lambda case: "gemv" in _name(case) or "bias" in _name(case),
        "a product with one row or a bias is spyre.batch_matmul and spyre.add; physical rows of the"
        " matrix unit are none of the dialect",
    ),
    Exclusion(
        "packed row carriers",
        lambda case: _name(case) == "row_expand_add" and case["operands"][1]["shape"][-1] != 1,
        "a row operand has one cell per row, not 32 bytes of them",
    ),
    Exclusion(
        "repair of layouts",
        lambda case: case["expected"].get("stage") == "ResolveBackendOpLayouts",
        "no pass turns an operand onto another axis: a column is replicated along its own",
    ),
)
"""What this dialect cannot state, told from the case alone."""

WIDENED = Exclusion(
    "regions widened without proof",
    _widened,
    "the reference calls cells valid that were never written; here the region is kept or refused",
)
"""Excluded where the answers differ: the reference of the era `main` claims everything."""

STRONGER = Exclusion(
    "stronger proofs",
    lambda case: _only_by_stronger_proof(case),
    "the reference refuses what it cannot prove; this prover knows 0 <= extent <= size of arguments"
    " and every exactly representable reshape",
)
"""Excluded where the reference refuses and this project accepts."""


def _codes(code: str) -> tuple[str, ...]:
    fitting = [known for known in CODES if code.startswith(known)]
    return CODES[max(fitting, key=len)] if fitting else ()


def _spelled(value: Any) -> Any:
    """A value as JSON: extents in text unless they are literal."""
    if isinstance(value, (tuple, list)):
        return [_spelled(item) for item in value]
    return value if isinstance(value, (int, str, type(None))) else str(value)


def _normal(value: Any) -> Any:
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return value if str(value).startswith("<symbolic") else _spelled(extent(value))


def _same_region(texts: list[Any], region: tuple[Extent, ...], facts: Facts) -> bool:
    """Provably equal; `<symbolic: f>` is no literal, and equal to f wherever a window may be."""
    return len(texts) == len(region) and all(
        not isinstance(held, int) and _formula(text, held)
        if str(text).startswith("<symbolic")
        else equal(extent(text), held, facts).holds
        for text, held in zip(texts, region, strict=True)
    )


def _formula(text: str, held: Extent) -> bool:
    formula = extent(text.removeprefix("<symbolic:").removesuffix(">").strip())
    bindings = (dict.fromkeys(symbols(formula), value) for value in range(64))
    return all(evaluate(formula, binding) == evaluate(held, binding) for binding in bindings)


def _accepted(case: Case, asked: Asked, result: TensorType) -> Mapping[str, Any]:
    """What was asked of the result and what it is, by the keys of `expected`."""
    expected = case["expected"]
    got: dict[str, Any] = {"status": "accept"}
    bare = result.valid_shape is None and result.pad is None and result.layout is None
    facts: dict[str, Any] = {
        "shape": list(result.shape),
        "valid_shape": _spelled(result.valid),
        "explicit_valid": _spelled(result.valid_shape or ()),
        "view": None if bare else "present",
        "pad": result.pad or "null",
        "dtype": result.element,
        "result_kind": "tensor" if result.rank else "scalar",
        "stride": list(case["operands"][0].get("stride", ())) if result.layout else [],
        "commutes": "commutes" in expected and commutes(case),
    }
    got.update((key, facts[key]) for key in expected if key in facts)
    if "valid_shape" in got and _same_region(expected["valid_shape"], result.valid, asked.facts):
        got["valid_shape"] = _normal(expected["valid_shape"])
    return got


def commutes(case: Case) -> bool:
    """Whether the operands in reverse order give the same type."""
    backwards = {**case, "operands": case["operands"][::-1]}
    return ask(Asked(case)) == ask(Asked(backwards))


def _refused(case: Case, asked: Asked, refusal: RegionRefusal) -> dict[str, Any]:
    """The refusal in the terms of the reference, by the keys of `expected`."""
    expected = case["expected"]
    code = str(expected.get("code", ""))
    labels = [_label_of(asked, label) for label in refusal.labels]
    facts: dict[str, Any] = {
        "code": code if refusal.code in _codes(code) else refusal.code,
        "dim": refusal.dim,
        "labels": labels,
        "label": labels[0] if labels else None,
        "extents": _spelled(refusal.extents),
        "extent": _spelled(refusal.extents[0]) if refusal.extents else None,
        "union": _spelled(refusal.extents),
        "regions": [_spelled(tensor.valid) for tensor in asked.types if tensor is not None],
        "required": _spelled(refusal.extents[0]) if refusal.extents else None,
        "undecided": refusal.verdict in ("sometimes", "undecided"),
    }
    return {"status": "reject", **{key: facts[key] for key in expected if key in facts}}


def _label_of(asked: Asked, label: str) -> str:
    """The case's name of the operand that is called `label` here."""
    ours = {"lhs": 0, "rhs": 1, "rhs2": 2}
    if label in asked.labels or label not in ours or ours[label] >= len(asked.labels):
        return label
    return asked.labels[ours[label]] or label


def run(case: Case) -> Outcome:
    """One case, compared by what its `expected` names and this dialect has."""
    check_scope(case, EXCLUSIONS)
    asked = Asked(case)
    refused = case["expected"]["status"] == "reject"
    message: str | None = None
    try:
        result = ask(asked)
    except RegionRefusal as refusal:
        got = _refused(case, asked, refusal)
        message = str(refusal)
    else:
        if refused:
            check_scope(case, (STRONGER,))
        got = dict(_accepted(case, asked, result))
    regions = ("valid_shape", "explicit_valid")
    expected = {
        key: _normal(value) if key in regions else value
        for key, value in case["expected"].items()
        if key in got
    }
    if expected != got:
        check_scope(case, (WIDENED,))
    return Outcome(expected, got, beside={"message": message} if message else {})


def _only_by_stronger_proof(case: Case) -> bool:
    """Whether the case is refused without the facts of arguments, or is a symbolic reshape."""
    if _name(case) == "reshape":
        return any(not isinstance(text, int) for text in _texts(case))
    try:
        ask(Asked(case, NO_FACTS))
    except RegionRefusal:
        return True
    return False


CATEGORIES = (
    *("bounds", "broadcast", "canonical", "compact", "distributed", "div", "elementwise-agree"),
    *("family", "fillpad", "fresh-metadata", "gather", "generator", "intersection-alternative"),
    *("layout", "matmul", "pad", "part-union", "pass-check", "predicate", "reduction"),
    *("reinterpret", "resets-to-full", "reshape", "row_expand_add", "scalar-binary", "scatter"),
    *("scratch", "set_validshape", "split", "transpose", "unary", "window-read", "write-union"),
    *("boundary", "concat", "sort", "narrow", "move", "view", "select", "cast", "expand"),
)

HANDLERS: dict[str, Handler] = dict.fromkeys(CATEGORIES, run)
