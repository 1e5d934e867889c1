# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens to the IR: one module per pass, named as the pass."""
