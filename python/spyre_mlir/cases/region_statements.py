# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operation of the reference on valid regions is in this dialect: `STATEMENTS`.

Types of operands are types of arguments: 0 <= extent <= size is promised. A symbol that only an
attribute names is declared with the range that its place allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spyre_mlir import regions
from spyre_mlir.cases.outcomes import Case
from spyre_mlir.extents import Extent, parse, symbols
from spyre_mlir.layouts import Layout
from spyre_mlir.optable import DYNAMIC, OPS
from spyre_mlir.prover import NO_FACTS, Facts
from spyre_mlir.regions import infer
from spyre_mlir.tensors import TensorType

NAMES: dict[str, str] = {
    "recip": "reciprocal",
    "lrelu": "leaky_relu",
    "maxs": "maximum",
    "mins": "minimum",
    "max": "maximum",
    "min": "minimum",
    "expands": "identity",
    "expdif": "sub",
    "elementwise": "add",
    "prelu": "mul",
    "": "add",
}
"""Name of an elementwise operation in the reference -> the one here that has its region."""


def extent(text: Any) -> Extent:
    """An extent as a case writes it."""
    if isinstance(text, int):
        return text
    return parse(str(text).replace("//", " floordiv ").replace("%", " mod "))


def region_of(texts: Any) -> tuple[Extent, ...] | None:
    return None if texts is None else tuple(map(extent, texts))


def _element(name: str) -> str:
    return f"ui{name[1:]}" if name.startswith("u") else name


def operand_type(record: Mapping[str, Any]) -> TensorType | None:
    """The type of an operand, None for a scalar. Strides make it a window of a wider buffer."""
    if record.get("kind") == "scalar":
        return None
    shape, valid = tuple(record["shape"]), region_of(record.get("valid_shape"))
    layout = None
    if record.get("stride"):
        layout = Layout((*shape[:-1], 1, 64), (*record["stride"], 1))
    return TensorType(
        shape,
        _element(record["dtype"]),
        layout,
        layout is not None,
        None if valid == shape else valid,
        {"null": None}.get(record.get("pad", "null"), record.get("pad")),
    )


class Asked:
    """A case in the terms of this project."""

    def __init__(self, case: Case, facts: Facts | None = None) -> None:
        op, _, self.target = str(case["op"]).split("(")[0].partition("->")
        self.kind, _, name = op.rpartition(".")
        self.name = name
        self.attributes: Mapping[str, Any] = case.get("attrs", {})
        records = case["operands"]
        self.all = [operand_type(record) for record in records]
        self.types = [
            tensor
            for tensor, record in zip(self.all, records, strict=True)
            if record.get("role") not in ("scratch",)
        ]
        self.labels = [r.get("label", "") for r in records if r.get("role") != "scratch"]
        self.policy = "intersect" if case["era"] == "proposal-undecided" else "agree"
        self.facts = self._promised() if facts is None else facts

    def _promised(self) -> Facts:
        facts = NO_FACTS
        for tensor in self.all:
            if tensor is not None and len(tensor.valid) == tensor.rank:
                facts = facts.with_argument(tensor)
        return facts

    def tensor(self, index: int) -> TensorType:
        found = self.types[index]
        assert found is not None
        return found

    def region(self, key: str, shape: tuple[int, ...]) -> tuple[Extent, ...] | None:
        """An attribute that is a region; its symbols are declared to fit."""
        found = region_of(self.attributes.get(key))
        for size, wanted in zip(shape, found or (), strict=False):
            for name in symbols(wanted):
                self.facts = self.facts.with_range(name, 0, size)
        return found

    def infer(
        self, op: str, *operands: TensorType | Extent | None, **attributes: Any
    ) -> TensorType:
        given = operands or tuple(self.types)
        return infer(op, given, attributes, policy=self.policy, facts=self.facts)[0]


def _elementwise_name(name: str) -> str:
    """A suffix `s` is a scalar operand; prefixes `row_expand_` and `col_expand_` broadcast."""
    for prefix in ("row_expand", "col_expand"):
        name = name.removeprefix(prefix).lstrip("_")
    name = NAMES.get(name, name)
    return name if name in OPS or not name.endswith("s") else NAMES.get(name[:-1], name[:-1])


def _elementwise(asked: Asked) -> TensorType:
    name = _elementwise_name(asked.name)
    if name == "leaky_relu":
        return asked.infer(name, asked.tensor(0), slope=0.0)
    return asked.infer(name, asked.tensor(0)) if OPS[name].rule == "unary" else asked.infer(name)


def known(name: str) -> bool:
    """Whether the dialect can state an operation of the reference."""
    return name in STATEMENTS or _elementwise_name(name) in OPS


def _compare(asked: Asked) -> TensorType:
    packed = asked.kind == "tile"
    return asked.infer("cmp_packed" if packed else "cmp", predicate="eq")


def _select(asked: Asked) -> TensorType:
    """A mask whose carrier is wider than a byte is the same bytes as a byte carrier."""
    mask = asked.tensor(0)
    width = {"i16": 2, "ui16": 2, "i32": 4, "ui32": 4}.get(mask.element, 1)
    valid = (*mask.valid[:-1], mask.valid[-1] * width)
    shape = (*mask.shape[:-1], mask.shape[-1] * width)
    carrier = TensorType(shape, "ui8", valid_shape=None if valid == shape else valid)
    op = "selects" if asked.name == "sels" else "select"
    return asked.infer(op, carrier, *asked.types[1:])


def _reduce(asked: Asked) -> TensorType:
    axis, _, function = asked.name.partition("_")
    dim = asked.tensor(0).rank - 1 if axis == "row" else 0
    keep = bool(asked.attributes.get("keep_dim", True))
    if function.startswith("arg"):
        return asked.infer(function, dim=dim, keep_dims=keep, element="i32")
    return asked.infer(function, dims=(dim,), keep_dims=keep)


def _matmul(asked: Asked) -> TensorType:
    element = "i32" if asked.tensor(-1).element == "i8" else asked.tensor(-1).element
    op = "batch_matmul" if asked.name in ("matmul", "batch_matmul") else "matmul_acc"
    return asked.infer(op, element=element)


def _slice(asked: Asked) -> TensorType:
    """The window, then narrowed to what was requested; erased dims must have their one cell."""
    at = asked.attributes.get("offset", asked.attributes.get("index"))
    shape = tuple(asked.attributes["shape"])
    source = asked.tensor(0)
    offsets = [extent(offset) for offset in at]
    for offset, size, held in zip(offsets, shape, source.shape, strict=True):
        for name in symbols(offset):
            asked.facts = asked.facts.with_range(name, 0, held - size)
    result = asked.infer(
        "slice",
        source,
        *offsets,
        static_offsets=(DYNAMIC,) * len(offsets),
        shape=shape,
    )
    requested = asked.region("valid_shape", shape)
    if requested is not None:
        met = tuple(
            regions.agreement.smallest((wanted, seen), asked.facts)
            for wanted, seen in zip(requested, result.valid, strict=True)
        )
        result = asked.infer("set_valid_shape", result, valid_shape=met)
    erased = asked.attributes.get("drop_dims", ())
    if erased:
        one = tuple(1 if dim in erased else held for dim, held in enumerate(result.valid))
        result = asked.infer("set_valid_shape", result, valid_shape=one)
        kept = tuple(size for dim, size in enumerate(shape) if dim not in erased)
        result = asked.infer("reshape", result, shape=kept)
    return result


def _write(asked: Asked) -> TensorType:
    target, source = asked.tensor(0), asked.tensor(1)
    at = [extent(offset) for offset in asked.attributes["offset"]]
    if asked.kind == "tile" and asked.name == "assemble":
        # A tile is written whole, padding and all, so its shape must fit and not only its region.
        regions.windows.inside(asked.name, at, source.shape, target.shape, asked.facts)
    region = regions.written(asked.name, target, source, at, asked.facts)
    return TensorType(
        target.shape, target.element, valid_shape=None if region == target.shape else region
    )


def _reshape(asked: Asked) -> TensorType:
    shape = tuple(asked.attributes["shape"])
    result = asked.infer("reshape", shape=shape)
    requested = asked.region("valid_shape", shape)
    return (
        result
        if requested is None
        else asked.infer("set_valid_shape", result, valid_shape=requested)
    )


def _narrow(asked: Asked) -> TensorType:
    region = asked.region("valid", asked.tensor(0).shape)
    return asked.infer("set_valid_shape", valid_shape=region)


def _fillpad(asked: Asked) -> TensorType:
    shape = asked.attributes.get("shape", asked.tensor(0).shape)
    pad = asked.attributes.get("pad_value", "zero")
    return asked.infer("fillpad", shape=tuple(shape), pad=pad)


def _transpose(asked: Asked) -> TensorType:
    rank = asked.tensor(0).rank
    a, b = asked.attributes.get("axes", (rank - 2, rank - 1))
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    return asked.infer("transpose", asked.tensor(0), permutation=tuple(order))


def _generate(asked: Asked) -> TensorType:
    shape = tuple(asked.attributes["shape"])
    region = asked.region("valid_shape", shape)
    facts, given = asked.facts, {"shape": shape, "element": "f32", "valid_shape": region}
    return infer("full", (None,), given, facts=facts)[0]


def _gather(asked: Asked) -> TensorType:
    """Rows picked by a list of indices, or cells by indices into the flat table."""
    table, indices = asked.tensor(0), asked.tensor(1)
    if asked.attributes.get("coalesce") == "row":
        count = indices.shape[0] * indices.shape[1]
        indices = asked.infer("reshape", indices, shape=(count,))
    else:
        table = asked.infer("reshape", table, shape=(table.shape[0] * table.shape[1],))
    return asked.infer("gather", table, indices, dim=0)


def _scatter(asked: Asked) -> TensorType:
    target, source, index = asked.tensor(0), asked.tensor(1), asked.tensor(2)
    valid = None if index.valid_shape is None else index.valid[:1]
    rows = TensorType(index.shape[:1], index.element, valid_shape=valid)
    return asked.infer("scatter", source, rows, target, dim=0)


def _concat(asked: Asked) -> TensorType:
    return asked.infer("concat", dim=asked.attributes.get("dim", 1))


def _sort(asked: Asked) -> TensorType:
    return asked.infer("sort", asked.tensor(0), dim=asked.tensor(0).rank - 1)


def _verify(asked: Asked) -> TensorType:
    regions.check(asked.tensor(0), asked.facts, what="argument 0", proved=False)
    return asked.tensor(0)


def _cast(asked: Asked) -> TensorType:
    return asked.infer("cast", element=_element(asked.target))


STATEMENTS: dict[str, Callable[[Asked], TensorType]] = {
    "verify-type": _verify,
    "type": _verify,
    "cmp": _compare,
    "cmps": _compare,
    "sel": _select,
    "sels": _select,
    **dict.fromkeys(
        [
            f"{axis}_{function}"
            for axis in ("row", "col")
            for function in ("sum", "max", "min", "prod", "argmax", "argmin")
        ],
        _reduce,
    ),
    **dict.fromkeys(("matmul", "batch_matmul", "matmul_acc"), _matmul),
    **dict.fromkeys(("slice", "load", "extract"), _slice),
    **dict.fromkeys(("assemble", "store"), _write),
    "reshape": _reshape,
    "set_validshape": _narrow,
    **dict.fromkeys(("fillpad", "fillpad_inplace", "fillpad_expand"), _fillpad),
    **dict.fromkeys(("transpose", "transpose_view"), _transpose),
    **dict.fromkeys(("create", "full", "ci", "tri", "random"), _generate),
    "mgather": _gather,
    **dict.fromkeys(("scatter", "scatter_update"), _scatter),
    "concat": _concat,
    **dict.fromkeys(("sort32", "mrgsort"), _sort),
    "cast": _cast,
}
"""What an operation of the reference is here; any other name is elementwise."""


def ask(asked: Asked) -> TensorType:
    """The type that the case's operation gives; refused as `spyre_mlir.regions` refuses."""
    return STATEMENTS.get(asked.name, _elementwise)(asked)
