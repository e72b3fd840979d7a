#!/usr/bin/env bash
# Packs a worker with its plug-ins, and allocbench, for a machine that builds nothing.
#   tools/pack-worker.sh BACKEND ARCHIVE        e.g. cuda worker-cuda.tar.xz
# Symbols that only a debugger reads are left out. On the other machine, run `tar xf worker-cuda.tar.xz`, then
# `allocbench/allocbench --config ...`. That machine needs the shared libraries of the programs and, for cuda, libcudart
# and a driver.
# Environment: PROGRAMS (build/bin).
set -euo pipefail
source "$(dirname "$0")/help.sh"
refuse_options "$@"
[[ $# -eq 2 ]] || refuse "Name BACKEND and ARCHIVE."
backend=$1
archive=$(realpath -m "$2")
programs=$(realpath -m "${PROGRAMS:-$(dirname "$0")/../build/bin}")
worker=allocbench-worker-$backend
plugins=plugins/$backend
for part in allocbench "$worker" "$plugins"; do
  [[ -e $programs/$part ]] || { echo "$programs/$part does not exist. Build it, or set PROGRAMS." >&2; exit 2; }
done
if [[ -e $archive ]]; then
  [[ ! -d $archive && -w $archive ]] || refuse "$archive cannot be written. Name another file."
else
  { : >"$archive" && rm "$archive"; } 2>/dev/null || refuse "$archive cannot be written. Name a file in an existing folder that you may write to."
fi

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
