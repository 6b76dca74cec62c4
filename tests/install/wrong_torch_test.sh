#!/bin/bash
# Goal:   an unsuitable PyTorch is refused at configure time, with a remedy.
# Method: folders that look like a torch wheel, each wrong in one way.
set -euo pipefail
cmake=$1
module=$(cd "$(dirname "$0")/../.." && pwd)/cmake/TriremeTorch.cmake
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# expect VERSION_FILE_TEXT WORDS: importing such a folder fails and says WORDS.
expect() {
  local folder=$temporary/torch output
  rm -rf "$folder"
  if [ -n "$1" ]; then
    mkdir -p "$folder/lib" "$folder/include/torch"
    touch "$folder/lib/libtorch_cpu.so"
    echo "$1" >"$folder/version.py"
  fi
  printf 'include("%s")\ntrireme_import_torch("%s")\n' "$module" "$folder" >"$temporary/try.cmake"
  if output=$("$cmake" -DCMAKE_CXX_COMPILER="${CXX:-c++}" -P "$temporary/try.cmake" 2>&1); then
    echo "accepted: $1" >&2
    exit 1
  fi
  output=$(tr -s ' \n' ' ' <<<"$output")
  if ! grep -qF "$2" <<<"$output"; then
    printf 'the message for "%s" lacks "%s":\n%s\n' "$1" "$2" "$output" >&2
    exit 1
  fi
}

expect "" "is no PyTorch"
expect "__version__ = '2.10.1+cpu'" "PyTorch 2.10.1+cpu in"
expect "__version__ = '2.10.1+cpu'" "needs 2.11 or newer"
expect "__version__ = '1.13.0'" "is too old"
expect "nothing" "is too old"
# A suitable one passes the checks; in script mode CMake then stops at creating the target.
expect "__version__ = '2.11.0'" "add_library command is not scriptable"
expect "__version__ = '3.0.0a0+git1234'" "add_library command is not scriptable"
