# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles in the IR: what is written is read back, and the module verifies and prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from spyre_mlir import ir, opspecs
from spyre_mlir.sdsc.model import Bundle, Lx
from spyre_mlir.sdsc_attributes import read_bundle, write_bundle

DATA = Path(__file__).parents[1] / "data/sdsc"
BUNDLES = {
    str(path.parent.relative_to(DATA)): opspecs.bundle(opspecs.read(path.read_text()))
    for path in sorted(DATA.rglob("op_specs.json"))
}


def inexpressible(bundle: Bundle) -> str | None:
    """What the IR cannot say of a bundle."""
    if bundle.pool is not None and bundle.pool.bytes is None:
        return "passes the pool"
    places = [operand.place for sdsc, _ in bundle.operations() for operand in sdsc.operands]
    return "scratchpad" if any(isinstance(place, Lx) for place in places) else None


@pytest.mark.parametrize("name", BUNDLES)
def test_bundles_survive_the_ir(name: str) -> None:
    bundle = BUNDLES[name]
    reason = inexpressible(bundle)
    with ir.Context():
        if reason is not None:
            with pytest.raises(ValueError, match=reason):
                write_bundle(bundle)
            return
        module = write_bundle(bundle)
        assert module.operation.verify()
        assert read_bundle(module) == bundle
        assert read_bundle(ir.Module.parse(str(module))) == bundle


def test_most_bundles_have_a_place_in_the_ir() -> None:
    assert sum(inexpressible(bundle) is None for bundle in BUNDLES.values()) == 95
