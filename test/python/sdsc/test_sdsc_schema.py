# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shipped JSON Schema: valid itself, strict, and told apart from `spyre_mlir`'s own code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from observed import FOLDERS, name

from spyre_mlir.formats import FORMATS
from spyre_mlir.sdsc.model import LABELS
from spyre_mlir.sdsc.schema import is_valid, schema, violations


def test_the_schema_is_one() -> None:
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(schema())


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_observed_files_follow_it(folder: Path) -> None:
    for file in folder.glob("sdsc_*.json"):
        assert list(violations(json.loads(file.read_text()))) == []


def objects(node: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of an object, with its path."""
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield path, node
        for key, inner in node.items():
            yield from objects(inner, f"{path}/{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from objects(inner, f"{path}/{index}")


def test_no_object_takes_keys_that_it_does_not_name() -> None:
    for path, node in objects(schema()):
        closed = node.get("additionalProperties") is False or node.get("maxProperties") == 0
        assert closed, path


def test_labels_and_formats_are_those_of_the_model() -> None:
    assert schema()["$defs"]["label"]["enum"] == list(LABELS)
    assert schema()["$defs"]["format"]["enum"] == list(FORMATS)


def test_a_violation_names_its_path() -> None:
    document = json.loads((FOLDERS[0] / "sdsc_0.json").read_text())
    (top,) = document
    document[top]["numCoresUsed_"] = True
    assert not is_valid(document)
    assert [path for path, _ in violations(document)] == [(top, "numCoresUsed_")]
