#!/usr/bin/env bash
# Keeps a run: packs its log and results (tools/pack_results.py) and draws its figure as PNG. Tables of numbers and of
# statuses are kept only as Markdown.
#   tools/keep-results.sh [--unfinished] [--without-samples] RUN KEPT      e.g. results/quick-cuda results/reference/h200/quick
# KEPT is overwritten. A run with unfinished cells is refused unless --unfinished is given. With --unfinished, figure
# and page state how many cells are unfinished. --without-samples keeps the numbers, but not the samples behind them.
# Environment: PYTHON (/usr/bin/python3). Afterwards, `python3 -m plots regenerate` brings ledger, index and texts up to
# date.
set -euo pipefail
source "$(dirname "$0")/help.sh"
options=()
while [[ ${1:-} == --unfinished || ${1:-} == --without-samples ]]; do
  options+=("$1")
  shift
done
refuse_options "$@"
[[ $# -eq 2 ]] || refuse "Name RUN and KEPT."
[[ -d $1 ]] || refuse "$1 is not a folder. Give the folder of a run, such as results/smoke."
[[ -f $1/events.jsonl ]] || refuse "$1 contains no events.jsonl. Give the folder of one run with its unpacked log."
run=$1
kept=$2
whole_run=$(realpath "$run")
whole_kept=$(realpath -m "$kept")
[[ $whole_run/ != "$whole_kept"/* && $whole_kept/ != "$whole_run"/* ]] || refuse "RUN and KEPT must be two folders, and neither may contain the other."
[[ ! -e $kept || -f $kept/results.json.xz || -z $(ls -A "$kept") ]] || refuse "$kept exists and is not a kept run. Name another folder, or remove this one."
python=${PYTHON:-/usr/bin/python3}
tools=$(dirname "$0")
"$python" "$tools/pack_results.py" --check "${options[@]}" "$run" || exit 2
kind=$("$python" - "$run/results.json" <<'END'
import json, sys
config = json.load(open(sys.argv[1], encoding="utf-8"))["allocbench"]["run"]["config"]
print(config.get("plot", {}).get("kind", "status_matrix"))
END
)
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
"$python" "$tools/pack_results.py" "${options[@]}" "$run" "$packed/run"
rm -rf "$kept"
mkdir -p "$(dirname "$kept")"
mv "$packed/run" "$kept"
kept=$whole_kept
cd "$tools/.."
# Exit code 3 means that no cell is ok, so there is a table of statuses and no figure.
"$python" -m plots --formats png --out "$kept/figures" "$kept" || [[ $? -eq 3 ]]
# Tables keep only their Markdown file.
rm -f "$kept"/figures/*_status.png
case $kind in
  lines | heatmap | histogram) ;;
  *) rm -f "$kept"/figures/*.png ;;
esac
# zopflipng, if it is installed (Debian: zopfli), makes smaller files with the same pixels.
if command -v zopflipng >/dev/null; then
  for png in "$kept"/figures/*.png; do
    [[ ! -e $png ]] || zopflipng -y --filters=0 --iterations=5 "$png" "$png" >/dev/null
  done
fi
