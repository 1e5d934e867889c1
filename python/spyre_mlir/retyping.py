# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that go over a program in order and give results their types.

What such a pass does to an operation follows from its kind and from what it did to the operations before, as far as
that shows in the types of the operands and the views they come through. Programs repeat themselves, so most operations
are done by number: the types of their results are those that an operation before them got."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from spyre_mlir import ir
from spyre_mlir.listings import THROUGH, Listing

Visit = Callable[[int], bool | None]
"""Does the work on an operation, given by number. True: all it did was to set types of results, as it would for every
operation of the kind with operands of the same states; False: it did something else; None: the operation is gone."""


Key = tuple[int | None, ...]


class Retyping:
    """One pass over the operations of a listing.

    The *state* of a value is what others see of it: its type, and, where they look through the operation that makes it,
    that one's kind and the states of its operands."""

    def __init__(self, listing: Listing, visit: Visit) -> None:
        self.listing = listing
        self._visit = visit
        self._seen = listing.per_kind(lambda op: op.name in THROUGH)
        self._states: list[int | None] = [None] * listing.value_count
        self._known: dict[Key, list[tuple[int, int]]] = {}
        """(number of the type if it is another one or -1, state) of each result."""
        self._numbers: dict[Hashable, int] = {}
        self._types: list[ir.Type] = []
        self._type_numbers: dict[ir.Type, int] = {}
        self._before = listing.per_kind(
            lambda op: [self._type_number(result.type) for result in op.results]
        )
        self._pending: tuple[list[int], list[int]] = [], []
        self.key: Key = ()
        """Kind and states of the operands of the operation that is visited."""
        self.changed = 0
        """Results that got another type by number."""

    def run(self, first: int, last: int) -> None:
        """Visits the operations from `first` to before `last`, but not those inside them."""
        kinds, ends = self.listing.kinds, self.listing.ends
        operands, results = self.listing.operands, self.listing.results
        states, known = self._states, self._known
        values, types = self._pending
        at = first
        while at < last:
            given = operands[at]
            found = known.get((kinds[at], *[states[value] for value in given]))
            if found is None:
                key = (kinds[at], *map(self._state, given))  # those that were not read before
                found = known.get(key) or self._one(at, key)
            number = results[at]
            for type, state in found:
                if type >= 0:
                    values.append(number)
                    types.append(type)
                states[number] = state
                number += 1
            at = ends[at]
        self.flush()

    def flush(self) -> None:
        """Writes the types that were found by number."""
        values, types = self._pending
        if values:
            self.listing.set_types(self._types, values, types)
            self.changed += len(values)
            values.clear()
            types.clear()

    def forget(self) -> None:
        """Lets no operation be done as one before it: something changed that states do not show."""
        self._known.clear()

    def _one(self, at: int, key: Key) -> list[tuple[int, int]]:
        """Visits an operation itself. Its results have their types then, which leaves their states."""
        self.flush()
        self.key = key
        kind, first = self.listing.kinds[at], self.listing.results[at]
        before = self._before[kind]
        repeats = self._visit(at)
        if repeats is None:
            return [(-1, self._number(object())) for _ in before]
        types = [self._type(value) for value in range(first, first + len(before))]
        found = [
            self._number((type, (key, position) if self._seen[kind] else None))
            for position, type in enumerate(types)
        ]
        if repeats:
            changed = (-1 if new == old else new for new, old in zip(types, before, strict=True))
            self._known[key] = list(zip(changed, found, strict=True))
        return [(-1, state) for state in found]

    def _state(self, value: int) -> int:
        """The state of a value; arguments have that of their type when they are first read."""
        state = self._states[value]
        if state is None:
            state = self._states[value] = self._number((self._type(value), None))
        return state

    def _type(self, value: int) -> int:
        """The number of the type that a value has now."""
        return self._type_number(self.listing.value(value).type)

    def _type_number(self, type: ir.Type) -> int:
        number = self._type_numbers.get(type)
        if number is None:
            number = self._type_numbers[type] = len(self._types)
            self._types.append(type)
        return number

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))
