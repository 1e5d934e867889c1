# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both forms of op spec lists, and what the reader says to what is neither."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.opspecs import Allocation, LoopSpec, OpSpec, SpecList, operations, read
from spyre_mlir.quasiaffine import parse

DATA = Path(__file__).parents[1] / "data/sdsc"
FOLDERS = sorted(path.parent for path in DATA.rglob("op_specs.json"))


def as_printed(spec: OpSpec | LoopSpec) -> OpSpec | LoopSpec:
    """The spec without what the debug print leaves out."""
    if isinstance(spec, LoopSpec):
        return replace(spec, body=tuple(as_printed(inner) for inner in spec.body))
    args = tuple(
        replace(
            arg,
            device_format=None,
            element_arrangement=None,
            per_tile_fixed=False,
            work_division=None,
        )
        for arg in spec.args
    )
    return replace(spec, args=args, trip_counts=(), constants=())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(DATA)))
def test_print_and_json_say_the_same(folder: Path) -> None:
    data = read((folder / "op_specs.json").read_text())
    text = read((folder / "op_specs.txt").read_text())
    assert text == SpecList(tuple(as_printed(spec) for spec in data.body))


def test_every_print_is_read() -> None:
    prints = sorted(DATA.rglob("op_specs.txt"))
    assert len(prints) == 130
    assert all(list(operations(read(path.read_text()).body)) for path in prints)


def test_a_loop_in_full() -> None:
    found = read((DATA / "jul/so_add_1x8195x256x64/op_specs.txt").read_text())
    (loop,) = found.body
    assert isinstance(loop, LoopSpec) and loop.count == 5
    (spec,) = loop.body
    assert isinstance(spec, OpSpec) and spec.tiled_symbols == (("c0",),)
    assert [(s.name, s.extent, s.split) for s in spec.iteration_space] == [
        ("c0", 1639, 1),
        ("c1", 256, 4),
        ("c2", 64, 1),
    ]
    assert spec.args[2].coordinates == tuple(
        map(parse, ("floor(c2/64)", "c0", "c1", "Mod(c2, 64)"))
    )
    assert spec.args[2].allocation == Allocation("argument", 2) and not spec.args[2].is_input


SPEC = {
    "op": "exp",
    "is_reduction": False,
    "iteration_space": {"c0": [128, 4]},
    "args": [
        {
            "is_input": True,
            "arg_index": 0,
            "device_size": [2, 64],
            "device_coordinates": ["floor(c0/64)", "Mod(c0, 64)"],
            "allocation": {"hbm": 0},
        }
    ],
}


def changed(**fields: object) -> str:
    return json.dumps([{**SPEC, **fields}])


def argument(**fields: object) -> str:
    return changed(args=[{**SPEC["args"][0], **fields}])  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"kernel": "k"}', "$: key 'specs' is missing"),
        ('{"specs": [], "size": 1}', "$: unknown key 'size'"),
        ("[3]", "$[0]: expected an object, found int"),
        (changed(oop=1), "$[0]: unknown key 'oop'"),
        (changed(op=7), "$[0].op: expected str, found int 7"),
        (changed(is_reduction=1), "$[0].is_reduction: expected bool, found int 1"),
        (
            changed(iteration_space={"c0": [128]}),
            "$[0].iteration_space.c0: expected [",
        ),
        (
            changed(iteration_space={"c0": [0, 1]}),
            "$[0].iteration_space.c0: expected [",
        ),
        (changed(op_info={"scale": 1}), "$[0].op_info: unknown key 'scale'"),
        (
            changed(op_info={"constants": {"eps": "x"}}),
            "constants.eps: 'x' is not a number",
        ),
        (argument(device_size=[2]), "$[0].args[0]: 1 device sizes but 2 coordinates"),
        (argument(device_size=[2, "64"]), "$[0].args[0]: expected int, found str '64'"),
        (
            argument(device_coordinates=["c0*c0", "0"]),
            "$[0].args[0]: coordinate 'c0*c0' cannot",
        ),
        (argument(allocation={"ddr": 0}), "$[0].args[0].allocation: expected one of hbm, hbm_pool"),
        (
            argument(allocation={"hbm": True}),
            "args[0].allocation.hbm: expected int",
        ),
        (
            argument(device_tile_advance_expr="floor(3*t/2)"),
            "$[0].args[0]: tile advance 'floor(3*t/2)' is no sum of multiples",
        ),
        ("OpSpec(op='exp')", "line 1: expected OpSpec or LoopSpec"),
        ("LoopSpec(count=2)", "line 1: expected 'body=['"),
        ("LoopSpec(count=2)\n  body=[\n", "line 2: the loop does not end"),
        ("]", "line 1: a loop ends here"),
        (
            "OpSpec(op='exp', is_reduction=False, iteration_space={c0: 128})",
            "line 1: iteration space cannot be read",
        ),
        (
            "OpSpec(op='exp', is_reduction=False, iteration_space={c0: (128, 4)})\n  TensorArg(in)",
            "line 2: tensor argument cannot be read",
        ),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read(text)
    assert refusal.value.code == "SPY094"
    assert message in refusal.value.message
