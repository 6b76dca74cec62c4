#!/bin/bash
# scripts/test_engines.sh BUILD: expensive checks against other engines, each installed on demand
# into BUILD/engines/. They require network access the first time and are not part of `make test`.
#
#   torch 2.11   the oldest PyTorch that CMake accepts: every source that includes torch compiles
#                against its wheel (syntax only; the wheel's libraries are not loaded)
set -euo pipefail
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."

OLDEST_TORCH=2.11.0
engine=$build/engines/torch-$OLDEST_TORCH

say() { printf 'engines: %s\n' "$*"; }

install_oldest_torch() {
  [ ! -f "$engine/whole" ] || return 0
  rm -rf "$engine"
  mkdir -p "$engine"
  python3 -m venv "$engine/venv"
  say "installing torch $OLDEST_TORCH into $engine (a large download, once)"
  if ! "$engine/venv/bin/python" -m pip install -q --no-deps "torch==$OLDEST_TORCH"; then
    say "pip could not install torch $OLDEST_TORCH; check the network, then run make test-engines again" >&2
    exit 1
  fi
  touch "$engine/whole"
}

install_oldest_torch
torch=$(echo "$engine"/venv/lib/python3*/site-packages/torch)
"$here/configure.sh" "$engine/build" "-DTRIREME_TORCH=$torch" "-DTRIREME_DEPS=${DEPS:-}" >"$engine/configure.log" ||
  { cat "$engine/configure.log" >&2 && exit 1; }
python3 "$here/check_syntax.py" "$engine/build/compile_commands.json" "$torch" "${JOBS:-$(nproc)}"
