#!/usr/bin/env bash
# Keeps a run for good: packs its log, results.csv and results.json, and draws its figures as PNG.
#   tools/keep-results.sh RUN KEPT      e.g. results/quick-cuda results/reference/h100/quick
# KEPT is written anew. Environment: PYTHON (python3). `python3 -m plots KEPT` draws from the packed files.
# The `benchmarks` of results.json, one entry per sample for Google Benchmark's tools, are left out: they are most of
# it. `allocbench report` writes them again from the log.
set -euo pipefail
[[ $# -eq 2 && -f $1/events.jsonl ]] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
run=$1
kept=$2
python=${PYTHON:-python3}
# Kept numbers have one origin that a commit holds.
"$python" - "$run/results.json" <<'END' || exit 2
import json, sys
origin = json.load(open(sys.argv[1], encoding="utf-8"))["allocbench"].get("provenance", {})
if origin.get("dirty"):
    sys.exit(f"{sys.argv[1]}: the sources had changes that no commit holds. Commit them and measure again.")
if origin.get("mixed"):
    sys.exit(f"{sys.argv[1]}: cells of several revisions, cards or drivers. Measure again without --allow-mixed.")
END
rm -rf "$kept"
mkdir -p "$kept"
for file in events.jsonl results.csv; do
  gzip -9nc "$run/$file" >"$kept/$file.gz"
done
"$python" -c 'import json, sys
document = json.load(sys.stdin)
document["benchmarks"] = []
json.dump(document, sys.stdout, separators=(",", ":"), ensure_ascii=False)' <"$run/results.json" | gzip -9nc >"$kept/results.json.gz"
cd "$(dirname "$0")/.."
"$python" -m plots --formats png "$(cd "$OLDPWD" && realpath "$kept")"
