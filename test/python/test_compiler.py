# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From programs in the dialect to bundles, against those that the reference compiler was seen to write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden_programs import AUGUST, JULY, Program

import spyre_mlir
from spyre_mlir import ir
from spyre_mlir.compiler import Bundle
from spyre_mlir.sdsc import model, validate
from spyre_mlir.sdsc.compare import differences
from spyre_mlir.sdsc.load import load

DATA = Path(__file__).parents[1] / "data/sdsc"
CASES = [
    *(pytest.param(DATA / "aug" / name, program, id=name) for name, program in AUGUST.items()),
    *(
        pytest.param(DATA / "jul" / name, program, id=f"jul-{name}")
        for name, program in JULY.items()
    ),
]


def compiled(program: Program) -> Bundle:
    with ir.Context():
        return spyre_mlir.compile(program.module(), cores=program.cores)


def without_provenance(text: str) -> Any:
    return {key: {**body, "debug_handle_": None} for key, body in json.loads(text).items()}


def assert_files_equal(bundle: Bundle, folder: Path, *, text: bool) -> None:
    """The same files: SDSCs as data, bundle.mlir (with `text`) up to white space."""
    files = bundle.files
    assert sorted(files) == sorted(p.name for p in folder.iterdir() if "op_specs" not in p.name)
    for name, content in files.items():
        observed = (folder / name).read_text()
        if name.endswith(".json"):
            found, expected = without_provenance(content), without_provenance(observed)
            assert not list(differences(found, expected)), name
        elif text:
            assert content.split() == observed.split()


def launches(nodes: Iterable[model.Sdsc | model.Loop]) -> list[model.Sdsc]:
    """The operations in order, arguments numbered by first use, without provenance."""
    numbers: dict[Any, Any] = {model.POOL: model.POOL}
    found = []
    for node in nodes:
        assert isinstance(node, model.Sdsc), "loops are compared as files"
        operands = []
        for operand in node.operands:
            place = operand.place
            if isinstance(place, model.Hbm):
                number = numbers.setdefault(place.buffer, len(numbers) - 1)
                place = replace(place, buffer=number)
            operands.append(replace(operand, place=place))
        found.append(replace(node, operands=tuple(operands), provenance=None))
    return found


def once(sdscs: list[model.Sdsc]) -> list[model.Sdsc]:
    """Without a restickify that was done before."""
    return [
        sdsc
        for number, sdsc in enumerate(sdscs)
        if sdsc.function != "ReStickifyOpHBM" or sdsc not in sdscs[:number]
    ]


def _intermediate(place: model.Hbm | model.Lx) -> bool:
    return isinstance(place, model.Lx) or place.buffer == model.POOL


def placeless(sdscs: list[model.Sdsc], lines_up: list[model.Sdsc]) -> list[model.Sdsc]:
    """Intermediates without their place: with the scratchpad, the pool is another one."""
    found = []
    for sdsc, other in zip(sdscs, lines_up, strict=True):
        pairs = zip(sdsc.operands, other.operands, strict=True)
        operands = tuple(
            replace(a, place=model.Lx(0)) if _intermediate(b.place) else a for a, b in pairs
        )
        found.append(replace(sdsc, operands=operands))
    return found


def assert_equal_but_for(bundle: Bundle, folder: Path, difference: str) -> None:
    ours, observed = launches(bundle.model.body), launches(load(folder).body)
    if difference == "arguments":
        assert_files_equal(bundle, folder, text=False)
        assert bundle.model.pool == load(folder).pool
        assert ours == observed
    elif difference == "arguments pool":
        assert_files_equal(bundle, folder, text=False)
    elif difference == "repeated restickify":
        assert ours == once(observed)
    elif difference == "transposed result":
        assert ours[:-1] == observed[:-1]
        assert ours[-1].function == observed[-1].function
    else:
        assert difference == "scratchpad"
        observed = [
            sdsc
            for sdsc in observed
            if sdsc.function != "identity" or not isinstance(sdsc.operands[-1].place, model.Lx)
        ]
        assert placeless(ours, observed) == placeless(observed, observed)


@pytest.mark.parametrize(("folder", "program"), CASES)
def test_observed(folder: Path, program: Program) -> None:
    bundle = compiled(program)
    assert not validate.check(bundle.model)
    if program.differs:
        assert_equal_but_for(bundle, folder, program.differs)
    else:
        assert_files_equal(bundle, folder, text=True)
