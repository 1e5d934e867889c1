// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes verify what needs no tensor shape; agreement with shape and element type is checked at
// operations (TensorChecks.h), because upstream operations clone an encoding onto other shapes.

#ifndef SPYRE_ATTRIBUTES_TD
#define SPYRE_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "Spyre/Dialect.td"
include "Spyre/Enums.td"

class Spyre_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Spyre_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Spyre_LayoutAttr : Spyre_Attr<"Layout", "layout"> {
  let summary = "how a tensor lies in device memory";
  let description = [{
    `device_size` lists the device dims, outer to inner; memory is row-major over them. The last one is the
    stick: 128 bytes. `stride_map[j]` is the number of host elements, of the buffer that owns the memory,
    that one step along device dim j moves; -1 where there is no host counterpart. A layout that ends in -1
    is *sparse*: one element a stick, in lane 0. `format` and `arrangement` are written only where the element
    type does not imply them.

    Example: `#spyre.layout<[4, 1024, 64] : [64, 256, 1]>` is the default layout of a `tensor<1024x256xf16>`.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "sizes of the device dims, in elements">:$deviceSize,
    ArrayRefParameter<"int64_t", "host elements per step of each device dim">:$strideMap,
    OptionalParameter<"std::optional<::spyre::DeviceFormat>">:$format,
    OptionalParameter<"std::optional<::spyre::Arrangement>">:$arrangement);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_ExtentAttr : Spyre_Attr<"Extent", "extent"> {
  let summary = "an integer expression over literals and named symbols";
  let description = [{
    `+`, `-`, `*`, `floordiv`, `ceildiv`, `mod`, `min(..)`, `max(..)` over literals and symbols, kept in one normal form: two
    extents that are equal up to associativity, commutativity, like terms and constant folding are one attribute.

    Example: `#spyre.extent<1 + n>` prints as `#spyre.extent<n + 1>`.
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The value, if it is a literal.
    std::optional<int64_t> getLiteral() const;
    /// Parses the bare expression (no angle brackets): what stands in a list of extents.
    static ::mlir::FailureOr<ExtentAttr> parseBare(::mlir::AsmParser &parser);
    static ExtentAttr getLiteral(::mlir::MLIRContext *context, int64_t value);
  }];
}

def Spyre_EncodingAttr : Spyre_Attr<"Encoding", "encoding"> {
  let summary = "layout and valid region of a tensor";
  let description = [{
    `layout` says how the tensor lies in device memory. `window` marks a piece of a full-size buffer, which
    carries its parent's layout verbatim. `valid_shape` is the valid region, a box anchored at the origin, one
    extent a dim; it is absent when every cell holds data. `pad` says what is promised of the cells outside.

    An encoding that says nothing is not written: leave it off the tensor type.

    Example: `#spyre.encoding<layout = #rows, valid_shape = [8195, n, 64], pad = zero>`.
  }];
  let parameters = (ins
    OptionalParameter<"::spyre::LayoutAttr">:$layout,
    "bool":$window,
    OptionalArrayRefParameter<"::spyre::ExtentAttr", "empty: fully valid">:$validShape,
    "::spyre::Pad":$pad);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_TileLevelAttr : Spyre_Attr<"TileLevel", "tile_level"> {
  let summary = "one loop of a tile plan";
  let description = [{
    `count` full tiles of `size` along one iteration dim, and a last smaller tile of `remainder` if that is
    not 0. The dim is a number, or, in a hint, a name that the operation's `spyre.dims` resolves; a
    hint may leave the size out (0), then it follows from the extent.

    Example: `parallel(1) 5 x 1639`, `reduction(0) 2 x 64 + 22`, `parallel(h) 5`.
  }];
  let parameters = (ins
    "::spyre::LevelKind":$kind,
    "int64_t":$dim,
    OptionalParameter<"::mlir::StringAttr", "name of the dim, instead of its number">:$name,
    "int64_t":$count,
    "int64_t":$size,
    "int64_t":$remainder);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<TileLevelAttr> parseBare(::mlir::AsmParser &parser);
    void printBare(::mlir::AsmPrinter &printer) const;
  }];
}

def Spyre_TilePlanAttr : Spyre_Attr<"TilePlan", "tile_plan"> {
  let summary = "how an operation is divided into tiles";
  let description = [{
    Levels are listed outer to inner. `origin` says whether the planner wrote the plan or a user (a hint,
    which wins); operations of one `group` share their loops.

    Example: `#spyre.tile_plan<origin = auto, group = 0, levels = [parallel(1) 5 x 1639], reason = "span of the result">`.
  }];
  let parameters = (ins
    "::spyre::PlanOrigin":$origin,
    "int64_t":$group,
    OptionalArrayRefParameter<"::spyre::TileLevelAttr", "outer to inner">:$levels,
    OptionalParameter<"::mlir::StringAttr">:$reason);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_WorkDivisionAttr : Spyre_Attr<"WorkDivision", "work_division"> {
  let summary = "into how many slices each iteration dim is cut, one core a slice";
  let description = [{
    One number per iteration dim of the operation, parallel dims first; their product is the number of cores used.

    Example: `#spyre.work_division<[1, 4, 1]>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t", "slices per iteration dim">:$splits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_PlaceAttr : Spyre_Attr<"Place", "place"> {
  let summary = "where in memory a value lies";
  let description = [{
    `argument` k is the k-th buffer of the bundle: the function's arguments, then its results. `pool` is the
    bundle's own buffer for intermediates. `offset` is in bytes from there.

    Example: `#spyre.place<argument 2 + 0>`, `#spyre.place<pool 0 + 32768>`.
  }];
  let parameters = (ins EnumParameter<Spyre_PlaceKind>:$kind, "int64_t":$index, "int64_t":$offset);
  let assemblyFormat = "`<` $kind $index `+` $offset `>`";
  let genVerifyDecl = 1;
}

#endif // SPYRE_ATTRIBUTES_TD
