#!/bin/bash
# scripts/sanitize.sh BUILD: runs all tests that do not need torch, including the process tests,
# under ThreadSanitizer and under AddressSanitizer with UBSan. `make test` runs core_tests and three
# ranks of conformance_tests in this way.
set -euo pipefail
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$(cd "$(dirname "$0")" && pwd)
status=0
for preset in tsan asan; do
  "$here/nested.sh" build $preset "$build/$preset" all
  "$here/nested.sh" run $preset ctest --test-dir "$build/$preset" --output-on-failure \
    --parallel "${JOBS:-$(nproc)}" -L 'unit|process' || status=1
done
exit $status
