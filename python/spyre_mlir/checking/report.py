# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came of a check, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["same", "differs", "not run"]


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage: the program after a pass (level "tensor" or "device"), or its bundle.

    `detail` says how it differs, or why it was not run."""

    name: str
    level: str
    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first stage that means something else, and the smallest input found on which it does.

    `inputs` describes each array: its shape, element type, how many cells are not zero, and the
    first of them."""

    stage: str
    level: str
    detail: str
    seed: int
    symbols: dict[str, int]
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Addresses:
    """What was proved of the addresses of the bundle at full size; `faults` is empty if all hold."""

    operations: int
    writes: int
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scaling:
    """The smaller program whose values were checked in the place of a large one.

    `extents` maps each extent that was made smaller; `structure` says whether the same operations
    stand in the same loops, remainders included."""

    extents: dict[int, int]
    span_limit: int
    structure: bool
    elements: int


@dataclass(frozen=True, slots=True)
class Report:
    """The whole check of one function."""

    function: str
    seeds: int
    stages: tuple[StageReport, ...]
    fault: Fault | None = None
    scaling: Scaling | None = None
    addresses: Addresses | None = None

    @property
    def status(self) -> Status:
        """ "differs" if any stage or address does, "not run" if nothing was compared, else "same"."""
        if self.fault is not None or (self.addresses is not None and self.addresses.faults):
            return "differs"
        ran = any(stage.status == "same" for stage in self.stages)
        return "same" if ran else "not run"

    def as_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {"status": self.status, **asdict(self)}

    def as_text(self) -> str:
        """The report for people, one line per stage."""
        lines = []
        if self.scaling is not None:
            lines.append(_scaled(self.scaling))
        for stage in self.stages:
            detail = f": {stage.detail}" if stage.detail else ""
            lines.append(f"{stage.status:<8} {stage.level:<6} {stage.name}{detail}")
        if self.addresses is not None:
            lines += [f"differs  addresses: {fault}" for fault in self.addresses.faults]
            if not self.addresses.faults:
                lines.append(
                    f"proved   addresses of {self.addresses.operations} operations at full size"
                )
        if self.fault is not None:
            lines.append(f"the first pass that changed the meaning: {self.fault.stage}")
            lines.append(f"smallest input found (seed {self.fault.seed}):")
            lines += [f"  {name} = {value}" for name, value in self.fault.symbols.items()]
            lines += [f"  {text}" for text in self.fault.inputs]
        lines.append(f"@{self.function}: {self.status} ({self.seeds} seeds)")
        return "\n".join(lines) + "\n"


def _scaled(scaling: Scaling) -> str:
    extents = ", ".join(f"{old} -> {new}" for old, new in scaling.extents.items())
    loops = "the same loops" if scaling.structure else "other loops"
    return (
        f"values are checked on a smaller program: extents {extents}, span limit"
        f" {scaling.span_limit} bytes, {loops}"
    )
