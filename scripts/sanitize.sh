#!/bin/bash
# scripts/sanitize.sh BUILD: runs tests under ThreadSanitizer and under AddressSanitizer with UBSan:
# all tests that do not need torch, including the process tests, and the torch tests of these
# folders. `make test` runs core_tests and three ranks of conformance_tests in this way.
set -euo pipefail
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$(cd "$(dirname "$0")" && pwd)
TORCH_FOLDERS=(parallel train/recovery optim checkpoint)
status=0

for preset in tsan asan; do
  "$here/nested.sh" build $preset "$build/$preset" all
  "$here/nested.sh" run $preset ctest --test-dir "$build/$preset" --output-on-failure \
    --parallel "${JOBS:-$(nproc)}" -L 'unit|process' || status=1
done

# The GoogleTest filter of all suites in TORCH_FOLDERS.
torch_filter() {
  (cd "$here/../tests" && grep -rhoE '^(TYPED_)?TEST(_F|_P)?\(\w+' "${TORCH_FOLDERS[@]}") |
    sed 's/.*(//' | sort -u | sed 's/.*/*&.*/' | paste -sd:
}

# Runs the torch tests of a preset, as many shards at a time as there are processors.
run_torch_tests() {
  local preset=$1 shards=${JOBS:-$(nproc)} shard failed=0 pids=()
  for ((shard = 0; shard < shards; ++shard)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard OMP_NUM_THREADS=1 \
      "$here/nested.sh" run "$preset" "$build/$preset/torch_tests" --gtest_brief=1 \
      "--gtest_filter=$(torch_filter)" >"$build/$preset/shard$shard.log" 2>&1 &
    pids+=($!)
  done
  for shard in "${!pids[@]}"; do
    wait "${pids[$shard]}" || { failed=1 && echo "$preset, shard $shard failed:"; }
    cat "$build/$preset/shard$shard.log"
  done
  return $failed
}

if [ -x "$build/torch_tests" ]; then
  for preset in asan-torch tsan-torch; do
    "$here/nested.sh" build $preset "$build/$preset" torch_tests
    run_torch_tests $preset || status=1
  done
fi
exit $status
