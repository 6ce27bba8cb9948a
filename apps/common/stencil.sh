# shellcheck shell=bash disable=SC2154
# For tests of applications over stencil.h, in the place of shapes.sh.
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/shapes.sh"

# The field of a run has the bits of the sequential one.
same_as_seq() { # SHAPE SIZE ARGUMENTS... -- ARGUMENTS OF THIS SHAPE ONLY...
  local shape=$1 size=$2 both=()
  shift 2
  while (($#)) && [[ $1 != -- ]]; do both+=("$1") && shift; done
  (($#)) && shift
  run seq --size "$size" "${both[@]}" --output "$scratch/expected.npy"
  run "$shape" --size "$size" "${both[@]}" --output "$scratch/got.npy" "$@"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "$shape $* differs from seq at size $size ${both[*]}"
}

restart() { # SHAPE SHAPE
  local first=$1 second=$2
  run seq --size 37,29,23 --steps 60 --output "$scratch/expected.npy" --slice "$scratch/expected_slice.npy"
  run "$first" --size 37,29,23 --steps 30 --checkpoint "$scratch/half" --every 7
  run "$second" --restart "$scratch/half" --steps 60 --verify --output "$scratch/got.npy" \
    --slice "$scratch/got_slice.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "the restarted run differs from one without a stop"
  cmp "$scratch/expected_slice.npy" "$scratch/got_slice.npy" || fail "the slice differs"
}

stopped() { # SHAPE
  local shape=$1 step
  interrupt "$shape" --size 60 --steps 10000000 --checkpoint "$scratch/stop"
  run "$shape" --restart "$scratch/stop" --steps $((step + 5)) --output "$scratch/got.npy"
  run seq --size 60 --steps $((step + 5)) --output "$scratch/expected.npy"
  cmp "$scratch/expected.npy" "$scratch/got.npy" || fail "going on after Ctrl-C gives other bits"
}

volume() { # SHAPE
  local shape=$1 to=$scratch/o
  for step in 7 14 21; do
    run seq --size 20,18,21 --steps "$step" --output "$scratch/right-$step.npy"
  done
  run "$shape" --size 20,18,21 --steps 15 --volume "$to" --every 7 --checkpoint "$scratch/half"
  "$PYTHON" "$common/read_series.py" "$to" 1 "$scratch/right" 7 14
  [[ $(h5dump -H "$to/volume.h5" | grep -c DATASET) == 2 ]] || fail "the file has more than the snapshots of 7 and 14"
  run "$shape" --steps 21 --volume "$to" --every 7 --restart "$scratch/half"
  "$PYTHON" "$common/read_series.py" "$to" 1 "$scratch/right" 7 14 21
  truncate -s 20000 "$to/volume.h5"
  cp "$to/volume.h5" "$scratch/damaged"
  refused 2 "cannot make or go on with .*volume.h5: it is damaged" "$shape" --steps 28 --volume "$to" --every 7 \
    --restart "$scratch/half"
  cmp "$scratch/damaged" "$to/volume.h5" || fail "a damaged volume was changed"
}

disk() { # SHAPE: a full disk leaves the older checkpoint as it was
  local file=$scratch/small/c # of 1 MB
  keeps_checkpoint 1500k c "$1" --size 48 --steps 4 --checkpoint "$file" --every 2 \
    -- --size 48 --steps 9 --restart "$file" --output "$scratch/after.npy"
  run seq --size 48 --steps 9 --output "$scratch/whole.npy"
  cmp "$scratch/whole.npy" "$scratch/after.npy" || fail "the older checkpoint is not what it was"
}

common_messages() { # SHAPE
  local shape=$1
  refused 2 "unknown option '--szie'; did you mean --size" "$shape" --szie 3
  refused 2 "size '0' is not N or NX,NY,NZ" "$shape" --size 0
  refused 2 "size '4,4' is not N or NX,NY,NZ" "$shape" --size 4,4
  refused 2 "needs [0-9.]+ GiB of memory, this machine has [0-9.]+ GiB; use a smaller --size" "$shape" --size 20000
  refused 2 "steps 'ten' is not T" "$shape" --steps ten
  refused 2 "start 'rest' is not mode or noise" "$shape" --start rest
  refused 2 "verify knows the answer of --start mode only" "$shape" --start noise --verify
  refused 2 "needs a value: --output FILE.npy" "$shape" --output
  refused 2 "every needs --checkpoint" "$shape" --every 3
  refused 2 "volume needs --every" "$shape" --volume "$scratch/o"
  refused 2 "cannot write --output .*No such file" "$shape" --output "$scratch/none/x.npy"
  refused 2 "cannot write --slice .*Is a directory" "$shape" --slice "$scratch"
  refused 2 "cannot read --restart .*No such file" "$shape" --restart "$scratch/none"
  run seq --size 8 --steps 2 --checkpoint "$scratch/eight" --output "$scratch/eight.npy"
  refused 2 "not a checkpoint" "$shape" --restart "$scratch/eight.npy"
  refused 2 "has 8,8,8 points, --size has 9,9,9" "$shape" --restart "$scratch/eight" --size 9
  refused 2 "is at step 2, --steps is only 1" "$shape" --restart "$scratch/eight" --steps 1
  refused 2 "was written with other settings" "$shape" --restart "$scratch/eight" --start noise
  printf '\x01' | dd of="$scratch/eight" bs=1 seek=4000 conv=notrunc status=none
  refused 2 "is damaged: its checksum is wrong" "$shape" --restart "$scratch/eight"
  printf 'x' | dd of="$scratch/eight" bs=1 seek=8 conv=notrunc status=none
  refused 2 "is a checkpoint of xtencil.*, not of stencil" "$shape" --restart "$scratch/eight"
  printf 's' | dd of="$scratch/eight" bs=1 seek=8 conv=notrunc status=none
  printf '\x07' | dd of="$scratch/eight" bs=1 seek=32 conv=notrunc status=none
  refused 2 "has version 7 of the format, this program reads version 1" "$shape" --restart "$scratch/eight"
  printf '\x01' | dd of="$scratch/eight" bs=1 seek=32 conv=notrunc status=none
  truncate -s -8 "$scratch/eight"
  refused 2 "it is damaged" "$shape" --restart "$scratch/eight"
}
