#!/usr/bin/env bash
# Tests of the programs with the 27-point stencil, for ctest.
#
#   test.sh BIN naive                     the sequential program has the bits of numpy's, without and with blocking
#   test.sh BIN verified SHAPE            ST2: the eigenmode
#   test.sh BIN same SHAPE [OPTIONS]      ST3: any depth, blocks and size: the bits of stencil27_seq --depth 1
#   test.sh BIN traffic SHAPE SIDES       ST4: how many halos and pages are fetched, exactly; SIDES: of all ranks
#   test.sh BIN forwards                  planes that go from device to device, counted
#   test.sh BIN gpu SLABS...              a GPU has the bits of stencil27_seq; skipped where there is none
#   test.sh BIN restart SHAPE SHAPE       checkpoint with one, restart with the other: the same bits as one run
#   test.sh BIN stopped SHAPE             Ctrl-C writes a checkpoint from which the run goes on
#   test.sh BIN disk SHAPE                a full disk leaves the older checkpoint as it was
#   test.sh BIN volume SHAPE              --volume: the snapshots can be read back, after a restart, too
#   test.sh BIN messages SHAPE            bad input ends in one clear message
#   test.sh BIN thin                      stencil27_mpi refuses more planes than its neighbours have
#   test.sh BIN notices FILE OLD NEW      with a mistake in FILE, NEW for OLD, stencil27_seq finds itself wrong
#   test.sh BIN narrow FILE OLD NEW       likewise stencil27_sms on two nodes
#
# BIN: the folder with the programs. SHAPE: seq, omp-THREADS, mpi-RANKS, sms-RANKS-NODES, smint-RANKS-NODES or
# device-RANKS-NODES-DEVICES-SLABS. PYTHON has numpy.
# shellcheck disable=SC2154 # stencil.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # stencil.sh uses it
program=stencil27 here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck disable=SC1091 # it is checked by itself
source "$here/../common/stencil.sh"

naive() {
  local depth
  run seq --size 13,22,9 --start noise --steps 1 --output "$scratch/one.npy"
  for depth in 1 3; do
    run seq --size 13,22,9 --start noise --steps 8 --depth "$depth" --block-y 5 --output "$scratch/eight.npy"
    "$PYTHON" "$here/naive.py" "$scratch/one.npy" 7 "$scratch/eight.npy"
  done
}

verified() {
  local depth
  for depth in $(sizes 4 1); do
    run "$1" --size 48 --steps 128 --depth "$depth" --verify
  done
}

same() {
  local shape=$1 depth size
  shift
  for depth in $(sizes 3 1 2 4 8); do
    same_as_seq "$shape" 47,49,50 --start noise --steps 19 --depth 1 -- --depth "$depth" "$@"
  done
  same_as_seq "$shape" 50,47,49 --start noise --steps 18 --depth 1 -- --depth 4 --block-y 7 --block-z 5 "$@"
  same_as_seq "$shape" 49,50,47 --start noise --steps 8 --depth 1 -- --depth 3 --block-y 1 --block-z 1 "$@"
  for size in $(sizes 5,3,15 1,1,14 70,41,14); do # the last ranks have the boundary only, or nothing
    same_as_seq "$shape" "$size" --start noise --steps 9 --depth 1 -- --depth 4 "$@"
  done
}

# A plane with its boundary has 256 x 256 numbers, 128 pages. The planes of all halos of a side are as many as steps.
traffic() {
  local shape=$1 sides=$2 depth steps report
  for depth in 1 4 5; do
    steps=32
    report=$(run "$shape" --size 247,254,30 --steps "$steps" --depth "$depth" --verify --json)
    counter halos "$((sides * ((steps + depth - 1) / depth)))" "$report"
    [[ $shape == sms* ]] || continue
    counter pages_preloaded "$((sides * steps * 128))" "$report"
    counter pages_fetched "$((sides * steps * 128))" "$report"
    counter read_faults 0 "$report"
    counter bytes_sent 0 "$report"
  done
}

# Each of two borders is crossed both ways after each block of steps but the last one.
forwards() {
  local report
  report=$(run device-1-1-3-3 --size 247,254,30 --steps 32 --depth 4 --verify --json)
  counter forwards 28 "$report"
  counter bytes_forwarded "$((28 * 4 * 128 * 4096))" "$report"
}

gpu() {
  # shellcheck disable=SC2034 # run uses it
  local slabs depth gpu=cuda
  "$bin/hiroba" info | grep '^  cuda 0 ' >/dev/null || { echo "not run here: no GPU"; exit 77; }
  for slabs in "$@"; do
    for depth in 1 2 3 4 5; do
      same_as_seq "device-1-1-1-$slabs" 130,75,61 --start noise --steps 13 --depth 1 -- --depth "$depth"
    done
  done
  refused 2 "computes at most 5 steps at once; use a smaller --depth than 6" device-1-1-1-1 --depth 6
}

counter() { # NAME VALUE REPORT
  [[ $3 == *"\"$1\": $2,"* || $3 == *"\"$1\": $2}"* ]] || fail "$1 is not $2: $3"
}

messages() {
  local shape=$1
  common_messages "$shape"
  refused 2 "depth '0' is not BT" "$shape" --depth 0
  refused 2 "block-y 'x' is not B" "$shape" --block-y x
}

thin() { # in one run: with mpirun each refusal takes two seconds
  refused 2 "3 ranks have 4 planes each, and exchange 5; use fewer" mpi-3 --size 9 --depth 5
}

sources=(stencil27.c block.c ../common/{stencil,team,options,files,checkpoint,run,memory,volume}.c)

notices() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile -DPROGRAM='"wrong"' stencil27_seq.c "${sources[@]}"
  wrong_answer "$scratch/wrong" --size 24 --verify
}

narrow() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile_shared -DPROGRAM='"wrong"' stencil27_sms.c "${sources[@]}"
  wrong_answer "$bin/hirobarun" -n 2 --nodes 2 "$scratch/wrong" --size 24 --verify
}

"$what" "$@"
