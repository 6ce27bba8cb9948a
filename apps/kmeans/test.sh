#!/usr/bin/env bash
# Tests of kmeans, for ctest.
#
#   test.sh BIN right WAY SHAPE       a small run with --with WAY verifies itself
#   test.sh BIN messages SHAPE        bad input ends in one clear message
#
# BIN: the folder with the program. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shared.sh uses it
program=kmeans
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shared.sh"

right() { # WAY SHAPE ARGUMENTS...
  local way=$1
  shift
  [[ $(run "$1" --verify --with "$way" --size 200 --clusters 5 --chunk 10 "${@:2}") == *verified* ]] ||
    fail "it is wrong: $*"
}

messages() {
  common_messages "$1"
  refused 2 "with 'hope' is not transactions, locks, one-lock or nothing" "$1" --with hope
  refused 2 "with nothing is for one rank with one thread, not for 2 x 1" hiroba-2-1 --with nothing
  refused 2 "clusters 9 is more than the 8 points of --size" "$1" --clusters 9 --size 8
}

case $what in
  right | messages) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
