# shellcheck shell=bash disable=SC2154
# For tests of applications over tiled.h, in the place of shapes.sh.
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/shapes.sh"
export ASAN_OPTIONS=detect_leaks=0 # the runtime of GCC does not free all that it has for dependences of tasks

# The bits of the answer of a verified run.
bits() { # SHAPE ARGUMENTS...
  local report
  report=$(run "$@" --verify --json -) || fail "it failed: $*"
  [[ $report =~ \"bits\":\ \"([0-9a-f]{16})\" ]] || fail "no bits in the report of: $*: $report"
  echo "${BASH_REMATCH[1]}"
}

same_bits() { # SHAPE ARGUMENTS...: as the serial program, with the same tile and with another one
  local shape=$1 expected got
  shift
  expected=$(bits serial --tile 1000000 "$@")
  for tile in 7 31; do
    got=$(bits "$shape" --tile "$tile" "$@")
    [[ $got == "$expected" ]] || fail "$shape has other bits than serial: --tile $tile $*"
  done
}

common_messages() { # SHAPE
  local shape=$1
  refused 2 "unknown option '--tiel'; did you mean --tile" "$shape" --tiel 3
  refused 2 "tile '0' is not N.* or auto, with whole numbers from 1" "$shape" --tile 0
  refused 2 "tile '7x' is not N" "$shape" --tile 7x
  refused 2 "tile '5,6,7' is not N" "$shape" --tile 5,6,7
  refused 2 "steps 'ten' is not T" "$shape" --steps ten
  refused 2 "cannot write --json .*No such file" "$shape" --json "$scratch/none/x.json"
  [[ $(run "$shape" --help) == *"--tile "* ]] || fail "--help says nothing of --tile"
}

# The best tile is remembered for each number of ranks and threads; without a folder it is found again.
automatic() { # SHAPE ARGUMENTS...
  local shape=$1 expected file=$scratch/cache/hiroba/tiles
  shift
  export XDG_CACHE_HOME=$scratch/cache
  expected=$(run serial "$@" --json - --tile 31 | grep -o '"bits": "[^"]*"')
  [[ $(run "$shape" "$@" --tile auto --verify) == *"found by trials"* ]] || fail "no trials the first time"
  [[ $(wc -l <"$file") == 1 ]] || fail "not one line: $(<"$file")"
  grep -q "^[0-9]*,[0-9]* ${program}_.* host=$(uname -n) ranks=[0-9]* threads=[0-9]* size=[0-9]*$" "$file" ||
    fail "unexpected line: $(<"$file")"
  [[ $(run "$shape" "$@" --tile auto --verify) == *"remembered"* ]] || fail "not remembered"
  [[ $(run "$shape" "$@" --tile auto --json -) == *"$expected"* ]] || fail "other bits with --tile auto"
  sed -i 's/^[0-9]*,[0-9]* /3,3 /' "$file"
  [[ $(run "$shape" "$@" --tile auto) == *"found by trials"* ]] || fail "it takes a tile that is no candidate"
  [[ $(wc -l <"$file") == 1 ]] || fail "the line was not replaced: $(<"$file")"
  [[ $(run serial "$@" --tile auto) == *"found by trials"* ]] || fail "it takes the tile of another program"
  [[ $(wc -l <"$file") == 2 ]] || fail "not two lines: $(<"$file")"
  export XDG_CACHE_HOME=/proc/none
  [[ $(run "$shape" "$@" --tile auto --verify) == *"found by trials"* ]] || fail "it needs a folder"
}

# With a mistake in the file, NEW for OLD, in a copy of the sources, the serial program finds itself wrong. `parts`: its
# sources beside PROGRAM_serial.c, if they are not c*.c; `libraries`: what the compiler needs to find others.
notices() { # FILE OLD NEW ARGUMENTS...
  local source status=0 here
  here=$(dirname "${BASH_SOURCE[0]}")/..
  mkdir "$scratch/apps"
  cp -r "$here/$program" "$here/common" "$scratch/apps"
  source=$(<"$scratch/apps/$program/$1")
  [[ $source == *"$2"* ]] || fail "there is no '$2' in $1"
  printf '%s\n' "${source//"$2"/"$3"}" >"$scratch/apps/$program/$1"
  shift 3
  # shellcheck disable=SC2086 # several words
  (cd "$scratch/apps/$program" &&
    "${CC:-cc}" -O1 -std=gnu11 "${program}_serial.c" ${parts:-c[a-z]*.c} ../common/*.c ${libraries:-} -lm \
      -o "$scratch/wrong")
  "$scratch/wrong" "$@" --verify >"$scratch/out" 2>&1 || status=$?
  ((status == 1)) || fail "exit status $status, not 1: $(<"$scratch/out")"
  grep -q "the answer is wrong" "$scratch/out" || fail "it does not say so: $(<"$scratch/out")"
}
