#!/usr/bin/env bash
# on_gpu.sh HIROBA COMMAND...: runs the command where `hiroba info` lists a device of NVIDIA; else ctest shows it as
# skipped.
set -euo pipefail
tool=$1
shift
if ! "$tool" info | grep '^  cuda 0 ' >/dev/null; then
  echo "not run here: no GPU"
  exit 77
fi
exec "$@"
