#!/bin/bash
# scripts/results.sh BUILD FOLDER: trains the recipes that have a target figure, prints the results,
# writes them to the table in docs/results.md, and fails if a target was missed.
#
# TEXT=file     a text of about a megabyte, for small GPTs and an LSTM; skipped if not given
# MNIST=folder  the four MNIST files; skipped if not given
# ONLY="a b"    only these names of this script; the table keeps the rows of the others
# QUICK=1       a few steps of everything, as a smoke test: ignores targets, writes no table
#
# Jobs of another build are trained again; an interrupted job of this build is continued.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 folder=$2
page=docs/results.md
quick=${QUICK:-}
version=$("$build/trireme" version | sha256sum | cut -c1-12)
jobs=$folder/${quick:+quick-}jobs-$version
table=$folder/table
rows=$folder/rows.md
mkdir -p "$jobs"
: >"$table"
: >"$rows"
status=0

wanted() { [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]]; }

# row NAME FIGURE least|most BAR SECONDS WORDS [MORE]: prints the figure, the training time, and the
# recipe with its overrides.
row() {
  local verdict=reached test='>='
  if [ "$3" = most ]; then test='<='; fi
  awk "BEGIN { exit !($2 $test $4) }" || { verdict=MISSED; status=1; }
  if [ -n "$quick" ]; then verdict=quick status=0; fi
  printf '%-28s %10.4f   at %-5s %-7.4g %-8s %6s s of training%s\n' "$1" "$2" "$3" "$4" "$verdict" "$5" \
    "${7:-}" >>"$table"
  printf '| %s | %.4f | %s %.4g | %s | `%s`%s |\n' "$1" "$2" "at $3" "$4" "$5" "$6" "${7:-}" >>"$rows"
}

# Replaces the rows with the same names between the page's marks and keeps the others.
write_page() {
  awk -F'|' -v rows="$rows" '
    BEGIN {
      while ((getline line < rows) > 0) {
        split(line, cell, "|")
        if (!(cell[2] in row)) order[++count] = cell[2]
        row[cell[2]] = line
      }
    }
    /<!-- results: end -->/ {
      for (i = 1; i <= count; i++) if (!(order[i] in done)) print row[order[i]]
      inside = 0
    }
    inside && ($2 in row) { print row[$2]; done[$2] = 1; next }
    { print }
    /<!-- results: begin -->/ { inside = 1 }
  ' "$page" >"$folder/page.md"
  cp "$folder/page.md" "$page"
}

# train NAME RECIPE WORDS...: trains a job, for use with `score NAME METRIC`, `seconds NAME` and
# `words NAME`.
train() {
  local name=$1 recipe=$2 ranks=auto
  shift 2
  if [ "${1:-}" = -n ]; then
    ranks=$2
    shift 2
  fi
  # The page is read on other machines, so it must not contain local paths.
  printf 'recipes/%s.toml%s' "$recipe" "${*:+ }$*" |
    sed -e "s|$jobs/|runs/|g" -e "s|${MNIST:-\$^}|MNIST|g" -e "s|${TEXT:-\$^}|TEXT|g" >"$jobs/$name.words"
  if [ -n "$quick" ]; then set -- "$@" train.steps=6 eval.every=1000; fi
  "$build/trireme" train "recipes/$recipe.toml" -n "$ranks" --output "$jobs/$name" --resume=auto "$@"
  "$build/trireme" eval "$jobs/$name" --json >"$jobs/$name.score"
}
words() { cat "$jobs/$1.words"; }
score() { sed -n "s/.*\"$2\":\([0-9.e+-]*\).*/\1/p" "$jobs/$1.score"; }
seconds() {
  awk -F'"seconds":' '/"event":"ended"/ { split($2, a, /[,}]/); sum += a[1] }
    END { printf "%.0f", sum }' "$jobs/$1/events.jsonl"
}

# draw NAME PICTURE=FILE... [-- JOBS...]: copies the plots of a job, or of several jobs in one
# picture, to docs/pictures/.
draw() {
  local name=$1 pictures=() others=() pair
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    pictures+=("$1")
    shift
  done
  for other in "${@:2}"; do others+=("$jobs/$other"); done
  "$build/trireme" plot "$jobs/$name" "${others[@]}" --to "$folder/plots/$name"
  if [ -n "$quick" ]; then return; fi
  mkdir -p docs/pictures
  for pair in "${pictures[@]}"; do cp "$folder/plots/$name/${pair%%=*}.svg" "docs/pictures/${pair#*=}.svg"; done
}

mean() { printf '%s\n' "$@" | awk '{ sum += $1 } END { printf "%.6f", sum / NR }'; }

# measure NAME METRIC least|most BAR RECIPE WORDS...: trains a job and adds its row.
measure() {
  local name=$1 metric=$2 test=$3 bar=$4
  shift 4
  wanted "$name" || return 0
  train "$name" "$@"
  row "$name" "$(score "$name" "$metric")" "$test" "$bar" "$(seconds "$name")" "$(words "$name")"
}

measure fashion accuracy least 0.91 fashion_cnn
if wanted fashion; then draw fashion loss=fashion-loss confusion=fashion-confusion; fi

# An ensemble of five networks, compared with the mean of its members: the best member is known only
# after the test.
if wanted ensemble; then
  train fashion fashion_cnn
  all=$(score fashion accuracy) sum=$(seconds fashion) others=
  for seed in 2 3 4 5; do
    train "fashion-seed-$seed" fashion_cnn "train.seed=$seed"
    all+=" $(score "fashion-seed-$seed" accuracy)"
    sum=$((sum + $(seconds "fashion-seed-$seed")))
    others+=,$jobs/fashion-seed-$seed
  done
  "$build/trireme" eval "$jobs/fashion" --with "${others#,}" --json | sed 's/"members":\[.*//' \
    >"$jobs/ensemble.score"
  row ensemble "$(score ensemble accuracy)" least "$(mean $all)" "$sum" \
    "recipes/fashion_cnn.toml" ", seeds 1 to 5; the mean of one alone is the target, the best has $(printf '%.4f' "$(printf '%s\n' $all | sort -g | tail -1)")"
fi

# A residual network with at most a million parameters, within twenty minutes; then fine-tuning it
# for another task, compared with training the same network from scratch.
measure resnet accuracy least 0.93 fashion_resnet
if wanted resnet; then
  row "resnet, seconds" "$(seconds resnet)" most 1200 "$(seconds resnet)" "$(words resnet)"
fi
if wanted finetune && [ -n "${MNIST:-}" ]; then
  train resnet fashion_resnet
  few=() tuned=()
  for seed in 1 2 3; do
    train "few-$seed" mnist_few "data.folder=$MNIST" "train.seed=$seed"
    train "finetune-$seed" mnist_few "data.folder=$MNIST" "train.seed=$seed" "model.load=$jobs/resnet" \
      'model.load_fresh=["fc.*"]'
    few+=("$(score "few-$seed" accuracy)") tuned+=("$(score "finetune-$seed" accuracy)")
  done
  row finetune "$(mean "${tuned[@]}")" least "$(mean "${few[@]}")" "$(seconds finetune-1)" \
    "recipes/mnist_few.toml model.load=runs/resnet 'model.load_fresh=[\"fc.*\"]'" \
    ", mean of seeds 1, 2, 3; from scratch is the target"
fi

# Five folds of a logistic regression.
if wanted crossval; then
  few=()
  if [ -n "$quick" ]; then few=(train.steps=6); fi
  "$build/trireme" crossval recipes/fashion_logistic.toml --folds 5 -n auto \
    --output "$jobs/crossval" "${few[@]}"
  part() { sed -n "/\"$1\": {/,/}/s/.*\"accuracy\": \([0-9.e+-]*\).*/\1/p" "$jobs/crossval/folds.json"; }
  sum=0
  for fold in "$jobs"/crossval/fold-*; do sum=$((sum + $(seconds "crossval/${fold##*/}"))); done
  row crossval "$(part mean)" least 0.84 "$sum" \
    "trireme crossval recipes/fashion_logistic.toml --folds 5" \
    ", deviation $(printf %.4f "$(part deviation)")"
fi

# A picture without a figure: one row per class.
if wanted gan; then
  train gan fashion_gan
  draw gan samples=gan
  echo "gan                          drawn: $folder/plots/gan/samples.svg, $(seconds gan) s of training" >>"$table"
  echo "| gan | drawn: [pictures](pictures/gan.svg) | | $(seconds gan) | \`$(words gan)\` |" >>"$rows"
fi

# Gradient compression and local-update methods: the same recipe on two ranks. A metrics line covers
# the steps since the previous line; if it has no byte count, nothing was sent in these steps.
sent() {
  awk 'function value(key) {
      return match($0, "\"" key "\":[0-9.eE+-]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
    }
    /"loss":/ && value("step") + 0 > last {
      sum += value("bytes_sent_per_step") * (value("step") - last)
      last = value("step") + 0
    }
    END { if (sum) printf ", %.1f kB a step", sum / last / 1e3 }' "$jobs/$1/metrics.jsonl"
}
same() {
  local name=fashion-$1
  shift
  wanted "$name" || return 0
  train "$name" fashion_cnn -n 2 "$@"
  row "$name" "$(score "$name" accuracy)" least 0.90 "$(seconds "$name")" "$(words "$name")" "$(sent "$name")"
}
for codec in int8 int4 top_k; do
  same "$codec" sync.kind=all_reduce "sync.codec.kind=$codec"
done
# With one sign bit per element and one scale per block, Adam cannot learn the scale of each weight
# well; it learns it during the warmup.
same sign sync.kind=all_reduce sync.codec.kind=sign sync.codec.warmup=200
same powersgd sync.kind=all_reduce sync.codec.kind=powersgd sync.codec.rank=4
same local sync.kind=local sync.steps=16
same diloco sync.kind=diloco sync.steps=50
same gossip sync.kind=gossip
same delayed sync.kind=delayed
if wanted curves; then
  draw fashion-int8 loss=codecs-loss -- fashion-int4 fashion-sign fashion-top_k fashion-powersgd
  draw fashion-delayed loss=kinds-loss -- fashion-local fashion-diloco fashion-gossip
fi

# 60 shirts and 6,000 T-shirts: without any remedy and with each remedy.
remedy() {
  local name=shirts-$1 bar=$2
  shift 2
  measure "$name" balanced_accuracy least "$bar" fashion_imbalanced -n 1 "$@"
}
remedy none 0.5
remedy weights 0.78 loss.balanced=true
remedy focal 0.78 loss.kind=focal loss.balanced=true
remedy over 0.72 data.balance=over
remedy under 0.77 data.balance=under train.epochs=30
if [ -n "${MNIST:-}" ]; then
  measure mnist accuracy least 0.992 mnist_cnn "data.folder=$MNIST"
fi
if [ -n "${TEXT:-}" ] && wanted gpt; then
  sum=0
  for seed in 1 2 3; do
    train "gpt-$seed" shakespeare_gpt "data.file=$TEXT" "train.seed=$seed"
    sum="$sum + $(score "gpt-$seed" loss)"
  done
  row gpt "$(awk "BEGIN { print ($sum) / 3 }")" most 1.91 "$(seconds gpt-1)" \
    "recipes/shakespeare_gpt.toml" ", mean of seeds 1, 2, 3"
  train gpt-diloco shakespeare_gpt -n 2 "data.file=$TEXT" sync.kind=diloco sync.steps=50
  row gpt-diloco "$(score gpt-diloco loss)" most "$(awk "BEGIN { print 1.04 * $(score gpt-1 loss) }")" \
    "$(seconds gpt-diloco)" "recipes/shakespeare_gpt.toml sync.kind=diloco sync.steps=50"
fi
if [ -n "${TEXT:-}" ] && wanted lstm; then
  train lstm shakespeare_lstm "data.file=$TEXT"
  row lstm "$(score lstm loss)" most 1.6 "$(seconds lstm)" "recipes/shakespeare_lstm.toml"
fi
# The same GPT on tokens. A loss per token is not comparable with a loss per character, so it is
# converted.
if [ -n "${TEXT:-}" ] && wanted bpe; then
  "$build/trireme" tokenizer train "$TEXT" --vocabulary 2048 --to "$jobs/tokenizer"
  "$build/trireme" tokenizer encode "$jobs/tokenizer" "$TEXT" --to "$jobs/tokens.bin"
  tokens=$(($(stat -c %s "$jobs/tokens.bin") / 2)) characters=$(wc -m <"$TEXT")
  train bpe shakespeare_bpe "data.file=$TEXT" "data.tokenizer=$jobs/tokenizer"
  row bpe "$(awk "BEGIN { print $(score bpe loss) * $tokens / $characters }")" most 1.55 \
    "$(seconds bpe)" "recipes/shakespeare_bpe.toml" \
    ", a character; $(printf %.3f "$(score bpe loss)") a token"
fi
if [ -z "$quick" ]; then write_page; fi
echo
cat "$table"
exit $status
