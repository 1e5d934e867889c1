# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic dims and masks: in the files, back from them, and what is found if they do not fit."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from corruptions import of_json, of_text

from spyre_mlir import ir
from spyre_mlir.sdsc.load import read_texts
from spyre_mlir.sdsc.model import (
    POOL,
    Axis,
    Bundle,
    Constant,
    Dim,
    Hbm,
    Loop,
    Mask,
    Operand,
    Parameter,
    PoolBuffer,
    Sdsc,
    Symbolic,
)
from spyre_mlir.sdsc.validate import check, validate_texts
from spyre_mlir.sdsc.write import files

F16 = "SEN169_FP16"


def tensor(place: Hbm, *, gap: int = 0, standing: str = "") -> Operand:
    axes = tuple(Axis(d, d != standing, gap if d == "mb" else 0) for d in ("out", "mb"))
    return Operand(axes, "out", F16, place)


ADD = Sdsc(
    "add",
    "sfp",
    (Dim("mb", 64, Symbolic("n", 8)), Dim("out", 256)),
    (tensor(Hbm(0)), tensor(Hbm(1, 512), gap=4), tensor(Hbm(POOL, 128))),
    (("mb", 4), ("out", 2)),
)
"""Rows up to 64 in granules of 8 over 4 slices; the second operand has 68 rows."""

SUM = Sdsc(
    "sum",
    "sfp",
    (Dim("mb", 64), Dim("out", 256, Symbolic("m + 1", 64))),
    (tensor(Hbm(POOL, 128)), tensor(Hbm(2), standing="out")),
    (("mb", 2), ("out", 1)),
    reads_output=True,
    constants=(Constant("samv-maskvalue", F16, 0),),
    mask=(Mask("out", 250, 63, "m + 1"),),
)

SQUARE = Sdsc(
    "ReStickifyOpHBM",
    "sfp",
    (Dim("mb", 128, Symbolic("n", 64)), Dim("out", 128, Symbolic("n", 128))),
    (
        Operand((Axis("mb"), Axis("out")), "mb", F16, Hbm(2)),
        Operand((Axis("out"), Axis("mb")), "out", F16, Hbm(3)),
    ),
    (("mb", 1), ("out", 2)),
)

POOLED = PoolBuffer(128 + 64 * 256 * 2)


def looped(sdsc: Sdsc) -> Sdsc:
    operands = tuple(
        replace(operand, place=replace(operand.place, advances=(0, 256)))
        if isinstance(operand.place, Hbm) and operand.place.buffer != POOL
        else operand
        for operand in sdsc.operands
    )
    return replace(sdsc, operands=operands)


BUNDLES = {
    "rows": Bundle((ADD,), POOLED),
    "masked": Bundle((ADD, SUM), POOLED),
    "twice": Bundle((ADD, ADD), POOLED),
    "both dims": Bundle((SQUARE, SUM), POOLED),
    "in loops": Bundle((Loop(3, (Loop(2, (looped(ADD),)), SUM)),), POOLED),
}


@pytest.mark.parametrize("bundle", BUNDLES.values(), ids=BUNDLES)
def test_reading_what_was_written_gives_the_model(bundle: Bundle) -> None:
    reading = read_texts(files(bundle))
    assert reading.findings == ()
    assert reading.bundle == bundle
    codes = {finding.code for finding in check(bundle, limit=1 << 28)}
    assert codes <= {"SPY160", "SPY164"}  # sizes of buffers are of no interest here


@pytest.mark.parametrize("bundle", BUNDLES.values(), ids=BUNDLES)
def test_the_text_is_ir(bundle: Bundle) -> None:
    with ir.Context():
        assert ir.Module.parse(files(bundle)["bundle.mlir"]).operation.verify()


def test_each_extent_is_passed_once_behind_the_arguments() -> None:
    bundle = Bundle((ADD, SUM, ADD, SQUARE), POOLED)
    assert bundle.parameters == {
        Parameter("n", 8, 64): (0, 0),
        Parameter("m + 1", 64, 256): (1, 0),
        Parameter("m + 1", 1, 250): (1, 1),
        Parameter("n", 64, 128): (3, 0),
        Parameter("n", 128, 128): (3, 1),
    }
    head = next(line for line in files(bundle)["bundle.mlir"].splitlines() if "func" in line)
    names = [part.split(":")[0] for part in head.split("%")[1:]]
    assert names[-6:] == [
        "arg_3_base_addr",
        "sym_0_0_base",
        "sym_1_0_base",
        "sym_1_1_base",
        "sym_3_0_base",
        "sym_3_1_base",
    ]
    assert "%sym_0_0_base: !sdscbundle.input_arg<index, granularity=8, max_value=64>" in head


def test_addresses_of_cores_go_with_the_extent() -> None:
    # A row is 4 sticks, 512 bytes; of a granule of 8 rows each of 4 slices gets 2 rows.
    assert ADD.core_steps(ADD.operands[0])[:6] == [
        (0, ()),
        (0, ((0, 1024),)),
        (0, ((0, 2048),)),
        (0, ((0, 3072),)),
        (256, ()),
        (256, ((0, 1024),)),
    ]
    at_most = [
        start + sum(step * (64 // 8) for _, step in steps)
        for start, steps in ADD.core_steps(ADD.operands[0])
    ]
    assert at_most == ADD.core_offsets(ADD.operands[0])
    text = files(Bundle((ADD,), POOLED))["bundle.mlir"]
    assert "affine_map<()[s0, s1] -> (s0 + 3072*(s1 floordiv 8))>" in text
    assert "affine.apply #map_0()[%arg_0, %sym_0_0]" in text


def test_the_files_name_symbols_where_extents_stand() -> None:
    top = json.loads(files(Bundle((ADD, SUM), POOLED))["sdsc_1.json"])["1_sum"]
    body = top["dscs_"][0]["sum"]
    first = min(int(symbol) for symbol in top["inputSymbolsAndTags_"])
    assert top["inputSymbolsAndTags_"] == {str(first + 1): "m + 1", str(first): "m + 1"}
    assert body["dimToSymbolMapping_"] == {"out": [first + 1]}
    assert body["coordinateMasking_"] == {"out": [[first, 63]]}
    assert body["N_"]["out_"] == 256
    stage = body["dataStageParam_"]["0"]["ss_"]
    assert stage["symbolicDimInfo_"] == {"out": {"maximum_": 256, "granularity_": 64}}
    assert (top["datadscs_"], top["symbolDefinitions_"]) == ([], {})


def edited(bundle: Bundle, name: str, old: str, new: str) -> dict[str, str]:
    texts = files(bundle)
    assert old in texts[name], texts[name]
    return {**texts, name: texts[name].replace(old, new)}


@pytest.mark.parametrize(
    ("name", "old", "new", "code"),
    [
        # another granularity than the parameter's, in one place or in all
        ("sdsc_0.json", '"granularity_": 2', '"granularity_": 4', "SPY158"),
        ("sdsc_0.json", '"granularity_": 2', '"granularity_": 3', "SPY154"),
        ("sdsc_0.json", '"maximum_": 16', '"maximum_": 8', "SPY154"),
        ("bundle.mlir", "granularity=8", "granularity=16", "SPY151"),  # granules of addresses
        ("bundle.mlir", "granularity=8, max_value=64", "granularity=8, max_value=56", "SPY158"),
        ("bundle.mlir", "granularity=64, max_value=256", "granularity=64, max_value=128", "SPY158"),
        # symbols that are missing, or are another's
        ("sdsc_0.json", '"-1": "n"', '"-9": "n"', "SPY154"),
        ("sdsc_0.json", '"dimToSymbolMapping_": {', '"dimToSymbolMaping_": {', "SPY152"),
        ("sdsc_0.json", '"symbolDefinitions_": {}', '"symbolDefinition_": {}', "SPY152"),
        ("sdsc_0.json", '"mb": [\n              -1', '"mb": [\n              -2', "SPY154"),
        ("bundle.mlir", "(%sym_0_0, %arg_0", "(%arg_0, %arg_0", "SPY158"),
        ("bundle.mlir", "(%sym_1_0, %sym_1_1", "(%sym_0_0, %sym_1_1", "SPY158"),
        ("bundle.mlir", "(%sym_1_0, %sym_1_1", "(%sym_1_1, %sym_1_0", "SPY158"),
        ("bundle.mlir", "1024*(s1 floordiv 8)", "128*(s1 floordiv 8)", "SPY156"),
        ("bundle.mlir", "value from %sym_1_0_base", "value from %sym_1_1_base", "SPY151"),
        # masks
        ("sdsc_1.json", "63\n", "62\n", "SPY158"),
    ],
)
def test_what_does_not_fit_is_found(name: str, old: str, new: str, code: str) -> None:
    findings = validate_texts(edited(Bundle((ADD, SUM), POOLED), name, old, new))
    assert code in {finding.code for finding in findings}, findings


def test_a_symbol_for_two_extents_is_found() -> None:
    """One parameter given to two operations that lay memory out for different maxima."""
    wider = replace(ADD, dims=(Dim("mb", 72, Symbolic("n", 8)), ADD.dims[1]))
    texts = files(Bundle((ADD, wider), POOLED))
    texts["bundle.mlir"] = texts["bundle.mlir"].replace("(%sym_1_0,", "(%sym_0_0,")
    findings = validate_texts(texts)
    (found,) = [finding for finding in findings if finding.code == "SPY158"]
    assert "largest value 64" in found.message
    assert "has 8 and 72" in found.message


def test_two_names_for_one_parameter_are_found() -> None:
    other = replace(ADD, dims=(Dim("mb", 64, Symbolic("k", 8)), ADD.dims[1]))
    texts = files(Bundle((ADD, other), POOLED))
    texts["bundle.mlir"] = texts["bundle.mlir"].replace("(%sym_1_0,", "(%sym_0_0,")
    assert "is n, and k as well" in str(validate_texts(texts))


@pytest.mark.parametrize(
    ("sdsc", "message"),
    [
        (replace(ADD, cut=(("mb", 16), ("out", 2))), "granules of 8 elements of 64"),
        (
            replace(ADD, dims=(ADD.dims[0], Dim("out", 256, Symbolic("k", 64)))),
            "multiple of 128: whole sticks for each of 2 slices",
        ),
        (replace(SUM, mask=(Mask("out", 250, 6),)), "both symbolic, or neither"),
        (replace(SUM, mask=(Mask("out", 190, 63, "m + 1"),)), "up to 190 valid"),
        (replace(SUM, mask=(Mask("out", 250, 63, "m"),)), "m elements of a dim of m + 1"),
    ],
)
def test_operations_that_do_not_fit_are_found(sdsc: Sdsc, message: str) -> None:
    findings = check(Bundle((sdsc,), POOLED), limit=1 << 28)
    assert any(f.code == "SPY158" and message in f.message for f in findings), findings


def test_at_least_98_of_100_corruptions_are_found() -> None:
    """As of observed bundles; the rest is in docs/sdsc.md."""
    choose = random.Random(1)
    made = found = 0
    for bundle in BUNDLES.values():
        texts = files(bundle)
        sound = set(validate_texts(texts))
        for file, text in texts.items():
            if file.endswith(".json"):
                changes = [json.dumps(new) for _, new in of_json(json.loads(text), 12, choose)]
            else:
                changes = [new for _, new in of_text(text, 20, choose)]
            for new in changes:
                if new != text:
                    made += 1
                    found += bool(set(validate_texts({**texts, file: new})) - sound)
    assert made > 150
    assert found >= 0.98 * made, f"{found} of {made}"
