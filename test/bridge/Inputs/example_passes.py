# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes as another package would write them: what the tests of the bridge run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from spyre_mlir import ir
from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.passmanager import Pass, Pipeline, Property, option, statistic


class Shade(Enum):
    LIGHT = 1
    VERY_DARK = 2


def _lacks_tag(op: ir.Operation) -> str | None:
    return None if "tag" in op.attributes else "no tag"


TAGS = Property("tags", _lacks_tag, dialect="arith")


@dataclass(frozen=True)
class TagFunctions(Pass, name="test-tag", anchor="func.func", provides=(TAGS,)):
    """Writes the options on every function and its arithmetic.

    And counts what it tags."""

    label: str = option("none", help="text of the tag")
    times: int = option(1, help="how often the text is repeated")
    scale: float = option(0.5, help="a factor")
    shout: bool = option(False, help="whether the tag is in capitals")
    mood: Literal["calm", "tense"] = option("calm", help="how it is said")
    shade: Shade = option(Shade.LIGHT, help="the colour")
    sizes: tuple[int, ...] = option((1, 2), help="some sizes")
    words: tuple[str, ...] = option((), help="some words")
    tagged = statistic("operations tagged")
    functions = statistic("functions seen")

    def run(self, op: ir.Operation) -> None:
        text = self.label * self.times
        tag = ir.StringAttr.get(text.upper() if self.shout else text)
        self.functions.add()
        for inner in op.regions[0].blocks[0]:
            if inner.operation.name.startswith("arith."):
                inner.attributes["tag"] = tag
                self.tagged.add()
        op.attributes["tag"] = tag
        op.attributes["options"] = ir.StringAttr.get(str(self))


@dataclass(frozen=True)
class ReadTags(Pass, name="test-read-tags", anchor="func.func", requires=(TAGS,)):
    """Needs tags."""

    def run(self, op: ir.Operation) -> None:
        op.attributes["read"] = ir.UnitAttr.get()


@dataclass(frozen=True)
class RaiseError(Pass, name="test-raise"):
    """Fails with a Python exception."""

    kind: Literal["value", "key", "mlir", "exit"] = option("value", help="which exception")

    def run(self, op: ir.Operation) -> None:
        if self.kind == "mlir":
            ir.Module.parse("func.func @wrong(")
        kinds = {"value": ValueError, "key": KeyError, "exit": SystemExit}
        raise kinds[self.kind]("it went wrong")


@dataclass(frozen=True)
class RefuseAll(Pass, name="test-refuse", anchor="func.func"):
    """Refuses the first operation of every function."""

    def run(self, op: ir.Operation) -> None:
        first = op.regions[0].blocks[0].operations[0]
        raise Refusal(
            "SPY200",
            "12 bytes are more than 8 bytes",
            notes=(Note("the 12 bytes come from here", first), "and a note without a place"),
            remedy="use 8 bytes",
            place=first,
        )


@dataclass(frozen=True)
class CheckOptions(Pass, name="test-check"):
    """Checks its options when the pipeline is parsed."""

    even: int = option(2, help="an even number")

    def __post_init__(self) -> None:
        if self.even % 2:
            raise ValueError(f"option 'even' is {self.even}, which is odd")

    def run(self, op: ir.Operation) -> None:
        pass


@dataclass(frozen=True)
class MakeTensors(Pass, name="test-make", anchor="func.func", dependent_dialects=("tensor",)):
    """Creates an operation of a dialect that the input does not use."""

    def run(self, op: ir.Operation) -> None:
        shape = ir.RankedTensorType.get([4], ir.F16Type.get())
        block = op.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            ir.Operation.create("tensor.empty", results=[shape])


@dataclass(frozen=True)
class TagTwice(Pipeline, name="test-twice"):
    """Tags, cleans up and tags again."""

    label: str = option("twice", help="text of the tag")

    def passes(self) -> Iterable[Pass | Pipeline | str]:
        return TagFunctions(label=self.label), "cse", "test-check", TagFunctions(times=2)
