# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a bundle folder is sound: `validate` finds everything, `run` prints it.

Checks, in this order: files readable; the text of `bundle.mlir`; each SDSC against the JSON Schema;
everything that the files say more than once (`spyre_mlir.sdsc.load`); functions and their
constants; addresses, spans, loops and cores.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.sdsc.findings import Finding
from spyre_mlir.sdsc.load import Reading, read, read_texts
from spyre_mlir.sdsc.model import Bundle
from spyre_mlir.sdsc.validate import functions, memory

__all__ = ["Finding", "check", "run", "validate", "validate_texts"]


def check(bundle: Bundle, *, limit: int = SPAN_LIMIT_BYTES) -> list[Finding]:
    """Findings on a bundle as a model: functions, addresses, spans over `limit` bytes, loops,
    cores."""
    return [*functions.check(bundle), *memory.check(bundle, limit=limit)]


def validate(path: str | os.PathLike[str], *, limit: int = SPAN_LIMIT_BYTES) -> list[Finding]:
    """All findings on the bundle in a folder; none if it is sound. Never raises on bad content."""
    return _findings(read(path), limit)


def validate_texts(texts: Mapping[str, str], *, limit: int = SPAN_LIMIT_BYTES) -> list[Finding]:
    """The same for files in memory, name -> text."""
    return _findings(read_texts(texts), limit)


def _findings(reading: Reading, limit: int) -> list[Finding]:
    findings = list(reading.findings)
    if reading.bundle is not None:
        findings += check(reading.bundle, limit=limit)
    return findings


def run(path: str | os.PathLike[str], format: str = "text", *, output: TextIO | None = None) -> int:
    """Print the findings on a folder, as text or as one JSON object. Returns 1 if there are any,
    else 0."""
    output = sys.stdout if output is None else output
    findings = validate(path)
    if format == "json":
        result = {
            "bundle": os.fspath(path),
            "sound": not findings,
            "findings": [finding.to_json() for finding in findings],
        }
        print(json.dumps(result, indent=2), file=output)
    else:
        for finding in findings:
            print(finding, file=output)
        count = len(findings)
        verdict = "sound" if not count else f"{count} finding{'s' if count > 1 else ''}"
        print(f"{os.fspath(path)}: {verdict}", file=output)
    return 1 if findings else 0
