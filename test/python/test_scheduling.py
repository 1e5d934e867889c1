# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order in which operations of a group stand side by side."""

from __future__ import annotations

import random

import pytest

from spyre_mlir.scheduling import arranged


def test_what_is_in_order_stays() -> None:
    assert arranged([[], [0], [1], [0]], {}) == [0, 1, 2, 3]
    assert arranged([[], [0], [1], []], {0: 7, 1: 7}) == [0, 1, 2, 3]


def test_members_stand_together_and_readers_behind() -> None:
    # 1 reads 0 and is in no group; 2 is in the group of 0; 3 reads 1.
    assert arranged([[], [0], [0], [1]], {0: 0, 2: 0}) == [0, 2, 1, 3]
    # Two groups, interleaved: that which is read stands first.
    assert arranged([[], [], [0], [1, 2]], {0: 0, 2: 0, 1: 1, 3: 1}) == [0, 2, 1, 3]


def test_a_circle_is_an_error() -> None:
    with pytest.raises(ValueError, match="circle"):
        arranged([[], [0], [1]], {0: 0, 2: 0})


@pytest.mark.parametrize("seed", range(20))
def test_every_order_is_legal(seed: int) -> None:
    rng = random.Random(seed)
    reads = [rng.sample(range(at), min(at, rng.randint(0, 3))) for at in range(40)]
    first = rng.randrange(30)
    # Operations of one group, without what stands between them on a path.
    group = [first]
    for at in range(first + 1, 40):
        if all(source in group or source < first for source in reads[at]):
            group.append(at)
    numbers = dict.fromkeys(group, 0)
    order = arranged(reads, numbers)
    place = {op: at for at, op in enumerate(order)}
    assert sorted(order) == list(range(40))
    assert all(place[source] < place[op] for op in range(40) for source in reads[op])
    places = [place[op] for op in group]
    assert max(places) - min(places) == len(group) - 1
