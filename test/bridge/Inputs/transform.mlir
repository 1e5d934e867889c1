module attributes {transform.with_named_sequence} {
  func.func @payload() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_registered_pass "test-tag" with options = { "label" = "by-transform" } to %f : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
