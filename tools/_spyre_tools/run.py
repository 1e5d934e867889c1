# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre run`: see `spyre_mlir.commands.run`."""

from __future__ import annotations

from spyre_mlir.commands.run import configure as configure
from spyre_mlir.commands.run import execute as execute
