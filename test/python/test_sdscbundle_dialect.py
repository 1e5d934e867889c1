# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect `sdscbundle` reads every observed bundle, and prints what it has read."""

from __future__ import annotations

from pathlib import Path

import pytest

from spyre_mlir import ir, opspecs
from spyre_mlir.sdsc.bundle import BUNDLE_FILE
from spyre_mlir.sdsc.write import files
from spyre_mlir.sdsc_attributes import read_bundle, write_bundle

DATA = Path(__file__).parents[1] / "data/sdsc"
BUNDLES = sorted(DATA.rglob("bundle.mlir"))
ROUND_TRIPS = {
    "text": lambda module: ir.Module.parse(str(module)),
    "generic": lambda module: ir.Module.parse(module.operation.get_asm(print_generic_op_form=True)),
    "bytecode": lambda module: ir.Module.parse(bytecode(module)),
}


def bytecode(module: ir.Module) -> bytes:
    """A module in MLIR's binary form."""
    from io import BytesIO

    out = BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


def structure(module: ir.Module) -> list[object]:
    """Everything that a module says, names of values and places left out: per operation its name,
    operands by where they are defined, attributes and types."""
    numbers: dict[ir.Value, int] = {}

    def values(found: object) -> tuple[int, ...]:
        return tuple(numbers.setdefault(value, len(numbers)) for value in found)  # type: ignore[attr-defined]

    def visit(op: ir.Operation) -> list[object]:
        said: list[object] = [
            op.name,
            values(op.operands),
            tuple((name, str(op.attributes[name])) for name in sorted(op.attributes.keys())),
            values(op.results),
            tuple(str(result.type) for result in op.results),
        ]
        for region in op.regions:
            for block in region.blocks:
                types = [str(argument.type) for argument in block.arguments]
                inner = [visit(child.operation) for child in block.operations]
                said.append((values(block.arguments), types, inner))
        return said

    return visit(module.operation)


def test_all_observed_bundles_are_read() -> None:
    assert len(BUNDLES) == 130


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: str(p.parent.relative_to(DATA)))
def test_an_observed_bundle_round_trips(path: Path) -> None:
    with ir.Context():
        module = ir.Module.parse(path.read_text())
        assert module.operation.verify()
        executions = str(module).count("sdscbundle.sdsc_execute")
        assert executions == path.read_text().count("sdscbundle.sdsc_execute") > 0
        for name, again in ROUND_TRIPS.items():
            assert structure(again(module)) == structure(module), name


@pytest.mark.parametrize(
    "path", sorted(DATA.rglob("op_specs.json")), ids=lambda p: str(p.parent.relative_to(DATA))
)
def test_our_bundles_are_read(path: Path) -> None:
    """What the bundle writer writes, and the structured operations it writes from."""
    bundle = opspecs.bundle(opspecs.read(path.read_text()))
    with ir.Context():
        assert ir.Module.parse(files(bundle)[BUNDLE_FILE]).operation.verify()
        try:
            lowered = write_bundle(bundle)
        except ValueError:  # scratchpad, or a pool that is passed: test_sdsc_attributes counts them
            return
        for name, again in ROUND_TRIPS.items():
            copy = again(lowered)
            assert structure(copy) == structure(lowered), name
            assert read_bundle(copy) == bundle, name


def test_a_difference_is_seen() -> None:
    """The comparison itself: another symbol id, operand or stride is another structure."""
    text = (DATA / "aug/so_add_1x8195x256x64/bundle.mlir").read_text()
    changes = [("-20]", "-21]"), ("53706752*d0", "53706751*d0"), ("(%addr_0,", "(%addr_1,")]
    with ir.Context():
        whole = structure(ir.Module.parse(text))
        for old, new in changes:
            assert old in text
            assert structure(ir.Module.parse(text.replace(old, new))) != whole
