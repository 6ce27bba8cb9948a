#!/usr/bin/env bash
# must_fail.sh TEXT COMMAND...: passes if the command fails, ends by itself within 20 seconds, and prints TEXT.
set -euo pipefail
text=$1
shift
output=$(timeout 20 "$@" 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
((status != 0)) || { echo "must_fail: it ended well" && exit 1; }
((status != 124)) || { echo "must_fail: it hung" && exit 1; }
[[ $output == *"$text"* ]] || { echo "must_fail: it did not say '$text'" && exit 1; }
