# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SDSC bundles: what they mean, how they are written and read, whether a folder is sound."""
