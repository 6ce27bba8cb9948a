#!/usr/bin/env bash
# Tests of the Fourier transform of a cube, for ctest.
#
#   test.sh BIN same SHAPE           verified against the closed form: each number of the transform
#   test.sh BIN messages SHAPE       bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW with a mistake in FILE, fft3d_omp finds itself wrong
#
# BIN: the folder with the programs. SHAPE: see shapes.sh.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shared.sh uses it
program=fft3d
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shared.sh"

# Of 3 planes, and of one, some of four parts have none. FFTW's MPI has no plan for a single number.
same() {
  for size in $(sizes 37 48 3 1); do
    [[ $1 == mpi-* && $size == 1 ]] && continue
    [[ $(run "$1" --size "$size" --steps 3 --verify) == *verified* ]] || fail "not verified: $1 --size $size"
  done
  [[ $(run "$1" --size 30 --steps 3 --plan measure --verify) == *verified* ]] || fail "not verified: $1 --plan measure"
}

messages() {
  common_messages "$1"
  refused 2 "plan 'luck' is not estimate or measure" "$1" --plan luck
  refused 2 "size 4097 is more than 4096" "$1" --size 4097
  refused 2 "fft3d_.* needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB" "$1" --size 4096
}

notices() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile -fopenmp fft3d_omp.c common.c slabs.c "${harness[@]}" -lfftw3
  OMP_NUM_THREADS=3 wrong_answer "$scratch/wrong" --size 20 --verify
}

case $what in
  same | messages | notices) "$what" "$@" ;;
  *) fail "unknown test $what" ;;
esac
