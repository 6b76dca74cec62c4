"""The rules for what both a browser of the repository and the site must read alike: links, and where
lists and tables begin."""

import posixpath
import re

from document_rules import LINK, SPAN, documents, spans

# A link whose text goes on in the next line, one that is defined elsewhere, and those of HTML.
OTHER_LINK = re.compile(r"\[[^\]]*$|\]\[|^\[[^\]]+\]:|<(?:a|img)\b")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def prose(lines):
    """(line number, text) of the lines that are in no block of code."""
    inside = {number for number, _, fence in spans(lines) if fence is not None}
    for number, line in enumerate(lines, 1):
        if number not in inside and not re.match(r"\s*(```|~~~)", line):
            yield number, line


def links_resolve(tree, _program):
    for name, lines in documents(tree):
        for number, line in prose(lines):
            line = SPAN.sub("", line)
            for target in LINK.findall(line):
                if not re.match(r"[a-z]+:", target):
                    yield from _one_link(tree, name, number, target)
            if OTHER_LINK.search(LINK.sub("", line)) and not name.startswith(".github/"):
                yield name, number, "write a link as [text](target) on one line, so that it is checked"


def _one_link(tree, name, number, target):
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if path not in tree.files and path not in tree.folders:
        yield name, number, f"the link {target} leads nowhere"
    elif anchor and path.endswith(".md") and anchor not in _anchors(tree.files[path]):
        yield name, number, f"the link {target}: there is no such heading"


def _anchors(lines):
    """Of several headings with one text only the first counts: browsers of repositories and the
    site number the others differently."""
    headings = (re.match(r"#+\s+(.*)", line) for _, line in prose(lines))
    texts = (LINK.sub(lambda link: link.group().split("]")[0], h.group(1)) for h in headings if h)
    texts = (re.sub(r"[^\w\- ]", "", text.strip().lower()) for text in texts)
    return {text.replace(" ", "-") for text in texts}


def lists_and_tables_follow_an_empty_line(tree, _program):
    """The site's Markdown takes them for a part of the paragraph before them."""
    for name, lines in documents(tree):
        before = ""  # how the block that the last line belongs to begins
        for number, line in prose(lines):
            if ITEM.match(line) and before and not ITEM.match(before):
                yield name, number, "an empty line is missing before this list"
            if line.startswith("|") and before and not before.startswith("|"):
                yield name, number, "an empty line is missing before this table"
                before = line
            if not line.strip() or line.startswith(("#", "<!--")):
                before = ""
            elif not before or ITEM.match(line):
                before = line


RULES = [links_resolve, lists_and_tables_follow_an_empty_line]
