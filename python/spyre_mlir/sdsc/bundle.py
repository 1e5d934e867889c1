# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of `bundle.mlir`, from the model: names and order of the reference compiler.

Names follow from roles: `%arg_1_core_4096` is argument 1 plus 4096 bytes for a core,
`%arg_1_slice_256` an operand that starts 256 bytes behind its argument, `%pool_addr_8192` a place
in the pool. Constants stand at the top, each once, in the order of first use; `%addr_k` applies the
strides of the loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from spyre_mlir.sdsc.emit import Symbols, number
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Loop, Operand, Sdsc

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
    writer = _Writer()
    writer.loops(bundle.body)
    symbols = [symbols for _, _, symbols in numbering(bundle)]
    for (sdsc, _), numbered in zip(bundle.operations(), symbols, strict=True):
        for operand, own in zip(sdsc.operands, numbered, strict=True):
            for offset in own.offsets.values():
                writer.define(operand, offset)
    writer.body(bundle.body, iter(symbols), (), 2)
    parameters = [f"arg_{index}" for index in bundle.arguments]
    pool = []
    if bundle.pool is not None and bundle.pool.bytes is None:
        parameters.insert(0, "pool")
    elif bundle.pool is not None:
        pool = [f"\t\t%pool = sdscbundle.device_mem_allocate {bundle.pool.bytes} bytes : index"]
    head = ", ".join(f"%{name}_base_addr: {ARGUMENT_TYPE}" for name in parameters)
    return "\n".join(
        [
            *(f"#map_{k} = {_affine_map(advances)}" for k, advances in enumerate(writer.maps)),
            "module {",
            f"\tfunc.func @sdsc_bundle({head}) {{",
            *pool,
            *(
                f"\t\t%{name} = sdscbundle.input_arg_extract value from %{name}_base_addr : "
                f"{ARGUMENT_TYPE} -> index"
                for name in parameters
            ),
            *writer.constants,
            *writer.lines,
            "\t\treturn",
            "\t}",
            "}",
            "",
        ]
    )


def _affine_map(advances: tuple[int, ...]) -> str:
    dims = ", ".join(f"d{k}" for k in range(len(advances)))
    terms = "".join(f" + {advance}*d{k}" for k, advance in enumerate(advances))
    return f"affine_map<({dims})[s0] -> (s0{terms})>"


class _Writer:
    """Collects the constants at the top, the maps, and the lines of the loops."""

    def __init__(self) -> None:
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.maps: dict[tuple[int, ...], int] = {}
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
        symbols: Iterator[tuple[Symbols, ...]],
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
                self._execute(node, next(symbols), inductions, indent)

    def _execute(
        self, sdsc: Sdsc, symbols: tuple[Symbols, ...], inductions: tuple[str, ...], indent: str
    ) -> None:
        values: dict[int, str] = {}
        for operand, own in zip(sdsc.operands, symbols, strict=True):
            for symbol, offset in own.offsets.items():
                if symbol not in values:
                    values[symbol] = self._address(operand, offset, inductions, indent)
        name = file_name(self.executed)
        self.executed += 1
        self.lines.append(
            f"{indent}sdscbundle.sdsc_execute ({', '.join(values.values())}) "
            f'{{sdsc_filename="{name}", "symbol_ids"=[{", ".join(map(str, values))}]}}'
        )

    def _address(
        self, operand: Operand, offset: int, inductions: tuple[str, ...], indent: str
    ) -> str:
        name = f"%{self.define(operand, offset)}"
        assert isinstance(operand.place, Hbm)
        advances = operand.place.advances
        if not advances:
            return name
        if len(advances) != len(inductions):
            raise ValueError(f"{len(advances)} advances in {len(inductions)} loops")
        k = self.maps.setdefault(advances, len(self.maps))
        applied = f"%addr_{self.addresses}"
        self.addresses += 1
        self.lines.append(
            f"{indent}{applied} = affine.apply #map_{k}({', '.join(inductions)})[{name}]"
        )
        return applied


def _trips(body: tuple[Sdsc | Loop, ...]) -> Iterator[int]:
    for node in body:
        if isinstance(node, Loop):
            yield node.trips
            yield from _trips(node.body)
