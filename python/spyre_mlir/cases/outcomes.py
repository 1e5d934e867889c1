# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a case handler hands back, and what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Case = Mapping[str, Any]
"""One observed case, as read from its file."""

Handler = Callable[[Case], Any]
"""Runs a case: an `Outcome`, or just what came out, to be compared with the case's `expected`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was expected and what came out, both in a form in which they compare equal.

    `beside` are further fields of the line, such as what the default policy answers."""

    expected: Any
    got: Any
    reason: str | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    in_scope: bool = True

    @property
    def status(self) -> Literal["equal", "differs", "out-of-scope"]:
        """The verdict, by comparison."""
        if not self.in_scope:
            return "out-of-scope"
        return "equal" if self.expected == self.got else "differs"


class OutOfScope(Exception):
    """Raised by a handler for a case that its module's list of exclusions names."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Cases that are out of scope: a predicate on their fields, by name, and why."""

    name: str
    applies: Callable[[Case], bool]
    reason: str


def check_scope(case: Case, exclusions: tuple[Exclusion, ...]) -> None:
    """Raises `OutOfScope` with the reason of the first exclusion that applies."""
    for exclusion in exclusions:
        if exclusion.applies(case):
            raise OutOfScope(exclusion.reason)
