# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout and coordinate rules of the reference compiler, restated literally.

They serve comparison only: `policy = seed` and the case runner ask them, nothing else does. They
guess where `layouts.retile` and `accesses.device_coordinates` know, and are unsound where they
guess wrong: `resize` takes any host dim of the right size for the one that a device dim runs over;
`coordinates` reads each symbol alone, so that carries between symbols are lost; `extent` counts a
descending coordinate as negative and misses maxima between two moduli."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.layouts import Layout, contiguous_strides
from spyre_mlir.quasiaffine import ZERO, Expression, Quotient, Remainder, literal, symbol


def resize(layout: Layout, old: Sequence[int], new: Sequence[int]) -> Layout:
    """The layout of a tile of shape `new`, cut from a host tensor of shape `old` (same rank).

    Refuses (SPY028) where the matching of device dims to host dims is ambiguous."""
    lanes = layout.elements_per_stick
    before, after = contiguous_strides(old), contiguous_strides(new)
    matches, stick = _matched(layout, old, before)
    # A device dim of one step that matches no host dim stays as it is.
    sizes, steps = list(layout.device_size), list(layout.stride_map)

    def stepped(dim: int, host: int, unit: int) -> int:
        if new[host] == 1:
            return -1
        return unit * after[host] if steps[dim] in (unit * before[host], -1) else steps[dim]

    for dim, host in enumerate(matches):
        if host is not None:
            sizes[dim], steps[dim] = new[host], stepped(dim, host, 1)
        elif stick is not None and sizes[dim] > 1:
            if sizes[dim] != -(-old[stick] // lanes):
                raise Refusal(
                    "SPY028",
                    f"device dim {dim} of {layout} has {sizes[dim]} steps, which is no dim of "
                    f"{list(old)} and not its number of sticks",
                )
            sizes[dim] = -(-new[stick] // lanes)
            steps[dim] = stepped(dim, stick, lanes)
    if stick is not None:
        steps[-1] = stepped(len(steps) - 1, stick, 1)
    return Layout(tuple(sizes), tuple(steps), layout.format, layout.arrangement)


def _matched(
    layout: Layout, old: Sequence[int], before: Sequence[int]
) -> tuple[list[int | None], int | None]:
    """The host dim of each device dim but the stick, and the host dim on the stick (None: none)."""
    matches = [
        _match(size, step, old, before)
        for size, step in zip(layout.device_size[:-1], layout.stride_map[:-1], strict=True)
    ]
    likely = _left_over(matches, old)
    if len(likely) == 1:
        sticks = -(-old[likely[0]] // layout.elements_per_stick)
        for dim, host in enumerate(matches):
            # A number of sticks that happens to be the size of another dim.
            if (
                host is not None
                and 1 < layout.device_size[dim] == sticks
                and layout.stride_map[dim] != before[host]
            ):
                matches[dim] = None
    free = _left_over(matches, old)
    if not free:
        if any(host is None and layout.device_size[dim] > 1 for dim, host in enumerate(matches)):
            raise Refusal("SPY028", f"{layout} of {list(old)} has a device dim of no host dim")
        return matches, None
    if len(free) != 1:
        raise Refusal("SPY028", f"{layout} of {list(old)} leaves the stick's host dim ambiguous")
    return matches, free[0]


def _match(size: int, step: int, old: Sequence[int], before: Sequence[int]) -> int | None:
    equal = [host for host, extent in enumerate(old) if extent == size]
    if len(equal) > 1 and size > 1:
        equal = [host for host in equal if before[host] == step]
    return equal[0] if len(equal) == 1 else None


def _left_over(matches: Sequence[int | None], old: Sequence[int]) -> list[int]:
    free = [host for host in range(len(old)) if host not in matches]
    return [host for host in free if old[host] > 1] or free


def coordinates(
    layout: Layout, index: Expression, extents: Mapping[str, int]
) -> tuple[Expression, ...]:
    """The device coordinates of a flat index, each symbol distributed by itself."""
    strides = layout.stride_map
    following = [
        min(
            (t for t, n in zip(strides, layout.device_size, strict=True) if t > s and n > 1),
            default=inf,
        )
        for s in strides
    ]
    found = [ZERO] * len(strides)

    def distribute(value: Expression, step: int, limit: float) -> None:
        inner = [d for d, n in enumerate(layout.device_size) if n != 1 and 0 < strides[d] <= step]
        primary = max(inner, key=lambda d: strides[d], default=None)
        for dim, stride in enumerate(strides):
            received = layout.device_size[dim] != 1 and stride > 0 and step < stride < limit
            if dim == primary or received:
                after = following[dim]
                moved = value * step if after >= limit else value * step % int(after)
                found[dim] = found[dim] + moved // stride

    if index.constant > 0:
        distribute(literal(index.constant), 1, inf)
    for name in index.symbols():
        if extents.get(name, 0) > 1:
            others = dict.fromkeys(index.symbols(), 0)
            del others[name]
            distribute(*_variable(Expression(0, index.terms), name, others, extents[name]))
    return tuple(found)


def _variable(
    index: Expression, name: str, others: Mapping[str, int], extent: int
) -> tuple[Expression, int, int]:
    """(variable, step, limit) that stand for one symbol of the index."""
    term = index.substitute(others)
    moduli = [m for atom, _ in index.terms for m in _moduli(atom, name)]
    if len(moduli) == 1 and moduli[0] < extent and len(term.terms) == 1 and not term.constant:
        atom, coefficient = term.terms[0]
        if _moduli(atom, name):
            return Expression(0, ((atom, 1),)), coefficient, coefficient * moduli[0]
    return symbol(name), term.evaluate({name: 1}), term.evaluate({name: extent})


def _moduli(atom: str | Quotient | Remainder, name: str) -> list[int]:
    """Moduli that the symbol stands under; floor(Mod(e, d*m)/d) is Mod(floor(e/d), m)."""
    if isinstance(atom, str) or name not in atom.argument.symbols():
        return []
    inner = [m for a, _ in atom.argument.terms for m in _moduli(a, name)]
    if isinstance(atom, Remainder):
        return [atom.modulus, *inner]
    return [max(1, m // atom.divisor) for m in inner]


def extent(coordinate: Expression, extents: Mapping[str, int]) -> int | None:
    """The extent that the reference gives a coordinate; None where it cannot tell."""
    total = 1
    names = coordinate.symbols()
    if any(name not in extents for name in names):
        return None
    for name in names:
        last = extents[name] - 1
        term = coordinate.substitute({other: 0 for other in names if other != name})
        remainders = _remainders(term)
        if any(remainder.argument != symbol(name) for remainder in remainders):
            return None
        if remainders:
            points = [0, last, *(min(last, r.modulus - 1) for r in remainders)]
            values = [term.evaluate({name: point}) for point in points]
            total += max(values) - min(values)
        else:
            total += term.evaluate({name: last}) - term.evaluate({name: 0})
    return total


def _remainders(expression: Expression) -> list[Remainder]:
    found = []
    for atom, _ in expression.terms:
        if not isinstance(atom, str):
            found += [atom] if isinstance(atom, Remainder) else []
            found += _remainders(atom.argument)
    return found
