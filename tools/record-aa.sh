#!/usr/bin/env bash
# Measures configs several times on one card. Keeps the packed runs, with one page and one picture of the differences
# between runs of the same config.
#   tools/record-aa.sh KEPT [TIMES [FIRST]]      e.g. results/reference/h200/aa 6 1 (6 and 1 are the defaults)
# Each time, new worker processes measure all configs as one plan. The runs of config aa become KEPT/run1 ..., and those
# of aa_cycle become run1 ... in the folder aa_cycle beside KEPT. These folders must not exist. For runs on a second
# card, FIRST is the number of the first new run, such as 7. ALLOCBENCH_OPTIONS has further options of allocbench
# ("--device 1"). Environment: CONFIGS (configs/aa.json configs/aa_*.json), ALLOCBENCH (build/bin/allocbench), PYTHON
# (/usr/bin/python3).
set -euo pipefail
source "$(dirname "$0")/help.sh"
refuse_options "$@"
[[ $# -ge 1 && $# -le 3 ]] || refuse "Name KEPT, and no more than TIMES and FIRST beside it."
for number in "${@:2}"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || refuse "TIMES and FIRST must be whole numbers from 1, but $number is given."
done
kept=$(realpath -m "$1")
times=${2:-6}
first=${3:-1}
last=$((first + times - 1))
cd "$(dirname "$0")/.."
configs=${CONFIGS:-configs/aa.json $(echo configs/aa_*.json)}
allocbench=${ALLOCBENCH:-build/bin/allocbench}
python=${PYTHON:-/usr/bin/python3}
for program in "$allocbench" "$python"; do
  command -v "$program" >/dev/null || refuse "$program does not exist. Build allocbench (make), or set ALLOCBENCH or PYTHON."
done
for config in $configs; do
  [[ -f $config ]] || refuse "$config does not exist. Correct CONFIGS."
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder_of() { if [[ $1 == aa ]]; then echo "$kept"; else echo "$(dirname "$kept")/$1"; fi; }
mkdir "$scratch/configs"
folders=()
for config in $configs; do
  cp "$config" "$scratch/configs"
  folders+=("$(folder_of "$(basename "$config" .json)")")
  for ((number = first; number <= last; ++number)); do
    run=${folders[-1]}/run$number
    [[ ! -e $run ]] || { echo "$run exists. Remove it, or name another folder." >&2; exit 2; }
  done
done
for ((number = first; number <= last; ++number)); do
  # With exit code 1 some cells are not ok, but all others are kept.
  # shellcheck disable=SC2086
  "$allocbench" study configs --configs "$scratch" --no-figures --quiet --out "$scratch/run$number" \
    ${ALLOCBENCH_OPTIONS:-} >/dev/null || [[ $? -eq 1 ]]
  for config in $configs; do
    name=$(basename "$config" .json)
    run=$(folder_of "$name")/run$number
    tools/keep-results.sh "$scratch/run$number/$name" "$run" >/dev/null
    rm -r "$run/figures"
  done
done
"$python" -m plots aa "${folders[@]}" --out "$kept" --formats png
for folder in "${folders[@]}"; do
  ((times == 1)) || "$allocbench" compare "$folder/run$first" "$folder/run$((first + 1))"
done
