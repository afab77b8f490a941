#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/build.sh [all|explain]: what a person runs. explain: the native program, the npm package and
# the page; all: also build/bin/attn.mjs, the C interface and the relaxed program that bench times.
# A step prints one line; its log only where it failed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. .toolchain/env.sh
jobs=$(getconf _NPROCESSORS_ONLN)
mkdir -p build

step() { # step WORDS COMMAND...
  local words=$1 log=build/step.log start=$SECONDS
  shift
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: error: $words failed (its output is above)" >&2
    exit 2
  fi
  echo "build: $words ($((SECONDS - start)) s)"
}

preset() { # preset NAME TARGET...
  local name=$1
  shift
  cmake --preset "$name" -DATTN_BUILD_TESTS=OFF &&
    cmake --build --preset "$name" -j "$jobs" --target "$@"
}

case "${1:-all}" in
  all) native=all wasm=all ;;
  explain)
    native=attn_cli
    wasm='attn_wasm attn_wasm_relaxed attn_wasm_full attn_wasm_full_relaxed'
    ;;
  *)
    echo "usage: tools/build.sh [all|explain]  (not \"$1\")" >&2
    exit 2
    ;;
esac
step "native program" preset release "$native"
step "WebAssembly" preset wasm $wasm
step "WebAssembly with threads" preset wasm-threads all
step "JavaScript package" npm run --workspace wasm build
step "page" npm run --workspace web build
