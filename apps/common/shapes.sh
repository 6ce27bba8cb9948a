# shellcheck shell=bash disable=SC2154
# For tests of applications: one run in a shape, which is seq, omp-THREADS, mpi-RANKS or mpi-RANKS-THREADS, or
# sms-RANKS-NODES, smint-RANKS-NODES and the like; serial, omp_tasks-THREADS, mpi_for-RANKS-THREADS and so on where an
# application has several of a kind. `program`: the application, whose variants are in the folder `bin` as
# PROGRAM_VARIANT.

fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}

run() { # SHAPE ARGUMENTS...
  local variant ranks nodes
  IFS=- read -r variant ranks nodes <<<"$1"
  shift
  case $variant in
    seq | serial) "$bin/${program}_$variant" "$@" ;;
    omp_tasks) # the runtime of GCC does not free all that it has for dependences
      ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=$ranks "$bin/${program}_$variant" "$@" ;;
    omp | omp_* | lapack | starpu) OMP_NUM_THREADS=$ranks "$bin/${program}_$variant" "$@" ;;
    mpi | mpi_*) # the sanitizers know nothing of what MPI keeps until the end
      ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=${nodes:-1} mpirun -n "$ranks" --allow-run-as-root --oversubscribe \
        --bind-to none --mca mpi_yield_when_idle 1 "$bin/${program}_$variant" "$@" ;;
    sms | smint) "$bin/hirobarun" -n "$ranks" --nodes "$nodes" "$bin/${program}_$variant" "$@" ;;
    *) fail "unknown shape $variant" ;;
  esac
}
