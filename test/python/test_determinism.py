# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same input gives the same bytes, whatever the hash seed, with MLIR's threads and without."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import hashlib
import sys

import spyre_mlir
from golden_programs import AUGUST
from spyre_mlir import ir, passmanager
from spyre_mlir.compiler import bundle_of, pipeline_of

GOLDEN = ("softmax_128x256_4core", "block_64x128_8core", "residual_norm_2x32x256_8core",
          "topk_64x128_4core", "mlp_gated_128x512x2048_32core")

T = "tensor<1x40x16x64xf16>"
CHAIN = f'''func.func @f(%x: {T}, %y: {T}) -> ({T}, tensor<1x40x64xf16>) {{
  %c = arith.constant 2.0 : f16
  %0 = spyre.exp %x : ({T}) -> {T}
  %1 = spyre.mul %0, %c : ({T}, f16) -> {T}
  %2 = spyre.add %1, %y : ({T}, {T}) -> {T}
  %3 = spyre.sum %1 {{dims = [2]}} : ({T}) -> tensor<1x40x64xf16>
  return %2, %3 : {T}, tensor<1x40x64xf16>
}}'''
E = "#spyre.encoding<valid_shape = [valid_tok, 256]>"
PREFILL = f'''func.func @g(%h: tensor<64x256xf16, {E}>, %w: tensor<256x256xf16>, %r: tensor<64x256xf16>)
    -> tensor<64x256xf16> {{
  %p = spyre.batch_matmul %h, %w : (tensor<64x256xf16, {E}>, tensor<256x256xf16>) -> tensor<64x256xf16>
  %s = spyre.add %r, %p : (tensor<64x256xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
  return %s : tensor<64x256xf16>
}}'''


def modules():
    for limit in (8192, 268431360):
        yield ir.Module.parse(CHAIN), dict(cores=4, span_limit=limit, policy="agree")
    yield ir.Module.parse(PREFILL), dict(cores=32, span_limit=268431360, policy="intersect")
    for name in GOLDEN:
        program = AUGUST[name]
        yield program.module(), dict(cores=program.cores, span_limit=268431360, policy="agree")


def digest(threads):
    total = hashlib.sha256()
    with ir.Context() as context:
        context.enable_multithreading(threads)
        for module, options in modules():
            passmanager.run(passmanager.parse(pipeline_of(plan=True, **options)), module.operation)
            total.update(str(module).encode())
            files = bundle_of(module.operation, options["span_limit"]).files
            for name, content in files.items():
                total.update(name.encode() + content.encode())
    return total.hexdigest()


print(digest(True), digest(False))
"""


def digests(seed: int) -> list[str]:
    """Digests of the lowered modules and all files of some bundles, compiled in a process with this hash seed, with
    MLIR's threads and without."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_hash_seeds_and_threads_change_nothing() -> None:
    found = digests(0) + digests(1)
    assert len(found) == 4 and len(set(found)) == 1
    assert found[0] != hashlib.sha256().hexdigest()  # there was something to compare


@pytest.mark.slow
def test_twenty_hash_seeds_change_nothing() -> None:
    found = [digest for seed in range(20) for digest in digests(seed)]
    assert len(found) == 40 and len(set(found)) == 1
