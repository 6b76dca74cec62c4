#!/bin/bash
# bench/start.sh BUILD: measures the run time of the program itself: `trireme run` with four ranks
# that do nothing, and `trireme version`. Uses the best of ten runs, since other work only adds to
# the time. Fails if a bar is missed.
set -euo pipefail
build=$1
# best MILLISECONDS COMMAND...: prints the best of ten runs and whether it meets the bar.
best() {
  local bar=$1 least=1000000 begin taken
  shift
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    begin=$(date +%s%N)
    "$@" >/dev/null 2>&1
    taken=$((($(date +%s%N) - begin) / 1000000))
    if [ "$taken" -lt "$least" ]; then least=$taken; fi
  done
  printf '%-32s %4d ms, bar %d ms: %s\n' "${*##*/}" "$least" "$bar" \
    "$([ "$least" -le "$bar" ] && echo met || echo MISSED)"
  [ "$least" -le "$bar" ]
}
status=0
best 100 "$build/trireme" run -n 4 /bin/true || status=1
best 30 "$build/trireme" version || status=1
exit $status
