#!/bin/bash
# bench/wires.sh BUILD TO: measures the tokens per second of gpt-wide on two ranks, over links of
# several speeds and with several synchronization strategies, compared with PyTorch's DDP. Writes
# the records to TO/wires.jsonl and the curves to TO/wire.svg. Requires root.
#
# WIRES="1e8 1e9"  bits per second   SECONDS_EACH=6  per figure, and at least two steps
set -euo pipefail
build=$1 to=$2
wires=${WIRES:-1e8 3e8 1e9 3e9 1e10} seconds=${SECONDS_EACH:-6}
mkdir -p "$to"
: >"$to/wires.jsonl"
record=$(mktemp)
trap 'rm -f "$record"' EXIT

measure() {
  "$build/trireme" bench train --model gpt-wide --ranks 2 --threads 1 --seconds "$seconds" --json "$record" "$@"
  cat "$record" >>"$to/wires.jsonl"
}
for wire in $wires; do
  measure --wire "$wire" --sync all_reduce --peers --rounds 1
  for codec in fp16 int8 int4 powersgd top_k; do
    measure --wire "$wire" --sync all_reduce --codec "$codec"
  done
  measure --wire "$wire" --sync delayed
  measure --wire "$wire" --sync diloco --every 50 --codec int8
done
"$build/trireme" plot "$to/wires.jsonl" --to "$to"
