#!/bin/bash
# Installs both packages on a new machine and trains with them: by hand, as root, in a Debian 12
# without Trireme, such as a container or the folder of debootstrap.
#
#   tests/install/fresh_debian.sh FOLDER     FOLDER: build/packages of `make package`
#
# It installs packages and downloads PyTorch, so it is not part of `make test`; package_test.py is.
set -euo pipefail
packages=$(realpath "${1:?name the folder with the packages}")
deb=$(echo "$packages"/trireme_*.deb) tarball=$(echo "$packages"/trireme-*.tar.gz)
[ -f "$deb" ] && [ -f "$tarball" ] || { echo "there are no packages in $packages" >&2 && exit 2; }
[ "$(id -u)" = 0 ] || { echo "only root can install packages" >&2 && exit 2; }
if command -v trireme >/dev/null; then echo "trireme is installed already" >&2 && exit 2; fi
say() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2 && exit 1; }
export DEBIAN_FRONTEND=noninteractive
work=$(mktemp -d)
cd "$work"

say "dpkg -i; apt-get installs the libraries that are missing"
apt-get update -qq
dpkg -i "$deb" || apt-get install -y -qq --no-install-recommends --fix-broken >/dev/null
trireme version
trireme explain /usr/share/trireme/recipes/csv_mlp.toml >explained
head -n 3 explained

cat >points.toml <<'RECIPE'
[model]
kind = "mlp"
hidden_sizes = [16]
[data]
kind = "csv"
train = "points.csv"
targets = ["side"]
[train]
global_batch_size = 16
epochs = 20
RECIPE
awk 'BEGIN { print "x,y,side"; for (i = 0; i < 400; i++) { x = i % 20; y = int(i / 20)
  print x "," y "," (x > y ? "below" : "above") } }' >points.csv

say "without PyTorch: what to do"
code=0
trireme train points.toml --output none 2>said || code=$?
cat said
[ "$code" = 2 ] && grep -q TRIREME_TORCH said || fail "exit code $code"

say "PyTorch in an environment of its own"
torch=$(sed -n 's/^torch *\([0-9.]*\).*/\1/p' <(trireme version))
apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
python3 -m venv torch
torch/bin/pip install -q --disable-pip-version-check "torch==$torch" numpy
TRIREME_TORCH=$(torch/bin/python -c 'import torch; print(torch.__path__[0])')
export TRIREME_TORCH
echo "$TRIREME_TORCH"

# try PROGRAM NAME: a training on two ranks, and its evaluation.
try() {
  say "$2: a training"
  "$1" train points.toml -n 2 --output "$2" | tail -n 2
  "$1" eval "$2" | tee said
  grep -q accuracy said || fail "no accuracy in what eval says"
}
try trireme deb

say "the Debian package can be removed"
dpkg -r trireme
for left in /usr/bin/trireme* /usr/*/trireme; do
  if [ -e "$left" ]; then fail "$left is left"; fi
done

mkdir "a folder"
tar -xzf "$tarball" -C "a folder"
try "$(echo "a folder"/trireme-*/bin/trireme)" tarball
say "done"
rm -rf "$work"
