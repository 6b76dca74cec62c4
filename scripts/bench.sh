#!/bin/bash
# scripts/bench.sh BUILD [RESULTS]: runs every benchmark; with RESULTS, five times each and with a
# JSON file each in that folder.
set -euo pipefail
build=$1 results=${2:-}
shopt -s nullglob
programs=("$build"/bench/*_bench)
if [ ${#programs[@]} = 0 ]; then
  echo "bench: there is no benchmark in $build/bench" >&2
  exit 1
fi
for program in "${programs[@]}"; do
  arguments=()
  if [ -n "$results" ]; then
    mkdir -p "$results"
    arguments=(--benchmark_repetitions=5 --benchmark_report_aggregates_only=true
      --benchmark_out="$results/$(basename "$program").json" --benchmark_out_format=json)
  fi
  "$program" "${arguments[@]}"
done
