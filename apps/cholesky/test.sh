#!/usr/bin/env bash
# Tests of the Cholesky programs, for ctest.
#
#   test.sh BIN verified SHAPE        the residual and the published determinants
#   test.sh BIN same SHAPE            the same bits as cholesky_serial, with tiles that do and do not divide the matrix
#   test.sh BIN busy SHAPE            many small tiles, again and again: nobody waits for ever, all bits are right
#   test.sh BIN indefinite SHAPE      a matrix that is not positive definite ends in one message, and it does end
#   test.sh BIN auto SHAPE            --tile auto finds a tile, and remembers it
#   test.sh BIN messages SHAPE        bad input ends in one clear message
#   test.sh BIN notices FILE OLD NEW  with a mistake in FILE, NEW for OLD, cholesky_serial finds itself wrong
#
# BIN: the folder with the programs. SHAPE: as in apps/common/shapes.sh.
set -euo pipefail
# shellcheck disable=SC2034 # shapes.sh uses bin and program
bin=$1 what=$2 program=cholesky
shift 2
here=$(dirname "${BASH_SOURCE[0]}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export STARPU_HOME=$scratch XDG_CACHE_HOME=$scratch OMP_WAIT_POLICY=passive

# shellcheck disable=SC1091 # shapes.sh is checked by itself
source "$here/../common/shapes.sh"

figure() { # NAME FILE: a number or word of a report in JSON
  sed -n "s/.*\"$1\": \"\\{0,1\\}\\([^,\"]*\\).*/\\1/p" "$2"
}

bits() { # SHAPE ARGUMENTS...
  run "$@" --verify --json "$scratch/report" >"$scratch/out"
  figure bits "$scratch/report"
}

same_bits() { # SHAPE ARGUMENTS...
  local shape=$1 expected found
  shift
  expected=$(bits serial "$@")
  found=$(bits "$shape" "$@")
  [[ $expected && $found == "$expected" ]] || fail "$shape $*: bits $found, not $expected"
}

verified() {
  local size expected
  for size in 1024 2048; do
    expected=7098.43239
    ((size == 1024)) || expected=15615.83543
    run "$1" --size "$size" --tile 128 --verify --json "$scratch/report"
    [[ $(figure logdet "$scratch/report") == "$expected"* ]] || fail "log of the determinant: $(<"$scratch/report")"
  done
}

same() {
  local shape=$1
  same_bits "$shape" --size 1 --tile 1
  same_bits "$shape" --size 7 --tile 3 --steps 2
  same_bits "$shape" --size 90 --tile 200
  same_bits "$shape" --size 128 --tile 32
  same_bits "$shape" --size 300 --tile 77 --steps 3
  same_bits "$shape" --size 257 --tile 16
}

busy() {
  same_bits "$1" --size 400 --tile 10 --steps 5
}

refused() { # STATUS PATTERN SHAPE ARGUMENTS...
  local expected=$1 pattern=$2 status=0
  shift 2
  run "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [[ $status == "$expected" ]] || fail "exit status $status, not $expected, of: $*: $(<"$scratch/err")"
  [[ $(grep -c -- "$pattern" "$scratch/err") == 1 ]] || fail "no single message '$pattern' of: $*: $(<"$scratch/err")"
}

indefinite() {
  local shape=$1 order
  for order in 1 78 203 300; do
    refused 2 "not positive definite.*leading minor of order $order .*info = $order)" "$shape" --size 300 --tile 77 \
      --steps 2 --indefinite "$order"
  done
}

auto() {
  local shape=$1
  run "$shape" --size 300 --tile auto --verify >"$scratch/out"
  grep -q "tile 64 (found by trials)" "$scratch/out" || fail "no trials: $(<"$scratch/out")"
  run "$shape" --size 300 --tile auto --verify >"$scratch/out"
  grep -q "tile 64 (remembered)" "$scratch/out" || fail "it does not remember: $(<"$scratch/out")"
}

messages() {
  local shape=$1
  refused 2 "unknown option '--sizes'; did you mean --size?" "$shape" --sizes 3
  refused 2 "--size '0' is not" "$shape" --size 0
  refused 2 "--tile '0' is not" "$shape" --tile 0
  refused 2 "--tile '8,8' is not" "$shape" --tile 8,8
  refused 2 "--indefinite 9: the diagonal has 8 numbers" "$shape" --size 8 --indefinite 9
  refused 2 "the matrix needs .* GiB of memory" "$shape" --size 2000000 --tile 40000
  refused 2 "cannot write --json .*No such file" "$shape" --size 8 --json "$scratch/none/report"
  run "$shape" --help >"$scratch/out"
  grep -q -- "--indefinite K" "$scratch/out" || fail "--help: $(<"$scratch/out")"
}

notices() { # FILE OLD NEW
  local file=$1 status=0 flags source
  cp -r "$here/../common" "$scratch/common"
  cp -r "$here" "$scratch/cholesky"
  source=$(<"$scratch/cholesky/$file")
  [[ $source == *"$2"* ]] || fail "there is no '$2' in $file"
  printf '%s\n' "${source//"$2"/"$3"}" >"$scratch/cholesky/$file"
  read -ra flags <<<"$(pkg-config --cflags --libs openblas)"
  "${CC:-cc}" -O1 -std=gnu11 "$scratch/cholesky/"{cholesky_serial,common,matrix}.c "$scratch/common/"*.c "${flags[@]}" \
    -lm -o "$scratch/wrong"
  "$scratch/wrong" --size 300 --tile 77 --verify >"$scratch/out" 2>"$scratch/err" || status=$?
  ((status == 1)) || fail "exit status $status, not 1, with '$3' for '$2'"
  grep -q "the answer is wrong" "$scratch/err" || fail "it does not say that it is wrong: $(<"$scratch/err")"
}

"$what" "$@"
