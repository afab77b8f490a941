#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/with_toolchain.sh COMMAND...: runs it with what tools/setup.sh prepared on the path.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ ! -e "$root/.toolchain/env.sh" ]; then
  echo "error: .toolchain/env.sh is missing: run tools/setup.sh first" >&2
  exit 2
fi
. "$root/.toolchain/env.sh"
exec "$@"
