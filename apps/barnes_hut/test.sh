#!/usr/bin/env bash
# Tests of the Barnes-Hut programs, for ctest. gates.py has those of figures.
#
#   test.sh BIN same SHAPE               bits and cells of barnes_hut_seq, with BodySort or without
#   test.sh BIN restart SHAPE SHAPE      checkpoint with one, restart with the other: the same bits as one run
#   test.sh BIN stopped SHAPE            Ctrl-C writes a checkpoint from which the run goes on
#   test.sh BIN disk SHAPE               a full disk leaves the older checkpoint as it was
#   test.sh BIN volume SHAPE             --volume: the snapshots can be read back, after a restart, too
#   test.sh BIN input SHAPE              bodies from a file, and what is refused in one
#   test.sh BIN messages SHAPE           bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, NEW for OLD, barnes_hut_seq finds itself
#                                        wrong
#   test.sh BIN lost FILE OLD NEW        likewise barnes_hut_sms on two nodes
#
# BIN: the folder with the programs. SHAPE: seq, omp-THREADS or sms-RANKS-NODES. PYTHON has numpy.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses it
program=barnes_hut here=$(dirname "${BASH_SOURCE[0]}")
parts=({barnes_hut,setup,tree,forces,check,record}.c ../common/{team,options,files,checkpoint,run,memory,volume}.c)
# shellcheck disable=SC1091 # it is checked by itself
source "$here/../common/shapes.sh"

cells() { # REPORT
  sed -n 's/.*"tree": "\([0-9a-f]*\)".*/\1/p' "$1"
}

same() {
  local shape=$1 size sort
  for size in $(sizes 700 6000 40 7 2); do
    run seq --size "$size" --steps 4 --verify --json --output "$scratch/expected.npy" >"$scratch/expected"
    for sort in 1 0 3; do
      run "$shape" --size "$size" --steps 4 --bodysort "$sort" --verify --json --output "$scratch/got.npy" \
        >"$scratch/got"
      cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "size $size, --bodysort $sort: other bits than seq"
      [[ -n $(cells "$scratch/got") && $(cells "$scratch/expected") == "$(cells "$scratch/got")" ]] ||
        fail "size $size, --bodysort $sort: other cells than seq"
    done
  done
}

restart() {
  local first=$1 second=$2
  run seq --size 3000 --steps 8 --output "$scratch/expected.npy"
  run "$first" --size 3000 --steps 5 --checkpoint "$scratch/half" --every 3
  run "$second" --restart "$scratch/half" --steps 8 --verify --output "$scratch/got.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "the restarted run differs from one without a stop"
}

stopped() {
  local shape=$1 step
  interrupt "$shape" --size 3000 --dt 1e-4 --steps 10000000 --checkpoint "$scratch/stop"
  run "$shape" --restart "$scratch/stop" --dt 1e-4 --steps $((step + 3)) --output "$scratch/got.npy"
  run seq --size 3000 --dt 1e-4 --steps $((step + 3)) --output "$scratch/expected.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "going on after Ctrl-C gives other bits"
}

disk() {
  local to=$scratch/small options=(--size 20000 --theta 1)
  # A checkpoint has 1.1 MB, and so has a snapshot.
  keeps_checkpoint 1500k c "$1" "${options[@]}" --steps 4 --checkpoint "$to/c" --every 2 \
    -- --theta 1 --steps 5 --restart "$to/c" --output "$scratch/after.npy"
  run seq "${options[@]}" --steps 5 --output "$scratch/whole.npy"
  cmp "$scratch/whole.npy" "$scratch/after.npy" || fail "the older checkpoint is not what it was"
  fills_disk 500k o.npy.part "$1" "${options[@]}" --steps 1 --output "$to/o.npy"
  if grep -q older "$scratch/out"; then fail "it names an older file, and there is none"; fi
  if "$bin/barnes_hut_seq" --size 5 --steps 1 --volume "$scratch/try" --every 1 >"$scratch/out" 2>&1; then
    fills_disk 1500k bodies.h5 "$1" "${options[@]}" --steps 4 --volume "$to" --every 1
  fi
}

volume() {
  local shape=$1 to=$scratch/o step
  for step in 2 4 6; do
    run seq --size 500 --steps "$step" --output "$scratch/right-$step.npy"
  done
  run "$shape" --size 500 --steps 5 --volume "$to" --every 2 --checkpoint "$scratch/half"
  "$PYTHON" "$here/read_bodies.py" "$to" 0.025 "$scratch/right" 2 4
  run "$shape" --restart "$scratch/half" --steps 6 --volume "$to" --every 2
  "$PYTHON" "$here/read_bodies.py" "$to" 0.025 "$scratch/right" 2 4 6
}

make_bodies() { # STATEMENT: changes the array `b`
  "$PYTHON" -c "
import sys
import numpy as np
b = np.random.default_rng(5).normal(size=(300, 7))
b[:, 6] = 1 / 300
$1
np.save(sys.argv[1], b)" "$scratch/bodies.npy"
}

input() {
  local shape=$1
  make_bodies ""
  run seq --input "$scratch/bodies.npy" --steps 3 --output "$scratch/expected.npy"
  run "$shape" --input "$scratch/bodies.npy" --steps 3 --output "$scratch/got.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "other bits than seq"
  make_bodies "b = np.concatenate([b, b * 0.9, b * 0.8]); b[1:, :3] *= 1e-9; b[0, :3] = 5" # a deep tree
  run seq --input "$scratch/bodies.npy" --steps 1 --dt 1e-9 --theta 0 --verify --output "$scratch/expected.npy"
  run "$shape" --input "$scratch/bodies.npy" --steps 1 --dt 1e-9 --theta 0 --verify --output "$scratch/got.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "a deep tree: other bits than seq"
  make_bodies "b[217, 4] = np.nan"
  refused 2 "bodies.npy: vy of body 217 is nan" "$shape" --input "$scratch/bodies.npy"
  make_bodies "b[3, 6] = 0"
  refused 2 "bodies.npy: the mass of body 3 is 0, not greater than 0" "$shape" --input "$scratch/bodies.npy"
  make_bodies "b[250, :3] = b[11, :3]"
  refused 2 "bodies 11 and 250 are in one place, \(" "$shape" --input "$scratch/bodies.npy"
  make_bodies "b[100:200, :3] = [1, 2, 3]"
  refused 2 "bodies 1[0-9]{2} and 1[0-9]{2} are in one place, \(1, 2, 3\)" "$shape" --input "$scratch/bodies.npy"
  make_bodies "b = np.concatenate([b] * 4); b[100:1100, :3] = [1, 2, 3]; b[:100] *= 1.1"
  refused 2 "bodies [0-9]+ and [0-9]+ are in one place, \(1, 2, 3\)" "$shape" --input "$scratch/bodies.npy"
  make_bodies ""
  refused 2 "bodies.npy has 300 bodies, --size has 301; leave out --size" "$shape" --input "$scratch/bodies.npy" \
    --size 301
  make_bodies "b = b[:, :6]"
  refused 2 "has shape \(300, 6\), not \(N, 7\) for x y z vx vy vz m" "$shape" --input "$scratch/bodies.npy"
  make_bodies "b = b.astype('f4')"
  refused 2 "has elements of type '<f4', not one of: <f8" "$shape" --input "$scratch/bodies.npy"
  refused 2 "cannot read --input .*none: No such file" "$shape" --input "$scratch/none"
}

messages() {
  local shape=$1
  refused 2 "unknown option '--thetta'; did you mean --theta" "$shape" --thetta 3
  refused 2 "theta 1.5 is not from 0 to 1: beyond 1" "$shape" --theta 1.5
  refused 2 "theta -0.1 is not from 0 to 1" "$shape" --theta -0.1
  refused 2 "theta 'nan' is not a number" "$shape" --theta nan
  refused 2 "softening 0 is not greater than 0" "$shape" --softening 0
  refused 2 "dt -1 is not greater than 0" "$shape" --dt -1
  refused 2 "size '0' is not N" "$shape" --size 0
  refused 2 "needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB; use a smaller --size" "$shape" --size 2000000000
  refused 2 "every needs --checkpoint" "$shape" --every 3
  refused 2 "volume needs --every" "$shape" --volume "$scratch/o"
  refused 2 "cannot write --output .*No such file" "$shape" --output "$scratch/none/x.npy"
  refused 1 "no longer finite at step [0-9]+; use a smaller --dt" "$shape" --size 100 --dt 1e308 --steps 9
  refused 1 "the answer is wrong: the energy changes by" "$shape" --size 500 --dt 1 --steps 9 --verify
  run seq --size 90 --steps 2 --checkpoint "$scratch/c" --output "$scratch/c.npy"
  refused 2 "not a checkpoint" "$shape" --restart "$scratch/c.npy"
  refused 2 "say where bodies are; leave out one" "$shape" --restart "$scratch/c" --input "$scratch/c.npy"
  refused 2 "is at step 2, --steps is only 1" "$shape" --restart "$scratch/c" --steps 1
  refused 2 "was written with other settings" "$shape" --restart "$scratch/c" --theta 0.4
  refused 2 "has 90 bodies, --size has 91; leave out --size" "$shape" --restart "$scratch/c" --size 91
  damage() { printf '%b' "$1" | dd of="$scratch/c" bs=1 seek="$2" conv=notrunc status=none; }
  damage '\x01' 4000
  refused 2 "is damaged: its checksum is wrong" "$shape" --restart "$scratch/c"
  damage 'x' 8
  refused 2 "is a checkpoint of xarnes_hut, not of barnes_hut" "$shape" --restart "$scratch/c"
  damage 'b' 8
  damage '\x07' 32
  refused 2 "has version 7 of the format, this program reads version 1" "$shape" --restart "$scratch/c"
  damage '\x01' 32
  truncate -s -8 "$scratch/c"
  refused 2 "has fields of [0-9]+ bytes, not [0-9]+: it is damaged" "$shape" --restart "$scratch/c"
  truncate -s 100 "$scratch/c"
  refused 2 "is damaged: it ends after 100 bytes" "$shape" --restart "$scratch/c"
  truncate -s 3 "$scratch/c"
  refused 2 "not a checkpoint" "$shape" --restart "$scratch/c"
}

notices() { # FILE OLD NEW ARGUMENTS...
  change "$1" "$2" "$3"
  compile -DPROGRAM='"wrong"' barnes_hut_seq.c "${parts[@]}"
  shift 3
  wrong_answer "$scratch/wrong" "$@" --verify
}

lost() { # FILE OLD NEW
  change "$1" "$2" "$3"
  compile_shared -DPROGRAM='"wrong"' barnes_hut_sms.c "${parts[@]}"
  wrong_answer "$bin/hirobarun" -n 2 --nodes 2 "$scratch/wrong" --size 3000 --verify
}

"$what" "$@"
