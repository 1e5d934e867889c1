# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device function asks of its constants, mask and operands.

(Restated bundle specification; what the reference compiler was seen to write adds `useZeroMean`.
Functions that are not listed are not judged.)
"""

from __future__ import annotations

from collections.abc import Iterator

from spyre_mlir.sdsc.bundle import file_name
from spyre_mlir.sdsc.emit import MASK_CONSTANT
from spyre_mlir.sdsc.findings import Finding, Path, json_path
from spyre_mlir.sdsc.model import Bundle, Sdsc

CONSTANTS: dict[str, tuple[str, ...]] = {
    "softplus": ("softplusBeta", "softplusThresh"),
    "clip": ("clipMin", "clipMax"),
    "layernormscale": ("eps",),
    "mean": ("scaling_factor",),
    "meannonstick": ("scaling_factor",),
    "exx2": ("exx2scale", "useZeroMean"),
}
"""Function -> names of its constants, the mask's apart."""

UNLISTED = ("topk", "maskbyindex", "avgpool", "maxpool", "depthwise", "conv")
"""Functions, by their first letters, that reduce and do not list their output as an input."""


def check(bundle: Bundle) -> Iterator[Finding]:
    """Findings on every operation."""
    for index, (sdsc, _) in enumerate(bundle.operations()):
        top = f"{index}_{sdsc.function}"
        for path, message in _operation(sdsc):
            place = json_path((top, "dscs_", 0, sdsc.function, *path))
            yield Finding("SPY157", file_name(index), place, message)


def _operation(sdsc: Sdsc) -> Iterator[tuple[Path, str]]:
    yield from _constants(sdsc)
    for mask in sdsc.mask:
        extent = sdsc.extents.get(mask.dim)
        if mask.valid + mask.pad != extent:
            message = f"{mask.valid} valid and {mask.pad} padded of {extent} elements"
            yield ("coordinateMasking_", mask.dim), message
    listed = sdsc.reads_output or sdsc.function.startswith(UNLISTED)
    if sdsc.unit == "sfp" and _reduces(sdsc) and not listed:
        message = f"{sdsc.function} reduces, so it has to list its output among its inputs"
        yield ("computeOp_", 0, "inputLabeledDs"), message


def _constants(sdsc: Sdsc) -> Iterator[tuple[Path, str]]:
    names = [constant.name for constant in sdsc.constants]
    masked = [MASK_CONSTANT] if sdsc.mask else []
    expected = masked + list(CONSTANTS.get(sdsc.function, ()))
    if sdsc.function in CONSTANTS and sorted(names) != sorted(expected):
        message = f"constants [{', '.join(names)}], expected [{', '.join(expected)}]"
        yield ("constantInfo_",), message
    elif names.count(MASK_CONSTANT) != len(masked):
        yield (
            ("constantInfo_",),
            f"the constant {MASK_CONSTANT} stands once exactly where a mask is",
        )
    for index, constant in enumerate(sdsc.constants):
        if constant.format != sdsc.operands[0].format:
            message = f"expected the format of the first operand, {sdsc.operands[0].format}"
            yield ("constantInfo_", str(index), "dataFormat_"), message


def _reduces(sdsc: Sdsc) -> bool:
    """Whether an input runs over a dim along which the output stands still."""
    running = {axis.dim for axis in sdsc.operands[-1].axes if axis.iterates}
    return any(
        axis.iterates and axis.dim not in running
        for operand in sdsc.operands[:-1]
        for axis in operand.axes
    )
