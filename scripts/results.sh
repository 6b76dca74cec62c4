#!/bin/bash
# scripts/results.sh BUILD FOLDER: trains the recipes that have a figure to reach, prints what they
# reached, and fails where one missed it.
#
# TEXT=file     a text of about a megabyte: three small GPTs; left out where it is not named
# MNIST=folder  the four MNIST files; left out where it is not named
#
# Jobs of another build are trained anew; one of this build that was cut short goes on.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 folder=$2
version=$("$build/trireme" version | sha256sum | cut -c1-12)
jobs=$folder/jobs-$version
table=$folder/table
mkdir -p "$jobs"
: >"$table"
status=0

# row NAME FIGURE least|most BAR SECONDS [MORE]
row() {
  local verdict=reached test='>='
  if [ "$3" = most ]; then test='<='; fi
  awk "BEGIN { exit !($2 $test $4) }" || { verdict=MISSED; status=1; }
  printf '%-28s %10.4f   at %-5s %-7.4g %-8s %6s s of training%s\n' "$1" "$2" "$3" "$4" "$verdict" "$5" \
    "${6:-}" >>"$table"
}

# train NAME RECIPE WORDS...: leaves `score NAME METRIC` and `seconds NAME` to be asked.
train() {
  local name=$1 recipe=$2 ranks=auto
  shift 2
  if [ "${1:-}" = -n ]; then
    ranks=$2
    shift 2
  fi
  "$build/trireme" train "recipes/$recipe.toml" -n "$ranks" --output "$jobs/$name" --resume "$@"
  "$build/trireme" eval "$jobs/$name" --json >"$jobs/$name.score"
}
score() { sed -n "s/.*\"$2\":\([0-9.e+-]*\).*/\1/p" "$jobs/$1.score"; }
seconds() {
  awk -F'"seconds":' '/"event":"ended"/ { split($2, a, /[,}]/); sum += a[1] }
    END { printf "%.0f", sum }' "$jobs/$1/events.jsonl"
}

train fashion fashion_cnn
row fashion "$(score fashion accuracy)" least 0.91 "$(seconds fashion)"

# Fewer bytes, and agreement less often: the same recipe on two ranks.
sent() {
  awk -F'"bytes_sent_per_step":' 'NF > 1 { split($2, a, /[,}]/); sum += a[1]; n++ }
    END { if (n) printf ", %.1f kB a step", sum / n / 1e3 }' "$jobs/$1/metrics.jsonl"
}
same() {
  local name=fashion-$1
  shift
  train "$name" fashion_cnn -n 2 "$@"
  row "$name" "$(score "$name" accuracy)" least 0.90 "$(seconds "$name")" "$(sent "$name")"
}
for codec in int8 int4 sign top_k; do
  same "$codec" sync.kind=all_reduce "sync.codec.kind=$codec"
done
same powersgd sync.kind=all_reduce sync.codec.kind=powersgd sync.codec.rank=4
same local sync.kind=local sync.steps=16
same diloco sync.kind=diloco sync.steps=50
same gossip sync.kind=gossip
same delayed sync.kind=delayed

# 60 shirts for 6,000 T-shirts: without a remedy and with each.
remedy() {
  local name=shirts-$1 bar=$2
  shift 2
  train "$name" fashion_imbalanced -n 1 "$@"
  row "$name" "$(score "$name" balanced_accuracy)" least "$bar" "$(seconds "$name")"
}
remedy none 0.5
remedy weights 0.78 loss.balanced=true
remedy focal 0.78 loss.kind=focal loss.balanced=true
remedy over 0.72 data.balance=over
remedy under 0.77 data.balance=under train.epochs=30
if [ -n "${MNIST:-}" ]; then
  train mnist mnist_cnn "data.folder=$MNIST"
  row mnist "$(score mnist accuracy)" least 0.992 "$(seconds mnist)"
fi
if [ -n "${TEXT:-}" ]; then
  sum=0
  for seed in 1 2 3; do
    train "gpt-$seed" shakespeare_gpt "data.file=$TEXT" "train.seed=$seed"
    sum="$sum + $(score "gpt-$seed" loss)"
  done
  row "gpt, mean of 3" "$(awk "BEGIN { print ($sum) / 3 }")" most 1.91 "$(seconds gpt-1)"
  train gpt-diloco shakespeare_gpt -n 2 "data.file=$TEXT" sync.kind=diloco sync.steps=50
  row gpt-diloco "$(score gpt-diloco loss)" most "$(awk "BEGIN { print 1.04 * $(score gpt-1 loss) }")" \
    "$(seconds gpt-diloco)"
fi
echo
cat "$table"
exit $status
