# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre check`: what is the same is called the same, and faults are found where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spyre_mlir import ir
from spyre_mlir.checking import Report, StageReport
from spyre_mlir.checking import check as public_check
from spyre_mlir.checking.comparison import check, compare
from spyre_mlir.checking.inputs import Inputs, described, draw, ranges_of, shrink
from spyre_mlir.checking.report import Addresses, Scaling
from spyre_mlir.checking.stages import Compiled, Options, Stage, compile_in_stages, passes_of
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.execution import choose
from spyre_mlir.interpreter.program import TensorKind, read_module
from spyre_mlir.sdsc import model

ADD = """
func.func @main(%x: tensor<8x4x100xf16>, %y: tensor<8x4x100xf16>) -> tensor<8x4x100xf16> {
  %0 = spyre.add %x, %y : (tensor<8x4x100xf16>, tensor<8x4x100xf16>) -> tensor<8x4x100xf16>
  %1 = spyre.relu %0 : (tensor<8x4x100xf16>) -> tensor<8x4x100xf16>
  return %1 : tensor<8x4x100xf16>
}"""

ROWS = "tensor<8x64xf16, #spyre.encoding<valid_shape = [n, 64]>>"
NARROW = f"""
func.func @main(%x: {ROWS}) -> {ROWS} {{
  %0 = spyre.exp %x : ({ROWS}) -> {ROWS}
  return %0 : {ROWS}
}}"""


def test_the_same_at_every_stage() -> None:
    report = check(ADD, cores=4, span_limit=1024)
    assert report.status == "same" and report.function == "main"
    levels = [stage.level for stage in report.stages]
    assert levels == sorted(levels, key=("tensor", "device", "bundle").index)
    assert {"tensor", "device", "bundle"} == set(levels)
    assert "@main: same (2 seeds)" in report.as_text()
    assert json.loads(json.dumps(report.as_json()))["status"] == "same"
    assert public_check is check


def test_files_bytes_and_modules(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(ADD)
    assert check(tmp_path / "a.mlir").status == "same"
    assert check(ADD.encode()).status == "same"
    with ir.Context():
        assert check(ir.Module.parse(ADD)).status == "same"


def test_symbols_that_only_types_use() -> None:
    assert check(NARROW, seeds=4).status == "same"


def test_narrowed_programs() -> None:
    part, whole = "tensor<8x64xf16, #spyre.encoding<valid_shape = [5, 64]>>", "tensor<8x64xf16>"
    text = f"""func.func @main(%x: {part}, %y: {whole}) -> {whole} {{
      %0 = spyre.add %x, %y : ({part}, {whole}) -> {whole}
      return %0 : {whole} }}"""
    with pytest.raises(ir.MLIRError, match="SPY072"):
        check(text)
    assert check(text, policy="intersect").status == "same"


def test_programs_without_a_meaning() -> None:
    text = """func.func @main(%x: tensor<4x64xi32>, %y: tensor<4x64xi32>) -> tensor<4x64xi32> {
      %0 = spyre.div %x, %y : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi32>
      return %0 : tensor<4x64xi32> }"""
    report = check(text)
    assert report.status == "not run" and "SPY131" in report.stages[0].detail


def staged(text: str, change: Callable[[Compiled], Compiled], **options: Any) -> Report:
    chosen = Options(**options)
    with ir.Context():
        compiled = compile_in_stages(ir.Module.parse(text).operation, chosen)
        return compare(change(compiled), chosen, 2)


@pytest.mark.parametrize("name", ["spyre-assign-layouts", "spyre-tile", "spyre-divide-work"])
def test_the_first_pass_that_changes_the_meaning(name: str) -> None:
    def wrong(compiled: Compiled) -> Compiled:
        stages, broken = [], False
        for stage in compiled.stages:
            broken = broken or stage.name == name
            module = stage.module
            if broken:
                module = ir.Module.parse(str(module).replace("spyre.add", "spyre.sub")).operation
            stages.append(replace(stage, module=module, changed=True))
        return replace(compiled, stages=tuple(stages))

    report = staged(ADD, wrong, cores=2, span_limit=1024)
    assert report.status == "differs" and report.fault is not None
    assert report.fault.stage == name
    assert report.stages[-1].status == "differs" and report.stages[-1].name == name
    first, second = report.fault.inputs
    assert first == "argument 0: 8x4x100xfloat16, all zero"
    assert "zero but" in second or "all 1" in second
    assert f"the first pass that changed the meaning: {name}" in report.as_text()


def test_a_fault_of_the_bundle() -> None:
    def wrong(compiled: Compiled) -> Compiled:
        (loop,) = compiled.bundle.model.body
        assert isinstance(loop, model.Loop)
        body = replace(compiled.bundle.model, body=(replace(loop, trips=loop.trips - 1),))
        return replace(compiled, bundle=replace(compiled.bundle, model=body))

    report = staged(ADD, wrong, span_limit=1024)
    assert report.fault is not None and report.fault.level == "bundle"
    assert "SPY144" in report.fault.detail


def test_a_function_of_other_results() -> None:
    def wrong(compiled: Compiled) -> Compiled:
        text = "func.func @main(%x: tensor<8x4x100xf16>, %y: tensor<8x4x100xf16>) { return }"
        other = Stage("other", ir.Module.parse(text).operation)
        return replace(compiled, stages=(compiled.stages[0], other, *compiled.stages[1:]))

    report = staged(ADD, wrong)
    assert report.fault is not None and report.fault.detail == "1 results before, 0 after"


def test_large_programs_are_scaled_and_their_addresses_proved() -> None:
    shape = "tensor<1x8195x256x64xf16>"
    text = f"""func.func @main(%x: {shape}, %y: {shape}) -> {shape} {{
      %0 = spyre.add %x, %y : ({shape}, {shape}) -> {shape}
      return %0 : {shape} }}"""
    report = check(text)
    assert report.status == "same", report.as_text()
    assert report.scaling is not None and report.scaling.structure
    assert report.addresses == Addresses(1, 1)
    assert "proved   addresses of 1 operations at full size" in report.as_text()


def test_large_programs_that_cannot_be_scaled() -> None:
    shape, flat = "tensor<3000x8x64xf16>", "tensor<24000x64xf16>"
    text = f"""func.func @main(%x: {shape}) -> {flat} {{
      %0 = spyre.reshape %x : ({shape}) -> {flat}
      %1 = spyre.exp %0 : ({flat}) -> {flat}
      return %1 : {flat} }}"""
    report = check(text)
    assert report.status == "not run" and "no smaller program" in report.stages[0].detail
    assert report.addresses is not None and not report.addresses.faults


def test_reports() -> None:
    stages = (StageReport("p", "tensor", "same"),)
    bad = Report("f", 1, stages, None, None, Addresses(1, 1, ("it overlaps",)))
    assert bad.status == "differs" and "differs  addresses: it overlaps" in bad.as_text()
    small = Report("f", 1, stages, None, Scaling({100: 7}, 1024, False, 10))
    assert "extents 100 -> 7, span limit 1024 bytes, other loops" in small.as_text()
    assert Report("f", 1, ()).status == "not run"


def test_pipelines_are_taken_apart() -> None:
    found = list(passes_of("builtin.module(a,b{x=1 y={1,2}},func.func(c,d{z=3}),e)"))
    assert [name for name, _ in found] == ["a", "b", "c", "d", "e"]
    assert found[1][1] == "builtin.module(b{x=1 y={1,2}})"
    assert found[3][1] == "builtin.module(func.func(d{z=3}))"


def test_inputs() -> None:
    text = f"""func.func @main(%x: {ROWS}, %n: index {{spyre.extent = "n",
      spyre.range = array<i64: 2, 8>}}, %k: tensor<4xi32>) {{ return }}"""
    with ir.Context():
        function = choose(read_module(ir.Module.parse(text)), None)
    assert ranges_of(function) == {"n": (2, 8)}
    assert [draw(function, seed=s).symbols["n"] for s in (0, 1)] == [8, 2]
    assert 2 <= draw(function, seed=2).symbols["n"] <= 8
    whole = draw(function, seed=1)
    assert (whole.arrays[0] == np.round(whole.arrays[0])).all()
    small = shrink(draw(function, seed=0), function, lambda i: bool(i.arrays[0][3, 5] != 0))
    assert small.symbols == {"n": 2}
    assert not small.arrays[1].any()
    assert small.arrays[0][3, 5] != 0


@pytest.mark.parametrize(
    ("valid", "limits", "most"),
    [
        ("n, 64 * n", "", {"n": 2}),
        ("n + m, 128", "", {"n": 4, "m": 4}),
        ("n, 128", ", spyre.range = array<i64: 1, 200>", {"n": 8}),
        ("8, n - 60", ", spyre.range = array<i64: 1, 128>", {"n": 128}),
    ],
)
def test_symbols_fit_what_is_valid(valid: str, limits: str, most: dict[str, int]) -> None:
    """Extents that left their tensor ended the check before anything ran."""
    m = '%m: index {spyre.extent = "m"}, ' if "m" in most else ""
    text = f"""func.func @main({m}%n: index {{spyre.extent = "n"{limits}}},
      %x: tensor<8x128xf16, #spyre.encoding<valid_shape = [{valid}]>>) {{ return }}"""
    with ir.Context():
        function = choose(read_module(ir.Module.parse(text)), None)
    assert draw(function, seed=0).symbols == most
    for seed in range(1, 4):
        symbols = draw(function, seed=seed).symbols
        kind = function.body.kinds[-1]
        assert isinstance(kind, TensorKind)
        kind.bind(symbols)


def test_described() -> None:
    array = np.zeros((2, 8), np.int32)
    assert described(array, 1) == "argument 1: 2x8xint32, all zero"
    array[0, :6] = 3
    assert described(array, 1).endswith("[0, 3] = 3 and 2 more")
    assert described(np.ones(3, np.float32), 0) == "argument 0: 3xfloat32, all 1.0"
    assert described(np.float16(2), 0) == "argument 0: float16 = 2.0"


def test_shrinking_ends() -> None:
    calls = []

    def fails(inputs: Inputs) -> bool:
        calls.append(inputs)
        return True

    with ir.Context():
        function = choose(read_module(ir.Module.parse(ADD)), None)
    small = shrink(draw(function, seed=0), function, fails)
    assert not any(array.any() for array in small.arrays) and len(calls) < 60


def test_programs_that_are_refused() -> None:
    with pytest.raises((Refusal, ir.MLIRError), match="SPY095"):
        check("")
    with pytest.raises(ir.MLIRError, match="SPY095"):
        check(ADD + ADD.replace("@main", "@other"))


@pytest.mark.parametrize("seeds", [0, -1])
def test_nothing_is_not_the_same(seeds: int) -> None:
    """Without an input no stage was run, and all were called the same."""
    with pytest.raises(ValueError, match=f"seeds is {seeds}"):
        check("func.func @f() { return }", seeds=seeds)


def test_plans_are_those_of_the_options() -> None:
    text = """func.func @f(%x: tensor<40x64xf16>) -> tensor<64xf16> {
      %0 = spyre.sum %x {dims = [0]} : (tensor<40x64xf16>) -> tensor<64xf16>
      return %0 : tensor<64xf16> }"""
    with pytest.raises(ir.MLIRError, match="SPY042"):
        check(text, span_limit=1024, reductions="never")
    for options in ({}, {"remainder": "always"}, {"division": "counted"}):
        report = check(text, span_limit=1024, **options)  # type: ignore[arg-type]
        assert report.status == "same"
        tiled = any(stage.name == "spyre-tile" for stage in report.stages)
        assert tiled == (options != {"division": "counted"})
