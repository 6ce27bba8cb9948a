#!/usr/bin/env bash
# Tests of the stencil programs, for ctest.
#
#   test.sh BIN same SHAPE [OPTIONS]      several sizes: verified, and the same bits as stencil_seq
#   test.sh BIN restart SHAPE SHAPE       checkpoint with one, restart with the other: the same bits as one run
#   test.sh BIN messages SHAPE            bad input ends in one clear message
#
# BIN: the folder with the programs. SHAPE: seq, omp-THREADS, mpi-RANKS or sms-RANKS-NODES.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses it
program=stencil
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/../common/shapes.sh"

# 48 is the size in docs; the others have odd pages, ranks that own only a boundary plane, and ranks that own nothing.
same() {
  local shape=$1 size
  shift
  for size in 48 33,20,17 70,41,5 5,3,3 2,1,2; do
    run seq --size "$size" --steps 40 --verify --output "$scratch/expected.npy"
    run "$shape" --size "$size" --steps 40 --verify --output "$scratch/got.npy" "$@"
    cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "$shape $* differs from stencil_seq at size $size"
  done
}

restart() {
  local first=$1 second=$2
  run seq --size 37,29,23 --steps 60 --output "$scratch/expected.npy" --slice "$scratch/expected_slice.npy"
  run "$first" --size 37,29,23 --steps 30 --checkpoint "$scratch/half" --every 7
  run "$second" --restart "$scratch/half" --steps 60 --verify --output "$scratch/got.npy" \
    --slice "$scratch/got_slice.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "the restarted run differs from one without a stop"
  cmp "$scratch/expected_slice.npy" "$scratch/got_slice.npy" || fail "the slice differs"
}

messages() {
  local shape=$1
  refused 2 "unknown option '--szie'; did you mean --size" "$shape" --szie 3
  refused 2 "size '0' is not N or NX,NY,NZ" "$shape" --size 0
  refused 2 "size '4,4' is not N or NX,NY,NZ" "$shape" --size 4,4
  refused 2 "steps 'ten' is not T" "$shape" --steps ten
  refused 2 "needs a value: --output FILE.npy" "$shape" --output
  refused 2 "every needs --checkpoint" "$shape" --every 3
  refused 2 "cannot write --output .*No such file" "$shape" --output "$scratch/none/x.npy"
  refused 2 "cannot write --slice .*Is a directory" "$shape" --slice "$scratch"
  refused 2 "cannot read --restart .*No such file" "$shape" --restart "$scratch/none"
  run seq --size 8 --steps 2 --checkpoint "$scratch/eight" --output "$scratch/eight.npy"
  refused 2 "not a checkpoint" "$shape" --restart "$scratch/eight.npy"
  refused 2 "holds 8,8,8 points, --size asks for 9,9,9" "$shape" --restart "$scratch/eight" --size 9
  refused 2 "has 2 steps behind it, --steps is only 1" "$shape" --restart "$scratch/eight" --steps 1
  truncate -s -8 "$scratch/eight"
  refused 2 "it is damaged" "$shape" --restart "$scratch/eight"
  # A field that is not the solution: a checkpoint with a 1.0 on the boundary.
  run seq --size 8 --steps 2 --checkpoint "$scratch/eight"
  printf '\xf0\x3f' | dd of="$scratch/eight" bs=1 seek=4006 conv=notrunc status=none
  refused 1 "the answer is wrong" "$shape" --restart "$scratch/eight" --verify
  [[ $shape == seq ]] || refused 2 "8 ranks are more than the 3 planes" "sms-8-1" --size 9,9,1
}

"$what" "$@"
