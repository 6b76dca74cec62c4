#!/bin/bash
# Goal:   every C++ file is formatted as clang-format formats it.
# Method: runs clang-format-19 without changing anything; skipped with a message if it is missing.
set -euo pipefail
cd "$1"
if ! command -v clang-format-19 >/dev/null; then
  echo "SKIPPED: clang-format-19 is not installed, so nobody checked the format." >&2
  exit 77
fi
# A badly formatted file shows that the check can fail.
if printf 'int  main( ){return 0;}\n' | clang-format-19 --dry-run -Werror \
  --assume-filename=sample.cpp >/dev/null 2>&1; then
  echo "clang-format-19 finds no fault with a badly laid out line" >&2
  exit 1
fi
find trireme tests examples bench fuzz -name '*.h' -o -name '*.cpp' -o -name '*.cu' |
  sort | xargs -r clang-format-19 --dry-run -Werror || {
  echo "Type: make format" >&2
  exit 1
}
