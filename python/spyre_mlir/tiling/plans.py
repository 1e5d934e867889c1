# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile plans as values: `#spyre.tile_plan` and its levels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import Literal

Kind = Literal["parallel", "reduction"]
Origin = Literal["auto", "hint"]


@dataclass(frozen=True, slots=True)
class Level:
    """One loop of a plan: `count` full tiles of `size` along one dim, then one of `remainder` if
    that is not 0.

    `parallel(d)` cuts dim d of the result's shape, `reduction(k)` the k-th reduction dim of the
    operation. A hint may name its dim, and may leave the size out (0): both are resolved where the
    operation is known. Sizes in elements."""

    kind: Kind
    dim: int | str
    count: int
    size: int = 0
    remainder: int = 0

    def __post_init__(self) -> None:
        if self.count < 1 or self.size < 0 or self.remainder < 0:
            raise ValueError(f"a level has at least one tile and no negative size: {self}")
        if self.remainder and self.remainder >= self.size:
            raise ValueError(f"a remainder is smaller than a tile: {self}")

    @property
    def tiles(self) -> int:
        """Tiles that run, the remainder included: what the cost counts."""
        return self.count + (1 if self.remainder else 0)

    @property
    def extent(self) -> int:
        """Elements that the level covers."""
        return self.count * self.size + self.remainder

    def __str__(self) -> str:
        text = f"{self.kind}({self.dim}) {self.count}"
        if self.size:
            text += f" x {self.size}"
        return text + (f" + {self.remainder}" if self.remainder else "")


@dataclass(frozen=True, slots=True)
class TilePlan:
    """How an operation is divided: levels outer to inner. Operations of one `group` share their
    loops. `proved`: the search showed that nothing that it prefers as much is cheaper."""

    levels: tuple[Level, ...]
    origin: Origin = "auto"
    group: int = 0
    reason: str | None = None
    proved: bool = field(default=True, compare=False)

    @property
    def tiles(self) -> int:
        """Tiles that run in all."""
        return prod(level.tiles for level in self.levels)

    def __str__(self) -> str:
        levels = ", ".join(map(str, self.levels))
        reason = f', reason = "{self.reason}"' if self.reason else ""
        return (
            f"#spyre.tile_plan<origin = {self.origin}, group = {self.group}, "
            f"levels = [{levels}]{reason}>"
        )


_LEVEL = re.compile(
    r"(?P<kind>parallel|reduction)\((?P<dim>\w+)\)\s+(?P<count>\d+)"
    r"(?:\s*x\s*(?P<size>\d+)(?:\s*\+\s*(?P<remainder>\d+))?)?"
)
_PLAN = re.compile(
    r"#spyre\.tile_plan<\s*origin\s*=\s*(auto|hint)\s*,\s*group\s*=\s*(\d+)\s*,"
    r'\s*levels\s*=\s*\[(.*?)\]\s*(?:,\s*reason\s*=\s*"(.*)"\s*)?>'
)


def parse_level(text: str) -> Level:
    """Reads `parallel(1) 5 x 1639`, `reduction(0) 2 x 64 + 22`, `parallel(h) 5`. ValueError for
    anything else."""
    found = _LEVEL.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not a tile level: {text!r}")
    dim = found["dim"]
    kind: Kind = "parallel" if found["kind"] == "parallel" else "reduction"
    return Level(
        kind,
        int(dim) if dim.isdigit() else dim,
        int(found["count"]),
        int(found["size"] or 0),
        int(found["remainder"] or 0),
    )


def parse_plan(text: str) -> TilePlan:
    """Reads the text of the attribute, as `str` writes it. ValueError for anything else."""
    found = _PLAN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not a tile plan: {text!r}")
    levels = tuple(parse_level(level) for level in found[3].split(",") if level.strip())
    return TilePlan(levels, "hint" if found[1] == "hint" else "auto", int(found[2]), found[4])
