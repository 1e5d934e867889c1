# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m spyre_mlir.cases FILES...`"""

import sys

from spyre_mlir.cases import main

sys.exit(main(sys.argv[1:]))
