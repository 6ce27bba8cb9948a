# shellcheck shell=bash disable=SC2154
# For tests of applications: one run in a shape, which is seq, serial, std, omp-THREADS, threads-THREADS, mpi-RANKS,
# omp_for-THREADS, omp_tasks-THREADS, starpu-THREADS, lapack-THREADS, mpi_for-RANKS-THREADS, mpi_tasks-RANKS-THREADS,
# sms-, smint- or global-RANKS-NODES, device-RANKS-NODES-DEVICES-SLABS (of each node and rank), or hiroba- or
# auto-RANKS-THREADS-NODES-TRANSPORT (the last two may be left out).
# `program`: the application, whose variants are in the folder `bin` as PROGRAM_VARIANT. To be sourced without
# arguments: it takes the first two of the test, `bin` and `what` is tested, and makes the folder `scratch`.
# shellcheck disable=SC2034 # for who sources this
bin=$1 what=$2
shift 2
common=$(dirname "${BASH_SOURCE[0]}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A job of MPI in every line: Open MPI does not look for networks at each start.
export OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx

fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}

# Prints the first of several sizes where `./dev test` wants everything once (tests/sets/run.py), else all of them.
sizes() { if [[ ${TESTS_ONCE:-} ]]; then echo "$1"; else echo "$*"; fi; }

run() { # SHAPE ARGUMENTS...
  local variant ranks nodes more transport
  IFS=- read -r variant ranks nodes more transport <<<"$1"
  shift
  case $variant in
    seq | serial | std) "$bin/${program}_$variant" "$@" ;;
    omp* | threads | lapack) OMP_NUM_THREADS=$ranks "$bin/${program}_$variant" "$@" ;;
    # The sanitizers know nothing of what StarPU and MPI keep until the end. With MPI the third word is threads.
    starpu) ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=$ranks "$bin/${program}_$variant" "$@" ;;
    mpi*)
      ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=${nodes:-1} mpirun -n "$ranks" --allow-run-as-root --oversubscribe \
        --bind-to none --mca mpi_yield_when_idle 1 "$bin/${program}_$variant" "$@" ;;
    sms | smint | global) "$bin/hirobarun" -n "$ranks" --nodes "$nodes" "$bin/${program}_$variant" "$@" ;;
    device)
      "$bin/hirobarun" -n "$ranks" --nodes "$nodes" --devices "${gpu:-host}:$more" "$bin/${program}_device" \
        --devices "$transport" "$@" ;;
    hiroba | auto) # Open MPI does not start root's programs unless told twice
      OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$bin/hirobarun" -n "$ranks" --threads "$nodes" \
        --nodes "${more:-1}" --transport "${transport:-auto}" "$bin/${program}_$variant" "$@" ;;
    *) fail "unknown shape $variant" ;;
  esac
}

refused() { # STATUS PATTERN SHAPE ARGUMENTS...
  local expected=$1 pattern=$2 status=0
  shift 2
  run "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [[ $status == "$expected" ]] || fail "exit status $status, not $expected, of: $*: $(<"$scratch/err")"
  [[ $(grep -Ec "$pattern" "$scratch/err") == 1 ]] || fail "no single message '$pattern' of: $*: $(<"$scratch/err")"
}

# Runs of a program that fills a small disk: the folder "$scratch/small", which has SPACE bytes.
on_small_disk() { # SPACE COMMANDS SHAPE ARGUMENTS...: the commands get them as "$@"
  local status=0 space=$1 commands=$2
  shift 2
  unshare -rm true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
  mkdir -p "$scratch/small"
  export -f run fail
  export bin program scratch
  # shellcheck disable=SC2016  # the inner shell expands it
  unshare -rm bash -euo pipefail -c 'mount -t tmpfs -o size="$0" none "$scratch/small"; '"$commands" "$space" "$@" ||
    status=$?
  ((status == 0)) || fail "status $status: $(<"$scratch/out")"
}

# The second checkpoint finds no room beside the first one, from which another run then goes on.
keeps_checkpoint() { # SPACE FILE SHAPE ARGUMENTS... -- ARGUMENTS OF THE OTHER RUN...
  # shellcheck disable=SC2016  # the inner shell expands it
  on_small_disk "$1" '
    file=$1 shape=$2 first=()
    shift 2
    while [[ $1 != -- ]]; do first+=("$1") && shift; done
    run "$shape" "${first[@]}" >"$scratch/out" 2>&1 && exit 3
    grep -q "cannot write .*/$file.part: No space left on device; an older .* is as it was" "$scratch/out" || exit 4
    [[ ! -e $scratch/small/$file.part ]] || exit 5
    run "$shape" "${@:2}"' "${@:2}"
}

# A run ends because FILE finds no room.
fills_disk() { # SPACE FILE SHAPE ARGUMENTS...
  # shellcheck disable=SC2016  # the inner shell expands it
  on_small_disk "$1" '
    status=0
    run "${@:2}" >"$scratch/out" 2>&1 || status=$?
    ((status == 1)) || exit 3
    [[ $(grep -c "cannot write .*/$1: No space left on device" "$scratch/out") == 1 ]] || exit 4' "${@:2}"
}

# What negative controls do: change a copy of the sources of the application, whose folder is `here`, compile it, and
# see that the program finds itself wrong.

change() { # FILE OLD NEW
  local source
  mkdir -p "$scratch/apps"
  cp -r "$here" "$here/../common" "$scratch/apps"
  source=$(<"$scratch/apps/${here##*/}/$1")
  [[ $source == *"$2"* ]] || fail "there is no '$2' in $1"
  printf '%s\n' "${source//"$2"/"$3"}" >"$scratch/apps/${here##*/}/$1"
}

compile() { # FILES OR OPTIONS...: gives "$scratch/wrong"
  (cd "$scratch/apps/${here##*/}" && "${CC:-cc}" -O1 -std=gnu11 "$@" -lm -o "$scratch/wrong")
}

compile_shared() { # FILES OR OPTIONS...: a program over shared arrays
  local library
  library=$(cd "$bin/../lib" && pwd)
  compile "$@" -I "$here/../../include/hiroba" -I "$here/../../include" -L "$library" -lhiroba \
    -Wl,-rpath,"$library"
}

wrong_answer() { # PROGRAM... : it ends with 1, and says that it is wrong
  local status=0
  "$@" >"$scratch/out" 2>&1 || status=$?
  ((status == 1)) || fail "exit status $status, not 1: $(<"$scratch/out")"
  grep -Eq "the answer is wrong|no longer finite" "$scratch/out" || fail "it does not say so: $(<"$scratch/out")"
}

# Starts `run ARGUMENTS`, and interrupts it as Ctrl-C does, twice, as `timeout` does; sets `step` to where it says that
# it has stopped.
interrupt() {
  local status=0 target
  run "$@" 2>"$scratch/said" >"$scratch/out" &
  local job=$!
  for _ in $(seq 100); do
    [[ -s $scratch/out ]] && break
    sleep 0.1
  done
  sleep 0.3
  target=$(pgrep -P "$job" || echo "$job")
  kill -INT "$target"
  kill -INT "$target" 2>/dev/null || true # it may have ended
  wait "$job" || status=$?
  ((status == 130)) || fail "exit status $status, not 130, after Ctrl-C: $(<"$scratch/said")"
  step=$(sed -n 's/.*stopped after step \([0-9]*\); to go on.*/\1/p' "$scratch/said")
  [[ $step ]] || fail "it does not say at which step it stopped: $(<"$scratch/said")"
}
