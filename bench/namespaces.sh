#!/bin/bash
# bench/namespaces.sh [--each N] BITS PROGRAM ARGUMENTS...: runs ranks of PROGRAM as if on two
# hosts: one rank (or N) in each of two network namespaces, connected by a link of BITS bits per
# second. Requires root.
#
# The namespaces have no names: the kernel removes them and the link when the last process in them
# ends. All processes are in one PID namespace, which ends with its first process; that process is
# killed when its parent dies. Nothing remains therefore, whichever process is killed, and no packet
# leaves the new namespaces.
set -euo pipefail
each=1
arguments=("$@")
if [ "${1:-}" = --each ] && [ $# -ge 2 ]; then
  each=$2
  shift 2
fi
if [ $# -lt 2 ]; then
  echo "usage: bench/namespaces.sh [--each N] BITS PROGRAM ARGUMENTS..." >&2
  exit 2
fi
if [ "$(id -u)" != 0 ]; then
  echo "SKIPPED: only root may make network namespaces" >&2
  exit 77
fi
for tool in unshare nsenter ip tc; do
  command -v $tool >/dev/null && continue
  echo "SKIPPED: $tool is missing (apt-get install iproute2 util-linux)" >&2
  exit 77
done
if [ -z "${TRIREME_BENCH_INSIDE:-}" ]; then
  if ! unshare --net --pid --mount-proc --fork true; then
    echo "SKIPPED: this root may not make namespaces, as in many containers" >&2
    exit 77
  fi
  export TRIREME_BENCH_INSIDE=1
  exec unshare --net --pid --mount-proc --fork --kill-child=KILL "$0" "${arguments[@]}"
fi

# From here on, this is process 1 of the new namespaces; the `sleep` process holds the second
# network namespace.
unset TRIREME_BENCH_INSIDE
trap 'exit 130' INT TERM HUP
bits=$1
shift
unshare --net sleep infinity &
sleeper=$!
# Wait until the `sleep` process is in its own namespace.
for _ in $(seq 500); do
  [ "$(readlink /proc/$sleeper/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
  sleep 0.01
done
beyond() { nsenter --target "$sleeper" --net -- "$@"; }

ip link add wire0 type veth peer name wire1
ip link set wire1 netns "$sleeper"
ip link set lo up && ip address add 10.77.0.1/24 dev wire0 && ip link set wire0 up
beyond ip link set lo up && beyond ip address add 10.77.0.2/24 dev wire1 &&
  beyond ip link set wire1 up
# The token bucket holds 10 ms of data at this rate, and up to four buckets of data are queued
# before packets are dropped.
bucket=$((bits / 800 > 65536 ? bits / 800 : 65536))
if ! tc qdisc add dev wire0 root tbf rate "${bits}bit" burst "$bucket" limit $((4 * bucket)); then
  echo "SKIPPED: this kernel has no token bucket (sch_tbf)" >&2
  exit 77
fi
beyond tc qdisc add dev wire1 root tbf rate "${bits}bit" burst "$bucket" limit $((4 * bucket))

TRIREME_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export TRIREME_SECRET TRIREME_SIZE=$((2 * each)) TRIREME_LOCAL_SIZE=$each
export TRIREME_JOB=wire TRIREME_STORE=tcp://10.77.0.1:4711 TRIREME_STORE_RANK=0
unset TRIREME_SECRET_FILE
# TRIREME_HOST differs, so that the ranks behave as if they were on two hosts.
ranks=()
for ((rank = each; rank < 2 * each; ++rank)); do
  TRIREME_RANK=$rank TRIREME_LOCAL_RANK=$((rank - each)) TRIREME_HOST=wire1 \
    beyond "$@" --interface wire1 &
  ranks+=($!)
done
for ((rank = 0; rank < each; ++rank)); do
  TRIREME_RANK=$rank TRIREME_LOCAL_RANK=$rank TRIREME_HOST=wire0 "$@" --interface wire0 &
  ranks+=($!)
done
code=0
for rank in "${ranks[@]}"; do
  wait "$rank" || code=$?
done
exit "$code"
