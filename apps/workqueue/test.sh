#!/usr/bin/env bash
# Tests of the programs that share a queue, for ctest.
#
#   test.sh BIN same SHAPE           small trees: verified, and counted as workqueue_serial does
#   test.sh BIN published SHAPE      two sample trees of UTS, of 4 million nodes
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, workqueue_omp finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shared.sh uses them
program=workqueue reference=serial
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shared.sh"

# A tree of one node leaves all workers but one without work: over MPI the end of one search and the next one's messages
# are then so close that a rank which took them for its own lost the token, and the job hung.
same() {
  same_bits "$1" --size 7 --steps 3
  same_bits "$1" --tree binomial --size 60 --steps 3 --seed 7
  same_bits "$1" --size 1 --seed 3 --steps 20
}

published() {
  [[ $(run "$1" --verify) == *"nodes 4130071"*"leaves 3305118"*"depth 10"*verified* ]] || fail "not tree T1 of UTS"
  [[ $(run "$1" --verify --tree binomial) == *"nodes 4112897"*"leaves 3599034"*"depth 1572"*verified* ]] ||
    fail "not tree T3 of UTS"
}

messages() {
  common_messages "$1"
  refused 2 "seed '-1' is not K" "$1" --seed -1
  refused 2 "tree 'oak' is not geometric or binomial" "$1" --tree oak
  refused 2 "size 31 is deeper than 30" "$1" --size 31
}

notices() { # FILE OLD NEW ARGUMENTS...
  change "$1" "$2" "$3"
  shift 3
  compile -fopenmp workqueue_omp.c common.c tree.c worker.c "${harness[@]}"
  OMP_NUM_THREADS=3 wrong_answer "$scratch/wrong" --verify "$@"
}

case $what in
  same | published | messages | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
