# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles in the IR: what is written is read back, and the module verifies and prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from spyre_mlir import ir, opspecs
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
    Sdsc,
    Symbolic,
)
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


def symbolic(granularity: int) -> Sdsc:
    """A masked sum over elements that the caller counts."""
    axes = (Axis("out"), Axis("mb"))
    return Sdsc(
        "sum",
        "sfp",
        (Dim("mb", 64, Symbolic("n", granularity)), Dim("out", 128, Symbolic("m + 1", 64))),
        (
            Operand(axes, "out", "SEN169_FP16", Hbm(0)),
            Operand((Axis("out", False), Axis("mb")), "out", "SEN169_FP16", Hbm(1)),
        ),
        (("mb", 4), ("out", 1)),
        reads_output=True,
        constants=(Constant("samv-maskvalue", "SEN169_FP16", 0),),
        mask=(Mask("out", 100, 63, "m + 1"),),
    )


def test_symbolic_dims_survive_the_ir() -> None:
    bundle = Bundle((symbolic(8), Loop(2, (symbolic(16), symbolic(8)))))
    with ir.Context():
        module = write_bundle(bundle)
        assert module.operation.verify()
        assert read_bundle(module) == bundle
        text = str(module)
        assert read_bundle(ir.Module.parse(text)) == bundle
        types = [parameter.type for parameter in bundle.parameters]
        assert len(types) == 4
        assert text.index(types[0]) < text.index(types[1]) < text.index(types[3])
        with pytest.raises(ValueError, match="takes the extents"):
            read_bundle(ir.Module.parse(text.replace("max_value=100", "max_value=101")))
