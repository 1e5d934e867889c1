# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a bundle folder back to the model, strictly.

Facts are taken from one place each, the model is emitted again, and every difference from the files
is a finding: so whatever a bundle says twice has to agree. What no repetition can show (addresses
outside buffers, spans, trip counts) is the business of `spyre_mlir.sdsc.validate`.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spyre_mlir.diagnostics import Note, Refusal
from spyre_mlir.sdsc.bundle import BUNDLE_FILE, file_name
from spyre_mlir.sdsc.compare import differences
from spyre_mlir.sdsc.emit import Symbols, emit, number, parameter_ids
from spyre_mlir.sdsc.findings import Fault, Finding, json_path
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Loop, Parameter, Sdsc
from spyre_mlir.sdsc.parse import (
    BundleText,
    Execute,
    Given,
    Moving,
    TextError,
    TextLoop,
    Value,
    moving,
    parse,
)
from spyre_mlir.sdsc.recover import recover, start_symbols
from spyre_mlir.sdsc.schema import violations

_SDSC_FILE = re.compile(r"sdsc_\d+\.json")


@dataclass(frozen=True, slots=True)
class Reading:
    """A folder as read: all findings, and the bundle if every file could be understood."""

    bundle: Bundle | None
    findings: tuple[Finding, ...]


def load(folder: str | os.PathLike[str]) -> Bundle:
    """The bundle in a folder. Refusal SPY150 with a note per finding if the files are not
    consistent."""
    reading = read(folder)
    if reading.bundle is None or reading.findings:
        raise Refusal(
            "SPY150",
            f"{os.fspath(folder)} holds no consistent bundle: {len(reading.findings)} findings",
            notes=tuple(Note(str(finding)) for finding in reading.findings[:20]),
        )
    return reading.bundle


def read(folder: str | os.PathLike[str]) -> Reading:
    """Read a folder and compare its files with what their own facts say. Never raises on bad
    content."""
    texts: dict[str, str] = {}
    unread: list[Finding] = []
    try:
        names = sorted(entry.name for entry in pathlib.Path(folder).iterdir())
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        return Reading(None, (Finding("SPY150", os.fspath(folder), "", message),))
    for name in names:
        if name != BUNDLE_FILE and not _SDSC_FILE.fullmatch(name):
            continue
        try:
            texts[name] = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            unread.append(Finding("SPY150", name, "", f"cannot be read: {reason}"))
    reading = read_texts(texts)
    unread_names = {finding.file for finding in unread}
    others = (finding for finding in reading.findings if finding.file not in unread_names)
    return Reading(reading.bundle, (*unread, *others))


def read_texts(texts: Mapping[str, str]) -> Reading:
    """The same for files in memory, name -> text. Never raises on bad content."""
    reader = _Reader(texts)
    bundle = reader.bundle()
    return Reading(bundle, tuple(reader.findings))


def parse_json(text: str) -> Any:
    """The JSON value of a text. ValueError also for a key that stands twice and for NaN."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) != len(items):
            keys = [key for key, _ in items]
            raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} stands twice")
        return value

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is no JSON number")

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


class _Reader:
    """The files of one bundle; collects findings."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.findings: list[Finding] = []
        self.executed: list[str] = []
        self.first: int | None = 1  # None: unknown, behind an operation that could not be read
        self.symbols: set[int] = set()
        self.given: dict[str, Parameter] = {}  # name of a parameter -> what it is passed for

    def find(self, code: str, file: str, place: str, message: str) -> None:
        self.findings.append(Finding(code, file, place, message))

    def text(self, name: str) -> str | None:
        """The text of a file, or None and a finding."""
        if name not in self.texts:
            self.find("SPY150", name, "", "is missing")
        return self.texts.get(name)

    def bundle(self) -> Bundle | None:
        """The bundle, if all of it can be understood."""
        text = self.text(BUNDLE_FILE)
        if text is None:
            return None
        try:
            parsed = parse(text)
        except TextError as error:
            self.find("SPY151", BUNDLE_FILE, f"{error.line}:{error.column}", error.message)
            self.alone()
            return None
        body = self.body(parsed.body)
        self.file_names()
        if body is None:
            return None
        bundle = Bundle(body, parsed.pool)
        self.parameters(bundle, parsed)
        return bundle

    def alone(self) -> None:
        """Check every SDSC by the schema where there is no bundle to say what it belongs to."""
        for name in self.names():
            self.document(name)

    def names(self) -> list[str]:
        """SDSC files, by number."""
        names = [name for name in self.texts if _SDSC_FILE.fullmatch(name)]
        return sorted(names, key=lambda name: (len(name), name))

    def file_names(self) -> None:
        """Files that no execution names."""
        for name in self.names():
            if name not in self.executed:
                self.find("SPY153", name, "", "no sdsc_execute of bundle.mlir runs this file")

    def parameters(self, bundle: Bundle, parsed: BundleText) -> None:
        """The function takes the arguments in use, by rising index, has a pool if one is in use,
        and then takes the extents, each once, by first use."""
        if bundle.arguments != parsed.arguments:
            self.find(
                "SPY153",
                BUNDLE_FILE,
                "",
                f"the parameters are arguments {_list(parsed.arguments)}, "
                f"in use are {_list(bundle.arguments)}",
            )
        names = [given.name for given in parsed.extents]
        if names != list(self.given):
            in_use = ", ".join(self.given)
            message = f"extents are passed as [{', '.join(names)}], in use are [{in_use}]"
            self.find("SPY153", BUNDLE_FILE, "", message)

    def body(self, nodes: tuple[Execute | TextLoop, ...]) -> tuple[Sdsc | Loop, ...] | None:
        """Operations and loops, or None if one of them cannot be understood."""
        body: list[Sdsc | Loop] = []
        complete = True
        for node in nodes:
            if isinstance(node, TextLoop):
                inner = self.body(node.body)
                complete = complete and inner is not None
                body.append(Loop(node.trips, inner or ()))
            else:
                sdsc = self.operation(node)
                if sdsc is None:
                    complete = False
                    self.first = None
                else:
                    body.append(sdsc)
        return tuple(body) if complete else None

    def document(self, name: str) -> dict[str, Any] | None:
        """The JSON of a file that follows the schema, or None and findings."""
        text = self.text(name)
        if text is None:
            return None
        try:
            document = parse_json(text)
        except (ValueError, RecursionError) as error:
            self.find("SPY150", name, "", f"is no JSON: {error}")
            return None
        refused = list(violations(document))
        for path, message in refused:
            self.find("SPY152", name, json_path(path), message)
        return None if refused else document

    def operation(self, execute: Execute) -> Sdsc | None:
        """The SDSC of one execution, compared with the file and the execution."""
        name, index = execute.file, len(self.executed)
        place = f"{execute.line}:1"
        if name != file_name(index):
            self.find(
                "SPY153",
                BUNDLE_FILE,
                place,
                f"operation {index} runs {name!r}, expected {file_name(index)!r}",
            )
        self.executed.append(name)
        if not _SDSC_FILE.fullmatch(name):
            return None
        document = self.document(name)
        if document is None:
            return None
        values = dict(zip(execute.symbols, execute.values, strict=True))
        try:
            sdsc = recover(document, values)
            first, symbols = self.number(sdsc, document, place)
            expected = emit(sdsc, index=index, first=first, symbols=symbols)
        except Fault as fault:
            self.find("SPY154", name, json_path(fault.path), fault.message)
            return None
        except ValueError as error:
            self.find("SPY154", name, "", str(error))
            return None
        if json.dumps(document) != json.dumps(expected):
            for path, message in differences(document, expected):
                self.find("SPY154", name, json_path(path), message)
        self.execution(execute, sdsc, first, symbols, place)
        return sdsc

    def number(
        self, sdsc: Sdsc, document: dict[str, Any], place: str
    ) -> tuple[int, tuple[Symbols, ...]]:
        """The symbols that the operation should have, counted from where its first operand counts,
        and the first of them."""
        first = self.first or 1
        for operand, ids in zip(sdsc.operands, start_symbols(document), strict=True):
            if ids and isinstance(operand.place, Hbm):
                has_base = operand.place.buffer != POOL and operand.place.offset != 0
                behind = len(sdsc.parameters) + has_base
                stated = max(-ids[0] - behind, 1)
                if self.first is not None and stated != self.first:
                    self.find(
                        "SPY155",
                        BUNDLE_FILE,
                        place,
                        f"the symbol ids begin with {ids[0]}, expected {-self.first - behind}",
                    )
                first = stated
                break
        symbols, self.first = number(sdsc, first)
        return first, symbols

    def passed(self, execute: Execute, sdsc: Sdsc, first: int, place: str) -> dict[int, Given]:
        """The parameters that give an operation its extents, by symbol id."""
        values = dict(zip(execute.symbols, execute.values, strict=True))
        found = {}
        for symbol, asked in zip(parameter_ids(sdsc, first), sdsc.parameters, strict=True):
            given = values.get(symbol)
            if not isinstance(given, Given):
                if given is not None:
                    message = f"symbol {symbol} of {execute.file} is an address, expected an extent"
                    self.find("SPY158", BUNDLE_FILE, place, message)
                continue
            found[symbol] = given
            if (given.granularity, given.maximum) != (asked.granularity, asked.maximum):
                message = (
                    f"{given.name} has granularity {given.granularity} and largest value "
                    f"{given.maximum}, symbol {symbol} of {execute.file} has "
                    f"{asked.granularity} and {asked.maximum}"
                )
                self.find("SPY158", BUNDLE_FILE, place, message)
            elif self.given.setdefault(given.name, asked) != asked:
                message = f"{given.name} is {self.given[given.name].tag}, and {asked.tag} as well"
                self.find("SPY158", BUNDLE_FILE, place, message)
            elif list(self.given.values()).count(asked) > 1:
                message = f"{asked.tag} is passed twice in granules of {asked.granularity}"
                self.find("SPY158", BUNDLE_FILE, place, message)
        return found

    def execution(
        self,
        execute: Execute,
        sdsc: Sdsc,
        first: int,
        symbols: tuple[Symbols, ...],
        place: str,
    ) -> None:
        """Symbol ids and values of an execution against those that the operation should have."""
        given = self.passed(execute, sdsc, first, place)
        ids = parameter_ids(sdsc, first)
        expected: dict[int, Value | None] = {symbol: given.get(symbol) for symbol in ids}
        for operand, own in zip(sdsc.operands, symbols, strict=True):
            if isinstance(operand.place, Hbm):
                for symbol, offset in own.offsets.items():
                    start = Hbm(operand.place.buffer, offset, operand.place.advances)
                    steps = [
                        (given[ids[k]], step)
                        for k, step in own.steps.get(symbol, ())
                        if ids[k] in given
                    ]
                    expected[symbol] = moving(start, steps)
        if tuple(expected) != execute.symbols:
            self.find(
                "SPY155",
                BUNDLE_FILE,
                place,
                f"symbol ids {_list(execute.symbols)}, expected {_list(tuple(expected))}",
            )
        for symbol in execute.symbols:
            if symbol >= 0 or symbol in self.symbols:
                reason = "is not negative" if symbol >= 0 else "is given out twice"
                self.find("SPY155", BUNDLE_FILE, place, f"symbol id {symbol} {reason}")
            self.symbols.add(symbol)
        for symbol, value in zip(execute.symbols, execute.values, strict=True):
            wanted = expected.get(symbol)
            if wanted is not None and value != wanted:
                self.find(
                    "SPY156",
                    BUNDLE_FILE,
                    place,
                    f"symbol {symbol} of {execute.file} is {_spelled(value)}, "
                    f"expected {_spelled(wanted)}",
                )


def _list(numbers: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, numbers)) + "]"


def _spelled(value: Value) -> str:
    if isinstance(value, Given):
        return f"the extent {value.name}"
    if isinstance(value, Moving):
        steps = "".join(f", {n} bytes per {g.granularity} of {g.name}" for g, n in value.steps)
        return f"{_spelled(value.start)}{steps}"
    base = POOL if value.buffer == POOL else f"argument {value.buffer}"
    advances = f", {_list(value.advances)} bytes per trip" if value.advances else ""
    return f"{base} + {value.offset} bytes{advances}"
