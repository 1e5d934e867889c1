# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python classes and builders of the dialects."""
