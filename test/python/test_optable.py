# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operation table is complete, consistent, and says what design.md appendix A says."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spyre_mlir.interpreter import DTYPES
from spyre_mlir.optable import DYNAMIC, FAMILIES, OPS, ROLES, RULES, TILINGS, Domain, Linear, Op

APPENDIX = {
    "binary": "add sub mul div maximum minimum fmod rem and or xor shl shr",
    "compare": "cmp cmp_packed",
    "three_operands": "addc subc addsc subsc select selects",
    "part": "part_add part_mul part_max part_min",
    "unary": "abs neg exp fast_exp log sqrt rsqrt reciprocal sigmoid fast_sigmoid tanh relu relu6"
    " leaky_relu gelu silu mish softplus clip floor identity sin cos not",
    "cast": "cast",
    "reduce": "sum max min mean absmax prod argmax argmin",
    "norm": "exx2 layernorm_scale layernorm_norm",
    "contract": "batch_matmul matmul_acc",
    "scan": "topk",
    "move": "restickify slice insert_slice set_valid_shape reshape transpose broadcast concat"
    " gather scatter sort fillpad full iota empty",
    "symbol": "extent",
}
EVERY = pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))


def test_operations_are_those_of_the_appendix() -> None:
    by_family: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for op in OPS.values():
        by_family[op.family].append(op.name)
    assert by_family == {family: names.split() for family, names in APPENDIX.items()}


@EVERY
def test_row_uses_the_vocabulary(op: Op) -> None:
    assert op.rule in RULES and op.tiling in TILINGS
    assert op.summary and not op.summary.endswith(".") and op.description.endswith(".")
    assert all(operand.role in ROLES for operand in op.operands)
    assert all(operand.arity == "one" for operand in op.operands[:-1])
    assert op.constraints and all(not text.startswith("C") for text in op.constraints)
    assert op.constraint("C1") == f"C1: {op.constraints[0]}"
    assert (op.domain is None) != (op.addresses is None)
    names = [p.name for p in (*op.operands, *op.results)] + [a.name for a in op.attributes]
    assert len(set(names)) == len(names)


@EVERY
def test_parts_of_a_reduced_range_combine(op: Op) -> None:
    assert (op.combine is not None) == (op.tiling in ("reduction", "contraction"))
    if op.combine is None:
        return
    assert OPS[op.combine.function].rule == "elementwise"
    if op.combine.part is not None:
        assert OPS[op.combine.part].tiling == op.tiling
    if op.combine.into is not None:
        assert [o.role for o in op.operands if o.name == op.combine.into] == ["accumulator"]


@EVERY
def test_device_says_what_to_do(op: Op) -> None:
    device = op.device
    if device.decomposition:
        assert all(step in OPS for step in device.decomposition)
    elif not device.functions:
        assert device.refusal or op.tiling in ("view", "none")
    attributes = {a.name for a in op.attributes}
    for _, source in device.constants:
        assert source in attributes or source.startswith("1 / ")
    if device.refusal:
        assert "the device" in device.refusal or "indirect" in device.refusal
        assert ";" in device.refusal


def test_every_refusal_names_a_way_on() -> None:
    for op in OPS.values():
        refusal = op.device.refusal
        if refusal:
            way = refusal.split(";", 1)[1]
            assert any(
                word in way for word in ("nearest", "it is", "takes", "cast", "restickify", "pass")
            )


def test_functions_are_looked_up_by_key() -> None:
    assert OPS["add"].device.function() == "add"
    assert OPS["cmp"].device.function("lt") == "lesserthan"
    assert OPS["sum"].device.function("nonstick") == "sumnonstick"
    assert OPS["prod"].device.function("stick") is None
    assert OPS["cast"].device.function("i32->f16") == "to_dtype"
    assert OPS["fmod"].device.function() is None


def test_attribute_defaults_and_mistakes() -> None:
    assert OPS["softplus"].attribute_values({"beta": 2.0}) == {"beta": 2.0, "threshold": 20.0}
    assert OPS["extent"].attribute_values({"symbol": "n"}) == {"symbol": "n", "range": None}
    with pytest.raises(KeyError, match="needs attribute 'dims'"):
        OPS["sum"].attribute_values({})
    with pytest.raises(KeyError, match="no attribute 'axis'"):
        OPS["sum"].attribute_values({"axis": 1})


def _value(index: Linear, point: tuple[int, ...], offsets: list[int]) -> int:
    total = sum(coefficient * point[d] for d, coefficient in index.terms) + index.constant
    total += offsets[index.offset] if index.offset is not None else 0
    return total // index.divisor


def _cell(maps: tuple[Linear, ...], point: tuple[int, ...], offsets: list[int]) -> tuple[int, ...]:
    return tuple(_value(index, point, offsets) for index in maps)


def _points(domain: Domain) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*(range(extent) for extent in domain.extents))


def test_maps_stay_inside_their_tensors() -> None:
    cases: list[tuple[str, list[tuple[int, ...] | None], list[tuple[int, ...]], dict]] = [
        ("add", [(4, 8), (8,)], [(4, 8)], {}),
        ("mul", [(4, 1), None], [(4, 1)], {}),
        ("rem", [(3,), (3,), (7,)], [(3,)], {}),
        ("select", [(2, 32), (2, 9), (2, 9)], [(2, 9)], {}),
        ("select", [(2, 1), (2, 9), (9,)], [(2, 9)], {}),
        ("cmp_packed", [(2, 9), (9,)], [(2, 32)], {"predicate": "lt"}),
        ("sum", [(2, 3, 4)], [(2, 4)], {"dims": (1,), "keep_dims": False}),
        ("sum", [(2, 3, 4)], [(1, 3, 1)], {"dims": (0, 2), "keep_dims": True}),
        ("argmax", [(2, 3)], [(2,)], {"dim": 1, "keep_dims": False}),
        ("exx2", [(2, 3)], [(2, 2)], {"zero_mean": False}),
        ("layernorm_scale", [(4, 2)], [(4, 1)], {"eps": 0.0}),
        ("layernorm_norm", [(2, 3), (2, 2), (2, 1), (3,), (3,)], [(2, 3)], {}),
        ("batch_matmul", [(5, 2, 3), (3, 4)], [(5, 2, 4)], {}),
        ("matmul_acc", [(2, 4), (2, 3), (3, 4)], [(2, 4)], {}),
        ("topk", [(2, 5)], [(2, 3), (2, 3)], {"k": 3, "dim": 1}),
        ("transpose", [(2, 3, 4)], [(4, 2, 3)], {"permutation": (2, 0, 1)}),
        ("broadcast", [(3, 1)], [(2, 3, 4)], {}),
        ("slice", [(8, 9), None], [(2, 3)], {"static_offsets": (DYNAMIC, 4)}),
        ("insert_slice", [(2, 3), (8, 9), None], [(8, 9)], {"static_offsets": (4, DYNAMIC)}),
        ("gather", [(4, 5, 6), (2, 3)], [(4, 2, 3, 6)], {"dim": 1}),
        ("scatter", [(4, 2, 6), (2,), (4, 5, 6)], [(4, 5, 6)], {"dim": 1}),
    ]
    for name, operands, results, attributes in cases:
        op = OPS[name]
        assert op.domain is not None
        domain = op.domain(operands, results, attributes)
        assert len(domain.operands) == len(operands) and len(domain.results) == len(results)
        assert len(domain.extents) == len(domain.reduction)
        written: set[tuple[int, ...]] = set()
        for point in _points(domain):
            for maps, shape in zip(
                (*domain.operands, *domain.results), (*operands, *results), strict=True
            ):
                if maps is None or shape is None:
                    continue
                cell = _cell(maps, point, [2])
                assert all(0 <= i < e for i, e in zip(cell, shape, strict=True)), (name, point)
            first = domain.results[0]
            assert first is not None
            written.add(_cell(first, point, [2]))
        # Each result cell once: the parallel points are as many as the cells written.
        parallel = [e for e, r in zip(domain.extents, domain.reduction, strict=True) if not r]
        divisor = first[-1].divisor if first else 1
        # Positions that are loaded may be any: whatever they are, the cells are those of the result.
        loaded = [domain.extents[dim] for dim in domain.loaded if name == "scatter"]
        if divisor == 1:
            assert len(written) == int(np.prod(parallel + loaded, dtype=np.int64)), name


def test_matmul_by_its_maps_is_numpys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (5, 2, 3)), rng.integers(-9, 9, (1, 3, 4))
    op = OPS["batch_matmul"]
    assert op.domain is not None
    domain = op.domain([a.shape, b.shape], [(5, 2, 4)], {})
    left, right, out = *domain.operands, domain.results[0]
    assert left is not None and right is not None and out is not None
    c = np.zeros((5, 2, 4), np.int64)
    for point in _points(domain):
        c[_cell(out, point, [])] += a[_cell(left, point, [])] * b[_cell(right, point, [])]
    assert (c == a @ b).all()


def test_table_imports_neither_numpy_nor_mlir() -> None:
    code = (
        "import sys, spyre_mlir.optable;"
        "print([m for m in ('numpy', 'mlir', 'sympy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _definitions() -> dict[str, str]:
    """Operation -> its record in ODS, as text."""
    found = {}
    for path in sorted((ROOT / "dialect" / "Spyre").glob("*.td")):
        text = path.read_text()
        for match in DEFINITION.finditer(text):
            found[match.group(1)] = match.group(0)
    return found


ROOT = Path(__file__).resolve().parents[2]
DEFINITION = re.compile(
    r'^def Spyre_\w+Op\b[^{]*?<"(\w+)".*?(?=^def |^#endif|^class |\Z)', re.MULTILINE | re.DOTALL
)


def test_ods_has_the_operations_of_the_table() -> None:
    from spyre_mlir.dialects import spyre

    names = {
        value.OPERATION_NAME.removeprefix("spyre.")
        for value in vars(spyre).values()
        if hasattr(value, "OPERATION_NAME") and value.OPERATION_NAME.startswith("spyre.")
    }
    assert names == set(OPS)


def test_ods_says_what_the_table_says() -> None:
    definitions = _definitions()
    assert set(definitions) == set(OPS)
    for name, op in OPS.items():
        words = " ".join(definitions[name].split())
        assert f'let summary = "{op.summary}";' in words, name
        assert " ".join(op.description.split()) in words, name
        for label, text in op.labelled:
            assert f"* {label}: {text}." in words, (name, label)
        assert " ".join(op.example.statement(name).split()) in words, name


@EVERY
def test_example_round_trips(op: Op) -> None:
    from spyre_mlir import ir

    with ir.Context():
        module = ir.Module.parse(op.example.function(op.name))
        text = str(module)
        assert f"spyre.{op.name}" in text
        assert str(ir.Module.parse(text)) == text
        function = next(iter(module.body.operations))
        operation = next(iter(function.regions[0].blocks[0].operations)).operation
        given = len(operation.operands)
        least = len([o for o in op.operands if o.arity == "one"])
        assert given >= least and len(operation.results) == len(op.results)
        attributes = operation.attributes
        written = [attributes[i].name for i in range(len(attributes))]
        assert set(written) <= {a.name for a in op.attributes}


@EVERY
def test_example_runs(op: Op) -> None:
    """Every example has a meaning on ordinary inputs, the ones with nothing written apart."""
    from spyre_mlir import ir
    from spyre_mlir.diagnostics import Refusal
    from spyre_mlir.interpreter import run
    from spyre_mlir.interpreter.program import TensorKind, read_module

    with ir.Context():
        module = ir.Module.parse(op.example.function(op.name))
        (function,) = read_module(module).values()
        arrays = [
            np.ones(kind.shape, DTYPES[kind.element]) if isinstance(kind, TensorKind) else 1
            for kind in function.body.kinds
        ]
        if op.name == "empty":
            with pytest.raises(Refusal, match="SPY138"):
                run(module, arrays)
            return
        results = run(module, arrays)
    assert [r.shape for r in results] == [k.shape for k in function.results] or "valid" in str(
        op.example.results
    )
