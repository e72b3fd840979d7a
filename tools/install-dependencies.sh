#!/usr/bin/env bash
# Installs the Debian packages that are needed to build, test and draw. If none is missing, it does nothing and needs no
# root rights.
#   tools/install-dependencies.sh [--build | --figures | --dev]
# With --build it installs only what compiling needs, with --figures also what figures need. With --dev it also installs
# what contributors use: clang-format, Chromium and other shells for tests, and Slurm for tests of studies on a cluster.
set -euo pipefail
source "$(dirname "$0")/help.sh"

build=(
  g++ cmake ninja-build git
  libboost-dev libboost-context-dev nlohmann-json3-dev libcli11-dev libfmt-dev librandom123-dev zlib1g-dev liblzma-dev
  libbenchmark-dev libgtest-dev libgmock-dev python3
)
figures=(python3-numpy python3-matplotlib python3-pandas python3-scipy python3-jsonschema)
rest=(python3-pytest python3-plotly python3-markdown libbenchmark-tools)
dev=(clang-format-14 chromium chromium-driver python3-selenium zsh fish slurm-wlm munge)
[[ $# -le 1 ]] || refuse "Give at most one option."
case "${1:-}" in
  "") packages=("${build[@]}" "${figures[@]}" "${rest[@]}") ;;
  --build) packages=("${build[@]}") ;;
  --figures) packages=("${build[@]}" "${figures[@]}") ;;
  --dev) packages=("${build[@]}" "${figures[@]}" "${rest[@]}" "${dev[@]}") ;;
  *) refuse "$1 is no option here." ;;
esac

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$status" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "This machine has no apt-get. Install these packages (Debian's names) by hand: ${missing[*]}" >&2
  exit 3
fi
as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing, and only root or sudo can install them: ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
# The output of dpkg is dropped, because `make demo` compiles at the same time. Errors go to standard error.
# `make demo` calls this script twice, and an hour-old list of packages is new enough.
if [[ -z $(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -cmin -60 -print -quit) ]]; then
  "${as_root[@]}" apt-get update -qq
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
