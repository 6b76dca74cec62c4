"""The rules for documents and for text in general. Each takes a Tree and the path of the program
(or None), and yields (file, line, complaint)."""

import functools
import posixpath
import re
import shlex
import subprocess

import properties

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?$")
SOURCE_NAME = re.compile(r"[\w.+-]+\.(?:h|cpp|cu|md|cmake|py|sh)$")
# Top folders of the project; a document may name a planned one that does not exist yet.
HOUSE = {"trireme", "tests", "docs", "examples", "bench", "fuzz", "cmake", "scripts", "recipes"}
PLACES = ("home", "root", "Users", "mnt", "srv", "work", "workspace")
MACHINE_PATH = re.compile(r"(?<![\w./~}>)$*-])/(?:" + "|".join(PLACES) + r")/[\w.-]+")


def documents(tree):
    for name, lines in tree.files.items():
        if name.endswith(".md") and lines is not None:
            yield name, lines


def spans(lines):
    """(line number, text, whether it is a line of a code block) of all text formatted as code."""
    fence = None
    for number, line in enumerate(lines, 1):
        mark = re.match(r"\s*(```+|~~~+)\s*(\w*)", line)
        if mark:
            fence = None if fence is not None else mark.group(2)
        elif fence is not None:
            yield number, line, fence
        else:
            for match in SPAN.finditer(line):
                yield number, match.group(1), None


def named_paths_exist(tree, _program):
    basenames = {posixpath.basename(name) for name in tree.files}
    for name, lines in documents(tree):
        for number, text, fence in spans(lines):
            for word in re.split(r"[\s,;()\"'=]+", text):
                word = word.rstrip(".:")
                if PATH.match(word) and not _path_exists(tree, basenames, word, fence):
                    yield name, number, f"{word} does not exist"


def _path_exists(tree, basenames, word, fence):
    word = posixpath.normpath(word)
    top = word.split("/")[0]
    if "/" not in word:
        return fence is not None or not SOURCE_NAME.match(word) or word in basenames
    if top == "build":
        return _build_product_exists(tree, word)
    if top not in HOUSE and top not in tree.folders:
        return True
    return word in tree.files or word in tree.folders


def _build_product_exists(tree, word):
    parts = word.split("/")
    if len(parts) == 3 and parts[1] in ("examples", "bench"):
        return f"{parts[1]}/{parts[2]}.cpp" in tree.files
    if parts[1] == "trireme":
        return "trireme/cli" in tree.folders
    return True


def commands(lines):
    """(line number, words) of every make or trireme command that a document names."""
    for number, text, fence in spans(lines):
        if fence not in (None, "", "sh", "bash", "console", "shell", "text"):
            continue
        text = re.sub(r"^\s*[$#]\s+", "", text).split(" #")[0]
        for part in re.split(r"&&|\|\||[|;]", text):
            try:
                words = shlex.split(part)
            except ValueError:
                words = part.split()
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            if words and posixpath.basename(words[0]) in ("make", "trireme", "sudo"):
                yield number, words[1:] if words[0] == "sudo" else words


def make_targets_exist(tree, _program):
    targets = set()
    for line in tree.files.get("Makefile") or []:
        match = re.match(r"([\w-]+):(?!=)", line)
        if match:
            targets.add(match.group(1))
    for name, lines in documents(tree):
        for number, words in commands(lines):
            if words and words[0] == "make":
                for word in words[1:]:
                    if re.fullmatch(r"[a-z][\w-]*", word) and word not in targets:
                        yield name, number, f"make {word}: there is no such target"


def program_commands_exist(tree, program):
    """The program itself says which subcommands and options it has."""
    if program is None:
        return
    for name, lines in documents(tree):
        for number, words in commands(lines):
            if words and posixpath.basename(words[0]) == "trireme":
                complaint = _command_complaint(program, words[1:])
                if complaint:
                    yield name, number, complaint


def _command_complaint(program, words):
    if not words or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
        help_text, command = _help(program, ""), ""
    else:
        command = words.pop(0)
        help_text = _help(program, command)
        # A command's name may have two words; the help of the first word lists such names.
        if (words and re.fullmatch(r"[a-z][a-z-]*", words[0])
                and re.search(rf"^  {command} {words[0]} ", help_text or "", re.MULTILINE)):
            command += " " + words.pop(0)
            help_text = _help(program, command)
        if help_text is None:
            return f"trireme {command}: there is no such command"
    for word in words:
        if word in ("--", "...") or not word.startswith("-"):
            # What follows the program to launch belongs to that program.
            if word == "--" or (command == "run" and "/" in word):
                break
            continue
        option = word.split("=")[0].rstrip(",")
        if not re.search(r"(?<![\w-])" + re.escape(option) + r"(?![\w-])", help_text or ""):
            return f"trireme {command} {option}: there is no such option"
    return None


@functools.lru_cache(maxsize=None)
def _help(program, command):
    words = [program] + command.split() + ["--help"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=20)
    return run.stdout + run.stderr if run.returncode == 0 else None


MARK = re.compile(r"<!-- (?:run by: (\S+)|not run: \S.*) -->$")
EXAMPLES = {"sh", "bash", "console", "shell", "cpp", "cmake", "python", "toml"}


def examples_are_run_or_marked(tree, _program):
    """Each block of code says in a comment before it which test runs it, or why none does. Blocks
    of TOML need no comment: tests/train/recipes_test.cpp reads them all."""
    for name, lines in documents(tree):
        if name != "README.md" and not name.startswith("docs/"):
            continue
        for number, language, body in _blocks(lines):
            mark = MARK.match(lines[number - 2].strip()) if number > 1 else None
            if language not in EXAMPLES:
                if any(True for _ in commands(["```sh", *body, "```"])):
                    yield name, number, "commands without a language: begin the block with ```sh"
            elif mark and mark.group(1):
                if mark.group(1) not in tree.files:
                    yield name, number, f"{mark.group(1)}, which runs this example, does not exist"
            elif not mark and language != "toml":
                yield name, number, ("an example without <!-- run by: TEST --> or "
                                     "<!-- not run: REASON --> on the line before it")


def _blocks(lines):
    """(line number of the fence, language, lines) of every block of code."""
    begin = None
    for number, line in enumerate(lines, 1):
        mark = re.match(r"\s*(```+|~~~+)\s*(\w*)", line)
        if mark and begin is None:
            begin = number, mark.group(2)
        elif mark:
            yield *begin, lines[begin[0]:number - 1]
            begin = None


INDEX = "docs/index.md"


def pages_are_in_the_index(tree, _program):
    if INDEX not in tree.files:
        return
    listed = {posixpath.normpath(posixpath.join("docs", target.partition("#")[0]))
              for line in tree.files[INDEX] for target in LINK.findall(line)}
    for name, _ in documents(tree):
        is_page = name.startswith("docs/") or ("/" not in name and name != "README.md")
        if is_page and name != INDEX and name not in listed:
            yield INDEX, 1, f"{name} is not listed"


API = "docs/api.md"
INCLUDED = re.compile(r'\s*#include "(trireme/[\w/]+\.h)"')


def included_headers_are_public(tree, _program):
    """Examples and documents include only headers that the page of the C++ API lists."""
    if API not in tree.files:
        return
    public = {posixpath.normpath(posixpath.join("docs", target))
              for line in tree.files[API] for target in LINK.findall(line)}
    examples = [(name, enumerate(lines, 1)) for name, lines in tree.code("examples")]
    pages = [(name, ((number, text) for number, text, fence in spans(lines) if fence is not None))
             for name, lines in documents(tree)]
    for name, lines in examples + pages:
        for number, line in lines:
            match = INCLUDED.match(line)
            if match and match.group(1) not in public:
                yield name, number, f"{API} does not list {match.group(1)}"


SETTINGS = "docs/config.md"
FILE_NAME = re.compile(r"\.(?:safetensors|bin|toml|jsonl?|svg|h|cpp)$")


def settings_exist(tree, _program):
    """`section.key` in a text is a setting that the page of all settings has."""
    keys, section = set(), None
    for line in tree.files.get(SETTINGS) or []:
        heading = re.match(r"## `\[([\w.]+)\]`", line)
        row = re.match(r"\| `([\w.]+)` \|", line)
        section = heading.group(1) if heading else section
        if section and row:
            keys.add(f"{section}.{row.group(1)}")
    sections = {key.split(".")[0] for key in keys}
    known = keys | {key.rpartition(".")[0] for key in keys}
    for name, lines in documents(tree):
        for number, text, fence in spans(lines):
            match = re.match(r"([a-z]+)\.[a-z_]\w*(?:\.[a-z_]+)*(?=[ =]|$)", text)
            if fence is None and match and match.group(1) in sections:
                if match.group(0) not in known and not FILE_NAME.search(match.group(0)):
                    yield name, number, f"{match.group(0)}: {SETTINGS} has no such setting"


def no_machine_paths(tree, _program):
    for name, lines in tree.files.items():
        if lines is None or name.startswith("fuzz/corpus/"):
            continue
        for number, line in enumerate(lines, 1):
            match = MACHINE_PATH.search(line)
            if match:
                yield name, number, f"{match.group(0)} is a path of one machine"


BUILDING = "docs/building.md"


def packages_are_those_of_setup(tree, _program):
    """The page on building lists exactly the packages that set-up installs."""
    page = list(enumerate(tree.files.get(BUILDING) or [], 1))
    start = next((n for n, line in page if line.startswith("| Debian package |")), None)
    if start is None:
        return
    listed = {}
    for number, line in page[start + 1:]:
        if not line.startswith("|"):
            break
        listed.update((word, number) for word in line.split("|")[1].strip().split(", "))
    setup = "\n".join(tree.files.get("scripts/setup.sh") or [])
    installed = set()
    for names in re.findall(r"^(?!\w*PYTHON)\w*PACKAGES=\(([^)]*)\)", setup, re.MULTILINE):
        installed.update(re.sub("#.*", "", names).split())
    for package in sorted(listed.keys() - installed):
        yield BUILDING, listed[package], f"scripts/setup.sh does not install {package}"
    for package in sorted(installed - listed.keys()):
        yield BUILDING, start, f"scripts/setup.sh installs {package}, which is not listed"


def make_variables_are_said(tree, _program):
    page = "\n".join(tree.files.get(BUILDING) or [])
    for number, line in enumerate(tree.files.get("Makefile") or [], 1):
        match = re.match(r"(\w+) \?=", line)
        if match and not re.search(r"\b" + match.group(1) + "=", page):
            yield "Makefile", number, f"{BUILDING} does not say what {match.group(1)}= is"


RULES = [named_paths_exist, make_targets_exist, program_commands_exist,
         properties.page_is_current,
         pages_are_in_the_index, included_headers_are_public, settings_exist,
         examples_are_run_or_marked, no_machine_paths, packages_are_those_of_setup,
         make_variables_are_said]
