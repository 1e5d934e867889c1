# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader of `bundle.mlir`: any spelling of the format, and nothing else."""

from __future__ import annotations

import pytest

from spyre_mlir.sdsc.model import POOL, Hbm, PoolBuffer
from spyre_mlir.sdsc.parse import Execute, TextError, TextLoop, parse

TEXT = """\
#map = affine_map<(d0, d1)[s0] -> (s0 + d0 * 512 + 128 * d1 + 64)>
module {
  func.func @sdsc_bundle(%arg_3_base_addr: !sdscbundle.input_arg<index>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 7 : index
    %a = sdscbundle.input_arg_extract value from
      %arg_3_base_addr : !sdscbundle.input_arg<index> -> index
    %p = sdscbundle.device_mem_allocate 4096 bytes : index
    %k = arith.constant 256 : index
    %b = arith.addi %p, %k : index  // in the pool
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %d = affine.apply #map(%j, %i)[%a]
        sdscbundle.sdsc_execute (%d, %b) {sdsc_filename = "sdsc_0.json", symbol_ids = [-1, -2]}
      }
    }
    sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
    return
  }
}
"""


def test_any_names_and_spacing_are_read() -> None:
    parsed = parse(TEXT)
    assert parsed.arguments == (3,)
    assert parsed.pool == PoolBuffer(4096)
    outer, last = parsed.body
    assert isinstance(outer, TextLoop)
    assert outer.trips == 7
    (inner,) = outer.body
    assert isinstance(inner, TextLoop)
    assert inner.body == (
        Execute("sdsc_0.json", (-1, -2), (Hbm(3, 64, (128, 512)), Hbm(POOL, 256)), 15),
    )
    assert last == Execute("sdsc_1.json", (), (), 18)


def test_the_pool_may_be_the_first_parameter() -> None:
    text = TEXT.replace(
        "(%arg_3", "(%pool_base_addr: !sdscbundle.input_arg<index>, %arg_3"
    ).replace(
        "sdscbundle.device_mem_allocate 4096 bytes : index",
        "sdscbundle.input_arg_extract value from %pool_base_addr : "
        "!sdscbundle.input_arg<index> -> index",
    )
    assert parse(text).pool == PoolBuffer(None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("%c0 = arith.constant 0", "%c0 = arith.constant 1", "a loop counts from 0 by 1"),
        ("step %c1", "step %n", "a loop counts from 0 by 1, not from 0 by 7"),
        ("to %n", "to %i", "%i is not defined here"),
        ("to %n step %c1 {\n      scf", "to %a step %c1 {\n      scf", "%a is not a constant"),
        ("(%j, %i)", "(%j, %j)", "%j is not the variable of one more enclosing loop"),
        ("(%j, %i)", "(%j)", "the map takes 2 loop variables, not 1"),
        ("#map(", "#nap(", "#nap is not defined"),
        ("d0 * 512", "d0 * d1", "a product of two variables"),
        ("(s0 + d0", "(d0", "the map has to add s0 once"),
        ("[-1, -2]", "[-1]", "2 operands for 1 symbol ids"),
        ("(%d, %b)", "(%d, %k)", "%k is not an address"),
        ("addi %p, %k", "addi %k, %p", "%k is not an address"),
        ("%k = arith.constant 256", "%n = arith.constant 256", "%n is defined twice"),
        ("arith.addi", "arith.muli", "arith.muli is not allowed"),
        ("    return\n", "", "expected 'return'"),
        ("@sdsc_bundle", "@other", "the function is not @sdsc_bundle"),
        ("%arg_3_base_addr: ", "%x: ", "%x is no parameter"),
        ("<index>) {", "<index, granularity=4, max_value=8>) {", "has another type"),
        ("<index>) {", "<index, granularity=4, max_value=9>) {", "a positive multiple"),
        ("scf.for %j = %c0 to %n step %c1 {", "scf.if %c0 {", "unexpected 'scf.if'"),
        ("7 : index", "7.5 : index", "unexpected character '.'"),
        ("}\n}\n", "}\n", "expected '}'"),
    ],
)
def test_everything_else_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(TextError, match=r"line \d+, column \d+") as refused:
        parse(TEXT.replace(old, new, 1))
    assert message in refused.value.message


def test_an_error_has_line_and_column() -> None:
    with pytest.raises(TextError) as refused:
        parse(TEXT.replace("addi %p, %k", "addi %p, %q"))
    assert (refused.value.line, refused.value.column) == (11, 25)
