#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/explain.sh PORT: the report, then the explainer until Ctrl-C.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A figure that differs is part of the report; the page is served all the same.
build/bin/attn report || echo "report: some figure differs (see above)"
exec build/bin/attn serve --port "$1"
