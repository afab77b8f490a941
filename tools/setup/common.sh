# SPDX-License-Identifier: Apache-2.0
# Helpers of tools/setup.sh; sourced, never run.

say() { printf 'setup: %s\n' "$*"; }

# One line that names what is missing and how to get it, then exit code 2.
fail() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 2
}

has() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANT: dotted numbers; anything after the numbers is ignored.
version_at_least() {
  local have want
  IFS=. read -ra have <<<"${1%%[!0-9.]*}"
  IFS=. read -ra want <<<"$2"
  local i
  for i in "${!want[@]}"; do
    ((10#${have[i]:-0} > 10#${want[i]})) && return 0
    ((10#${have[i]:-0} < 10#${want[i]})) && return 1
  done
  return 0
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    fail "installing packages needs root or sudo: run once as root: $*"
  fi
}

# find_header RELATIVE/PATH.h: the first include folder that has it, also CMake's prefix path.
find_header() {
  local prefix
  local -a prefixes=(/usr /usr/local /opt/homebrew)
  IFS=: read -ra more <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "${more[@]}" "${prefixes[@]}"; do
    if [ -n "$prefix" ] && [ -e "$prefix/include/$1" ]; then
      printf '%s\n' "$prefix/include/$1"
      return 0
    fi
  done
  return 1
}

# header_version FILE MAJOR MINOR: "a.b" from two #define lines.
header_version() {
  local major minor
  major=$(sed -nE "s/^#[[:space:]]*define[[:space:]]+$2[[:space:]]+([0-9]+).*/\1/p" "$1" | head -n 1)
  minor=$(sed -nE "s/^#[[:space:]]*define[[:space:]]+$3[[:space:]]+([0-9]+).*/\1/p" "$1" | head -n 1)
  printf '%s.%s\n' "${major:-0}" "${minor:-0}"
}
