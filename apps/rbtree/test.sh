#!/usr/bin/env bash
# Tests of rbtree, for ctest: see ../common/critical.sh.
set -euo pipefail
# shellcheck disable=SC2034 # critical.sh uses them
program=rbtree small=(--size 64 --operations 100 --updates 50 --steps 2)
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/critical.sh"

own_messages() { # SHAPE
  refused 2 "updates 101 is more than 100 percent" "$1" --updates 101
  refused 2 "size 5 is more than the 4 keys of --range" "$1" --size 5 --range 4
}

critical_test "$@"
