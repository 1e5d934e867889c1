# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a rule is asked: one operation with its operands, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spyre_mlir.extents import Extent
from spyre_mlir.layouts import Layout
from spyre_mlir.optable import Op
from spyre_mlir.prover import Facts
from spyre_mlir.tensors import TensorType

from .agreement import Part, Region
from .refusals import RegionRefusal, spelled


class Query:
    """One question to a rule.

    `operands` has a TensorType per tensor, an extent or None per index value, None per scalar.
    `stated` are the result types as written, if they are: their shape, element type, layout and
    window flag stand, their region and pad are derived anew."""

    __slots__ = ("attributes", "facts", "op", "operands", "policy", "stated")

    def __init__(
        self,
        op: Op,
        operands: Sequence[TensorType | Extent | None],
        attributes: Mapping[str, Any],
        policy: str,
        facts: Facts,
        stated: Sequence[TensorType] | None,
    ) -> None:
        self.op = op
        self.operands = operands
        self.attributes = attributes
        self.policy = policy
        self.facts = facts
        self.stated = stated

    @property
    def name(self) -> str:
        """The operation as it is written."""
        return f"spyre.{self.op.name}"

    def label(self, index: int) -> str:
        """The name of an operand in the operation table; a member of a run carries its number."""
        declared = self.op.operands
        last = declared[min(index, len(declared) - 1)]
        if last.arity == "many":
            return f"{last.name}[{index - len(declared) + 1}]"
        return last.name

    def tensor(self, index: int) -> TensorType:
        """Operand `index`, which is a tensor."""
        operand = self.operands[index]
        if not isinstance(operand, TensorType):
            raise TypeError(f"{self.name}: operand {self.label(index)} is no tensor")
        return operand

    def values(self) -> list[Part]:
        """The tensors among the operands whose role is `value`."""
        declared = self.op.operands
        last = len(declared) - 1
        return [
            Part(self.label(i), operand.shape, operand.valid)
            for i, operand in enumerate(self.operands)
            if isinstance(operand, TensorType) and declared[min(i, last)].role == "value"
        ]

    def part(self, index: int) -> Part:
        """Operand `index` as one that takes part."""
        tensor = self.tensor(index)
        return Part(self.label(index), tensor.shape, tensor.valid)

    def attribute(self, name: str) -> Any:
        """The attribute, or its default."""
        if name in self.attributes:
            return self.attributes[name]
        return next(a.default for a in self.op.attributes if a.name == name)

    def stated_shape(self) -> tuple[int, ...]:
        """The shape of the result, where the operands do not give it."""
        if self.stated is not None:
            return self.stated[0].shape
        return tuple(self.attributes["shape"])

    def element(self, index: int = 0) -> str:
        """The element type of a result: as written, else the only allowed one, else the first
        value operand's."""
        if self.stated is not None:
            return self.stated[index].element
        allowed = self.op.results[index].elements
        if allowed is not None and len(allowed) == 1:
            return allowed[0]
        if "element" in self.attributes:
            return str(self.attributes["element"])
        roles = [operand.role for operand in self.op.operands]
        tensors = [
            (roles[min(i, len(roles) - 1)] != "value", i, o.element)
            for i, o in enumerate(self.operands)
            if isinstance(o, TensorType)
        ]
        return min(tensors)[2]

    def made(
        self,
        shape: tuple[int, ...],
        valid: Region,
        *,
        index: int = 0,
        pad: str | None = None,
        layout: Layout | None = None,
        window: bool = False,
    ) -> TensorType:
        """Result `index`, in canonical form: a region that is the whole shape is left out."""
        region = None if valid == shape else valid
        if self.facts.hidden and region is not None:
            self._all_named(region)
        if self.stated is None:
            return TensorType(shape, self.element(index), layout, window, region, pad)
        written = self.stated[index]
        if written.shape != shape:
            raise RegionRefusal(
                "SPY070",
                f"{self.name}: the result has shape {spelled(written.shape)}, the operands give"
                f" {spelled(shape)}",
            )
        if written.layout is not None:
            layout, window = written.layout, written.window
        if region is None:
            pad = written.pad  # a promise about no cell at all: it may be written or not
        if (region, pad, layout, window) == (
            written.valid_shape,
            written.pad,
            written.layout,
            written.window,
        ):
            return written
        return TensorType(shape, written.element, layout, window, region, pad)

    def fresh(self, shape: tuple[int, ...], valid: Region, *, index: int = 0) -> TensorType:
        """A result in a buffer of its own.

        It promises no pad and is no window. Its layout is that of an operand that owns the whole
        shape in a buffer of its own, if the element type stays; else it is left to be assigned
        from the shape. Of several layouts the order of the operands does not choose."""
        layout = None
        if self.stated is None or self.stated[index].layout is None:
            element = self.element(index)
            owned = {
                operand.layout
                for operand in self.operands
                if isinstance(operand, TensorType)
                and operand.layout is not None
                and operand.shape == shape
                and operand.element == element
                and not operand.window
            }
            layout = min(owned, key=_layout_order, default=None)
        return self.made(shape, valid, index=index, layout=layout)

    def _all_named(self, region: Region) -> None:
        for dim, extent in enumerate(region):
            unnamed = set(() if isinstance(extent, int) else extent.symbols) & {*self.facts.hidden}
            if unnamed:
                raise RegionRefusal(
                    "SPY079",
                    f"{self.name}: the valid extent of dim {dim} of the result would be {extent},"
                    f" which depends on a value that no type can name ({min(unnamed)})",
                    remedy="narrow or fill the operand first, so that the region is the same at"
                    " every offset, or introduce the value as a symbol with spyre.extent",
                    dim=dim,
                    extents=(extent,),
                )


def _layout_order(layout: Layout) -> tuple[object, ...]:
    return (
        layout.device_size,
        layout.stride_map,
        layout.format or "",
        layout.arrangement or "",
    )
