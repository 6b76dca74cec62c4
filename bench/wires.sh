#!/bin/bash
# bench/wires.sh BUILD TO: tokens a second of gpt-wide on two ranks, over wires of several speeds and in
# several ways, beside PyTorch's DDP; TO/wires.jsonl has the records, TO/wire.svg the curves. Root only.
#
# WIRES="1e8 1e9"  bits a second   SECONDS_EACH=6  for each figure, and at least two steps
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
