#!/bin/bash
# Collects the header-only dependencies and GoogleTest's sources from this machine's Debian packages
# into a folder (default .deps) that can be copied to a machine without a package manager. OpenSSL is
# not in it: that machine needs its own, with headers.
# On that machine:  make build DEPS=/path/to/the/folder
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-.deps}

headers=(fmt toml++ CLI nlohmann xxhash.h)
packages=(libfmt-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev libxxhash-dev)
for i in "${!headers[@]}"; do
  [ -e "/usr/include/${headers[$i]}" ] || {
    echo "deps: /usr/include/${headers[$i]} is missing; type: sudo apt-get install -y ${packages[$i]}" >&2
    exit 1
  }
done
# Of Boost only the folders that its one user includes something of: 17 MB of 160. Whole folders,
# because another compiler includes other files of them.
mapfile -t boost < <("${CXX:-c++}" -std=c++20 -M -I. trireme/net/http/http_connection.cpp |
  grep -o '/usr/include/boost/[^/ ]*' | sort -u)
[ ${#boost[@]} -gt 0 ] || {
  echo "deps: /usr/include/boost is missing; type: sudo apt-get install -y libboost-dev" >&2
  exit 1
}
boost_package=$(dpkg -S /usr/include/boost/version.hpp | cut -d: -f1)  # libboost1.74-dev
[ -d /usr/src/googletest ] || {
  echo "deps: /usr/src/googletest is missing; type: sudo apt-get install -y googletest" >&2
  exit 1
}

# Creates the folder under a temporary name and moves it into place, so that an interrupted run
# leaves no incomplete folder.
new=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/include" "$new/licenses"
for i in "${!headers[@]}"; do
  cp -rL "/usr/include/${headers[$i]}" "$new/include/"
  cp -L "/usr/share/doc/${packages[$i]}/copyright" "$new/licenses/${headers[$i]}"
  printf '%s %s\n' "${packages[$i]}" \
    "$(dpkg-query -W -f '${Version}' "${packages[$i]}")" >>"$new/versions.txt"
done
mkdir "$new/include/boost"
cp -rL "${boost[@]}" "$new/include/boost/"
cp -L "/usr/share/doc/$boost_package/copyright" "$new/licenses/boost"
printf '%s %s\n' "$boost_package" "$(dpkg-query -W -f '${Version}' "$boost_package")" \
  >>"$new/versions.txt"
cp -rL /usr/src/googletest "$new/googletest"
rm -rf "$new"/googletest/*/{docs,samples,test}
cp -L /usr/share/doc/googletest/copyright "$new/licenses/googletest"
printf 'googletest %s\n' "$(dpkg-query -W -f '${Version}' googletest)" >>"$new/versions.txt"
chmod 755 "$new"
rm -rf "$target"
mv "$new" "$target"
trap - EXIT
echo "deps: $(du -sh "$target" | cut -f1) in $target; copy it and build there with" \
  "make build DEPS=/path/to/$(basename "$target")"
