#!/usr/bin/env bash
# Tests of the Cholesky programs, for ctest.
#
#   test.sh BIN verified SHAPE        the residual and the published determinants
#   test.sh BIN same SHAPE            the same bits as cholesky_serial, with tiles that do and do not divide the matrix
#   test.sh BIN busy SHAPE            many small tiles, again and again: nobody waits for ever, all bits are right
#   test.sh BIN indefinite SHAPE      a matrix that is not positive definite ends in one message, and it does end
#   test.sh BIN auto SHAPE            --tile auto finds a tile, and remembers it
#   test.sh BIN messages SHAPE        bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, cholesky_serial finds itself wrong
#
# BIN: the folder with the programs. SHAPE: as in apps/common/shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # tiled.sh uses it
program=cholesky
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/tiled.sh"
export STARPU_HOME=$scratch XDG_CACHE_HOME=$scratch

verified() {
  local size expected
  for size in $(sizes 1024 2048); do
    expected=7098.43239
    ((size == 1024)) || expected=15615.83543
    run "$1" --size "$size" --tile 128 --verify --json "$scratch/report"
    grep -q "\"logdet\": $expected" "$scratch/report" || fail "log of the determinant: $(<"$scratch/report")"
  done
}

# The bits depend on the tile: it is the order of operations.
same_tile() { # SHAPE ARGUMENTS...
  local shape=$1 expected found
  shift
  expected=$(bits serial "$@")
  found=$(bits "$shape" "$@")
  [[ $found == "$expected" ]] || fail "$shape $*: bits $found, not $expected"
}

same() {
  local shape=$1
  same_tile "$shape" --size 1 --tile 1
  same_tile "$shape" --size 7 --tile 3 --steps 2
  same_tile "$shape" --size 90 --tile 200
  same_tile "$shape" --size 128 --tile 32
  same_tile "$shape" --size 300 --tile 77 --steps 3
  same_tile "$shape" --size 257 --tile 16
}

busy() { same_tile "$1" --size 400 --tile 10 --steps 5; }

indefinite() {
  local shape=$1 order
  for order in $(sizes 203 1 78 300); do
    refused 2 "not positive definite.*leading minor of order $order .*info = $order\)" "$shape" --size 300 --tile 77 \
      --steps 2 --indefinite "$order"
  done
}

auto() {
  local shape=$1
  run "$shape" --size 300 --tile auto --verify >"$scratch/out"
  grep -q "tile 64 (found by trials)" "$scratch/out" || fail "no trials: $(<"$scratch/out")"
  run "$shape" --size 300 --tile auto --verify >"$scratch/out"
  grep -q "tile 64 (remembered)" "$scratch/out" || fail "it does not remember: $(<"$scratch/out")"
}

messages() {
  common_messages "$1"
  refused 2 "size '0' is not N" "$1" --size 0
  refused 2 "tile '8,8' is not N or auto" "$1" --tile 8,8
  refused 2 "indefinite 9: the diagonal has 8 numbers" "$1" --size 8 --indefinite 9
  refused 2 "the matrix needs .* GiB of memory" "$1" --size 2000000 --tile 40000
}

# shellcheck disable=SC2034 # tiled.sh uses them
parts="common.c matrix.c" libraries=$(pkg-config --cflags --libs openblas)
"$what" "$@"
