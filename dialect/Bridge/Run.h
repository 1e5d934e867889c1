// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SPYRE_BRIDGE_RUN_H
#define SPYRE_BRIDGE_RUN_H

namespace spyre::bridge {

/// Whether this thread is inside a pass of ours: a pass manager run now is nested.
bool isInsidePass();

} // namespace spyre::bridge

#endif // SPYRE_BRIDGE_RUN_H
