#!/bin/bash
# Goal:   without the permission to install missing packages, set-up prints the command to type,
#         installs nothing, and leaves no stamp that would hide the missing packages next time.
# Method: runs a copy of the script where dpkg-query, id and sudo are stand-ins.
set -euo pipefail
setup=$(cd "$(dirname "$0")/../.." && pwd)/scripts/setup.sh
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir -p "$temporary/scripts" "$temporary/bin"
cp "$setup" "$temporary/scripts/"
fake() { printf '#!/bin/bash\n%s\n' "$2" >"$temporary/bin/$1" && chmod +x "$temporary/bin/$1"; }
fake dpkg-query '[[ " $* " != *" libcli11-dev "* ]] && echo installed'
fake id 'echo 1000'
fake sudo 'exit 1'
fake apt-get 'echo called >>"$(dirname "$0")/called"'

if output=$(PATH=$temporary/bin:$PATH TORCH=OFF DEPS= "$temporary/scripts/setup.sh" build 2>&1 </dev/null); then
  echo "set-up claims success without libcli11-dev: $output" >&2
  exit 1
fi
grep -q 'sudo apt-get install -y --no-install-recommends libcli11-dev' <<<"$output" ||
  { printf 'it does not say what to type:\n%s\n' "$output" >&2 && exit 1; }
[ ! -e "$temporary/bin/called" ] || { echo "apt-get was called" >&2 && exit 1; }
[ ! -e "$temporary/.setup-stamp" ] || { echo "a stamp was left" >&2 && exit 1; }

# With all packages installed it succeeds, and a second run trusts the stamp.
fake dpkg-query 'echo installed'
PATH=$temporary/bin:$PATH TORCH=OFF DEPS= "$temporary/scripts/setup.sh" build >/dev/null
fake dpkg-query 'echo called >>"$(dirname "$0")/called"; echo installed'
PATH=$temporary/bin:$PATH TORCH=OFF DEPS= "$temporary/scripts/setup.sh" build
[ ! -e "$temporary/bin/called" ] || { echo "the stamp was not believed" >&2 && exit 1; }
