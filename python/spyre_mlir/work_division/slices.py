# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which slice of every symbol a core works on."""

from __future__ import annotations

from collections.abc import Sequence


def core_slices(
    cuts: Sequence[tuple[str, int]], *, contraction_first: str | None = None
) -> tuple[dict[str, int], ...]:
    """One mapping symbol -> slice per core, cores ascending, keys in the order of `cuts`.

    Neighbouring cores differ in the first symbol, then the next, in the order of `cuts`.
    `contraction_first` names a symbol that runs before all others: a matmul's partial sums then lie
    on neighbouring cores."""
    order = sorted(cuts, key=lambda item: item[0] != contraction_first)
    strides, cores = {}, 1
    for name, cut in order:
        strides[name] = cores
        cores *= cut
    return tuple({name: core // strides[name] % cut for name, cut in cuts} for core in range(cores))
