# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device functions one by one, on bundles of one operation, and how poison runs through them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from spyre_mlir import machine
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.sdsc.model import Axis, Bundle, Constant, Dim, Hbm, Operand, Sdsc

ROWS, LANES = 4, 64
HALF = "SEN169_FP16"
TYPES = {
    HALF: np.float16,
    "IEEE_FP32": np.float32,
    "IEEE_INT32": np.int32,
    "SENINT16": np.int16,
    "SENUINT32": np.uint32,
    "SEN143_FP8": ml_dtypes.float8_e4m3fn,
}
Array = Any


def bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def constants(**values: float) -> tuple[Constant, ...]:
    return tuple(Constant(name, HALF, bits(value)) for name, value in values.items())


def operand(number: int, format: str = HALF, *, column: bool = False, row: bool = False) -> Operand:
    """4 rows of 128 elements; a column has one element a stick, a row is read by all rows."""
    return Operand((Axis("out", not column), Axis("mb", not row)), "out", format, Hbm(number))


def run(
    function: str, inputs: Sequence[Array], output: Operand, *operands: Operand, **values: float
) -> machine.Run:
    sdsc = Sdsc(
        function,
        "sfp",
        (Dim("mb", ROWS), Dim("out", 128)),
        (*operands, output),
        (("mb", 2), ("out", 1)),
        constants=constants(**values),
    )
    buffers = [i if isinstance(i, machine.Buffer) else machine.Buffer.of(i) for i in inputs]
    size = 128 * ROWS * (1 if not output.axes[0].iterates else 128 // LANES_OF[output.format])
    return machine.run_bundle(Bundle((sdsc,)), [*buffers, machine.Buffer.empty(size)])


LANES_OF = {name: 128 // np.dtype(kind).itemsize for name, kind in TYPES.items()}


def stored(values: Array) -> Array:
    """Rows of 128 elements as the device keeps them: the sticks of a row next to each other."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


def result(done: machine.Run, number: int, format: str = HALF) -> Array:
    return done.arguments[number].bytes.view(TYPES[format]).reshape(ROWS, -1)


X = np.random.default_rng(0).standard_normal((ROWS, 128)).astype(np.float16)
WIDE = X.astype(np.float64)

UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "neg": np.negative,
    "exp": np.exp,
    "fastexp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: x**-0.5,
    "reciprocal": np.reciprocal,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "fastsigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relufwd": lambda x: np.where(x > 0, x, 0),
    "relu6fwd": lambda x: np.clip(x, 0, 6),
    "leakyrelufwd": lambda x: np.where(x > 0, x, 0.01 * x),
    # The device has one function for both forms of gelu; they differ by less than 1e-3.
    "gelufwd": lambda x: x / 2 * (1 + np.vectorize(erf)(x / np.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "floor": np.floor,
    "square": np.square,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    with np.errstate(all="ignore"):
        wanted = UNARY[name](WIDE)
    done = run(name, [stored(X)], operand(1), operand(0))
    found = result(done, 1).astype(np.float64)
    assert np.allclose(found, wanted, rtol=2**-8, atol=2**-8, equal_nan=True)


def test_functions_with_constants() -> None:
    done = run("clip", [stored(X)], operand(1), operand(0), clipMin=-0.5, clipMax=0.25)
    assert (result(done, 1) == np.clip(X, -0.5, 0.25)).all()
    done = run(
        "softplus", [stored(X)], operand(1), operand(0), softplusBeta=2.0, softplusThresh=1.0
    )
    wanted = np.where(2 * WIDE > 1, WIDE, np.log1p(np.exp(2 * WIDE)) / 2)
    assert np.allclose(result(done, 1), wanted, atol=2**-8)
    done = run("mean", [stored(X)], operand(1, column=True), operand(0), scaling_factor=0.5)
    assert np.allclose(result(done, 1)[:, 0], WIDE.sum(1) / 2, atol=2**-6)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "biasadd": np.add,
    "sub": np.subtract,
    "revsub": lambda x, y: y - x,
    "mul": np.multiply,
    "realdiv": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "notequal": np.not_equal,
    "greaterthan": np.greater,
    "greaterequal": np.greater_equal,
    "lesserthan": np.less,
    "lesserequal": np.less_equal,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_with_a_row_and_a_column(name: str) -> None:
    row, column = X[:1] + 1, np.zeros((ROWS, LANES), np.float16)
    column[:, 0] = X[:, 0]
    with np.errstate(all="ignore"):
        wanted = BINARY[name](WIDE, row.astype(np.float64))
    done = run(name, [stored(X), stored(row)], operand(2), operand(0), operand(1, row=True))
    assert np.allclose(result(done, 2), wanted, rtol=2**-8, atol=2**-8)
    with np.errstate(all="ignore"):
        wanted = BINARY[name](WIDE, WIDE[:, :1])
    done = run(name, [stored(X), stored(column)], operand(2), operand(0), operand(1, column=True))
    assert np.allclose(result(done, 2), wanted, rtol=2**-8, atol=2**-8)


@pytest.mark.parametrize("name", ["sum", "max", "min", "absmax", "prod"])
def test_reductions_along_the_stick_and_across_rows(name: str) -> None:
    plain = {"absmax": lambda x, axis: np.abs(x).max(axis=axis)}
    reduce = plain.get(name, lambda x, axis: getattr(x, name)(axis=axis))
    done = run(name, [stored(X)], operand(1, column=True), operand(0))
    assert np.allclose(result(done, 1)[:, 0], reduce(WIDE, 1), rtol=2**-8, atol=2**-6)
    assert (done.arguments[1].shadow.reshape(ROWS, LANES, 2)[:, 1:] == machine.POISON).all()
    done = run(f"{name}nonstick", [stored(X)], operand(1, row=True), operand(0))
    found = done.arguments[1].bytes.view(np.float16)[:128]
    assert np.allclose(found, reduce(WIDE, 0), rtol=2**-8, atol=2**-8)


def test_a_reduction_takes_what_stands_still_once_per_iteration() -> None:
    done = run("sumnonstick", [stored(X[:1])], operand(1, row=True), operand(0, row=True))
    assert np.allclose(done.arguments[1].bytes.view(np.float16)[:128], 4 * WIDE[0], rtol=2**-8)
    done = run("maxnonstick", [stored(X[:1])], operand(1, row=True), operand(0, row=True))
    assert (done.arguments[1].bytes.view(np.float16)[:128] == X[0]).all()


@pytest.mark.parametrize(
    ("source", "target", "values", "wanted"),
    [
        (HALF, "IEEE_FP32", [1.5, -2.25], [1.5, -2.25]),
        ("IEEE_FP32", HALF, [1.0001, 1e6], [1.0, np.inf]),
        ("IEEE_FP32", "IEEE_INT32", [2.9, -2.9, np.nan, 1e20], [2, -2, 0, 2147483647]),
        ("IEEE_INT32", "IEEE_FP32", [7, -7], [7.0, -7.0]),
        ("IEEE_FP32", "SENUINT32", [-1.0, 3.0], [0, 3]),
        ("SEN143_FP8", HALF, [1.5, -448.0], [1.5, -448.0]),
        (HALF, "SENINT16", [-3.7, 40000.0], [-3, 32767]),
    ],
)
def test_conversions(source: str, target: str, values: list[float], wanted: list[float]) -> None:
    given = np.zeros((ROWS, 128), TYPES[source])
    given[0, : len(values)] = values
    done = run("to_dtype", [stored(given)], operand(1, target), operand(0, source))
    assert result(done, 1, target)[0, : len(wanted)].tolist() == wanted


def test_integers_wrap() -> None:
    given = np.full((ROWS, 128), 2**31 - 1, np.int32)
    kinds = [operand(i, "IEEE_INT32") for i in (0, 0, 1)]
    done = run("add", [stored(given)], kinds[2], *kinds[:2])
    assert (result(done, 1, "IEEE_INT32") == -2).all()


def poisoned(values: Array, cell: tuple[int, int]) -> machine.Buffer:
    """The buffer of rows in which one cell holds no data and reads as NaN."""
    values = values.copy()
    values[cell] = np.nan
    buffer = machine.Buffer.of(stored(values))
    buffer.shadow.reshape(ROWS, 128, 2)[cell] = machine.POISON
    return buffer


def bad(done: machine.Run, number: int) -> list[list[int]]:
    shadow = done.arguments[number].shadow.reshape(ROWS, -1, 2).any(-1)
    return [[int(i) for i in cell] for cell in np.argwhere(shadow)]


def test_a_choice_reads_only_the_branch_that_it_takes() -> None:
    mask = np.zeros((ROWS, 128), np.float16)
    mask[0] = 1
    inputs = [stored(mask), poisoned(X, (0, 3)), poisoned(X, (2, 5))]
    done = run("where3", inputs, operand(3), operand(0), operand(1), operand(2))
    assert bad(done, 3) == [[0, 3], [2, 5]]
    inputs = [poisoned(mask, (1, 1)), poisoned(X, (1, 3)), poisoned(X, (0, 5))]
    done = run("where3", inputs, operand(3), operand(0), operand(1), operand(2))
    assert bad(done, 3) == [[1, 1]]


def test_poison_in_norms() -> None:
    scale = 1 / 128
    moments = {"exx2scale": scale, "useZeroMean": 0.0}
    done = run("exx2", [poisoned(X, (2, 9))], operand(1, column=True), operand(0), **moments)
    shadow = done.arguments[1].shadow.reshape(ROWS, LANES, 2).any(-1)
    assert shadow[:, :2].tolist() == [[False] * 2] * 2 + [[True] * 2] + [[False] * 2]
    pairs = done.arguments[1]
    rest = run("layernormscale", [pairs], operand(1, column=True), operand(0, column=True), eps=0.0)
    assert rest.arguments[1].shadow.reshape(ROWS, LANES, 2)[:, 0].any(-1).tolist() == [
        False,
        False,
        True,
        False,
    ]
    found = rest.arguments[1].bytes.view(np.float16).reshape(ROWS, LANES)[0, 0]
    assert abs(found - 1 / WIDE[0].std()) < 2**-8
    kinds = [operand(0), operand(1, column=True), operand(2, column=True)]
    rows = [operand(3, row=True), operand(4, row=True)]
    inputs = [stored(X), pairs, rest.arguments[1], stored(X[:1]), stored(X[:1])]
    done = run("layernormnorm", inputs, operand(5), *kinds, *rows)
    assert bad(done, 5) == [[2, i] for i in range(128)]


def matmul(left: Any, right: Any) -> machine.Run:
    """4 x 64 by 64 x 64."""
    sdsc = Sdsc(
        "batchmatmul",
        "pt",
        (Dim("mb", 4), Dim("out", 64), Dim("in", 64)),
        (
            Operand((Axis("mb"), Axis("in")), "in", HALF, Hbm(0)),
            Operand((Axis("in"), Axis("out")), "out", HALF, Hbm(1)),
            Operand((Axis("mb"), Axis("out")), "out", HALF, Hbm(2)),
        ),
        (("in", 1), ("mb", 2), ("out", 1)),
    )
    return machine.run_bundle(Bundle((sdsc,)), [left, right, machine.Buffer.empty(4 * 128)])


def test_poison_in_products_counts_unless_it_meets_a_zero() -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(shape).astype(np.float16) for shape in ((4, 64), (64, 64)))
    y[63] = 0

    def buffer(values: Array, cell: tuple[int, int]) -> machine.Buffer:
        found = machine.Buffer.of(stored(np.where(np.isnan(values), 0, values)))
        found.bytes.view(np.float16).reshape(values.shape)[cell] = np.nan
        found.shadow.reshape(*values.shape, 2)[cell] = machine.POISON
        return found

    clean = matmul(stored(x), stored(y))
    wanted = (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float16)
    assert np.allclose(clean.arguments[2].bytes.view(np.float16).reshape(4, 64), wanted, atol=0.02)
    assert not matmul(buffer(x, (1, 63)), stored(y)).arguments[2].shadow.any()
    rows = matmul(buffer(x, (1, 3)), stored(y)).arguments[2].shadow.reshape(4, 64, 2).any(-1)
    assert rows.tolist() == [[i == 1] * 64 for i in range(4)]
    columns = matmul(stored(x), buffer(y, (5, 7))).arguments[2].shadow.reshape(4, 64, 2).any(-1)
    assert columns.tolist() == [[j == 7 for j in range(64)]] * 4


def test_nan_is_the_largest() -> None:
    column = np.zeros((128, 64), np.float16)
    column[:, 0] = np.arange(128)
    column[5, 0], column[9, 0] = np.nan, np.inf
    buffer = machine.Buffer.of(stored(column))
    buffer.shadow.reshape(128, 64, 2)[:, 1] = machine.POISON

    def topk(function: str) -> machine.Run:
        sdsc = Sdsc(
            function,
            "sfp",
            (Dim("mb", 64), Dim("x", 3), Dim("out", 128)),
            (
                Operand((Axis("out"), Axis("mb")), "mb", HALF, Hbm(0)),
                Operand((Axis("x"), Axis("mb")), "mb", HALF, Hbm(1)),
            ),
            (("mb", 1), ("x", 3), ("out", 1)),
        )
        return machine.run_bundle(Bundle((sdsc,)), [buffer, machine.Buffer.empty(3 * 128)])

    values = topk("topkvalue")
    found = values.arguments[1].bytes.view(np.float16).reshape(3, 64)[:, 0]
    assert np.isnan(found[0]) and found[1:].tolist() == [np.inf, 127]
    assert (
        values.arguments[1].shadow.reshape(3, 64, 2).any(-1)[:, :3].tolist()
        == [[False, True, False]] * 3
    )
    places = topk("topkindex").arguments[1].bytes.view(np.float16).reshape(3, 64)[:, 0]
    assert places.tolist() == [5, 9, 127]


@pytest.mark.parametrize(
    ("function", "output", "inputs", "what"),
    [
        ("identity", operand(1, "IEEE_FP32"), [operand(0)], "cannot change the format"),
        ("exx2", operand(1), [operand(0)], "writes one pair a stick"),
        ("layernormscale", operand(1), [operand(0)], "reads one pair a stick"),
        ("topkvalue", operand(1), [operand(0)], "chooses along one dim"),
        ("batchmatmul", operand(2), [operand(0), operand(1, row=True)], None),
        ("batchmatmul", operand(2, row=True), [operand(0), operand(1, row=True)], "dim mb"),
    ],
)
def test_operands_that_a_function_does_not_take(
    function: str, output: Operand, inputs: list[Operand], what: str | None
) -> None:
    values = {"exx2scale": 1.0, "useZeroMean": 0.0, "eps": 0.0}
    given = [stored(X)] * len(inputs)
    if what is None:
        run(function, given, output, *inputs)
        return
    with pytest.raises(Refusal, match=f"SPY145: .*{what}"):
        run(function, given, output, *inputs, **values)
