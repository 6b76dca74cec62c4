"""Goal:   the commands of a document do what it says and print what it shows, and code that it quotes
        from an example is in that example.
Method: page.py runs each page in a folder of its own; pages about several hosts reach node1 and
        node2 through a real sshd. The arguments select pages; without any, it is all others than
        the tutorials, which are tests of their own."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import page
import ssh_hosts


def documents(root):
    """README.md and the pages of docs/, except for the tutorials."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def write_samples(folder):
    """The user's own files that pages name: a table of houses and a text."""
    rows = ["rooms,area,town,price"]
    for i in range(400):
        rooms, area, town = 1 + i % 5, 30 + i * 7 % 90, ("North", "South", "Coast")[i % 3]
        price = 50_000 + 20_000 * rooms + 1_500 * area + 40_000 * (town == "Coast")
        rows.append(f"{rooms},{area},{town},{price}")
    (folder / "houses.csv").write_text("\n".join(rows) + "\n")
    (folder / "input.txt").write_text("To be, or not to be, that is the question.\n" * 200)


def stop_jobs(environment):
    """Ends jobs that a page that failed has left in this environment, which is of that page alone."""
    jobs = subprocess.run(["trireme", "jobs"], env=environment, capture_output=True, text=True)
    for line in jobs.stdout.splitlines()[1:]:
        subprocess.run(["trireme", "stop", "--kill", line.split()[0]], env=environment, check=False)


def run_commands(root, build, text):
    """-> complaints"""
    with tempfile.TemporaryDirectory() as temporary:
        folder, runtime = pathlib.Path(temporary, "page"), pathlib.Path(temporary, "run")
        folder.mkdir()
        runtime.mkdir(mode=0o700)
        for name in ("recipes", "examples"):
            (folder / name).symlink_to(root / name)
        (folder / "build").symlink_to(build)
        write_samples(folder)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HOME": str(folder),
                       "XDG_RUNTIME_DIR": str(runtime), "TRIREME_CACHE": f"{temporary}/cache",
                       "PATH": f"{build}:{os.environ['PATH']}"}
        if "--hosts" in "".join(page.commands(text)):
            with ssh_hosts.Hosts(environment, ("node1", "node2")) as hosts:
                complaints = page.run(hosts.renamed(text), folder, hosts.environment)
        else:
            complaints = page.run(text, folder, environment)
        if complaints:
            stop_jobs(environment)
        return complaints


def run(root, build, path):
    """-> (number of blocks of commands, complaints) of one page."""
    text = path.read_text()
    blocks = page.commands(text)
    complaints = page.quotations_are_exact(text, root)
    if "--hosts" in "".join(blocks) and not ssh_hosts.SSHD:
        print(f"NOT TESTED: {path.name}: there is no sshd here; type: "
              "sudo apt-get install openssh-server")
    elif blocks:
        complaints += run_commands(root, build, text)
    return len(blocks), complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    count, failed = 0, 0
    for path in options.pages or documents(options.root):
        blocks, complaints = run(options.root.resolve(), options.build.resolve(), path)
        count += blocks
        failed += bool(complaints)
        for complaint in complaints:
            print(f"{path.name}: {complaint}")
    print(f"{count} blocks, {failed} pages failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
