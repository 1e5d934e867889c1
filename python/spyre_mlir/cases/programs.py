# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that observed cases name in words, as kernels on default layouts."""

from __future__ import annotations

from collections.abc import Sequence

from spyre_mlir.accesses import Access, flat_index
from spyre_mlir.kernels import Dim, Kernel, stick_granules
from spyre_mlir.layouts import contiguous_strides, device_layout
from spyre_mlir.quasiaffine import symbol


def kernels_of(program: str, shapes: Sequence[Sequence[int]], element: str) -> list[Kernel]:
    """The kernels of `add`, `add scalar`, `sum dim=D`, `linear(x,w)`. ValueError for another."""
    if program in ("add", "add scalar"):
        return [_add(shapes, element)]
    if program.startswith("sum dim="):
        return [_sum(shapes[0], int(program.removeprefix("sum dim=")), element)]
    if program == "linear(x,w)":
        return _linear(shapes[0], shapes[1], element)
    raise ValueError(f"no kernels for program {program!r}")


def _access(
    label: str,
    shape: Sequence[int],
    names: Sequence[str],
    element: str,
    *,
    order: Sequence[int] | None = None,
    written: bool = False,
) -> Access:
    strides = contiguous_strides(shape)
    layout = device_layout(shape, element, order=order)
    index = flat_index([symbol(name) for name in names], strides)
    return Access(label, label, layout, element, index, written, tuple(shape), strides)


def _kernel(
    name: str,
    family: str,
    extents: dict[str, int],
    reduced: Sequence[str],
    accesses: Sequence[Access],
) -> Kernel:
    units = stick_granules(accesses, extents)
    kept = [n for n in extents if n not in reduced]
    dims = tuple(
        Dim(n, extents[n], n in reduced, None if n in reduced else kept.index(n), units[n])
        for n in (*kept, *reduced)
    )
    return Kernel(name, family, dims, tuple(accesses), name)


def _add(shapes: Sequence[Sequence[int]], element: str) -> Kernel:
    names = [f"c{i}" for i in range(len(shapes[0]))]
    extents = dict(zip(names, shapes[0], strict=True))
    accesses = [_access(f"x{i}", shape, names, element) for i, shape in enumerate(shapes)]
    accesses.append(_access("result", shapes[0], names, element, written=True))
    return _kernel("add", "binary", extents, [], accesses)


def _sum(shape: Sequence[int], dim: int, element: str) -> Kernel:
    rank = len(shape)
    dim %= rank
    kept = [i for i in range(rank) if i != dim]
    names = {at: f"c{number}" for number, at in enumerate([*kept, dim])}
    result = [shape[at] for at in kept]
    # A sum over the stick leaves one value a stick.
    order = (*range(rank - 1), -1) if dim == rank - 1 else None
    accesses = [
        _access("x", shape, [names[at] for at in range(rank)], element),
        _access("result", result, [names[at] for at in kept], element, order=order, written=True),
    ]
    extents = {names[at]: shape[at] for at in [*kept, dim]}
    return _kernel("sum", "reduce", extents, [names[dim]], accesses)


def _linear(x: Sequence[int], weight: Sequence[int], element: str) -> list[Kernel]:
    """The weight is turned so that its rows lie on the stick, then multiplied."""
    (rows, inner), (columns, _) = x, weight
    turn = _kernel(
        "restickify",
        "move",
        {"c0": columns, "c1": inner},
        [],
        [
            _access("w", weight, ["c0", "c1"], element),
            _access("turned", weight, ["c0", "c1"], element, order=(1, 0), written=True),
        ],
    )
    multiply = _kernel(
        "batchmatmul",
        "contract",
        {"c0": rows, "c1": columns, "c2": inner},
        ["c2"],
        [
            _access("x", x, ["c0", "c2"], element),
            _access("turned", weight, ["c1", "c2"], element, order=(1, 0)),
            _access("result", [rows, columns], ["c0", "c1"], element, written=True),
        ],
    )
    return [turn, multiply]
