# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single-field corruptions of a bundle's files, each with its kind and the field it damages."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LABELS = ("mb", "x", "y", "i", "j", "ki", "kj", "out", "in")
OTHER = {
    "OUTPUT": "KERNEL",
    "KERNEL": "INPUT",
    "INPUT": "OUTPUT",
    "SEN169_FP16": "IEEE_FP32",
    "IEEE_FP32": "SEN169_FP16",
    "SEN143_FP8": "SEN169_FP16",
    "hbm": "lx",
    "lx": "hbm",
    "pt": "sfp",
    "sfp": "pt",
}


@dataclass(frozen=True, slots=True)
class Corruption:
    """What was done: kind and the names on the way to the field, without indices and core
    numbers."""

    kind: str
    field: str


def _field(path: tuple[str | int, ...]) -> str:
    names = [str(part) for part in path if not isinstance(part, int)]
    names = [name for name in names if not re.match(r"-?\d|\[", name)]
    return "/".join("<dim>" if name.rstrip("_") in LABELS else name for name in names[-3:])


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _replaced(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    _at(changed, path[:-1])[path[-1]] = value
    return changed


def _numbers(value: int, choose: random.Random) -> int:
    return choose.choice([n for n in (value + 1, value - 1, value * 2, 0, 64) if n != value])


def _swap_keys(node: dict[str, Any], choose: random.Random) -> dict[str, Any] | None:
    keys = list(node)
    pairs = [(a, b) for a in keys for b in keys if a < b and node[a] != node[b]]
    if not pairs:
        return None
    left, right = choose.choice(pairs)
    names = {left: right, right: left}
    return {names.get(key, key): inner for key, inner in node.items()}


def _of_value(value: Any, choose: random.Random) -> Iterator[tuple[str, Any]]:
    """Kind and new value, for corruptions that replace a value."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield "wrong number", _numbers(value, choose)
        yield "wrong type", str(value)
    elif isinstance(value, str):
        if re.fullmatch(r"-?\d+", value):
            yield "wrong number", str(_numbers(int(value), choose))
        elif value in LABELS:
            yield "swapped label", choose.choice([label for label in LABELS if label != value])
        elif value in OTHER:
            yield "swapped label", OTHER[value]
        elif match := re.fullmatch(r"(.*?)(\d+)(\D*)", value):
            yield "wrong number", f"{match[1]}{_numbers(int(match[2]), choose)}{match[3]}"
        yield "misspelt", value + "x"
    elif isinstance(value, dict) and value:
        key = choose.choice(list(value))
        yield "missing key", {k: v for k, v in value.items() if k != key}
        yield "misspelt key", {(k + "x" if k == key else k): v for k, v in value.items()}
        swapped = _swap_keys(value, choose)
        if swapped is not None:
            yield "swapped label", swapped
    elif isinstance(value, list) and value:
        index = choose.randrange(len(value))
        yield "missing entry", value[:index] + value[index + 1 :]
        yield "duplicated entry", value[: index + 1] + value[index:]
        if len(value) > 1 and value[index] != value[index - 1]:
            duplicated = list(value)
            duplicated[index] = value[index - 1]
            yield "duplicated id", duplicated


def of_json(document: Any, count: int, choose: random.Random) -> Iterator[tuple[Corruption, Any]]:
    """`count` corruptions of a document, provenance apart, evenly over its values."""
    every = [path for path in _paths(document) if "debug_handle_" not in path and path]
    for path in choose.sample(every, min(count, len(every))):
        changes = list(_of_value(_at(document, path), choose))
        if changes:
            kind, value = choose.choice(changes)
            yield Corruption(kind, _field(path)), _replaced(document, path, value)


_NUMBER = re.compile(r"(?<![\w%#.])-?\d+")
_NAME = re.compile(r"%[\w]+")


def of_text(text: str, count: int, choose: random.Random) -> Iterator[tuple[Corruption, str]]:
    """`count` corruptions of a `bundle.mlir`: numbers, names, lines and ids."""
    numbers, names = list(_NUMBER.finditer(text)), list(_NAME.finditer(text))
    known = sorted({match.group() for match in names})
    lines = text.splitlines(keepends=True)
    for _ in range(count):
        kind = choose.choice(
            ["wrong number", "wrong number", "swapped name", "missing line", "duplicated id"]
        )
        if kind == "wrong number":
            match = choose.choice(numbers)
            value = str(_numbers(int(match.group()), choose))
        elif kind == "swapped name":
            match = choose.choice(names)
            value = choose.choice([name for name in known if name != match.group()])
        elif kind == "missing line":
            index = choose.randrange(len(lines))
            rest = "".join(lines[:index] + lines[index + 1 :])
            yield Corruption(kind, _operation(lines[index])), rest
            continue
        else:
            lists = list(re.finditer(r"\[(-\d+), (-\d+)", text))
            if not lists:
                continue
            match = choose.choice(lists)
            value = f"[{match[1]}, {match[1]}"
        line = text[text.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0]
        changed = text[: match.start()] + value + text[match.end() :]
        yield Corruption(kind, _operation(line)), changed


def _operation(line: str) -> str:
    found = re.search(r"affine_map|func\.func|[a-z]+\.[a-z_]+|return|module|}", line)
    role = re.search(r"%(c0|c1|loop_bound|pool)", line)
    return (found.group() if found else "") + (f" {role.group()}" if role else "")
