#!/usr/bin/env bash
# Runs a config on the GPU, with the CUDA worker under NVIDIA's compute-sanitizer.
#   tools/compute-sanitizer.sh [TOOL...]        memcheck and synccheck by default
# Environment: CONFIG (configs/sanitize.json), PROGRAMS (build/bin), OUT (results/sanitize).
# Times measured under a sanitizer mean nothing. The exit code is 0 if every cell is ok and no error was reported.
set -euo pipefail
source "$(dirname "$0")/help.sh"
refuse_options "$@"
cd "$(dirname "$0")/.."

config=${CONFIG:-configs/sanitize.json}
programs=$(realpath "${PROGRAMS:-build/bin}")
mkdir -p "${OUT:-results/sanitize}"
out=$(realpath "${OUT:-results/sanitize}")
[[ $# -gt 0 ]] || set -- memcheck synccheck
export PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer not found: it comes with the CUDA toolkit" >&2; exit 3; }

workers=$(mktemp -d)
trap 'rm -rf "$workers"' EXIT
failed=0
for tool in "$@"; do
  rm -rf "${out:?}/$tool"
  mkdir -p "$out/$tool"
  # Only a worker with --serve uses the device. The sanitizer fails on programs that use no device.
  cat >"$workers/allocbench-worker-cuda" <<EOF
#!/usr/bin/env bash
case " \$* " in
  *" --serve "*) exec compute-sanitizer --tool $tool --log-file "$out/$tool/%p.log" "$programs/allocbench-worker-cuda" --end-in-order "\$@" ;;
  *) exec "$programs/allocbench-worker-cuda" "\$@" ;;
esac
EOF
  chmod +x "$workers/allocbench-worker-cuda"
  "$programs/allocbench" --config "$config" --backend cuda --workers "$workers" --out "$out/$tool/cells" --force --quiet || failed=1
  reports=$(cat "$out/$tool"/*.log | grep -c "ERROR SUMMARY" || true)
  clean=$(cat "$out/$tool"/*.log | grep -c "ERROR SUMMARY: 0 errors" || true)
  echo "$tool: $clean of $reports worker processes without an error; logs in $out/$tool"
  [[ $reports -gt 0 && $clean -eq $reports ]] || failed=1
done
exit $failed
