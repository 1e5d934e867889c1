# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of `bundle.mlir`, read strictly: what it runs, in which loops, at which addresses.

The reader knows the public format and nothing beyond it, needs no MLIR, and accepts any names,
spacing and order of definitions. Everything else is a `TextError` with line and column. An address
is a constant number of bytes into an argument or the pool, plus a constant per trip of an enclosing
loop and per granule of a symbolic extent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

from spyre_mlir.sdsc.model import POOL, Hbm, PoolBuffer


class TextError(Exception):
    """The text is no bundle: what is wrong, in which line and column (both from 1)."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Given:
    """A number that the caller passes for a symbolic dim or mask: name and type of the parameter."""

    name: str
    granularity: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Moving:
    """An address that goes with symbolic extents: bytes per granule of each parameter, by rising
    name."""

    start: Hbm
    steps: tuple[tuple[Given, int], ...]


Value = Hbm | Moving | Given
"""What a symbol stands for."""


def moving(start: Hbm, steps: Iterable[tuple[Given, int]]) -> Hbm | Moving:
    """An address that goes with extents, each named once; `start` if it goes with none."""
    total: dict[Given, int] = {}
    for given, step in steps:
        total[given] = total.get(given, 0) + step
    ordered = tuple((g, total[g]) for g in sorted(total, key=lambda g: g.name) if total[g])
    return Moving(start, ordered) if ordered else start


@dataclass(frozen=True, slots=True)
class Execute:
    """One `sdsc_execute`: the file it runs, and the value of each symbol, in the order of the
    text."""

    file: str
    symbols: tuple[int, ...]
    values: tuple[Value, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TextLoop:
    """One `scf.for` that counts from 0 to `trips`."""

    trips: int
    body: tuple[Execute | TextLoop, ...]
    line: int


@dataclass(frozen=True, slots=True)
class BundleText:
    """What the text says. `arguments` are the parameters by index, `extents` those for symbolic
    dims and masks, in their order."""

    arguments: tuple[int, ...]
    extents: tuple[Given, ...]
    pool: PoolBuffer | None
    body: tuple[Execute | TextLoop, ...]


@dataclass(frozen=True, slots=True)
class _Parameter:
    buffer: int | Literal["pool"]


@dataclass(frozen=True, slots=True)
class _Extent:
    """A parameter of a symbolic dim or mask; `taken`: the value in it."""

    given: Given
    taken: bool


@dataclass(frozen=True, slots=True)
class _Constant:
    value: int


@dataclass(frozen=True, slots=True)
class _Address:
    """`strides` by induction variable, `steps` by extent."""

    buffer: int | Literal["pool"]
    offset: int
    strides: tuple[tuple[str, int], ...] = ()
    steps: tuple[tuple[Given, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Induction:
    name: str


@dataclass(frozen=True, slots=True)
class _Map:
    """`s0 + constant`, strides of the dims, and of the further symbols (granularity, bytes per
    granule), None for one that is not used."""

    constant: int
    strides: tuple[int, ...]
    granules: tuple[tuple[int, int] | None, ...]


_Value = _Parameter | _Extent | _Constant | _Address | _Induction

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<value>%[\w$.-]+)
    |(?P<symbol>@[\w$.-]+)
    |(?P<hash>\#[\w$.-]+)
    |(?P<type>![\w$.-]+)
    |(?P<string>"[^"\n]*")
    |(?P<arrow>->)
    |(?P<number>-?\d+)
    |(?P<word>[A-Za-z_][\w.$]*)
    |(?P<mark>[(){}\[\]<>:,=+*])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str) -> BundleText:
    """What the text of a `bundle.mlir` says. TextError if it is not one."""
    return _Reader(text).module()


class _Reader:
    """Recursive descent over the tokens; values by name."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[_Token] = []
        self.position = 0
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self.fail(f"unexpected character {text[at]!r}", at)
            kind = str(match.lastgroup)
            if kind != "space":
                self.tokens.append(_Token(kind, match.group(), at))
            at = match.end()
        self.tokens.append(_Token("end", "the end of the text", len(text)))
        self.values: dict[str, _Value] = {}
        self.maps: dict[str, _Map] = {}
        self.extents: list[Given] = []
        self.pool: PoolBuffer | None = None
        self.inductions: list[str] = []

    # Tokens

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise at a position of the text, by default at the next token."""
        at = self.tokens[self.position].at if at is None else at
        line = self.text.count("\n", 0, at) + 1
        raise TextError(message, line, at - (self.text.rfind("\n", 0, at) + 1) + 1)

    def line(self) -> int:
        """The line of the next token."""
        return self.text.count("\n", 0, self.tokens[self.position].at) + 1

    def next_is(self, *texts: str) -> bool:
        """Whether the next tokens read like this."""
        here = self.tokens[self.position : self.position + len(texts)]
        return [token.text for token in here] == list(texts)

    def take(self, *texts: str) -> None:
        """Step over tokens that have to read like this."""
        for text in texts:
            if self.tokens[self.position].text != text:
                self.fail(f"expected {text!r}, found {self.tokens[self.position].text!r}")
            self.position += 1

    def kind(self, kind: str, what: str) -> str:
        """Step over a token of a kind and return its text."""
        token = self.tokens[self.position]
        if token.kind != kind:
            self.fail(f"expected {what}, found {token.text!r}")
        self.position += 1
        return token.text

    def number(self) -> int:
        """Step over an integer."""
        return int(self.kind("number", "an integer"))

    # Values

    def define(self, name: str, value: _Value) -> None:
        """Give a name its value, once."""
        if name in self.values:
            self.fail(f"{name} is defined twice")
        self.values[name] = value

    def use(self) -> tuple[str, _Value]:
        """Step over the use of a value."""
        at = self.tokens[self.position].at
        name = self.kind("value", "a value")
        if name not in self.values:
            self.fail(f"{name} is not defined here", at)
        return name, self.values[name]

    def constant(self, what: str) -> int:
        """Step over the use of a value that has to be a constant."""
        at = self.tokens[self.position].at
        name, value = self.use()
        if not isinstance(value, _Constant):
            self.fail(f"{what} {name} is not a constant", at)
        return value.value

    def address(self) -> _Address:
        """Step over the use of a value that has to be an address."""
        at = self.tokens[self.position].at
        name, value = self.use()
        if not isinstance(value, _Address):
            self.fail(f"{name} is not an address in an argument or the pool", at)
        return value

    # Structure

    def module(self) -> BundleText:
        """The whole text."""
        while self.tokens[self.position].kind == "hash":
            name = self.kind("hash", "a map")
            if name in self.maps:
                self.fail(f"{name} is defined twice")
            self.take("=")
            self.maps[name] = self.affine_map()
        self.take("module", "{", "func.func")
        if self.kind("symbol", "the name of the function") != "@sdsc_bundle":
            self.fail("the function is not @sdsc_bundle")
        arguments = self.parameters()
        body = self.block()
        self.take("}")
        if self.tokens[self.position].kind != "end":
            self.fail("text behind the module")
        return BundleText(arguments, tuple(self.extents), self.pool, body)

    def affine_map(self) -> _Map:
        """A map `(d0, ...)[s0, s1, ...] -> (s0 + stride * d0 + ... + step * (s1 floordiv grain) +
        ... + constant)`."""
        self.take("affine_map", "<", "(")
        dims = self.names(")", "a dim")
        self.take("[")
        base, *extents = self.names("]", "a symbol") or self.fail("the map has no symbol")
        self.take("->", "(")
        coefficients: dict[str, int] = {}
        granules: dict[str, tuple[int, int]] = {}
        while True:
            factor, name, grain = self.term()
            if name and name not in (*dims, base, *extents):
                self.fail(f"{name} is no dim or symbol of the map")
            if (name in extents) != (grain is not None) or name in granules:
                self.fail(f"{name} is an extent, added once by granules, or it is none")
            if grain is not None:
                granules[name] = grain, factor
            else:
                coefficients[name] = coefficients.get(name, 0) + factor
            if not self.next_is("+"):
                break
            self.take("+")
        if coefficients.get(base) != 1:
            self.fail(f"the map has to add {base} once")
        self.take(")", ">")
        strides = tuple(coefficients.get(dim, 0) for dim in dims)
        return _Map(coefficients.get("", 0), strides, tuple(granules.get(e) for e in extents))

    def names(self, end: str, what: str) -> list[str]:
        """Names with commas between them, and the mark that ends them."""
        names: list[str] = []
        while not self.next_is(end):
            if names:
                self.take(",")
            names.append(self.kind("word", what))
        self.take(end)
        return names

    def term(self) -> tuple[int, str, int | None]:
        """A factor and a name (or a name in granules), in any order, or one of them."""
        factor, name, grain = 1, "", None
        while True:
            if self.tokens[self.position].kind == "number":
                factor *= self.number()
            elif name:
                self.fail("a product of two variables is not affine")
            elif self.next_is("("):
                self.take("(")
                name = self.kind("word", "a symbol")
                self.take("floordiv")
                grain = self.number()
                self.take(")")
            else:
                name = self.kind("word", "an integer or a variable")
            if not self.next_is("*"):
                return factor, name, grain
            self.take("*")

    def parameters(self) -> tuple[int, ...]:
        """The parameters of the function."""
        arguments: list[int] = []
        pool = False
        self.take("(")
        while not self.next_is(")"):
            if arguments or pool or self.extents:
                self.take(",")
            at = self.tokens[self.position].at
            name = self.kind("value", "a parameter")
            self.take(":")
            sizes = self.argument_type()
            match = re.fullmatch(r"%arg_(\d+)_base_addr", name)
            if sizes is not None:
                self.extents.append(Given(name, *sizes))
                self.define(name, _Extent(self.extents[-1], taken=False))
            elif match and not self.extents:
                arguments.append(int(match[1]))
                self.define(name, _Parameter(int(match[1])))
            elif name == "%pool_base_addr" and not arguments and not pool:
                pool = True
                self.define(name, _Parameter(POOL))
            else:
                self.fail(f"{name} is no parameter: expected %arg_<n>_base_addr", at)
        self.take(")")
        return tuple(arguments)

    def argument_type(self) -> tuple[int, int] | None:
        """The type of a parameter: granularity and largest value of an extent, None for an
        address."""
        sizes = None
        self.take("!sdscbundle.input_arg", "<", "index")
        if self.next_is(","):
            at = self.tokens[self.position].at
            self.take(",", "granularity", "=")
            granularity = self.number()
            self.take(",", "max_value", "=")
            sizes = granularity, self.number()
            if granularity < 1 or sizes[1] < 1 or sizes[1] % granularity:
                self.fail("the largest value is a positive multiple of the granularity", at)
        self.take(">")
        return sizes

    def block(self) -> tuple[Execute | TextLoop, ...]:
        """Statements in braces; names defined inside end with it."""
        self.take("{")
        outer = set(self.values)
        body: list[Execute | TextLoop] = []
        while not self.next_is("}"):
            if self.next_is("return") and not self.inductions:
                self.take("return")
                if not self.next_is("}"):
                    self.fail("statements behind return")
            elif self.next_is("scf.for"):
                body.append(self.loop())
            elif self.next_is("sdscbundle.sdsc_execute"):
                body.append(self.execute())
            elif self.tokens[self.position].kind == "value":
                self.definition()
            else:
                self.fail(f"unexpected {self.tokens[self.position].text!r}")
        if not self.inductions and self.tokens[self.position - 1].text != "return":
            self.fail("expected 'return'")
        self.take("}")
        for name in [name for name in self.values if name not in outer]:
            del self.values[name]
        return tuple(body)

    def definition(self) -> None:
        """`%name = ...`."""
        name = self.kind("value", "a value")
        self.take("=")
        at = self.tokens[self.position].at
        operation = self.kind("word", "an operation")
        readers = {
            "arith.constant": self.read_constant,
            "arith.addi": self.read_addi,
            "affine.apply": self.read_apply,
            "sdscbundle.input_arg_extract": self.read_extract,
            "sdscbundle.device_mem_allocate": self.read_allocate,
        }
        if operation not in readers:
            self.fail(f"{operation} is not allowed in a bundle", at)
        self.define(name, readers[operation]())

    def read_constant(self) -> _Value:
        value = self.number()
        self.take(":", "index")
        return _Constant(value)

    def read_addi(self) -> _Value:
        base = self.address()
        self.take(",")
        offset = self.constant("the second operand")
        self.take(":", "index")
        return _Address(base.buffer, base.offset + offset, base.strides, base.steps)

    def read_apply(self) -> _Value:
        if self.next_is("affine_map"):
            map = self.affine_map()
        else:
            at = self.tokens[self.position].at
            name = self.kind("hash", "a map")
            if name not in self.maps:
                self.fail(f"{name} is not defined", at)
            map = self.maps[name]
        self.take("(")
        variables: list[str] = []
        while not self.next_is(")"):
            if variables:
                self.take(",")
            at = self.tokens[self.position].at
            variable, value = self.use()
            if not isinstance(value, _Induction) or variable in variables:
                self.fail(f"{variable} is not the variable of one more enclosing loop", at)
            variables.append(variable)
        if len(variables) != len(map.strides):
            self.fail(f"the map takes {len(map.strides)} loop variables, not {len(variables)}")
        self.take(")", "[")
        base = self.address()
        steps = base.steps + tuple(step for g in map.granules for step in self.step(g))
        self.take("]")
        applied = tuple(zip(variables, map.strides, strict=True))
        return _Address(base.buffer, base.offset + map.constant, base.strides + applied, steps)

    def step(self, granule: tuple[int, int] | None) -> Iterator[tuple[Given, int]]:
        """A further symbol of a map that is applied: an extent, by its granularity."""
        self.take(",")
        at = self.tokens[self.position].at
        name, value = self.use()
        if not isinstance(value, _Extent) or not value.taken:
            self.fail(f"{name} is no extent", at)
        if granule is not None:
            grain, step = granule
            if grain != value.given.granularity:
                self.fail(f"{name} has granules of {value.given.granularity}, not {grain}", at)
            yield value.given, step

    def read_extract(self) -> _Value:
        self.take("value", "from")
        at = self.tokens[self.position].at
        name, value = self.use()
        if not isinstance(value, _Parameter) and (not isinstance(value, _Extent) or value.taken):
            self.fail(f"{name} is no parameter", at)
        self.take(":")
        at = self.tokens[self.position].at
        sizes = self.argument_type()
        given = value.given if isinstance(value, _Extent) else None
        if sizes != (given and (given.granularity, given.maximum)):
            self.fail(f"{name} has another type", at)
        self.take("->", "index")
        if isinstance(value, _Extent):
            return _Extent(value.given, taken=True)
        if value.buffer == POOL:
            self.pool = PoolBuffer(None)
        return _Address(value.buffer, 0)

    def read_allocate(self) -> _Value:
        at = self.tokens[self.position].at
        if self.pool is not None:
            self.fail("a second pool", at)
        self.pool = PoolBuffer(self.number())
        self.take("bytes", ":", "index")
        return _Address(POOL, 0)

    def loop(self) -> TextLoop:
        """`scf.for`, from 0 by 1."""
        line = self.line()
        self.take("scf.for")
        name = self.kind("value", "the loop variable")
        self.take("=")
        at = self.tokens[self.position].at
        lower = self.constant("the lower bound")
        self.take("to")
        upper = self.constant("the upper bound")
        self.take("step")
        step = self.constant("the step")
        if (lower, step) != (0, 1):
            self.fail(f"a loop counts from 0 by 1, not from {lower} by {step}", at)
        self.define(name, _Induction(name))
        self.inductions.append(name)
        body = self.block()
        self.inductions.pop()
        del self.values[name]
        return TextLoop(upper, body, line)

    def execute(self) -> Execute:
        """`sdsc_execute`."""
        line = self.line()
        self.take("sdscbundle.sdsc_execute", "(")
        values: list[Value] = []
        while not self.next_is(")"):
            if values:
                self.take(",")
            values.append(self.value())
        self.take(")", "{", "sdsc_filename", "=")
        file = self.kind("string", "a file name")[1:-1]
        self.take(",")
        self.position += self.next_is("symbol_ids") or self.next_is('"symbol_ids"')
        self.take("=", "[")
        symbols: list[int] = []
        while not self.next_is("]"):
            if symbols:
                self.take(",")
            symbols.append(self.number())
        self.take("]", "}")
        if len(symbols) != len(values):
            self.fail(f"{len(values)} operands for {len(symbols)} symbol ids")
        return Execute(file, tuple(symbols), tuple(values), line)

    def value(self) -> Value:
        """Step over an operand of an execution."""
        found = self.values.get(self.tokens[self.position].text)
        if isinstance(found, _Extent) and found.taken:
            self.use()
            return found.given
        address = self.address()
        return moving(self.advancing(address), address.steps)

    def advancing(self, address: _Address) -> Hbm:
        """The address with its strides in the order of the enclosing loops."""
        strides = dict.fromkeys(self.inductions, 0)
        for name, stride in address.strides:
            strides[name] += stride
        advances = tuple(strides.values())
        return Hbm(address.buffer, address.offset, advances if any(advances) else ())
