# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The subcommands of `spyre`, one module each with `main(argv) -> int`."""
