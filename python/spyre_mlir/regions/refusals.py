# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refusals of the valid-region rules, with what they are about as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.extents import Extent
from spyre_mlir.prover import Answer


class RegionRefusal(Refusal):
    """A refusal of codes SPY070 to SPY089.

    `dim`, `labels` and `extents` say which dim of which operands disagree and how; `verdict` is
    what the prover answered on the relation that was needed (`never` means that no value of the
    symbols helps)."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        notes: tuple[Note | str, ...] = (),
        remedy: str | None = None,
        dim: int | None = None,
        labels: tuple[str, ...] = (),
        extents: tuple[Extent, ...] = (),
        verdict: str = "never",
    ) -> None:
        super().__init__(code, message, notes=notes, remedy=remedy)
        self.dim = dim
        self.labels = labels
        self.extents = extents
        self.verdict = verdict


def spelled(region: Iterable[Extent]) -> str:
    """A region or a shape as the dialect writes it: `[8, min(n, 64)]`."""
    return f"[{', '.join(map(str, region))}]"


def replaced(region: Sequence[Extent], dim: int, extent: Extent) -> tuple[Extent, ...]:
    """The region with another extent at `dim`."""
    return (*region[:dim], extent, *region[dim + 1 :])


def counterexample(answer: Answer, relation: str) -> tuple[str, ...]:
    """A note with values of the symbols under which `relation` fails, if they are known."""
    if answer.verdict == "always":
        return ()
    if answer.verdict == "never" and not any(map(str.isalpha, relation)):
        return ()  # of two literals there is nothing to add
    if answer.verdict == "never":
        return (f"no values of the symbols give {relation}",)
    if answer.verdict == "undecided":
        return (f"{relation} can be neither proved nor disproved: it multiplies symbols",)
    values = ", ".join(f"{name} = {value}" for name, value in answer.counterexample)
    good = ", ".join(f"{name} = {value}" for name, value in answer.witness)
    return (f"{relation} fails for {values}; it holds for {good}",)
