# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JSON Schema of an SDSC, `schema.json` beside this module, compiled once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from spyre_mlir.sdsc.findings import Path


@cache
def schema() -> dict[str, Any]:
    """The schema, JSON Schema 2020-12."""
    text = files("spyre_mlir.sdsc").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _validator() -> Any:
    # The validator is a compiled module that only those need who check a file.
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema())


def is_valid(document: Any) -> bool:
    """Whether a document follows the schema."""
    return bool(_validator().is_valid(document))


def violations(document: Any) -> Iterator[tuple[Path, str]]:
    """Paths and messages of everything in a document that the schema refuses."""
    if is_valid(document):
        return
    for error in _validator().iter_errors(document):
        message = error.message
        yield tuple(error.instance_path), message if len(message) <= 160 else f"{message[:157]}..."
