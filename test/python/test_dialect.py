# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect from Python: every operation in every form, attribute classes, builders, contexts."""

from __future__ import annotations

import io

import pytest

from spyre_mlir import builders, encodings, ir
from spyre_mlir.dialects import spyre
from spyre_mlir.extents import parse
from spyre_mlir.layouts import Layout
from spyre_mlir.optable import OPS
from spyre_mlir.tensors import TensorType


@pytest.mark.parametrize("name", OPS)
def test_every_operation_round_trips_as_text_generic_and_bytecode(name: str) -> None:
    with ir.Context():
        module = ir.Module.parse(OPS[name].example.function(name))
        text = str(module)
        assert str(ir.Module.parse(text)) == text
        generic = module.operation.get_asm(print_generic_op_form=True)
        assert str(ir.Module.parse(generic)) == text
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        assert str(ir.Module.parse(bytecode.getvalue())) == text


@pytest.mark.parametrize(
    "tensor",
    [
        TensorType((), "f16"),
        TensorType((), "f16", Layout((1, 64), (-1, -1))),
        TensorType((8, 16), "f32", pad="max"),
        TensorType((8, 16), "f16", None, False, (8, parse("n + 1")), "zero"),
        TensorType((5, 64), "f16", Layout((1, 20, 64), (64, 64, 1)), True),
        TensorType((4,), "i8", Layout((1, 128), (128, 1), "SENINT8", "QFP8CH")),
    ],
)
def test_a_tensor_type_is_read_as_it_was_written(tensor: TensorType) -> None:
    with ir.Context():
        written = encodings.write(tensor)
        assert encodings.read(written) == tensor
        assert ir.Type.parse(str(written)) == written


def test_a_full_region_is_left_out() -> None:
    with ir.Context():
        assert str(encodings.write(TensorType((8,), "f16", None, False, (8,)))) == "tensor<8xf16>"


def test_attribute_classes_check_what_they_are_given() -> None:
    with ir.Context():
        layout = ir.LayoutAttr.get([4, 1024, 64], [64, 256, 1])
        assert (layout.device_size, layout.stride_map, layout.format) == (
            [4, 1024, 64],
            [64, 256, 1],
            None,
        )
        encoding = ir.EncodingAttr.get(layout=layout, valid_shape=[1000, "1 + n"])
        assert encoding.valid_shape == [1000, "n + 1"]
        assert isinstance(encoding.layout, ir.LayoutAttr)
        level = ir.TileLevelAttr.get("parallel", "h", 5)
        plan = ir.TilePlanAttr.get("hint", 0, [level], "why")
        assert [(entry.kind, entry.dim, entry.count) for entry in plan.levels] == [
            ("parallel", "h", 5)
        ]
        assert ir.WorkDivisionAttr.get([]).splits == []
        place = ir.PlaceAttr.get("pool", 0, 128)
        assert (place.kind, place.index, place.offset) == ("pool", 0, 128)
        with pytest.raises(ValueError, match="SPY001"):
            ir.LayoutAttr.get([4], [64, 1])
        with pytest.raises(ValueError, match="SPY002"):
            ir.ExtentAttr.get("n floordiv 0")
        with pytest.raises(ValueError, match="SPY003"):
            ir.EncodingAttr.get()
        with pytest.raises(ValueError, match="unknown pad 'seven'"):
            ir.EncodingAttr.get(pad="seven")
        with pytest.raises(ValueError, match="SPY004"):
            ir.TileLevelAttr.get("parallel", 0, 65536)


def test_a_context_made_before_learns_the_dialects() -> None:
    context = ir.Context()
    ir.register(context)
    ir.register(context)  # a second time has no effect
    with context:
        ir.Attribute.parse("#spyre.work_division<[2]>")


def test_operations_have_their_classes() -> None:
    with ir.Context():
        module = ir.Module.parse(OPS["exp"].example.function("exp"))
        op = module.body.operations[0].regions[0].blocks[0].operations[0]
        assert isinstance(op, spyre.ExpOp)


def test_builders_derive_result_types() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        partial = encodings.write(TensorType((8, 64), "f16", None, False, (8, 40)))
        with ir.InsertionPoint(module.body):
            x = builders.empty(shape=(8, 64), element="f16")
            y = spyre.EmptyOp(partial).result
            assert builders.exp(y).type == partial
            assert str(builders.sum(x, dims=[1]).type) == "tensor<8xf16>"
            assert str(builders.cmp(x, x, predicate="lt").type) == "tensor<8x64xi1>"
            values, positions = builders.topk(x, k=4, dim=1)
            assert str(values.type) == "tensor<8x4xf16>" and values != positions
            with pytest.raises(Exception, match="SPY07"):
                builders.add(x, y)
            with pytest.raises(KeyError):
                builders.sum(x)
            with pytest.raises(AttributeError):
                builders.conv  # noqa: B018
        assert module.operation.verify()
