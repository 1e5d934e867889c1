// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{SPY001: device_size has 2 entries and stride_map has 1}}
func.func private @f() attributes {a = #spyre.layout<[4, 64] : [64]>}

// -----

// expected-error @+1 {{SPY001: a layout needs at least the stick dim}}
func.func private @f() attributes {a = #spyre.layout<[] : []>}

// -----

// expected-error @+1 {{SPY001: device_size[0] is 0, a device dim has at least one element}}
func.func private @f() attributes {a = #spyre.layout<[0, 64] : [64, 1]>}

// -----

// expected-error @+1 {{SPY001: stride_map[1] is -2, neither positive nor -1 (no host counterpart)}}
func.func private @f() attributes {a = #spyre.layout<[4, 64] : [64, -2]>}

// -----

// expected-error @+1 {{SPY001: the layout covers more than 2^63 bytes}}
func.func private @f() attributes {a = #spyre.layout<[4611686018427387904, 64] : [64, 1]>}

// -----

// expected-error @+1 {{unknown device format 'SEN170'}}
func.func private @f() attributes {a = #spyre.layout<[4, 64] : [64, 1], format = SEN170>}

// -----

// expected-error @+1 {{SPY003: an encoding that says nothing is left off the tensor type}}
func.func private @f() attributes {a = #spyre.encoding<valid_shape = []>}

// -----

// expected-error @+1 {{SPY003: a window carries its parent's layout; this one has none}}
func.func private @f() attributes {a = #spyre.encoding<window>}

// -----

// expected-error @+1 {{SPY003: valid_shape[0] is -1, an extent is at least 0}}
func.func private @f() attributes {a = #spyre.encoding<valid_shape = [-1]>}

// -----

// expected-error @+1 {{expected 'layout', 'window', 'valid_shape' or 'pad', each at most once}}
func.func private @f() attributes {a = #spyre.encoding<pad = zero, pad = min>}

// -----

// expected-error @+1 {{unknown pad 'seven'}}
func.func private @f() attributes {a = #spyre.encoding<pad = seven>}

// -----

// expected-error @+1 {{SPY004: a level has 1 to 65535 tiles (the loop counter has 16 bits), got 65536}}
func.func private @f() attributes {a = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(0) 65536 x 1]>}

// -----

// expected-error @+1 {{SPY004: only a hint may name a dim or leave the tile size out}}
func.func private @f() attributes {a = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(h) 2]>}

// -----

// expected-error @+1 {{SPY004: two levels divide the same dim}}
func.func private @f() attributes {a = #spyre.tile_plan<origin = auto, group = 0, levels = [parallel(0) 2 x 2, parallel(0) 2 x 1]>}

// -----

// expected-error @+1 {{SPY005: dim 1 is cut into 0 slices, at least one is needed}}
func.func private @f() attributes {a = #spyre.work_division<[1, 0]>}

// -----

// expected-error @+1 {{SPY006: a place has a buffer number and an offset in bytes, neither negative}}
func.func private @f() attributes {a = #spyre.place<pool 0 + -128>}
