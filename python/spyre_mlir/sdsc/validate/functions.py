# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device function asks of its constants, mask, symbolic dims and operands.

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
        for code, faults in (("SPY157", _operation(sdsc)), ("SPY158", _symbolic(sdsc))):
            for path, message in faults:
                place = json_path((top, "dscs_", 0, sdsc.function, *path))
                yield Finding(code, file_name(index), place, message)


def _operation(sdsc: Sdsc) -> Iterator[tuple[Path, str]]:
    yield from _constants(sdsc)
    for mask in sdsc.mask:
        extent = sdsc.extents.get(mask.dim)
        if mask.tag is None and mask.valid + mask.pad != extent:
            message = f"{mask.valid} valid and {mask.pad} padded of {extent} elements"
            yield ("coordinateMasking_", mask.dim), message
    listed = sdsc.reads_output or sdsc.function.startswith(UNLISTED)
    if sdsc.unit == "sfp" and _reduces(sdsc) and not listed:
        message = f"{sdsc.function} reduces, so it has to list its output among its inputs"
        yield ("computeOp_", 0, "inputLabeledDs"), message


def _symbolic(sdsc: Sdsc) -> Iterator[tuple[Path, str]]:
    """A granule is whole sticks for every core and divides the largest extent; what is masked lies
    in the last one."""
    counts = dict(sdsc.cut)
    dims = {dim.label: dim for dim in sdsc.dims if dim.symbolic is not None}
    for label, dim in dims.items():
        assert dim.symbolic is not None
        place = ("dataStageParam_", "0", "ss_", "symbolicDimInfo_", label)
        share = counts.get(label, 1) * _width(sdsc, label)
        granularity = dim.symbolic.granularity
        if granularity < 1 or dim.extent % granularity or granularity % share:
            message = (
                f"granules of {granularity} elements of {dim.extent}, expected a divisor of that "
                f"and a multiple of {share}: whole sticks for each of {counts.get(label, 1)} slices"
            )
            yield place, message
    for mask in sdsc.mask:
        masked = dims.get(mask.dim)
        symbolic = None if masked is None else masked.symbolic
        if (mask.tag is None) != (symbolic is None):
            yield (
                ("coordinateMasking_", mask.dim),
                "a dim and its mask are both symbolic, or neither",
            )
        elif masked is not None and symbolic is not None:
            behind = masked.extent - mask.valid
            if mask.pad != symbolic.granularity - 1 or not 0 <= behind < symbolic.granularity:
                message = (
                    f"up to {mask.valid} valid and {mask.pad} padded elements, expected up to "
                    f"{masked.extent} and {symbolic.granularity - 1}"
                )
                yield ("coordinateMasking_", mask.dim), message
            if mask.tag != symbolic.tag:
                message = f"{mask.tag} elements of a dim of {symbolic.tag} are valid"
                yield ("coordinateMasking_", mask.dim), message


def _width(sdsc: Sdsc, label: str) -> int:
    """Elements of the widest stick that runs along a dim, 1 where none does."""
    widths = [
        operand.storage.elements_per_stick
        for operand in sdsc.operands
        for axis in operand.axes
        if axis.iterates and axis.dim == operand.stick == label
    ]
    return max(widths, default=1)


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
