#!/bin/bash
# scripts/clang_tidy.sh BUILD [1]: runs clang-tidy over the torch-free sources that differ from the
# last commit of the main branch; with a second argument over all of them.
set -euo pipefail
build=$1 all=${2:-}
folders=(trireme/base trireme/monitor trireme/net trireme/cluster trireme/comm trireme/console
  trireme/cli trireme/testing)
if ! command -v clang-tidy-19 >/dev/null; then
  echo "tidy: clang-tidy-19 is not installed; type: sudo apt-get install -y clang-tidy-19" >&2
  exit 1
fi
if [ -n "$all" ]; then
  files=$(git ls-files -- "${folders[@]}")
else
  files=$(git diff --name-only --diff-filter=d HEAD -- "${folders[@]}" &&
    git ls-files --others --exclude-standard -- "${folders[@]}")
fi
files=$(grep '\.cpp$' <<<"$files" || true)
[ -n "$files" ] || { echo "tidy: no source changed (ALL=1 for all)" && exit 0; }
xargs -P "$(nproc)" -n 1 clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' <<<"$files"
