# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the project: the command lines in `_spyre_tools`, and what developers run."""
