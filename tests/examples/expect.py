"""Runs an example and compares what it prints with the .expected file beside it.

Lines of the .expected file that start with '#' say how:
  # run: {trireme} run -n 4 {example}     the command; without it, {example} alone. If there are
                                          several, each must print the same; one whose program
                                          is not installed is skipped with a message
  # order: any                            lines may come in any order, as those of several ranks do
Every other line must match one whole line of the output; '*' stands for any text. The launcher's
warnings depend on the machine (for example too few cores) and are ignored.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys


def read_expected(text):
    """-> (commands, any_order, patterns)"""
    commands, any_order, patterns = [], False, []
    for line in text.splitlines():
        if line.startswith("# run:"):
            commands.append(line[len("# run:"):].strip())
        elif line.startswith("# order:"):
            any_order = line[len("# order:"):].strip() == "any"
        elif not line.startswith("#"):
            patterns.append(line)
    return commands or ["{example}"], any_order, patterns


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


def run(command, options, any_order, patterns):
    """Runs one command; -> whether it printed what was expected."""
    words = [w.format(trireme=options.trireme, example=options.example)
             for w in shlex.split(command)]
    if shutil.which(words[0]) is None:
        print(f"NOT TESTED: {words[0]} is not installed: {command}")
        return True
    # Open MPI requires two variables to run as root, and one to run more ranks than cores.
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50,
                          env=environment)
    output = done.stdout.decode(errors="replace")
    lines = [line for line in output.splitlines() if not line.startswith("trireme: warning: ")]
    complaints = compare(any_order, patterns, lines)
    if done.returncode != 0:
        complaints.insert(0, f"exit code {done.returncode}")
    if complaints:
        print(f"{' '.join(words)}\ndiffers from {options.expected}:", *complaints, sep="\n  ")
        print("it printed:", output, sep="\n")
    return not complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("expected")
    parser.add_argument("--trireme", required=True)
    parser.add_argument("--example", required=True)
    options = parser.parse_args()
    with open(options.expected, encoding="utf-8") as file:
        commands, any_order, patterns = read_expected(file.read())
    results = [run(command, options, any_order, patterns) for command in commands]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
