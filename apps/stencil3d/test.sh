#!/usr/bin/env bash
# Tests of the stencil programs, for ctest.
#
#   test.sh BIN same SHAPE [OPTIONS]      several sizes: verified, and the same bits as stencil_seq
#   test.sh BIN restart SHAPE SHAPE       checkpoint with one, restart with the other: the same bits as one run
#   test.sh BIN stopped SHAPE             Ctrl-C writes a checkpoint from which the run goes on
#   test.sh BIN volume SHAPE              --volume: the snapshots can be read back, after a restart, too
#   test.sh BIN messages SHAPE            bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW      with a mistake in FILE, NEW for OLD, stencil_seq finds itself wrong
#
# BIN: the folder with the programs. SHAPE: seq, omp-THREADS, mpi-RANKS or sms-RANKS-NODES. PYTHON has numpy.
# shellcheck disable=SC2154 # stencil.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses it
program=stencil here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/stencil.sh"

# 48 is the size in docs; the others have odd pages, ranks that own only a boundary plane, and ranks that own nothing.
same() {
  local shape=$1 size
  shift
  for size in $(sizes 33,20,17 48 70,41,5 5,3,3 2,1,2); do
    same_as_seq "$shape" "$size" --steps 40 --verify -- "$@"
  done
}

messages() {
  local shape=$1
  common_messages "$shape"
  [[ $shape == seq ]] || refused 2 "8 ranks are more than the 3 planes" "sms-8-1" --size 9,9,1
}

notices() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile stencil_seq.c stencil7.c ../common/{stencil,team,options,files,checkpoint,run,memory,volume}.c
  wrong_answer "$scratch/wrong" --verify
}

"$what" "$@"
