# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bundle appears in its folder complete, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed import FOLDERS

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.sdsc.load import load
from spyre_mlir.sdsc.model import Axis, Bundle, Constant, Dim, Hbm, Operand, Sdsc
from spyre_mlir.sdsc.write import files, write

BUNDLE = load(FOLDERS[0])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(BUNDLE, tmp_path / "deep" / "bundle", extra={"constants.json": "[]\n"})
    assert load(tmp_path / "deep" / "bundle") == BUNDLE
    assert (tmp_path / "deep" / "bundle" / "constants.json").read_text() == "[]\n"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["bundle"]


def test_the_same_bundle_gives_the_same_bytes(tmp_path: Path) -> None:
    write(BUNDLE, tmp_path / "a")
    write(load(tmp_path / "a"), tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_an_empty_folder_is_filled_and_a_bundle_replaced_on_request(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    write(BUNDLE, tmp_path / "a")
    with pytest.raises(Refusal, match="SPY170") as refused:
        write(BUNDLE, tmp_path / "a")
    assert refused.value.remedy is not None
    larger = next(bundle for bundle in map(load, FOLDERS) if len(files(bundle)) > 3)
    write(larger, tmp_path / "a", replace=True)
    assert load(tmp_path / "a") == larger
    write(BUNDLE, tmp_path / "a", replace=True)
    assert set(contents(tmp_path / "a")) == set(files(BUNDLE))


@pytest.mark.parametrize("replace", [False, True])
def test_other_files_are_never_touched(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("")
    for target in ("a", "file"):
        before = contents(tmp_path)
        with pytest.raises(Refusal, match="SPY170"):
            write(BUNDLE, tmp_path / target, replace=replace)
        assert contents(tmp_path) == before


def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(BUNDLE, tmp_path / "a")
    before = contents(tmp_path)
    original = Path.write_text

    def full(self: Path, text: str, **options: str) -> int:
        if self.name == "sdsc_0.json":
            raise OSError(28, "No space left on device")
        return original(self, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    for target in ("a", "b"):
        with pytest.raises(OSError, match="No space"):
            write(BUNDLE, tmp_path / target, replace=True)
        assert contents(tmp_path) == before
        assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_interrupted_replacement_brings_the_old_bundle_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(BUNDLE, tmp_path / "a")
    before = contents(tmp_path)
    original = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return original(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(OSError, match="Input/output"):
        write(BUNDLE, tmp_path / "a", replace=True)
    assert contents(tmp_path) == before


def copy(rows: int, *, constants: tuple[Constant, ...] = ()) -> Bundle:
    """`identity` of `rows` x 64 f16 elements."""
    axes = (Axis("out"), Axis("mb"))
    return Bundle(
        (
            Sdsc(
                function="identity",
                unit="sfp",
                dims=(Dim("mb", rows), Dim("out", 64)),
                operands=tuple(Operand(axes, "out", "SEN169_FP16", Hbm(k)) for k in range(2)),
                cut=(("mb", 1), ("out", 1)),
                constants=constants,
            ),
        )
    )


def test_a_bundle_over_the_span_limit_is_not_written(tmp_path: Path) -> None:
    """2097120 rows of 128 bytes are the limit of 65535 * 4096 bytes exactly; one more is over
    it."""
    write(copy(2097120), tmp_path / "a")
    with pytest.raises(Refusal, match="SPY161"):
        write(copy(2097121), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_bundle_that_breaks_the_schema_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="SPY152"):
        write(copy(8, constants=(Constant("no name", "SEN169_FP16", 0),)), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
