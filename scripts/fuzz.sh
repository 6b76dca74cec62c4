#!/bin/bash
# scripts/fuzz.sh BUILD SECONDS: every fuzz target for SECONDS, one after the other.
set -euo pipefail
build=$1 seconds=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$(cd "$(dirname "$0")" && pwd)
"$here/nested.sh" build fuzz "$build/fuzz" all
for source in "$here"/../fuzz/*_fuzz.cpp; do
  name=$(basename "$source" .cpp)
  echo "fuzz: $name for $seconds s"
  "$here/nested.sh" fuzz "$build/fuzz/fuzz" "$name" "$seconds"
done
