#!/bin/bash
# scripts/configure.sh FOLDER ARGUMENTS...: runs CMake unless it already ran with these arguments.
# The build system detects all other changes itself.
set -euo pipefail
folder=$1
shift
if [ -f "$folder/configured" ] && [ "$(cat "$folder/configured")" = "$*" ]; then exit 0; fi
# The preset requires ninja; if it is missing, use make.
generator=()
command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
if [ -f "$folder/CMakeCache.txt" ]; then generator=(); fi
cmake --preset dev -B "$folder" "${generator[@]}" "$@"
echo "$*" >"$folder/configured"
