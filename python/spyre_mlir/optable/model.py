# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The vocabulary of the operation table: what one entry says, as plain values.

Nothing here imports MLIR or numpy: the table is read on the start-up path of the command lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]

FLOATS = ("f16", "bf16", "f32")
"""Element types on which floating arithmetic is defined."""

FLOAT8 = ("f8E4M3FN", "f8E5M2FNUZ")
"""8-bit floats: stored, moved, cast and multiplied as matrices, never computed on cell by cell."""

SIGNED = ("i8", "i16", "i32", "i64")
"""Integers: two's complement, arithmetic wraps."""

INTEGERS = (*SIGNED, "ui8")
BOOL = ("i1",)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*FLOATS, *FLOAT8, *INTEGERS, *BOOL)
"""Every element type of the dialect (design.md, plain values)."""

DYNAMIC = -(1 << 63)
"""Marks, in a list of static offsets, one that is given by the next index operand (as in MLIR)."""

ROLES = (
    "value",
    "scratch",
    "predicate",
    "accumulator",
    "target",
    "source",
    "index",
)
"""What an operand is to its operation.

`value` operands take part in valid-region agreement; `scratch` is workspace whose cells are
never read; `predicate` chooses between values and must cover them; `accumulator` and `target`
hold what the result continues; `source` is written into a target; `index` holds positions."""

RULES = (
    "elementwise",
    "union",
    "unary",
    "cast",
    "select",
    "packed_predicate",
    "reduce",
    "moments",
    "norm_scale",
    "norm",
    "contract",
    "accumulate",
    "topk",
    "restickify",
    "transpose",
    "reshape",
    "broadcast",
    "window",
    "write",
    "narrow",
    "fillpad",
    "concat",
    "gather",
    "scatter",
    "sort",
    "generate",
    "none",
)
"""Names of the valid-region rules; `spyre_mlir.regions` implements each once."""

TILINGS = ("pointwise", "reduction", "contraction", "scan", "move", "view", "none")
"""How the planner may treat an operation.

`pointwise`: every parallel dim is cut freely; `reduction` and `contraction`: parallel dims
freely, reduction dims with partial accumulation; `scan`: parallel dims only; `move`: as
pointwise, data changes place; `view`: no work of its own, its accesses are folded into its
users; `none`: not tiled."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand (or one run of operands) of an operation.

    `kind`: "tensor", "scalar" (of the element type), "either" (tensor or scalar) or "index" (a
    builtin `index` value). `arity`: "one", "optional" or "many" (only the last operand).
    `elements`: allowed element types where they are not those of the operation, else None."""

    name: str
    role: str = "value"
    kind: str = "tensor"
    arity: str = "one"
    elements: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One result. `elements`: allowed element types; None means the element type of the value
    operands."""

    name: str
    elements: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute.

    `kind`: "i64", "f64" (a 64-bit float), "bool", "string", "i64_array" (an array of i64) or
    "extents" (a list of extents). `choices` lists the values of a string that is one of few.
    `default` is None for an attribute that must be written, unless it is `optional`."""

    name: str
    kind: str
    default: Any = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def text(self) -> str:
        """How the kind is written in the documentation."""
        return f"{self.kind} of {', '.join(self.choices)}" if self.choices else self.kind


@dataclass(frozen=True, slots=True)
class Linear:
    """Index of one host dim, linear in the iteration dims.

    It is floor((sum of coefficient * iteration dim + constant + index operand) / divisor).

    `terms` are (iteration dim, coefficient); `offset` is the position among the operation's
    *index operands* of the one that is added, or None."""

    terms: tuple[tuple[int, int], ...] = ()
    constant: int = 0
    offset: int | None = None
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Domain:
    """Iteration domain of one operation and how each tensor is indexed from it.

    `extents` and `reduction` have one entry per iteration dim, outermost first; parallel dims
    come in result order. `operands` and `results` have one entry per operand and result: one
    `Linear` per host dim, or None for what is not indexed by the domain (scalars, index
    operands, scratch). `loaded` are iteration dims that are not iterated: each stands for a position
    that is loaded from memory, and takes any value below its extent."""

    extents: Shape
    reduction: tuple[bool, ...]
    operands: tuple[tuple[Linear, ...] | None, ...]
    results: tuple[tuple[Linear, ...] | None, ...]
    loaded: tuple[int, ...] = ()


DomainFunction = Callable[[Sequence[Shape | None], Sequence[Shape], Mapping[str, Any]], Domain]
"""(operand shapes, None for a scalar or an index; result shapes; attributes with defaults filled
in) -> domain."""


@dataclass(frozen=True, slots=True)
class Combine:
    """How results over parts of the reduced range become the one over all of it.

    `function` is the elementwise operation of two of them, earlier part first. `part` is the
    operation of one part where that is not the operation itself. `divided`: the total is divided by
    the number of reduced cells; `weighted`: what a part gives is a mean, multiplied by the number of
    its cells before. `positions`: results are positions of what `part` gives, and the earlier one
    stays where this predicate holds between the later value and the earlier. `into` names the operand
    that takes the result over the parts before, in an operation that adds to it."""

    function: str
    part: str | None = None
    divided: bool = False
    weighted: bool = False
    positions: str | None = None
    into: str | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """What the backend offers for an operation (SDSC bundle specification; design.md appendix A).

    `functions`: (key, opFuncName) pairs. The key is "" for an operation with one function;
    "stick" and "nonstick" for reductions; the predicate of a comparison; "f16->f32" for a cast;
    the result's name where each result has a function of its own; an element type where only
    that one is taken. "*" is the last resort among keys. `constants`: (SDSC constant name,
    attribute name or what fills it) pairs. `decomposition`: operations that together mean the
    same. `refusal`: why there is none, naming the nearest function or a decomposition."""

    functions: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    decomposition: tuple[str, ...] = ()
    refusal: str | None = None

    def function(self, key: str = "") -> str | None:
        """The opFuncName for `key`, or None if the backend has none."""
        named = dict(self.functions)
        return named.get(key, named.get("*"))

    @property
    def text(self) -> str:
        """One line for the documentation."""
        if self.functions:
            return " ".join(dict.fromkeys(name for _, name in self.functions))
        if self.decomposition:
            return "decomposed: " + ", ".join(self.decomposition)
        return "refused" if self.refusal else "by addresses"


@dataclass(frozen=True, slots=True)
class Example:
    """A smallest use: types of operands, attributes in MLIR text, types of results.

    `text` is the statement itself where its form is not the uniform one."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    attributes: str = ""
    text: str | None = None

    def statement(self, name: str) -> str:
        """The operation in MLIR text, operands numbered from %arg0."""
        if self.text is not None:
            return self.text
        values = ", ".join(f"%arg{i}" for i in range(len(self.operands)))
        results = ", ".join(f"%{i}" for i in range(len(self.results)))
        text = f"{results} = spyre.{name}" + (f" {values}" if values else "")
        text += f" {{{self.attributes}}}" if self.attributes else ""
        back = ", ".join(self.results)
        back = back if len(self.results) == 1 else f"({back})"
        return f"{text} : ({', '.join(self.operands)}) -> {back}"

    def function(self, name: str) -> str:
        """A whole function around the operation, ready to parse."""
        arguments = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(self.operands))
        returned = ", ".join(f"%{i}" for i in range(len(self.results)))
        types = ", ".join(self.results)
        head = f"func.func @{name}_example({arguments})" + (f" -> ({types})" if types else "")
        back = f"return {returned} : {types}" if types else "return"
        return f"{head} {{\n  {self.statement(name)}\n  {back}\n}}\n"


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of the dialect: everything that is said about it, once.

    `name` is without the dialect prefix. `elements` are the element types that value operands
    may have. `constraints` are the verifier's sentences in order; their labels are C1, C2, ...
    (`labelled`).

    `scalar`, where the operation is a function of cells, takes a numpy-like namespace, then one
    array per value operand (in the compute type), then the attributes as keywords; for a reduction
    an array and the axes. With `rounds_between` it also takes a keyword `rounded`, which rounds an
    intermediate to the element type; with `one_step` it is a single rounded operation, so that it
    may be handed f16 as it is (numpy computes each f16 operation in f32 and rounds once); if it is
    `exact` it rounds nothing, and any element type may be handed as it is.

    `domain` is None where no linear map exists; `addresses` then says how cells move. `hazard`,
    where some operand values mean nothing, is what is wrong and a function of the namespace and
    the operand arrays that gives a mask of such cells. `rule` names the valid-region rule,
    `tiling` how the planner treats it, `combine` how a reduced range may be divided; None where it
    may not."""

    name: str
    family: str
    summary: str
    description: str
    operands: tuple[Operand, ...]
    results: tuple[Result, ...]
    attributes: tuple[Attribute, ...]
    elements: tuple[str, ...]
    constraints: tuple[str, ...]
    example: Example
    rule: str
    device: Device
    tiling: str
    scalar: Callable[..., Any] | None = None
    domain: DomainFunction | None = None
    addresses: str | None = None
    commutative: bool = False
    rounds_between: bool = False
    one_step: bool = False
    exact: bool = False
    hazard: tuple[str, Callable[..., Any]] | None = None
    combine: Combine | None = None

    @property
    def labelled(self) -> tuple[tuple[str, str], ...]:
        """(label, sentence) of each constraint."""
        return tuple((f"C{i}", text) for i, text in enumerate(self.constraints, start=1))

    def constraint(self, label: str) -> str:
        """The verifier's message for `label`: "C1: ..."."""
        return f"{label}: {dict(self.labelled)[label]}"

    def attribute_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """`given` with defaults filled in, in table order. KeyError for a missing or an unknown
        attribute."""
        unknown = [name for name in given if name not in {a.name for a in self.attributes}]
        if unknown:
            raise KeyError(f"spyre.{self.name} has no attribute {unknown[0]!r}")
        values: dict[str, Any] = {}
        for attribute in self.attributes:
            value = given.get(attribute.name, attribute.default)
            if value is None and not attribute.optional:
                raise KeyError(f"spyre.{self.name} needs attribute {attribute.name!r}")
            values[attribute.name] = value
        return values


def element_constraint(elements: tuple[str, ...], what: str = "element type") -> str:
    """The verifier's sentence for a set of element types."""
    return f"{what} must be one of {', '.join(elements)}"
