"""Goal:   commands in a document do what it says.
Method: the blocks of sh that are marked with this file's path, in a scratch folder that has the
        files which they name; the recipe houses.toml is the one that docs/data.md shows."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARK = "<!-- run by: tests/documents/commands_test.py -->"
BLOCK = re.compile(r"(?:^(<!-- [^\n]* -->)\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(root, language):
    """(document, mark or "", text) of every block in this language."""
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for mark, found, text in BLOCK.findall(path.read_text()):
            if found == language:
                yield path.name, mark, text


def write_files(scratch, root):
    rows = ["rooms,area,town,price"]
    for i in range(400):
        rooms, area, town = 1 + i % 5, 30 + i * 7 % 90, ("North", "South", "Coast")[i % 3]
        price = 50_000 + 20_000 * rooms + 1_500 * area + 40_000 * (town == "Coast")
        rows.append(f"{rooms},{area},{town},{price}")
    (scratch / "houses.csv").write_text("\n".join(rows) + "\n")
    for _, _, text in blocks(root, "toml"):
        if "houses.csv" in text:
            (scratch / "houses.toml").write_text(text)
    (scratch / "input.txt").write_text("To be, or not to be, that is the question.\n" * 200)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PATH"] = f"{options.build}:{environment['PATH']}"
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        write_files(scratch, options.root)
        (scratch / "build").symlink_to(options.build)
        for document, mark, text in blocks(options.root, "sh"):
            if mark != MARK:
                continue
            count += 1
            run = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=scratch, text=True,
                                 env=environment, timeout=100, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            print(f"--- {document}\n{text}{run.stdout[:4000]}")
            failed += run.returncode != 0
    print(f"{count} blocks, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
