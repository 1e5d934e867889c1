# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of passes and pipelines: dataclass fields that can be written as text.

A field may be a `bool`, `int`, `float`, `str`, an `Enum`, a `Literal` of strings, or a
`tuple[T, ...]` of one of these. On the command line `span_limit` is spelled `span-limit`, an enum
member `HEAD_ROOM` is spelled `head-room`, and a tuple is spelled `{1,2,3}`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from spyre_mlir.schemas import OptionSchema

T = TypeVar("T")

_GRAMMARS = {bool: "bool", int: "int", float: "float", str: "string"}


def option(default: T, *, help: str) -> T:
    """Declares an option: `limit: int = option(4096, help="largest span, in bytes")`."""
    field: T = dataclasses.field(default=default, metadata={"help": help})
    return field


def check_range(owner: object, field: str, *, least: int, most: int = 2**63 - 1) -> None:
    """Raises ValueError if the integer option `field` of a pass lies outside its range; for `__post_init__`."""
    value = getattr(owner, field)
    if not least <= value <= most:
        bounds = f"at least {least}" if most == 2**63 - 1 else f"from {least} to {most}"
        raise ValueError(f"option '{field.replace('_', '-')}' is {value}; it must be {bounds}")


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a pass class: its schema, and the way between its value and texts."""

    field: str
    schema: OptionSchema
    to_text: Callable[[Any], str]
    from_text: Callable[[str], Any]

    def decode(self, texts: tuple[str, ...]) -> Any:
        """The value of the field, from canonical texts (one, or one per element)."""
        values = tuple(self.from_text(text) for text in texts)
        return values if self.schema.is_list else values[0]

    def encode(self, value: Any) -> tuple[str, ...]:
        """The reverse of `decode`."""
        return tuple(self.to_text(v) for v in (value if self.schema.is_list else (value,)))


def options_of(cls: type) -> tuple[Option, ...]:
    """The options of a dataclass, in the order of its fields.

    Raises TypeError for a field without `option(...)` or of a type that cannot be an option."""
    found = _options.get(cls)
    if found is None:
        found = _options[cls] = _read_options(cls)
    return found


_options: dict[type, tuple[Option, ...]] = {}
"""What was read already: reading annotations takes time."""


def _read_options(cls: type) -> tuple[Option, ...]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__qualname__} is not a dataclass")
    types = get_type_hints(cls)
    return tuple(_option(cls, field, types[field.name]) for field in dataclasses.fields(cls))


def _option(cls: type, field: dataclasses.Field[Any], annotation: Any) -> Option:
    place = f"{cls.__qualname__}.{field.name}"
    if "help" not in field.metadata or field.default is dataclasses.MISSING:
        raise TypeError(f'{place} is declared without option(default, help="...")')
    is_list = get_origin(annotation) is tuple
    if is_list:
        element, *rest = get_args(annotation)
        if rest != [...]:
            raise TypeError(f"{place}: a list option is a tuple[T, ...], not {annotation}")
        annotation = element
    grammar, to_text, from_text = _codec(place, annotation)
    name = field.name.rstrip("_").replace("_", "-")
    schema = OptionSchema(name, field.metadata["help"], grammar, is_list, ())
    result = Option(field.name, schema, to_text, from_text)
    defaults = result.encode(field.default)
    return dataclasses.replace(result, schema=schema._replace(defaults=defaults))


def _codec(place: str, annotation: Any) -> tuple[str, Callable[[Any], str], Callable[[str], Any]]:
    """(grammar, value to text, text to value) of one value."""
    if annotation is bool:
        return "bool", lambda value: "true" if value else "false", lambda text: text == "true"
    if annotation in _GRAMMARS:
        return _GRAMMARS[annotation], str, annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        members = {member.name.lower().replace("_", "-"): member for member in annotation}
        words = {member: word for word, member in members.items()}
        return _words(place, members), words.__getitem__, members.__getitem__
    if get_origin(annotation) is Literal and all(isinstance(w, str) for w in get_args(annotation)):
        return _words(place, get_args(annotation)), str, str
    raise TypeError(f"{place}: {annotation} cannot be an option; see spyre_mlir.options")


def _words(place: str, words: Any) -> str:
    grammar = "|".join(words)
    if grammar in _GRAMMARS.values():
        raise TypeError(f"{place}: a single choice must not be called {grammar}")
    return grammar
