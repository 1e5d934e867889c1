# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same input gives the same bytes, whatever the hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, spyre_mlir
T = "tensor<1x40x16x64xf16>"
text = f'''func.func @f(%x: {T}, %y: {T}) -> ({T}, tensor<1x40x64xf16>) {{
  %c = arith.constant 2.0 : f16
  %0 = spyre.exp %x : ({T}) -> {T}
  %1 = spyre.mul %0, %c : ({T}, f16) -> {T}
  %2 = spyre.add %1, %y : ({T}, {T}) -> {T}
  %3 = spyre.sum %1 {{dims = [2]}} : ({T}) -> tensor<1x40x64xf16>
  return %2, %3 : {T}, tensor<1x40x64xf16>
}}'''
total = hashlib.sha256()
for limit in (8192, 268431360):
    for name, content in spyre_mlir.compile(text, cores=4, span_limit=limit).files.items():
        total.update(name.encode() + content.encode())
print(total.hexdigest())
"""


def digest(seed: int) -> str:
    """Digest of all files of two bundles, compiled in a process with this hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_hash_seeds_change_nothing() -> None:
    assert len({digest(seed) for seed in range(4)}) == 1


@pytest.mark.slow
def test_twenty_hash_seeds_change_nothing() -> None:
    assert len({digest(seed) for seed in range(20)}) == 1


def test_the_digest_is_one_of_content() -> None:
    assert digest(0) != hashlib.sha256().hexdigest()
