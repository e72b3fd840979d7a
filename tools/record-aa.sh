#!/usr/bin/env bash
# Measures a config several times on one card. Keeps the packed runs, with the figure of the differences between them.
#   tools/record-aa.sh KEPT [TIMES]      e.g. results/reference/h200/aa 6 (the default)
# Every run gets new worker processes for all of its rounds. KEPT/run1 ... must not exist. ALLOCBENCH_OPTIONS has
# further options of allocbench ("--device 1"). Environment: CONFIG (configs/aa.json), ALLOCBENCH
# (build/bin/allocbench), PYTHON (/usr/bin/python3).
set -euo pipefail
source "$(dirname "$0")/help.sh"
[[ $# -ge 1 && $# -le 2 ]] || { print_help >&2; exit 2; }
kept=$(realpath -m "$1")
times=${2:-6}
cd "$(dirname "$0")/.."
config=${CONFIG:-configs/aa.json}
allocbench=${ALLOCBENCH:-build/bin/allocbench}
python=${PYTHON:-/usr/bin/python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for ((number = 1; number <= times; ++number)); do
  [[ ! -e $kept/run$number ]] || { echo "$kept/run$number exists. Remove it, or name another folder." >&2; exit 2; }
done
for ((number = 1; number <= times; ++number)); do
  run=$scratch/run$number
  # With exit code 1 some cells are not ok, but all others are kept.
  # shellcheck disable=SC2086
  "$allocbench" --config "$config" --quiet --out "$run" ${ALLOCBENCH_OPTIONS:-} >/dev/null || [[ $? -eq 1 ]]
  tools/keep-results.sh "$run" "$kept/run$number" >/dev/null
  rm -r "$kept/run$number/figures"
done
"$python" -m plots aa "$kept"/run* --out "$kept" --formats png
"$allocbench" compare "$kept/run1" "$kept/run2"
