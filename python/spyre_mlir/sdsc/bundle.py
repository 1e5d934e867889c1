# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of `bundle.mlir`, from the model: names and order of the reference compiler.

Names follow from roles: `%arg_1_core_4096` is argument 1 plus 4096 bytes for a core,
`%arg_1_slice_256` an operand that starts 256 bytes behind its argument, `%pool_addr_8192` a place
in the pool, `%sym_2_0` what the caller passes for a symbolic dim, first used by operation 2 as its
parameter 0. Constants stand at the top, each once, in the order of first use; `%addr_k` applies the
strides of the loops and of symbolic extents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spyre_mlir.sdsc.emit import Symbols, number, parameter_ids
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Loop, Operand, Parameter, Sdsc

BUNDLE_FILE = "bundle.mlir"

ARGUMENT_TYPE = "!sdscbundle.input_arg<index>"


def numbering(bundle: Bundle) -> Iterator[tuple[Sdsc, int, tuple[Symbols, ...]]]:
    """Operations in file order, each with the first free symbol number and the symbols of its
    operands."""
    first = 1
    for sdsc, _ in bundle.operations():
        symbols, after = number(sdsc, first)
        yield sdsc, first, symbols
        first = after


def file_name(index: int) -> str:
    """Name of the file of the operation at depth-first position `index`."""
    return f"sdsc_{index}.json"


def write_text(bundle: Bundle) -> str:
    """The text of `bundle.mlir`."""
    writer = _Writer(bundle.parameters)
    writer.loops(bundle.body)
    numbered = [(first, symbols) for _, first, symbols in numbering(bundle)]
    for (sdsc, _), (_, symbols) in zip(bundle.operations(), numbered, strict=True):
        for operand, own in zip(sdsc.operands, symbols, strict=True):
            for offset in own.offsets.values():
                writer.define(operand, offset)
    writer.body(bundle.body, iter(numbered), (), 2)
    # name of the value -> name and type of its parameter
    parameters = {f"arg_{k}": (f"arg_{k}_base_addr", ARGUMENT_TYPE) for k in bundle.arguments}
    pool = []
    if bundle.pool is not None and bundle.pool.bytes is None:
        parameters = {"pool": ("pool_base_addr", ARGUMENT_TYPE), **parameters}
    elif bundle.pool is not None:
        pool = [f"\t\t%pool = sdscbundle.device_mem_allocate {bundle.pool.bytes} bytes : index"]
    for parameter, name in writer.parameters.items():
        parameters[name] = f"{name}_base", parameter.type
    head = ", ".join(f"%{parameter}: {type}" for parameter, type in parameters.values())
    return "\n".join(
        [
            *(f"#map_{k} = {_affine_map(*terms)}" for k, terms in enumerate(writer.maps)),
            "module {",
            f"\tfunc.func @sdsc_bundle({head}) {{",
            *pool,
            *(
                f"\t\t%{name} = sdscbundle.input_arg_extract value from %{parameter} : "
                f"{type} -> index"
                for name, (parameter, type) in parameters.items()
            ),
            *writer.constants,
            *writer.lines,
            "\t\treturn",
            "\t}",
            "}",
            "",
        ]
    )


Terms = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
"""Bytes per trip of each loop, and (granularity, bytes per granule) of symbolic extents."""


def _affine_map(advances: tuple[int, ...], granules: tuple[tuple[int, int], ...]) -> str:
    dims = ", ".join(f"d{k}" for k in range(len(advances)))
    symbols = ", ".join(f"s{k}" for k in range(len(granules) + 1))
    terms = [f" + {advance}*d{k}" for k, advance in enumerate(advances)]
    terms += [f" + {step}*(s{k} floordiv {grain})" for k, (grain, step) in enumerate(granules, 1)]
    return f"affine_map<({dims})[{symbols}] -> (s0{''.join(terms)})>"


class _Writer:
    """Collects the constants at the top, the maps, and the lines of the loops.

    `parameters`: where each one is first used, by which it is named."""

    def __init__(self, parameters: Mapping[Parameter, tuple[int, int]]) -> None:
        self.parameters = {p: f"sym_{index}_{k}" for p, (index, k) in parameters.items()}
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.maps: dict[Terms, int] = {}
        self.names: set[str] = set()
        self.addresses = 0
        self.inductions = 0
        self.executed = 0

    def loops(self, body: tuple[Sdsc | Loop, ...]) -> None:
        """Constants for the bounds of all loops, in depth-first order."""
        trips = list(_trips(body))
        if trips:
            self._constant("c0", 0)
            self._constant("c1", 1)
        for k, count in enumerate(trips):
            self._constant(f"loop_bound_{k}", count)

    def _constant(self, name: str, value: int) -> None:
        self.constants.append(f"\t\t%{name} = arith.constant {value} : index")

    def define(self, operand: Operand, offset: int) -> str:
        """The name of the address `offset` bytes into the operand's buffer; defines it if it is
        new."""
        place = operand.place
        assert isinstance(place, Hbm)
        if place.buffer == POOL:
            return self._sum("pool", f"pool_addr_{offset}", f"pool_offset_{offset}", offset)
        base = f"arg_{place.buffer}"
        if place.offset:
            base = self._sum(
                base,
                f"{base}_slice_{place.offset}",
                f"{base}_slice_offset_{place.offset}",
                place.offset,
            )
        step = offset - place.offset
        if not step:
            return base
        return self._sum(base, f"{base}_core_{step}", f"{base}_core_offset_{step}", step)

    def _sum(self, base: str, name: str, offset_name: str, offset: int) -> str:
        if name not in self.names:
            self.names.add(name)
            self._constant(offset_name, offset)
            self.constants.append(f"\t\t%{name} = arith.addi %{base}, %{offset_name} : index")
        return name

    def body(
        self,
        body: tuple[Sdsc | Loop, ...],
        symbols: Iterator[tuple[int, tuple[Symbols, ...]]],
        inductions: tuple[str, ...],
        depth: int,
    ) -> None:
        """Loops and executions, with the addresses that advance."""
        indent = "\t" * depth
        for node in body:
            if isinstance(node, Loop):
                k = self.inductions
                self.inductions += 1
                self.lines.append(f"{indent}scf.for %i_{k} = %c0 to %loop_bound_{k} step %c1 {{")
                self.body(node.body, symbols, (*inductions, f"%i_{k}"), depth + 1)
                self.lines.append(f"{indent}}}")
            else:
                self._execute(node, *next(symbols), inductions, indent)

    def _execute(
        self,
        sdsc: Sdsc,
        first: int,
        symbols: tuple[Symbols, ...],
        inductions: tuple[str, ...],
        indent: str,
    ) -> None:
        given = [(self.parameters[p], p.granularity) for p in sdsc.parameters]
        values = {
            symbol: f"%{name}"
            for symbol, (name, _) in zip(parameter_ids(sdsc, first), given, strict=True)
        }
        for operand, own in zip(sdsc.operands, symbols, strict=True):
            for symbol, offset in own.offsets.items():
                if symbol not in values:
                    steps = [(*given[k], step) for k, step in own.steps.get(symbol, ())]
                    values[symbol] = self._address(operand, offset, steps, inductions, indent)
        name = file_name(self.executed)
        self.executed += 1
        self.lines.append(
            f"{indent}sdscbundle.sdsc_execute ({', '.join(values.values())}) "
            f'{{sdsc_filename="{name}", "symbol_ids"=[{", ".join(map(str, values))}]}}'
        )

    def _address(
        self,
        operand: Operand,
        offset: int,
        steps: list[tuple[str, int, int]],
        inductions: tuple[str, ...],
        indent: str,
    ) -> str:
        """`steps`: (name of the extent, granularity, bytes per granule)."""
        name = f"%{self.define(operand, offset)}"
        assert isinstance(operand.place, Hbm)
        advances = operand.place.advances
        if not advances and not steps:
            return name
        if advances and len(advances) != len(inductions):
            raise ValueError(f"{len(advances)} advances in {len(inductions)} loops")
        terms = advances, tuple((grain, step) for _, grain, step in steps)
        k = self.maps.setdefault(terms, len(self.maps))
        applied = f"%addr_{self.addresses}"
        self.addresses += 1
        over = ", ".join(inductions) if advances else ""
        bases = ", ".join([name, *(f"%{extent}" for extent, _, _ in steps)])
        self.lines.append(f"{indent}{applied} = affine.apply #map_{k}({over})[{bases}]")
        return applied


def _trips(body: tuple[Sdsc | Loop, ...]) -> Iterator[int]:
    for node in body:
        if isinstance(node, Loop):
            yield node.trips
            yield from _trips(node.body)
