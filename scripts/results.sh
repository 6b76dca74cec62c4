#!/bin/bash
# scripts/results.sh BUILD FOLDER: trains the recipes that have a figure to reach, and prints what they reached.
#
# TEXT=file     a text of about a megabyte: three small GPTs; left out where it is not named
# MNIST=folder  the four MNIST files; left out where it is not named
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 folder=$2
mkdir -p "$folder"

train() {
  local name=$1 recipe=$2
  shift 2
  if [ ! -f "$folder/$name/config.toml" ]; then
    "$build/trireme" train "recipes/$recipe.toml" -n auto --output "$folder/$name" "$@"
  fi
  printf '%-24s %s\n' "$name" "$("$build/trireme" eval "$folder/$name" --json)" >>"$folder/table"
}

rm -f "$folder/table"
train fashion fashion_cnn
if [ -n "${MNIST:-}" ]; then train mnist mnist_cnn "data.folder=$MNIST"; fi
if [ -n "${TEXT:-}" ]; then
  for seed in 1 2 3; do train "gpt-$seed" shakespeare_gpt "data.file=$TEXT" "train.seed=$seed"; done
fi
echo
cat "$folder/table"
