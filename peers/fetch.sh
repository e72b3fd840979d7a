#!/usr/bin/env bash
# Clones the authors' code of allocators that peers/ can wrap, each at the commit that the wrapper was written for, and says
# under which licence it comes.
#   peers/fetch.sh [gallatin|mallocmc|ouroboros]...      all by default
# Environment: ALLOCBENCH_PEER_FOLDER (peers/checkouts), where the clones go.
set -euo pipefail
source "$(dirname "$0")/../tools/help.sh"

folder=${ALLOCBENCH_PEER_FOLDER:-$(dirname "$(realpath "$0")")/checkouts}

fetch() {
  local name=$1 url=$2 commit=$3 licence=$4
  if [[ ! -d $folder/$name/.git ]]; then
    git init --quiet "$folder/$name"
    git -C "$folder/$name" remote add origin "$url"
  fi
  git -C "$folder/$name" fetch --quiet --depth 1 origin "$commit"
  git -C "$folder/$name" checkout --quiet "$commit"
  echo "$name: $url at ${commit:0:12}, licence: $licence ($folder/$name/LICENSE)" >&2
  entries+=("$name=$folder/$name")
}

entries=()
for peer in "${@:-gallatin mallocmc ouroboros}"; do
  for name in $peer; do
    case $name in
      gallatin) fetch gallatin https://github.com/saltsystemslab/gallatin 1aa70ade136c3c2042e2a9c2f25565aa56168a0f "BSD 3-Clause" ;;
      mallocmc) fetch mallocmc https://github.com/alpaka-group/mallocMC dce5c92d7b571f81bf45fcff54d4bfb586e89a77 MIT ;;
      ouroboros) fetch ouroboros https://github.com/GPUPeople/Ouroboros 9153c55abffb3bceb5aea4028dfcc00439b046d5 MIT ;;
      *)
        echo "fetch.sh: there is no peer \"$name\". Allowed: gallatin, mallocmc, ouroboros." >&2
        exit 2
        ;;
    esac
  done
done
(IFS=';' && echo "Configure with: cmake --preset release -DALLOCBENCH_PEERS=\"${entries[*]}\"")
