# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which passes and pipelines exist, told to MLIR without loading them.

`start` makes every pass of `spyre_mlir.passes` known to MLIR, options and all, and loads none:
their schemas come from a cache that is valid as long as no source file of this package changed, and
is made anew otherwise, as Python does with its bytecode. The module of a pass is loaded when the
pass first runs.

Passes of other packages are found by the entry point group `spyre_mlir.passes` (each entry names a
module), which is looked up when a name is not known, or by `load_module`.
"""

from __future__ import annotations

import importlib
import importlib.util
import marshal
import os
import re
import sys
from binascii import crc32
from collections.abc import Iterable, Iterator
from typing import Any

import mlir._mlir_libs as _libs  # before the extension, which finds the MLIR libraries by name

from spyre_mlir._mlir_libs import _spyre
from spyre_mlir.schemas import Schema

PASSES = "spyre_mlir.passes"
"""The package of our own passes, and the group of entry points of those of others."""

_schemas: dict[str, Schema] = {}
_classes: dict[str, type] = {}
_unfinished: list[str] = []
"""Modules of ours that were being imported when their passes were asked for."""
_contexts: dict[int, Any] | None = None
_started = False
_entry_points_are_loaded = False


def schemas() -> tuple[Schema, ...]:
    """Everything registered, in alphabetical order."""
    start()
    return tuple(_schemas[argument] for argument in sorted(_schemas))


def schema(argument: str) -> Schema | None:
    """The pass or pipeline `argument`, or None if it is not one of ours."""
    return _schemas.get(argument)


def register(new: Schema, cls: type | None = None) -> None:
    """Tells MLIR of a pass or pipeline, of which the class may not be loaded yet. The same one
    again has no effect.

    Raises ValueError if another one has the name, or a dependent dialect is not known."""
    known = _schemas.get(new.argument)
    if known == new:
        if cls is not None:
            _classes[new.argument] = cls
        return
    if known is not None:
        raise ValueError(
            f"{new.module}.{new.class_name}: the name {new.argument} belongs to "
            f"{known.module}.{known.class_name}"
        )
    if _spyre.is_registered(new.argument):
        raise ValueError(f"{new.module}.{new.class_name}: MLIR has a pass named {new.argument}")
    for dialect in new.dependent_dialects:
        if not _spyre.is_dialect(dialect):
            raise ValueError(f"{new.module}.{new.class_name}: there is no dialect {dialect}")
    _schemas[new.argument] = new
    if cls is not None:
        _classes[new.argument] = cls
    tell = _spyre.register_pipeline if new.is_pipeline else _spyre.register_pass
    tell(new, new.argument)


def load_module(name: str) -> None:
    """Imports a module and registers the passes and pipelines that it defines."""
    module = import_late(name)
    for new in import_late("spyre_mlir.passmanager").schemas_of(module):
        register(new)


def names_in(pipeline: str) -> list[str]:
    """The passes and pipelines that a textual pipeline names."""
    previous = None
    while previous != pipeline:
        previous, pipeline = pipeline, re.sub(r"\{[^{}]*\}", "", pipeline)
    return re.findall(r"(?:^|[(,])\s*([\w.-]+)\s*(?=[,)]|$)", pipeline)


def has_ours(pipeline: str) -> bool:
    """Whether a textual pipeline names a pass or pipeline written in Python."""
    return any(name in _schemas for name in names_in(pipeline))


def know(arguments: Iterable[str]) -> None:
    """Looks the passes of other packages up if one of these names is not known."""
    while _unfinished:
        load_module(_unfinished.pop())
    if not all(map(_spyre.is_registered, arguments)):
        load_entry_points()


def load_entry_points() -> None:
    """Loads the modules that other packages name in the group `spyre_mlir.passes`, once."""
    global _entry_points_are_loaded
    if _entry_points_are_loaded:
        return
    _entry_points_are_loaded = True
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=PASSES), key=lambda entry: (entry.name, entry.value)):
        try:
            load_module(entry.value)
        except Exception as error:
            _warn(f"the passes of {entry.value}", error)


def import_late(name: str) -> Any:
    """Imports a module that needs the whole of MLIR's bindings.

    `mlir.ir` imports numpy if there is one; a tool that starts without it has barred it (see
    `_spyre_tools`), which must end before other modules are loaded."""
    importlib.import_module("spyre_mlir.ir")
    if sys.modules.get("numpy", ...) is None:
        del sys.modules["numpy"]
    return importlib.import_module(name)


# ------------------------------------------------------------------------------ what MLIR calls


def _class_of(argument: str) -> type:
    found = _classes.get(argument)
    if found is None:
        known = _schemas[argument]
        found = getattr(import_late(known.module), known.class_name)
        _classes[argument] = found
    return found


def _create(argument: str, values: tuple[tuple[str, ...], ...]) -> tuple[Any, str | None]:
    """(pass object, None), or (None, why there is none)."""
    runner = import_late("spyre_mlir.passmanager")
    try:
        return runner.from_texts(_class_of(argument), values), None
    except ValueError as error:  # how a class says that its options do not go together
        return None, f"{argument}: {error}"
    except Exception as error:
        return None, f"{argument}: {runner.describe(error)}"


def _expand(argument: str, values: tuple[tuple[str, ...], ...]) -> tuple[str | None, str | None]:
    """(the passes of a pipeline as text, None), or (None, why there are none)."""
    pipeline, error = _create(argument, values)
    if error is not None:
        return None, error
    runner = import_late("spyre_mlir.passmanager")
    try:
        text = runner.spell(pipeline.passes())
    except Exception as problem:
        return None, f"{argument}: {runner.describe(problem)}"
    know(names_in(text))
    return text, None


def keep_contexts() -> None:
    """Keeps every context that a pass sees from now on: for contexts that are not Python's.

    The bindings take a context they do not know for their own, and destroy it with its last
    Python object."""
    global _contexts
    _contexts = {}


def _run(instance: Any, operation: Any) -> bool:
    if _contexts is not None:
        _contexts[id(operation.context)] = operation.context
    succeeded: bool = sys.modules["spyre_mlir.passmanager"].run_pass(instance, operation)
    return succeeded


# ------------------------------------------------------------------------------ our own passes


def _sources(folder: str) -> Iterator[os.DirEntry[str]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            yield entry
        elif not entry.name.startswith(("_", ".")) and entry.is_dir():
            yield from _sources(entry.path)


def _state(folders: list[str]) -> list[tuple[str, int, int]]:
    """What changes when a source file does: an option's default may come from any module."""
    files = (entry for folder in folders for entry in _sources(folder))
    stats = ((entry.path, entry.stat()) for entry in files)
    return [(path, stat.st_mtime_ns, stat.st_size) for path, stat in stats]


def start() -> None:
    """Connects MLIR with the functions above and registers the passes of our own; once."""
    global _started
    if _started:
        return
    _started = True
    _spyre.register_dialects(_libs.get_dialect_registry())
    _spyre.initialize_bridge(_libs.get_dialect_registry(), _create, _run, _expand)
    spec = importlib.util.find_spec(PASSES)
    if spec is None or not spec.submodule_search_locations:
        return
    folder = spec.submodule_search_locations[0]
    folders = [*sys.modules["spyre_mlir"].__path__, folder]
    state = _state(folders)
    # One cache per Python and way of finding the package: checkout, editable or plain install.
    tag = f"{sys.implementation.cache_tag}-{crc32(os.pathsep.join(folders).encode()):08x}"
    cache = os.path.join(folder, "__pycache__", f"schemas.{tag}")
    known = _read(cache, state)
    if known is None:
        known, is_complete = _load_own(folder)
        if is_complete:
            _write(cache, state, known)
    for values in known:
        register(Schema.from_plain(values))


def _load_own(folder: str) -> tuple[list[tuple[Any, ...]], bool]:
    """The schemas of the modules in `folder`, and whether these are all."""
    runner = import_late("spyre_mlir.passmanager")
    found: list[tuple[Any, ...]] = []
    is_complete = True
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".py") or file.startswith("_"):
            continue
        name = f"{PASSES}.{file[:-3]}"
        try:
            module = importlib.import_module(name)
        except Exception as error:
            _warn(name, error)
            is_complete = False
            continue
        if getattr(module.__spec__, "_initializing", False):
            _unfinished.append(name)
            is_complete = False
            continue
        found += [new.plain() for new in runner.schemas_of(module)]
    return found, is_complete


def _warn(what: str, error: Exception) -> None:
    """One broken module must not take the passes of the others away."""
    describe = import_late("spyre_mlir.passmanager").describe
    print(f"warning: {what} cannot be loaded: {describe(error)}", file=sys.stderr)


def _read(cache: str, state: list[tuple[str, int, int]]) -> list[tuple[Any, ...]] | None:
    try:
        with open(cache, "rb") as file:
            written_for, known = marshal.load(file)
    except (OSError, EOFError, ValueError, TypeError):
        return None
    return known if written_for == state else None


def _write(cache: str, state: list[tuple[str, int, int]], known: list[tuple[Any, ...]]) -> None:
    """Keeps the cache, where the folder can be written to."""
    temporary = f"{cache}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        with open(temporary, "wb") as file:
            marshal.dump((state, known), file)
        os.replace(temporary, cache)
    except OSError:
        return
