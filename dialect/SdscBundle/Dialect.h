// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SPYRE_SDSCBUNDLE_DIALECT_H
#define SPYRE_SDSCBUNDLE_DIALECT_H

#ifdef NDEBUG
#error "the MLIR packages are built with assertions: NDEBUG changes the size of MLIR's classes"
#endif

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "SdscBundle/Dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "SdscBundle/Types.h.inc"

#define GET_OP_CLASSES
#include "SdscBundle/Operations.h.inc"

#endif // SPYRE_SDSCBUNDLE_DIALECT_H
