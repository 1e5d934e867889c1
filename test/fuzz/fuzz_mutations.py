# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults put into valid programs and bundles.

`mutated` changes one figure of a program's text after some pass, or of a bundle's files, and says who finds it: the
reader and verifiers, a later pass, `spyre validate`, or the run of the bundle. `garbled` damages text, bytecode or JSON
at random: whatever comes, it is told with a message."""

from __future__ import annotations

import io
import json
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzz_generator import Generator
from fuzz_programs import Program

from spyre_mlir import ir, passmanager
from spyre_mlir.checking.inputs import Inputs, draw
from spyre_mlir.checking.stages import Options, compile_in_stages, passes_of
from spyre_mlir.compiler import bundle_of, pipeline_of, read_program
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.interpreter.cells import Bound, Cells
from spyre_mlir.interpreter.device import all_arguments
from spyre_mlir.interpreter.execution import Output, choose, execute
from spyre_mlir.interpreter.placement import Placement, read_placement
from spyre_mlir.interpreter.program import read_module
from spyre_mlir.interpreter.validation import difference
from spyre_mlir.machine import run_program
from spyre_mlir.machine.host import bound
from spyre_mlir.sdsc.validate import validate, validate_texts

BASES = 60
"""How many programs faults are put into: few, as each is compiled and run first."""


@dataclass(frozen=True)
class Base:
    """A program that compiles, its stages as text with the passes that are left, its files, and what it means."""

    program: Program
    stages: tuple[tuple[str, str, tuple[str, ...]], ...]
    files: dict[str, str]
    inputs: Inputs
    wanted: tuple[Any, ...]


@lru_cache(maxsize=64)
def base(seed: int) -> Base | None:
    """The program of a seed, None if it is refused or means nothing on random inputs."""
    program = Generator(seed).program()
    if program.symbols or not program.arguments:
        return None
    options = Options(**program.options)
    with ir.Context():
        module = ir.Module.parse(program.text())
        try:
            compiled = compile_in_stages(module.operation, options)
            function = choose(read_module(module), None)
            inputs = draw(function, seed=0)
            wanted = execute(module, inputs.arrays, symbols=inputs.symbols)
        except (Refusal, ir.MLIRError):
            return None
        texts = [
            text for _, text in passes_of(str(passmanager.parse(pipeline_of(**program.options))))
        ]
        stages = tuple(
            (stage.name, str(stage.module), tuple(texts[number:]))
            for number, stage in enumerate(compiled.stages[:-1])
        )
    return Base(program, stages, dict(compiled.bundle.files), inputs, wanted)


# ------------------------------------------------------------------------------ one figure is wrong

KINDS: dict[str, str] = {
    "shape": r"tensor<([\dx]+)x\w+",
    "layout": r"#spyre\.layout<\[([^\]]*)\]",
    "stride": r"#spyre\.layout<\[[^\]]*\] : \[([^\]]*)\]",
    "valid shape": r"valid_shape = \[([^\]]*)\]",
    "offset": r"(?:slice|into) [^\[\n]*\[([^\]]*)\]",
    "bound": r"arith\.constant (\d+) : index",
    "dims": r"dims = \[([^\]]*)\]",
    "permutation": r"permutation = \[([^\]]*)\]",
    "place": r"#spyre\.place<\w+ (\d+ \+ \d+)>",
    "division": r"#spyre\.work_division<([^>]*)>",
    "plan": r"levels = \[([^\]]*)\]",
    "dim": r"\{dim = (\d+)",
}
"""Kind of a figure in a program's text -> where it stands."""


@dataclass(frozen=True)
class Mutation:
    """What was changed, and who found it: "reader", "pass", "validate", "run", or None."""

    kind: str
    seed: int
    found: str | None
    detail: str = ""


def changed(text: str, pattern: str, draw: random.Random) -> str | None:
    """The text with one figure at a place that matches the pattern changed; None if there is none."""
    spots = [m for m in re.finditer(pattern, text) if re.search(r"\d", m.group(1))]
    if not spots:
        return None
    spot = draw.choice(spots)
    figures = list(re.finditer(r"-?\d+", spot.group(1)))
    figure = draw.choice(figures)
    value = int(figure.group())
    new = draw.choice([value + 1, value - 1, 2 * value, value // 2, 0, value + 64])
    if new == value:
        new = value + 1
    start = spot.start(1) + figure.start()
    return text[:start] + str(new) + text[start + len(figure.group()) :]


def mutated_program(seed: int) -> Mutation | None:
    """Changes one figure of a program after some pass, goes on with the passes that are left, and runs the bundle."""
    r = random.Random(seed)
    found = base(r.randrange(BASES))
    if found is None:
        return None
    stage, text, rest = r.choice(found.stages)
    kind = r.choice(list(KINDS))
    new = changed(text, KINDS[kind], r)
    if new is None or not rest:
        return None
    by = _who_finds(found, new, rest)
    return Mutation(kind, seed, by, f"after {stage}" if by is None else "")


def _who_finds(found: Base, text: str, rest: tuple[str, ...]) -> str | None:
    with ir.Context():
        try:
            module = ir.Module.parse(text)
        except (ir.MLIRError, ValueError):
            return "reader"
        try:
            for step, pipeline in enumerate(rest):
                passmanager.run(passmanager.parse(pipeline), module.operation)
                if step == len(rest) - 2:
                    planned = read_placement(module.operation.clone())
            if len(rest) == 1:
                planned = read_placement(ir.Module.parse(text).operation)
            bundle = bundle_of(module.operation, found.program.span_limit)
            files = bundle.files
        except (Refusal, ir.MLIRError):
            return "pass"
        if _findings(files, found.program.span_limit):
            return "validate"
        return None if _computes(found, files, planned) else "run"


def _findings(files: dict[str, str], limit: int) -> bool:
    return bool(validate_texts(files, limit=limit))


def _computes(found: Base, files: dict[str, str], placement: Placement) -> bool:
    """Whether the files compute what the program means."""
    try:
        values = all_arguments(placement, found.inputs.arrays, {})
        got = run_program(
            files,
            (placement.arguments, placement.results),
            [value.values for value in values if isinstance(value, Cells)],
            constants={},
            limit=found.program.span_limit,
            steps=10_000,
        )
    except Refusal:
        return False
    if len(got) != len(found.wanted):
        return False
    for (cells, poison), kind, wanted in zip(got, placement.results, found.wanted, strict=True):
        output = Output(cells, poison, Bound(kind.shape, kind.element, bound(kind, {})))
        if difference(wanted, output) is not None:
            return False
    return True


def mutated_bundle(seed: int) -> Mutation | None:
    """Changes one figure of a bundle's files; `validate` or the run finds it."""
    r = random.Random(seed)
    found = base(r.randrange(BASES))
    if found is None:
        return None
    name = r.choice(list(found.files))
    text = found.files[name]
    if name.endswith(".json"):
        kind, new = _changed_json(text, r)
    else:
        kind, new = _changed_bundle(text, r)
    if new is None or new == text:
        return None
    files = {**found.files, name: new}
    if _findings(files, found.program.span_limit):
        return Mutation(kind, seed, "validate")
    with ir.Context():
        *_, (_, planned, _) = found.stages
        placement = read_placement(ir.Module.parse(planned))
    by = None if _computes(found, files, placement) else "run"
    return Mutation(kind, seed, by, name if by is None else "")


def _changed_json(text: str, r: random.Random) -> tuple[str, str | None]:
    document = json.loads(text)
    leaves = list(_leaves(document, ()))
    path, value = r.choice(leaves)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if isinstance(value, bool):
        holder[path[-1]] = not value
    elif isinstance(value, int):
        holder[path[-1]] = r.choice([value + 1, value - 1, 2 * value + 1, value + 128])
    else:
        holder[path[-1]] = value + "_" if isinstance(value, str) else 1
    named = [key for key in path if isinstance(key, str) and not key[:1].isdigit()]
    return "json " + (named[-1] if named else "?"), json.dumps(document)


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in entries:
        if key == "debug_handle_":
            continue  # passed through unread
        if isinstance(inner, (dict, list)):
            yield from _leaves(inner, (*path, key))
        else:
            yield (*path, key), inner


BUNDLE_KINDS = {
    "bundle address": r"arith\.constant (\d+) : index",
    "bundle stride": r"affine_map<([^>]*>)",
    "bundle symbol id": r"\"symbol_ids\"=\[([^\]]*)\]",
    "bundle pool": r"device_mem_allocate (\d+) bytes",
    "bundle argument": r"(%arg_\d+)",
}


def _changed_bundle(text: str, r: random.Random) -> tuple[str, str | None]:
    kind = r.choice(list(BUNDLE_KINDS))
    return kind, changed(text, BUNDLE_KINDS[kind], r)


# ------------------------------------------------------------------------------ damaged at random


def damaged(data: bytes, r: random.Random) -> bytes:
    """Bytes with a few of them changed, removed, repeated or exchanged for other parts."""
    parts = bytearray(data)
    for _ in range(r.choice([1, 1, 2, 5])):
        at = r.randrange(len(parts) + 1)
        kind = r.randrange(5)
        length = r.choice([1, 1, 2, 8, 40])
        if kind == 0 and at < len(parts):
            parts[at] = r.randrange(256)
        elif kind == 1:
            del parts[at : at + length]
        elif kind == 2:
            parts[at:at] = parts[at : at + length]
        elif kind == 3:
            other = r.randrange(len(parts) + 1)
            parts[at : at + length] = parts[other : other + length]
        else:
            parts[at:at] = r.choice(
                [b"-1", b"9" * 20, b"0", b"x", b"[", b">", b'"', b"\0", b"\xff"]
            )
    return bytes(parts)


INTERNAL = re.compile(r"spyre-[\w-]+: \w+(Error|Exception|Iteration|Interrupt)\b")
"""How a pass tells of an exception of its own."""


def garbled(seed: int) -> tuple[str, str]:
    """("ok" | "refused" | "fault", message) of a damaged program or bundle."""
    r = random.Random(seed)
    found = base(r.randrange(BASES))
    if found is None:
        return "ok", ""
    kind = r.choice(["text", "text", "stage", "bytecode", "bundle"])
    try:
        if kind == "bundle":
            return _garbled_bundle(found, r)
        return _garbled_program(found, kind, r)
    except Exception as error:
        return "fault", f"{kind}: {type(error).__name__}: {error}"


def _garbled_program(found: Base, kind: str, r: random.Random) -> tuple[str, str]:
    _, text, rest = found.stages[0] if kind != "stage" else r.choice(found.stages)
    data = text.encode()
    if kind == "bytecode":
        with ir.Context():
            buffer = io.BytesIO()
            ir.Module.parse(text).operation.write_bytecode(buffer)
            data = buffer.getvalue()
    data = damaged(data, r)
    with ir.Context():
        try:
            module = read_program(data)
        except (ir.MLIRError, ValueError) as error:
            return "refused", str(error)
        try:
            for pipeline in rest:
                passmanager.run(passmanager.parse(pipeline), module.operation)
        except ir.MLIRError as error:
            kind_of = "fault" if INTERNAL.search(str(error)) else "refused"
            return kind_of, str(error)
    return "ok", ""


def _garbled_bundle(found: Base, r: random.Random) -> tuple[str, str]:
    name = r.choice(list(found.files))
    with tempfile.TemporaryDirectory() as folder:
        for other, text in found.files.items():
            data = text.encode()
            (Path(folder) / other).write_bytes(damaged(data, r) if other == name else data)
        findings = validate(folder, limit=found.program.span_limit)
    return ("refused" if findings else "ok"), ""
