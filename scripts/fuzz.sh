#!/bin/bash
# scripts/fuzz.sh BUILD SECONDS: runs every fuzz target for SECONDS, one after another.
set -euo pipefail
build=$1 seconds=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$(cd "$(dirname "$0")" && pwd)
"$here/nested.sh" build asan "$build/asan" trireme_core
for source in "$here"/../fuzz/*_fuzz.cpp; do
  name=$(basename "$source" .cpp)
  echo "fuzz: $name for $seconds s"
  "$here/nested.sh" fuzz "$build/asan/fuzz" "$name" "$seconds"
done
