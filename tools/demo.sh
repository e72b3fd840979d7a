#!/usr/bin/env bash
# Runs configs/smoke.json with built programs on the best back end of this machine and draws its figures.
set -euo pipefail
source "$(dirname "$0")/help.sh"
[[ $# -eq 0 ]] || refuse "This script takes no argument, but $1 is given."
cd "$(dirname "$0")/.."
[[ -x build/bin/allocbench ]] || refuse "build/bin/allocbench does not exist. Build it, measure and draw with: make demo."

out=results/smoke
build/bin/allocbench --config configs/smoke.json --out "$out" --force
echo
/usr/bin/python3 -m plots "$out"
