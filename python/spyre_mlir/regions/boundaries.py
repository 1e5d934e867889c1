# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types on their own, and types that meet: arguments, returns, calls, branches and loops."""

from __future__ import annotations

from dataclasses import replace

from spyre_mlir.prover import Facts, equal, less_equal
from spyre_mlir.tensors import TensorType

from .agreement import preference
from .refusals import RegionRefusal, counterexample, spelled


def check(tensor: TensorType, facts: Facts, *, what: str, proved: bool) -> None:
    """Refuses a region that does not fit its shape (SPY071).

    With `proved`, 0 <= extent <= size must hold for all values of the symbols; without, it must
    only not be impossible: the type of an argument promises the rest."""
    if tensor.valid_shape is None:
        return
    if len(tensor.valid_shape) != tensor.rank:
        raise RegionRefusal(
            "SPY071",
            f"{what}: valid_shape {spelled(tensor.valid_shape)} has {len(tensor.valid_shape)}"
            f" extents, shape {spelled(tensor.shape)} has rank {tensor.rank}",
            extents=tensor.valid_shape,
        )
    for dim, (extent, size) in enumerate(zip(tensor.valid_shape, tensor.shape, strict=True)):
        for low, high in ((0, extent), (extent, size)):
            answer = less_equal(low, high, facts)
            if answer.verdict == "never" or (proved and not answer.holds):
                raise RegionRefusal(
                    "SPY071",
                    f"{what}: valid extent {extent} of dim {dim} is not"
                    f" {'provably ' if answer.verdict != 'never' else ''}in [0, {size}], the dim",
                    notes=counterexample(answer, f"{low} <= {high}"),
                    remedy=None
                    if isinstance(extent, int)
                    else f"use min({extent}, {size}), or"
                    f" declare ranges of {', '.join(extent.symbols)}",
                    dim=dim,
                    extents=(extent, size),
                    verdict=answer.verdict,
                )


def join(first: TensorType, second: TensorType, facts: Facts, *, what: str) -> TensorType:
    """The one type of a value that has both: at a branch, a loop, a call or a return (SPY087).

    Shape, element type, layout, window flag and pad are equal, valid extents provably so. Which of
    the two comes first makes no difference to the result."""
    for name in ("shape", "element", "layout", "window", "pad"):
        a, b = getattr(first, name), getattr(second, name)
        if a != b:
            raise RegionRefusal("SPY087", f"{what}: {name} {_text(a)} meets {_text(b)}")
    if first.valid_shape == second.valid_shape:
        return first
    for dim, (x, y) in enumerate(zip(first.valid, second.valid, strict=True)):
        answer = equal(x, y, facts)
        if not answer.holds:
            raise RegionRefusal(
                "SPY087",
                f"{what}: valid extent {x} meets {y} at dim {dim}, and they are not provably equal",
                notes=counterexample(answer, f"{x} == {y}"),
                remedy="narrow both sides to one region with spyre.set_valid_shape, or fill both"
                " with spyre.fillpad",
                dim=dim,
                extents=(x, y),
                verdict=answer.verdict,
            )
    region = tuple(
        min(pair, key=preference) for pair in zip(first.valid, second.valid, strict=True)
    )
    return replace(first, valid_shape=None if region == first.shape else region)


def _text(value: object) -> str:
    return spelled(value) if isinstance(value, tuple) else str(value)
