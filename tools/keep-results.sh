#!/usr/bin/env bash
# Keeps a run for good: packs its log and results (tools/pack_results.py), and draws its figure as PNG; tables of numbers
# and of statuses are kept as Markdown only.
#   tools/keep-results.sh RUN KEPT      e.g. results/quick-cuda results/reference/h100/quick
# KEPT is written anew. Environment: PYTHON (python3). `python3 -m plots KEPT` draws from the packed files.
set -euo pipefail
[[ $# -eq 2 && -f $1/events.jsonl ]] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
run=$1
kept=$2
python=${PYTHON:-python3}
# Kept numbers have one origin that a commit holds.
kind=$("$python" - "$run/results.json" <<'END'
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))["allocbench"]
origin = document.get("provenance", {})
if origin.get("dirty"):
    sys.exit(f"{sys.argv[1]}: the sources had changes that no commit holds. Commit them and measure again.")
if origin.get("mixed"):
    sys.exit(f"{sys.argv[1]}: cells of several revisions, cards or drivers. Measure again without --allow-mixed.")
print(document["run"]["config"].get("plot", {}).get("kind", "status_matrix"))
END
) || exit 2
rm -rf "$kept"
"$python" "$(dirname "$0")/pack_results.py" "$run" "$kept"
kept=$(realpath "$kept")
cd "$(dirname "$0")/.."
"$python" -m plots --formats png "$kept"
# A table is read in its Markdown; its picture would only take room.
rm -f "$kept"/figures/*_status.png
case $kind in
  lines | heatmap | histogram) ;;
  *) rm -f "$kept"/figures/*.png ;;
esac
