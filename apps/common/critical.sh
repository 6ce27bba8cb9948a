# shellcheck shell=bash disable=SC2154
# Tests of applications with option --with (critical.h), for ctest. The script that sources this sets program, `small`,
# the options of a small run, and may define own_messages.
#
#   test.sh BIN right WAY SHAPE       a small run with --with WAY verifies itself
#   test.sh BIN messages SHAPE        bad input ends in one clear message
#
# BIN: the folder with the program. SHAPE: see shapes.sh.
# shellcheck disable=SC1091 # it is checked by itself
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

right() { # WAY SHAPE ARGUMENTS...
  local way=$1
  shift
  [[ $(run "$1" --verify --with "$way" "${small[@]}" "${@:2}") == *verified* ]] || fail "it is wrong: $*"
}

messages() { # SHAPE
  common_messages "$1"
  refused 2 "with 'hope' is not transactions, locks, one-lock or nothing" "$1" --with hope
  refused 2 "with nothing is for one rank with one thread, not for 2 x 1" hiroba-2-1 --with nothing
  own_messages "$1"
}

critical_test() {
  case $what in
    right | messages) "$what" "$@" ;;
    *) fail "unknown test $what" ;;
  esac
}
