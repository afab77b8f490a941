#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes this machine able to build and test: tools/setup.sh [--for explain|test]
#
# Takes what is there, installs what is missing, upgrades nothing. What the system cannot provide
# lands in .toolchain/ (git-ignored); .toolchain/env.sh is what the Makefile and the tests source.
# A second run only looks (about a second).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
toolchain=$root/.toolchain
purpose=test
while [ $# -gt 0 ]; do
  case "$1" in
    --for)
      purpose=${2:-}
      shift
      ;;
    *)
      printf 'usage: tools/setup.sh [--for explain|test]  (unknown argument "%s")\n' "$1" >&2
      exit 2
      ;;
  esac
  shift
done
case "$purpose" in
  explain | test) ;;
  *)
    printf 'setup: error: --for takes explain or test, not "%s"\n' "$purpose" >&2
    exit 2
    ;;
esac

# shellcheck source-path=SCRIPTDIR
. "$root/tools/setup/common.sh"
. "$root/tools/setup/packages.sh"
. "$root/tools/setup/node.sh"
. "$root/tools/setup/emscripten.sh"

mkdir -p "$toolchain"
provide_packages "$purpose"
provide_node
provide_emscripten
write_environment
provide_node_packages
say "ready for make $purpose"
