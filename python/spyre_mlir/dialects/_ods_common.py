# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generated builders import, under the name under which they import it."""

from mlir.dialects._ods_common import *  # noqa: F403
from mlir.dialects._ods_common import _cext as _cext
