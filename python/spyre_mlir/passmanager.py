# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes and pipelines written in Python, first-class in MLIR.

    @dataclass(frozen=True)
    class TileOperations(Pass, name="spyre-tile", anchor="func.func", dependent_dialects=("scf",)):
        \"\"\"Tile operations whose span is too large.\"\"\"

        limit: int = option(268431360, help="largest span, in bytes")
        tiled = statistic("operations tiled")

        def run(self, op: ir.Operation) -> None: ...

`register(TileOperations)` makes it known: to `PassManager.parse`, to `spyre-opt --help`, to timing,
statistics and reproducers. `str(TileOperations(limit=4096))` is its text in a pipeline,
`spyre-tile{limit=4096}`; `apply(module, TileOperations(limit=4096), "canonicalize")` runs it.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

from mlir.ir import MLIRError  # type: ignore[attr-defined]
from mlir.passmanager import PassManager as PassManager

from spyre_mlir import ir, registry
from spyre_mlir._mlir_libs import _spyre
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.options import option as option
from spyre_mlir.options import options_of
from spyre_mlir.reports import describe as describe
from spyre_mlir.reports import report
from spyre_mlir.schemas import Schema

T = TypeVar("T", bound="type[Pass] | type[Pipeline]")


@dataclass(frozen=True, slots=True)
class Property:
    """Something that passes make true and others count on: a predicate on single operations.

    `lacks(op)` says in a few words what an operation has instead (`"no device layout"`), or returns
    None. It is asked of the operations of `dialect`, of one of each kind (`spyre_mlir.listings`); IR
    without any has the property."""

    name: str
    lacks: Callable[[ir.Operation], str | None]
    dialect: str = "spyre"


class Statistic:
    """A number that MLIR shows with `--mlir-pass-statistics`; see `statistic`."""

    __slots__ = ("_argument", "_index", "help", "name")

    def __init__(self, help: str) -> None:
        self.help = help

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.replace("_", "-")

    def bind(self, argument: str, index: int) -> None:
        self._argument, self._index = argument, index

    def add(self, count: int = 1) -> None:
        """Adds to the number; without effect when no pass manager runs the pass."""
        _spyre.count(self._argument, self._index, count)


def statistic(help: str) -> Statistic:
    """Declares a statistic of a pass: `tiled = statistic("operations tiled")`.

    In `run`, `self.tiled.add(3)` counts."""
    return Statistic(help)


class _Registrable:
    """What passes and pipelines share: a name, and options that are the fields of a dataclass."""

    name: ClassVar[str]

    def __str__(self) -> str:
        """The text that stands for this object in a pipeline, without the options that have their
        default value."""
        words = []
        for field in options_of(type(self)):
            texts = field.encode(getattr(self, field.field))
            if texts != field.schema.defaults:
                value = ",".join(map(_spyre.spell_option_value, texts))
                value = f"{{{value}}}" if field.schema.is_list else value
                words.append(f"{field.schema.name}={value}")
        return f"{self.name}{{{' '.join(words)}}}" if words else self.name


class Pass(_Registrable):
    """A pass: a frozen dataclass with a method `run`.

    `name` is the name on the command line, `anchor` the operation it runs on (empty: any). Of the
    `dependent_dialects` it may create operations. Every operation in the anchor must have the
    properties of `requires`; a pass that runs too early is refused, with the pass to run first,
    which is the one that `provides` the property.

    MLIR runs a pass on several functions at the same time and in any order: `run` changes nothing
    outside its operation, and nothing in `self`."""

    anchor: ClassVar[str] = ""
    dependent_dialects: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[tuple[Property, ...]] = ()
    provides: ClassVar[tuple[Property, ...]] = ()

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        anchor: str = "",
        dependent_dialects: tuple[str, ...] = (),
        requires: tuple[Property, ...] = (),
        provides: tuple[Property, ...] = (),
    ) -> None:
        if name is None:  # an abstract base, or the copy that dataclass(slots=True) makes
            return
        cls.name, cls.anchor, cls.dependent_dialects = name, anchor, dependent_dialects
        cls.requires, cls.provides = requires, provides
        for index, number in enumerate(_statistics_of(cls)):
            number.bind(name, index)

    def run(self, op: ir.Operation) -> None:
        """Changes `op` in place.

        Raises Refusal for what the compiler will not do; it becomes an error at its place, any
        other exception an error at `op`. Both fail the pass."""
        raise NotImplementedError


class Pipeline(_Registrable):
    """A named list of passes: a frozen dataclass with a method `passes`."""

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        if name is not None:
            cls.name = name

    def passes(self) -> Iterable[Pass | Pipeline | str]:
        """The passes in order, each for its anchor; those for any operation, and those of MLIR (as
        text: `"canonicalize"`), join the passes before them."""
        raise NotImplementedError


# ------------------------------------------------------------------------------ registration


def _statistics_of(cls: type) -> list[Statistic]:
    return [value for value in vars(cls).values() if isinstance(value, Statistic)]


def schema_of(cls: type[Pass] | type[Pipeline]) -> Schema:
    """What MLIR is told about a class. Raises TypeError where the class is not as it must be."""
    summary = (cls.__doc__ or "").strip().splitlines()
    if not summary or summary[0].startswith(f"{cls.__name__}("):
        raise TypeError(f"{cls.__qualname__} has no docstring: its first line is the help")
    schema = Schema(
        argument=cls.name,
        module=cls.__module__,
        class_name=cls.__name__,
        is_pipeline=True,
        description=summary[0].removesuffix("."),
        anchor="",
        options=tuple(field.schema for field in options_of(cls)),
        statistics=(),
        dependent_dialects=(),
        requires=(),
        provides=(),
        checks_options=hasattr(cls, "__post_init__"),
    )
    if not issubclass(cls, Pass):
        return schema
    return schema._replace(
        is_pipeline=False,
        anchor=cls.anchor,
        statistics=tuple((number.name, number.help) for number in _statistics_of(cls)),
        dependent_dialects=cls.dependent_dialects,
        requires=tuple(needed.name for needed in cls.requires),
        provides=tuple(made.name for made in cls.provides),
    )


def schemas_of(module: Any) -> list[Schema]:
    """The schemas of the passes and pipelines that a module defines."""
    return [
        schema_of(value)
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, (Pass, Pipeline))
        and value.__module__ == module.__name__
        and "name" in vars(value)
    ]


def register(cls: T) -> T:
    """Makes a pass or pipeline known to MLIR; usable as a decorator above `@dataclass`.

    Raises ValueError if the name is taken or a dependent dialect is not known, TypeError if `cls`
    is not as it must be."""
    registry.register(schema_of(cls), cls)
    return cls


# ------------------------------------------------------------------------------ pipelines as text


def from_texts(cls: type, values: tuple[tuple[str, ...], ...]) -> Any:
    """The object of a class for option values as MLIR has parsed them."""
    fields = options_of(cls)
    return cls(**{f.field: f.decode(texts) for f, texts in zip(fields, values, strict=True)})


def spell(passes: Iterable[Pass | Pipeline | str], *, root: str = "builtin.module") -> str:
    """The textual pipeline, to be run on `root`, of passes in order, each nested in its anchor."""
    groups: list[tuple[str, list[str]]] = []
    for item in passes:
        text = str(item)
        anchor = _anchor_of(item)
        if anchor is None and groups:
            anchor = groups[-1][0]
        anchor = "" if anchor in (None, root) else anchor
        if not groups or groups[-1][0] != anchor:
            groups.append((anchor, []))
        groups[-1][1].append(text)
    parts = [
        f"{anchor}({','.join(texts)})" if anchor else ",".join(texts) for anchor, texts in groups
    ]
    return ",".join(parts)


def _anchor_of(item: Pass | Pipeline | str) -> str | None:
    """What a pass is to be nested in: nothing, or (None) whatever the passes before it are."""
    if isinstance(item, Pass):
        return item.anchor or None
    if isinstance(item, Pipeline):
        return ""
    known = registry.schema(re.split(r"[{(,]", item, maxsplit=1)[0].strip())
    if known is None:
        return "" if "(" in item else None
    return "" if known.is_pipeline else known.anchor or None


def parse(pipeline: str, context: ir.Context | None = None) -> PassManager:
    """`PassManager.parse`, which this function replaces: looks passes of other packages up if they
    are named.

    Raises ValueError for a text that is not a pipeline, an unknown pass or a wrong option."""
    registry.know(registry.names_in(pipeline))
    return _stock_parse(pipeline, context)


# ------------------------------------------------------------------------------ running


class DiagnosticInfo(NamedTuple):
    """An error in a `MLIRError`; the fields of `mlir.ir.DiagnosticInfo`."""

    severity: ir.DiagnosticSeverity
    location: ir.Location
    message: str
    notes: list[Any]


def _info(severity: int, location: ir.Location, message: str, notes: list[Any]) -> DiagnosticInfo:
    return DiagnosticInfo(ir.DiagnosticSeverity(severity), location, message, notes)


def run(pass_manager: PassManager, operation: Any) -> None:
    """`PassManager.run`, which this function replaces: a pipeline with passes in Python runs on
    this thread only. MLIR's threads would wait for Python's lock, and gain nothing by it.

    Raises ir.MLIRError with the errors when a pass fails."""
    operation = operation.operation
    is_ours = registry.has_ours(str(pass_manager))
    with _remembering() if is_ours else nullcontext():
        succeeded, errors = _spyre.run_pass_manager(
            pass_manager,
            operation,
            is_ours,
            bool(operation.context.emit_error_diagnostics),
            _info,
        )
    if not succeeded:
        raise MLIRError("Failure while executing pass pipeline", errors)


def apply(operation: Any, *passes: Pass | Pipeline | str) -> None:
    """Runs passes on an operation in place, each nested in its anchor. Errors as in `run`."""
    operation = operation.operation
    text = f"{operation.name}({spell(passes, root=operation.name)})"
    run(parse(text, operation.context), operation)


def run_pass(instance: Pass, operation: ir.Operation) -> bool:
    """Runs a pass object on an operation; False, with the error reported there, if it failed."""
    with operation.context, operation.location, _remembering(), _uncollected():
        try:
            _check_properties(instance, operation)
            instance.run(operation)
        except BaseException as error:
            report(instance.name, operation, error)
            return False
    return True


def _remembering() -> AbstractContextManager[None]:
    """Types are read once in all passes that run inside."""
    from spyre_mlir.encodings import (
        remembering,
    )  # not before a pass of ours runs: it takes time to load

    return remembering()


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for circles of objects inside: a pass makes many objects and hardly a circle."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _check_properties(instance: Pass, operation: ir.Operation) -> None:
    if not instance.requires:
        return
    from spyre_mlir.listings import Listing  # as above

    examples = Listing(operation).examples
    for needed in instance.requires:
        for op in examples:
            lack = needed.lacks(op) if op.name.startswith(f"{needed.dialect}.") else None
            if lack is not None:
                raise _too_early(instance, needed, op, lack)


def _too_early(instance: Pass, needed: Property, op: ir.Operation, lack: str) -> Refusal:
    makers = [s.argument for s in registry.schemas() if needed.name in s.provides]
    return Refusal(
        "SPY200",
        f"{instance.name} needs {needed.name}: '{op.name}' has {lack}",
        remedy=f"run {' or '.join(makers)} first" if makers else None,
        place=op,
    )


# The bindings' own methods look up no entry points, and use threads that wait for Python's lock.
_stock_parse, _stock_run = PassManager.parse, PassManager.run
PassManager.parse = staticmethod(parse)  # type: ignore[method-assign]
PassManager.run = run  # type: ignore[assignment, method-assign]
registry.start()
