"""The rules for C++ files. Each takes a Tree and yields (file, line, complaint)."""

import re

COLUMNS_MAX = 100
LINES_MAX = 600
# Generated pages, which may be long.
LISTS = {"docs/tested_properties.md", "docs/config.md", "docs/commands.md"}
TORCH = re.compile(r"(torch|ATen|c10|caffe2)/")
HEAVY = re.compile(r"(toml\+\+|nlohmann|CLI|boost)/")
VAGUE_NAME = re.compile(r"\b(?:class|struct)\s+(\w*(?:Manager|Helper|Util|Utils|Impl|Common))\b")


def layers(tree):
    for name, lines in tree.code("trireme"):
        mine = tree.layer_of(name)
        if mine is None:
            yield name, 1, "its folder is not in tests/tidy/layers.txt"
            continue
        for number, bracket, path in tree.includes(lines):
            if path.startswith("trireme/"):
                yield from _one_include(tree, name, number, mine, path)
            elif bracket == '"':
                yield name, number, f'"{path}" is not written as "trireme/..."'


def _one_include(tree, name, number, mine, path):
    theirs = tree.layer_of(path)
    if path not in tree.files:
        yield name, number, f"includes {path}, which does not exist"
    elif theirs is None or theirs > mine:
        yield name, number, (f"{tree.layers[mine][0]} may not include {path}: "
                             "its layer is not above")
    elif "tests" in tree.layers[theirs][1] and mine != theirs:
        yield name, number, f"{path} is for tests alone"


def examples_do_not_test(tree):
    hidden = ["trireme/" + folder + "/" for folder, words in tree.layers if "tests" in words]
    for name, lines in tree.code("examples"):
        for number, _, path in tree.includes(lines):
            if path.startswith(tuple(hidden)):
                yield name, number, f"{path} is for tests alone"


def no_cycles(tree):
    """Headers that include each other, directly or through others."""
    graph = {name: [p for _, _, p in tree.includes(lines) if p in tree.files]
             for name, lines in tree.code("trireme")}
    done = set()

    def walk(name, path):
        if name in path:
            cycle = path[path.index(name):] + [name]
            yield cycle[0], 1, "includes itself: " + " -> ".join(cycle)
        elif name not in done:
            for other in graph.get(name, []):
                yield from walk(other, path + [name])
            done.add(name)

    for name in graph:
        yield from walk(name, [])


def torch_only_where_allowed(tree):
    for name, lines in tree.code("trireme", "tests"):
        layer = tree.layer_of(name)
        if layer is None or "torch" in tree.layers[layer][1]:
            continue
        for number, _, path in tree.includes(lines):
            if TORCH.match(path):
                yield name, number, f"<{path}>: {tree.layers[layer][0]} knows no torch"


def headers(tree):
    for name, lines in tree.code("trireme"):
        if not name.endswith(".h"):
            continue
        number = 0
        while number < len(lines) and lines[number].startswith("//"):
            number += 1
        if number == 0:
            yield name, 1, "a header starts with its contract, in // lines"
        rest = [line for line in lines[number:] if line.strip()]
        if not rest or rest[0] != "#pragma once":
            yield name, number + 1, "#pragma once follows the contract"
        for at, _, path in tree.includes(lines):
            if HEAVY.match(path):
                yield name, at, f"<{path}> is heavy: only .cpp files include it"


def headers_have_tests(tree):
    tested = set()
    for name, lines in tree.code("tests"):
        if name.endswith("_test.cpp"):
            tested.update(path for _, _, path in tree.includes(lines))
    for name, _ in tree.code("trireme"):
        if name.endswith(".h") and name not in tested:
            yield name, 1, "no test includes this header"


def tests_say_goal_and_method(tree):
    for name, lines in tree.code("tests"):
        if name.endswith("_test.cpp"):
            comment = []
            for line in lines:
                if not line.startswith("//"):
                    break
                comment.append(line)
            text = "\n".join(comment)
            if "Goal:" not in text or "Method:" not in text:
                yield name, 1, "a test starts with // Goal: and // Method:"


def names_say_something(tree):
    for name, lines in tree.code("trireme"):
        for number, line in enumerate(lines, 1):
            match = VAGUE_NAME.search(line)
            if match:
                yield name, number, f"{match.group(1)} is no name for one noun"


def sizes(tree):
    for name, lines in tree.files.items():
        if lines is None or name == "LICENSE" or name in LISTS or name.startswith("fuzz/corpus/"):
            continue
        if len(lines) - 1 > LINES_MAX:
            yield name, LINES_MAX + 1, f"{len(lines) - 1} lines; the most is {LINES_MAX}"
    for name, lines in tree.code():
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                yield name, number, f"{len(line)} columns; the most is {COLUMNS_MAX}"


def text_is_clean(tree):
    for name, lines in tree.code():
        for number, line in enumerate(lines, 1):
            if line != line.rstrip() or "\t" in line:
                yield name, number, "blanks at the end, or a tab"
        if lines[-1] != "":
            yield name, len(lines), "no newline at the end"


STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def messages_are_ascii(tree):
    """What a program prints must be readable in every locale, also with LANG=C."""
    for name, lines in tree.code("trireme", "bench"):
        for number, line in enumerate(lines, 1):
            for text in STRING.findall(line.split(" //")[0]):
                if not text.isascii() and not line.lstrip().startswith("//"):
                    yield name, number, f"{text}: a message is ASCII; write \\x.. for other bytes"


RULES = [layers, examples_do_not_test, no_cycles, torch_only_where_allowed, headers,
         headers_have_tests, tests_say_goal_and_method, names_say_something, sizes, text_is_clean,
         messages_are_ascii]
