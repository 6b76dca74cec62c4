#!/bin/bash
# Renders the documentation as a site with search:
#
#   scripts/docs.sh OUTPUT
#
# OUTPUT/index.html is its first page; it can be read from disk and needs no server. What mkdocs and
# Doxygen read is put together in OUTPUT.pages. A warning of either fails.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in doxygen .venv.docs/bin/mkdocs; do
  command -v $tool >/dev/null || { echo "docs: there is no $tool; type: make docs" >&2; exit 1; }
done
output=$(realpath -m "$1")
if [ -e "$output" ] && [ ! -e "$output/sitemap.xml" ]; then
  echo "docs: $output exists and is no site; remove it, or choose another folder" >&2
  exit 1
fi
stage=$output.pages
rm -rf "$stage" "$output"
mkdir -p "$stage/pages/api"

echo "docs: the C++ API"
headers=$(grep -o '(\.\./trireme/[a-z0-9_/]*\.h)' docs/api.md | tr -d '()' | sed 's|^\.\./||')
{
  cat scripts/docs/Doxyfile
  echo "INPUT = ${headers//$'\n'/ }"
  echo "OUTPUT_DIRECTORY = \"$stage/pages/api\""
  # Versions that have colours for the dark would apply them besides those of api.css.
  if doxygen -g - | grep -c '^HTML_COLORSTYLE ' >/dev/null; then echo "HTML_COLORSTYLE = LIGHT"; fi
  echo "GENERATE_TAGFILE = \"$stage/pages/api/tags.xml\""
} >"$stage/Doxyfile"
doxygen "$stage/Doxyfile"

echo "docs: the pages"
python3 scripts/docs/site_pages.py . "$stage"
# With --quiet, mkdocs would also ignore the warnings that --strict turns into errors.
if ! NO_MKDOCS_2_WARNING=1 .venv.docs/bin/mkdocs build --strict --config-file "$stage/mkdocs.yml" \
  --site-dir "$output" >"$stage/mkdocs.log" 2>&1; then
  grep -v '^INFO' "$stage/mkdocs.log" >&2
  exit 1
fi
echo "docs: $output/index.html"
