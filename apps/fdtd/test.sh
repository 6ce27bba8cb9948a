#!/usr/bin/env bash
# Tests of the FDTD programs, for ctest. gates.py has those that need theory.
#
#   test.sh BIN verified SHAPE STEPS       FD1, FD2, FD3: standing wave and energy, at the limit of stability, too
#   test.sh BIN same SHAPE                 FD5: the same bits as fdtd_seq, with layers, solids, sources and probes
#   test.sh BIN restart SHAPE SHAPE        checkpoint with one, restart with the other: the same bits as one run
#   test.sh BIN stopped SHAPE              Ctrl-C writes a checkpoint from which the run goes on
#   test.sh BIN disk SHAPE                 a full disk leaves the older checkpoint as it was, and ends films and volumes
#   test.sh BIN volume SHAPE               --volume: h5dump reads the pressures back, after a restart, too
#   test.sh BIN messages SHAPE             bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW ARGUMENTS...   with a mistake in FILE, NEW for OLD, fdtd_seq finds itself wrong
#   test.sh BIN narrow                     fdtd_sms with a halo of one plane finds itself wrong on two nodes
#   test.sh BIN devices                    fdtd_device refuses too few devices
#   test.sh BIN gpu DEVICES...             GPUs have the bits of fdtd_seq; skipped where there are none
#
# BIN: the folder with the programs. SHAPE: seq, mpi-RANKS, sms-RANKS-NODES, smint-RANKS-NODES or
# device-RANKS-NODES-DEVICES-DEVICES_OF_RANK. PYTHON has numpy.
# shellcheck disable=SC2154 # shapes.sh sets bin, what and scratch
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses it
program=fdtd here=$(dirname "${BASH_SOURCE[0]}")
parts=({setup,geometry,start,order,update,record}.c ../common/{team,options,files,checkpoint,run,memory,volume}.c)
# shellcheck disable=SC1091 # it is checked by itself
source "$here/../common/shapes.sh"

# A geometry of 24 x 22 x 20 cells, solid here and there, but not in the cells that sources and probes use.
solid_cells() {
  "$PYTHON" - "$scratch/solid.npy" <<'END'
import sys
import numpy as np
solid = np.random.default_rng(7).random((20, 22, 24)) < 0.3
solid[9, 11, 12] = solid[3:17, 5:8, 4:9] = False
np.save(sys.argv[1], solid)
END
}

full_case() { # the options of a run with everything in it
  echo --solid "$scratch/solid.npy" --pml 3,4,5,2,3,4 --source 12,11,9 --probe 4:9,5:8,3:17 --probe 12,11,9 \
    --steps "$1" --film 15
}

compare() { # FOLDER FOLDER
  local file
  for file in pressure.npy probes.csv probe-1.wav film.npy; do
    cmp "$1/$file" "$2/$file" || fail "$file differs"
  done
}

# On more ranks than cores a step may take as long as a time slice, so `long` is small there.
verified() {
  local shape=$1 long=$2
  run "$shape" --size 24 --steps $((long / 5)) --verify
  run "$shape" --size 24 --steps "$long" --courant 0.4948 --verify
  run "$shape" --size 37,5,18 --steps $((long / 5)) --verify
  run "$shape" --size 17,23,29 --steps "$long" --courant 0.4948 --start noise --verify
  solid_cells
  run "$shape" --solid "$scratch/solid.npy" --steps $((long / 2)) --courant 0.4948 --start noise --seed 3 --verify
}

same() {
  local shape=$1 size depth
  solid_cells
  read -ra options <<<"$(full_case 60)"
  run seq "${options[@]}" --output "$scratch/expected" --depth 1
  for depth in $(sizes 4 1 7); do
    run "$shape" "${options[@]}" --output "$scratch/got" --depth "$depth"
    compare "$scratch/expected" "$scratch/got"
  done
  for size in $(sizes 7,1,12 1,2,9 40,33,19); do
    run seq --size "$size" --start noise --steps 20 --output "$scratch/expected"
    run "$shape" --size "$size" --start noise --steps 20 --output "$scratch/got"
    cmp "$scratch/expected/pressure.npy" "$scratch/got/pressure.npy" || fail "size $size differs"
  done
  # Rows in three tiles, with a probe and a source across their borders.
  options=(--size "9,1500,14" --pml "2,2,3,3,0,2" --steps 30 --source "4:6,600:800,5:9" --probe "3:7,500:1300,3:11")
  run seq "${options[@]}" --output "$scratch/expected" --depth 1 --film 15
  run "$shape" "${options[@]}" --output "$scratch/got" --film 15
  compare "$scratch/expected" "$scratch/got"
}

restart() {
  local first=$1 second=$2
  solid_cells
  read -ra options <<<"$(full_case 60)"
  run seq "${options[@]}" --output "$scratch/expected"
  read -ra half <<<"$(full_case 30)"
  run "$first" "${half[@]}" --output "$scratch/got" --checkpoint 7
  # the film has as many pictures as the whole run
  rm "$scratch/got/film.npy"
  run "$first" "${options[@]}" --output "$scratch/got" --checkpoint 35
  cp "$scratch/got/checkpoint" "$scratch/half"
  run "$second" "${options[@]}" --output "$scratch/got" --restart "$scratch/half"
  compare "$scratch/expected" "$scratch/got"
}

stopped() {
  local shape=$1 step
  interrupt "$shape" --size 40 --start noise --steps 1000000 --output "$scratch/long"
  run "$shape" --size 40 --start noise --steps $((step + 5)) --restart "$scratch/long/checkpoint" --output "$scratch/b"
  run seq --size 40 --start noise --steps $((step + 5)) --output "$scratch/a"
  cmp "$scratch/a/pressure.npy" "$scratch/b/pressure.npy" || fail "going on after Ctrl-C gives other bits"
}

disk() {
  local to=$scratch/small options=(--size 30 --start noise)
  # A checkpoint has 1.4 MB.
  keeps_checkpoint 2m checkpoint "$1" "${options[@]}" --steps 4 --checkpoint 2 --output "$to" \
    -- "${options[@]}" --steps 9 --restart "$to/checkpoint" --output "$scratch/after"
  run seq "${options[@]}" --steps 9 --output "$scratch/whole"
  cmp "$scratch/whole/pressure.npy" "$scratch/after/pressure.npy" || fail "the older checkpoint is not what it was"
  # Pictures of 3.6 kB, and boxes of 216 kB.
  fills_disk 500k film.npy "$1" "${options[@]}" --steps 400 --film 1 --output "$to"
  if "$bin/fdtd_seq" --size 5 --start noise --steps 1 --volume 1 --output "$scratch/try" >"$scratch/out" 2>&1; then
    fills_disk 1m volume.h5 "$1" "${options[@]}" --steps 40 --volume 4 --output "$to"
  fi
}

messages() {
  local shape=$1 to=$scratch/o
  solid_cells
  refused 2 "unknown option '--sise'; did you mean --size" "$shape" --sise 3
  refused 2 "size '3,3' is not N or NX,NY,NZ" "$shape" --size 3,3
  refused 2 "courant 0.4975 is not in \(0, 0.494872\]: above 6 / \(7 sqrt 3\) the shortest" "$shape" --courant 0.4975
  refused 2 "depth '0' is not BT" "$shape" --depth 0
  refused 2 "courant 'nan' is not a number" "$shape" --courant nan
  refused 2 "needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB; use a smaller --size" "$shape" --size 20000
  refused 2 "pml '3,4' is not L or XL" "$shape" --size 20 --pml 3,4
  refused 2 "layers of 10 and 10 cells leave nothing of the 20 cells in x" "$shape" --size 20 --pml 10
  refused 2 "solid .*none: No such file" "$shape" --solid "$scratch/none"
  refused 2 "is not an array that numpy.save has written" "$shape" --solid "${BASH_SOURCE[0]}"
  refused 2 "has 24 cells in x, --size asks for 9" "$shape" --solid "$scratch/solid.npy" --size 9
  refused 2 "probe '40,1,1' has no cells, or leaves the box, which has x from 0 to 19" "$shape" --size 20 \
    --start noise --probe 40,1,1 --output "$to"
  refused 2 "probe '0:24,0:22,0:20' is inside a solid: at cell [0-9]+,[0-9]+,[0-9]+" "$shape" \
    --solid "$scratch/solid.npy" --start noise --probe 0:24,0:22,0:20 --output "$to"
  refused 2 "nothing would sound" "$shape" --size 20 --start rest
  refused 2 "verify knows the answer for --start mode and noise only" "$shape" --size 20 --pml 4 --source 9,9,9 --verify
  refused 2 "need --output DIR" "$shape" --size 20 --start noise --probe 1,1,1
  "$PYTHON" -c 'import numpy, sys; numpy.save(sys.argv[1], [1, 2, numpy.nan, 4])' "$scratch/wave.npy"
  refused 2 "wave .* has nan at \[2\]" "$shape" --size 20 --source 9,9,9 --wave "$scratch/wave.npy"
  "$PYTHON" -c 'import numpy, sys; numpy.save(sys.argv[1], [1, 2])' "$scratch/wave.npy"
  refused 2 "has elements of type '<i8', not one of: <f8" "$shape" --size 20 --source 9,9,9 --wave "$scratch/wave.npy"
  "$PYTHON" -c 'import numpy, sys; numpy.save(sys.argv[1], [0.0] * 3 + [1e308] * 6)' "$scratch/wave.npy"
  refused 1 "the pressure is no longer finite at step [0-9]+; an older checkpoint is as it was" "$shape" --size 20 \
    --source 9,9,9 --wave "$scratch/wave.npy" --steps 9 --checkpoint 2 --output "$to"
  restarts "$shape"
}

volume() {
  local shape=$1 to=$scratch/o step read=(1.3119533527696795e-05 "$scratch/right")
  local options=(--size "20,18,21" --start noise --courant 0.45 --spacing 0.01)
  for step in 7 14 21; do
    run seq "${options[@]}" --steps "$step" --output "$scratch/right"
    mv "$scratch/right/pressure.npy" "$scratch/right-$step.npy"
  done
  run "$shape" "${options[@]}" --steps 15 --volume 7 --output "$to" --checkpoint 15
  "$PYTHON" "$common/read_series.py" "$to" "${read[@]}" 7 14
  run "$shape" "${options[@]}" --steps 24 --volume 7 --output "$to" --restart "$to/checkpoint"
  "$PYTHON" "$common/read_series.py" "$to" "${read[@]}" 7 14 21
  refused 2 "it is there from a run with another size" seq --size 9 --start noise --steps 30 --volume 7 \
    --output "$to" --restart "$(other_checkpoint)"
}

other_checkpoint() {
  run seq --size 9 --start noise --steps 8 --checkpoint 8 --output "$scratch/other" >"$scratch/out"
  echo "$scratch/other/checkpoint"
}

restarts() {
  local shape=$1 to=$scratch/o
  run seq --size 10 --start noise --steps 4 --checkpoint 2 --output "$to"
  local at=("$shape" --start noise --steps 9 --restart "$to/checkpoint")
  refused 2 "restart .*none: No such file" "$shape" --restart "$scratch/none"
  refused 2 "pressure.npy is not a checkpoint" "$shape" --restart "$to/pressure.npy"
  refused 2 "has size 10,10,10, this run 12,12,12" "${at[@]}" --size 12
  refused 2 "was written with other settings" "${at[@]}" --size 10 --courant 0.4
  refused 2 "is at step 4, --steps is only 3" "$shape" --restart "$to/checkpoint" --size 10 --start noise --steps 3
  damage() { printf '%b' "$1" | dd of="$to/checkpoint" bs=1 seek="$2" conv=notrunc status=none; }
  damage '\x01' 4000
  refused 2 "is damaged: its checksum is wrong" "${at[@]}" --size 10
  damage 'x' 8
  refused 2 "is a checkpoint of xdtd, not of fdtd" "${at[@]}" --size 10
  damage 'f' 8
  damage '\x07' 32
  refused 2 "has version 7 of the format, this program reads version 1" "${at[@]}" --size 10
  damage '\x01' 32
  truncate -s -8 "$to/checkpoint"
  refused 2 "it is damaged" "${at[@]}" --size 10
}

notices() { # FILE OLD NEW ARGUMENTS...
  change "$1" "$2" "$3"
  compile fdtd_seq.c "${parts[@]}"
  shift 3
  wrong_answer "$scratch/wrong" "$@" --verify
}

gpu() {
  # shellcheck disable=SC2034 # run uses it
  local devices gpu=cuda
  "$bin/hiroba" info | grep '^  cuda 0 ' >/dev/null || { echo "not run here: no GPU"; exit 77; }
  for devices in "$@"; do same "device-1-1-$devices-$devices"; done
}

devices() {
  refused 2 "devices 2, and a rank has 1; hirobarun --devices host:4 gives each node more" device-2-1-2-2 --steps 2
  refused 2 "devices 'x' is not K" device-1-1-1-1 --devices x
}

narrow() {
  change fdtd_sms.c "fetch(&f, a.u[2], READ_BELOW_OF_U, READ_ABOVE_OF_U)" "fetch(&f, a.u[2], 1, 1)"
  compile_shared fdtd_sms.c "${parts[@]}"
  wrong_answer "$bin/hirobarun" -n 2 --nodes 2 "$scratch/wrong" --size 24 --steps 100 --verify
}

"$what" "$@"
