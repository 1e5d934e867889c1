# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forming against observed bundles, from their specs and from kernels of our own, and by brute
force."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spyre_mlir import opspecs
from spyre_mlir.accesses import Access, device_coordinates, flat_index
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.forming import (
    Operation,
    Repeat,
    form,
    form_bundle,
)
from spyre_mlir.hardware import STICK_BYTES
from spyre_mlir.kernel_forming import aligned_operation, form_kernel
from spyre_mlir.kernels import Dim, Kernel
from spyre_mlir.layouts import Layout, contiguous_strides, device_layout
from spyre_mlir.quasiaffine import Expression, linear
from spyre_mlir.sdsc.bundle import numbering, write_text
from spyre_mlir.sdsc.emit import emit
from spyre_mlir.sdsc.model import POOL, Bundle, Hbm, Lx, Sdsc

DATA = Path(__file__).parents[1] / "data/sdsc"
FROM_JSON = sorted(path.parent for path in DATA.rglob("op_specs.json"))
FROM_PRINT = sorted(path.parent for path in DATA.rglob("op_specs.txt"))


def name(folder: Path) -> str:
    return str(folder.relative_to(DATA))


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """The file without provenance, whose ids differ from run to run."""
    return {key: {**body, "debug_handle_": None} for key, body in document.items()}


def written(bundle: Bundle) -> tuple[list[dict[str, Any]], str]:
    """What the bundle's files say: the SDSCs as data, the text up to white space."""
    files = [
        comparable(emit(sdsc, index=index, first=first, symbols=symbols))
        for index, (sdsc, first, symbols) in enumerate(numbering(bundle))
    ]
    return files, " ".join(write_text(bundle).split())


def observed(folder: Path) -> tuple[list[dict[str, Any]], str]:
    count = len(list(folder.glob("sdsc_*.json")))
    files = [comparable(json.loads((folder / f"sdsc_{i}.json").read_text())) for i in range(count)]
    return files, " ".join((folder / "bundle.mlir").read_text().split())


def k_fast(folder: Path) -> bool:
    """Folders made with the switch off say so in their names."""
    return not any(off in folder.name for off in ("kfast_off", "kfastoff"))


@pytest.mark.parametrize("folder", FROM_JSON, ids=name)
def test_spec_lists_give_the_observed_bundle(folder: Path) -> None:
    specs = opspecs.read((folder / "op_specs.json").read_text())
    assert written(opspecs.bundle(specs, k_fast=k_fast(folder))) == observed(folder)


def unprinted(document: dict[str, Any]) -> bool:
    """What the debug print does not hold: constants of the function, and a tensor's own division
    over cores."""
    ((_, body),) = document.items()
    ((function, inner),) = body["dscs_"][0].items()
    masked = inner["maskingConstId_"] == 0
    return bool(function == "shuffle" or (inner["constantInfo_"] != "{}" and not masked))


@pytest.mark.parametrize("folder", FROM_PRINT, ids=name)
def test_debug_prints_give_the_observed_bundle(folder: Path) -> None:
    specs = opspecs.read((folder / "op_specs.txt").read_text())
    (got, text), (wanted, observed_text) = written(opspecs.bundle(specs)), observed(folder)
    assert text == observed_text
    for mine, theirs in zip(got, wanted, strict=True):
        assert unprinted(theirs) or mine == theirs


def test_few_prints_lack_something() -> None:
    lacking = [f for f in FROM_PRINT if any(unprinted(d) for d in observed(f)[0])]
    assert (len(FROM_PRINT), len(lacking)) == (130, 9)


# --- kernels of our own ------------------------------------------------------------------------

Dims = Mapping[str, int]


def access(
    shape: Sequence[int],
    dims: Sequence[str | int],
    *,
    element: str = "f16",
    order: Sequence[int] | None = None,
    layout: Layout | None = None,
) -> Access:
    """A tensor in its default layout (or stick order), read at one symbol or constant per dim."""
    found = layout or device_layout(tuple(shape), element, order=order)
    indices = [linear({d: 1}) if isinstance(d, str) else Expression(d) for d in dims]
    return Access("", "", found, element, flat_index(indices, contiguous_strides(shape)))


def kernel(dims: Dims, accesses: Sequence[Access], reduced: Sequence[str] = ()) -> Kernel:
    return Kernel(
        "",
        "",
        tuple(Dim(symbol, extent, symbol in reduced) for symbol, extent in dims.items()),
        tuple(accesses),
    )


def operation(
    function: str,
    dims: Dims,
    accesses: Sequence[Access],
    places: Sequence[Hbm | Lx] | None = None,
    *,
    reduced: Sequence[str] = (),
    splits: Mapping[str, int] | None = None,
) -> Operation:
    return aligned_operation(
        kernel(dims, accesses, reduced),
        function=function,
        splits=splits or {},
        places=places or [Hbm(i) for i in range(len(accesses))],
    )


PLANE = {"a": 128, "b": 256}


def plane(dims: Sequence[str | int] = ("a", "b")) -> Access:
    return access((128, 256), dims)


def lifted(loop: int) -> Operation:
    """An add of two 1x8195x256x64 tensors, one of five tiles."""
    tile, shape = {"h": 1, "a": 1639, "b": 256, "c": 64}, (1, 8195, 256, 64)
    places = [Hbm(i, 0, (loop,)) for i in range(3)]
    return operation(
        "add", tile, [access(shape, ("h", "a", "b", "c"))] * 3, places, splits={"b": 4}
    )


def scaled_and_shifted() -> list[Operation]:
    """x * s + t over 8x16x128, the scalars in sticks of their own."""
    dims, shape = {"a": 8, "b": 16, "c": 128}, (8, 16, 128)
    full, one = access(shape, ("a", "b", "c")), access((), ())
    return [
        operation("mul", dims, [full, one, full], [Hbm(0), Hbm(1), Hbm(POOL)], splits={"b": 8}),
        operation("add", dims, [full, one, full], [Hbm(POOL), Hbm(2), Hbm(3)], splits={"b": 8}),
    ]


def matmul(batch: int = 2, m: int = 64, n: int = 256, k: int = 128) -> Operation:
    dims = {"z": batch, "m": m, "n": n, "k": k}
    accesses = [
        access((batch, m, k), ("z", "m", "k")),
        access((batch, k, n), ("z", "k", "n")),
        access((batch, m, n), ("z", "m", "n")),
    ]
    return operation("batchmatmul", dims, accesses, reduced=("k",), splits={"m": 4})


OURS: dict[str, list[Operation | Repeat]] = {
    "aug/add_fp16_128x256": [operation("add", PLANE, [plane()] * 3, splits={"a": 32})],
    "aug/add_fp16_128x256_4core": [operation("add", PLANE, [plane()] * 3, splits={"a": 4})],
    "aug/add_fp16_100x150_1core": [
        operation("add", {"a": 100, "b": 150}, [access((100, 150), ("a", "b"))] * 3)
    ],
    "aug/add_bcast_128x256_256_4core": [
        operation("add", PLANE, [plane(), access((256,), ("b",)), plane()], splits={"a": 4})
    ],
    "aug/add_fp32_2x3x4x40_2core": [
        operation(
            "add",
            {"a": 2, "b": 3, "c": 4, "d": 40},
            [access((2, 3, 4, 40), "abcd", element="f32")] * 3,
            splits={"c": 2},
        )
    ],
    "aug/exp_128x256_4core": [operation("exp", PLANE, [plane()] * 2, splits={"a": 4})],
    "aug/sum_dim-1_128x256_4core": [
        operation(
            "sum",
            PLANE,
            [plane(), access((128,), ("a",), order=(0, -1))],
            reduced=("b",),
            splits={"a": 4},
        )
    ],
    "aug/sum_dim0_128x256_4core": [
        operation(
            "sum",
            {"b": 256, "a": 128},
            [plane(), access((256,), ("b",))],
            reduced=("a",),
            splits={"b": 4},
        )
    ],
    "aug/bmm_2x64x128x256_4core": [matmul()],
    "aug/linear_2x64_1024x64_4core": [
        operation(
            "ReStickifyOpHBM",
            {"n": 1024, "k": 64},
            [access((1024, 64), ("n", "k")), access((1024, 64), ("n", "k"), order=(1, 0))],
            [Hbm(0), Hbm(POOL)],
            splits={"n": 4},
        ),
        operation(
            "batchmatmul",
            {"m": 2, "n": 1024, "k": 64},
            [
                access((2, 64), ("m", "k")),
                access((1024, 64), ("n", "k"), order=(1, 0)),
                access((2, 1024), ("m", "n")),
            ],
            [Hbm(1), Hbm(POOL), Hbm(2)],
            reduced=("k",),
            splits={"n": 4},
        ),
    ],
    "aug/addscalar3_8x16x128_8core": [*scaled_and_shifted()],
    "jul/so_add_1x8195x256x64": [Repeat(5, (lifted(1639 * 256 * STICK_BYTES),))],
}


@pytest.mark.parametrize("golden", OURS)
def test_kernels_give_the_observed_bundle(golden: str) -> None:
    pools = {"aug/linear_2x64_1024x64_4core": 131072, "aug/addscalar3_8x16x128_8core": 32768}
    bundle = form_bundle(OURS[golden], pool_bytes=pools.get(golden))
    assert written(bundle) == observed(DATA / golden)


# --- valid regions, windows, places ------------------------------------------------------------


def axes(sdsc: Sdsc, operand: int) -> list[tuple[str, bool, int]]:
    return [(a.dim, a.iterates, a.gap) for a in sdsc.operands[operand].axes]


def test_extents_are_the_valid_ones_and_gaps_stand_behind_them() -> None:
    """100 of 128 rows and 70 of 256 columns hold data."""
    sdsc = form(operation("add", {"a": 100, "b": 70}, [plane()] * 3))
    assert sdsc.extents == {"mb": 100, "out": 128}
    assert axes(sdsc, 0) == [("mb", True, 28), ("out", True, 128)]
    assert sdsc.mask == ()


@pytest.mark.parametrize(
    ("function", "bits"), [("sum", 0), ("max", 0xFF800000), ("min", 0x7F800000)]
)
def test_a_reduced_stick_is_masked(function: str, bits: int) -> None:
    reduced = [plane(), access((128,), ("a",), order=(0, -1))]
    sdsc = form(operation(function, {"a": 128, "b": 70}, reduced, reduced="b"))
    assert [(m.dim, m.valid, m.pad) for m in sdsc.mask] == [("out", 70, 58)]
    assert [(c.name, c.bits) for c in sdsc.constants] == [("samv-maskvalue", bits)]
    assert sdsc.function == function and sdsc.reads_output
    assert axes(sdsc, 1) == [("mb", True, 0), ("out", False, 0)]


def test_exponentials_are_masked_and_other_pointwise_functions_are_not() -> None:
    found = [form(operation(f, {"a": 128, "b": 70}, [plane()] * 2)).mask for f in ("exp", "log")]
    assert [len(mask) for mask in found] == [1, 0]


def test_the_mask_comes_before_the_functions_own_constants() -> None:
    mean = operation(
        "mean",
        {"a": 128, "b": 70},
        [plane(), access((128,), ("a",), order=(0, -1))],
        reduced="b",
    )
    sdsc = form(replace(mean, constants=(("scaling_factor", 1 / 70),)))
    assert [c.name for c in sdsc.constants] == ["samv-maskvalue", "scaling_factor"]


def test_reduced_rows_need_no_mask() -> None:
    sdsc = form(
        operation("sum", {"b": 70, "a": 100}, [plane(), access((256,), ("b",))], reduced="a")
    )
    assert (sdsc.function, sdsc.mask) == ("sumnonstick", ())
    assert axes(sdsc, 0) == [("out", True, 28), ("mb", True, 128)]


def test_a_window_begins_inside_its_buffer() -> None:
    """Rows 8 to 71, columns 64 to 127, in a loop over neither."""
    window = access((128, 256), ("a", "b"))
    window = replace(window, index=window.index + 8 * 256 + 64)
    out = access((64, 64), ("a", "b"))
    places = [Hbm(0, 4096, (0,)), Hbm(1)]
    sdsc = form(operation("exp", {"a": 64, "b": 64}, [window, out], places))
    assert sdsc.operands[0].place == Hbm(0, 4096 + (128 + 8) * STICK_BYTES)
    # The column tile stands at 1 of 4: a dim of its own, with a gap of 3.
    assert axes(sdsc, 0) == [("mb", True, 64), ("out", True, 3), ("x", True, 0)]


def test_forming_a_kernel_once_for_all_places() -> None:
    window = replace(plane(), index=plane().index + 64)
    tensors, dims, splits = [window, access((128, 64), ("a", "b"))], {"a": 128, "b": 64}, {"a": 4}
    cases: list[list[Hbm | Lx]] = [
        [Hbm(0), Hbm(1)],
        [Hbm(POOL, 256, (4096, 0)), Hbm(3, 0, (0, 0))],
        [Lx(512), Hbm(2)],
    ]
    for places in cases:
        assert form_kernel(
            kernel(dims, tensors), function="exp", splits=splits, places=places
        ) == form(operation("exp", dims, tensors, places, splits=splits))


def test_a_tile_of_one_row_keeps_its_dim() -> None:
    """Not observed: a row of 4 is a dim of extent 1 with a gap of 3, not lost from the strides."""
    full, row = access((4, 3, 64), ("r", "a", "b")), access((1, 3, 64), ("r", "a", "b"))
    sdsc = form(operation("exp", {"r": 1, "a": 3, "b": 64}, [full, row]))
    assert axes(sdsc, 0) == [("out", True, 3), ("mb", True, 0), ("x", True, 0)]
    assert sdsc.extents == {"mb": 3, "x": 64, "out": 1}


def test_a_matmul_reads_whole_sticks_of_both_operands() -> None:
    with pytest.raises(Refusal) as refusal:
        form(matmul(k=100))
    assert refusal.value.code == "SPY093" and refusal.value.remedy is not None
    assert "100 elements along a dim of which 128 are read" in refusal.value.message


def test_one_dim_lies_in_the_stick_of_all_operands() -> None:
    """A reduced stick leaves one value per stick, not a dense row of another dim."""
    crossed = [
        operation("add", PLANE, [plane(), access((128, 256), ("a", "b"), order=(1, 0)), plane()]),
        operation("sum", PLANE, [plane(), access((128,), ("a",))], reduced="b"),
        operation(
            "batchmatmul",
            {"m": 64, "n": 64, "k": 128},
            [
                access((64, 128), ("m", "k")),
                access((64, 128), ("n", "k")),
                access((64, 64), ("m", "n")),
            ],
            reduced="k",
        ),
    ]
    for wrong in crossed:
        with pytest.raises(Refusal) as refusal:
            form(wrong)
        assert refusal.value.code == "SPY093"
        assert refusal.value.message.startswith(f"operand 1 of {wrong.function} has dim")


def test_a_matmul_on_one_of_two_batches() -> None:
    """The batch that stays is a dim of its own, before those that the labels count from the end."""
    shapes = [((2, 64, 128), "zmk"), ((2, 128, 64), "zkn"), ((1, 64, 64), "zmn")]
    accesses = [access(shape, dims) for shape, dims in shapes]
    dims = {"z": 1, "m": 64, "n": 64, "k": 128}
    sdsc = form(operation("batchmatmul", dims, accesses, reduced="k"))
    assert sdsc.extents == {"x": 1, "mb": 64, "out": 64, "in": 128}
    assert axes(sdsc, 0) == [("x", True, 1), ("in", True, 0), ("mb", True, 0)]
    assert axes(sdsc, 1) == [("x", True, 1), ("in", True, 0), ("out", True, 0)]


def test_a_restickify_reads_whole_sticks_of_both_dims() -> None:
    """Where they are there, a dim with padding is not divided over cores."""
    dims, splits = {"a": 100, "b": 150}, {"a": 2, "b": 3}
    pair = [access((100, 150), ("a", "b")), access((100, 150), ("a", "b"), order=(1, 0))]
    with pytest.raises(Refusal) as refusal:
        form(operation("ReStickifyOpHBM", dims, pair, splits=splits))
    assert refusal.value.code == "SPY093" and refusal.value.remedy is not None
    whole = [access((128, 192), ("a", "b")), access((128, 192), ("a", "b"), order=(1, 0))]
    sdsc = form(operation("ReStickifyOpHBM", dims, whole, splits=splits))
    assert (sdsc.extents, sdsc.cores) == ({"mb": 128, "out": 192}, 1)


def test_the_backend_names_seven_dims() -> None:
    names = "abcdefgh"
    shape = dict.fromkeys(names, 2)
    layout = Layout((*(2,) * 8, 64), (*(2 ** (7 - i) for i in range(8)), -1))
    tensor = access(tuple(shape.values()), names, layout=layout)
    with pytest.raises(Refusal) as refusal:
        form(operation("exp", shape, [tensor, tensor]))
    assert refusal.value.code == "SPY093"


def test_cores_that_share_an_output_of_a_matmul_follow_each_other() -> None:
    split = replace(
        matmul(),
        symbols=tuple(
            replace(s, split={"m": 2, "k": 2}.get(s.origin or "", 1)) for s in matmul().symbols
        ),
    )
    orders = [[n for n, s in form(split, k_fast=fast).cut if s > 1] for fast in (True, False)]
    assert orders == [["in", "mb"], ["mb", "in"]]


# --- every core, every point -------------------------------------------------------------------


def device_bytes(tensor: Access, coordinates: Sequence[int]) -> int:
    offset = 0
    for size, at in zip(tensor.layout.device_size, coordinates, strict=True):
        offset = offset * size + at
    return offset * tensor.layout.element_bytes


@st.composite
def pointwise(draw: st.DrawFn) -> tuple[dict[str, int], list[Access], dict[str, int]]:
    """A pointwise operation on windows, broadcasts and permutations, divided over cores."""
    rank = draw(st.integers(1, 2))
    dims = {f"s{i}": draw(st.sampled_from((1, 2, 4, 6))) for i in range(rank)}
    dims["t"] = draw(st.sampled_from((64, 100, 128, 200)))
    accesses = []
    for last in (False, False, True):
        rows = draw(st.permutations(list(dims)[:-1]))
        names = [*(n for n in rows if last or draw(st.booleans())), "t"]
        before = [draw(st.integers(0, 1)) for _ in names[:-1]] + [draw(st.sampled_from((0, 64)))]
        behind = [draw(st.integers(0, 1)) for _ in names[:-1]] + [draw(st.sampled_from((0, 64)))]
        shape = [dims[n] + b + a for n, b, a in zip(names, before, behind, strict=True)]
        start = sum(b * s for b, s in zip(before, contiguous_strides(shape), strict=True))
        tensor = access(shape, names)
        accesses.append(replace(tensor, index=tensor.index + start))
    splits = {n: draw(st.sampled_from((1, 2))) if e % 2 == 0 else 1 for n, e in dims.items()}
    splits["t"] = draw(st.sampled_from((1, 2))) if dims["t"] > 64 and dims["t"] != 200 else 1
    return dims, accesses, splits


def probes(values: range) -> list[int]:
    """All of a short range; of a long one, three lanes of every stick."""
    return [value for value in values if len(values) <= 8 or value % 64 in (0, 5, 63)]


def iterated(sdsc: Sdsc) -> Iterator[tuple[int, dict[str, int]]]:
    """(core, point) of every slice, padding included."""
    counts, extents = dict(sdsc.cut), sdsc.extents
    shares = {label: extents[label] // counts[label] for label in extents}
    for core, slices in enumerate(sdsc.slices()):
        walks = [probes(range(slices[n] * shares[n], (slices[n] + 1) * shares[n])) for n in extents]
        for values in product(*walks):
            yield core, dict(zip(extents, values, strict=True))


@settings(max_examples=60, deadline=None)
@given(pointwise())
def test_every_core_reaches_what_the_access_says(
    case: tuple[dict[str, int], list[Access], dict[str, int]],
) -> None:
    dims, accesses, splits = case
    places = [Hbm(i, 128 * i) for i in range(3)]
    check_reach(operation("add", dims, accesses, places, splits=splits), dims, accesses)


def test_every_core_reaches_its_share_of_a_matmul_and_of_reductions() -> None:
    dims, splits = {"z": 2, "m": 4, "n": 128, "k": 128}, {"z": 2, "m": 2, "n": 2, "k": 2}
    accesses = [
        access((2, 4, 128), "zmk"),
        access((3, 128, 128), "zkn"),
        access((2, 4, 128), "zmn"),
    ]
    places = [Hbm(i, 128 * i) for i in range(3)]
    check_reach(
        operation("batchmatmul", dims, accesses, places, reduced="k", splits=splits), dims, accesses
    )
    dims, splits = {"a": 6, "b": 100}, {"a": 3, "b": 2}
    for kept, order in (("a", (0, -1)), ("b", None)):
        ordered = {kept: dims[kept], **dims}
        accesses = [access((8, 100), "ab"), access((dims[kept],), kept, order=order)]
        reduced = [d for d in dims if d != kept]
        formed = operation("sum", ordered, accesses, places[:2], reduced=reduced, splits=splits)
        check_reach(formed, ordered, accesses)


def check_reach(formed: Operation, dims: Dims, accesses: Sequence[Access]) -> None:
    """Every core, from its start, at every valid point of its slice: the byte that the access says.
    Together the cores walk all points."""
    sdsc = form(formed)
    origin = {s.name: s.origin for s in formed.symbols}
    symbols = {label: s for label, s in zip(sdsc.extents, origin.values(), strict=False) if s}
    coordinates = [device_coordinates(tensor, dims) for tensor in accesses]
    seen = set()
    for core, point in iterated(sdsc):
        at = dict.fromkeys(dims, 0)
        at |= {symbols[label]: value for label, value in point.items() if label in symbols}
        if any(at[symbol] >= extent for symbol, extent in dims.items()):
            continue  # padding of a stick
        seen.add(tuple(at.values()))
        for index, (tensor, found) in enumerate(zip(accesses, coordinates, strict=True)):
            place = formed.operands[index].place
            assert isinstance(place, Hbm)
            wanted = device_bytes(tensor, [c.evaluate(at) for c in found])
            assert reached(sdsc, index, core, point) == place.offset + wanted
    assert seen == set(product(*(probes(range(extent)) for extent in dims.values())))


def reached(sdsc: Sdsc, index: int, core: int, point: Mapping[str, int]) -> int:
    """The byte that a core reaches at a point of its slice, counted from where the core starts."""
    operand = sdsc.operands[index]
    assert isinstance(operand.place, Hbm)
    strides, counts = operand.strides(sdsc.extents), dict(sdsc.cut)
    address = operand.place.offset + sdsc.core_offsets(operand)[core]
    slices, extents = sdsc.slices()[core], sdsc.extents
    for label, value in point.items():
        start = slices[label] * (extents[label] // counts.get(label, 1))
        if label == operand.stick:
            stick, lane = divmod(value - start, operand.storage.elements_per_stick)
            stands = any(axis.dim == label and not axis.iterates for axis in operand.axes)
            address += stick * strides[label] + (0 if stands else lane * operand.storage.bytes)
        else:
            address += (value - start) * strides.get(label, 0)
    return address
