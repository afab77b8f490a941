# SPDX-License-Identifier: Apache-2.0
# An Emscripten that links optimised programs; sourced by tools/setup.sh.
#
# emsdk's works as it is. Debian's needs two things, both private to .toolchain/:
#  - Binaryen 120 (Debian 12 has 108, which fails on relaxed SIMD). Debian 13's wants a newer libc,
#    so it is unpacked beside its own libc and started through that libc's loader.
#  - acorn, which Node's ES modules look for in a node_modules folder above the importing file and
#    nowhere else (NODE_PATH is for CommonJS). So the scripts are copied (7 MB) into a folder with
#    such a node_modules; the 1.6 GB of prebuilt libraries stay where they are.

provide_binaryen() { # sets binaryen_root
  if has wasm-opt && version_at_least "$(wasm-opt --version | sed -nE 's/.*version ([0-9]+).*/\1/p')" 120; then
    binaryen_root=$(dirname "$(dirname "$(command -v wasm-opt)")")
    return
  fi
  binaryen_root=$toolchain/binaryen
  if "$binaryen_root/bin/wasm-opt" --version >/dev/null 2>&1; then
    return
  fi
  [ "$(own_release)" = "debian 12" ] ||
    fail "missing: Binaryen 120 or newer (wasm-opt). Install it or emsdk, then run again"
  say "unpacking Binaryen 120 into .toolchain/binaryen"
  prepare_next_release
  [ -n "$(compgen -G "$toolchain/apt/lists/*trixie*Packages*")" ] || apt_quietly update
  rm -rf "$binaryen_root"
  mkdir -p "$binaryen_root/system" "$binaryen_root/bin"
  (
    cd "$binaryen_root"
    apt-get "${apt_options[@]}" download binaryen/trixie libc6/trixie libstdc++6/trixie libgcc-s1/trixie \
      >/dev/null || fail "apt-get could not download Binaryen 120 (package binaryen of Debian 13)"
    for package in *.deb; do dpkg -x "$package" system; done
    rm -f ./*.deb
  )
  local loader tool
  loader=$(cd "$binaryen_root" && find system -name 'ld-linux-*.so.*' -not -type l | head -n 1)
  for tool in "$binaryen_root"/system/usr/bin/*; do
    tool=${tool##*/}
    cat >"$binaryen_root/bin/$tool" <<END
#!/bin/sh
here=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")
lib=\$here/${loader%/*}
exec "\$lib/${loader##*/}" --library-path "\$lib" "\$here/system/usr/bin/$tool" "\$@"
END
    chmod +x "$binaryen_root/bin/$tool"
  done
  "$binaryen_root/bin/wasm-opt" --version >/dev/null || fail ".toolchain/binaryen/bin/wasm-opt does not start"
}

provide_emscripten() { # sets emscripten_root
  local emcc system=/usr/share/emscripten entry stamp
  emcc=$(command -v emcc) || fail "missing: emcc. Install Emscripten 3.1.50 or newer (emsdk), then run again"
  emscripten_root=$(dirname "$(readlink -f "$emcc")")
  if [ "$emscripten_root" != "$system" ] && [ "$emscripten_root" != "$toolchain/emscripten" ]; then
    return # emsdk or another complete one
  fi
  provide_binaryen
  emscripten_root=$toolchain/emscripten
  stamp="$(cat $system/emscripten-version.txt) $emscripten_root $binaryen_root $node_path"
  [ "$stamp" = "$(cat "$emscripten_root/stamp" 2>/dev/null)" ] && return
  say "preparing Emscripten $(emcc_version) in .toolchain/emscripten"
  rm -rf "$emscripten_root"
  mkdir -p "$emscripten_root"
  for entry in "$system"/*; do
    case "${entry##*/}" in
      cache | system) ln -s "$entry" "$emscripten_root/" ;;
      test | docs | media | out | ChangeLog* | README* | __pycache__) ;;
      *) cp -rL "$entry" "$emscripten_root/" ;;
    esac
  done
  ln -s /usr/share/nodejs "$emscripten_root/node_modules"
  # Its own package.json, or Node would read terser.js as a module because of the one above it.
  printf '{"type": "commonjs"}\n' >"$emscripten_root/package.json"
  cat >"$emscripten_root/.emscripten" <<END
LLVM_ROOT = '$(dirname "$(readlink -f "$(command -v clang++-19)")")'
BINARYEN_ROOT = '$binaryen_root'
NODE_JS = '$node_path'
CACHE = '$system/cache'
FROZEN_CACHE = True
END
  printf '%s\n' "$stamp" >"$emscripten_root/stamp"
}

# What the Makefile, the tests and a person's shell source.
write_environment() {
  local path=$emscripten_root
  case "$node_path" in "$toolchain"/*) path=$path:${node_path%/*} ;; esac
  {
    printf '# Written by tools/setup.sh for: . .toolchain/env.sh\n'
    printf "export EMSCRIPTEN_ROOT='%s'\n" "$emscripten_root"
    # emsdk finds its own configuration; our private copy names its tools itself.
    if [ "$emscripten_root" = "$toolchain/emscripten" ]; then
      printf "export EM_CONFIG='%s/.emscripten' EM_BINARYEN_ROOT='%s'\n" "$emscripten_root" "$binaryen_root"
    fi
    # The interpreter itself: where python3 is a version manager's script, each of some 300 calls of the
    # compiler would start that first (0.5 s of the processor).
    printf "export EMSDK_PYTHON='%s'\n" "$(python3 -c 'import sys; print(sys.executable)')"
    printf "export PATH='%s':\"\$PATH\"\n" "$path"
  } >"$toolchain/env.sh"
}
