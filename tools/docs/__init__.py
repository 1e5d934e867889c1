# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generated pages of docs/: `python -m tools.docs` writes them, `--check` says which are stale."""
