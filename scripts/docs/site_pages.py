"""Prepares the pages of the site for mkdocs: site_pages.py ROOT STAGE.

STAGE/pages gets README.md and the pages that docs/index.md lists, under the paths that they have
in the repository, so that their links stay as they are, and the other files that they link to.
STAGE/mkdocs.yml is scripts/docs/mkdocs.yml and the navigation, which is that of docs/index.md: its
headings and, below each, the pages that it links to. STAGE/pages/api, which Doxygen has written,
is where names of public headers lead."""

import html
import json
import pathlib
import posixpath
import re
import shutil
import sys
import xml.etree.ElementTree

import comments

INDEX = "docs/index.md"
API_PAGE = "docs/api.md"
FENCE = re.compile(r"\s*(```|~~~)")
COMMENT = re.compile(r"<!-- .* -->$")
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK_OR_SPAN = re.compile(LINK.pattern + "|" + SPAN.pattern)
# Search shows what users read before the pages of this part.
INTERNALS = "Internals"
LOW_RANK = "---\nsearch:\n  boost: 0.5\n---\n"
# A table with more columns gets the space of the page's table of contents.
MAX_COLUMNS = 10
WIDE = "---\nhide: [toc]\n---\n"
OVERVIEW = {"Trireme": "README.md", "All pages": INDEX}


def read_parts(root):
    """-> [(heading, [(title, page)])]: the overview, and the parts of docs/index.md."""
    parts, seen = [("Overview", list(OVERVIEW.items()))], set(OVERVIEW.values())
    for line in (root / INDEX).read_text().splitlines():
        if line.startswith("## "):
            parts.append((line[3:], []))
        for match in LINK.finditer(line) if len(parts) > 1 else ():
            page = resolve(INDEX, match.group(3))[0]
            if page.endswith(".md") and page not in seen:
                seen.add(page)
                parts[-1][1].append((match.group(2), page))
    return parts


def listed_headers(root):
    """The headers that the page of the C++ API links to."""
    targets = LINK.findall((root / API_PAGE).read_text())
    return [path for path, _ in (resolve(API_PAGE, target) for _, _, target in targets)
            if path.endswith(".h")]


def titles_of(parts):
    return {page: title for _, pages in parts for title, page in pages}


def resolve(page, target):
    """-> (path in the repository, anchor with #) of a link; path "" for a link to the web."""
    if re.match(r"[a-z]+:", target):
        return "", ""
    path, hash_sign, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    return path, hash_sign + anchor


def read_api(root, folder):
    """-> {header: page in the folder api}, from the tag file of Doxygen: that of the type which the
    comment at the top of the header describes, or of the header."""
    tags = xml.etree.ElementTree.parse(folder / "tags.xml")
    pages = {tag.findtext("name"): tag.findtext("filename") for tag in tags.iterfind("compound")}
    api = {}
    for file in tags.iterfind("compound[@kind='file']"):
        path = pathlib.Path(file.findtext("path"), file.findtext("name"))
        header = str(path.relative_to(root.resolve()))
        about = comments.convert((root / header).read_text().splitlines())[0].split()[-1]
        api[header] = pages.get(about, file.findtext("filename"))
    return api


class Site:
    def __init__(self, root, pages, api):
        self.root = root
        self.pages = pages  # name -> title, which a reader sees instead of the name
        self.api = api
        self.files = set()  # to copy: those that are no pages, and that pages link to

    def render(self, page):
        """The page as mkdocs reads it."""
        lines, is_code = [], False
        for line in (self.root / page).read_text().splitlines():
            if FENCE.match(line):
                is_code = not is_code
            elif not is_code:
                if COMMENT.match(line):
                    continue
                line = LINK_OR_SPAN.sub(lambda match: self._replace(page, match), line)
                if is_wide(line):
                    line = SPAN.sub(breakable, line)
                elif line.startswith("|"):
                    line = SPAN.sub(lambda match: match.group().replace(r"\|", "|"), line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def _replace(self, page, match):
        mark, text, target, span = match.groups()
        if span is not None:
            return f"[{match.group()}]({self._header(page, span)})" if span in self.api else match.group()
        path, anchor = resolve(page, target)
        if path in self.pages and text in (target, posixpath.basename(path)):
            return f"[{self.pages[path]}]({target})"
        if not path or path in self.pages:
            return match.group()
        if path in self.api:
            return f"{mark}[{text}]({self._header(page, path)})"
        if path.endswith(".md") or not (self.root / path).is_file():
            raise SystemExit(f"{page}: {path} is no file, or a page that {INDEX} does not list")
        self.files.add(path)
        return f"{mark}[{text}]({relative(page, self.name_of(path))}{anchor})"

    def _header(self, page, header):
        return relative(page, "api/" + self.api[header])

    @staticmethod
    def name_of(path):
        """The name of a copied file: a browser shows source code only if it looks like a text."""
        return path if path.endswith((".svg", ".png")) else path + ".txt"


def is_wide(line):
    return line.startswith("|") and SPAN.sub("", line).count("|") - 1 > MAX_COLUMNS


def breakable(match):
    """The name of a setting, which may continue in the next line after a dot or an underscore."""
    return "<code>" + re.sub(r"([._])", r"\1<wbr>", html.escape(match.group(1))) + "</code>"


def relative(page, path):
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


def main():
    root, stage = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    parts = read_parts(root)
    nav = [{heading: [{title: page} for title, page in pages]} for heading, pages in parts]
    pages = stage / "pages"
    site = Site(root, titles_of(parts), read_api(root, pages / "api"))
    unknown = {name for name in listed_headers(root) if name not in site.api}
    if unknown:
        raise SystemExit(f"Doxygen has no pages of {', '.join(sorted(unknown))}")
    for heading, listed in parts:
        for _, name in listed:
            path = pages / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = site.render(name)
            is_large = any(map(is_wide, text.splitlines()))
            path.write_text((LOW_RANK if heading == INTERNALS else WIDE if is_large else "") + text)
    for name in site.files:
        path = pages / site.name_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, path)
    assets = root / "scripts/docs/assets"
    shutil.copytree(assets, pages / "assets", dirs_exist_ok=True)
    settings = (root / "scripts/docs/mkdocs.yml").read_text()
    (stage / "mkdocs.yml").write_text(f"{settings}\nnav: {json.dumps(nav)}\n")
    print(f"{len(site.pages)} pages, {len(site.api)} headers")


if __name__ == "__main__":
    main()
