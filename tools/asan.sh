#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the extension with AddressSanitizer beside the ordinary one and runs the lit tests of the
# dialects and of the bridge with it. BIN is the folder of the environment's programs.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=${BIN:-$PWD/.venv/bin}
OUT=$PWD/build/asan

cmake -S . -B "$OUT" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSPYRE_SANITIZE=ON \
  -DPython_EXECUTABLE="$BIN/python" >/dev/null
cmake --build "$OUT" --parallel "${JOBS:-2}"

# The package as a plain folder, with the sanitized extension in it.
rm -rf "$OUT/site" "$OUT/bin"
mkdir -p "$OUT/site/spyre_mlir/_mlir_libs" "$OUT/site/spyre_mlir/dialects" "$OUT/bin"
for source in python/spyre_mlir/*; do
  case $(basename "$source") in
    _mlir_libs | dialects | __pycache__) ;;
    *) ln -s "$PWD/$source" "$OUT/site/spyre_mlir/" ;;
  esac
done
ln -sf "$PWD"/python/spyre_mlir/dialects/*.py "$OUT"/dialect/python/_*_gen.py "$OUT/site/spyre_mlir/dialects/"
ln -s "$OUT"/dialect/_spyre.*.so "$OUT/site/spyre_mlir/_mlir_libs/"
ln -s "$PWD/passes" "$OUT/site/spyre_mlir/passes"
ln -s "$PWD/tools/_spyre_tools" "$OUT/site/_spyre_tools"

# The sanitizer must be in the process first. MLIR's own libraries are not built with it: what they
# share with us (vectors, arenas) must not be marked, and what they keep until the end is no leak.
# Without `site`, Python does not see the ordinary installation.
packages=$("$BIN/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cat >"$OUT/bin/spyre-opt" <<END
#!/bin/sh
export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0
export PYTHONMALLOC=malloc
export PYTHONPATH=$OUT/site:$packages:\$PYTHONPATH
exec "$BIN/python" -S -c 'from _spyre_tools import opt; opt()' "\$@"
END
chmod +x "$OUT/bin/spyre-opt"

"$BIN/lit" -sv --param tools="$OUT/bin" test/dialect test/bridge
