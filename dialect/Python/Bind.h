// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SPYRE_PYTHON_BIND_H
#define SPYRE_PYTHON_BIND_H

#include <nanobind/nanobind.h>

/// Dialect registration and the attribute classes.
void bindDialect(nanobind::module_ &m);
/// Passes written in Python, and the entry points of the tools.
void bindBridge(nanobind::module_ &m);
/// Listings of operations.
void bindListing(nanobind::module_ &m);
/// Relations of extents.
void bindProver(nanobind::module_ &m);

#endif // SPYRE_PYTHON_BIND_H
