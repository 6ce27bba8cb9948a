#!/usr/bin/env bash
# Tests of the Himeno programs, for ctest.
#
#   test.sh BIN verified SHAPE       the known gosa
#   test.sh BIN same SHAPE           the same bits as himeno_seq
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW    with a mistake in FILE, himeno_seq finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses it
program=himeno
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shapes.sh"

verified() { # SHAPE
  for steps in $(sizes 103 3); do
    [[ $(run "$1" --size XS --steps "$steps" --verify) == *"(verified)"* ]] || fail "not verified: XS, $steps steps"
  done
  [[ $(run "$1" --size S --steps 3 --verify) == *"(verified)"* ]] || fail "not verified: S"
}

same() { # SHAPE
  local expected got
  expected=$(run seq --steps 13 --json)
  got=$(run "$1" --steps 13 --json)
  [[ ${got##*bits} == "${expected##*bits}" ]] || fail "other bits than himeno_seq: $got, $expected"
}

messages() { # SHAPE
  refused 2 "unknown option '--siez'; did you mean --size" "$1" --siez M
  refused 2 "size 'XL' is not XS, S, M or L" "$1" --size XL
  refused 2 "verify knows the answers of --size XS and S with --steps 3 and 103 only" "$1" --size M --verify
  [[ $(run "$1" --help) == *"--size "* ]] || fail "--help says nothing of --size"
}

notices() { # FILE OLD NEW
  local here
  # shellcheck disable=SC2034 # shapes.sh uses it
  here=$(dirname "${BASH_SOURCE[0]}")
  change "$@"
  compile himeno_seq.c common.c kernel.c ../common/{team,run,options,memory}.c
  wrong_answer "$scratch/wrong" --steps 3 --verify
}

case $what in
  verified | same | messages | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
