# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and their device formats."""

from __future__ import annotations

import pytest

from spyre_mlir.formats import ELEMENTS, FORMATS, device_format, host_bytes

TABLE = {
    "f16": ("SEN169_FP16", 64, 2, 2),
    "bf16": ("SEN169_FP16", 64, 2, 2),
    "i1": ("SEN169_FP16", 64, 2, 1),
    "f32": ("IEEE_FP32", 32, 4, 4),
    "i32": ("IEEE_INT32", 32, 4, 4),
    "i64": ("IEEE_INT32", 32, 4, 8),
    "f8E4M3FN": ("SEN143_FP8", 128, 1, 1),
    "f8E5M2FNUZ": ("SEN152_FP8", 128, 1, 1),
    "i8": ("SENINT8", 128, 1, 1),
    "i16": ("SENINT16", 64, 2, 2),
    "ui8": ("SENUINT32", 32, 4, 1),
}


def test_the_table_of_formats() -> None:
    assert tuple(TABLE) == tuple(sorted(ELEMENTS, key=list(TABLE).index))
    for element, (name, lanes, device, host) in TABLE.items():
        found = device_format(element)
        assert (found.name, found.elements_per_stick, found.bytes) == (name, lanes, device)
        assert host_bytes(element) == host
        assert FORMATS[name] is found


def test_a_type_that_is_not_stored() -> None:
    with pytest.raises(KeyError):
        device_format("f64")
