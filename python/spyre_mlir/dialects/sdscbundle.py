# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operation classes of the dialect `sdscbundle`."""

from spyre_mlir.dialects._sdscbundle_ops_gen import *  # noqa: F403
