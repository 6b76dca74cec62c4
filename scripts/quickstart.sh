#!/bin/bash
# Trains a first network, a CNN on Fashion-MNIST, on all cores, and suggests next steps.
#
#   scripts/quickstart.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
runs=$(mktemp -d "${TMPDIR:-/tmp}/trireme-quickstart.XXXXXX")
"$build/trireme" train recipes/fashion_cnn.toml -n auto --output "$runs/fashion"
cat <<NEXT

That was a whole job. What to try next:
  $build/trireme eval $runs/fashion                 how good it is, class by class
  $build/trireme explain recipes/fashion_cnn.toml   every setting, and where it was set
  $build/trireme train recipes/fashion_cnn.toml -n 4 train.epochs=1 sync.kind=zero1
  $build/trireme train recipes/shakespeare_gpt.toml data.file=YOUR.txt   a small GPT on your text
  build your own model: examples/04_own_model.cpp; join a loop of your own: examples/03_replicas.cpp
NEXT
