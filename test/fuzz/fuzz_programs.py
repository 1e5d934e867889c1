# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the fuzzer as plain values, so that they can be reduced and written down.

A value is named by a string: `a0` is argument 0, `s3.1` result 1 of the statement numbered 3. A float
stands for a scalar constant of the statement's element type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from spyre_mlir import builders, encodings, ir
from spyre_mlir.hardware import SPAN_LIMIT_BYTES
from spyre_mlir.tensors import TensorType

Operand = str | float


@lru_cache(maxsize=1)
def context() -> ir.Context:
    """The context in which programs are drawn and written: to make one takes as long as a program."""
    return ir.Context()


@dataclass(frozen=True)
class Statement:
    """`op` is an operation of the dialect, or "map" or "fold": a loop over windows of `step` rows of
    the first operand, whose results are written one below the other, or combined.

    `given` are keywords of the builder; `hint` gives (dim, count) of a tile hint."""

    number: int
    op: str
    operands: tuple[Operand, ...]
    given: Mapping[str, Any] = field(default_factory=dict)
    hint: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Program:
    """`symbols`: (name, least, most) of index arguments behind the tensors."""

    arguments: tuple[TensorType, ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    symbols: tuple[tuple[str, int, int], ...] = ()
    cores: int = 1
    span_limit: int = SPAN_LIMIT_BYTES
    plan: bool = True
    policy: str = "agree"

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of `spyre_mlir.compile`."""
        return {
            "cores": self.cores,
            "span_limit": self.span_limit,
            "plan": self.plan,
            "policy": self.policy,
        }

    def text(self) -> str:
        """The program as MLIR text; raises what the builders raise."""
        with context(), ir.Location.unknown():
            writer = Writer(self.arguments, self.symbols)
            for statement in self.statements:
                writer.add(statement)
            return str(writer.finish(self.results))

    def without_unused(self) -> Program:
        """The program without statements and arguments on which no result depends."""
        needed, kept = set(self.results), []
        for statement in reversed(self.statements):
            if any(name.partition(".")[0] == f"s{statement.number}" for name in needed):
                kept.append(statement)
                needed |= {o for o in statement.operands if isinstance(o, str)}
        return replace(self, statements=tuple(reversed(kept)))._without_arguments(needed)

    def _without_arguments(self, needed: set[str]) -> Program:
        used = [i for i in range(len(self.arguments)) if f"a{i}" in needed]
        names: dict[Operand, Operand] = {f"a{i}": f"a{j}" for j, i in enumerate(used)}
        statements = tuple(
            replace(s, operands=tuple(names.get(o, o) for o in s.operands)) for s in self.statements
        )
        return replace(
            self,
            arguments=tuple(self.arguments[i] for i in used),
            statements=statements,
            results=tuple(str(names.get(r, r)) for r in self.results),
        )


class Writer:
    """Builds the module of a program statement by statement, in the current context."""

    def __init__(
        self, arguments: tuple[TensorType, ...], symbols: tuple[tuple[str, int, int], ...]
    ) -> None:
        from mlir.dialects import func

        self.arguments, self.symbols = arguments, symbols
        self.module = ir.Module.create()
        types = [encodings.write(a) for a in arguments] + [ir.IndexType.get()] * len(symbols)
        with ir.InsertionPoint(self.module.body):
            self.function = func.FuncOp("main", (types, []))
        self.block = self.function.add_entry_block()
        self.values: dict[str, ir.Value] = {
            f"a{i}": self.block.arguments[i] for i in range(len(arguments))
        }
        named = [{}] * len(arguments) + [_named(*symbol) for symbol in symbols]
        if symbols:
            attributes = [ir.DictAttr.get(entry) for entry in named]
            self.function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)

    def type_of(self, name: str) -> TensorType:
        """The type of a value."""
        return encodings.read(self.values[name].type)

    def add(self, statement: Statement) -> list[str]:
        """Builds a statement; the names of its results. Leaves nothing behind where it is refused."""
        before = list(self.block.operations)
        try:
            with ir.InsertionPoint(self.block):
                results = self._built(statement)
        except BaseException:
            for op in reversed(list(self.block.operations)[len(before) :]):
                op.operation.erase()
            raise
        names = [f"s{statement.number}.{i}" for i in range(len(results))]
        self.values.update(zip(names, results, strict=True))
        return names

    def _built(self, statement: Statement) -> list[ir.Value]:
        if statement.op in ("map", "fold"):
            return [self._loop(statement)]
        element = str(statement.given.get("element", "f16"))
        for operand in statement.operands:
            if isinstance(operand, str):
                element = self.type_of(operand).element
        operands = [
            self.values[o] if isinstance(o, str) else constant(o, element)
            for o in statement.operands
        ]
        built = builders.build(statement.op, *operands, **statement.given)
        results = list(built) if isinstance(built, tuple) else [built]
        if statement.hint:
            levels = ", ".join(f"parallel({dim}) {count}" for dim, count in statement.hint)
            results[0].owner.attributes["spyre.tile"] = ir.Attribute.parse(
                f"#spyre.tile_plan<origin = hint, group = 0, levels = [{levels}]>"
            )
        return results

    def _loop(self, statement: Statement) -> ir.Value:
        """`map`: rows of the result are `inner` of those of the source. `fold`: windows are combined."""
        from mlir.dialects import arith, scf

        source = self.values[str(statement.operands[0])]
        shape = tuple(source.type.shape)
        step, inner = statement.given["step"], statement.given["inner"]
        window, rest = (step, *shape[1:]), [0] * (len(shape) - 1)
        index = ir.IndexType.get()
        bounds = [arith.ConstantOp(index, n).result for n in (0, shape[0] // step * step, step)]
        if statement.op == "map":
            start = builders.build("empty", shape=shape, element=self.type_of_value(source).element)
        else:
            start = builders.build(
                "identity", builders.build("slice", source, static_offsets=[0, *rest], shape=window)
            )
        loop = scf.ForOp(bounds[0], bounds[1], bounds[2], [start])
        with ir.InsertionPoint(loop.body):
            at = loop.induction_variable
            offsets = [ir.ShapedType.get_dynamic_stride_or_offset(), *rest]
            part = builders.build("slice", source, at, static_offsets=offsets, shape=window)
            carried = loop.inner_iter_args[0]
            if statement.op == "map":
                made = builders.build(inner, part)
                made = builders.build("insert_slice", made, carried, at, static_offsets=offsets)
            else:
                made = builders.build(inner, carried, part)
            scf.YieldOp([made])
        return loop.results[0]

    @staticmethod
    def type_of_value(value: ir.Value) -> TensorType:
        """The type of a value."""
        return encodings.read(value.type)

    def finish(self, results: tuple[str, ...]) -> ir.Module:
        """Returns `results` from the function; the verified module."""
        from mlir.dialects import func

        values = [self.values[name] for name in results]
        with ir.InsertionPoint(self.block):
            func.ReturnOp(values)
        arguments = [argument.type for argument in self.block.arguments]
        signature = ir.FunctionType.get(arguments, [value.type for value in values])
        self.function.attributes["function_type"] = ir.TypeAttr.get(signature)
        self.module.operation.verify()
        return self.module


def _named(name: str, least: int, most: int) -> dict[str, ir.Attribute]:
    limits = ir.DenseI64ArrayAttr.get([least, most])
    return {"spyre.extent": ir.StringAttr.get(name), "spyre.range": limits}


def constant(value: float, element: str) -> ir.Value:
    """A scalar constant."""
    from mlir.dialects import arith

    kind = ir.Type.parse(element)
    number = value if element[0] in "fb" else int(value)
    return arith.ConstantOp(kind, number).result
