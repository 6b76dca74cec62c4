#!/bin/bash
# Goal:   a folder made by `make deps` contains every header-only dependency and GoogleTest.
# Method: makes one, configures with it, and checks where CMake found each part. (Compiling it all
#         again would prove little more: that folder comes first on the compiler's search path.)
set -euo pipefail
root=$1
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
for part in include/fmt include/toml++ include/CLI include/nlohmann include/xxhash.h include/boost \
    src/googletest; do
  if [ ! -e /usr/$part ]; then
    echo "SKIPPED: there is no /usr/$part here to gather from." >&2
    exit 77
  fi
done
"$root/scripts/deps.sh" "$temporary/deps"
cmake -S "$root" -B "$temporary/made" -DTRIREME_DEPS="$temporary/deps" -DTRIREME_TORCH=OFF \
  -DCMAKE_BUILD_TYPE=Release >"$temporary/log"
paths=$(grep '^TRIREME_PATH_.*:PATH=' "$temporary/made/CMakeCache.txt")
echo "$paths"
[ "$(wc -l <<<"$paths")" -ge 6 ] || { echo "CMake looked for fewer than 6 parts" >&2 && exit 1; }
if grep -v "=$temporary/deps/include$" <<<"$paths"; then
  echo "the parts above came from elsewhere" >&2
  exit 1
fi
# Only a part of Boost is in the folder.
for compiler in c++ clang++-19; do
  command -v $compiler >/dev/null || continue
  if $compiler -std=c++20 -M -I"$root" -isystem "$temporary/deps/include" \
    "$root/trireme/net/http/http_connection.cpp" | grep '/usr/include/boost'; then
    echo "$compiler needs the headers above, which the folder does not contain" >&2
    exit 1
  fi
done
[ -d "$temporary/made/googletest" ] || { echo "GoogleTest came from elsewhere" >&2 && exit 1; }
