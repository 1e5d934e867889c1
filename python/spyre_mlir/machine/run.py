# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a bundle on device memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import SPAN_LIMIT_BYTES, STICK_BYTES
from spyre_mlir.machine.execution import LX, Machine, UnwrittenRead, scratchpads
from spyre_mlir.machine.memory import READ, WRITTEN, Buffer, Bytes, Store
from spyre_mlir.machine.program import Program, Source, buffer_name, read_program
from spyre_mlir.sdsc.model import POOL

Given = Buffer | Bytes

SCRATCHPAD = "its scratchpad"
"""How messages call the scratchpad of a core."""


@dataclass(frozen=True, slots=True)
class Touched:
    """Which sticks of a memory were read and which were written."""

    read: NDArray[np.bool_]
    written: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left behind.

    `arguments`: the memory of each parameter, by number; `pool`: that of intermediates; `touched`:
    by parameter number, "pool" or "lx" (the scratchpads of all cores, one behind the other);
    `unwritten`: reads of bytes that nobody wrote, the first of each operand; `operations`: how many
    ran."""

    arguments: Mapping[int, Buffer]
    pool: Buffer | None
    touched: Mapping[int | str, Touched]
    unwritten: tuple[UnwrittenRead, ...]
    operations: int
    _machine: Machine = field(repr=False)

    def writer(self, buffer: int | str, address: int) -> str:
        """Who wrote the byte at `address` of a memory last, as a phrase."""
        stick = address // STICK_BYTES
        number = int(self._machine.stores[buffer].writer[stick])
        if number < 0:
            return "nobody wrote it"
        prepared, trips = self._machine.ran[number]
        sticks = prepared.places[-1].sticks(trips)
        at = int(np.flatnonzero(sticks.reshape(-1) == stick)[0])
        core = prepared.places[-1].core(at, sticks.shape)
        where = f" in trip {list(trips)}" if trips else ""
        return f"written by {prepared.step.file} on core {core}{where}"


def run_bundle(
    bundle: Source,
    arguments: Sequence[Given] | Mapping[int, Given],
    *,
    symbols: Mapping[str, int] | None = None,
    limit: int = SPAN_LIMIT_BYTES,
    pool: Given | None = None,
    steps: int | None = None,
    strict: bool = False,
) -> Run:
    """Runs a bundle on device memory and returns what it left there.

    `bundle` is a folder, its texts by file name, or a bundle as a value. `arguments` has a buffer,
    or bytes that all hold data, per parameter: in order, or by number where the bundle leaves
    parameters out. They are not changed. `pool` is passed where the bundle does not allocate it.
    `symbols`: values of the symbols that extents go with. `limit`: bytes that a core may reach from
    one base; `steps`: operations that may run (None: any number); `strict`: whether reading bytes
    that nobody wrote is an error, and not only noted.

    Raises Refusal SPY140 to SPY148 with the operation, operand, core and trip, SPY134 for symbols,
    and what `read_program` raises for files that are no bundle."""
    return run_read(
        read_program(bundle, symbols), arguments, limit=limit, pool=pool, steps=steps, strict=strict
    )


def run_read(
    program: Program,
    arguments: Sequence[Given] | Mapping[int, Given],
    *,
    limit: int = SPAN_LIMIT_BYTES,
    pool: Given | None = None,
    steps: int | None = None,
    strict: bool = False,
) -> Run:
    """As `run_bundle`, of a bundle that was read already."""
    given = _numbered(program, arguments)
    stores: dict[int | str, Store] = {
        number: Store.holding(buffer_name(number), _buffer(given[number]))
        for number in program.arguments
    }
    own = _pool(program, pool)
    if own is not None:
        stores[POOL] = Store.holding(buffer_name(POOL), own)
    if scratchpads(program):
        stores[LX] = Store.holding(SCRATCHPAD, Buffer.empty(scratchpads(program)))
    machine = Machine(program, stores, limit, steps, strict)
    machine.run()
    return Run(
        {key: store.buffer for key, store in stores.items() if isinstance(key, int)},
        stores[POOL].buffer if POOL in stores else None,
        _touched(machine),
        tuple(machine.unwritten),
        len(machine.ran),
        machine,
    )


def trace_bundle(
    bundle: Source,
    sizes: Sequence[int] | Mapping[int, int],
    *,
    symbols: Mapping[str, int] | None = None,
    limit: int = SPAN_LIMIT_BYTES,
    pool: int | None = None,
    steps: int | None = None,
) -> Mapping[int | str, Touched]:
    """Runs a bundle without computing anything: which sticks of each memory it touches.

    As `run_bundle`, and raises the same for addresses; `sizes` and `pool` are the bytes of the
    buffers. For bundles on more memory than there is."""
    program = read_program(bundle, symbols)
    given = _numbered(program, sizes)
    stores: dict[int | str, Store] = {
        number: Store.blank(buffer_name(number), given[number]) for number in program.arguments
    }
    own = program.pool if program.pool is not None else pool
    if own is not None:
        stores[POOL] = Store.blank(buffer_name(POOL), own)
    elif program.pool_passed:
        raise _no_pool()
    if scratchpads(program):
        stores[LX] = Store.blank(SCRATCHPAD, scratchpads(program))
    machine = Machine(program, stores, limit, steps, values=False)
    machine.run()
    return _touched(machine)


def _touched(machine: Machine) -> dict[int | str, Touched]:
    return {
        key: Touched((store.touched & READ) != 0, (store.touched & WRITTEN) != 0)
        for key, store in machine.stores.items()
    }


_T = TypeVar("_T")


def _numbered(program: Program, given: Sequence[_T] | Mapping[int, _T]) -> Mapping[int, _T]:
    """What is given, by the number of the parameter."""
    numbered = given if isinstance(given, Mapping) else dict(enumerate(given))
    missing = [number for number in program.arguments if number not in numbered]
    if missing:
        raise Refusal("SPY146", f"argument {missing[0]} of the bundle is not given")
    return numbered


def _buffer(given: Given) -> Buffer:
    return given if isinstance(given, Buffer) else Buffer.of(given)


def _pool(program: Program, given: Given | None) -> Buffer | None:
    if program.pool is not None:
        return Buffer.empty(program.pool)
    if not program.pool_passed:
        return None
    if given is None:
        raise _no_pool()
    return _buffer(given)


def _no_pool() -> Refusal:
    return Refusal("SPY146", "the bundle takes a pool from its caller, which is not given")
