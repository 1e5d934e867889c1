# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre-opt` knows its own flags: only other names make it look for passes of other packages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from spyre_mlir import registry
from spyre_mlir._mlir_libs import _spyre

OPT = Path(sys.executable).parent / "spyre-opt"


def test_every_option_in_the_help_is_known() -> None:
    registry.start()
    help = subprocess.run([OPT, "--help-hidden"], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"^ {2}--?([A-Za-z][\w-]*)", help, flags=re.MULTILINE))
    assert "split-input-file" in names
    unknown = {name for name in names if not _spyre.is_opt_flag(name)}
    assert {name for name in unknown if not _spyre.is_registered(name)} == set()


def test_names_that_are_no_flags() -> None:
    assert not _spyre.is_opt_flag("no-such-flag")
    assert not _spyre.is_opt_flag("canonicalize")
