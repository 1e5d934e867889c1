# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operation classes of the dialect `spyre`."""

from spyre_mlir.dialects._spyre_enum_gen import *  # noqa: F403
from spyre_mlir.dialects._spyre_ops_gen import *  # noqa: F403
