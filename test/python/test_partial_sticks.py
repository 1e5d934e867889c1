# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cells that begin or end within sticks: what the device computes, byte by byte, is what the programs mean."""

from __future__ import annotations

import pytest
from golden_programs import Program, of, t

import spyre_mlir
from spyre_mlir import builders as b
from spyre_mlir import ir, passmanager
from spyre_mlir.checking import check
from spyre_mlir.partial_sticks import Piece, other_stick, pieces
from spyre_mlir.sdsc import validate
from spyre_mlir.tensors import TensorType


def part(*shape: int, valid: tuple[int, ...], element: str = "f16") -> TensorType:
    return TensorType(shape, element, valid_shape=valid)


PROGRAMS = {
    # Unions whose contained region ends within a stick.
    "columns": of(2, t(4, 128), part(4, 128, valid=(4, 100)))(b.part_add),
    "rows and columns": of(2, t(4, 128), part(4, 128, valid=(3, 100)))(b.part_add),
    "neither is whole": of(2, part(4, 128, valid=(4, 110)), part(4, 128, valid=(3, 100)))(
        b.part_max
    ),
    "less than a stick": of(2, t(4, 20), part(4, 20, valid=(3, 10)))(b.part_mul),
    "one dim": of(2, t(200), part(200, valid=(70,)))(b.part_min),
    "three dims": of(2, t(3, 4, 200), part(3, 4, 200, valid=(2, 3, 70)))(b.part_min),
    "broadcast": of(2, t(200), part(4, 200, valid=(3, 70)))(b.part_add),
    **{
        element: of(2, t(4, 128, element=element), part(4, 128, valid=(3, 100), element=element))(
            b.part_add
        )
        for element in ("bf16", "f32", "i8", "i16", "i32", "i64", "ui8")
    },
    # Windows that begin within a stick.
    "window": of(2, t(4, 200))(lambda x: b.exp(b.slice(x, static_offsets=[0, 10], shape=(4, 100)))),
    "one column": of(2, t(4, 200))(
        lambda x: b.exp(b.slice(x, static_offsets=[1, 70], shape=(2, 1)))
    ),
    "window of one dim": of(2, t(200))(
        lambda x: b.exp(b.slice(x, static_offsets=[10], shape=(100,)))
    ),
    "window of one row": of(2, t(1, 200))(
        lambda x: b.exp(b.slice(x, static_offsets=[0, 10], shape=(1, 100)))
    ),
    "returned window": of(2, t(4, 200))(
        lambda x: b.slice(x, static_offsets=[0, 10], shape=(3, 64))
    ),
    "window beyond the data": of(2, part(4, 200, valid=(3, 100)))(
        lambda x: b.exp(b.slice(x, static_offsets=[1, 10], shape=(3, 100)))
    ),
    "window of a transposed tensor": of(2, t(70, 5))(
        lambda x: b.exp(
            b.slice(b.transpose(x, permutation=[1, 0]), static_offsets=[1, 10], shape=(3, 50))
        )
    ),
    # Insertions that begin or end within a stick.
    "within one stick": of(2, t(3, 10), t(4, 200))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[1, 30])
    ),
    "over two sticks": of(2, t(3, 50), t(4, 200))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[1, 30])
    ),
    "over many sticks": of(2, t(3, 150), t(4, 300))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[1, 30])
    ),
    "ends within": of(2, t(4, 50), t(4, 200))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[0, 64])
    ),
    "ends with the tensor": of(2, t(4, 136), t(4, 200))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[0, 64])
    ),
    "into three dims": of(2, t(2, 3, 5), t(2, 4, 70))(
        lambda x, y: b.insert_slice(x, y, static_offsets=[0, 1, 62])
    ),
    "into a transposed tensor": of(2, t(5, 3), t(70, 4))(
        lambda x, y: b.exp(
            b.insert_slice(
                b.transpose(x, permutation=[1, 0]),
                b.transpose(y, permutation=[1, 0]),
                static_offsets=[1, 3],
            )
        )
    ),
    # Concatenations whose parts end within sticks.
    "concat": of(2, t(3, 50), t(3, 70), t(3, 3))(lambda *x: b.concat(*x, dim=1)),
    "concat of one dim": of(2, t(50), t(70))(lambda *x: b.concat(*x, dim=0)),
    "concat of booleans": of(2, t(3, 64, element="i1"), t(3, 7, element="i1"))(
        lambda *x: b.concat(*x, dim=1)
    ),
    # Other shapes, whose sticks hold other cells.
    "joined": of(2, t(4, 100))(lambda x: b.exp(b.reshape(x, shape=(400,)))),
    "split": of(2, t(400))(lambda x: b.exp(b.reshape(x, shape=(4, 100)))),
    "split within": of(2, t(2, 4, 100))(lambda x: b.exp(b.reshape(x, shape=(2, 4, 5, 20)))),
    "joined within": of(2, t(2, 4, 5, 20))(lambda x: b.exp(b.reshape(x, shape=(2, 4, 100)))),
    "no dim stays": of(2, t(8, 6))(lambda x: b.exp(b.reshape(x, shape=(16, 3)))),
    "no rows stay": of(2, t(16, 10))(lambda x: b.exp(b.reshape(x, shape=(10, 16)))),
    "crossed before the stick": of(2, t(6, 10, 64))(
        lambda x: b.exp(b.reshape(x, shape=(10, 6, 64)))
    ),
    "crossed, f32": of(2, t(6, 10, 32, element="f32"))(
        lambda x: b.exp(b.reshape(x, shape=(10, 6, 32)))
    ),
    "heads": of(2, t(4, 160))(
        lambda x: b.exp(b.transpose(b.reshape(x, shape=(4, 2, 80)), permutation=[1, 0, 2]))
    ),
    "partly valid": of(2, part(4, 100, valid=(3, 100)))(
        lambda x: b.exp(b.reshape(x, shape=(4, 5, 20)))
    ),
    # Sticks turned onto dims that end within one.
    "turned": of(2, t(10, 70))(lambda x: b.exp(b.restickify(b.transpose(x, permutation=[1, 0])))),
    "turned and returned": of(2, t(10, 70))(
        lambda x: b.restickify(b.transpose(x, permutation=[1, 0]))
    ),
    "one row turned": of(2, t(1, 70))(lambda x: b.restickify(b.transpose(x, permutation=[1, 0]))),
    "partly valid, turned": of(2, part(10, 70, valid=(1, 60)))(
        lambda x: b.restickify(b.transpose(x, permutation=[1, 0]))
    ),
    "not turned": of(2, t(10, 70, element="f32"))(b.restickify),
    # Padding that begins within a stick.
    "filled": of(2, part(4, 128, valid=(3, 100)))(
        lambda x: b.exp(b.fillpad(x, pad="zero", shape=(4, 128)))
    ),
    "filled, f32": of(2, part(3, 70, valid=(2, 69), element="f32"))(
        lambda x: b.fillpad(x, pad="zero", shape=(3, 70))
    ),
    "filled and larger": of(2, t(3, 100))(lambda x: b.fillpad(x, pad="min", shape=(5, 192))),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_bundle_computes_the_program(program: Program) -> None:
    with ir.Context():
        module = program.module()
        report = check(module, cores=program.cores)
        bundle = spyre_mlir.compile(module, cores=program.cores)
    assert not validate.check(bundle.model)
    assert report.status == "same", report.as_text()
    assert all(stage.status == "same" for stage in report.stages), report.as_text()


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_regions_still_agree(program: Program) -> None:
    """The pipeline proves regions once, on the program as written: what it makes of it agrees as well."""
    early = "spyre-lower-part-ops,spyre-decompose-operations,spyre-assign-layouts"
    with ir.Context():
        module = program.module()
        passes = f"spyre-check-program,func.func({early}),spyre-verify-valid-regions"
        passmanager.run(passmanager.parse(f"builtin.module({passes})"), module.operation)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (
            of(1, t(4, 20, element="f8E4M3FN"), t(4, 256, element="f8E4M3FN"))(
                lambda x, y: b.insert_slice(x, y, static_offsets=[0, 0])
            ),
            "SPY099",
        ),
        (
            of(1, t(4, 20, element="f32"), t(4, 128, element="f32"))(
                lambda x, y: b.insert_slice(x, y, static_offsets=[0, 10])
            ),
            "SPY090: 'spyre.insert_slice' writes from element 10 of dim 1, whose sticks hold 32",
        ),
        (
            of(1, t(4, 128, element="f32"))(
                lambda x: b.exp(b.slice(x, static_offsets=[0, 10], shape=(4, 64)))
            ),
            "SPY090: 'spyre.slice' begins at element 10 of dim 1, whose sticks hold 32",
        ),
    ],
)
def test_refused(program: Program, code: str) -> None:
    """The device turns sticks of 16-bit floats only, and chooses among no 8-bit floats."""
    with ir.Context(), pytest.raises(ir.MLIRError, match=code):
        spyre_mlir.compile(program.module(), cores=1)


def test_masks_are_shared() -> None:
    """Two insertions that end at one lane read one mask."""
    program = of(1, t(4, 50), t(4, 50), t(4, 200))(
        lambda x, y, z: b.insert_slice(
            y, b.insert_slice(x, z, static_offsets=[0, 0]), static_offsets=[0, 64]
        )
    )
    with ir.Context():
        bundle = spyre_mlir.compile(program.module(), cores=1)
    functions = [sdsc.function for sdsc, _ in bundle.model.operations()]
    assert functions.count("notequal") == 1
    assert functions.count("where3") == 2


def test_masks_have_the_place_of_who_asks() -> None:
    """What refuses them said nowhere."""
    text = """func.func @f(%x: tensor<8x128xf16>,
      %y: tensor<8x128xf16, #spyre.encoding<valid_shape = [5, 37]>>) -> tensor<8x128xf16> {
      %0 = spyre.part_add %x, %y : (tensor<8x128xf16>,
        tensor<8x128xf16, #spyre.encoding<valid_shape = [5, 37]>>) -> tensor<8x128xf16>
      return %0 : tensor<8x128xf16>
    }"""
    with pytest.raises(ir.MLIRError) as caught:
        spyre_mlir.compile(text, span_limit=512)
    (found,) = caught.value.error_diagnostics
    assert "SPY040" in found.message and str(found.location) == 'loc("-":3:12)'


def test_pieces() -> None:
    assert pieces(0, 128, 64, 200, 200) == (Piece(0, 128),)
    assert pieces(64, 136, 64, 200, 200) == (Piece(64, 136),)
    assert pieces(0, 100, 64, 200, 100) == (Piece(0, 100),)
    assert pieces(0, 100, 64, 200, 200) == (Piece(0, 64), Piece(64, 64, (0, 36)))
    assert pieces(30, 10, 64, 200, 200) == (Piece(0, 64, (30, 40)),)
    assert pieces(30, 150, 64, 200, 200) == (
        Piece(0, 64, (30, 64)),
        Piece(64, 64),
        Piece(128, 64, (0, 52)),
    )
    assert pieces(130, 50, 64, 190, 190) == (Piece(128, 62, (2, 52)),)


@pytest.mark.parametrize("lanes", [4, 5])
@pytest.mark.parametrize("size", [3, 7, 8, 9])
def test_pieces_write_what_is_inserted(lanes: int, size: int) -> None:
    for held in range(1, size + 1):
        for start in range(held):
            for extent in range(1, held - start + 1):
                cells: list[int] = []
                for piece in pieces(start, extent, lanes, size, held):
                    assert piece.at % lanes == 0
                    first, last = piece.lanes or (0, piece.extent)
                    cells += range(piece.at + first, piece.at + last)
                    over = range(piece.at + piece.extent, piece.at - piece.extent % -lanes)
                    assert not [c for c in over if c < held], "whole sticks are written"
                assert cells == list(range(start, start + extent))


def test_sticks_are_turned_onto_what_wastes_least() -> None:
    assert other_stick((64, 3, 100), 2) == 0
    assert other_stick((5, 33, 100), 2) == 1
    assert other_stick((100,), 0) is None


@pytest.mark.parametrize("region", ["n, 128", "n, 100", "8 - n, 100", "8, 8 * n"])
def test_unions_with_symbolic_rows(region: str) -> None:
    """As many rows as are held, each merged within its last stick."""
    whole = "tensor<8x128xf16>"
    piece = f"tensor<8x128xf16, #spyre.encoding<valid_shape = [{region}]>>"
    text = f"""func.func @f(%n: index {{spyre.extent = "n", spyre.range = array<i64: 1, 8>}},
                            %x: {whole}, %y: {piece}) -> {whole} {{
      %0 = spyre.part_add %x, %y : ({whole}, {piece}) -> {whole}
      return %0 : {whole} }}"""
    report = check(text, cores=2)
    assert report.status == "same", report.as_text()
    assert all(stage.status == "same" for stage in report.stages), report.as_text()
