#!/bin/bash
# scripts/bench.sh BUILD [RESULTS]: runs all benchmarks: the small ones, the loader, then training,
# recovery, balancing and the collectives compared with their peers, each with its bars. With
# RESULTS, the Google Benchmark programs run five times each, and all benchmarks write a JSON file
# into that folder. Fails if a bar was missed.
#
# The results are meaningful only on an otherwise idle machine.
set -euo pipefail
build=$1 results=${2:-}
shopt -s nullglob
if [ -n "$results" ]; then mkdir -p "$results"; fi
for program in "$build"/bench/*_bench; do
  arguments=()
  if [ -n "$results" ]; then
    arguments=(--benchmark_repetitions=5 --benchmark_report_aggregates_only=true
      --benchmark_out="$results/$(basename "$program").json" --benchmark_out_format=json)
  fi
  "$program" "${arguments[@]}"
done
status=0
if [ -x "$build/trireme-bench-data" ]; then
  "$build/trireme-bench-data" || status=1
  "$build/trireme-bench-data" --jpeg 2000 || status=1
fi
if [ -x "$build/trireme-bench-train" ]; then
  "$build/trireme" bench train --bars ${results:+--json "$results/train.json"} || status=1
  "$build/trireme" bench recovery --peers ${results:+--json "$results/recovery.json"} || status=1
fi
"$(dirname "$0")/../bench/start.sh" "$build" || status=1
"$build/trireme-bench-net" || status=1
"$(dirname "$0")/../bench/balance.sh" "$build" || [ $? = 77 ] || status=1
"$build/trireme" bench comm --bars ${results:+--json "$results/comm.json"} || status=1
exit $status
