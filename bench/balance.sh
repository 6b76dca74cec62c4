#!/bin/bash
# bench/balance.sh BUILD: trains on two ranks, one of which is limited to a third of a core (cgroup
# quota), with balancing off and on, in turns. Prints the samples per second of both and their
# ratio; fails if the ratio is below the bar of 1.4. Requires root.
set -euo pipefail
build=$(realpath "$1")
steps=${STEPS:-240} rounds=${ROUNDS:-3}
controller=/sys/fs/cgroup/cpu
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then controller=/sys/fs/cgroup; fi
group=$controller/trireme-balance-$$
if [ "$(id -u)" != 0 ] || ! mkdir "$group" 2>/dev/null; then
  echo "SKIPPED: only root may make control groups, and not in every container" >&2
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"; rmdir "$group" 2>/dev/null || true' EXIT
if [ -f "$group/cpu.max" ]; then
  echo "33000 100000" >"$group/cpu.max"
else
  echo 100000 >"$group/cpu.cfs_period_us"
  echo 33000 >"$group/cpu.cfs_quota_us"
fi

# The worker of rank 1 enters the cgroup before it starts the real worker.
cat >"$folder/worker" <<END
#!/bin/sh
if [ "\${TRIREME_RANK:-0}" = 1 ]; then echo \$\$ >"$group/cgroup.procs"; fi
exec "$build/trireme-worker" "\$@"
END
chmod +x "$folder/worker"
cat >"$folder/recipe.toml" <<'END'
[model]
kind = "cnn"
[data]
kind = "synthetic"
task = "images"
sizes = [1, 28, 28]
count = 12800
[train]
global_batch_size = 128
num_threads = 1
[eval]
every = 1000000
[balance]
every = 10
END

# Samples per second over the second half of the steps, after the shares have settled.
speed() {
  rm -rf "$folder/job"
  "$build/trireme" train "$folder/recipe.toml" -n 2 --worker "$folder/worker" --output "$folder/job" \
    "train.steps=$steps" "balance.kind=$1" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }
  awk -F'[:,]' -v half=$((steps / 2)) '{
      for (i = 1; i < NF; i++) {
        if ($i ~ /"step"/) step = $(i + 1)
        if ($i ~ /"samples_per_second"/) speed = $(i + 1)
      }
      if (step > half && speed > 0) { time += 1 / speed; n++ }
    } END { printf "%.1f", n / time }' "$folder/job/metrics.jsonl"
}

best_off=0 best_on=0
for round in $(seq "$rounds"); do
  off=$(speed off) on=$(speed proportional)
  echo "round $round: off $off samples/s, proportional $on"
  best_off=$(awk "BEGIN { print ($off > $best_off) ? $off : $best_off }")
  best_on=$(awk "BEGIN { print ($on > $best_on) ? $on : $best_on }")
done
ratio=$(awk "BEGIN { printf \"%.2f\", $best_on / $best_off }")
echo "balance on against off, best against best: $ratio x (ideal 2.0, bar 1.4)"
awk "BEGIN { exit !($ratio >= 1.4) }"
