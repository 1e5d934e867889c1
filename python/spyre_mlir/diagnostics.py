# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refusals: what the compiler says when it will not compile something.

Every refusal carries a stable code from `CODES`. A pass turns a `Refusal` into an error at the operation, with one note
per cause; a command line prints it. The table is the only place where codes are given out.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

CODES: dict[str, str] = {
    # 001-019: dialect, symbols and function boundaries
    # 001-010 are told by the verifiers and parsers of the dialects, in C++
    "SPY001": "a device layout that contradicts itself",
    "SPY002": "an extent that is no expression, or not in normal form",
    "SPY003": "an encoding that says nothing, or contradicts itself",
    "SPY004": "a tile plan that contradicts itself, or asks for more tiles than a loop counts",
    "SPY005": "a work division that cuts a dim into less than one part",
    "SPY006": "a place in memory with a buffer number or an offset below zero",
    "SPY007": "a layout that does not fit the tensor it is given for",
    "SPY008": "valid extents that do not fit the shape of their tensor",
    "SPY009": "an attribute of the dialect where it has no meaning, or with a value of another kind",
    "SPY010": "a parameter of a bundle that is no index, or whose largest value is no multiple of its granularity",
    "SPY011": "an argument or a result of a function whose encoding does not fit its shape",
    "SPY012": "a symbol that is introduced twice",
    "SPY013": "a result that is valid over a symbol which no caller knows",
    "SPY014": "a call that passes another value for a symbol",
    "SPY015": "a symbol that is used and not introduced",
    # 020-039: layouts and accesses
    "SPY020": "a device dim steps by no multiple of a host stride",
    "SPY021": "a loop bound or an offset is not a constant or an induction variable",
    "SPY022": "an index depends on a symbol that is not iterated",
    "SPY023": "memory is walked backwards",
    "SPY024": "an indirect access has no device coordinates",
    "SPY025": "an index does not fall on the coordinates of its layout",
    "SPY026": "an access leaves its buffer",
    "SPY027": "a shape, dim order or element type that no device layout holds",
    "SPY028": "a layout that cannot be cut to a tile",
    # 040-069: planner, groups and tiling
    "SPY040": "no tiling brings every span within the limit",
    "SPY041": "a span could only be brought within the limit by cutting a symbolic dim",
    "SPY042": "a span could only be brought within the limit by cutting a reduction dim",
    "SPY044": "the search for a plan exceeded its budget",
    "SPY045": "a hint that does not fit its operation, or leaves a span over the limit",
    "SPY046": "a plan divides a reduced range whose parts cannot be combined",
    "SPY047": "a span could only be brought within the limit by cutting a dim that loaded positions index",
    "SPY050": "policy seed: an operation reads a buffer of a loop that is already closed",
    "SPY051": "a tiled operation reads a producer that a hint tiles, and not in full size",
    "SPY052": "a tiled operation reads what another loop makes, and not in full size",
    "SPY060": "policy seed: more dims overflow than it tiles",
    "SPY061": "policy seed: no combination of its splits fits",
    "SPY062": "policy seed: the range of an overflowing dim cannot be split",
    # 070-089: valid regions
    "SPY070": "shapes of operands or results that do not fit an operation",
    "SPY071": "a valid region that does not fit its tensor",
    "SPY072": "operands that do not provably agree on a valid extent",
    "SPY073": "a replicated cell that is not provably valid",
    "SPY074": "a union of regions in which no operand is provably the widest",
    "SPY075": "a union of regions that is no box",
    "SPY076": "too few valid cells to reduce or to choose from",
    "SPY077": "an operand that does not provably hold what is read of it",
    "SPY078": "a window that leaves its tensor",
    "SPY079": "a region that depends on a value no type can name",
    "SPY080": "a region that is no box under another shape",
    "SPY081": "cells written outside the destination's region",
    "SPY082": "a region that is not provably narrower",
    "SPY084": "a product that is not provably inside its accumulator's region",
    "SPY085": "a concatenation with a hole",
    "SPY086": "a partly valid tensor in an operation that has no rule",
    "SPY087": "two types of one value that do not meet",
    "SPY088": "a type that is not what the rule of its operation gives",
    # 090-109: lowering
    "SPY090": "a stick or a device dim is not read as one symbol after another",
    "SPY091": "a boundary of a coordinate does not divide what it cuts",
    "SPY092": "a core split does not fit the pieces of its symbol",
    "SPY093": "an operation has no form that the backend takes",
    "SPY094": "an op spec list that cannot be read",
    "SPY095": "a bundle is one function",
    "SPY096": "the device has no function for an operation",
    "SPY097": "an operation has no access that an SDSC can state",
    "SPY098": "an operand holds one value a stick where whole sticks are read",
    "SPY100": "a program holds something that no pass compiles",
    "SPY101": "cells behind a symbolic extent would take part in a result",
    "SPY102": "an operation of which no cell holds data",
    "SPY099": "part of a stick is written, whose other part holds data",
    # 110-119: work division
    "SPY110": "a core reaches further than the span limit however the work is divided",
    "SPY111": "the spans ask to cut more than one reduction dim across cores",
    # 120-129: memory
    "SPY120": "the pool of intermediates is larger than its limit",
    "SPY121": "a memory plan was asked for a program that is not well formed",
    "SPY122": "a tile is computed where it is inserted, over what is still needed",
    # 130-149: interpreter
    "SPY130": "a cell that holds no data reaches a valid cell",
    "SPY131": "an operation is not defined on the values of its operands",
    "SPY132": "a reduction over no cell",
    "SPY133": "a window, an index or a written cell lies outside its tensor or its valid region",
    "SPY134": "a symbol has no value, two values, or a value outside its range",
    "SPY135": "an argument does not fit the function that is run",
    "SPY136": "an operation that the interpreter does not know",
    "SPY137": "there is no function to run",
    "SPY138": "a valid cell of a result was never written",
    "SPY139": "an operation's operands, results or attributes break its constraints",
    "SPY140": "a bundle that runs touches bytes outside a buffer, or begins off the stick",
    "SPY141": "two cores of a bundle that runs write one stick",
    "SPY142": "a core of a bundle that runs reads what is written in the same operation",
    "SPY143": "a core of a bundle that runs reaches over more than the limit",
    "SPY144": "a valid cell of a result of a bundle or of planned memory holds no data",
    "SPY145": "an SDSC is not what its function takes, or the machine does not know the function",
    "SPY146": "a buffer does not fit the bundle, layout or tensor that it is given for",
    "SPY147": "a run takes more steps than it may",
    "SPY148": "a bundle that runs reads bytes that nobody wrote",
    "SPY149": "places in planned memory contradict each other",
    # 150-199: SDSC and bundle validation
    "SPY150": "a file of a bundle is missing, unreadable or no JSON; or a folder holds no bundle",
    "SPY151": "the text of bundle.mlir is not a bundle",
    "SPY152": "an SDSC does not follow its JSON Schema",
    "SPY153": "files, executions and parameters of a bundle do not belong together",
    "SPY154": "an SDSC contradicts itself",
    "SPY155": "symbol ids are not counted as they have to be",
    "SPY156": "an address is not the one that layout, core and loop give",
    "SPY157": "an operation and its constants, mask or operands do not fit together",
    "SPY158": "a symbolic dim and what the caller passes for it do not fit together",
    "SPY160": "an address lies outside its buffer or off the stick",
    "SPY161": "a core reaches over a span above the limit",
    "SPY162": "a loop counts more trips than the hardware can, or none",
    "SPY163": "an operation asks for more cores or scratchpad than there is",
    "SPY164": "a buffer is not used as its size says",
    "SPY170": "a folder to be written holds something else",
    # 200-219: passes and command lines
    "SPY200": "a pass runs before the pass that provides what it requires",
    "SPY203": "a check needs a package that is not installed",
}
"""Code -> one line that says what is refused. Generated into docs/diagnostics.md."""


@dataclass(frozen=True, slots=True)
class Note:
    """One cause of a refusal: a sentence with its figures, and the place it speaks of.

    `place` is opaque here (an MLIR operation or location where a pass raised it, None otherwise)."""

    message: str
    place: Any = None


class Refusal(Exception):
    """The compiler understands the program and will not compile it.

    `code` is a key of `CODES`; `notes` name the causes; `remedy` is the smallest change that helps, as a sentence."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        notes: tuple[Note | str, ...] = (),
        remedy: str | None = None,
        place: Any = None,
    ) -> None:
        assert code in CODES, f"refusal code {code} is not in the table"
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.notes = tuple(n if isinstance(n, Note) else Note(n) for n in notes)
        self.remedy = remedy
        self.place = place

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        lines += [f"note: {note.message}" for note in self.notes]
        if self.remedy:
            lines.append(f"remedy: {self.remedy}")
        return "\n".join(lines)


def refused_at(place: Any) -> AbstractContextManager[None]:
    """Gives refusals raised inside a place, unless they have one."""
    return _RefusedAt(place)


class _RefusedAt(AbstractContextManager[None]):
    """A class, and no generator: passes enter it for every kind of operation."""

    __slots__ = ("_place",)

    def __init__(self, place: Any) -> None:
        self._place = place

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Refusal) and error.place is None:
            error.place = self._place
