#!/bin/bash
# scripts/bench.sh BUILD [RESULTS]: runs all benchmarks: the loader, then training, recovery,
# balancing and the collectives compared with their peers, each with its bars. With RESULTS, they
# write JSON files into that folder. Fails if a bar was missed.
#
# The results are meaningful only on an otherwise idle machine.
set -euo pipefail
build=$1 results=${2:-}
if [ -n "$results" ]; then mkdir -p "$results"; fi
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
