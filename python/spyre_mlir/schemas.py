# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What MLIR is told about a pass or a pipeline: plain tuples of strings.

They are made from the classes by `spyre_mlir.passmanager` and kept by `spyre_mlir.registry`, which
must start fast: hence no dataclasses here.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class OptionSchema(NamedTuple):
    """One option. `grammar` is `bool`, `int`, `float`, `string` or the admitted words with `|`
    between them; `defaults` has one text, or any number if `is_list`."""

    name: str
    help: str
    grammar: str
    is_list: bool
    defaults: tuple[str, ...]


class Schema(NamedTuple):
    """One pass (`is_pipeline` false) or pipeline; `class_name` is to be found in `module`."""

    argument: str
    module: str
    class_name: str
    is_pipeline: bool
    description: str
    anchor: str
    options: tuple[OptionSchema, ...]
    statistics: tuple[tuple[str, str], ...]
    dependent_dialects: tuple[str, ...]
    requires: tuple[str, ...]
    provides: tuple[str, ...]
    checks_options: bool

    def plain(self) -> tuple[Any, ...]:
        """The same without classes of ours, for `marshal`."""
        plain = tuple(tuple(option) for option in self.options)
        return tuple(self._replace(options=plain))  # type: ignore[arg-type]

    @staticmethod
    def from_plain(values: tuple[Any, ...]) -> Schema:
        schema = Schema(*values)
        return schema._replace(options=tuple(OptionSchema(*option) for option in schema.options))
