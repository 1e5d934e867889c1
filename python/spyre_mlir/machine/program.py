# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of a bundle as the machine runs them: operations in loops, with the address of every
core as the files state it.

Read with the reader of `spyre_mlir.sdsc`, and without its checks of what the files say twice:
`spyre validate` is for those."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from spyre_mlir.diagnostics import Refusal
from spyre_mlir.extents import evaluate
from spyre_mlir.extents import parse as parse_extent
from spyre_mlir.sdsc.findings import Fault, json_path
from spyre_mlir.sdsc.model import POOL, Bundle, Dim, Hbm, Mask, Parameter, Sdsc
from spyre_mlir.sdsc.parse import Execute, Given, Moving, TextError, TextLoop, Value, parse
from spyre_mlir.sdsc.recover import recover, start_symbols
from spyre_mlir.sdsc.schema import violations

TEXT = "bundle.mlir"


@runtime_checkable
class Compiled(Protocol):
    """What has files: name -> text, and constants: the values of the parameters that the compiler
    added, by parameter number."""

    @property
    def files(self) -> Mapping[str, str]: ...

    @property
    def constants(self) -> Mapping[int, float]: ...


Source = str | os.PathLike[str] | Mapping[str, str] | Bundle | Compiled
"""A folder; texts by file name; a bundle as a value."""


@dataclass(frozen=True, slots=True)
class Step:
    """One execution: the SDSC of a file, and per operand the addresses of its cores (empty for an
    operand in the scratchpad)."""

    file: str
    sdsc: Sdsc
    addresses: tuple[tuple[Hbm, ...], ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A counted loop."""

    trips: int
    body: tuple[Step | Repeat, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What a bundle runs. `arguments` are its parameters by number, `pool` the bytes that it
    allocates: None without a pool, or where the caller passes it."""

    body: tuple[Step | Repeat, ...]
    arguments: tuple[int, ...]
    pool: int | None
    pool_passed: bool = False

    def steps(self) -> Iterator[Step]:
        """All executions, depth first."""
        yield from _steps(self.body)


def _steps(body: tuple[Step | Repeat, ...]) -> Iterator[Step]:
    for node in body:
        if isinstance(node, Repeat):
            yield from _steps(node.body)
        else:
            yield node


def texts_of(source: Source) -> Mapping[str, str]:
    """The files of a bundle: name -> text. Refusal SPY150 for a folder that cannot be read."""
    if isinstance(source, Mapping):
        return source
    if isinstance(source, Bundle):
        # What a value says is what its files say.
        from spyre_mlir.sdsc.write import files

        return files(source)
    if isinstance(source, Compiled):
        return source.files
    folder = pathlib.Path(source)
    texts = {}
    try:
        for path in sorted(folder.iterdir()):
            if path.name == TEXT or path.suffix == ".json":
                texts[path.name] = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("SPY150", f"{folder} cannot be read: {error}") from None
    return texts


def read_program(source: Source, symbols: Mapping[str, int] | None = None) -> Program:
    """The program of a bundle, for these values of the symbols that its extents go with.

    Refuses files that are missing or no JSON (SPY150), a text that is no bundle (SPY151), a
    document that does not follow the schema (SPY152) or contradicts itself (SPY154), a symbol
    without a value or with one that the bundle has no room for (SPY134)."""
    texts = texts_of(source)
    try:
        text = parse(_text(texts, TEXT))
    except TextError as error:
        where = f"{TEXT}:{error.line}:{error.column}"
        raise Refusal("SPY151", f"{where}: {error.message}") from None
    body = _body(text.body, texts, symbols or {})
    pool = None if text.pool is None else text.pool.bytes
    return Program(body, text.arguments, pool, text.pool is not None and text.pool.bytes is None)


def _text(texts: Mapping[str, str], name: str) -> str:
    if name not in texts:
        raise Refusal("SPY150", f"{name} is missing")
    return texts[name]


def _body(
    nodes: tuple[Execute | TextLoop, ...], texts: Mapping[str, str], symbols: Mapping[str, int]
) -> tuple[Step | Repeat, ...]:
    return tuple(
        Repeat(node.trips, _body(node.body, texts, symbols))
        if isinstance(node, TextLoop)
        else _step(node, texts, symbols)
        for node in nodes
    )


def _step(node: Execute, texts: Mapping[str, str], symbols: Mapping[str, int]) -> Step:
    document = _document(node.file, _text(texts, node.file))
    values = dict(zip(node.symbols, node.values, strict=True))
    try:
        sdsc = recover(document, values)
        given = {
            (number.tag, number.granularity, number.maximum): passed(number, symbols)
            for number in sdsc.parameters
        }
        named = _named(document, values, given)
        addresses = tuple(
            tuple(_address(values, symbol, named) for symbol in own)
            for own in start_symbols(document)
        )
    except Fault as fault:
        where = f"{node.file}: {json_path(fault.path)}"
        raise Refusal("SPY154", f"{where}: {fault.message}") from None
    except ValueError as error:
        raise Refusal("SPY154", f"{node.file}: {error}") from None
    for operand, own in zip(sdsc.operands, addresses, strict=True):
        if isinstance(operand.place, Hbm) and len(own) != sdsc.cores:
            raise Refusal("SPY154", f"{node.file}: {len(own)} addresses for {sdsc.cores} cores")
        if len({address.buffer for address in own}) > 1:
            raise Refusal("SPY154", f"{node.file}: the cores have one operand in several buffers")
    return Step(node.file, _at(sdsc, given), addresses)


Passed = Mapping[tuple[str, int, int], int]
"""(tag, granularity, largest value) of a parameter -> what the caller passes for it."""


def passed(parameter: Parameter, symbols: Mapping[str, int]) -> int:
    """What a caller passes for a parameter: the value of its tag in whole granules.

    Refusal SPY134 if a symbol has no value, or the value is larger than what memory is laid out
    for."""
    try:
        value = evaluate(parse_extent(parameter.tag), symbols)
    except KeyError as missing:
        raise Refusal("SPY134", f"the symbol {missing.args[0]} has no value") from None
    whole = -(-value // parameter.granularity) * parameter.granularity
    if not 0 <= whole <= parameter.maximum:
        raise Refusal(
            "SPY134", f"{parameter.tag} is {value}, and the bundle is laid out for up to "
            f"{parameter.maximum}"
        )  # fmt: skip
    return whole


def _named(document: dict[str, Any], values: Mapping[int, Value], passed: Passed) -> dict[str, int]:
    """What is passed for each parameter of `bundle.mlir`, by its name."""
    ((_, top),) = document.items()
    tags = top.get("inputSymbolsAndTags_", {})
    return {
        value.name: passed[tags[str(symbol)], value.granularity, value.maximum]
        for symbol, value in values.items()
        if isinstance(value, Given)
        and (tags.get(str(symbol)), value.granularity, value.maximum) in passed
    }


def _address(values: Mapping[int, Value], symbol: int, named: Mapping[str, int]) -> Hbm:
    """The address of a symbol, in granules of what is passed."""
    value = values.get(symbol)
    if isinstance(value, Hbm):
        return value
    if not isinstance(value, Moving):
        raise ValueError(f"symbol {symbol} is no address in {TEXT}")
    offset = value.start.offset
    for given, step in value.steps:
        if given.name not in named:
            raise ValueError(f"symbol {symbol} goes with {given.name}, which the file does not")
        offset += named[given.name] // given.granularity * step
    return replace(value.start, offset=offset)


def _at(sdsc: Sdsc, passed: Passed) -> Sdsc:
    """The operation with the extents that are passed: what is left of the largest ones is gap."""
    extents = {
        dim.label: passed[dim.symbolic.tag, dim.symbolic.granularity, dim.extent]
        for dim in sdsc.dims
        if dim.symbolic is not None
    }
    mask = tuple(
        mask if mask.tag is None else Mask(mask.dim, passed[mask.tag, 1, mask.valid], 0)
        for mask in sdsc.mask
    )
    if not extents:
        return replace(sdsc, mask=mask)
    left = {dim.label: dim.extent - extents.get(dim.label, dim.extent) for dim in sdsc.dims}
    operands = tuple(
        replace(
            operand,
            axes=tuple(replace(axis, gap=axis.gap + left[axis.dim]) for axis in operand.axes),
        )
        for operand in sdsc.operands
    )
    dims = tuple(Dim(dim.label, extents.get(dim.label, dim.extent)) for dim in sdsc.dims)
    return replace(sdsc, dims=dims, operands=operands, mask=mask)


def _document(name: str, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal("SPY150", f"{name} is no JSON: {error}") from None
    for path, message in violations(document):
        raise Refusal("SPY152", f"{name}: {json_path(path)}: {message}")
    found: dict[str, Any] = document
    return found


def buffer_name(buffer: int | str) -> str:
    """How messages call a buffer."""
    return "the pool" if buffer == POOL else f"argument {buffer}"
