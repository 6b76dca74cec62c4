"""Goal:   the Debian package and the tarball contain everything and depend on nothing of the build
        machine; the tarball runs in any folder, and training finds the PyTorch that TRIREME_TORCH
        names, or says what to set.
Method: makes both packages from the build, unpacks the tarball in another folder, reads its files,
        runs its programs, and compares the Debian package with it. Arguments: the build folder,
        the cpack program, and torch's folder or an empty text. fresh_debian.sh, run by hand,
        installs both on a new machine."""

import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD, CPACK, TORCH = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
SOURCES = pathlib.Path(__file__).parents[2]
WITH_TORCH = ("trireme-worker", "trireme-bench-train", "trireme-bench-gpu", "trireme-bench-checkpoint")
FILES = ["bin/trireme", "bin/trireme-bench", "bin/trireme-bench-comm", "bin/trireme-soak",
         "libexec/trireme/namespaces.sh", "lib/libtrireme_core.a", "include/trireme/base/error.h",
         "lib/cmake/Trireme/TriremeConfig.cmake", "lib/cmake/Trireme/TriremeCoreTargets.cmake",
         "share/trireme/recipes/csv_mlp.toml", "share/doc/trireme/README.md",
         "share/doc/trireme/docs/index.md", "share/doc/trireme/LICENSE",
         "share/doc/trireme/examples/05_regression.cpp", "share/doc/trireme/CITATION.cff",
         "share/doc/trireme/copyright", "share/doc/trireme/licences/fmt"]
if TORCH:
    FILES += ["bin/trireme-worker.json", "lib/libtrireme_torch.a",
              "lib/cmake/Trireme/TriremeTorchTargets.cmake"]
    FILES += [folder + name for name in WITH_TORCH for folder in ("bin/", "libexec/trireme/")]
RECIPE = """
[model]
kind = "mlp"
hidden_sizes = [4]
[data]
kind = "csv"
train = "points.csv"
targets = ["kind"]
[train]
global_batch_size = 8
epochs = 1
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, **options)


def must(*command, **options):
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def without_torch(**more):
    """An environment that says nothing about libraries."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("TRIREME_TORCH", "LD_LIBRARY_PATH")}
    return dict(kept, **more)


def libraries(program):
    """-> (libraries that it needs, lines about search paths)"""
    lines = must("readelf", "-dW", program).splitlines()
    needed = [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]
    return needed, [line for line in lines if "RPATH" in line or "RUNPATH" in line]


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        made = cls.folder / "made"
        has_dpkg = shutil.which("dpkg-shlibdeps") and shutil.which("dpkg-deb")
        for kind in ("TGZ", "DEB") if has_dpkg else ("TGZ",):
            must(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", made)
        cls.version = must(BUILD / "trireme", "version")
        number = cls.version.split()[1]
        cls.name = f"trireme-{number}-linux-{os.uname().machine}"
        cls.deb = made / f"trireme_{number}_{must('dpkg', '--print-architecture').strip()}.deb" \
            if has_dpkg else None
        # A blank in the path: programs and scripts must not depend on where they are.
        there = cls.folder / "some where"
        there.mkdir()
        with tarfile.open(made / f"{cls.name}.tar.gz") as tarball:
            tarball.extractall(there)
        cls.root = there / cls.name
        cls.files = [path for path in cls.root.rglob("*") if path.is_file()]
        cls.programs = [path for path in cls.files if path.stat().st_mode & 0o111
                        and path.read_bytes().startswith(b"\x7fELF")]

    def test_contents(self):
        self.assertEqual([name for name in FILES if not (self.root / name).is_file()], [])
        for name in ("share/trireme/torch", "include/trireme/testing"):
            self.assertFalse((self.root / name).exists(), name)
        if not TORCH:
            self.assertFalse((self.root / "bin/trireme-worker").exists())

    def test_links_of_the_documents_lead_to_installed_files(self):
        documents = self.root / "share/doc/trireme"
        count, found = 0, []
        for page in sorted(documents.rglob("*.md")):
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
            text = re.sub(r"`[^`\n]*`", "", text)
            for target in re.findall(r"\]\(([^)\s#]+)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                name = os.path.normpath(page.parent.relative_to(documents) / target)
                # Headers are where compilers look for them.
                folder = self.root / "include" if name.startswith("trireme/") else documents
                count += 1
                if not (folder / name).exists():
                    found.append(f"{page.name}: {target}")
        self.assertGreater(count, 300)
        self.assertEqual(found, [])

    def test_no_library_is_searched_in_a_folder_of_the_build_machine(self):
        self.assertGreaterEqual(len(self.programs), 4)
        for path in self.programs:
            self.assertEqual(libraries(path)[1], [], path.name)

    def test_no_text_names_a_folder_of_the_build_machine(self):
        named = [os.fsencode(path) for path in (BUILD, SOURCES, TORCH) if str(path)]
        texts = [path for path in self.files if path.suffix != ".a" and path not in self.programs]
        self.assertGreater(len(texts), 100)
        self.assertEqual([path for path in texts if any(n in path.read_bytes() for n in named)], [])

    def test_the_program_runs_in_another_folder(self):
        alone = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        self.assertEqual(must(self.root / "bin/trireme", "version", env=alone, cwd="/"),
                         self.version)
        if TORCH:
            recipe = self.root / "share/trireme/recipes/csv_mlp.toml"
            self.assertIn("optim", must(self.root / "bin/trireme", "explain", recipe, env=alone))

    @unittest.skipUnless(TORCH, "no torch")
    def test_a_missing_torch_is_reported_with_its_remedy(self):
        fakes = []
        for file, text in (("version.py", "__version__ = '2.4.1+cpu'\n"),
                           ("build-version", "2.4.1+cpu\n")):  # a wheel, an archive of LibTorch
            fakes.append(self.folder / f"fake {file}")
            (fakes[-1] / "lib").mkdir(parents=True)
            (fakes[-1] / "lib/libtorch_cpu.so").touch()
            (fakes[-1] / file).write_text(text)
        for torch, words in (({}, "TRIREME_TORCH is not set"),
                             ({"TRIREME_TORCH": "/nowhere"}, "there is no PyTorch in /nowhere"),
                             *(({"TRIREME_TORCH": str(fake)}, "has PyTorch 2.4.1+cpu, and this")
                               for fake in fakes)):
            for name in WITH_TORCH:
                done = run(self.root / "bin" / name, "describe", env=without_torch(**torch))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertIn("export TRIREME_TORCH=", done.stderr)
                self.assertNotIn("shared librar", done.stderr)

    @unittest.skipUnless(TORCH, "no torch")
    def test_training_uses_the_torch_that_the_variable_names(self):
        job = self.folder / "job"
        job.mkdir()
        (job / "recipe.toml").write_text(RECIPE)
        (job / "points.csv").write_text(
            "a,b,kind\n" + "".join(f"{i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(32)))
        words = (self.root / "bin/trireme", "train", "recipe.toml", "-n", "2", "--output", "out")
        done = run(*words, cwd=job, env=without_torch())
        self.assertEqual((done.returncode, done.stderr.count("is not set")), (2, 1), done.stderr)
        self.assertFalse((job / "out").exists())

        # By another name, as in /usr/local/bin.
        (job / "trireme-worker").symlink_to(self.root / "bin/trireme-worker")
        env = without_torch(TRIREME_TORCH=TORCH)
        self.assertEqual(must(job / "trireme-worker", "describe", env=env),
                         (self.root / "bin/trireme-worker.json").read_text())
        must(*words, cwd=job, env=env)
        self.assertIn("loss", must(self.root / "bin/trireme", "eval", "out", cwd=job, env=env))

    def test_the_debian_package_has_the_same_files_and_declares_its_libraries(self):
        if not self.deb:
            self.skipTest("no dpkg here")
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.deb], check=True,
                              capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as files:
            packed = {name.removeprefix("./usr/") for name in
                      (member.name for member in files if member.isfile())}
        self.assertEqual(packed, {str(path.relative_to(self.root)) for path in self.files})

        declared = must("dpkg-deb", "-f", self.deb, "Depends")
        packages = set(re.findall(r"[\w.+-]+(?= \(|,|$)", declared))
        self.assertLessEqual({"libc6", "libstdc++6", "libssl3"}, packages)
        self.assertNotIn("torch", declared)
        self.assertNotIn("c10", declared)
        needed = set()
        for path in self.programs:
            private = r"lib(torch|c10|gomp)" if path.name in WITH_TORCH else "$"
            needed.update(name for name in libraries(path)[0] if not re.match(private, name))
        owners = must("dpkg", "-S", *(f"*/{library}" for library in sorted(needed)))
        for library in needed:
            found = re.findall(rf"^([\w.+-]+)[:,].*/{re.escape(library)}$", owners, re.MULTILINE)
            self.assertTrue(packages.intersection(found), f"{library} of {found}: {declared}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
