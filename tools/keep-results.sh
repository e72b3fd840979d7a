#!/usr/bin/env bash
# Keeps a run for good: packs its log, results.csv and results.json, and draws its figures as PNG.
#   tools/keep-results.sh RUN KEPT      e.g. results/quick-cuda results/reference/h100/quick
# KEPT is written anew. Environment: PYTHON (python3). `python3 -m plots KEPT` draws from the packed files.
set -euo pipefail
[[ $# -eq 2 && -f $1/events.jsonl ]] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
run=$1
kept=$2
rm -rf "$kept"
mkdir -p "$kept"
for file in events.jsonl results.csv results.json; do
  gzip -9nc "$run/$file" >"$kept/$file.gz"
done
cd "$(dirname "$0")/.."
"${PYTHON:-python3}" -m plots --formats png "$(cd "$OLDPWD" && realpath "$kept")"
