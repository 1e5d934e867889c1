# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles to files, all or nothing.

A bundle that breaks the schema, a span or the bounds of a buffer is not written: that would be a
fault of the compiler.
"""

from __future__ import annotations

import errno
import json
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Mapping

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.sdsc.bundle import BUNDLE_FILE, file_name, numbering, write_text
from spyre_mlir.sdsc.emit import emit
from spyre_mlir.sdsc.findings import Finding, json_path
from spyre_mlir.sdsc.model import Bundle
from spyre_mlir.sdsc.schema import violations
from spyre_mlir.sdsc.validate import check

WASTE = "SPY164"
"""A buffer larger than its use is a finding, but no reason not to write a bundle."""

CONSTANTS_FILE = "constants.json"
"""Values of arguments that the compiler added, beside the bundle."""


def files(bundle: Bundle) -> dict[str, str]:
    """The files of a bundle: name -> text. Refusal SPY152 if one of them does not follow the
    schema."""
    texts = {BUNDLE_FILE: write_text(bundle)}
    for index, (sdsc, first, symbols) in enumerate(numbering(bundle)):
        document = emit(sdsc, index=index, first=first, symbols=symbols)
        for path, message in violations(document):
            raise Refusal("SPY152", f"{file_name(index)}: {json_path(path)}: {message}")
        texts[file_name(index)] = json.dumps(document, indent=2) + "\n"
    return texts


def write(
    bundle: Bundle,
    folder: str | os.PathLike[str],
    *,
    extra: Mapping[str, str] | None = None,
    limit: int = SPAN_LIMIT_BYTES,
    replace: bool = False,
) -> None:
    """Write a bundle into a folder of its own, which appears complete or not at all.

    `extra` are further files, name -> text. The folder may exist if it is empty, or with `replace`
    if it holds nothing but a bundle. Refusal SPY170 if it holds anything else; SPY157 to SPY163 if
    the bundle is unsound. OSError as the file system raises it; the folder is then as it was."""
    problems = [finding for finding in check(bundle, limit=limit) if finding.code != WASTE]
    if problems:
        raise _unsound(problems)
    texts = {**files(bundle), **(extra or {})}
    if not os.fspath(folder):
        raise ValueError("the folder of the bundle has no name")
    target = pathlib.Path(folder).absolute()
    _may_hold(target, set(texts), replace=replace)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:  # speaks of a folder that the caller does not know
        why = errno.ENOTDIR if isinstance(error, FileExistsError) else error.errno or errno.EIO
        raise OSError(why, os.strerror(why), str(target)) from None
    try:
        complete = scratch / "new"
        complete.mkdir()
        for name, text in texts.items():
            (complete / name).write_text(text, encoding="utf-8", newline="\n")
        if target.exists() and any(target.iterdir()):
            target.rename(scratch / "old")
        complete.rename(target)
    finally:
        old = scratch / "old"
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(scratch)


def _unsound(problems: list[Finding]) -> Refusal:
    first = problems[0]
    return Refusal(
        first.code,
        f"the bundle is not written: {first.file}: {first.place}: {first.message}",
        notes=tuple(Note(str(finding)) for finding in problems[1:20]),
    )


def _may_hold(target: pathlib.Path, names: set[str], *, replace: bool) -> None:
    """Refuse a target that is no folder, or one with files that a bundle has not, or has without
    `replace`."""
    if not target.exists():
        return
    if not target.is_dir():
        raise Refusal("SPY170", f"{target} is no folder")
    held = sorted(entry.name for entry in target.iterdir())
    foreign = [name for name in held if not _of_bundle(name) and name not in names]
    if foreign:
        raise Refusal(
            "SPY170",
            f"{target} holds {foreign[0]!r}, which is no part of a bundle",
            remedy="write the bundle into a folder of its own",
        )
    if held and not replace:
        raise Refusal(
            "SPY170",
            f"{target} holds a bundle already",
            remedy="remove it, choose another folder, or ask for it to be replaced",
        )


def _of_bundle(name: str) -> bool:
    known = (BUNDLE_FILE, CONSTANTS_FILE)
    return name in known or re.fullmatch(r"sdsc_\d+\.json", name) is not None
