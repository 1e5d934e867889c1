# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and the formats in which the device stores them.

Element types are strings in MLIR spelling ("f16"). The formats are those of the device's type list;
a stick of 128 bytes holds 128 / bytes elements."""

from __future__ import annotations

from dataclasses import dataclass

from spyre_mlir.hardware import STICK_BYTES


@dataclass(frozen=True, slots=True)
class Format:
    """A device format: its name in the SDSC and the bytes of one element."""

    name: str
    bytes: int

    @property
    def elements_per_stick(self) -> int:
        """Elements in the 128 bytes of a stick."""
        return STICK_BYTES // self.bytes


FORMATS: dict[str, Format] = {
    name: Format(name, bytes)
    for name, bytes in (
        ("SEN169_FP16", 2),
        ("IEEE_FP32", 4),
        ("SEN143_FP8", 1),
        ("SEN152_FP8", 1),
        ("SENINT8", 1),
        ("SENINT16", 2),
        ("IEEE_INT32", 4),
        ("SENUINT32", 4),
    )
}

_DEVICE: dict[str, tuple[str, int]] = {
    # element: (device format, bytes on the host)
    "f16": ("SEN169_FP16", 2),
    "bf16": ("SEN169_FP16", 2),
    "i1": ("SEN169_FP16", 1),
    "f32": ("IEEE_FP32", 4),
    "i32": ("IEEE_INT32", 4),
    "i64": ("IEEE_INT32", 8),
    "f8E4M3FN": ("SEN143_FP8", 1),
    "f8E5M2FNUZ": ("SEN152_FP8", 1),
    "i8": ("SENINT8", 1),
    "i16": ("SENINT16", 2),
    "ui8": ("SENUINT32", 1),
}
"""Facts of the device's storage: bf16 and booleans are kept as 16-bit floats, 64-bit integers as
32-bit ones."""

ELEMENTS: tuple[str, ...] = tuple(_DEVICE)
"""Every element type that has a device format."""


def device_format(element: str) -> Format:
    """The format in which elements of this type are stored. KeyError for a type the device does not
    store."""
    return FORMATS[_DEVICE[element][0]]


def host_bytes(element: str) -> int:
    """Bytes of one element on the host."""
    return _DEVICE[element][1]
