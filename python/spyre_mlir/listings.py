# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as lists of numbers: how passes read and write many operations at once.

A program has far more operations than kinds of them. What follows from an operation's name, attributes and types, from
the views that it looks through and the loops around it is the same for all of its *kind*: a pass asks it of one
example, and goes over the operations by number. An operation is looked at itself only where it is rewritten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from spyre_mlir import ir
from spyre_mlir._mlir_libs import _spyre
from spyre_mlir.optable import OPS

T = TypeVar("T")

WRITE = "spyre.insert_slice"

VIEWS = tuple(f"spyre.{name}" for name, row in OPS.items() if row.tiling == "view" and row.operands)

INDICES = ("arith.constant", "arith.addi", "arith.subi", "arith.muli")

THROUGH = (*VIEWS, WRITE, "scf.for", *INDICES)
"""Operations through whose results others look: what they are counts for the kind of their users."""

PLACE = "spyre.place"
"""Where the result of an operation lies. Differs from one operation to the next, so kinds do not mind it."""


BOUNDS = 3
"""Operands of a loop before the values that it carries: from, to, step."""

LOOP, WRITTEN = -1, -2


def _way(op: ir.Operation) -> int | None:
    """The operand where the result of an operation lies, `LOOP`, `WRITTEN` (where its use writes it), or None: it owns
    memory of its own."""
    if op.name in VIEWS:
        return 0
    if op.name == WRITE:
        return 1
    if op.name == "scf.for":
        return LOOP
    return WRITTEN if _written(op) else None


def _written(op: ir.Operation) -> tuple[int, ...]:
    """The results of an operation that are computed where their one use writes them."""
    found = []
    for number, result in enumerate(op.results):
        encoding = getattr(result.type, "encoding", None)
        if encoding is not None and getattr(encoding, "window", False):
            uses = [(use.owner.name, use.operand_number) for use in result.uses]
            if uses == [(WRITE, 0)]:
                found.append(number)
    return tuple(found)


class Listing:
    """The operations inside `root` by number, in order, outer before inner, and their values.

    Values are numbered where they are defined: the arguments of the root, then for each operation its results and
    behind them the arguments of its blocks. Operations of one kind agree in everything but which tensors they read and
    where those lie (`PLACE`). A listing describes the program as it was: erase nothing in it while it is in use."""

    def __init__(self, root: ir.Operation) -> None:
        self._listing = _spyre.Listing(root, THROUGH, (WRITE,), (PLACE,))
        self.kinds: list[int] = self._listing.kinds()
        """Per operation its kind."""
        self.examples: list[ir.Operation] = [self.operation(n) for n in self._listing.examples()]
        """Per kind its first operation."""

    @cached_property
    def ends(self) -> list[int]:
        """Per operation the number behind the last one inside it."""
        found: list[int] = self._listing.ends()
        return found

    @cached_property
    def operands(self) -> list[tuple[int, ...]]:
        """Per operation the values that it reads; -1 for one from outside the root."""
        found: list[tuple[int, ...]] = self._listing.operands()
        return found

    @cached_property
    def results(self) -> list[int]:
        """Per operation its first result; the others have the numbers behind it."""
        found: list[int] = self._listing.results()
        return found

    @cached_property
    def owners(self) -> list[int]:
        """Per value the one that owns its memory, as `operations.storage_of` finds it; -1 where that is outside.

        Views lie where their operand does, writes in their destination, what a loop carries where it was before, and a
        window that is computed where its one use writes it."""
        owners = list(range(self.value_count))
        ways, places = self.per_kind(_way), self.per_kind(_written)
        operands, results = self.operands, self.results
        written: list[int] = []
        for number, kind in enumerate(self.kinds):
            way = ways[kind]
            if way is None:
                continue
            first, given = results[number], operands[number]
            if way == LOOP:
                carried = [owners[value] if value >= 0 else -1 for value in given[BOUNDS:]]
                owners[first : first + len(carried)] = carried
                inside = first + len(carried) + 1  # behind the induction variable
                owners[inside : inside + len(carried)] = carried
            elif way == WRITTEN:
                written += [first + place for place in places[kind]]
            else:
                owners[first] = owners[given[way]] if given[way] >= 0 else -1
        if written:
            into = {
                operands[n][0]: operands[n][1]
                for n, kind in enumerate(self.kinds)
                if ways[kind] == 1
            }
            for value in written:
                owners[value] = owners[into[value]]
        return owners

    @property
    def value_count(self) -> int:
        """How many values there are."""
        count: int = self._listing.values
        return count

    def operation(self, number: int) -> ir.Operation:
        """One operation."""
        return self._listing.operation(number).operation

    def value(self, number: int) -> ir.Value[Any]:
        """One value."""
        found: ir.Value[Any] = self._listing.value(number)
        return found

    def maker(self, value: int) -> int | None:
        """The operation that a value is a result of, or an argument of its blocks; None for those of the root."""
        number = bisect_right(self.results, value) - 1
        return number if number >= 0 else None

    def per_kind(self, ask: Callable[[ir.Operation], T]) -> list[T]:
        """The answer for the example of each kind, in order of appearance."""
        return [ask(example) for example in self.examples]

    def select(self, chosen: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
        """The operations of the kinds that are chosen, in order."""
        picked = self.per_kind(chosen)
        return [self.operation(n) for n, kind in enumerate(self.kinds) if picked[kind]]

    def attributes(self, name: str) -> tuple[list[ir.Attribute], list[int]]:
        """The distinct attributes of a name, and per operation the number of its own, -1 without one."""
        table, choice = self._listing.attributes(name)
        return table, choice

    def set_attributes(
        self, name: str, table: Iterable[ir.Attribute], choice: Iterable[int]
    ) -> None:
        """Gives each operation the attribute of this number in `table`; -1 leaves it as it is."""
        self._listing.set_attributes(name, list(table), list(choice))

    def set_attribute_of_kinds(self, name: str, given: Sequence[ir.Attribute | None]) -> None:
        """Gives the operations of each kind its attribute; None leaves them as they are."""
        table = [attribute for attribute in given if attribute is not None]
        numbers = iter(range(len(table)))
        of_kind = [-1 if attribute is None else next(numbers) for attribute in given]
        self.set_attributes(name, table, [of_kind[kind] for kind in self.kinds])

    def set_types(self, table: list[ir.Type], values: list[int], choice: list[int]) -> None:
        """Gives each of these values the type of this number in `table`."""
        self._listing.set_types(table, values, choice)

    def launch(
        self,
        *,
        first: int,
        sources: list[int],
        forms: list[ir.Operation],
        chosen: list[int],
        places: list[ir.Attribute],
        placed: list[int],
        before: ir.Operation,
        block: ir.Block,
    ) -> None:
        """Copies SDSCs to before an operation and launches them at the end of a block.

        Copy n is `@sdsc_<first + n>`, at the location of operation `sources[n]`, a copy of `forms[chosen[n]]`; `placed`
        has the number in `places` of each of its operands, those of all copies one behind another."""
        self._listing.launch(first, sources, forms, chosen, places, placed, before, block)
