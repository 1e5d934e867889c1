# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles are disjoint and cover their results: proved with islpy for what the suite compiles, and faults are found."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden_programs import AUGUST

from spyre_mlir import ir
from spyre_mlir.checking.addresses import prove
from spyre_mlir.checking.report import Addresses
from spyre_mlir.checking.stages import Options, compile_in_stages
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.placement import layout_of, read_placement
from spyre_mlir.sdsc.model import Bundle, Hbm, Loop, Sdsc

ROOT = Path(__file__).resolve().parents[2]
LIT = sorted((ROOT / "test" / "passes").glob("*.mlir")) + sorted((ROOT / "examples").glob("*.mlir"))

ADD = """
func.func @main(%x: tensor<7x4x64xf16>, %y: tensor<7x4x64xf16>) -> tensor<7x4x64xf16> {
  %0 = spyre.add %x, %y : (tensor<7x4x64xf16>, tensor<7x4x64xf16>) -> tensor<7x4x64xf16>
  return %0 : tensor<7x4x64xf16>
}"""


def compiled(module: ir.Operation, **options: Any) -> tuple[Bundle, dict[int, int], list[int]]:
    """(bundle, bytes of the parameters, results that are written in full)."""
    done = compile_in_stages(module, Options(**options))
    placement = read_placement(done.stages[-2].module)
    tensors = (*placement.arguments, *placement.results)
    sizes = {number: layout_of(tensor).bytes for number, tensor in enumerate(tensors)}
    first = len(placement.arguments)
    whole = [first + n for n, r in enumerate(placement.results) if r.valid_shape is None]
    return done.bundle.model, sizes, whole


@pytest.mark.parametrize("path", LIT, ids=lambda path: path.name)
def test_lit_inputs_and_examples(path: Path) -> None:
    """Every function of a lit input that compiles by itself, under three limits."""
    proved = 0
    for text in path.read_text().split("// -----"):
        with ir.Context():
            try:
                whole = ir.Module.parse(text)
            except ir.MLIRError:
                continue
            for function in whole.body.operations:
                try:
                    module = ir.Module.parse(str(function))
                except ir.MLIRError:  # it calls another one
                    continue
                for limit in (1024, 8192, 65535 * 4096):
                    try:
                        given = compiled(module.operation, cores=4, span_limit=limit)
                    except (ir.MLIRError, Refusal):
                        continue
                    found = prove(*given)
                    assert not found.faults, (function, limit, found.faults)
                    proved += 1
    if not proved:
        pytest.skip("no function of the file compiles by itself")


@pytest.mark.parametrize("name", AUGUST)
def test_programs_of_the_goldens(name: str) -> None:
    with ir.Context():
        given = compiled(AUGUST[name].module().operation, cores=AUGUST[name].cores)
    assert not prove(*given).faults


def tiled() -> tuple[Bundle, dict[int, int], list[int], Loop]:
    with ir.Context():
        bundle, sizes, whole = compiled(ir.Module.parse(ADD).operation, cores=1, span_limit=1024)
    (loop,) = bundle.body
    assert isinstance(loop, Loop)
    return bundle, sizes, whole, loop


def other(loop: Loop, **changes: Any) -> Loop:
    """The loop with another place of its output."""
    (sdsc,) = loop.body
    assert isinstance(sdsc, Sdsc)
    *reads, output = sdsc.operands
    assert isinstance(output.place, Hbm)
    place = replace(output.place, **changes)
    return replace(loop, body=(replace(sdsc, operands=(*reads, replace(output, place=place))),))


def test_faults_are_found() -> None:
    bundle, sizes, whole, loop = tiled()

    def faults(body: Loop) -> str:
        return " ".join(prove(replace(bundle, body=(body,)), sizes, whole).faults)

    assert faults(loop) == ""
    assert "not written to its end" in faults(replace(loop, trips=loop.trips - 1))
    assert "of a buffer of" in faults(replace(loop, trips=loop.trips + 1))
    assert "not written to its end" in faults(other(loop, advances=(0,)))
    assert "of a buffer of" in faults(other(loop, offset=sizes[2]))
    assert "of a buffer of" in faults(other(loop, offset=-128))
    (sdsc,) = loop.body
    assert isinstance(sdsc, Sdsc)
    assert "writes a stick for two cells" in faults(other(loop, advances=(128,)))
    nothing = replace(bundle, body=())
    assert prove(nothing, sizes, whole) == Addresses(0, 0, ("nothing is written to parameter 2",))


def test_without_islpy(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, sizes, whole, _ = tiled()
    monkeypatch.setitem(sys.modules, "islpy", None)
    with pytest.raises(Refusal, match="SPY203") as caught:
        prove(bundle, sizes, whole)
    assert "spyre-mlir[check]" in str(caught.value)
