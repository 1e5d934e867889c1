# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The value of an extent expression: the interpreter's own reading, independent of the prover's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spyre_mlir.diagnostics import Refusal

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_.$]*)|(.))")


class _Reader:
    """Recursive descent over sums, products, calls and atoms, evaluating as it goes."""

    def __init__(self, text: str, symbols: Mapping[str, int]) -> None:
        self.text = text
        self.symbols = symbols
        self.tokens = [m.group(m.lastindex or 0) for m in _TOKEN.finditer(text) if m.lastindex]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if not token or (expected is not None and token != expected):
            raise ValueError(f"extent {self.text!r} cannot be read at {token!r}")
        self.at += 1
        return token

    def sum(self) -> int:
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            value += sign * self.product()
        return value

    def product(self) -> int:
        value = self.atom()
        while self.peek() in ("*", "floordiv", "ceildiv", "mod"):
            operator, right = self.take(), self.atom()
            if operator == "*":
                value *= right
            elif right <= 0:
                raise ValueError(f"extent {self.text!r} divides by {right}")
            elif operator == "floordiv":
                value //= right
            else:
                value = -(-value // right) if operator == "ceildiv" else value % right
        return value

    def atom(self) -> int:
        token = self.take()
        if token == "-":
            return -self.atom()
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token.isdigit():
            return int(token)
        if token in ("min", "max"):
            return self.call(token)
        if token not in self.symbols:
            raise Refusal("SPY134", f"symbol {token} in the extent {self.text} has no value")
        return self.symbols[token]

    def call(self, name: str) -> int:
        self.take("(")
        values = [self.sum()]
        while self.peek() == ",":
            self.take()
            values.append(self.sum())
        self.take(")")
        return min(values) if name == "min" else max(values)


def evaluate_extent(extent: int | str, symbols: Mapping[str, int]) -> int:
    """The number that `extent` (a literal or an expression's text) is under `symbols`.

    Raises `Refusal` SPY134 for a symbol without a value, ValueError for text that is no extent."""
    if isinstance(extent, int):
        return extent
    reader = _Reader(extent, symbols)
    value = reader.sum()
    if reader.peek():
        raise ValueError(f"extent {extent!r} cannot be read at {reader.peek()!r}")
    return value
