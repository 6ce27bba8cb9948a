#!/usr/bin/env bash
# together.sh COUNT PROGRAM ARGUMENTS...: runs the tests of a GoogleTest program in so many processes at once, because
# they wait more than they compute.
set -euo pipefail
export GTEST_TOTAL_SHARDS=$1 GTEST_SHARD_INDEX
shift
jobs=() status=0
for ((GTEST_SHARD_INDEX = 0; GTEST_SHARD_INDEX < GTEST_TOTAL_SHARDS; GTEST_SHARD_INDEX++)); do
  "$@" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || status=1; done
exit "$status"
