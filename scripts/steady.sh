#!/bin/bash
# scripts/steady.sh BUILD ROUNDS BINARY...: repeats tests on a busy machine. In each round it runs
# every test binary in turn, three copies at once, beside four processes that only use the processor.
# A copy runs as three processes, each with a third of the tests (COPIES=, BURNERS= and SHARDS= set
# other numbers). It prints a line per binary and round, the output of every process that failed,
# and a summary. The exit status is 0 if all passed.
set -uo pipefail
build=$1 rounds=$2
shift 2
copies=${COPIES:-3} burners=${BURNERS:-4} shards=${SHARDS:-3}
logs=$(mktemp -d)
self=$$
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

# Ends by itself if this script was killed.
burn() {
  local i
  while kill -0 "$self" 2>/dev/null; do
    for ((i = 0; i < 200000; ++i)); do :; done
  done
}
for ((i = 0; i < burners; ++i)); do burn & done

passed=0 failed=0
for ((round = 1; round <= rounds; ++round)); do
  for binary in "$@"; do
    began=$SECONDS
    pids=()
    for ((i = 0; i < copies * shards; ++i)); do
      GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$((i % shards)) OMP_NUM_THREADS=1 \
        "$build/$binary" --gtest_brief=1 >"$logs/$i" 2>&1 </dev/null &
      pids+=($!)
    done
    bad=0
    for i in "${!pids[@]}"; do
      wait "${pids[$i]}"
      code=$?
      if [ $code = 0 ]; then
        passed=$((passed + 1))
        continue
      fi
      failed=$((failed + 1)) bad=$((bad + 1))
      echo "$binary, round $round, copy $((i / shards)), shard $((i % shards)): exit code $code"
      cat "$logs/$i"
    done
    echo "$binary: round $round of $rounds, $((${#pids[@]} - bad)) of ${#pids[@]} processes passed" \
      "($((SECONDS - began)) s)"
  done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
