#!/usr/bin/env bash
# Tests of the sort programs, for ctest.
#
#   test.sh BIN same SHAPE           all kinds of keys: verified, and in the same places as std::sort has them
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW KIND   with a mistake in FILE, sort_omp finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shared.sh uses them
program=sort reference=std
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shared.sh"

# 700 keys are two pages: of four parts two have none.
same() {
  local kind
  for kind in uniform skewed few equal sorted reversed; do
    same_bits "$1" --keys "$kind" --size 100003 --steps 2
  done
  same_bits "$1" --keys skewed --size 700 --steps 2 --seed 7
  same_bits "$1" --size 1
}

messages() {
  common_messages "$1"
  refused 2 "seed '-1' is not K" "$1" --seed -1
  refused 2 "keys 'odd' is not uniform, skewed, few, equal, sorted or reversed" "$1" --keys odd
  refused 2 "sort_.* needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB" "$1" --size 2147483639
}

notices() { # FILE OLD NEW KIND
  change "$1" "$2" "$3"
  compile -fopenmp sort_omp.c common.c radix.c together.c "${harness[@]}"
  OMP_NUM_THREADS=3 wrong_answer "$scratch/wrong" --size 20000 --keys "$4" --verify
}

case $what in
  same | messages | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
