// RUN: spyre-opt %s --split-input-file --verify-diagnostics

func.func @stick(%a: tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[8, 1024, 32] : [32, 256, 1]>>>) {
  // expected-error @+1 {{SPY007: operand #0: the last device dim is the stick, 128 bytes: 64 elements of 'f16' in SEN169_FP16, but the layout says 32}}
  %0 = spyre.exp %a : (tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[8, 1024, 32] : [32, 256, 1]>>>) -> tensor<1024x256xf16>
  return
}

// -----

func.func @size(%a: tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[4, 512, 64] : [64, 256, 1]>>>) {
  // expected-error @+1 {{SPY007: operand #0: the layout holds 131072 elements, the shape, its stick dim in whole sticks, has 262144; a piece of a larger buffer is marked 'window'}}
  %0 = spyre.exp %a : (tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[4, 512, 64] : [64, 256, 1]>>>) -> tensor<1024x256xf16>
  return
}

// -----

func.func @stride(%a: tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[4, 1024, 64] : [64, 256, 3]>>>) {
  // expected-error @+1 {{SPY007: operand #0: the stick moves 3 host elements, the stride of no dim of the shape}}
  %0 = spyre.exp %a : (tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[4, 1024, 64] : [64, 256, 3]>>>) -> tensor<1024x256xf16>
  return
}

// -----

func.func @window(%a: tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[1, 64] : [64, 1]>, window>>) {
  // expected-error @+1 {{SPY007: operand #0: a window of 262144 elements in a layout that holds 64}}
  %0 = spyre.exp %a : (tensor<1024x256xf16, #spyre.encoding<layout = #spyre.layout<[1, 64] : [64, 1]>, window>>) -> tensor<1024x256xf16>
  return
}

// -----

func.func @rank(%a: tensor<8x16xf16>) {
  // expected-error @+1 {{SPY008: result #0: valid_shape has 1 extents, the tensor has rank 2}}
  %0 = spyre.exp %a : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [4]>>
  return
}

// -----

func.func @bound(%a: tensor<8x16xf16>) {
  // expected-error @+1 {{SPY008: result #0: valid_shape[1] is 17, more than the 16 elements of the dim}}
  %0 = spyre.exp %a : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [8, 17]>>
  return
}

// -----

func.func @canonical(%a: tensor<8x16xf16>) {
  // expected-error @+1 {{SPY008: result #0: valid_shape covers the whole shape; a fully valid tensor leaves it out}}
  %0 = spyre.exp %a : (tensor<8x16xf16>) -> tensor<8x16xf16, #spyre.encoding<valid_shape = [8, 16]>>
  return
}

// -----

func.func @foreign(%a: tensor<8x16xf16, "sparse">) {
  // expected-error @+1 {{SPY007: operand #0: the encoding of the tensor is no #spyre.encoding but "sparse"}}
  %0 = spyre.exp %a : (tensor<8x16xf16, "sparse">) -> tensor<8x16xf16>
  return
}

// -----

func.func @dynamic(%a: tensor<?x16xf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of static shape whose elements have a device format}}
  %0 = spyre.exp %a : (tensor<?x16xf16>) -> tensor<8x16xf16>
  return
}

// -----

func.func @argument(
    // expected-error @-1 {{SPY009: argument #0: 'spyre.extent' is the name of a symbol}}
    %n: index {spyre.extent = 3}) {
  return
}

// -----

// expected-error @+1 {{SPY009: argument #0: 'spyre.scalar' is the number of a scalar argument}}
func.func @scalar(%x: tensor<f16> {spyre.scalar = "x"}) {
  return
}

// -----

// expected-error @+1 {{SPY009: argument #0: 'spyre.range' is array<i64: low, high> with low <= high}}
func.func @range(%n: index {spyre.extent = "n", spyre.range = array<i64: 9, 8>}) {
  return
}

// -----

func.func @attribute(%a: tensor<8x16xf16>) {
  // expected-error @+1 {{SPY009: unknown attribute 'spyre.tiles'}}
  %0 = spyre.exp %a {spyre.tiles = 1} : (tensor<8x16xf16>) -> tensor<8x16xf16>
  return
}
