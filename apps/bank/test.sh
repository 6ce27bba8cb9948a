#!/usr/bin/env bash
# Tests of bank, for ctest: see ../common/critical.sh.
set -euo pipefail
# shellcheck disable=SC2034 # critical.sh uses them
program=bank small=(--size 100 --operations 100 --steps 2)
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/critical.sh"

own_messages() { # SHAPE
  refused 2 "read-all 101 is more than 100 percent" "$1" --read-all 101
}

critical_test "$@"
