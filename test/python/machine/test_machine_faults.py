# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine finds wrong while a bundle runs: operation, operand, core and trip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spyre_mlir import machine
from spyre_mlir.diagnostics import Refusal
from spyre_mlir.hardware import LX_BYTES
from spyre_mlir.sdsc.model import (
    POOL,
    Axis,
    Bundle,
    Constant,
    Dim,
    Hbm,
    Loop,
    Lx,
    Mask,
    Operand,
    PoolBuffer,
    Sdsc,
)
from spyre_mlir.sdsc.write import files

ROW = 2 * 128
"""Bytes of a row of 128 halves, in two sticks."""


def operand(buffer: Any, offset: int = 0, advances: tuple[int, ...] = (), gap: int = 0) -> Operand:
    """8 rows of 128 halves, rows outermost."""
    axes = (Axis("out"), Axis("mb", gap=gap))
    return Operand(axes, "out", "SEN169_FP16", Hbm(buffer, offset, advances))


def sdsc(function: str, *operands: Operand, rows: int = 8, cores: int = 2) -> Sdsc:
    return Sdsc(
        function, "sfp", (Dim("mb", rows), Dim("out", 128)), operands, (("mb", cores), ("out", 1))
    )


def run(*body: Any, sizes: tuple[int, ...] = (8 * ROW, 8 * ROW), **options: Any) -> machine.Run:
    rng = np.random.default_rng(0)
    buffers = [rng.random(size // 2).astype(np.float16).view(np.uint8) for size in sizes]
    pool = options.pop("pool_bytes", None)
    bundle = Bundle(body, None if pool is None else PoolBuffer(pool))
    return machine.run_bundle(bundle, buffers, **options)


def refused(*body: Any, **options: Any) -> str:
    with pytest.raises(Refusal) as caught:
        run(*body, **options)
    return str(caught.value).splitlines()[0]


def test_a_sound_bundle_runs() -> None:
    done = run(sdsc("neg", operand(0), operand(1)))
    given, made = (done.arguments[i].bytes.view(np.float16) for i in (0, 1))
    assert (made == -given).all()
    assert done.operations == 1
    assert done.touched[0].read.all() and not done.touched[0].written.any()
    assert done.touched[1].written.all() and not done.touched[1].read.any()
    assert done.writer(1, 5 * ROW) == "written by sdsc_0.json on core 1"
    assert done.writer(0, 0) == "nobody wrote it"


def test_arguments_are_not_changed() -> None:
    given = np.zeros(8 * ROW, np.uint8)
    machine.run_bundle(Bundle((sdsc("exp", operand(0), operand(0)),)), [given])
    assert not given.any()


def test_a_read_behind_the_buffer() -> None:
    assert refused(sdsc("neg", operand(0, ROW), operand(1))) == (
        "SPY140: sdsc_0.json (neg): operand 0 on core 1 touches bytes 1280 to 2304 of argument 0, "
        "which has 2048"
    )


def test_a_loop_that_leaves_the_buffer_in_its_last_trip() -> None:
    body = Loop(3, (sdsc("neg", operand(0), operand(1, advances=(1024,)), rows=4),))
    assert refused(body) == (
        "SPY140: sdsc_0.json (neg): operand 1 on core 0 in trip [2] touches bytes 2048 to 2560 of "
        "argument 1, which has 2048"
    )


def test_a_gap_counts_as_memory() -> None:
    # Rows outermost: what lies behind the last row is not touched.
    run(sdsc("neg", operand(0, gap=8), operand(1)))
    inner = replace(operand(0), axes=(Axis("mb", gap=8), Axis("out")))
    assert "touches bytes 0 to 2560 of argument 0" in refused(sdsc("neg", inner, operand(1)))


def test_a_start_off_the_stick() -> None:
    assert refused(sdsc("neg", operand(0, 64), operand(1, 64))) == (
        "SPY140: sdsc_0.json: operand 0 of core 0 begins off the stick, at byte 64"
    )


def test_a_scratchpad_that_is_too_small() -> None:
    there = replace(operand(0), place=Lx(LX_BYTES - 512))
    assert "operand 1 on core 0 touches bytes 2096640 to 2097664 of its scratchpad" in refused(
        sdsc("identity", operand(0), there)
    )


def test_two_cores_that_write_one_stick() -> None:
    texts = files(Bundle((sdsc("neg", operand(0), operand(1)),)))
    moved = texts["bundle.mlir"].replace(
        "%arg_1_core_offset_1024 = arith.constant 1024",
        "%arg_1_core_offset_1024 = arith.constant 256",
    )
    buffers = [np.zeros(8 * ROW, np.uint8)] * 2
    with pytest.raises(
        Refusal, match=r"SPY141: .* operand 1 on core 0 writes byte 256 of argument 1"
    ):
        machine.run_bundle({**texts, "bundle.mlir": moved}, buffers)


def test_cores_that_share_a_reduction_share_their_output() -> None:
    column = Operand((Axis("out"), Axis("mb")), "out", "SEN169_FP16", Hbm(0))
    total = Operand((Axis("out"), Axis("mb", False)), "out", "SEN169_FP16", Hbm(1))
    done = run(replace(sdsc("sumnonstick", column, total), reads_output=True))
    x = done.arguments[0].bytes.view(np.float16).reshape(8, 128).astype(np.float32)
    assert np.allclose(done.arguments[1].bytes.view(np.float16)[:128], x.sum(0), atol=1e-2)


def test_a_core_that_reads_what_another_writes() -> None:
    body = sdsc("neg", operand(0, ROW), operand(0), rows=4)
    assert refused(body) == (
        "SPY142: sdsc_0.json (neg): operand 0 on core 0 reads byte 256 of argument 0, which core 0 "
        "writes in the same operation"
    )


def test_in_place_is_sound_where_each_stick_is_read_where_it_is_written() -> None:
    done = run(sdsc("add", operand(0), operand(1), operand(0)))
    assert done.touched[0].written.all()
    turned = Operand((Axis("out"), Axis("mb")), "out", "SEN169_FP16", Hbm(0))
    assert "SPY142" in refused(sdsc("ReStickifyOpHBM", turned, turned))


def test_a_reach_over_the_limit() -> None:
    run(sdsc("neg", operand(0), operand(1)), limit=1024)
    assert refused(sdsc("neg", operand(0), operand(1)), limit=1023) == (
        "SPY143: sdsc_0.json (neg): operand 0 on core 0 reaches over 1024 bytes of argument 0, the "
        "limit is 1023"
    )


def test_reads_of_bytes_that_nobody_wrote_are_noted_or_refused() -> None:
    body = (sdsc("neg", operand(POOL), operand(0)), sdsc("exp", operand(0), operand(1)))
    done = run(*body, pool_bytes=8 * ROW)
    assert [str(read) for read in done.unwritten] == [
        "sdsc_0.json: operand 0 on core 0 reads byte 0 of the pool, which nobody wrote"
    ]
    assert (done.arguments[1].shadow == machine.POISON).all()
    assert refused(*body, pool_bytes=8 * ROW, strict=True).startswith("SPY148: sdsc_0.json")


def test_poison_spreads_to_what_is_computed_from_it() -> None:
    given = machine.Buffer.of(np.ones(4 * ROW // 2, np.float16).view(np.uint8))
    given.shadow[2:4] = machine.POISON
    bundle = Bundle((sdsc("mul", operand(0), operand(0), operand(1), rows=4),))
    done = machine.run_bundle(bundle, [given, machine.Buffer.empty(4 * ROW)])
    assert np.flatnonzero(done.arguments[1].shadow).tolist() == [2, 3]


def test_a_mask_hides_poison() -> None:
    body = sdsc("exp", operand(0), operand(1), rows=4)
    masked = replace(
        body,
        mask=(Mask("out", 100, 28),),
        constants=(Constant("samv-maskvalue", "SEN169_FP16", 0xFF800000),),
    )
    given = machine.Buffer.of(np.zeros(4 * ROW // 2, np.float16).view(np.uint8))
    lanes = given.shadow.reshape(4, 128, 2)
    lanes[:, 100:] = machine.POISON
    done = machine.run_bundle(Bundle((masked,)), [given, machine.Buffer.empty(4 * ROW)])
    assert not done.arguments[1].shadow.any()
    values = done.arguments[1].bytes.view(np.float16).reshape(4, 128)
    assert (values[:, :100] == 1).all() and (values[:, 100:] == 0).all()


def test_more_operations_than_allowed() -> None:
    body = Loop(60000, (sdsc("neg", operand(0), operand(1)),))
    assert refused(body, steps=5) == "SPY147: the bundle runs more than 5 operations"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (sdsc("frobnicate", operand(0), operand(1)), "is no function that the machine knows"),
        (sdsc("add", operand(0), operand(1)), "takes 2 inputs, got 1"),
        (sdsc("softplus", operand(0), operand(1)), "lacks the constant softplusBeta"),
        (
            sdsc("exp", replace(operand(0), axes=(Axis("out"), Axis("mb"))),
                 replace(operand(1), axes=(Axis("out"), Axis("mb", False)))),
            "has 8 values along mb for an output of one",
        ),
    ],
)  # fmt: skip
def test_an_operation_that_is_not_what_its_function_takes(body: Sdsc, what: str) -> None:
    assert refused(body).endswith(what)
    assert refused(body).startswith("SPY145")


def test_buffers_that_do_not_fit() -> None:
    bundle = Bundle((sdsc("neg", operand(0), operand(1)),))
    with pytest.raises(Refusal, match="SPY146: argument 1 of the bundle is not given"):
        machine.run_bundle(bundle, [np.zeros(2048, np.uint8)])
    with pytest.raises(Refusal, match="SPY146: a buffer is whole sticks"):
        machine.run_bundle(bundle, [np.zeros(2000, np.uint8)] * 2)
    passed = replace(bundle, body=(sdsc("neg", operand(POOL), operand(1)),), pool=PoolBuffer(None))
    with pytest.raises(Refusal, match="SPY146: the bundle takes a pool"):
        machine.run_bundle(passed, {1: np.zeros(2048, np.uint8)})
    machine.run_bundle(passed, {1: np.zeros(2048, np.uint8)}, pool=np.zeros(2048, np.uint8))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"bundle.mlir": "module {}"}, "SPY151"),
        ({"sdsc_0.json": "{"}, "SPY150"),
        ({"sdsc_0.json": "{}"}, "SPY152"),
    ],
)
def test_files_that_are_no_bundle(change: dict[str, str], code: str) -> None:
    texts = files(Bundle((sdsc("neg", operand(0), operand(1)),)))
    with pytest.raises(Refusal, match=code):
        machine.run_bundle({**texts, **change}, [np.zeros(2048, np.uint8)] * 2)


def test_a_folder_that_is_missing() -> None:
    with pytest.raises(Refusal, match="SPY150"):
        machine.run_bundle("/nowhere", [])
