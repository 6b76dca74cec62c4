"""Tree is the text of all files of a checkout that git does not ignore, read once, and the table
of layers. Without git, it is every file outside hidden and build folders."""

import pathlib
import re
import subprocess

CODE = (".h", ".inc", ".cpp", ".cu")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = {}  # path below the root -> lines; None for a file that is not text
        for name in self._names():
            path = self.root / name
            if path.is_file():
                try:
                    self.files[name] = path.read_text(encoding="utf-8").split("\n")
                except UnicodeDecodeError:
                    self.files[name] = None
        self.folders = {str(parent) for name in self.files
                        for parent in pathlib.PurePosixPath(name).parents}
        self.layers = self._read_layers()

    def _names(self):
        listing = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True)
        if listing.returncode == 0:
            return sorted(n for n in listing.stdout.decode().split("\0") if n)
        names = (path.relative_to(self.root) for path in self.root.rglob("*"))
        skipped = re.compile(r"build(-.*)?$|\.git$|\.venv|\.deps|__pycache__$")
        return sorted(str(n) for n in names if not any(skipped.match(part) for part in n.parts))

    def _read_layers(self):
        """-> list of (folder, set of words beside it), in the order of the table."""
        layers = []
        for line in self.files.get("tests/tidy/layers.txt") or []:
            words = line.split("#")[0].split()
            if words:
                layers.append((words[0], set(words[1:])))
        return layers

    def layer_of(self, path):
        """Index of the layer that a path below trireme/ or tests/ belongs to, or None."""
        inner = path.split("/", 1)[1] if "/" in path else ""
        best = None
        for index, (folder, _) in enumerate(self.layers):
            if inner.startswith(folder + "/"):
                if best is None or len(folder) > len(self.layers[best][0]):
                    best = index
        return best

    def code(self, *tops):
        """(path, lines) of every C++ file below these top folders, or below any."""
        for name, lines in self.files.items():
            if name.endswith(CODE) and lines and (not tops or name.split("/")[0] in tops):
                yield name, lines

    def includes(self, lines):
        """(line number, bracket, path) of every #include."""
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)
