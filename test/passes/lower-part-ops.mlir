// RUN: spyre-opt %s --pass-pipeline='builtin.module(spyre-verify-valid-regions,func.func(spyre-lower-part-ops),spyre-verify-valid-regions)' | FileCheck %s

#n = #spyre.encoding<valid_shape = [n, 16]>
#outer = #spyre.encoding<valid_shape = [8, 12]>
#inner = #spyre.encoding<valid_shape = [4, 6]>

// The operand that holds more is copied; a literal contained region is worked on in slices. Operands keep their order.
// CHECK-LABEL: func.func @literal
// CHECK-SAME: (%[[X:.+]]: tensor<{{.*}}>, %[[Y:.+]]: tensor
// CHECK-DAG: %[[COPY:.+]] = spyre.identity %[[X]] : ({{.*}}) -> [[TYPE:tensor.*]]
// CHECK-DAG: %[[A:.+]] = spyre.slice %[[Y]][0, 0] : {{.*}} -> tensor<4x6xf16>
// CHECK-DAG: %[[B:.+]] = spyre.slice %[[X]][0, 0] : {{.*}} -> tensor<4x6xf16>
// CHECK: %[[SUM:.+]] = spyre.add %[[A]], %[[B]]
// CHECK: %[[ALL:.+]] = spyre.insert_slice %[[SUM]] into %[[COPY]][0, 0]
// CHECK: return %[[ALL]]
func.func @literal(%x: tensor<8x16xf16, #outer>, %y: tensor<8x16xf16, #inner>) -> tensor<8x16xf16, #outer> {
  %0 = spyre.part_add %y, %x : (tensor<8x16xf16, #inner>, tensor<8x16xf16, #outer>) -> tensor<8x16xf16, #outer>
  return %0 : tensor<8x16xf16, #outer>
}

// A symbolic one narrows the operand that holds more.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xf16>, %[[Y:[a-z0-9]+]]: tensor
// CHECK-DAG: %[[COPY:.+]] = spyre.identity %[[X]]
// CHECK-DAG: %[[CUT:.+]] = spyre.set_valid_shape %[[X]] [n, 16]
// CHECK: %[[MAX:.+]] = spyre.maximum %[[CUT]], %[[Y]]
// CHECK: spyre.insert_slice %[[MAX]] into %[[COPY]][0, 0]
func.func @symbolic(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16>, %y: tensor<8x16xf16, #n>) -> tensor<8x16xf16> {
  %0 = spyre.part_max %x, %y : (tensor<8x16xf16>, tensor<8x16xf16, #n>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}

// Equal regions, however spelled, need no copy.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT: spyre.minimum
// CHECK-NEXT: return
func.func @equal(%n: index {spyre.extent = "n"}, %x: tensor<8x16xf16, #n>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>> {
  %0 = spyre.part_min %x, %y : (tensor<8x16xf16, #n>, tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>
  return %0 : tensor<8x16xf16, #spyre.encoding<valid_shape = [min(n, 8), 16]>>
}

// An empty region adds nothing.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: spyre.identity
// CHECK-NEXT: return
func.func @empty(%x: tensor<8x16xf16, #inner>, %y: tensor<8x16xf16, #spyre.encoding<valid_shape = [0, 16]>>) -> tensor<8x16xf16, #inner> {
  %0 = spyre.part_mul %x, %y : (tensor<8x16xf16, #inner>, tensor<8x16xf16, #spyre.encoding<valid_shape = [0, 16]>>) -> tensor<8x16xf16, #inner>
  return %0 : tensor<8x16xf16, #inner>
}

// A replicated operand that contains the other is replicated for the copy only.
// CHECK-LABEL: func.func @replicated
// CHECK: %[[WHOLE:.+]] = spyre.broadcast %{{.*}} : (tensor<16xf16>) -> tensor<8x16xf16>
// CHECK: spyre.identity %[[WHOLE]]
// CHECK: spyre.slice %{{.*}}[0] : (tensor<16xf16>) -> tensor<6xf16>
// CHECK: spyre.add %{{.*}} : (tensor<6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16>
func.func @replicated(%x: tensor<16xf16>, %y: tensor<8x16xf16, #inner>) -> tensor<8x16xf16> {
  %0 = spyre.part_add %x, %y : (tensor<16xf16>, tensor<8x16xf16, #inner>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}
