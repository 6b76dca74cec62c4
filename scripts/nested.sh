#!/bin/bash
# Builds another preset next to the main build and runs its programs: the sanitizers and the
# fuzzers, which ctest runs as tests of the main build.
#
#   scripts/nested.sh build PRESET FOLDER TARGET...     configures and builds
#   scripts/nested.sh run PRESET PROGRAM ARGS...        runs with that preset's options
#   scripts/nested.sh fuzz FOLDER NAME SECONDS          runs the corpus, then SECONDS of new inputs
#
# DEPS=/path, and TORCH=/path for the presets with torch, are passed on; JOBS=n is the number of
# parallel build processes. Exits with 77, which ctest reports as skipped, if the compiler is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

build() {
  local preset=$1 folder=$2
  shift 2
  local compiler=()
  # Clang builds this faster than GCC and has libFuzzer.
  if command -v clang++-19 >/dev/null; then
    compiler=(-DCMAKE_CXX_COMPILER=clang++-19)
  fi
  local generator=()
  command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
  [ -f "$folder/CMakeCache.txt" ] && generator=()
  local torch=()
  case $preset in *-torch) torch=(-DTRIREME_TORCH="${TORCH:-auto}") ;; esac
  (cd "$root" && cmake --preset "$preset" -B "$folder" "${generator[@]}" \
    "${compiler[@]}" "${torch[@]}" -DTRIREME_DEPS="${DEPS:-}" >"$folder.log" 2>&1) || { cat "$folder.log" && exit 1; }
  [ "$preset" = asan ] && [ ${#compiler[@]} -gt 0 ] && set -- "$@" fuzzers
  cmake --build "$folder" --parallel "${JOBS:-$(nproc)}" --target "$@"
}

run() {
  local preset=$1 plain=()
  shift
  export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 ${TSAN_OPTIONS:-}"
  export ASAN_OPTIONS="detect_stack_use_after_return=1 strict_string_checks=1 ${ASAN_OPTIONS:-}"
  export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
  # Torch's libraries are not instrumented: a vector that they resize looks too short to our code,
  # and what they keep until the process ends is not ours to free.
  if [ "$preset" = asan-torch ]; then
    ASAN_OPTIONS+=" detect_container_overflow=0 detect_leaks=0"
  fi
  if [ "$preset" = tsan-torch ]; then
    TSAN_OPTIONS+=" suppressions=$root/scripts/tsan_torch.supp"
  fi
  # GCC 12's ThreadSanitizer does not work with the address randomization of newer kernels.
  if [[ $preset = tsan* ]] && setarch -R true 2>/dev/null; then plain=(setarch -R); fi
  exec "${plain[@]}" "$@"
}

fuzz() {
  local folder=$1 name=$2 seconds=$3
  local corpus=$root/fuzz/corpus/${name%_fuzz}
  if [ ! -x "$folder/$name" ]; then
    echo "SKIPPED: the fuzzers need clang-19 and libclang-rt-19-dev, which are not installed." >&2
    exit 77
  fi
  # New inputs go to the build folder; a failure saves its input there. libFuzzer's default exit
  # code for a failure is 77, which ctest would report as skipped.
  mkdir -p "$folder/found/$name"
  local seeds=() options=(-error_exitcode=1 -timeout=10 -rss_limit_mb=2048
    -artifact_prefix="$folder/found/$name-")
  if [ -d "$corpus" ]; then
    seeds=("$corpus")
    (run asan "$folder/$name" "${options[@]}" -runs=0 "$corpus") || exit 1
  fi
  run asan "$folder/$name" "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 \
    "$folder/found/$name" "${seeds[@]}"
}

"$@"
