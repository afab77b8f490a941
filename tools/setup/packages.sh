# SPDX-License-Identifier: Apache-2.0
# What the project needs from the system, and how Debian provides it; sourced by tools/setup.sh.
#
# Two kinds of packages: those of the machine's own release, and four that Debian 12 has only in
# versions that are too old (its Highway is 1.0, its xsimd has no WebAssembly, its Emscripten is
# 3.1.6). Those four come from Debian 13 through a private apt configuration in .toolchain/apt, so
# that the machine's own sources stay as they are and an ordinary upgrade never sees Debian 13.

missing_own=()   # packages of the machine's own release
missing_next=()  # packages that Debian 12 takes from Debian 13
missing_what=()  # the same in words, for machines without apt

want() { # want own|next PACKAGE WORDS: notes one missing thing
  if [ "$1" = own ]; then missing_own+=("$2"); else missing_next+=("$2"); fi
  missing_what+=("$3")
}

has_any() {
  local tool
  for tool in "$@"; do has "$tool" && return 0; done
  return 1
}

header_at_least() { # header_at_least FILE MAJOR_MACRO MINOR_MACRO WANT
  local file
  file=$(find_header "$1") && version_at_least "$(header_version "$file" "$2" "$3")" "$4"
}

emcc_version() {
  # Emscripten's own version file answers at once; `emcc --version` starts Python.
  local emcc root
  emcc=$(command -v emcc) || { echo 0; return; }
  for root in "${EMSCRIPTEN_ROOT:-}" "$(dirname "$(readlink -f "$emcc")")" /usr/share/emscripten; do
    if [ -n "$root" ] && [ -e "$root/emscripten-version.txt" ]; then
      tr -d '"' <"$root/emscripten-version.txt"
      return
    fi
  done
  emcc --version 2>/dev/null | sed -nE '1s/.* ([0-9]+\.[0-9]+\.[0-9]+).*/\1/p'
}

check_build() {
  has clang++-19 || want own clang-19 "clang 19"
  has_any ld.lld-19 || want own lld-19 "lld 19"
  has ninja || want own ninja-build "Ninja"
  has make || want own make "GNU make"
  has node || want own nodejs "Node 20 or newer"
  has npm || want own npm "npm"
  has python3 || want own python3 "Python 3 (Emscripten runs on it)"
  if ! has cmake || ! version_at_least "$(cmake --version | sed -n '1s/.* //p')" 3.25; then
    want own cmake "CMake 3.25 or newer"
  fi
  find_header CLI/CLI.hpp >/dev/null || want own libcli11-dev "CLI11 2"
  find_header fmt/format.h >/dev/null || want own libfmt-dev "{fmt} 9"
  find_header nlohmann/json.hpp >/dev/null || want own nlohmann-json3-dev "nlohmann-json 3.11"
  find_header httplib.h >/dev/null || want own libcpp-httplib-dev "cpp-httplib 0.11"
  header_at_least hwy/base.h HWY_MAJOR HWY_MINOR 1.1 ||
    header_at_least hwy/highway.h HWY_MAJOR HWY_MINOR 1.1 ||
    want next libhwy-dev "Highway 1.1 or newer"
  header_at_least xsimd/config/xsimd_config.hpp XSIMD_VERSION_MAJOR XSIMD_VERSION_MINOR 11.0 ||
    want next libxsimd-dev "xsimd 11 or newer"
  version_at_least "$(emcc_version)" 3.1.50 || want next emscripten "Emscripten 3.1.50 or newer"
}

check_test() {
  has g++-12 || want own g++-12 "g++ 12"
  compgen -G '/usr/lib/llvm-19/lib/clang/19/lib/*/libclang_rt.asan*.a' >/dev/null ||
    want own libclang-rt-19-dev "the sanitizer run-time of clang 19"
  has clang-format-19 || want own clang-format-19 "clang-format 19"
  header_at_least doctest/doctest.h DOCTEST_VERSION_MAJOR DOCTEST_VERSION_MINOR 2.4 ||
    want next doctest-dev "doctest 2.4"
  has_any chromium chromium-browser google-chrome || want own chromium "Chromium"
  has_any firefox-esr firefox || want own firefox-esr "Firefox"
  has WebKitWebDriver || want own webkit2gtk-driver "WebKitGTK's driver"
  has xvfb-run || want own xvfb "Xvfb (WebKit needs a display)"
  compgen -G '/usr/share/fonts/*/dejavu*/DejaVuMath*' >/dev/null ||
    want own fonts-dejavu-extra "a font with mathematics (DejaVu)"
}

own_release() { # "debian 12", "ubuntu 24.04", "darwin"
  if [ -e /etc/os-release ]; then
    (. /etc/os-release && printf '%s %s\n' "$ID" "${VERSION_ID:-99}")
  else
    uname -s | tr '[:upper:]' '[:lower:]'
  fi
}

# The machine's sources and a Debian 13 one on the same mirror, as one private configuration.
prepare_next_release() {
  local dir=$toolchain/apt mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  [ -n "$mirror" ] || fail "apt has no source for bookworm/main: add one, then run again"
  mkdir -p "$dir/sources.list.d" "$dir/preferences.d" "$dir/lists/partial"
  cp /etc/apt/sources.list.d/* "$dir/sources.list.d/" 2>/dev/null || true
  cp /etc/apt/preferences.d/* "$dir/preferences.d/" 2>/dev/null || true
  cat >"$dir/sources.list.d/attn-trixie.sources" <<END
Types: deb
URIs: $mirror
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  printf 'Package: *\nPin: release n=trixie\nPin-Priority: 100\n' >"$dir/preferences.d/attn-trixie"
  apt_options+=(
    -o "Dir::Etc::SourceParts=$dir/sources.list.d"
    -o "Dir::Etc::PreferencesParts=$dir/preferences.d"
    -o "Dir::State::Lists=$dir/lists")
}

apt_options=(-q -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root)

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" "$@"; }

apt_quietly() { # the whole log only where it failed
  local log
  log=$(mktemp)
  if ! apt "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "apt-get $1 did not succeed (its output is above)"
  fi
  rm -f "$log"
}

install_packages() {
  local packages=("${missing_own[@]}") upgrades plan
  apt_quietly update
  if [ ${#missing_next[@]} -gt 0 ]; then
    if [ "$(own_release)" = "debian 12" ]; then
      packages+=("${missing_next[@]/%//trixie}")
    else
      packages+=("${missing_next[@]}")
    fi
  fi
  plan=$(apt -s install --no-install-recommends "${packages[@]}")
  keep_installed
  plan=$(apt -s install --no-install-recommends "${packages[@]}" "${kept[@]}")
  # "Inst NAME [OLD] (NEW ARCHIVE...": an installed package would change.
  upgrades=$(sed -nE 's/^Inst ([^ ]+) \[.*/\1/p' <<<"$plan" | tr '\n' ' ')
  if grep -qE '^Inst [^ ]+ \[.*(trixie|:13)' <<<"$plan"; then
    fail "installing ${packages[*]} would take $upgrades from Debian 13; nothing was changed"
  fi
  [ -z "$upgrades" ] || say "this release's updates of ${upgrades% } come along: the new packages need them"
  apt_quietly install -y --no-install-recommends "${packages[@]}" "${kept[@]}"
}

# A -dev package wants its library in the same version, and the newest of the release may be newer
# than what is installed. Where the mirror still has the -dev package of the installed version, that
# one is asked for, so that nothing installed changes. Reads `plan`, sets `kept`.
keep_installed() {
  local old new name
  kept=()
  while read -r old new; do
    for name in $(awk -v new="($new" '$1 == "Inst" && $3 == new { print $2 }' <<<"$plan"); do
      if apt-cache "${apt_options[@]:1}" madison "$name" | grep -qF " $old "; then
        kept+=("$name=$old")
      fi
    done
  done < <(sed -nE 's/^Inst [^ ]+ \[([^]]+)\] \(([^ ]+).*/\1 \2/p' <<<"$plan" | sort -u)
}

provide_packages() { # provide_packages explain|test
  check_build
  [ "$1" = explain ] || check_test
  [ ${#missing_what[@]} -gt 0 ] || return 0
  local list
  list=$(printf ', %s' "${missing_what[@]}")
  list=${list:2}
  case "$(own_release)" in
    debian\ 12) [ ${#missing_next[@]} = 0 ] || prepare_next_release ;;
    debian\ *) ;;
    ubuntu\ 2[5-9]*) ;;
    *) fail "missing: $list. Install them with this system's package manager (emsdk for Emscripten), then run again" ;;
  esac
  say "installing with apt-get: ${missing_own[*]} ${missing_next[*]}"
  install_packages
}
