# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions as MLIR diagnostics: an error at the operation, a note at each cause."""

from __future__ import annotations

import _thread
import os
from types import TracebackType
from typing import Any

from mlir.ir import MLIRError  # type: ignore[attr-defined]

from spyre_mlir import ir
from spyre_mlir._mlir_libs import _spyre
from spyre_mlir.diagnostics import Refusal


def report(argument: str, operation: ir.Operation, error: BaseException) -> None:
    """Emits what went wrong in the pass `argument` while it worked on `operation`."""
    if isinstance(error, Refusal):
        _report_refusal(operation, error)
        return
    notes = [note for info in getattr(error, "error_diagnostics", ()) for note in _flat(info)]
    _spyre.emit_error(operation.location, f"{argument}: {describe(error)}", notes)
    if isinstance(error, KeyboardInterrupt):
        # It cannot pass through MLIR; raise it again as soon as the run is over.
        _thread.interrupt_main()


def describe(error: BaseException) -> str:
    """One line: type, message, and where it was raised."""
    text = error.message if isinstance(error, MLIRError) else str(error)
    place = _place(error.__traceback__)
    return f"{type(error).__name__}: {text}".removesuffix(": ") + (f" ({place})" if place else "")


def _place(trace: TracebackType | None) -> str:
    """FILE:LINE of the innermost frame; a file below the working folder is named from there."""
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    here = os.getcwd() + os.sep
    return f"{file.removeprefix(here)}:{trace.tb_lineno}"


def _report_refusal(operation: ir.Operation, refusal: Refusal) -> None:
    place = _location(refusal.place, operation.location)
    notes = [(_location(note.place, place), note.message) for note in refusal.notes]
    if refusal.remedy:
        notes.append((place, f"remedy: {refusal.remedy}"))
    _spyre.emit_error(place, f"{refusal.code}: {refusal.message}", notes)


def _location(place: Any, otherwise: ir.Location) -> ir.Location:
    """Where a refusal points: a location, something that has one (operation, value), or nothing."""
    if place is None:
        return otherwise
    return place if isinstance(place, ir.Location) else place.location


def _flat(info: Any) -> list[tuple[ir.Location, str]]:
    """The diagnostic that an inner operation raised, as notes."""
    return [(info.location, info.message), *(note for n in info.notes for note in _flat(n))]
