#!/usr/bin/env bash
# Packs a worker with its plug-ins, and allocbench, for a machine that builds nothing.
#   tools/pack-worker.sh BACKEND ARCHIVE        e.g. cuda worker-cuda.tar.xz
# Symbols that only a debugger reads are left out. On the other machine, run `tar xf worker-cuda.tar.xz`, then
# `allocbench/allocbench --config ...`. That machine needs the shared libraries of the programs and, for cuda, libcudart
# and a driver.
# Environment: PROGRAMS (build/bin).
set -euo pipefail
source "$(dirname "$0")/help.sh"
[[ $# -eq 2 ]] || { print_help >&2; exit 2; }
backend=$1
archive=$(realpath -m "$2")
programs=$(realpath -m "${PROGRAMS:-$(dirname "$0")/../build/bin}")
worker=allocbench-worker-$backend
plugins=plugins/$backend
for part in allocbench "$worker" "$plugins"; do
  [[ -e $programs/$part ]] || { echo "$programs/$part does not exist. Build it, or set PROGRAMS." >&2; exit 2; }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/allocbench/$plugins"
strip --strip-unneeded -o "$scratch/allocbench/allocbench" "$programs/allocbench"
strip --strip-unneeded -o "$scratch/allocbench/$worker" "$programs/$worker"
for plugin in "$programs/$plugins"/*.so; do
  strip --strip-unneeded -o "$scratch/allocbench/$plugins/$(basename "$plugin")" "$plugin"
done
# The archive depends only on the programs: equal programs give equal bytes.
tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c allocbench |
  xz -9 >"$archive"
count=$(find "$scratch/allocbench/$plugins" -name '*.so' | wc -l)
echo "$archive: $(stat -c %s "$archive") bytes; unpacked $(du -sb "$scratch/allocbench" | cut -f1) bytes, $count plug-in files"
