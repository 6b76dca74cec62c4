"""The input filter of Doxygen: prints a header with its // comments as Doxygen's comments. The
number of lines stays the same, so that warnings and links name the right ones.

The comment at the top of a file describes the type that its first words name, or the file. A
comment before a declaration, or behind it on the same line, describes that declaration."""

import re
import sys

LINE = re.compile(r"(\s*)//( ?)(.*)$")
TRAILING = re.compile(r"(\s*\S.*?[;,}])\s+// (.*)$")
LABEL = re.compile(r"((?![^:]* (?:is|are|has|have) )[A-Z][\w-]*(?: [\w-]+){0,3}):\s+(?=\S)")
CODE = re.compile(r"(`[^`]*`)")
TYPE = re.compile(r"(?:template .*)?\b(class|struct|enum class)(?: \[\[\w+\]\])? (\w+)[^;]*$")
NAMESPACE = re.compile(r"namespace ([\w:]+) {")
CLANG = re.compile(r"// (?:NOLINT|namespace|clang-format)")


def escape(text):
    """What Doxygen would take for a command, a tag or a reference is a plain character here."""
    parts = CODE.split(text)
    return "".join(part if i % 2 else re.sub(r"([\\@<>#&])", r"\\\1", part)
                   for i, part in enumerate(parts))


def marked(texts):
    """The lines of one comment, without //, as Markdown."""
    result, is_item = [], False
    for text in texts:
        label = LABEL.match(text)
        if label:
            text, is_item = f"- **{label.group(1)}:** {escape(text[label.end():])}", True
        elif not text.strip():
            is_item = False
        elif text.startswith("   ") and is_item:
            text = "  " + escape(text.strip())
        elif text.startswith("  "):
            text = "    " + text[2:]  # an example
        else:
            text, is_item = escape(text), False
        result.append(text)
    return result


def subject(texts, lines):
    """The command that says what the comment at the top describes."""
    namespace, types = None, {}
    for line in lines:
        if opened := NAMESPACE.match(line):
            namespace = opened.group(1)
        elif (found := TYPE.match(line)) and namespace:
            types.setdefault(found.group(2), (found.group(1).split()[0], namespace))
    for word in re.findall(r"\w+", " ".join(texts[:2]))[:3]:
        if word in types:
            kind, around = types[word]
            return f"@{kind} {around}::{word}"
    return None


def convert(lines):
    head = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    texts = [line[2:].removeprefix(" ") for line in lines[:head]]
    about = subject(texts, lines[head:])
    result = [f"/// {text}" for text in [about or "@file", *marked(texts)]]
    rest = lines[head:]
    if about:  # a file of its own, so that functions beside the type are listed
        result += ["", "/// @file"]
    for _ in range(len(result) - head):  # blank lines and #pragma once are not needed
        rest.pop(0)
    i = 0
    while i < len(rest):
        comment = LINE.match(rest[i])
        if comment and not CLANG.search(rest[i]):
            end = i
            while end < len(rest) and LINE.match(rest[end]):
                end += 1
            is_described = end < len(rest) and rest[end].strip() not in ("", "}", "};")
            mark = "///" if is_described else "//"
            block = [LINE.match(line).group(3) for line in rest[i:end]]
            result += [f"{comment.group(1)}{mark} {text}" for text in marked(block)]
            i = end
            continue
        trailing = TRAILING.match(rest[i])
        if trailing and not CLANG.search(rest[i]):
            column = rest[i].index("// " + trailing.group(2))
            result.append(f"{trailing.group(1)}  ///< {escape(trailing.group(2))}")
            while i + 1 < len(rest) and rest[i + 1].startswith(" " * column + "// "):
                i += 1
                result.append(" " * column + "///< " + escape(rest[i][column + 3:]))
        else:
            result.append(rest[i])
        i += 1
    return result


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(convert(file.read().splitlines())))


if __name__ == "__main__":
    main()
