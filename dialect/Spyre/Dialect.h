// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `spyre`: classes made by ODS, and the functions that verifiers share.

#ifndef SPYRE_SPYRE_DIALECT_H
#define SPYRE_SPYRE_DIALECT_H

#ifdef NDEBUG
#error "the MLIR packages are built with assertions: NDEBUG changes the size of MLIR's classes"
#endif

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Spyre/Dialect.h.inc"
#include "Spyre/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Spyre/Attributes.h.inc"

#include "Spyre/OperationChecks.h"
#include "Spyre/TensorChecks.h"

#define GET_OP_CLASSES
#include "Spyre/Operations.h.inc"

#endif // SPYRE_SPYRE_DIALECT_H
