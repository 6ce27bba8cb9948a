# shellcheck shell=bash disable=SC2154
# For tests of applications in the variants serial, omp, mpi and hiroba, in the place of shapes.sh.
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/shapes.sh"
export ASAN_OPTIONS=detect_leaks=0 # a run that is refused does not free what it has
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../$program" && pwd)
# shellcheck disable=SC2034 # for who sources this
harness=("$here/../common/"*.c) # what all programs link

# The bits of the answer of a verified run.
bits() { # SHAPE ARGUMENTS...
  local report
  report=$(run "$@" --verify --json -) || fail "it failed: $*"
  [[ $report =~ \"bits\":\ \"([0-9a-f]{16})\" ]] || fail "no bits in the report of: $*: $report"
  echo "${BASH_REMATCH[1]}"
}

# As another program of this application, which is `reference`.
same_bits() { # SHAPE ARGUMENTS...
  local shape=$1 expected got
  shift
  expected=$(bits "$reference" "$@")
  got=$(bits "$shape" "$@")
  [[ $got == "$expected" ]] || fail "$shape has other bits than $reference: $*"
}

common_messages() { # SHAPE
  local shape=$1
  refused 2 "unknown option '--siez'; did you mean --size" "$shape" --siez 3
  refused 2 "size '0' is not .* with whole numbers from 1" "$shape" --size 0
  refused 2 "steps 'ten' is not T" "$shape" --steps ten
  refused 2 "cannot write --json .*No such file" "$shape" --json "$scratch/none/x.json"
  [[ $(run "$shape" --help) == *"--size "* ]] || fail "--help says nothing of --size"
}
