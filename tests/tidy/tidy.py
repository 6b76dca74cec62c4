"""Goal:   the tree follows the project's rules: include layers, headers, sizes, and documents whose
        paths and commands exist.
Method: reads the text of every file; one function per rule, each yields (file, line, complaint).
        tidy_selftest.py breaks every rule once to prove that it can fail."""

import argparse
import sys

import code_rules
import document_rules
import link_rules
import record_rules
from tree import Tree


def complaints(tree, program):
    """All complaints about the tree, sorted by place."""
    found = []
    for rule in code_rules.RULES:
        found.extend(rule(tree))
    for rule in document_rules.RULES + link_rules.RULES + record_rules.RULES:
        found.extend(rule(tree, program))
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--trireme", default="none", help="the program that knows its commands")
    options = parser.parse_args()
    tree = Tree(options.root)
    found = complaints(tree, None if options.trireme == "none" else options.trireme)
    for file, line, text in found:
        print(f"{file}:{line}: {text}")
    print(f"{len(tree.files)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
