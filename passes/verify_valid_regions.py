# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""spyre-verify-valid-regions: proves every valid region, and checks symbols and boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from spyre_mlir import ir, regions
from spyre_mlir.diagnostics import Note, Refusal, refused_at
from spyre_mlir.extents import symbol
from spyre_mlir.listings import Listing
from spyre_mlir.operations import PREFIX
from spyre_mlir.optable import Op
from spyre_mlir.passmanager import Pass, option, statistic
from spyre_mlir.prover import equal, less_equal
from spyre_mlir.region_reader import (
    Introduction,
    RegionReader,
    callee_of,
    causes,
    functions_of,
    has_body,
    introduced_by_arguments,
    name_of,
    signature_of,
    symbols_in,
)
from spyre_mlir.regions import RegionRefusal, spelled
from spyre_mlir.regions.refusals import counterexample
from spyre_mlir.tensors import TensorType

BETWEEN = ("func.call", "func.return", "scf.for", "scf.if", "scf.yield")
"""Operations outside the dialect through which partly valid tensors pass. MLIR's own verifiers see to it that types are
equal on both sides."""


@dataclass(frozen=True)
class VerifyValidRegions(Pass, name="spyre-verify-valid-regions", anchor="builtin.module"):
    """Prove the valid region of every tensor.

    The rule of each operation is applied again and its result compared with the type that is written: regions must be
    provably equal, a pad may be promised only where the rule promises it. Arguments, results and calls are checked as
    boundaries: encodings fit their shapes, a symbol is introduced once, by an index argument or `spyre.extent`, a call
    passes its own symbol of the same name, within the range that the callee declares."""

    policy: Literal["agree", "intersect"] = option(
        "agree", help="whether operands agree, or what all of them hold is valid"
    )

    verified = statistic("operations verified")

    def run(self, op: ir.Operation) -> None:
        functions = {name_of(function): function for function in functions_of(op)}
        signatures = {name: introduced_by_arguments(f) for name, f in functions.items()}
        for function in functions.values():
            verifier = _Verifier(function, signatures, self.policy)
            verifier.run()
            self.verified.add(verifier.count)


class _Verifier:
    """One function."""

    def __init__(
        self,
        function: ir.Operation,
        signatures: Mapping[str, list[Introduction]],
        policy: str,
    ) -> None:
        self.function = function
        self.signatures = signatures
        self.policy = policy
        self.reader = RegionReader(function)
        self.users: list[tuple[int, ir.Operation]] = []
        """(number of types read, the operation at which the last of them was read)."""
        self.listing = Listing(function)
        self.known: set[int] = set()
        """Kinds of operations that were verified under the facts of here: they are so for all of their kind."""
        self.count = 0
        """Operations of the dialect."""

    def run(self) -> None:
        with refused_at(self.function):
            self._boundary()
        self.users.append((len(self.reader.types), self.function))
        self._operations(0, len(self.listing.kinds))
        self._symbols()
        counted = self.listing.per_kind(_has_region)
        self.count = sum(counted[kind] for kind in self.listing.kinds)

    def _operations(self, first: int, last: int) -> None:
        """The operations of this range that stand in no other of it."""
        kinds, ends = self.listing.kinds, self.listing.ends
        at = first
        while at < last:
            if kinds[at] not in self.known:
                self._operation(at)
            at = ends[at]

    def _operation(self, number: int) -> None:
        reader, known = self.reader, len(self.reader.types)
        op = self.listing.operation(number)
        row = reader.row(op.name)
        if row is None:
            self._upstream(op, number)
        elif op.name == "spyre.extent":
            reader.introduce(op)
            self.known.clear()
        else:
            self._derived(op, row)
            self.known.add(self.listing.kinds[number])
        if len(reader.types) != known:
            self.users.append((len(reader.types), op))

    def _derived(self, op: ir.Operation, row: Op) -> None:
        try:
            written, derived = self.reader.derive(op, row, self.policy)
        except RegionRefusal as refusal:
            refusal.place = op
            refusal.notes += causes(op, row, refusal.labels, self.reader)
            raise
        for number, (have, want) in enumerate(zip(written, derived, strict=True)):
            if have is not want:
                with refused_at(op):
                    self._compare(op, number, have, want)

    def _compare(self, op: ir.Operation, number: int, have: TensorType, want: TensorType) -> None:
        remedy = "run spyre-infer-valid-shapes, or write what the rule gives"
        if have.pad is not None and have.pad != want.pad:
            raise RegionRefusal(
                "SPY088",
                f"'{op.name}': result #{number} promises pad {have.pad}; its rule promises"
                f" {want.pad or 'none'}",
                remedy=remedy,
            )
        for dim, (x, y) in enumerate(zip(have.valid, want.valid, strict=True)):
            answer = equal(x, y, self.reader.facts)
            if not answer.holds:
                raise RegionRefusal(
                    "SPY088",
                    f"'{op.name}': result #{number} is written as valid over {spelled(have.valid)};"
                    f" its rule gives {spelled(want.valid)}",
                    notes=counterexample(answer, f"{x} == {y}"),
                    remedy=remedy,
                    dim=dim,
                    extents=(x, y),
                    verdict=answer.verdict,
                )

    # Operations outside the dialect.

    def _upstream(self, op: ir.Operation, number: int) -> None:
        inside = number + 1, self.listing.ends[number]
        if op.name == "scf.for":
            before = self.reader.enter(op)
            self.known.clear()
            self._operations(*inside)
            self.reader.facts = before
            self.known.clear()
            return
        if op.name == "func.call":
            with refused_at(op):
                self._call(op)
        elif op.name not in BETWEEN:
            with refused_at(op):
                self._foreign(op)
        self._operations(*inside)

    def _foreign(self, op: ir.Operation) -> None:
        """Refuses partly valid tensors where no rule says what becomes of them."""
        for kind, values in (("operand", op.operands), ("result", op.results)):
            for number, value in enumerate(values):
                if not isinstance(value.type, ir.RankedTensorType):
                    continue
                if not isinstance(value.type.encoding, ir.EncodingAttr):
                    continue
                tensor = self.reader.read(value.type)
                if tensor.valid_shape is not None:
                    raise RegionRefusal(
                        "SPY086",
                        f"'{op.name}': {kind} #{number} is valid over {spelled(tensor.valid)} only,"
                        " and no rule says which cells the operation reads and writes",
                        remedy="use an operation of the dialect spyre, or fill the tensor with"
                        " spyre.fillpad first",
                    )

    def _call(self, op: ir.Operation) -> None:
        """A call passes its own symbol of the same name, within the callee's range."""
        name, facts = callee_of(op), self.reader.facts
        for introduction in self.signatures.get(name, ()):
            assert introduction.argument is not None
            passed = self.reader.extent(op.operands[introduction.argument])
            own = symbol(introduction.name)
            if passed != own:
                raise Refusal(
                    "SPY014",
                    f"the call of @{name} passes {'another value' if passed is None else passed} for"
                    f" the symbol {own}",
                    notes=(Note(f"@{name} introduces {own} here", introduction.place),),
                    remedy=f"pass the value that the caller introduces as {own}",
                )
            for low, high in ((introduction.low, own), (own, introduction.high)):
                if low is None or high is None:
                    continue
                answer = less_equal(low, high, facts)
                if not answer.holds:
                    raise Refusal(
                        "SPY014",
                        f"@{name} takes {own} in [{introduction.low}, {introduction.high}];"
                        f" {low} <= {high} is not provable at the call",
                        notes=counterexample(answer, f"{low} <= {high}"),
                        remedy=f"declare the range of {own} in the caller as well",
                    )

    # Boundaries and symbols.

    def _boundary(self) -> None:
        name, signature = name_of(self.function), signature_of(self.function)
        for kind, types in (("argument", signature.inputs), ("result", signature.results)):
            for number, type in enumerate(types):
                if not isinstance(type, ir.RankedTensorType) or type.encoding is None:
                    continue
                what = f"{kind} #{number} of @{name}"
                self._fits(type, what)
                tensor = self.reader.read(type)
                if kind == "argument":  # what it promises itself must not be what allows it
                    regions.check(tensor, self.reader.declared, what=what, proved=False)
                else:
                    proved = not has_body(self.function)
                    regions.check(tensor, self.reader.facts, what=what, proved=proved)

    def _fits(self, type: ir.Type, what: str) -> None:
        """The dialect's own check of an encoding, which it makes where an operation has the type."""
        if not isinstance(type.encoding, ir.EncodingAttr):
            return
        with self.function.location:
            probe = ir.Operation.create("spyre.empty", results=[type])
        try:
            probe.verify()
        except ir.MLIRError as error:
            said = error.error_diagnostics[0].message.split("result #0: ", 1)[-1]
            raise Refusal("SPY011", f"{what}: {said}") from None

    def _symbols(self) -> None:
        introduced: dict[str, Introduction] = {}
        for introduction in self.reader.introductions:
            first = introduced.setdefault(introduction.name, introduction)
            if first is not introduction:
                raise Refusal(
                    "SPY012",
                    f"symbol {introduction.name} is introduced a second time",
                    notes=(Note("the first time is here", first.place),),
                    remedy="give one of the two another name",
                    place=introduction.place,
                )
        kinds = list(self.reader.types.values())
        start = 0
        for end, user in self.users:
            for tensor in kinds[start:end]:
                for name in symbols_in(tensor):
                    if name not in introduced:
                        raise _unknown(name, user)
            start = end
        self._results(introduced)

    def _results(self, introduced: Mapping[str, Introduction]) -> None:
        for number, type in enumerate(signature_of(self.function).results):
            if not isinstance(type, ir.RankedTensorType):
                continue
            for name in symbols_in(self.reader.read(type)):
                if introduced[name].argument is None:
                    raise Refusal(
                        "SPY013",
                        f"result #{number} of @{name_of(self.function)} is valid over"
                        f" {spelled(self.reader.read(type).valid)}; a caller cannot name {name},"
                        " which is introduced inside",
                        notes=(Note(f"{name} is introduced here", introduced[name].place),),
                        remedy=f"introduce {name} by an index argument, or return a region without it",
                        place=self.function,
                    )


def _has_region(op: ir.Operation) -> bool:
    return bool(op.name.startswith(PREFIX) and op.name != "spyre.extent")


def _unknown(name: str, user: ir.Operation) -> Refusal:
    return Refusal(
        "SPY015",
        f"symbol {name} is used in a type and introduced nowhere in the function",
        remedy=f'introduce it: an index argument {{spyre.extent = "{name}"}}, spyre.extent, or'
        " spyre-materialize-extents",
        place=user,
    )
