# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of one operation each, for every operation of the table: by element type, rank and dims."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from golden_programs import Program, of, scalar, t

from spyre_mlir import builders as b
from spyre_mlir.optable import OPS, Op
from spyre_mlir.tensors import TensorType

PARTS = "parts of sticks"
SHAPES = {"whole sticks": (128, 3, 2, 4, 2), PARTS: (70, 3, 2, 5, 2)}
"""Extents of dims, innermost first: dims end with sticks, or within them."""

UNSIGNED = "ui8"
"""The element type of which `arith.constant` makes no scalar."""


def shape(rank: int, kind: str) -> tuple[int, ...]:
    """A shape of a rank."""
    return SHAPES[kind][:rank][::-1]


def programs(name: str, element: str, rank: int, kind: str) -> Iterator[tuple[str, Program]]:
    """(what is particular, program) of one operation; none where it has none of that rank."""
    row = OPS[name]
    make = _MADE.get(name) or _FAMILY[row.family]
    yield from make(row, element, shape(rank, kind))


def elements_of(row: Op) -> tuple[str, ...]:
    """Element types that the operation takes."""
    return row.elements or ("f16",)


def _value(element: str, value: int = 1) -> Any:
    return scalar(value if element[0] in "iu" else float(value), element)


def _parallel(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    """Tensors of one shape; where the operation takes them, scalars and packed masks."""
    given: dict[str, Any] = _given(row)
    tensors = [
        (o.elements or (element,))[0] if o.kind != "scalar" else None
        for o in row.operands
        if o.role != "scratch"
    ]
    types = [t(*dims, element=e) for e in tensors if e is not None]

    def body(*values: Any) -> Any:
        rest = iter(values)
        operands = [_value(element) if e is None else next(rest) for e in tensors]
        return b.build(row.name, *operands, **given)

    if None in tensors and element == UNSIGNED:
        return
    yield "", of(4, *types)(body)
    if row.family == "binary" and element == row.elements[0]:
        if element != UNSIGNED:
            yield "scalar", of(4, types[0])(lambda x: b.build(row.name, x, _value(element)))
        yield (
            "column",
            of(4, types[0], t(*dims[:-1], 1, element=element))(partial(b.build, row.name)),
        )
        yield "row", of(4, types[0], t(dims[-1], element=element))(partial(b.build, row.name))
        yield "itself", of(4, types[0])(lambda x: b.build(row.name, x, x))


def _given(row: Op) -> dict[str, Any]:
    """Attributes that have to be written."""
    values = {"predicate": "lt", "min": -1.0, "max": 1.0}
    return {a.name: values[a.name] for a in row.attributes if a.name in values}


def _part(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    whole = t(*dims, element=element)
    for what, held in (
        ("columns", (*dims[:-1], dims[-1] - 5)),
        ("both", tuple(e - 1 for e in dims)),
        ("rows", (*(e - 1 for e in dims[:-1]), dims[-1])),
    ):
        piece = TensorType(dims, element, valid_shape=held)
        yield what, of(4, whole, piece)(partial(b.build, row.name))


def _cast(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    for to in elements_of(row):
        yield f"to {to}", of(4, t(*dims, element=element))(lambda x, to=to: b.cast(x, element=to))


def _reduce(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    rank = len(dims)
    given: dict[str, Any] = {"element": "i32"} if row.name.startswith("arg") else {}
    for keep in (False, True) if element == row.elements[0] else (False,):
        for dim in range(rank):
            along = {"dim": dim} if row.name.startswith("arg") else {"dims": [dim]}
            body = partial(b.build, row.name, keep_dims=keep, **along, **given)
            yield f"{_called(dim, rank)}, keep {keep}", of(4, t(*dims, element=element))(body)
        if rank > 1 and not row.name.startswith("arg"):
            body = partial(b.build, row.name, keep_dims=keep, dims=list(range(rank)))
            yield f"all, keep {keep}", of(4, t(*dims, element=element))(body)


def _norm(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    x = t(*dims, element=element)
    last = t(dims[-1], element=element)
    if row.name == "exx2":
        yield "", of(4, x)(b.exx2)
    elif row.name == "layernorm_scale":
        yield "", of(4, x)(lambda x: b.layernorm_scale(b.exx2(x)))
    else:

        def body(x: Any, w: Any, c: Any) -> Any:
            moments = b.exx2(x)
            return b.layernorm_norm(x, moments, b.layernorm_scale(moments), w, c)

        yield "", of(4, x, last, last)(body)


def _contract(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    if len(dims) < 2:
        return
    *batch, m, k = dims
    first, second = t(*dims, element=element), t(*batch, k, 10, element=element)
    results = [to for to in row.results[0].elements or () if _multiplies(element, to)]
    for to in results:
        if row.name == "batch_matmul":
            body = partial(b.batch_matmul, element=to)
            yield f"to {to}", of(4, first, second)(body)
            flat = t(k, 10, element=element)
            yield f"one matrix, to {to}", of(4, first, flat)(body)
        else:
            sum = t(*batch, m, 10, element=to)
            yield f"to {to}", of(4, sum, first, second)(partial(b.matmul_acc, element=to))
    if row.name == "batch_matmul" and element in results:
        swap = [*range(len(batch)), len(batch) + 1, len(batch)]
        yield (
            "itself",
            of(4, first)(
                lambda x: b.batch_matmul(x, b.transpose(x, permutation=swap), element=element)
            ),
        )


def _multiplies(element: str, to: str) -> bool:
    if element.startswith("f8"):
        return to in ("f16", "bf16", "f32")
    wide = {"f16": "f32", "bf16": "f32", "i8": "i32", "ui8": "i32", "i16": "i32"}
    return to in (element, wide.get(element))


def _scan(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    for dim in range(len(dims)):
        body = partial(b.topk, k=2, dim=dim, element=element)
        yield _called(dim, len(dims)), of(4, t(*dims, element=element))(body)


def _move(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    rank, x = len(dims), t(*dims, element=element)
    zeros, less = [0] * rank, tuple(e - 1 for e in dims)
    bodies: dict[str, Any] = {
        "restickify": b.restickify,
        "set_valid_shape": lambda x: b.set_valid_shape(x, valid_shape=less),
        "fillpad": lambda x: b.fillpad(
            b.set_valid_shape(x, valid_shape=less), pad="zero", shape=dims
        ),
        "sort": lambda x: b.sort(x, dim=0),
        "iota": lambda x: b.iota(dim=0, shape=dims, element=element),
        "empty": lambda x: b.insert_slice(
            x, b.empty(shape=dims, element=element), static_offsets=zeros
        ),
        "full": lambda x: b.full(_value(element), shape=dims, element=element),
        "broadcast": lambda x: b.broadcast(x, shape=(2, *dims)),
    }
    if row.name == "full" and element == UNSIGNED:
        return
    if row.name in bodies:
        yield "", of(4, x)(bodies[row.name])
    elif row.name == "concat":
        for dim in range(rank):
            yield _called(dim, rank), of(4, x, x)(partial(b.concat, dim=dim))
    elif row.name == "transpose":
        for dim in range(rank - 1):
            order = [*range(rank)]
            order[dim], order[-1] = order[-1], order[dim]
            yield f"dim {dim}", of(4, x)(partial(b.transpose, permutation=order))
            yield (
                f"dim {dim}, turned",
                of(4, x)(lambda x, order=order: b.restickify(b.transpose(x, permutation=order))),
            )
    elif row.name == "reshape":
        # Rows of another length have their cells in other sticks.
        joined, halved = (_count(dims[:-1]), dims[-1]), (_count(dims) // 2, 2)
        for what, to in (("joined", joined), ("unit", (*dims, 1)), ("other sticks", halved)):
            yield what, of(4, x)(partial(b.reshape, shape=to))
    elif row.name == "slice":
        for start in (0, 1):
            offsets = [start] * rank
            window = tuple(e - o for e, o in zip(dims, offsets, strict=True))
            yield f"from {start}", of(4, x)(partial(b.slice, static_offsets=offsets, shape=window))
    elif row.name == "insert_slice":
        for start in (0, 1):
            window, offsets = t(*less, element=element), [start] * rank
            yield f"at {start}", of(4, window, x)(partial(b.insert_slice, static_offsets=offsets))
    elif row.name == "gather":
        yield "", of(4, x, t(2, element="i32"))(partial(b.gather, dim=0))
    elif row.name == "scatter":
        two = t(1, *dims[1:], element=element)
        yield "", of(4, two, t(1, element="i32"), x)(partial(b.scatter, dim=0))


def _called(dim: int, rank: int) -> str:
    """The last dim is that on the stick."""
    return "last dim" if dim == rank - 1 else f"dim {dim}"


def _count(dims: tuple[int, ...]) -> int:
    total = 1
    for extent in dims:
        total *= extent
    return total


def _symbol(row: Op, element: str, dims: tuple[int, ...]) -> Iterator[tuple[str, Program]]:
    return iter(())


_FAMILY: dict[str, Any] = {
    **dict.fromkeys(("unary", "binary", "compare", "three_operands"), _parallel),
    "part": _part,
    "cast": _cast,
    "reduce": _reduce,
    "norm": _norm,
    "contract": _contract,
    "scan": _scan,
    "move": _move,
    "symbol": _symbol,
}
_MADE: dict[str, Any] = {"cast": _cast}
