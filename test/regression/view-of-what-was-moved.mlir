// RUN: spyre check %s --cores 2
//
// A window that begins within a stick is copied to a buffer of its own, and so is one that is written into. Views of
// it kept the layout that was written for the old place, and insertions the old type: spyre-assign-layouts made
// invalid programs.

#x = #spyre.encoding<layout = #spyre.layout<[3, 4, 64] : [64, 192, 1]>>
#part = #spyre.encoding<layout = #spyre.layout<[3, 4, 64] : [64, 192, 1]>, window>
#narrow = #spyre.encoding<layout = #spyre.layout<[3, 4, 64] : [64, 192, 1]>, window, valid_shape = [3, 128]>
#kept = #spyre.encoding<valid_shape = [3, 128]>
#turned = #spyre.encoding<layout = #spyre.layout<[3, 4, 64] : [64, 192, 1]>, window, valid_shape = [128, 3]>
#columns = #spyre.encoding<valid_shape = [128, 3]>

func.func @views(%x: tensor<4x192xf16, #x>, %y: tensor<4x64xf16>, %row: tensor<1x128xf16>)
    -> (tensor<4x128xf16, #kept>, tensor<128x4xf16, #columns>, tensor<4x128xf16, #kept>, tensor<4x128xf16, #kept>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = spyre.slice %x[0, 32] : (tensor<4x192xf16, #x>) -> tensor<4x128xf16, #part>

  // Narrowed, as it is and behind other views.
  %1 = spyre.set_valid_shape %0 [3, 128] : (tensor<4x128xf16, #part>) -> tensor<4x128xf16, #narrow>
  %2 = spyre.abs %1 : (tensor<4x128xf16, #narrow>) -> tensor<4x128xf16, #kept>
  %3 = spyre.slice %0[0, 0] : (tensor<4x128xf16, #part>) -> tensor<4x128xf16, #part>
  %4 = spyre.transpose %3 {permutation = [1, 0]} : (tensor<4x128xf16, #part>) -> tensor<128x4xf16, #part>
  %5 = spyre.set_valid_shape %4 [128, 3] : (tensor<128x4xf16, #part>) -> tensor<128x4xf16, #turned>
  %6 = spyre.abs %5 : (tensor<128x4xf16, #turned>) -> tensor<128x4xf16, #columns>

  // Written into once and narrowed.
  %7 = spyre.slice %x[0, 64] : (tensor<4x192xf16, #x>) -> tensor<4x128xf16, #part>
  %8 = spyre.insert_slice %y into %7[0, 64] : (tensor<4x64xf16>, tensor<4x128xf16, #part>) -> tensor<4x128xf16, #part>
  %9 = spyre.set_valid_shape %8 [3, 128] : (tensor<4x128xf16, #part>) -> tensor<4x128xf16, #narrow>
  %10 = spyre.abs %9 : (tensor<4x128xf16, #narrow>) -> tensor<4x128xf16, #kept>

  // Written into again, also by a loop, and narrowed.
  %11 = spyre.slice %x[0, 64] : (tensor<4x192xf16, #x>) -> tensor<4x128xf16, #part>
  %12 = spyre.insert_slice %y into %11[0, 64] : (tensor<4x64xf16>, tensor<4x128xf16, #part>) -> tensor<4x128xf16, #part>
  %13 = spyre.insert_slice %y into %12[0, 0] : (tensor<4x64xf16>, tensor<4x128xf16, #part>) -> tensor<4x128xf16, #part>
  %14 = scf.for %i = %c0 to %c4 step %c1 iter_args(%w = %13) -> (tensor<4x128xf16, #part>) {
    %17 = spyre.insert_slice %row into %w[%i, 0] : (tensor<1x128xf16>, tensor<4x128xf16, #part>) -> tensor<4x128xf16, #part>
    scf.yield %17 : tensor<4x128xf16, #part>
  }
  %15 = spyre.set_valid_shape %14 [3, 128] : (tensor<4x128xf16, #part>) -> tensor<4x128xf16, #narrow>
  %16 = spyre.abs %15 : (tensor<4x128xf16, #narrow>) -> tensor<4x128xf16, #kept>
  return %2, %6, %10, %16 : tensor<4x128xf16, #kept>, tensor<128x4xf16, #columns>, tensor<4x128xf16, #kept>, tensor<4x128xf16, #kept>
}
