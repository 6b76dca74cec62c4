#!/bin/bash
# Installs the missing dependencies of the build; without the permission to install, prints the
# command to type.
#
#   scripts/setup.sh build    compiler, CMake, required libraries, torch: for `make build`
#   scripts/setup.sh all      the same and clang: for `make test`, `fuzz`, `tidy`, `format`
#   scripts/setup.sh docs     mkdocs and Doxygen alone: for `make docs`
#
# TORCH=/path/to/site-packages/torch   use that PyTorch; nothing is installed into .venv
# TORCH=OFF                            build only the parts that do not need torch
# DEPS=/path                           a machine without a package manager: install nothing
#
# It can be interrupted at any time and run again: a stamp is written last, and anything without a
# stamp is verified before it is used.
set -euo pipefail
cd "$(dirname "$0")/.."
# pip reports Ctrl-C as an ordinary failure; without this trap the script would try again.
trap 'echo "setup: interrupted; run make again to go on where it stopped" >&2; exit 130' INT TERM

TORCH_PIN=2.13.0
PYTHON_PACKAGES=("torch==$TORCH_PIN" numpy)
TEST_PYTHON_PACKAGES=(safetensors tensorboard)            # tests read Trireme's files with them
DOCS_PYTHON_PACKAGES=(mkdocs==1.6.1 mkdocs-material==9.8.1)

# Each line: packages, and what needs them.
BUILD_PACKAGES=(
  build-essential cmake ninja-build                       # compiler and build
  ccache                                                  # fast rebuilds
  python3-venv python3-pip                                # the torch wheel
  libfmt-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev libxxhash-dev  # header-only
  libboost-dev                                            # HTTP to etcd; header-only, too
  libssl-dev                                              # OpenSSL
  libgtest-dev libgmock-dev                               # tests
  dataset-fashion-mnist                                   # data of the quickstart
)
TEST_PACKAGES=(iproute2 util-linux)                       # tests use network interfaces
DOCS_PACKAGES=(doxygen python3-venv python3-pip)
# If one of these is missing, the part that needs it is disabled, and the build reports it.
OPTIONAL_BUILD_PACKAGES=(
  zlib1g-dev libzstd-dev libjpeg62-turbo-dev libpng-dev libopenmpi-dev openmpi-bin
)
OPTIONAL_TEST_PACKAGES=(
  clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19
  etcd-server                                             # tests with a job's state in etcd
  openssh-server openssh-client                           # tests with several hosts
  slurm-wlm munge                                         # tests under Slurm
  zsh fish                                                # tests of their completion
)

level=${1:-all}
torch=${TORCH:-auto}
deps=${DEPS:-}
case $level in build | all | docs) ;; *) echo "usage: scripts/setup.sh build|all|docs" >&2 && exit 2 ;; esac

say() { printf 'setup: %s\n' "$*"; }
# The first line is the problem; the others are printed without a prefix, so that they can be
# copied.
fail() {
  printf 'setup: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '%s\n' "$@" >&2; fi
  exit 1
}

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s ' "$package"
  done
}

# Prints the command prefix that allows installing, or nothing. Sudo may ask for a password if there
# is a terminal.
root_prefix() {
  if [ "$(id -u)" = 0 ]; then
    echo env
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    echo sudo
  fi
}

install_packages() {
  local wanted missing optional prefix
  wanted=("${BUILD_PACKAGES[@]}")
  optional=("${OPTIONAL_BUILD_PACKAGES[@]}")
  if [ "$level" = all ]; then
    wanted+=("${TEST_PACKAGES[@]}")
    optional+=("${OPTIONAL_TEST_PACKAGES[@]}")
  elif [ "$level" = docs ]; then
    wanted=("${DOCS_PACKAGES[@]}")
    optional=()
  fi
  missing=$(missing_packages "${wanted[@]}")
  optional=$(missing_packages "${optional[@]}")
  [ -n "$missing$optional" ] || return 0
  prefix=$(root_prefix)
  if [ -z "$prefix" ]; then
    if [ -z "$missing" ]; then
      say "going on without optional packages: $optional"
      return 0
    fi
    fail "Debian packages are missing, and there is neither root nor a sudo that works here." \
      "Type this, then run make again:" "" \
      "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing$optional" ""
  fi
  say "installing Debian packages: $missing$optional"
  export DEBIAN_FRONTEND=noninteractive
  # An interrupted earlier run may have left packages unpacked but not configured.
  $prefix dpkg --configure -a >/dev/null || true
  $prefix apt-get update -qq || say "apt-get update failed; trying with the lists at hand"
  # shellcheck disable=SC2086
  if [ -n "$missing" ] && ! apt_install "$prefix" $missing; then
    fail "apt-get could not install them. Type this to see why:" "" \
      "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing" ""
  fi
  # shellcheck disable=SC2086
  if [ -n "$optional" ] && ! apt_install "$prefix" $optional; then
    local package
    for package in $optional; do
      apt_install "$prefix" "$package" || say "going on without $package: apt-get has no such package"
    done
  fi
}

apt_install() {
  local prefix=$1
  shift
  $prefix env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# True if every file of the pinned wheels exists with its recorded size: pip does not detect the
# incomplete files of an interrupted run.
venv_is_whole() {
  [ -x .venv/bin/python ] && .venv/bin/python - "$TORCH_PIN" torch numpy "$@" <<'PYTHON' 2>/dev/null
import importlib.metadata, os, sys
for name in sys.argv[2:]:
    package = importlib.metadata.distribution(name)
    assert name != "torch" or package.version.split("+")[0] == sys.argv[1]
    for file in package.files:
        assert not file.size or os.path.getsize(file.locate()) == file.size
PYTHON
}

install_torch() {
  if venv_is_whole; then return 0; fi
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "making .venv"
    python3 -m venv --clear .venv ||
      fail "python3 cannot make .venv. Type: sudo apt-get install -y python3-venv python3-pip"
  fi
  say "installing ${PYTHON_PACKAGES[*]} into .venv (a large download, once)"
  .venv/bin/python -m pip install -q --disable-pip-version-check "${PYTHON_PACKAGES[@]}" || true
  if venv_is_whole; then return 0; fi
  say "the wheels are incomplete; installing them again"
  .venv/bin/python -m pip install -q --disable-pip-version-check --force-reinstall \
    "${PYTHON_PACKAGES[@]}" || true
  venv_is_whole ||
    fail "pip could not install torch==$TORCH_PIN. Type this to see why:" "" \
      "  .venv/bin/python -m pip install ${PYTHON_PACKAGES[*]}" "" \
      "or name a PyTorch 2.11 or newer that you have:  make build TORCH=/path/to/site-packages/torch"
}

# Packages that only tests need. If they are missing, the tests skip these comparisons and report
# it.
install_test_packages() {
  if venv_is_whole "${TEST_PYTHON_PACKAGES[@]}"; then return 0; fi
  say "installing ${TEST_PYTHON_PACKAGES[*]} into .venv"
  .venv/bin/python -m pip install -q --disable-pip-version-check "${TEST_PYTHON_PACKAGES[@]}" || true
  if venv_is_whole "${TEST_PYTHON_PACKAGES[@]}"; then return 0; fi
  .venv/bin/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps \
    "${TEST_PYTHON_PACKAGES[@]}" || true
  venv_is_whole "${TEST_PYTHON_PACKAGES[@]}" ||
    say "going on without ${TEST_PYTHON_PACKAGES[*]}: pip could not install them"
}

# They have a virtual environment of their own, so that the site needs no torch.
install_docs_packages() {
  say "installing ${DOCS_PYTHON_PACKAGES[*]} into .venv.docs"
  python3 -m venv --clear .venv.docs ||
    fail "python3 cannot make .venv.docs. Type: sudo apt-get install -y python3-venv python3-pip"
  .venv.docs/bin/python -m pip install -q --disable-pip-version-check \
    "${DOCS_PYTHON_PACKAGES[@]}" ||
    fail "pip could not install them. Type this to see why:" "" \
      "  .venv.docs/bin/python -m pip install ${DOCS_PYTHON_PACKAGES[*]}" ""
}

# Without a package manager nothing is installed; this only checks.
check_bare_machine() {
  local tool absent=()
  if [ "$level" = docs ]; then return 0; fi
  for tool in c++ cmake; do
    command -v $tool >/dev/null || absent+=("$tool")
  done
  command -v ninja >/dev/null || command -v make >/dev/null || absent+=(ninja)
  [ ${#absent[@]} = 0 ] || fail "DEPS=$deps: install by hand what it cannot bring: ${absent[*]}"
  [ -d "$deps/include" ] || fail "DEPS=$deps has no include/ folder; make one with: make deps"
}

if [ -n "$deps" ]; then
  check_bare_machine
  exit 0
fi

stamp=.setup-stamp
pins=$(sha256sum <scripts/setup.sh | cut -c1-16)
is_stamped() {
  if [ "$level" = docs ]; then
    grep -qxF "$pins docs $torch" $stamp 2>/dev/null && [ -x .venv.docs/bin/mkdocs ] &&
      command -v doxygen >/dev/null
    return
  fi
  grep -qxF -e "$pins $level $torch" -e "$pins all $torch" $stamp 2>/dev/null &&
    command -v c++ >/dev/null && command -v cmake >/dev/null &&
    { [ "$torch" != auto ] || { [ -f .venv/.whole ] && [ -x .venv/bin/python ]; }; }
}
if is_stamped; then exit 0; fi

if command -v apt-get >/dev/null; then
  install_packages
else
  say "no apt-get here; install by hand what CMake finds missing. On Debian it would be:"
  say "${BUILD_PACKAGES[*]} ${OPTIONAL_BUILD_PACKAGES[*]}"
fi
if [ "$level" = docs ]; then
  install_docs_packages
elif [ "$torch" = auto ]; then
  install_torch
  if [ "$level" = all ]; then install_test_packages; fi
  touch .venv/.whole
fi
{
  grep -F "$pins " $stamp 2>/dev/null || true
  echo "$pins $level $torch"
} >$stamp.new
mv $stamp.new $stamp
say "done"
