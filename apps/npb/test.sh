#!/usr/bin/env bash
# Tests of the NPB programs, for ctest.
#
#   test.sh BIN verified PROGRAM SHAPE [OPTIONS]    the published answer, in the report and as exit status
#   test.sh BIN messages PROGRAM SHAPE              bad input ends in one clear message
#   test.sh BIN refused PROGRAM SHAPE PATTERN       it cannot run in that shape, and says so
#   test.sh BIN notices PROGRAM SHAPE OLD NEW       with a mistake in its source, NEW for OLD, it finds itself wrong
#
# BIN: the folder with the programs. SHAPE: RANKS, or with XcalableMP RANKS-NODES or RANKS-NODES-TRANSPORT.
set -euo pipefail
bin=$1 what=$2 program=$3 shape=$4
shift 4
# In containers one is root; Open MPI wants to be told that this is meant.
((EUID)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}

# What `hiroba info` says a transport needs and has: "openmpi", "mpich", "plug-in"; nothing if it cannot be used here.
found_for() { # TRANSPORT
  "$bin/hiroba" info |
    awk -v name="$1" '/^  [a-z]/ { here = $1 == name } here && $2 ~ /^yes/ { sub(":", "", $1); print $1 }'
}

run() { # ARGUMENTS...
  local ranks nodes transport needs options
  IFS=- read -r ranks nodes transport <<<"$shape"
  options=(--transport "${transport:-shm}")
  if [[ $transport ]]; then
    needs=$(found_for "$transport" | head -n 1)
    [[ $needs == plug-in ]] || options+=(--mpi "$needs")
  fi
  case $program in
    *_seq) "$bin/$program" "$@" ;;
    *_mpi) # the sanitizers know nothing of what MPI keeps until the end
      ASAN_OPTIONS=detect_leaks=0 mpirun -n "$ranks" --allow-run-as-root --oversubscribe --bind-to none \
        --mca mpi_yield_when_idle 1 "$bin/$program" "$@" ;;
    *_xmp | *_global) "$bin/hirobarun" -n "$ranks" --nodes "$nodes" "${options[@]}" "$bin/$program" "$@" ;;
    *) fail "unknown program $program" ;;
  esac
}

verified() {
  local report
  report=$(run "$@")
  [[ $report == *"Verification    =               SUCCESSFUL"* ]] || fail "not verified: $report"
  report=$(run --json "$@")
  [[ $report == *'"verified": true'* ]] || fail "not verified: $report"
}

refused_with() { # PATTERN ARGUMENTS...
  local pattern=$1 status=0 said
  shift
  said=$(run "$@" 2>&1) || status=$?
  ((status == 2)) || fail "exit status $status, not 2, of: $*"
  [[ $(grep -c "$pattern" <<<"$said") == 1 ]] || fail "no single message '$pattern' of: $*: $said"
}

messages() {
  refused_with "unknown option '--clas'; --help lists them" --clas S
  refused_with "there is no class 'Z'; choose --class S, W, A, B or C" --class Z
  refused_with "there is no class ''" --class
  [[ $(run --help) == *"--class S|W|A|B|C"* ]] || fail "--help says nothing of --class"
}

notices() { # OLD NEW
  local benchmark=${program%_*} status=0 said source
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  cp -r "$(dirname "${BASH_SOURCE[0]}")/../"{npb,common} "$scratch"
  cd "$scratch/npb"
  source=$(<"$benchmark/$benchmark.c")
  [[ $source == *"$1"* ]] || fail "there is no '$1' in $benchmark.c"
  printf '%s\n' "${source//"$1"/"$2"}" >"$benchmark/$benchmark.c"
  "${CC:-cc}" -O1 -std=gnu11 "$benchmark/"{"$program","$benchmark"}.c npb.c -lm -o wrong
  said=$(./wrong 2>&1) || status=$?
  ((status == 1)) || fail "exit status $status, not 1, with '$2' for '$1'"
  [[ $said == *UNSUCCESSFUL* && $said == *"the answer is wrong"* ]] || fail "it does not say that it is wrong: $said"
}

if [[ $shape == *-*-* && ! $(found_for "${shape##*-}") ]]; then
  echo "skipped: transport ${shape##*-} is not to be had here"
  exit 77
fi
case $what in
  verified | messages | notices) "$what" "$@" ;;
  refused) refused_with "$1" ;;
  *) fail "unknown test $what" ;;
esac
