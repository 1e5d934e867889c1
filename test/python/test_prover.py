# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The prover: known answers, and random pairs against z3."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import z3

from spyre_mlir import extents, prover
from spyre_mlir.extents import evaluate, parse
from spyre_mlir.prover import NO_FACTS, Answer, Facts
from spyre_mlir.tensors import TensorType

NAMES = ("n", "m", "k")


def facts_of(**ranges: tuple[int | None, int | None]) -> Facts:
    return prover.arguments((), ranges)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("n", "n + 0", "always"),
        ("n + n", "n * 2", "always"),
        ("(x + 64) - x", "(y + 128) - (y + 64)", "always"),
        ("n", "n + 1", "never"),
        ("64", "min(n, 32)", "never"),
        ("n", "m", "sometimes"),
        ("64", "n", "sometimes"),
        ("64", "min(64, n)", "sometimes"),
        ("n mod 4 + 4 * (n floordiv 4)", "n", "always"),
        ("-(-n floordiv 3)", "n ceildiv 3", "always"),
        ("min(n, m) + max(n, m)", "n + m", "always"),
        ("2 * n", "2 * m + 1", "never"),
        ("n * m", "m * n", "always"),
        ("n * m", "k", "sometimes"),
        ("n * n", "-1", "undecided"),
    ],
)
def test_equal(a: str, b: str, verdict: str) -> None:
    assert prover.equal(parse(a), parse(b)).verdict == verdict
    assert prover.equal(parse(b), parse(a)).verdict == verdict


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("min(n, 64)", "64", "always"),
        ("n", "n + 1", "always"),
        ("n", "16", "sometimes"),
        ("0", "n", "sometimes"),
        ("8 * (n floordiv 8)", "n", "always"),
        ("n", "8 * (n ceildiv 8)", "always"),
        ("n + 1", "n", "never"),
        ("n mod 8", "7", "always"),
        ("8", "n mod 8", "never"),
    ],
)
def test_less_equal(a: str, b: str, verdict: str) -> None:
    assert prover.less_equal(parse(a), parse(b)).verdict == verdict


def test_facts_decide() -> None:
    facts = facts_of(n=(0, 16), m=(None, 7))
    assert prover.less_equal(parse("n"), 16, facts).holds
    assert prover.less_equal(parse("m + n"), 23, facts).holds
    assert prover.equal(parse("min(n, 16)"), parse("n"), facts).holds
    assert prover.less_equal(17, parse("n"), facts).verdict == "never"
    argument = TensorType((8, 16), "f16", valid_shape=(parse("a"), parse("b + c")))
    promised = NO_FACTS.with_argument(argument)
    assert promised.ranges == (("a", 0, 8),)
    assert prover.less_equal(parse("b + c"), 16, promised).holds
    assert prover.less_equal(parse("b"), 16, promised).verdict == "sometimes"
    positive = promised.with_range("c", 0, None)
    assert prover.less_equal(parse("b"), 16, positive).holds


def test_counterexample_and_witness_are_values_of_the_symbols() -> None:
    answer = prover.equal(64, parse("min(n, 64)"), facts_of(n=(0, None)))
    assert answer.verdict == "sometimes"
    assert dict(answer.witness)["n"] >= 64 > dict(answer.counterexample)["n"] >= 0


def test_integers_and_bounds_need_no_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "spyre_mlir.ir", None)
    assert prover.equal(3, 3).holds and not prover.equal(3, 4).holds
    facts = facts_of(q=(2, 5))
    assert prover.less_equal(parse("q"), 5, facts).holds
    assert prover.less_equal(6, parse("q"), facts).verdict == "never"
    assert prover.equal(parse("q + 1"), parse("1 + q"), facts).holds
    assert prover.bounds(parse("min(q, 3) - 2 * (q floordiv 2)"), facts) == (-2, 1)


def test_facts_that_no_value_fulfils_make_everything_true() -> None:
    facts = facts_of(n=(5, 3))
    for relation in (prover.equal, prover.less_equal):
        assert relation(parse("n"), 100, facts).verdict == "always"
        assert relation(parse("n"), -100, facts).verdict == "always"


def test_too_many_cases_are_given_up() -> None:
    names = [f"min(a{i}, b{i}, c{i})" for i in range(12)]
    left, right = parse(" + ".join(names)), parse(" + ".join(n.replace("c", "d") for n in names))
    assert prover.equal(left, right).verdict in ("sometimes", "undecided")


def random_extent(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice([*NAMES, *NAMES, str(rng.randint(0, 12))])
    kind = rng.choice(["+", "-", "*", "floordiv", "ceildiv", "mod", "min", "max"])
    left = random_extent(rng, depth - 1)
    if kind in extents.EXTREMA:
        return f"{kind}({left}, {random_extent(rng, depth - 1)})"
    if kind in extents.DIVISIONS:
        return f"({left}) {kind} {rng.randint(2, 6)}"
    if kind == "*":
        return f"{rng.randint(-3, 4)} * ({left})"
    return f"({left}) {kind} ({random_extent(rng, depth - 1)})"


def random_pair(rng: random.Random) -> tuple[str, str]:
    """Unrelated, or one a variation of the other, so that every verdict occurs."""
    left = random_extent(rng, rng.randint(0, 3))
    style = rng.randint(0, 4)
    if style == 0:
        return left, f"{left} + {rng.randint(0, 2)}"
    if style == 1:
        return left, f"max({left}, {random_extent(rng, 1)})"
    if style == 2:
        divisor = rng.randint(2, 5)
        return left, f"{divisor} * (({left}) floordiv {divisor}) + ({left}) mod {divisor}"
    return left, random_extent(rng, rng.randint(0, 2))


class Oracle:
    """z3's integers over the text, read independently of `spyre_mlir`."""

    def __init__(self) -> None:
        self.names = {name: z3.Int(name) for name in NAMES}

    def value(self, text: str) -> z3.ArithRef:
        python = text.replace("floordiv", "//").replace("ceildiv", "**").replace("mod", "%")
        import ast

        return self.tree(ast.parse(python, mode="eval").body)

    def tree(self, node: object) -> z3.ArithRef:
        import ast

        if isinstance(node, ast.Constant):
            return z3.IntVal(node.value)
        if isinstance(node, ast.Name):
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp):
            return -self.tree(node.operand)
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            first, *others = [self.tree(argument) for argument in node.args]
            for other in others:
                smaller = first <= other if node.func.id == "min" else first >= other
                first = z3.If(smaller, first, other)
            return first
        assert isinstance(node, ast.BinOp)
        left, right = self.tree(node.left), self.tree(node.right)
        # z3's div by a positive literal is the floor.
        return {
            ast.Add: lambda: left + right,
            ast.Sub: lambda: left - right,
            ast.Mult: lambda: left * right,
            ast.FloorDiv: lambda: left / right,
            ast.Mod: lambda: left % right,
            ast.Pow: lambda: -(-left / right),
        }[type(node.op)]()

    def possible(self, claim: z3.BoolRef, facts: list[z3.BoolRef]) -> bool | None:
        solver = z3.Solver()
        solver.set("timeout", 2000)
        solver.add(claim, *facts)
        result = solver.check()
        return None if result == z3.unknown else bool(result == z3.sat)


def check_against_z3(oracle: Oracle, a: str, b: str, relation: str, facts: Facts) -> str:
    decide = prover.equal if relation == "equal" else prover.less_equal
    answer: Answer = decide(parse(a), parse(b), facts)
    left, right = oracle.value(a), oracle.value(b)
    claim = left == right if relation == "equal" else left <= right
    known = [oracle.names[n] >= low for n, low, _ in facts.ranges if low is not None]
    known += [oracle.names[n] <= high for n, _, high in facts.ranges if high is not None]
    for possible, verdict in ((z3.Not(claim), "always"), (claim, "never")):
        found = oracle.possible(possible, known)
        if found is None:
            return "z3 unknown"
        if answer.verdict == verdict:
            assert not found, (a, b, relation, facts, answer)
        if not found and answer.verdict != "undecided":
            assert answer.verdict == verdict, (a, b, relation, facts, answer)
            return verdict
    for values, holds in ((answer.witness, True), (answer.counterexample, False)):
        binding = {**dict.fromkeys(NAMES, 1), **dict(values)}
        x, y = evaluate(parse(a), binding), evaluate(parse(b), binding)
        assert (x == y if relation == "equal" else x <= y) is holds, (a, b, relation, answer)
        assert prover.confirms(dict(values), facts)
    return answer.verdict


def test_random_pairs_against_z3() -> None:
    rng = random.Random(11)
    oracle = Oracle()
    seen: Counter[str] = Counter()
    for _ in range(2000):
        a, b = random_pair(rng)
        facts = NO_FACTS
        for name in NAMES:
            if rng.random() < 0.5:
                facts = facts.with_range(name, 0, rng.choice([None, 8, 64]))
        relation = rng.choice(["equal", "less_equal"])
        seen[check_against_z3(oracle, a, b, relation, facts)] += 1
    assert min(seen["always"], seen["never"], seen["sometimes"]) > 100, seen
    assert seen["undecided"] == 0, seen
    assert seen["z3 unknown"] < 20, seen
