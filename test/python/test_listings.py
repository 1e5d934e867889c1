# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Listings: numbers of operations and values, and what operations of one kind have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from golden_programs import AUGUST

from spyre_mlir import ir, lowering, passmanager
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.listings import Listing
from spyre_mlir.operations import computed_results, kernel_of, storage_of
from spyre_mlir.properties import computes, in_place

T = "tensor<4x64xf16>"

LOOP = f"""func.func @f(%x: {T}, %y: {T}) -> {T} {{
  %low = arith.constant 0 : index
  %high = arith.constant 4 : index
  %step = arith.constant 1 : index
  %e = spyre.empty : () -> {T}
  %r = scf.for %i = %low to %high step %step iter_args(%c = %e) -> {T} {{
    %s = spyre.slice %x[%i, 0] : ({T}) -> tensor<1x64xf16>
    %a = spyre.exp %s : (tensor<1x64xf16>) -> tensor<1x64xf16>
    %n = spyre.insert_slice %a into %c[%i, 0] : (tensor<1x64xf16>, {T}) -> {T}
    scf.yield %n : {T}
  }}
  %u = spyre.add %r, %y : ({T}, {T}) -> {T}
  return %u : {T}
}}"""


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with ir.Context() as context, ir.Location.unknown():
        yield context


def function(text: str) -> tuple[ir.Module, ir.Operation]:
    module = ir.Module.parse(text)
    return module, module.body.operations[0].operation


def chain(*names: str) -> str:
    lines = [f"func.func @f(%0: {T}, %w: {T}) -> {T} {{"]
    for number, name in enumerate(names):
        operands = f"%{number}, %w : ({T}, {T})" if name == "add" else f"%{number} : ({T})"
        lines.append(f"  %{number + 1} = spyre.{name} {operands} -> {T}")
    return "\n".join([*lines, f"  return %{len(names)} : {T}", "}"])


def test_operations_and_values_are_numbered_in_order() -> None:
    _module, f = function(LOOP)
    listing = Listing(f)
    names = [listing.operation(n).name for n in range(len(listing.kinds))]
    assert names.index("scf.for") == 4 and names[5:9] == [
        "spyre.slice",
        "spyre.exp",
        "spyre.insert_slice",
        "scf.yield",
    ]
    assert listing.ends[4] == 9 and listing.ends[5] == 6
    # Arguments, four results, the loop's result, its counter and what it carries, and so on.
    assert listing.results[4] == 6 and listing.results[5] == 9
    assert listing.operands[5] == (0, 7) and listing.operands[7] == (10, 8, 7)
    assert all(
        listing.value(value) == operand
        for n in range(len(names))
        for value, operand in zip(listing.operands[n], listing.operation(n).operands, strict=True)
    )
    assert [listing.maker(v) for v in (0, 1, 2, 6, 9)] == [None, None, 0, 4, 5]


def test_operations_of_one_kind_agree_in_name_types_and_attributes() -> None:
    # The first neg reads an argument, the second one an exp; both exp read a neg.
    _module, f = function(chain("neg", "exp", "neg", "exp"))
    assert Listing(f).kinds == [0, 1, 2, 1, 3]
    # Places are minded by their presence only.
    for number in (1, 3):
        op = f.regions[0].blocks[0].operations[number]
        op.attributes["spyre.place"] = ir.PlaceAttr.get("pool", 0, 128 * number)
    assert Listing(f).kinds == [0, 1, 2, 1, 3]
    op.attributes["spyre.dims"] = ir.ArrayAttr.get([ir.StringAttr.get("rows")])
    assert Listing(f).kinds == [0, 1, 2, 3, 4]


def test_attributes_and_types_are_written_by_number() -> None:
    _module, f = function(chain("exp", "exp", "exp"))
    listing = Listing(f)
    marks = [ir.StringAttr.get("a"), ir.StringAttr.get("b")]
    listing.set_attributes("mark", marks, [0, -1, 1, -1])
    assert listing.attributes("mark") == (marks, [0, -1, 1, -1])
    assert "mark" not in listing.operation(1).attributes
    wide = ir.RankedTensorType.get([8, 64], ir.F16Type.get())
    listing.set_types([wide], [listing.results[1]], [0])
    assert listing.value(listing.results[1]).type == wide
    for wrong in ([0], [0, 0, 0, 2]):
        with pytest.raises((ValueError, IndexError)):
            listing.set_attributes("mark", marks, wrong)
    with pytest.raises(IndexError):
        listing.operation(4)


def owners_agree(listing: Listing) -> None:
    for number in range(listing.value_count):
        value = listing.value(number)
        if isinstance(value.type, ir.RankedTensorType):
            assert listing.value(listing.owners[number]) == storage_of(value).owner


def test_owners_are_those_of_the_storage() -> None:
    module, f = function(LOOP)
    owners_agree(Listing(f))
    passmanager.apply(module, "spyre-assign-layouts")
    owners_agree(Listing(f))


def answers(op: ir.Operation) -> object:
    """Everything that passes ask of the example of a kind and take for all of it."""
    if not op.name.startswith("spyre."):
        return op.name
    numbers = [result.result_number for result in computed_results(op)] if len(op.results) else []
    found: list[object] = [computes(op), in_place(op), numbers]
    try:
        found.append(kernel_of(op))
        if computes(op) and "spyre.division" in op.attributes:
            found.append(lowering.lower(op))
    except Refusal as refusal:
        found.append(str(refusal))
    return found


STAGES = (
    "spyre-decompose-operations",
    "spyre-assign-layouts",
    "spyre-plan-span-overflow{{span-limit={limit}}}",
    "spyre-tile",
    "spyre-plan-memory",
    "spyre-divide-work",
)


CASES = [
    *((name, 268431360) for name in [*AUGUST][::4]),
    ("softmax_128x256_4core", 32768),
    ("add_fp16_128x256", 8192),
    ("residual_norm_2x32x256_8core", 8192),
]
"""(program, span limit): the last ones are tiled."""


@pytest.mark.parametrize(("name", "limit"), CASES)
def test_what_holds_for_the_example_holds_for_its_kind(name: str, limit: int) -> None:
    module = AUGUST[name].module()
    for stage in STAGES:
        passmanager.apply(module, stage.format(limit=limit))
        f = module.body.operations[0].operation
        listing = Listing(f)
        owners_agree(listing)
        expected = listing.per_kind(answers)
        for number, kind in enumerate(listing.kinds):
            assert answers(listing.operation(number)) == expected[kind]
    assert limit == 268431360 or "scf.for" in str(module)
