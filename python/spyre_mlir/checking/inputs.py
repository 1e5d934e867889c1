# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments on which a program is checked, by seed, and how they are made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import is_float
from spyre_mlir.interpreter.inputs import random_inputs
from spyre_mlir.interpreter.program import Function, TensorKind, names_in

SMALL = 2
"""Every second seed draws whole numbers from -SMALL to SMALL: their sums and products are exact."""

SMALL_EXTENTS = 65
"""Values from 0 on of which all are tried for symbols; of larger ones halves of the largest."""

SHRINKING_RUNS = 48
"""Most runs that are spent on finding a smaller input."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Values of the symbols, and the other arguments in order."""

    symbols: dict[str, int]
    arrays: tuple[Any, ...]


def draw(function: Function, *, seed: int) -> Inputs:
    """The arguments of a seed.

    Symbols take the largest value of their range, the smallest, then random ones; where a valid
    extent of an argument leaves its tensor with them, the nearest values found with which none
    does. Refusal SPY134 for a symbol of which nothing says how large it may be, SPY135 for an
    argument of an unknown type."""
    ranges = ranges_of(function)
    symbols = {
        name: _symbol(limits, seed, number) for number, (name, limits) in enumerate(ranges.items())
    }
    symbols = _fitting(function, symbols, ranges)
    symbols, arrays = random_inputs(function, seed=seed, symbols=symbols)
    if seed % 2:
        taken = {symbol.argument for symbol in function.symbols}
        kinds = [k for i, k in enumerate(function.body.kinds) if i not in taken]
        generator = np.random.default_rng(seed)
        arrays = [
            _whole(generator, array) if _floating(kind) else array
            for kind, array in zip(kinds, arrays, strict=True)
        ]
    return Inputs(symbols, tuple(arrays))


def ranges_of(function: Function) -> dict[str, tuple[int, int]]:
    """Symbol -> its range; of one without, from 1 to the smallest dim of an argument or a result of
    which it is the valid extent, or in whose valid extents it stands."""
    found = {}
    for symbol in function.symbols:
        extents = [
            (str(extent), size)
            for kind in (*function.body.kinds, *function.results)
            if isinstance(kind, TensorKind) and kind.valid is not None
            for extent, size in zip(kind.valid, kind.shape, strict=True)
            if size is not None and symbol.name in names_in(extent)
        ]
        sizes = [size for extent, size in extents if extent == symbol.name]
        sizes = sizes or [size for _, size in extents]
        if symbol.range is not None:
            found[symbol.name] = symbol.range
        elif sizes:
            found[symbol.name] = (1, min(sizes))
    return found


def _fitting(
    function: Function, symbols: dict[str, int], ranges: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    """Values with which every argument holds its valid extents: those given, else the nearest that
    all symbols can have at once, each within its range. Those given where none is found."""
    if _fits(function, symbols):
        return symbols
    top = max((high for _, high in ranges.values()), default=0)
    wanted = max(symbols.values(), default=0)
    tried = {*range(SMALL_EXTENTS), *(top >> k for k in range(top.bit_length()))}
    for value in sorted(tried, key=lambda v: (abs(v - wanted), v)):
        chosen = {s: min(max(value, low), high) for s, (low, high) in ranges.items()}
        if _fits(function, chosen):
            return chosen
    return symbols


def _fits(function: Function, symbols: Mapping[str, int]) -> bool:
    try:
        for kind in function.body.kinds:
            if isinstance(kind, TensorKind) and None not in kind.shape:
                kind.bind(symbols)
    except Refusal:
        return False
    return True


def _symbol(limits: tuple[int, int], seed: int, number: int) -> int:
    low, high = limits
    if seed < 2:
        return high if seed == 0 else low
    return int(np.random.default_rng((seed, number)).integers(low, high, endpoint=True))


def _floating(kind: Any) -> bool:
    return isinstance(kind, TensorKind) and is_float(kind.element)


def _whole(generator: np.random.Generator, array: Any) -> Any:
    return generator.integers(-SMALL, SMALL, array.shape, endpoint=True).astype(array.dtype)


def shrink(inputs: Inputs, function: Function, fails: Callable[[Inputs], bool]) -> Inputs:
    """The smallest inputs found on which `fails` still holds: symbols lowered, cells made zero."""
    budget = SHRINKING_RUNS

    def still(candidate: Inputs) -> bool:
        nonlocal budget
        budget -= 1
        return budget >= 0 and fails(candidate)

    for name, (low, _) in ranges_of(function).items():
        candidate = Inputs({**inputs.symbols, name: low}, inputs.arrays)
        if inputs.symbols[name] > low and still(candidate):
            inputs = candidate
    for number in range(len(inputs.arrays)):
        for candidate_array in _simpler(inputs.arrays[number]):
            candidate = _with(inputs, number, candidate_array)
            if still(candidate):
                inputs = candidate
                break
    for number in range(len(inputs.arrays)):
        if np.ndim(inputs.arrays[number]):
            inputs = _fewer_cells(inputs, number, still)
    return inputs


def _with(inputs: Inputs, number: int, array: Any) -> Inputs:
    arrays = list(inputs.arrays)
    arrays[number] = array
    return Inputs(inputs.symbols, tuple(arrays))


def _simpler(array: Any) -> Iterator[Any]:
    if np.ndim(array):
        yield np.zeros_like(array)
        yield np.ones_like(array)


def _fewer_cells(inputs: Inputs, number: int, still: Callable[[Inputs], bool]) -> Inputs:
    """Zeroes halves, then quarters, ... of the cells that are not zero, as long as it still fails."""
    parts = 2
    while parts <= 32:
        flat = np.flatnonzero(inputs.arrays[number].reshape(-1))
        if len(flat) < parts:
            return inputs
        for cells in np.array_split(flat, parts):
            array = inputs.arrays[number].copy()
            array.reshape(-1)[cells] = 0
            candidate = _with(inputs, number, array)
            if still(candidate):
                inputs, parts = candidate, max(2, parts // 2)
                break
        else:
            parts *= 2
    return inputs


def described(array: Any, number: int, *, cells: int = 4) -> str:
    """An argument in words: shape, element type, and the first cells that are not zero."""
    array = np.asarray(array)
    found = np.argwhere(array != 0)
    kind = f"argument {number}: " + "x".join(map(str, [*array.shape, array.dtype]))
    if not array.ndim:
        return f"{kind} = {array}"
    if not len(found):
        return f"{kind}, all zero"
    if len(found) == array.size and (array == array.reshape(-1)[0]).all():
        return f"{kind}, all {array.reshape(-1)[0]}"
    shown = ", ".join(f"{[int(i) for i in at]} = {array[tuple(at)]}" for at in found[:cells])
    more = f" and {len(found) - cells} more" if len(found) > cells else ""
    return f"{kind}, zero but {shown}{more}"
