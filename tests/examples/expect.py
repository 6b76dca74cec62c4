"""Runs an example and compares what it prints with the .expected file beside it.

Lines of the .expected file that start with '#' say how:
  # first: {trireme} train ...            commands that run before it and must succeed; what they
                                          print is not compared
  # run: {trireme} run -n 4 {example}     the command; without it, {example} alone. If there are
                                          several, each must print the same; one whose program
                                          is not installed is skipped with a message
  # order: any                            lines may come in any order, as those of several ranks do
Every other line must match one whole line of the output; '*' stands for any text. The launcher's
warnings depend on the machine (for example too few cores) and are ignored.

In commands, {example} is the program, {examples} the folder of its source, {scratch} an empty
folder, and {ssh} a command that is used like ssh, for which every host is this machine.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def read_expected(text):
    """-> (preparations, commands, any_order, patterns)"""
    preparations, commands, any_order, patterns = [], [], False, []
    for line in text.splitlines():
        if line.startswith("# first:"):
            preparations.append(line[len("# first:"):].strip())
        elif line.startswith("# run:"):
            commands.append(line[len("# run:"):].strip())
        elif line.startswith("# order:"):
            any_order = line[len("# order:"):].strip() == "any"
        elif not line.startswith("#"):
            patterns.append(line)
    return preparations, commands or ["{example}"], any_order, patterns


def matches(pattern, line):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line) is not None


def pair_up(patterns, lines):
    """Pairs patterns with lines as far as possible; -> (patterns left over, lines left over)."""
    owner = {}

    def place(index, tried):
        for at, line in enumerate(lines):
            if at not in tried and matches(patterns[index], line):
                tried.add(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = index
                    return True
        return False

    lonely = [p for i, p in enumerate(patterns) if not place(i, set())]
    return lonely, [line for at, line in enumerate(lines) if at not in owner]


def compare(any_order, patterns, lines):
    """-> list of complaints, empty when the output is as expected."""
    if any_order:
        lonely, extra = pair_up(patterns, lines)
        return [f"never printed: {p}" for p in lonely] + [f"not expected:  {e}" for e in extra]
    complaints = []
    for at in range(max(len(patterns), len(lines))):
        pattern = patterns[at] if at < len(patterns) else None
        line = lines[at] if at < len(lines) else None
        if pattern is None:
            complaints.append(f"line {at + 1}: not expected: {line}")
        elif line is None:
            complaints.append(f"line {at + 1}: never printed: {pattern}")
        elif not matches(pattern, line):
            complaints.append(f"line {at + 1}: expected: {pattern}\n        printed:  {line}")
    return complaints


def execute(words, scratch):
    """-> (exit code, output)"""
    # Open MPI requires two variables to run as root, and one to run more ranks than cores.
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMP_NUM_THREADS="1",
                       TRIREME_CACHE=scratch + "/cache")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50,
                          env=environment)
    return done.returncode, done.stdout.decode(errors="replace")


def run(words, scratch, any_order, patterns):
    """Runs one command; -> whether it printed what was expected."""
    if shutil.which(words[0]) is None:
        print(f"NOT TESTED: {words[0]} is not installed: {' '.join(words)}")
        return True
    code, output = execute(words, scratch)
    lines = [line for line in output.splitlines() if not line.startswith("trireme: warning: ")]
    complaints = compare(any_order, patterns, lines)
    if code != 0:
        complaints.insert(0, f"exit code {code}")
    if complaints:
        print(f"{' '.join(words)}\ndiffers from what is expected:", *complaints, sep="\n  ")
        print("it printed:", output, sep="\n")
    return not complaints


def prepare(words, scratch):
    """Runs a command that comes first; -> whether it succeeded."""
    code, output = execute(words, scratch)
    if code != 0:
        print(f"{' '.join(words)}\nhas exit code {code} and printed:", output, sep="\n")
    return code == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("expected", type=pathlib.Path)
    parser.add_argument("--trireme", required=True)
    parser.add_argument("--example", required=True)
    options = parser.parse_args()
    preparations, commands, any_order, patterns = read_expected(
        options.expected.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        places = {"trireme": options.trireme, "example": options.example, "scratch": scratch,
                  "examples": str(options.expected.resolve().parent),
                  "ssh": str(pathlib.Path(__file__).resolve().parent / "this_machine.sh")}

        def words_of(command):
            return [word.format(**places) for word in shlex.split(command)]

        if not all([prepare(words_of(command), scratch) for command in preparations]):
            return 1
        results = [run(words_of(command), scratch, any_order, patterns) for command in commands]
        return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
