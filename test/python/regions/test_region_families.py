# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each family's rule, on an example that it accepts and on those that it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from spyre_mlir.extents import Extent, parse
from spyre_mlir.layouts import Layout
from spyre_mlir.optable import OPS
from spyre_mlir.prover import arguments
from spyre_mlir.regions import POLICIES, RULES, RegionRefusal, infer
from spyre_mlir.tensors import TensorType

LAYOUT = Layout((1, 8, 64), (64, 64, 1))
OTHER = Layout((64, 1, 64), (1, 64, -1))


def tensor(shape: tuple[int, ...], *valid: Extent | str, **more: Any) -> TensorType:
    region = tuple(parse(e) if isinstance(e, str) else e for e in valid)
    return TensorType(shape, more.pop("element", "f16"), valid_shape=region or None, **more)


def refused(code: str, op: str, *operands: TensorType | None, **attributes: Any) -> RegionRefusal:
    with pytest.raises(RegionRefusal) as refusal:
        infer(op, operands, attributes)
    assert refusal.value.code == code, refusal.value
    return refusal.value


def test_every_operation_has_a_rule_and_every_rule_an_operation() -> None:
    assert {op.rule for op in OPS.values()} == set(RULES)


PARTIAL = tensor((8, 64), 8, "n", layout=LAYOUT, pad="zero")


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.rule == "unary"])
def test_unary_keeps_the_region_and_promises_no_pad(name: str) -> None:
    (result,) = infer(name, (PARTIAL,), {a.name: a.default or 0 for a in OPS[name].attributes})
    assert result == tensor((8, 64), 8, "n", layout=LAYOUT)


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.rule == "elementwise"])
def test_elementwise_operands_agree(name: str) -> None:
    op = OPS[name]
    value = [o for o in op.operands if o.role == "value"]
    tensors = [None if o.kind == "scalar" else PARTIAL for o in value]
    scratch: list[TensorType | None] = [tensor((8, 64))] * (len(op.operands) - len(value))
    attributes = {"predicate": "lt"} if op.attributes else {}
    (result,) = infer(name, (*tensors, *scratch), attributes)
    assert result.valid == (8, parse("n")) and result.pad is None
    assert result.element == ("i1" if name == "cmp" else "f16")
    assert result.layout == (None if name == "cmp" else LAYOUT)
    last = tensor((8, 64), 8, 32)
    with pytest.raises(RegionRefusal) as refusal:
        infer(name, (*tensors[:-1], last, *scratch), attributes)
    first = next(o.name for o, t in zip(value, tensors, strict=True) if t is not None)
    assert refusal.value.labels == (first, value[-1].name)


def test_a_scalar_changes_nothing() -> None:
    for operands in ((PARTIAL, None), (None, PARTIAL)):
        assert infer("mul", operands) == (tensor((8, 64), 8, "n", layout=LAYOUT),)


def test_layout_comes_from_an_owner_whatever_the_order() -> None:
    row, whole = tensor((1, 64)), tensor((8, 64), layout=LAYOUT)
    for operands in ((row, whole), (whole, row)):
        assert infer("add", operands)[0].layout == LAYOUT
    assert infer("add", (tensor((8, 1), layout=OTHER), row))[0].layout is None
    piece = tensor((8, 64), layout=OTHER, window=True)
    for operands in ((piece, whole), (whole, piece)):
        assert infer("add", operands) == (tensor((8, 64), layout=LAYOUT),)
    other = tensor((8, 64), layout=OTHER)
    assert infer("add", (other, whole)) == infer("add", (whole, other))


def test_results_as_written_keep_what_is_theirs() -> None:
    written = tensor((8, 64), 8, "n", layout=OTHER, window=True)
    plain = tensor((8, 64), 8, "n")
    assert infer("add", (plain, plain), results=(written,))[0] is written
    stale = tensor((8, 64), 8, 3, layout=OTHER, pad="max", element="f32")
    (result,) = infer("cast", (plain,), results=(stale,))
    assert result == tensor((8, 64), 8, "n", layout=OTHER, element="f32")
    with pytest.raises(RegionRefusal, match="SPY070"):
        infer("neg", (plain,), results=(tensor((8, 32)),))


def test_select_proves_that_the_mask_covers() -> None:
    value = tensor((8, 512), "r", "c")
    facts = arguments((value,), {})
    mask = tensor((8, 64), "r", "c ceildiv 8", element="ui8")
    (result,) = infer("selects", (mask, value, None), facts=facts)
    assert result.valid == (parse("r"), parse("c"))
    bits = tensor((8, 512), "r", "c", element="i1")
    assert infer("select", (bits, value, value), facts=facts)[0].valid == value.valid
    column = tensor((8, 1), "r", 1, element="i1")
    assert infer("select", (column, value, None), facts=facts)[0].valid == value.valid
    for short in (
        tensor((8, 64), "r", "c floordiv 8", element="ui8"),
        tensor((8, 512), "r - 1", "c", element="i1"),
        tensor((8, 1), "r", 0, element="i1"),
    ):
        refused("SPY077", "select", short, value, value)
    assert refused("SPY077", "selects", tensor((8, 32), element="ui8"), tensor((8, 257)), None)


def test_packed_predicates_agree_first() -> None:
    value = tensor((8, 64), 8, "c")
    (result,) = infer("cmp_packed", (value, value), {"predicate": "eq"})
    assert (result.shape, result.valid) == ((8, 32), (8, parse("c ceildiv 8")))
    assert result.element == "ui8"
    refused("SPY072", "cmp_packed", value, tensor((8, 64), 8, 5), predicate="eq")


def test_reductions() -> None:
    value = tensor((4, 8, 16), "b", 5, "v")
    for dims, keep, shape, region in (
        ((2,), True, (4, 8, 1), ("b", 5, 1)),
        ((2,), False, (4, 8), ("b", 5)),
        ((0, 1), False, (16,), ("v",)),
        ((0, 1, 2), False, (), ()),
    ):
        (result,) = infer("sum", (value,), {"dims": dims, "keep_dims": keep})
        assert result.shape == shape
        assert [str(extent) for extent in result.valid] == [str(extent) for extent in region]
    (position,) = infer("argmax", (value,), {"dim": 1, "element": "i32"})
    assert (position.shape, position.element) == ((4, 16), "i32")
    assert refused("SPY076", "max", tensor((8, 16), 8, 0), dims=(1,)).dim == 1
    refused("SPY076", "exx2", tensor((8, 16), 8, 0))


def test_normalisation() -> None:
    value = tensor((4, 64), "r", "c")
    (moments,) = infer("exx2", (value,))
    assert moments == tensor((4, 2), "r", 2)
    (scale,) = infer("layernorm_scale", (moments,), {"eps": 1e-5})
    assert scale == tensor((4, 1), "r", 1)
    weight = tensor((64,), "c")
    assert infer("layernorm_norm", (value, moments, scale, weight, weight)) == (value,)
    refused("SPY077", "layernorm_scale", tensor((4, 2), "r", 1))
    refused("SPY072", "layernorm_norm", value, tensor((4, 2), 3, 2), scale, weight, weight)
    refused("SPY072", "layernorm_norm", value, moments, scale, tensor((64,)), weight)
    refused("SPY073", "layernorm_norm", value, moments, tensor((4, 1), "r", 0), weight, weight)


def test_contractions() -> None:
    lhs, rhs = tensor((2, 16, 128), 2, "m", 100), tensor((128, 32), 100, "n")
    (result,) = infer("batch_matmul", (lhs, rhs), {"element": "f32"})
    assert result == tensor((2, 16, 32), 2, "m", "n", element="f32")
    assert infer("batch_matmul", (lhs, tensor((128, 32))))[0].valid == (2, parse("m"), 32)
    assert refused("SPY077", "batch_matmul", lhs, tensor((128, 32), 99, 32)).extents == (100, 99)
    refused("SPY070", "batch_matmul", lhs, tensor((64, 32)))
    refused("SPY072", "batch_matmul", lhs, tensor((2, 128, 32), 1, 128, 32))
    held = tensor((16, 32), 12, 32)
    (result,) = infer("matmul_acc", (held, tensor((16, 8), 10, 8), tensor((8, 32))))
    assert result == held
    refused("SPY084", "matmul_acc", held, tensor((16, 8)), tensor((8, 32)))
    refused("SPY070", "matmul_acc", tensor((32, 32)), tensor((16, 8)), tensor((8, 32)))
    nothing = tensor((16, 8), 16, 8), tensor((8, 32), 8, 0)
    assert infer("matmul_acc", (held, *nothing)) == (held,)


def test_topk_concat_gather_scatter_sort() -> None:
    value = tensor((4, 64), 3, "c")
    values, indices = infer("topk", (value,), {"k": 5, "dim": 1, "element": "f16"})
    assert values == indices == tensor((4, 5), 3, 5)
    refused("SPY076", "topk", tensor((4, 64), 3, 4), k=5, dim=1)
    (joined,) = infer("concat", (tensor((4, 8)), tensor((4, 8), 4, "n")), {"dim": 1})
    assert joined == tensor((4, 16), 4, "n + 8")
    short = refused("SPY085", "concat", tensor((4, 8), 4, "n"), tensor((4, 8)), dim=1)
    assert short.labels == ("inputs[0]", "inputs[1]")
    (rest,) = infer("concat", (tensor((4, 8), 4, "n"), tensor((4, 8), 4, 0)), {"dim": 1})
    assert rest.valid == (4, parse("n"))
    refused("SPY072", "concat", tensor((4, 8), 3, 8), tensor((4, 8)), dim=1)
    places = tensor((3, 5), 2, "k", element="i32")
    (picked,) = infer("gather", (value, places), {"dim": 0})
    assert (picked.shape, picked.element) == ((3, 5, 64), "f16")
    assert [str(extent) for extent in picked.valid] == ["2", "k", "c"]
    target = tensor((8, 64), 5, 64, pad="zero")
    rows = tensor((4,), 3, element="i32")
    (scattered,) = infer("scatter", (value, rows, target), {"dim": 0})
    assert scattered.valid == target.valid
    refused("SPY077", "scatter", tensor((4, 64)), rows, target, dim=0)
    assert infer("sort", (value,), {"dim": 1}) == (value,)


def test_policies_differ_only_where_operands_disagree() -> None:
    a, b = tensor((8, 64), 8, "n"), tensor((8, 64), "m", 64)
    for policy in POLICIES:
        assert infer("add", (a, a), policy=policy) == (a,)
    (result,) = infer("add", (a, b), policy="intersect")
    assert [str(extent) for extent in result.valid] == ["min(m, 8)", "min(n, 64)"]
