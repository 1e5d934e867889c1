# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`spyre specs`: an op spec list of the reference compiler into a bundle, or into the IR."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("file", help="op specs, as JSON or as printed, or - for standard input")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the bundle")
    parser.add_argument("--mlir", action="store_true", help="print the lowered module")
    parser.add_argument(
        "--k-fast",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="cores that share an output of a matmul follow each other (default: yes)",
    )
    parser.add_argument("--replace", action="store_true", help="overwrite a bundle that is there")


def execute(options: argparse.Namespace) -> int:
    """Reads, forms, and writes or prints."""
    from spyre_mlir import opspecs
    from spyre_mlir.diagnostics import Refusal
    from spyre_mlir.sdsc.write import write

    if not options.output and not options.mlir:
        raise ValueError("say where to: -o DIR for a bundle, --mlir for the module")
    bundle = opspecs.bundle(opspecs.read(_text(options.file)), k_fast=options.k_fast)
    if not any(bundle.operations()):
        raise Refusal("SPY094", f"{options.file} holds no operation")
    if options.output:
        write(bundle, options.output, replace=options.replace)
    if options.mlir:
        from spyre_mlir import ir
        from spyre_mlir.sdsc_attributes import write_bundle

        with ir.Context():
            print(write_bundle(bundle))
    elif options.format == "json":
        functions = [sdsc.function for sdsc, _ in bundle.operations()]
        print(json.dumps({"folder": options.output, "functions": functions}))
    else:
        print(f"{options.output}: {len(list(bundle.operations()))} operations")
    return 0


def _text(file: str) -> str:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: byte {error.start} is not UTF-8") from None
