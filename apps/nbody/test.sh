#!/usr/bin/env bash
# Tests of the N-body programs, for ctest.
#
#   test.sh BIN same SHAPE           in float and in double: verified, and the same bits as nbody_serial
#   test.sh BIN orbit SHAPE          two bodies on an ellipse: the error of the energy falls by 4 when steps are halved
#   test.sh BIN auto SHAPE           --tile auto
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN refused STATUS PATTERN SHAPE ARGUMENTS...   one case of that
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, nbody_serial finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # tiled.sh uses it
program=nbody
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/tiled.sh"

# 5 bodies in strips of 7 and 31 leave most ranks without any.
same() {
  local kind
  for kind in float double; do
    same_bits "$1" --kind "$kind" --size 150 --steps 6
    same_bits "$1" --kind "$kind" --size 5 --steps 3
  done
}

# The largest relative errors that kick-drift-kick has on this ellipse, for 100, 200, 400 and 800 steps an orbit.
orbit() {
  local steps=1000 expected said error
  for expected in 0.01084 0.002689 0.000671 0.0001677; do
    said=$(run "$1" --start kepler --tile 1 --steps "$steps" --verify)
    error=$(sed -n 's/^energy_error //p' <<<"$said")
    [[ $(printf '%.4g' "$error") == "$expected" ]] || fail "not $expected with $steps steps: $said"
    steps=$((2 * steps))
  done
}

messages() {
  common_messages "$1"
  refused 2 "tile '5,6' is not N or auto" "$1" --tile 5,6
  refused 2 "kind 'half' is not float or double" "$1" --kind half
  refused 2 "start 'ball' is not box or kepler" "$1" --start ball
  refused 2 "kepler has two bodies" "$1" --start kepler --size 3
  refused 2 "kepler has two bodies" "$1" --start kepler --kind float
  refused 2 "seed '-1' is not K" "$1" --seed -1
  refused 2 "size 900000000 is more than [0-9]+ bodies" "$1" --size 900000000
}

case $what in
  auto) automatic "$1" --size 300 --steps 3 ;;
  same | orbit | messages | refused | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
