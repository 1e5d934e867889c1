# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program after every pass of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from spyre_mlir import ir, passmanager
from spyre_mlir.compiler import Bundle, bundle_of, pipeline_of
from spyre_mlir.hardware import CORES, SPAN_LIMIT_BYTES

GIVEN = "as given"
"""Name of the stage before any pass."""

INFERRED = "spyre-infer-valid-shapes"
"""The pass that narrows regions under the policy `intersect`."""

MATERIALIZED = "spyre-materialize-extents"
"""The pass that makes arguments of symbols that only types use."""

PLANNED = "spyre-plan-memory"
"""The pass after which a program has places in memory."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a program is compiled; see `spyre_mlir.compile`."""

    cores: int = CORES
    span_limit: int = SPAN_LIMIT_BYTES
    plan: bool = True
    policy: str = "agree"
    remainder: str = "fallback"
    reductions: str = "fallback"
    division: str = "ignored"


@dataclass(frozen=True, slots=True)
class Stage:
    """A module after the pass `name`; `changed` is False where the pass left it as it was, `placed`
    says whether its memory is planned."""

    name: str
    module: ir.Operation
    changed: bool = True
    placed: bool = False


@dataclass(frozen=True, slots=True)
class Compiled:
    """The stages of a compilation in order, the bundle in the end."""

    stages: tuple[Stage, ...]
    bundle: Bundle


def compile_in_stages(module: ir.Operation, options: Options) -> Compiled:
    """Compiles a copy of a module pass by pass, keeping a copy after each.

    Raises what `spyre_mlir.compile` raises."""
    pipeline = str(passmanager.parse(pipeline_of(**asdict(options))))
    current = module.clone()
    found = [Stage(GIVEN, current.clone())]
    before, placed = str(current), False
    for name, text in passes_of(pipeline):
        passmanager.run(passmanager.parse(text), current)
        after = str(current)
        placed = placed or name == PLANNED
        found.append(Stage(name, current.clone(), after != before, placed))
        before = after
    return Compiled(tuple(found), bundle_of(current, options.span_limit))


def passes_of(pipeline: str) -> Iterator[tuple[str, str]]:
    """(name, pipeline of its own) of each pass of a textual pipeline on modules, in order."""
    root = "builtin.module"
    for element in _elements(pipeline.removeprefix(f"{root}(")[:-1]):
        anchor, nested, rest = element.partition("(")
        if nested and "{" not in anchor:
            for inner in _elements(rest[:-1]):
                yield _name(inner), f"{root}({anchor}({inner}))"
        else:
            yield _name(element), f"{root}({element})"


def _name(text: str) -> str:
    return text.partition("{")[0]


def _elements(text: str) -> Iterator[str]:
    """The elements of a list at its outermost level."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]
