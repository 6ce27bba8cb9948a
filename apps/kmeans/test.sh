#!/usr/bin/env bash
# Tests of kmeans, for ctest: see ../common/critical.sh.
set -euo pipefail
# shellcheck disable=SC2034 # critical.sh uses them
program=kmeans small=(--size 200 --clusters 5 --chunk 10)
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/critical.sh"

own_messages() { # SHAPE
  refused 2 "clusters 9 is more than the 8 points of --size" "$1" --clusters 9 --size 8
}

critical_test "$@"
