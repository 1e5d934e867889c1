// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All operations of the dialect, one file per kind.

#ifndef SPYRE_OPERATIONS_TD
#define SPYRE_OPERATIONS_TD

include "Spyre/Elementwise.td"
include "Spyre/Movement.td"
include "Spyre/Reductions.td"
include "Spyre/Symbols.td"
include "Spyre/Unary.td"

#endif // SPYRE_OPERATIONS_TD
