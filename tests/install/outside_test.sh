#!/bin/bash
# Goal:   another project finds, links and runs the installed library, with torch and without; the
#         installed worker finds the PyTorch of the build.
# Method: installs to a new prefix, builds tests/install/outside against it, runs its programs and the
#         worker.
set -euo pipefail
build=$1 outside=$2 torch=$3
unset TRIREME_TORCH
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cmake --install "$build" --prefix "$temporary/prefix" >"$temporary/log"

# The project is copied, so that it cannot find files of this tree.
cp -r "$outside" "$temporary/outside"
cd "$temporary"
cmake -S outside -B made -DCMAKE_PREFIX_PATH="$temporary/prefix" -DCMAKE_BUILD_TYPE=Release \
  -DEXPECT_TORCH="$([ -n "$torch" ] && echo ON || echo OFF)"
cmake --build made
./made/without_torch
if [ -n "$torch" ]; then
  ./prefix/bin/trireme run -n 2 ./made/with_torch | tee said
  [ "$(grep -c 'of 2: slope 3.0, the same everywhere' said)" = 2 ]
  ./prefix/bin/trireme-worker describe | cmp - prefix/bin/trireme-worker.json
  # As from a package, which does not know the PyTorch of the build.
  rm prefix/share/trireme/torch
  TRIREME_TORCH="$torch" cmake -S outside -B again -DCMAKE_PREFIX_PATH="$temporary/prefix" \
    -DEXPECT_TORCH=ON
fi

if grep -rIlF -e "$build" -e "$(dirname "$outside")" prefix/lib*/cmake; then
  echo "the files above name the folder of the build" >&2
  exit 1
fi
for file in bash-completion/completions/trireme zsh/site-functions/_trireme \
  fish/vendor_completions.d/trireme.fish; do
  grep -q -e --complete "prefix/share/$file"
done
if [ -e prefix/include/trireme/testing ]; then
  echo "trireme/testing was installed; it is for our tests alone" >&2
  exit 1
fi
