# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A few faults put in on purpose: `make mutations` puts in many."""

from __future__ import annotations

import random
from typing import Any

import mutate
import pytest
from fuzz_mutations import KINDS, changed, damaged, mutated_bundle, mutated_program


@pytest.mark.timeout(180)
def test_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz_mutations.BASES", 6)
    for make in (mutated_program, mutated_bundle):
        made = [m for m in map(make, range(60)) if m is not None]
        missed = [m for m in made if m.found is None and m.kind not in mutate.HARMLESS]
        assert len(made) > 10 and len(missed) <= 1 + len(made) // 20, missed


def test_one_figure_is_changed() -> None:
    text = "%0 = spyre.slice %x[0, 64] : (tensor<8x128xf16>) -> tensor<8x64xf16>"
    new = changed(text, KINDS["shape"], random.Random(0))
    assert new is not None and new != text
    assert changed(text, KINDS["bound"], random.Random(0)) is None


def test_the_share_of_what_is_found() -> None:
    def line(kind: str, of: str = "") -> dict[str, Any]:
        return {"seed": 1, "kind": kind, "of": of, "detail": ""}

    lines = [line("reader", "shape"), line("missed", "shape"), line("missed", "plan")]
    report = mutate.share([*lines, line("none"), line("crash")])
    assert (report["faults"], report["found"], report["share"]) == (2, 1, 0.5)
    assert report["missed"] == {"shape": 1} and report["crashed or hung"] == [1]
    assert report["same result by another way"] == {"plan": 1}


def test_damage_that_ends_the_process() -> None:
    upstream = {"seed": 0, "kind": "crash", "detail": "SmallVector.h: AttrTypeReader"}
    ours = {"seed": 1, "kind": "crash", "detail": "Segmentation fault"}
    report = mutate.damage([upstream, ours, {"seed": 2, "kind": "ok", "detail": ""}])
    assert report["kinds"] == {"crash": 1, "crash in MLIR's bytecode reader": 1, "ok": 1}
    assert report["faults"] == [ours]


def test_damaged_bytes() -> None:
    found = {damaged(b"func.func @f() { return }", random.Random(seed)) for seed in range(50)}
    assert len(found) > 40
