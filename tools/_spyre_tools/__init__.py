# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command lines `spyre-opt`, `spyre-lsp-server` and `spyre`.

A package of its own, so that a tool decides what is loaded before anything of `spyre_mlir` is:
`mlir.ir` imports numpy if it can, which takes longer than all the rest of starting `spyre-opt`.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def bar_numpy() -> None:
    """Makes `import numpy` fail until `spyre_mlir.registry.import_late` is first called."""
    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]


def open_streams() -> None:
    """Gives the process the standard streams that its caller closed: else the next file takes their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
            setattr(sys, name, open(number, mode))  # noqa: SIM115


def leave(code: int) -> NoReturn:
    """Ends the process at once: taking MLIR's libraries down in order buys nothing.

    What is still to be written and cannot be (a full disk, a closed pipe) makes the code 1."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"error: standard output: {error.strerror}", file=sys.stderr)
        code = code or 1
    sys.stderr.flush()
    os._exit(code)


def opt() -> NoReturn:
    """`spyre-opt`: what `mlir-opt` does, with our dialects and the passes written in Python."""
    open_streams()
    bar_numpy()
    from _spyre_tools import optimizer

    leave(optimizer.main(sys.argv[1:]))


def lsp() -> NoReturn:
    """`spyre-lsp-server`: what `mlir-lsp-server` does, with our dialects."""
    bar_numpy()
    import mlir._mlir_libs as libs

    from spyre_mlir._mlir_libs import _spyre

    registry = libs.get_dialect_registry()
    _spyre.register_dialects(registry)
    leave(_spyre.lsp_main(["spyre-lsp-server", *sys.argv[1:]], registry))


def spyre() -> NoReturn:
    """`spyre COMMAND`: see `_spyre_tools.front_door`."""
    open_streams()
    from _spyre_tools import front_door

    leave(front_door.main(sys.argv[1:]))
