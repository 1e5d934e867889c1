# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter of planned memory: bytes that overlap, windows, padding, loops that overwrite."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spyre_mlir
from spyre_mlir import ir
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter import run_device

ROWS = "#spyre.encoding<layout = #spyre.layout<[2, 4, 64] : [64, 128, 1]>>"
PARTS = "#spyre.encoding<layout = #spyre.layout<[2, 4, 64] : [64, 128, 1]>, window>"
COLUMN = "#spyre.encoding<layout = #spyre.layout<[1, 4, 64] : [-1, 1, -1]>>"
ODD = "#spyre.encoding<layout = #spyre.layout<[2, 4, 64] : [64, 100, 1]>>"


def run(text: str, *arrays: Any, **options: Any) -> Any:
    with ir.Context():
        (output,) = run_device(ir.Module.parse(text), arrays, **options)
    return output.valid


def refused(text: str, *arrays: Any, **options: Any) -> str:
    with pytest.raises(Refusal) as caught:
        run(text, *arrays, **options)
    return str(caught.value)


def rows(seed: int = 0, width: int = 128) -> Any:
    return np.random.default_rng(seed).standard_normal((4, width)).astype(np.float16)


CHAIN = f"""
func.func @f(%x: tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
    attributes {{spyre.pool_bytes = 2048 : i64}} {{
  %0 = spyre.neg %x {{spyre.place = #spyre.place<pool 0 + 0>}}
    : (tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
  %1 = spyre.abs %x {{spyre.place = #spyre.place<pool 0 + 1024>}}
    : (tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
  %2 = spyre.add %0, %1 {{spyre.place = #spyre.place<argument 1 + 0>}}
    : (tensor<4x128xf16, {ROWS}>, tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
  return %2 : tensor<4x128xf16, {ROWS}>
}}
"""


def test_values_that_share_memory_overwrite_one_another() -> None:
    x = rows()
    assert (run(CHAIN, x) == np.abs(x) - x).all()
    # Now the second value begins in the middle of the first one, or over all of it.
    half = run(CHAIN.replace("pool 0 + 1024", "pool 0 + 512"), x)
    assert (half[:, :64] == (np.abs(x) - x)[:, :64]).all()
    assert (half[:, 64:] == np.abs(x)[:, :64] + np.abs(x)[:, 64:]).all()
    assert (run(CHAIN.replace("pool 0 + 1024", "pool 0 + 0"), x) == 2 * np.abs(x)).all()


def test_a_result_may_lie_over_an_operand() -> None:
    x = rows()
    text = CHAIN.replace("pool 0 + 1024", "pool 0 + 0").replace("spyre.abs %x", "spyre.abs %0")
    assert (run(text.replace("spyre.add %0, %1", "spyre.add %x, %1"), x) == x + np.abs(x)).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pool 0 + 1024", "pool 0 + 1152", "SPY149: bytes 1152 to 2176 do not lie in the 2048"),
        ("pool 0 + 1024", "argument 7 + 0", "SPY149: there is no argument 7"),
        ("argument 1 + 0", "pool 0 + 0", "SPY144: the valid cell [0, 0] of result 0 holds no data"),
    ],
)
def test_places_that_contradict(old: str, new: str, message: str) -> None:
    assert refused(CHAIN.replace(old, new), rows()).startswith(message)


def test_padding_and_sparse_lanes_hold_no_data() -> None:
    text = f"""
    func.func @f(%x: tensor<4x100xf16, {ODD}>) -> tensor<4xf16, {COLUMN}> {{
      %0 = spyre.sum %x {{dims = [1], spyre.place = #spyre.place<argument 1 + 0>}}
        : (tensor<4x100xf16, {ODD}>) -> tensor<4xf16, {COLUMN}>
      return %0 : tensor<4xf16, {COLUMN}>
    }}"""
    x = rows(width=100)
    assert np.allclose(run(text, x), x.astype(np.float32).sum(1), atol=0.05)


def test_a_cell_that_no_one_wrote_does_not_become_a_result() -> None:
    text = f"""
    func.func @f(%x: tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}> {{
      %0 = spyre.empty {{spyre.place = #spyre.place<argument 1 + 0>}}
        : () -> tensor<4x128xf16, {ROWS}>
      %1 = spyre.slice %x[0, 0] : (tensor<4x128xf16, {ROWS}>) -> tensor<4x64xf16, {PARTS}>
      %2 = spyre.exp %1 {{spyre.place = #spyre.place<argument 1 + 0>}}
        : (tensor<4x64xf16, {PARTS}>) -> tensor<4x64xf16, {PARTS}>
      %3 = spyre.insert_slice %2 into %0[0, 64]
        : (tensor<4x64xf16, {PARTS}>, tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
      return %3 : tensor<4x128xf16, {ROWS}>
    }}"""
    assert "SPY144: the valid cell [0, 0] of result 0" in refused(text, rows())


LOOP = f"""
func.func @f(%x: tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}> {{
  %0 = spyre.empty {{spyre.place = #spyre.place<argument 1 + 0>}}
    : () -> tensor<4x128xf16, {ROWS}>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %1 = scf.for %i = %zero to %four step %one iter_args(%into = %0)
      -> (tensor<4x128xf16, {ROWS}>) {{
    %2 = spyre.slice %x[%i, 0] : (tensor<4x128xf16, {ROWS}>) -> tensor<1x128xf16, {PARTS}>
    %3 = spyre.neg %2 {{spyre.place = #spyre.place<argument 1 + 0>}}
      : (tensor<1x128xf16, {PARTS}>) -> tensor<1x128xf16, {PARTS}>
    %j = arith.addi %i, %zero : index
    %4 = spyre.insert_slice %3 into %into[%j, 0]
      : (tensor<1x128xf16, {PARTS}>, tensor<4x128xf16, {ROWS}>) -> tensor<4x128xf16, {ROWS}>
    scf.yield %4 : tensor<4x128xf16, {ROWS}>
  }}
  return %1 : tensor<4x128xf16, {ROWS}>
}}
"""


def test_a_loop_writes_windows_whose_offset_is_computed_behind_them() -> None:
    x = rows()
    assert (run(LOOP, x) == -x).all()


def test_a_loop_that_writes_one_window_again_and_again() -> None:
    assert "SPY144" in refused(LOOP.replace("%into[%j, 0]", "%into[%zero, 0]"), rows())


def test_a_loop_that_yields_from_another_place() -> None:
    text = LOOP.replace("scf.yield %4", "scf.yield %x")
    assert "SPY149: scf.for: carried tensor 0 begins in argument 1" in refused(text, rows())


def test_steps_are_counted() -> None:
    assert refused(LOOP, rows(), steps=10).startswith("SPY147")


def test_views_name_bytes_of_their_operand() -> None:
    wide = "#spyre.encoding<layout = #spyre.layout<[2, 4, 64] : [64, 128, 1]>>"
    turned = "#spyre.encoding<layout = #spyre.layout<[1, 128, 64] : [64, 1, 128]>>"
    text = f"""
    func.func @f(%x: tensor<4x128xf16, {wide}>) -> tensor<128x4xf16, {turned}> {{
      %0 = spyre.transpose %x {{permutation = [1, 0]}}
        : (tensor<4x128xf16, {wide}>) -> tensor<128x4xf16>
      %1 = spyre.exp %0 {{spyre.place = #spyre.place<argument 1 + 0>}}
        : (tensor<128x4xf16>) -> tensor<128x4xf16, {turned}>
      return %1 : tensor<128x4xf16, {turned}>
    }}"""
    turned_rows = "#spyre.layout<[1, 128, 64] : [256, 4, 1]>"
    x = rows()
    text = re.sub(r"#spyre.layout<\[1, 128, 64\] : \[64, 1, 128\]>", turned_rows, text)
    assert np.allclose(run(text, x), np.exp(x.T.astype(np.float32)), rtol=1e-3)


SOURCE = Path(spyre_mlir.__file__).parent
SHARED = (
    "diagnostics",
    "dialects",
    "encodings",
    "extents",
    "formats",
    "hardware",
    "ir",
    "layouts",
    "optable",
    "tensors",
)
"""What every interpreter may use: the table, layouts, types, and figures."""

READER = ("sdsc.findings", "sdsc.model", "sdsc.parse", "sdsc.recover", "sdsc.schema")


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spyre_mlir"):
            inner = (node.module or "").removeprefix("spyre_mlir").lstrip(".")
            found |= {f"{inner}.{n.name}" if inner else n.name for n in node.names}
        elif isinstance(node, ast.Import):
            found |= {n.name.removeprefix("spyre_mlir.") for n in node.names
                      if n.name.startswith("spyre_mlir")}  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("machine", (*READER, *SHARED, "machine")),
        ("interpreter", (*SHARED, "interpreter", "machine")),
    ],
)
def test_interpreters_share_nothing_with_the_compiler(
    folder: str, allowed: tuple[str, ...]
) -> None:
    for path in (SOURCE / folder).glob("*.py"):
        for name in imported(path):
            if (path.name, name) == ("program.py", "sdsc.write.files"):
                continue  # a bundle as a value is run as the files that it is written to
            known = any(name == a or name.startswith(f"{a}.") for a in allowed)
            assert known, f"{path.name} imports {name}"


def test_the_machine_knows_no_operation_table() -> None:
    for path in (SOURCE / "machine").glob("*.py"):
        assert not any(name.startswith(("optable", "interpreter")) for name in imported(path))
