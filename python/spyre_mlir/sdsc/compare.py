# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where two JSON values differ: the check of a file against what its own facts say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from spyre_mlir.sdsc.findings import Path


def differences(found: Any, expected: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Paths and messages of all places where `found` is not `expected`, types and key order
    included."""
    if type(found) is not type(expected):
        yield path, f"expected {_short(expected)}, found {_short(found)}"
    elif isinstance(found, dict):
        for key in expected:
            if key not in found:
                yield path, f"expected a key {key!r}"
            else:
                yield from differences(found[key], expected[key], (*path, key))
        for key in found:
            if key not in expected:
                yield (*path, key), "not expected here"
        if found.keys() == expected.keys() and list(found) != list(expected):
            yield path, f"expected the order {', '.join(expected)}; found {', '.join(found)}"
    elif isinstance(found, list):
        if len(found) != len(expected):
            yield path, f"expected {len(expected)} entries, found {len(found)}"
        for index, (left, right) in enumerate(zip(found, expected, strict=False)):
            yield from differences(left, right, (*path, index))
    elif found != expected:
        yield path, f"expected {_short(expected)}, found {_short(found)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
