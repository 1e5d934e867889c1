// Options are typed, printed so that they parse back, and known to --help; a pipeline hands its own on.
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes --help | FileCheck %s --check-prefix=HELP
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s --test-twice=label=x --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: env PYTHONPATH=%S/Inputs spyre-opt --load-passes example_passes %s \
// RUN:   --pass-pipeline='builtin.module(func.func(test-tag{label="a, b" sizes={7,8} shade=very-dark scale=1e-3 shout words={p,"q r"}}))' | FileCheck %s

// HELP: --test-check
// HELP-SAME: Checks its options when the pipeline is parsed
// HELP: --even=<int>
// HELP: --test-tag
// HELP-SAME: Writes the options on every function and its arithmetic
// HELP: --label=<string>
// HELP-SAME: text of the tag
// HELP: --mood=<calm|tense>
// HELP: --scale=<float>
// HELP: --shade=<light|very-dark>
// HELP: --shout[=<bool>]
// HELP: --sizes=<int,...>
// HELP: --times=<int>
// HELP: --test-twice
// HELP-SAME: Tags, cleans up and tags again

// PIPELINE: func.func(
// PIPELINE-NEXT: test-tag{label=x mood=calm scale=0.5 shade=light shout=false sizes={1,2} times=1 },
// PIPELINE-NEXT: cse
// PIPELINE: test-check{even=2},
// PIPELINE-NEXT: test-tag{label=none {{.*}}times=2 }

// CHECK: func.func @f() attributes
// CHECK-SAME: options = "test-tag{label=\22a, b\22 scale=0.001 shout=true shade=very-dark sizes={7,8} words={p,\22q r\22}}"
// CHECK-SAME: tag = "A, B"
func.func @f() {
  return
}
