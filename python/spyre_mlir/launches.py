# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SDSCs of a program's operations, each with its launch, written many at once.

The SDSCs of one kind of operation differ in name and places only: one of them is written attribute by attribute, the
others are copies of it."""

from __future__ import annotations

from collections.abc import Sequence

from spyre_mlir import ir
from spyre_mlir.listings import PLACE, Listing
from spyre_mlir.sdsc.model import Hbm, Sdsc
from spyre_mlir.sdsc_attributes import write_sdsc

Form = tuple[int, tuple[tuple[int, int], ...]]
"""An SDSC to be copied: its number, and for each operand which value of the operation it is, operands before results,
and how many bytes behind the start of that value's buffer it begins."""


class Launches:
    """Collects SDSCs for operations of a function and writes them before it, named in order from `@sdsc_0` on."""

    def __init__(self, listing: Listing, function: ir.Operation) -> None:
        self.count = 0
        """SDSCs written or collected."""
        self._listing = listing
        self._function = function
        self._scratch = ir.Module.create(ir.Location.unknown())
        self._written: list[ir.Operation] = []
        self._places: list[ir.Attribute] = []
        self._moved: dict[tuple[int, int], int] = {}
        self._place_of = self._placed()
        self._sources: list[int] = []
        self._chosen: list[int] = []
        self._at: list[int] = []

    def _placed(self) -> list[int]:
        """Per value the number of its buffer's place, -1 where it has none."""
        listing = self._listing
        table, choice = listing.attributes(PLACE)
        self._places += table
        found = [-1] * listing.value_count
        arguments = self._function.regions[0].blocks[0].arguments
        tensors = [n for n, a in enumerate(arguments) if isinstance(a.type, ir.RankedTensorType)]
        for buffer, argument in enumerate(tensors):
            found[argument] = len(self._places)
            self._places.append(ir.PlaceAttr.get("argument", buffer, 0))
        counts = listing.per_kind(lambda op: len(op.results))
        for first, kind, place in zip(listing.results, listing.kinds, choice, strict=True):
            if place >= 0:
                found[first : first + counts[kind]] = [place] * counts[kind]
        return [found[owner] if owner >= 0 else -1 for owner in listing.owners]

    def form(self, sdsc: Sdsc) -> Form:
        """An SDSC to be copied. Its buffers are values of the operation by number, operands first."""
        with ir.InsertionPoint(self._scratch.body), ir.Location.unknown():
            self._written.append(write_sdsc(sdsc, "form"))
        starts = []
        for operand in sdsc.operands:
            place = operand.place
            assert isinstance(place, Hbm) and isinstance(place.buffer, int)
            starts.append((place.buffer, place.offset))
        return len(self._written) - 1, tuple(starts)

    def add(self, operation: int, forms: Sequence[Form]) -> None:
        """The SDSCs of one operation of the listing, to be launched behind those before."""
        given, first = self._listing.operands[operation], self._listing.results[operation]
        for number, starts in forms:
            self._sources.append(operation)
            self._chosen.append(number)
            for position, start in starts:
                value = given[position] if position < len(given) else first + position - len(given)
                place = self._place_of[value]
                self._at.append(self._move(place, start) if start else place)
            self.count += 1

    def _move(self, place: int, start: int) -> int:
        """The number of the place that begins `start` bytes behind another."""
        number = self._moved.get((place, start))
        if number is None:
            whole = self._places[place]
            number = self._moved[place, start] = len(self._places)
            self._places.append(ir.PlaceAttr.get(whole.kind, whole.index, whole.offset + start))
        return number

    def write(self, block: ir.Block) -> None:
        """Writes what was collected since the last time, with the launches at the end of `block`."""
        if self._sources:
            self._listing.launch(
                first=self.count - len(self._sources),
                sources=self._sources,
                forms=self._written,
                chosen=self._chosen,
                places=self._places,
                placed=self._at,
                before=self._function,
                block=block,
            )
            self._sources, self._chosen, self._at = [], [], []
