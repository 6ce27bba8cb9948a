#!/usr/bin/env bash
# expect.sh PATTERN COMMAND...: runs the command; fails as it does, or if what it prints does not match the extended
# regular expression PATTERN as a whole. (ctest's PASS_REGULAR_EXPRESSION would ignore the exit status.)
set -u
pattern=$1
shift
output=$("$@")
status=$?
printf '%s\n' "$output"
((status == 0)) || exit "$status"
[[ $output =~ ^($pattern)$ ]] && exit
printf 'expect.sh: the output above does not match: %s\n' "$pattern" >&2
exit 1
