# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre validate`: whether a folder holds a sound bundle."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("folder", help="the folder of a bundle")


def execute(options: argparse.Namespace) -> int:
    """Prints all findings; 1 if there are any."""
    from spyre_mlir.sdsc.validate import run

    code: int = run(options.folder, options.format)
    return code
