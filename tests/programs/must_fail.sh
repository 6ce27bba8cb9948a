#!/usr/bin/env bash
# must_fail.sh [--once] TEXT COMMAND...: passes if the command fails, ends by itself within 20 seconds, and prints TEXT;
# with --once, in one line only.
set -euo pipefail
once=no
[[ $1 == --once ]] && once=yes && shift
text=$1
shift
output=$(timeout 20 "$@" 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
((status != 0)) || { echo "must_fail: it ended well" && exit 1; }
((status != 124)) || { echo "must_fail: it hung" && exit 1; }
[[ $output == *"$text"* ]] || { echo "must_fail: it did not say '$text'" && exit 1; }
[[ $once == no || $(grep -cF -- "$text" <<<"$output") == 1 ]] || { echo "must_fail: it said it twice" && exit 1; }
