#!/usr/bin/env bash
# Tests of the Laplace programs, for ctest.
#
#   test.sh BIN same SHAPE           the exact answer, Omni's checksum, and the same bits as laplace_serial
#   test.sh BIN auto SHAPE           --tile auto
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN refused STATUS PATTERN SHAPE ARGUMENTS...   one case of that
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, laplace_serial finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # tiled.sh uses it
program=laplace
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/tiled.sh"

# 101 has ragged tiles, 9 has ranks with two rows of points, 4 those that have but the rim.
same() {
  same_bits "$1" --size 101 --steps 40
  same_bits "$1" --size 9 --steps 11
  same_bits "$1" --size 4 --steps 3
  [[ $(run "$1" --size 64 --tile 10,17 --start omni --verify) == *verified* ]] || fail "not Omni's checksum"
}

messages() {
  common_messages "$1"
  refused 2 "size 2 has no points inside the rim" "$1" --size 2
  refused 2 "start 'sin' is not sine or omni" "$1" --start sin
  refused 2 "verify knows the answer of --start omni for --size 64 --steps 100 only" "$1" --start omni --verify
  refused 2 "laplace_.* needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB" "$1" --size 2000000
}

case $what in
  auto) automatic "$1" --size 90 --steps 5 ;;
  same | messages | refused | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
