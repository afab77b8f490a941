#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/peers/run.sh [ARGUMENT...]: builds libattn_peer.so, then pytorch.py with these arguments;
# with none the whole table, on one thread, and a part of it on two.
# PEER_PYTHON: a Python with PyTorch.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${PEER_PYTHON:-python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
  echo "run.sh: error: \"$python\" cannot import torch; set PEER_PYTHON to a Python that can" \
    "(bench/peers/README.md)" >&2
  exit 2
fi

log=$root/build/peers.log
mkdir -p "$root/build"
# In a subshell: PEER_PYTHON may be relative to where this was called.
if ! (cd "$root" && cmake --preset release -DATTN_BUILD_TESTS=OFF &&
  cmake --build --preset release --target attn_peer) >"$log" 2>&1; then
  cat "$log" >&2
  echo "run.sh: error: the build failed (its output is above); tools/setup.sh provides what it" \
    "needs" >&2
  exit 2
fi

measure() {
  "$python" "$root/bench/peers/pytorch.py" \
    --library "$root/build/release/bench/peers/libattn_peer.so" "$@"
}
if [ $# -gt 0 ]; then
  measure "$@"
  exit
fi
code=0
measure || code=$?
if [ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ]; then
  echo
  measure --threads 2 8x1024x64{,c} 8x1024x128{,c} || code=$?
fi
exit $code
