// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SPYRE_ENUMS_TD
#define SPYRE_ENUMS_TD

include "mlir/IR/EnumAttr.td"
include "Spyre/Dialect.td"

class Spyre_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::spyre";
  let genSpecializedAttr = 0;
}

// Formats and their numbers as the backend knows them; 128 bytes / bits decide the elements per stick.
def Spyre_DeviceFormat : Spyre_Enum<"DeviceFormat", "device format of an element", [
    I32EnumAttrCase<"SEN169_FP16", 0>, I32EnumAttrCase<"IEEE_FP32", 1>, I32EnumAttrCase<"SEN143_FP8", 3>,
    I32EnumAttrCase<"SEN152_FP8", 4>, I32EnumAttrCase<"SENINT8", 8>, I32EnumAttrCase<"SENINT16", 9>,
    I32EnumAttrCase<"IEEE_INT32", 12>, I32EnumAttrCase<"SENUINT32", 13>]>;

def Spyre_Arrangement : Spyre_Enum<"Arrangement", "order of the elements inside a stick", [
    I32EnumAttrCase<"STANDARD", 0>, I32EnumAttrCase<"DL16_TO_FP32", 1>, I32EnumAttrCase<"QFP8CH", 2>,
    I32EnumAttrCase<"EXX2", 3>, I32EnumAttrCase<"FP32_TO_DL16", 4>, I32EnumAttrCase<"QFP8WT", 5>]>;

def Spyre_Pad : Spyre_Enum<"Pad", "what is promised of the cells outside the valid region", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Zero", 1, "zero">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">]>;

def Spyre_PlanOrigin : Spyre_Enum<"PlanOrigin", "who asked for a tile plan", [
    I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"Hint", 1, "hint">]>;

def Spyre_LevelKind : Spyre_Enum<"LevelKind", "kind of the iteration dim that a level divides", [
    I32EnumAttrCase<"Parallel", 0, "parallel">, I32EnumAttrCase<"Reduction", 1, "reduction">]>;

def Spyre_PlaceKind : Spyre_Enum<"PlaceKind", "memory that holds a value", [
    I32EnumAttrCase<"Argument", 0, "argument">, I32EnumAttrCase<"Pool", 1, "pool">]>;

#endif // SPYRE_ENUMS_TD
