"""Renders docs/tested_properties.md: what is tested and where, from the `// Goal:` of every test
file.

    python3 tests/tidy/properties.py . >docs/tested_properties.md
"""

import re
import sys

PAGE = "docs/tested_properties.md"
INTRODUCTION = """# Tested properties

Which property which tests hold. The page is rendered from the first lines of the test files, and a test
compares it with them. After a change:

<!-- run by: tests/tidy/properties.py -->
```sh
python3 tests/tidy/properties.py . >docs/tested_properties.md
```
"""
CASE = re.compile(r"(?:TYPED_)?TEST(?:_F|_P)?\(")


def goal_of(lines):
    """The text behind `// Goal:` at the beginning of a file; None if there is none."""
    comment = []
    for line in lines:
        if not line.startswith("//"):
            break
        comment.append(line[2:].strip())
    match = re.match(r"Goal:\s+(.*?)\s*(?:\bMethod:|$)", " ".join(comment))
    return re.sub(r"\s+", " ", match.group(1)).rstrip(".") if match else None


def folders(tree):
    """Folder below tests/ -> rows (file name, number of test cases, goal), both sorted."""
    found = {}
    for name, lines in tree.code("tests"):
        goal = goal_of(lines) if name.endswith("_test.cpp") else None
        if goal:
            folder, file = name.rsplit("/", 1)
            cases = sum(1 for line in lines if CASE.match(line))
            found.setdefault(folder, []).append((file, cases, goal))
    return {folder: sorted(rows) for folder, rows in sorted(found.items())}


def render(tree):
    text = [INTRODUCTION]
    for folder, rows in folders(tree).items():
        text += [f"## {folder.removeprefix('tests/')}", "",
                 f"| property | tests in `{folder}` | number |", "|---|---|---|"]
        for file, cases, goal in rows:
            text.append(f"| {goal.replace('|', '&#124;')} | `{file}` | {cases} |")
        text.append("")
    return "\n".join(text)


def page_is_current(tree, _program):
    if PAGE not in tree.files:
        return
    if "\n".join(tree.files[PAGE]).rstrip() != render(tree).rstrip():
        yield PAGE, 1, f"render it again: python3 tests/tidy/properties.py . >{PAGE}"


if __name__ == "__main__":
    from tree import Tree
    sys.stdout.write(render(Tree(sys.argv[1])))
