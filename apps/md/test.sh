#!/usr/bin/env bash
# Tests of the programs for molecular dynamics, for ctest.
#
#   test.sh BIN same SHAPE           verified, and the same bits as md_serial
#   test.sh BIN order SHAPE          the error of the energy falls by 4 when steps are halved
#   test.sh BIN long SHAPE           a run of many steps is verified by what is conserved
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW with a mistake in FILE, md_serial finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shared.sh uses them
program=md reference=serial
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shared.sh"

# Of size 5 there are three layers: of four parts one has none, or two. Of size 9 the plain loops are left out.
same() {
  local size steps
  for size in $(sizes 5 8 9); do
    steps=$((size == 5 ? 100 : size == 8 ? 30 : 10))
    same_bits "$1" --size "$size" --steps "$steps" --seed "$size"
  done
}

order() {
  local steps=50 dt=0.008 said error before=""
  for _ in 1 2 3 4; do
    said=$(run "$1" --size 5 --steps "$steps" --dt "$dt" --verify)
    error=$(sed -n 's/^energy_error //p' <<<"$said")
    [[ -z $before ]] || awk "BEGIN { r = $before / $error; exit !(r > 3.8 && r < 4.2) }" ||
      fail "the error went from $before to $error with $steps steps: $said"
    before=$error steps=$((2 * steps)) dt=$(awk "BEGIN { print $dt / 2 }")
  done
}

long() { # paths have parted from the reference's by rounding errors, and the answer is right
  run "$1" --size 5 --steps 1000 --verify >"$scratch/long"
  ! grep -q path_error "$scratch/long" || fail "paths were compared after a time of 4"
}

messages() {
  common_messages "$1"
  refused 2 "seed '-1' is not K" "$1" --seed -1
  refused 2 "size 4 is not from 5 .three cells. to 400" "$1" --size 4
  refused 2 "size 401 is not from 5" "$1" --size 401
  refused 2 "dt 'x' is not a number" "$1" --dt x
  refused 2 "dt 0 is not more than 0" "$1" --dt 0
  refused 2 "a particle has passed a whole cell in a step; use a smaller --dt" "$1" --dt 10 --steps 20
  refused 2 "use a smaller --dt" "$1" --dt 0.5 --steps 50
  refused 2 "md_.* needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB" "$1" --size 400
}

notices() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile md_serial.c common.c check.c phases.c "${harness[@]}"
  wrong_answer "$scratch/wrong" --size 5 --steps 20 --verify
}

case $what in
  same | order | long | messages | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
