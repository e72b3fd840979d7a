#!/usr/bin/env bash
# Runs configs/smoke.json with built programs on the best back end of this machine and draws its figures.
set -euo pipefail
source "$(dirname "$0")/help.sh"
cd "$(dirname "$0")/.."

out=results/smoke
build/bin/allocbench --config configs/smoke.json --out "$out" --force
echo
/usr/bin/python3 -m plots "$out"
