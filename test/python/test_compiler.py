# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From programs in the dialect to bundles, against those that the reference compiler was seen to write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden_programs import AUGUST, JULY, Program, linear, of, scalar, t

import spyre_mlir
from spyre_mlir import builders as b
from spyre_mlir import ir
from spyre_mlir.compiler import Bundle
from spyre_mlir.optable import OPS
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


def flat(
    nodes: Iterable[model.Sdsc | model.Loop], trips: tuple[int, ...] = ()
) -> list[tuple[tuple[int, ...], model.Sdsc]]:
    """(trips of the loops around, operation), in order."""
    found = []
    for node in nodes:
        if isinstance(node, model.Loop):
            found += flat(node.body, (*trips, node.trips))
        else:
            found.append((trips, node))
    return found


def launches(nodes: Iterable[model.Sdsc | model.Loop]) -> list[model.Sdsc]:
    """The operations in order, arguments numbered by first use, without provenance."""
    return numbered([sdsc for _, sdsc in flat(nodes)])


def numbered(sdscs: list[model.Sdsc]) -> list[model.Sdsc]:
    numbers: dict[Any, Any] = {model.POOL: model.POOL}
    found = []
    for node in sdscs:
        operands = []
        for operand in node.operands:
            place = operand.place
            if isinstance(place, model.Hbm):
                number = numbers.setdefault(place.buffer, len(numbers) - 1)
                place = replace(place, buffer=number)
            operands.append(replace(operand, place=place))
        found.append(replace(node, operands=tuple(operands), provenance=None))
    return found


def written_in_place(
    steps: list[tuple[tuple[int, ...], model.Sdsc]],
) -> list[tuple[tuple[int, ...], model.Sdsc]]:
    """Without the copies of tiles: what is computed into a tile is written where that is copied."""
    found: list[tuple[tuple[int, ...], model.Sdsc]] = []
    for trips, sdsc in steps:
        copies = trips and sdsc.function == "identity" and found
        if copies and found[-1][1].operands[-1].place == sdsc.operands[0].place:
            _, before = found.pop()
            *read, tile = before.operands
            gaps = {axis.dim: axis.gap for axis in sdsc.operands[-1].axes}
            if len(sdsc.dims) == len(before.dims):
                axes = tuple(replace(axis, gap=gaps[axis.dim]) for axis in tile.axes)
                tile = replace(tile, axes=axes)
            sdsc = replace(before, operands=(*read, replace(tile, place=sdsc.operands[-1].place)))
        found.append((trips, sdsc))
    return found


def gapless(sdsc: model.Sdsc) -> model.Sdsc:
    """A reduction whose result's gaps are not compared: the copy of its tile names other dims."""
    if not sdsc.function.endswith("nonstick"):
        return sdsc
    *read, result = sdsc.operands
    axes = tuple(replace(axis, gap=0) for axis in result.axes)
    return replace(sdsc, operands=(*read, replace(result, axes=axes)))


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
    elif difference in ("arguments pool", "pool passed"):
        assert_files_equal(bundle, folder, text=False)
        assert [trips for trips, _ in flat(bundle.model.body)] == [
            trips for trips, _ in flat(load(folder).body)
        ]
    elif difference == "repeated restickify":
        assert ours == once(observed)
    elif difference == "transposed result":
        assert ours[:-1] == observed[:-1]
        assert ours[-1].function == observed[-1].function
    elif difference == "reshaped operand":
        (number,) = [n for n, (a, b) in enumerate(zip(ours, observed, strict=True)) if a != b]
        assert [dim.extent for dim in ours[number].dims][:2] == [4, 2]
        assert [dim.extent for dim in observed[number].dims][:1] == [8]
    elif difference == "copied tiles":
        steps = written_in_place(flat(load(folder).body))
        assert [trips for trips, _ in flat(bundle.model.body)] == [trips for trips, _ in steps]
        observed = numbered([sdsc for _, sdsc in steps])
        assert list(map(gapless, ours)) == list(map(gapless, observed))
    else:
        assert difference in ("scratchpad", "scratchpad division")
        observed = [
            sdsc
            for sdsc in observed
            if sdsc.function not in ("identity", "shuffle")
            or not isinstance(sdsc.operands[-1].place, model.Lx)
        ]
        ours, observed = placeless(ours, observed), placeless(observed, observed)
        if difference == "scratchpad division":
            (number,) = [n for n, (a, b) in enumerate(zip(ours, observed, strict=True)) if a != b]
            ours[number] = replace(ours[number], cut=observed[number].cut)
        assert ours == observed


@pytest.mark.parametrize(("folder", "program"), CASES)
def test_observed(folder: Path, program: Program) -> None:
    bundle = compiled(program)
    assert not validate.check(bundle.model)
    if program.differs:
        assert_equal_but_for(bundle, folder, program.differs)
    else:
        assert_files_equal(bundle, folder, text=True)


REFUSED = {
    "fmod": "SPY096",
    "rem": "SPY096",
    "and": "SPY096",
    "or": "SPY096",
    "xor": "SPY096",
    "shl": "SPY096",
    "shr": "SPY096",
    "cmp_packed": "SPY096",
    "selects": "SPY096",
    "sin": "SPY096",
    "cos": "SPY096",
    "not": "SPY096",
    "argmax": "SPY096",
    "argmin": "SPY096",
    "topk": "SPY096",
    "gather": "SPY096",
    "scatter": "SPY096",
    "sort": "SPY096",
    "iota": "SPY096",
    "slice": "SPY021",
    "insert_slice": "SPY021",
    "empty": "SPY095",
    "extent": "SPY095",
}
"""Operation -> why its example in the operation table does not compile: no device function; those of slice and
insert_slice start where no loop says."""


@pytest.mark.parametrize("name", OPS)
def test_every_operation_compiles_or_says_why(name: str) -> None:
    text = OPS[name].example.function(name)
    if name in REFUSED:
        with pytest.raises(Exception, match=REFUSED[name]):
            spyre_mlir.compile(text, cores=4)
    else:
        assert not validate.check(spyre_mlir.compile(text, cores=4).model)


def functions(program: Program) -> list[str]:
    bundle = compiled(program)
    assert not validate.check(bundle.model)
    return [sdsc.function for sdsc, _ in bundle.model.operations()]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        # A weight that two products read is turned once.
        (
            of(4, t(256, 128), t(64, 128), t(32, 128))(
                lambda w, x, y: (linear(x, w), linear(y, w))
            ),
            ["ReStickifyOpHBM", "batchmatmul", "batchmatmul"],
        ),
        # What is read as it lies is not turned.
        (
            of(4, t(128, 256))(lambda x: b.exp(b.transpose(x, permutation=[1, 0]))),
            ["exp"],
        ),
        # Dims that end within a stick are turned in whole sticks, from and into a buffer that has them.
        (
            of(4, t(100, 70), t(40, 70))(lambda w, x: linear(x, w)),
            ["identity", "identity", "ReStickifyOpHBM", "identity", "batchmatmul"],
        ),
        (
            of(4, t(64, 128, element="i1"), t(64, 128, element="i1"))(
                lambda x, y: b.build("and", x, y)
            ),
            ["mul"],
        ),
        (
            of(4, t(64, 64), t(64, 64))(lambda x, y: b.concat(x, y, dim=1)),
            ["identity", "identity"],
        ),
        (of(4, t(8, 128))(lambda x: b.addsc(x, scalar(1.0), x)), ["add", "add"]),
        (of(4, t(64, 64), t(64, 64), t(64, 64))(b.matmul_acc), ["batchmatmul", "add"]),
        (
            of(4, t(64, 128))(lambda x: b.topk(x, k=4, dim=1, element="f16")[1]),
            ["ReStickifyOpHBM", "topkindex"],
        ),
        (
            of(4, t(64, 128), t(128))(
                lambda x, w: b.mul(
                    x, b.rsqrt(b.add(b.mean(b.mul(x, x), dims=[1], keep_dims=True), scalar(1e-5)))
                )
            ),
            ["mul", "mean", "add", "rsqrt", "mul"],
        ),
    ],
)
def test_functions(program: Program, expected: list[str]) -> None:
    assert functions(program) == expected


@pytest.mark.parametrize(
    ("program", "code", "words"),
    [
        (
            of(1, t(64, 128), t(64))(lambda x, y: b.add(b.sum(x, dims=[1]), y)),
            "SPY098",
            "one value a stick",
        ),
        (
            of(1, *[t(4, n, element="f8E4M3FN") for n in (16, 256)])(
                lambda x, y: b.insert_slice(x, y, static_offsets=[0, 0])
            ),
            "SPY099",
            "writes elements 0 to 16 of dim 1",
        ),
        (
            of(1, t(64, 64, element="f32"), t(64, 64, element="f32"))(
                lambda x, y: b.add(x, b.transpose(y, permutation=[1, 0]))
            ),
            "SPY096",
            "cast to f16 before restickify",
        ),
        (
            of(1, *[t(64, 64, element="f32")] * 2)(b.batch_matmul),
            "SPY096",
            "cast the factors to f16",
        ),
        (
            of(1, t(4, 128, element="f32"))(
                lambda x: b.exp(b.slice(x, static_offsets=[0, 16], shape=(4, 64)))
            ),
            "SPY090",
            "moves cells of f32 in whole sticks only",
        ),
    ],
)
def test_refused(program: Program, code: str, words: str) -> None:
    with pytest.raises(ir.MLIRError) as caught:
        compiled(program)
    assert code in str(caught.value)
    assert words in str(caught.value)


def test_regions_that_agree_by_declared_ranges_are_decomposed() -> None:
    part = "tensor<8x64xf16, #spyre.encoding<valid_shape = [n, 64]>>"
    whole = "tensor<8x64xf16>"
    text = f"""func.func @f(%n: index {{spyre.extent = "n", spyre.range = array<i64: 8, 8>}},
                            %x: {whole}, %y: {part}, %z: {whole}) -> {whole} {{
      %0 = spyre.addc %x, %y, %z : ({whole}, {part}, {whole}) -> {whole}
      return %0 : {whole} }}"""
    bundle = spyre_mlir.compile(text, cores=2)
    assert [sdsc.function for sdsc, _ in bundle.model.operations()] == ["add", "add"]


def test_scalars_are_parameters_behind_those_of_the_user() -> None:
    bundle = compiled(AUGUST["addscalar3_8x16x128_8core"])
    assert bundle.constants == {1: 2.0, 2: 3.0}


def test_equal_scalars_share_a_parameter() -> None:
    program = of(4, t(4, 64))(lambda x: b.add(b.mul(x, scalar(2.0)), scalar(2.0)))
    assert compiled(program).constants == {1: 2.0}


def test_a_loop_reads_through_a_view() -> None:
    """Tiles of a transposed operand start where the transposed dim does."""
    shape = "tensor<64x1024xf16>"
    text = f"""func.func @f(%x: tensor<1024x64xf16>) -> {shape} {{
      %0 = spyre.transpose %x {{permutation = [1, 0]}} : (tensor<1024x64xf16>) -> {shape}
      %1 = spyre.restickify %0 : ({shape}) -> {shape}
      return %1 : {shape} }}"""
    bundle = spyre_mlir.compile(text, cores=1, span_limit=32768)
    assert not validate.check(bundle.model, limit=32768)
    (loop,) = bundle.model.body
    assert isinstance(loop, model.Loop)
