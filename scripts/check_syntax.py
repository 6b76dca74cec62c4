#!/usr/bin/env python3
"""scripts/check_syntax.py compile_commands.json FOLDER JOBS: compiles every source whose command names
FOLDER, syntax only, so that no object file or precompiled header is written."""

import concurrent.futures
import json
import shlex
import subprocess
import sys


def syntax_only(command):
    words = shlex.split(command)
    output = words.index("-o")
    del words[output:output + 2]
    return [word for word in words if word != "-c"] + ["-fsyntax-only"]


def check(entry):
    result = subprocess.run(syntax_only(entry["command"]), cwd=entry["directory"],
                            capture_output=True, text=True, check=False)
    return entry["file"], result.returncode, result.stderr


def main():
    path, folder, jobs = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        # A precompiled header's own entry is not a source; every source includes it anyway.
        entries = [entry for entry in json.load(file)
                   if folder in entry["command"] and "cmake_pch" not in entry["file"]]
    if not entries:
        sys.exit(f"{path}: no source is compiled with {folder}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for file, code, errors in pool.map(check, entries):
            if code != 0:
                failed += 1
                print(f"engines: {file} does not compile:\n{errors}", file=sys.stderr)
    print(f"engines: {len(entries) - failed} of {len(entries)} sources compile with {folder}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
