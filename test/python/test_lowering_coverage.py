# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation of the table, for all its element types, ranks and dims: a bundle that passes `spyre validate`, or a
refusal with the code and the words of the table below."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from operation_programs import PARTS, SHAPES, UNSIGNED, elements_of, programs

import spyre_mlir
from spyre_mlir import ir
from spyre_mlir.optable import OPS
from spyre_mlir.partial_sticks import TURNED
from spyre_mlir.sdsc import validate

FLOAT8 = ("f8E4M3FN", "f8E5M2FNUZ")
RANKS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Refused:
    """Which programs of an operation are refused: `elements` (all if empty) whose description contains one of `what`
    (any if empty), in shapes of `kind` (both if empty)."""

    code: str
    words: str
    elements: tuple[str, ...] = ()
    what: tuple[str, ...] = ()
    kind: str = ""
    except_elements: tuple[str, ...] = ()


NO_FUNCTION = Refused("SPY096", "the device has no function")
NOT_TURNED = "the device turns sticks of 16-bit floats only"
WITHIN_STICKS = "the device moves cells of .* in whole sticks only"

INTEGERS = ("i8", "i16", "i32", "i64", "ui8")
NO_INTEGER_MASK = Refused("SPY093", "hold no data", INTEGERS, ("last", "all"), PARTS)

REFUSALS: dict[str, tuple[Refused, ...]] = {
    "fmod": (Refused("SPY096", "the nearest is x - trunc"),),
    "rem": (Refused("SPY096", "the nearest is x - floor"),),
    "and": (Refused("SPY096", "of i1 it is mul", except_elements=("i1",)),),
    "or": (Refused("SPY096", "the nearest is maximum"),),
    "xor": (Refused("SPY096", "the nearest is notequal"),),
    "shl": (Refused("SPY096", "the nearest is mul"),),
    "shr": (Refused("SPY096", "the nearest is realdiv"),),
    "cmp_packed": (Refused("SPY096", "the nearest is spyre.cmp"),),
    "sin": (NO_FUNCTION,),
    "cos": (NO_FUNCTION,),
    "not": (NO_FUNCTION,),
    "argmax": (Refused("SPY096", "the nearest is spyre.topk"),),
    "argmin": (Refused("SPY096", "the nearest is spyre.topk"),),
    "gather": (Refused("SPY096", "the nearest is batch_matmul with a one-hot matrix"),),
    "scatter": (Refused("SPY096", "the nearest is batch_matmul with a one-hot matrix"),),
    "sort": (Refused("SPY096", "the nearest is spyre.topk"),),
    "iota": (Refused("SPY096", "pass them as an argument"),),
    "cast": (Refused("SPY096", "a constant of ui8", (UNSIGNED,), ("to i1",)),),
    "fillpad": (
        Refused("SPY096", "a constant of ui8", (UNSIGNED,)),
        Refused("SPY099", "the last one also holds elements that stay", FLOAT8),
    ),
    "batch_matmul": (
        Refused("SPY096", NOT_TURNED, what=("turned",), except_elements=TURNED),
        Refused("SPY096", "cast (the factors )?to f16", except_elements=("f16", "bf16")),
    ),
    "max": (NO_INTEGER_MASK,),
    "min": (NO_INTEGER_MASK,),
    "matmul_acc": (
        Refused("SPY096", "cast (the factors )?to f16", except_elements=("f16", "bf16")),
    ),
    # What lies on the stick is turned first.
    "prod": (Refused("SPY096", NOT_TURNED, what=("last", "all"), except_elements=TURNED),),
    "topk": (Refused("SPY096", NOT_TURNED, what=("last",), except_elements=TURNED),),
    "transpose": (Refused("SPY096", NOT_TURNED, what=("turned",), except_elements=TURNED),),
    # What begins within a stick is turned, moved, and turned back.
    "slice": (Refused("SPY090", WITHIN_STICKS, what=("from 1",), except_elements=TURNED),),
    "insert_slice": (
        Refused("SPY090", WITHIN_STICKS, what=("at 1",), except_elements=TURNED),
        Refused("SPY099", "elements that stay", FLOAT8, ("at 0",)),
    ),
    "concat": (
        Refused("SPY090", WITHIN_STICKS, what=("last",), kind=PARTS, except_elements=TURNED),
    ),
    "reshape": (Refused("SPY09[01]", "", what=("other sticks",), except_elements=TURNED),),
}
"""Operation -> what of it is refused, and in which words; all else compiles."""


def expected(name: str, element: str, kind: str, what: str) -> Refused | None:
    for refused in REFUSALS.get(name, ()):
        named = not refused.elements or element in refused.elements
        described = not refused.what or any(re.search(rf"{word}\b", what) for word in refused.what)
        shaped = not refused.kind or refused.kind == kind
        if named and described and shaped and element not in refused.except_elements:
            return refused
    return None


CASES = [
    pytest.param(name, element, rank, id=f"{name}-{element}-{rank}")
    for name, row in OPS.items()
    for element in elements_of(row)
    for rank in (RANKS if element == elements_of(row)[0] else (2,))
]


@pytest.mark.parametrize(("name", "element", "rank"), CASES)
def test_every_operation(name: str, element: str, rank: int) -> None:
    first = element == elements_of(OPS[name])[0]
    for kind in SHAPES if first else (PARTS,):
        for what, program in programs(name, element, rank, kind):
            refused = expected(name, element, kind, what)
            with ir.Context():
                module = program.module()
                if refused is None:
                    bundle = spyre_mlir.compile(module, cores=program.cores)
                    assert not validate.check(bundle.model), (kind, what)
                    continue
                with pytest.raises(ir.MLIRError, match=f"(?s){refused.code}.*{refused.words}"):
                    spyre_mlir.compile(module, cores=program.cores)
