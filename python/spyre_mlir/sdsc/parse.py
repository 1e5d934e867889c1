# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of `bundle.mlir`, read strictly: what it runs, in which loops, at which addresses.

The reader knows the public format and nothing beyond it, needs no MLIR, and accepts any names,
spacing and order of definitions. Everything else is a `TextError` with line and column. An address
is a constant number of bytes into an argument or the pool, plus a constant per trip of an enclosing
loop.
"""

from __future__ import annotations

import re
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
class Execute:
    """One `sdsc_execute`: the file it runs, and the address of each symbol, in the order of the
    text."""

    file: str
    symbols: tuple[int, ...]
    addresses: tuple[Hbm, ...]
    line: int


@dataclass(frozen=True, slots=True)
class TextLoop:
    """One `scf.for` that counts from 0 to `trips`."""

    trips: int
    body: tuple[Execute | TextLoop, ...]
    line: int


@dataclass(frozen=True, slots=True)
class BundleText:
    """What the text says. `arguments` are the parameters by index, in their order."""

    arguments: tuple[int, ...]
    pool: PoolBuffer | None
    body: tuple[Execute | TextLoop, ...]


@dataclass(frozen=True, slots=True)
class _Parameter:
    buffer: int | Literal["pool"]


@dataclass(frozen=True, slots=True)
class _Constant:
    value: int


@dataclass(frozen=True, slots=True)
class _Address:
    """`strides` by induction variable."""

    buffer: int | Literal["pool"]
    offset: int
    strides: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Induction:
    name: str


_Value = _Parameter | _Constant | _Address | _Induction

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
        self.maps: dict[str, tuple[int, tuple[int, ...]]] = {}
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
        return BundleText(arguments, self.pool, body)

    def affine_map(self) -> tuple[int, tuple[int, ...]]:
        """A map `(d0, ...)[s0] -> (s0 + stride * d0 + ... + constant)`: its constant and
        strides."""
        self.take("affine_map", "<", "(")
        dims: list[str] = []
        while not self.next_is(")"):
            if dims:
                self.take(",")
            dims.append(self.kind("word", "a dim"))
        self.take(")", "[")
        symbol = self.kind("word", "a symbol")
        self.take("]", "->", "(")
        coefficients: dict[str, int] = {}
        while True:
            factor, name = self.term()
            if name and name not in (*dims, symbol):
                self.fail(f"{name} is no dim or symbol of the map")
            coefficients[name] = coefficients.get(name, 0) + factor
            if not self.next_is("+"):
                break
            self.take("+")
        if coefficients.get(symbol) != 1:
            self.fail(f"the map has to add {symbol} once")
        self.take(")", ">")
        return coefficients.get("", 0), tuple(coefficients.get(dim, 0) for dim in dims)

    def term(self) -> tuple[int, str]:
        """A factor and a name, in any order, or one of them."""
        factor, name = 1, ""
        while True:
            if self.tokens[self.position].kind == "number":
                factor *= self.number()
            elif name:
                self.fail("a product of two variables is not affine")
            else:
                name = self.kind("word", "an integer or a variable")
            if not self.next_is("*"):
                return factor, name
            self.take("*")

    def parameters(self) -> tuple[int, ...]:
        """The parameters of the function."""
        arguments: list[int] = []
        pool = False
        self.take("(")
        while not self.next_is(")"):
            if arguments or pool:
                self.take(",")
            at = self.tokens[self.position].at
            name = self.kind("value", "a parameter")
            match = re.fullmatch(r"%arg_(\d+)_base_addr", name)
            if match:
                arguments.append(int(match[1]))
                self.define(name, _Parameter(int(match[1])))
            elif name == "%pool_base_addr" and not arguments and not pool:
                pool = True
                self.define(name, _Parameter(POOL))
            else:
                self.fail(f"{name} is no parameter: expected %arg_<n>_base_addr", at)
            self.take(":")
            self.argument_type()
        self.take(")")
        return tuple(arguments)

    def argument_type(self) -> None:
        """The type of a parameter. A symbolic size (granularity, max_value) is not supported."""
        self.take("!sdscbundle.input_arg", "<", "index")
        if self.next_is(","):
            self.fail("parameters for symbolic dims are not supported")
        self.take(">")

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
        return _Address(base.buffer, base.offset + offset, base.strides)

    def read_apply(self) -> _Value:
        if self.next_is("affine_map"):
            constant, strides = self.affine_map()
        else:
            at = self.tokens[self.position].at
            name = self.kind("hash", "a map")
            if name not in self.maps:
                self.fail(f"{name} is not defined", at)
            constant, strides = self.maps[name]
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
        if len(variables) != len(strides):
            self.fail(f"the map takes {len(strides)} loop variables, not {len(variables)}")
        self.take(")", "[")
        base = self.address()
        self.take("]")
        applied = tuple(zip(variables, strides, strict=True))
        return _Address(base.buffer, base.offset + constant, base.strides + applied)

    def read_extract(self) -> _Value:
        self.take("value", "from")
        at = self.tokens[self.position].at
        name, value = self.use()
        if not isinstance(value, _Parameter):
            self.fail(f"{name} is no parameter", at)
        self.take(":")
        self.argument_type()
        self.take("->", "index")
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
        addresses: list[Hbm] = []
        while not self.next_is(")"):
            if addresses:
                self.take(",")
            addresses.append(self.advancing(self.address()))
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
        if len(symbols) != len(addresses):
            self.fail(f"{len(addresses)} operands for {len(symbols)} symbol ids")
        return Execute(file, tuple(symbols), tuple(addresses), line)

    def advancing(self, address: _Address) -> Hbm:
        """The address with its strides in the order of the enclosing loops."""
        strides = dict.fromkeys(self.inductions, 0)
        for name, stride in address.strides:
            strides[name] += stride
        advances = tuple(strides.values())
        return Hbm(address.buffer, address.offset, advances if any(advances) else ())
