# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `validate` finds, and that it finds nothing where nothing is wrong."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from corruptions import of_json, of_text
from observed import FOLDERS, name, texts

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import CORES, LOOP_TRIPS_MAX, LX_BYTES
from spyre_mlir.sdsc.load import load
from spyre_mlir.sdsc.model import (
    Axis,
    Bundle,
    Constant,
    Dim,
    Hbm,
    Loop,
    Lx,
    Mask,
    Operand,
    PoolBuffer,
    Sdsc,
)
from spyre_mlir.sdsc.validate import check, run, validate, validate_texts
from spyre_mlir.sdsc.write import files

F16 = "SEN169_FP16"


def unary(
    source: Hbm | Lx, target: Hbm | Lx, *, rows: int = 128, gap: int = 0, cores: int = 4
) -> Sdsc:
    """`exp` of `rows` x 256 f16 elements, with a gap behind the rows."""
    axes = (Axis("out"), Axis("mb", gap=gap))
    return Sdsc(
        function="exp",
        unit="sfp",
        dims=(Dim("mb", rows), Dim("out", 256)),
        operands=(Operand(axes, "out", F16, source), Operand(axes, "out", F16, target)),
        cut=(("mb", cores), ("out", 1)),
    )


def codes(bundle: Bundle, **options: int) -> set[str]:
    """Codes found on a model."""
    return {finding.code for finding in check(bundle, **options)}


SOUND = Bundle((unary(Hbm(0), Hbm("pool")), unary(Hbm("pool"), Hbm(1))), PoolBuffer(128 * 256 * 2))


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_nothing_is_found_on_an_observed_bundle(folder: Path) -> None:
    assert validate(folder) == []


def test_nothing_is_found_on_a_sound_bundle() -> None:
    assert check(SOUND) == []
    assert validate_texts(files(SOUND)) == []


def test_at_least_98_of_100_corruptions_are_found() -> None:
    """Three corruptions of every third observed file, with a fixed seed; the rest is in
    docs/sdsc.md."""
    choose = random.Random(20260730)
    made = found = 0
    for folder in FOLDERS[::3]:
        observed = texts(folder)
        for file, text in observed.items():
            if file.endswith(".json"):
                changes = [json.dumps(new) for _, new in of_json(json.loads(text), 3, choose)]
            else:
                changes = [new for _, new in of_text(text, 6, choose)]
            for new in changes:
                if new != text:
                    made += 1
                    found += bool(validate_texts({**observed, file: new}))
    assert made > 400
    assert found >= 0.98 * made, f"{found} of {made}"


def test_paths_and_figures_are_named() -> None:
    broken = files(SOUND)
    document = json.loads(broken["sdsc_1.json"])
    document["1_exp"]["dscs_"][0]["exp"]["scheduleTree_"][0]["layoutDimOrder_"] = ["mb", "out"]
    broken["sdsc_1.json"] = json.dumps(document)
    (first, *_) = validate_texts(broken)
    assert first.code == "SPY154"
    assert first.file == "sdsc_1.json"
    assert first.place.startswith('$["1_exp"].dscs_[0].exp.')


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("numCoresUsed_", "4", "SPY152"),
        ("numCoresUsed", 4, "SPY152"),
        ("numCoresUsed_", 2, "SPY154"),
        ("coreIdToDsc_", {"0": 0, "1": 0, "2": 0}, "SPY154"),
    ],
)
def test_a_wrong_field_has_its_code(key: str, value: object, code: str) -> None:
    broken = files(SOUND)
    document = json.loads(broken["sdsc_0.json"])
    document["0_exp"][key] = value
    broken["sdsc_0.json"] = json.dumps(document)
    assert code in {finding.code for finding in validate_texts(broken)}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("arith.constant 16384 : index", "arith.constant 16512 : index", "SPY156"),
        ('symbol_ids"=[-1, -2,', 'symbol_ids"=[-1, -1,', "SPY155"),
        ('symbol_ids"=[-1, -2,', 'symbol_ids"=[-1, 2,', "SPY155"),
        ('"sdsc_1.json"', '"sdsc_0.json"', "SPY153"),
        ("arith.addi %pool,", "arith.addi %nothing,", "SPY151"),
        ("allocate 65536", "allocate 65408", "SPY160"),
        ("allocate 65536", "allocate 65664", "SPY164"),
    ],
)
def test_a_wrong_text_has_its_code(old: str, new: str, code: str) -> None:
    broken = files(SOUND)
    assert old in broken["bundle.mlir"]
    broken["bundle.mlir"] = broken["bundle.mlir"].replace(old, new, 1)
    assert code in {finding.code for finding in validate_texts(broken)}


def test_files_and_executions_have_to_match() -> None:
    missing = files(SOUND)
    del missing["sdsc_1.json"]
    assert [(f.code, f.file) for f in validate_texts(missing)] == [("SPY150", "sdsc_1.json")]
    extra = {**files(SOUND), "sdsc_2.json": files(SOUND)["sdsc_1.json"]}
    assert [(f.code, f.file) for f in validate_texts(extra)] == [("SPY153", "sdsc_2.json")]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"a": 1, "a": 1}', "NaN", '{"0_exp": {}}', "[" * 100000]
)
def test_a_file_that_is_no_sdsc_is_a_finding(text: str) -> None:
    found = validate_texts({**files(SOUND), "sdsc_0.json": text})
    assert {f.code for f in found if f.file == "sdsc_0.json"} <= {"SPY150", "SPY152"}
    assert found


def test_one_broken_operation_does_not_hide_another() -> None:
    broken = files(SOUND)
    broken["sdsc_0.json"] = "{}"
    document = json.loads(broken["sdsc_1.json"])
    document["1_exp"]["numCoresUsed_"] = 5
    broken["sdsc_1.json"] = json.dumps(document)
    assert {f.file for f in validate_texts(broken)} == {"sdsc_0.json", "sdsc_1.json"}


def test_addresses_lie_in_their_buffers() -> None:
    below = Bundle((unary(Hbm(0, -128), Hbm(1)),))
    behind = Bundle((unary(Hbm(0, 128), Hbm(1)),))
    off_the_stick = Bundle((unary(Hbm(0), Hbm(1, 64), gap=1),))
    no_pool = Bundle((unary(Hbm(0), Hbm("pool")),))
    for bundle in (below, behind, off_the_stick, no_pool):
        assert codes(bundle) == {"SPY160"}


def test_the_worst_trip_counts() -> None:
    """Four tiles of 32 rows fill 128; a fifth lies behind them, three leave some out."""

    def tiles(trips: int) -> Bundle:
        step = (32 * 512,)
        tile = unary(Hbm(0, 0, step), Hbm(1, 0, step), rows=32, gap=96)
        return Bundle((Loop(trips, (tile,)),))

    assert codes(tiles(4)) == set()
    assert codes(tiles(5)) == {"SPY160"}
    assert codes(tiles(3)) == {"SPY164"}


def test_spans_are_those_of_one_core() -> None:
    """512 rows of 256 f16 are 262144 bytes; along the rows one of 4 cores spans a quarter."""
    bundle = Bundle((unary(Hbm(0), Hbm(1), rows=512),))
    assert codes(bundle, limit=65536) == set()
    found = check(bundle, limit=65535)
    assert [finding.code for finding in found] == ["SPY161"] * 2
    assert "65536 bytes along mb" in found[0].message
    assert "1 bytes over the limit of 65535" in found[0].message


def test_a_span_ends_where_the_last_step_does() -> None:
    """A core has 8 of 128 rows: 3 steps of 128 rows along the columns, and 8 rows of the last."""
    tile = unary(Hbm(0, 0, (4096,)), Hbm(1, 0, (4096,)), rows=32, gap=96)
    turned = tuple(replace(o, axes=o.axes[::-1]) for o in tile.operands)
    bundle = Bundle((Loop(4, (replace(tile, operands=turned),)),))
    span = 3 * 128 * 128 + 8 * 128
    assert codes(bundle, limit=span) == set()
    found = check(bundle, limit=span - 1)
    assert [finding.code for finding in found] == ["SPY161"] * 2
    assert f"{span} bytes along out" in found[0].message


def test_loops_cores_and_scratchpad_have_their_limits() -> None:
    tile = unary(Hbm(0), Hbm(1))
    assert codes(Bundle((Loop(LOOP_TRIPS_MAX, (tile,)),))) == set()
    assert codes(Bundle((Loop(LOOP_TRIPS_MAX + 1, (tile,)),))) == {"SPY162"}
    assert codes(Bundle((Loop(0, (tile,)),))) == {"SPY162"}
    assert codes(Bundle((unary(Hbm(0), Hbm(1), cores=2 * CORES),))) == {"SPY163"}
    last = LX_BYTES - 128 * 256 * 2 // 4
    assert codes(Bundle((unary(Hbm(0), Lx(last)),))) == set()
    assert codes(Bundle((unary(Hbm(0), Lx(last + 128)),))) == {"SPY163"}


def test_functions_have_their_constants_masks_and_inputs() -> None:
    clip = replace(unary(Hbm(0), Hbm(1)), function="clip")
    low, high = Constant("clipMin", F16, 0), Constant("clipMax", F16, 1)
    assert codes(Bundle((replace(clip, constants=(low, high)),))) == set()
    assert codes(Bundle((replace(clip, constants=(low, low)),))) == {"SPY157"}
    assert codes(Bundle((clip,))) == {"SPY157"}
    in_f32 = replace(low, format="IEEE_FP32")
    assert codes(Bundle((replace(clip, constants=(in_f32, high)),))) == {"SPY157"}
    masked = replace(unary(Hbm(0), Hbm(1)), mask=(Mask("out", 200, 56),))
    value = Constant("samv-maskvalue", F16, 0)
    assert codes(Bundle((replace(masked, constants=(value,)),))) == set()
    assert codes(Bundle((masked,))) == {"SPY157"}
    short = replace(masked, constants=(value,), mask=(Mask("out", 200, 55),))
    assert codes(Bundle((short,))) == {"SPY157"}
    standing = (Axis("out", iterates=False), Axis("mb"))
    source, target = masked.operands
    reduced = replace(
        masked,
        function="max",
        constants=(value,),
        operands=(source, replace(target, axes=standing)),
    )
    assert codes(Bundle((replace(reduced, reads_output=True),))) == set()
    assert codes(Bundle((reduced,))) == {"SPY157"}


def test_a_folder_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    assert [f.code for f in validate(tmp_path / "nowhere")] == ["SPY150"]
    assert [f.code for f in validate(tmp_path)] == ["SPY150"]
    (tmp_path / "bundle.mlir").write_bytes(b"\xff")
    assert [(f.code, f.message) for f in validate(tmp_path)] == [
        ("SPY150", "cannot be read: it is not UTF-8")
    ]


def test_run_prints_text_or_json(tmp_path: Path) -> None:
    output = io.StringIO()
    assert run(FOLDERS[0], "json", output=output) == 0
    assert json.loads(output.getvalue())["sound"] is True
    (tmp_path / "bundle.mlir").write_text("module {")
    output = io.StringIO()
    assert run(tmp_path, "json", output=output) == 1
    (finding,) = json.loads(output.getvalue())["findings"]
    assert finding == {
        "code": "SPY151",
        "file": "bundle.mlir",
        "place": "1:9",
        "message": "expected 'func.func', found 'the end of the text'",
    }
    output = io.StringIO()
    assert run(tmp_path, output=output) == 1
    assert output.getvalue().splitlines() == [
        "bundle.mlir:1:9: SPY151: expected 'func.func', found 'the end of the text'",
        f"{tmp_path}: 1 finding",
    ]


def test_load_refuses_with_the_findings_as_notes(tmp_path: Path) -> None:
    (tmp_path / "bundle.mlir").write_text("module {")
    with pytest.raises(Refusal) as refused:
        load(tmp_path)
    assert refused.value.code == "SPY150"
    assert "SPY151" in refused.value.notes[0].message
