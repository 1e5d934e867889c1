// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{C1: 2 labels and 1 extents}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb", "out"], extents = array<i64: 8>, cut = [], operands = []}

// -----

// expected-error @+1 {{C1: dim 'mb' of extent 0: extents are positive, labels distinct}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 0>, cut = [], operands = []}

// -----

// expected-error @+1 {{C1: dim 'mb' of extent 8: extents are positive, labels distinct}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb", "mb"], extents = array<i64: 4, 8>, cut = [], operands = []}

// -----

// A dim that is none of the operation.
// expected-error @+1 {{C2: cut is a list of dims and the number of slices that divides each}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = ["x", 2], operands = []}

// -----

// Slices that do not divide the extent.
// expected-error @+1 {{C2: cut is a list of dims and the number of slices that divides each}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = ["mb", 3], operands = []}

// -----

// One dim cut twice.
// expected-error @+1 {{C2: cut is a list of dims and the number of slices that divides each}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = ["mb", 2, "mb", 2], operands = []}

// -----

// expected-error @+1 {{C3: operand #0: expected a dictionary}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["out"], extents = array<i64: 64>, cut = [], operands = ["x"]}

// -----

// expected-error @+1 {{C3: operand #0: expected the keys axes, standing, gaps, stick, format, place and advances}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["out"], extents = array<i64: 64>, cut = [], operands = [
  {axes = ["out"], standing = [], gaps = array<i64: 0>, stick = "out", format = "SEN169_FP16", advances = array<i64>}]}

// -----

// expected-error @+1 {{C3: operand #0: an axis is no dim of the operation}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["out"], extents = array<i64: 64>, cut = [], operands = [
  {axes = ["mb", "out"], standing = [], gaps = array<i64: 0, 0>, stick = "out", format = "SEN169_FP16",
   place = #spyre.place<argument 0 + 0>, advances = array<i64>}]}

// -----

// expected-error @+1 {{C3: operand #0: the stick 'mb' is none of its axes}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb", "out"], extents = array<i64: 8, 64>, cut = [], operands = [
  {axes = ["out"], standing = [], gaps = array<i64: 0>, stick = "mb", format = "SEN169_FP16",
   place = #spyre.place<argument 0 + 0>, advances = array<i64>}]}

// -----

// expected-error @+1 {{C3: operand #0: 1 axes and 2 gaps}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["out"], extents = array<i64: 64>, cut = [], operands = [
  {axes = ["out"], standing = [], gaps = array<i64: 0, 0>, stick = "out", format = "SEN169_FP16",
   place = #spyre.place<argument 0 + 0>, advances = array<i64>}]}

// -----

func.func @sdsc_bundle() {
  // expected-error @+1 {{C1: there is no SDSC @sdsc_0 in the module}}
  sdscbundle.launch @sdsc_0
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = [], extents = array<i64>, cut = [], operands = []}
  return
}

// -----

// expected-error @+1 {{C4: symbolic lists dims, each once, as [label, granularity, tag]}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = [], operands = [], symbolic = [["x", 2, "n"]]}

// -----

// One dim twice.
// expected-error @+1 {{C4: symbolic lists dims, each once, as [label, granularity, tag]}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = [], operands = [], symbolic = [["mb", 2, "n"], ["mb", 2, "n"]]}

// -----

// A granule that does not divide the largest extent.
// expected-error @+1 {{C4: dim 'mb' of extent 8 in 1 slices cannot have granules of 3}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = [], operands = [], symbolic = [["mb", 3, "n"]]}

// -----

// Slices that do not divide the granule.
// expected-error @+1 {{C4: dim 'mb' of extent 8 in 4 slices cannot have granules of 2}}
sdscbundle.sdsc @sdsc_0 "exp" on "sfp" {labels = ["mb"], extents = array<i64: 8>, cut = ["mb", 4], operands = [], symbolic = [["mb", 2, "n"]]}
