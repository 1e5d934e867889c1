# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings: what is wrong with a bundle, where, under which code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spyre_mlir.diagnostics import CODES

Path = tuple[str | int, ...]
"""Keys and indices from the top of a JSON document."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a bundle: code, file name, place and message.

    `place` is a JSON path (`$["0_add"].dscs_[0]`) in a JSON file, `line:column` in a text, empty
    where the whole file is meant."""

    code: str
    file: str
    place: str
    message: str

    def __post_init__(self) -> None:
        assert self.code in CODES, f"finding code {self.code} is not in the table"

    def __str__(self) -> str:
        at = f"{self.file}:{self.place}" if self.place else self.file
        return f"{at}: {self.code}: {self.message}"

    def to_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return {
            "code": self.code,
            "file": self.file,
            "place": self.place,
            "message": self.message,
        }


class Fault(Exception):
    """Raised while facts are taken out of a document: where it contradicts itself."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def json_path(path: Sequence[str | int]) -> str:
    """The JSON path of keys and indices from the top."""
    parts = ["$"]
    for key in path:
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif re.fullmatch(r"[A-Za-z_]\w*", key):
            parts.append(f".{key}")
        else:
            parts.append(f'["{key}"]')
    return "".join(parts)
