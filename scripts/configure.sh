#!/bin/bash
# scripts/configure.sh FOLDER ARGUMENTS...: runs CMake unless it ran with these arguments before.
# A build system that watches its own inputs does the rest.
set -euo pipefail
folder=$1
shift
if [ -f "$folder/configured" ] && [ "$(cat "$folder/configured")" = "$*" ]; then exit 0; fi
# The preset asks for ninja; without it, make builds as well.
generator=()
command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
if [ -f "$folder/CMakeCache.txt" ]; then generator=(); fi
cmake --preset dev -B "$folder" "${generator[@]}" "$@"
echo "$*" >"$folder/configured"
