"""Goal:   every rule of the tidy test can fail, and a tree that follows them all has no complaints.
Method: a small clean tree in a temporary folder, broken in one way at a time."""

import pathlib
import stat
import tempfile
import unittest

import properties
import tidy
from tree import Tree

HEADER = "// A Noun is one.\n\n#pragma once\n"
TEST = "// Goal: a\n// Method: b\n"
CLEAN = {
    "tests/tidy/layers.txt": "base  # first\nnet\ntrain torch\ncli\ntesting tests\n",
    "trireme/base/error.h": HEADER,
    "trireme/net/frame.h": HEADER + '#include "trireme/base/error.h"\n',
    "trireme/train/step.h": HEADER + "#include <torch/torch.h>\n",
    "trireme/testing/ranks.h": HEADER + '#include "trireme/net/frame.h"\n',
    "tests/all_test.cpp": TEST + "".join(
        f'#include "trireme/{name}.h"\n'
        for name in ("base/error", "net/frame", "train/step", "testing/ranks")),
    "trireme/cli/run.cpp": "\n",
    "examples/01_hello.cpp": '#include "trireme/net/frame.h"\n',
    "Makefile": "build: x\n\techo\nNAME := value\n",
    "README.md": "# Big `Title`\n\nSee `trireme/base/`, `frame.h`, [it](docs/a.md#a-part), "
                 "`make build JOBS=2`, `cat/dog`, `build/examples/01_hello`.\n\n"
                 "<!-- not run: it is made up -->\n```sh\n$ make build && build/trireme run -n 4 -- build/x --any\n```\n",
    "docs/a.md": "# A part\n[up](../README.md#big-title) [out](https://example.org/x)\n",
}
PROGRAM = """#!/bin/bash
case "$1" in
  run) echo "usage: trireme run [-n COUNT]" ;;
  --help) echo "usage: trireme COMMAND" ;;
  *) exit 2 ;;
esac
"""


class Rules(unittest.TestCase):
    def complaints(self, changes):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**CLEAN, **changes}.items():
                if text is not None:
                    path = pathlib.Path(root, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            with tempfile.NamedTemporaryFile("w", delete=False) as program:
                program.write(PROGRAM)
            path = pathlib.Path(program.name)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            try:
                return tidy.complaints(Tree(root), program.name)
            finally:
                path.unlink()

    def broken(self, changes, words, count=1):
        """These changes make `count` complaints, and one of them says `words`."""
        found = self.complaints(changes)
        self.assertEqual(len(found), count, found)
        self.assertTrue(any(words in text for _, _, text in found), found)

    def test_a_clean_tree_has_no_complaints(self):
        self.assertEqual(self.complaints({}), [])

    def test_layers(self):
        up = HEADER + '#include "trireme/net/frame.h"\n'
        cycle = self.complaints({"trireme/base/error.h": up})
        self.assertTrue(any("its layer is not above" in c[2] for c in cycle), cycle)
        self.assertTrue(any("includes itself" in c[2] for c in cycle), cycle)
        self.broken({"trireme/odd/x.cpp": "\n"}, "not in tests/tidy/layers.txt")
        self.broken({"trireme/net/x.cpp": '#include "frame.h"\n'}, "not written as")
        self.broken({"trireme/net/x.cpp": '#include "trireme/net/gone.h"\n'}, "does not exist")

    def test_messages_are_ascii(self):
        self.broken({"trireme/net/x.cpp": 'const char* k = "\u2026";\n'}, "a message is ASCII")
        self.assertEqual(self.complaints({"trireme/net/x.cpp": '// "\u2026"\nint x;  // "\u2026"\n'}),
                         [])

    def test_testing_is_for_tests(self):
        include = '#include "trireme/testing/ranks.h"\n'
        self.broken({"trireme/net/x.cpp": include}, "its layer is not above")
        self.broken({"examples/02_x.cpp": include}, "for tests alone")

    def test_torch_only_where_allowed(self):
        self.broken({"trireme/net/x.cpp": "#include <torch/torch.h>\n"}, "knows no torch")
        self.broken({"tests/net/x_test.cpp": TEST + "#include <ATen/ATen.h>\n"}, "knows no torch")
        self.assertEqual(self.complaints({"trireme/train/x.cpp": "#include <c10/x.h>\n"}), [])

    def test_headers(self):
        test = CLEAN["tests/all_test.cpp"] + '#include "trireme/net/x.h"\n'
        both = {"tests/all_test.cpp": test}
        self.broken({"trireme/net/x.h": "#pragma once\n", **both}, "starts with its contract")
        self.broken({"trireme/net/x.h": "// Noun.\nint x;\n", **both}, "#pragma once follows")
        self.broken({"trireme/net/x.h": HEADER + "#include <toml++/toml.h>\n", **both}, "heavy")
        self.broken({"trireme/net/x.h": HEADER}, "no test includes this header")

    def test_tests_say_why(self):
        self.broken({"tests/x_test.cpp": "// Goal: a\n"}, "Method")

    def test_names(self):
        self.broken({"trireme/net/x.cpp": "class FrameManager {\n"}, "is no name")

    def test_sizes_and_blanks(self):
        self.broken({"trireme/net/x.cpp": "//\n" * 601}, "601 lines")
        self.assertEqual(self.complaints({"trireme/net/x.cpp": "//\n" * 600}), [])
        self.broken({"trireme/net/x.cpp": "/" * 101 + "\n"}, "101 columns")
        self.assertEqual(self.complaints({"trireme/net/x.cpp": "/" * 100 + "\n"}), [])
        self.broken({"trireme/net/x.cpp": "int x; \n"}, "blanks at the end")
        self.broken({"trireme/net/x.cpp": "int x;"}, "no newline")

    def test_paths_in_documents(self):
        self.broken({"docs/b.md": "`trireme/base/gone.h`\n"}, "does not exist")
        self.broken({"docs/b.md": "`gone.h`\n"}, "does not exist")
        self.broken({"docs/b.md": "```\nrecipes/gone.toml\n```\n"}, "does not exist")
        self.broken({"docs/b.md": "`build/examples/02_gone`\n"}, "does not exist")

    def test_links_in_documents(self):
        self.broken({"docs/b.md": "[x](gone.md)\n"}, "leads nowhere")
        self.broken({"docs/b.md": "[x](a.md#gone)\n"}, "no such heading")
        code = {"docs/a.md": CLEAN["docs/a.md"] + "```\n# code\n```\n## `B` [c](a.md)\n"}
        self.broken({**code, "docs/b.md": "[x](a.md#code)\n"}, "no such heading")
        self.assertEqual(self.complaints({**code, "docs/b.md": "[x](a.md#b-c), `[y`\n"}), [])
        for link in ("[a\nb](a.md)", "[a][b]", "[b]: a.md", "<a href='a.md'>", "<img src='a.svg'>"):
            self.broken({"docs/b.md": link + "\n"}, "write a link as")

    def test_lists_and_tables(self):
        self.broken({"docs/b.md": "x:\n- a\n"}, "before this list")
        self.broken({"docs/b.md": "x\n| a |\n|---|\n"}, "before this table")
        good = "# x\n- a\n  b\n- c\n\n1. d\n    - e\n\n| f |\n|---|\n| g |\n\n```\nx\n- y\n```\n"
        self.assertEqual(self.complaints({"docs/b.md": good}), [])

    def test_commands_in_documents(self):
        self.broken({"docs/b.md": "`make gone`\n"}, "make gone: there is no such target")
        self.broken({"docs/b.md": "<!-- not run: x -->\n```sh\nA=1 make build gone\n```\n"}, "no such target")
        self.broken({"docs/b.md": "`trireme gone`\n"}, "there is no such command")
        self.broken({"docs/b.md": "`trireme run -n 4 --gone x`\n"}, "there is no such option")
        self.broken({"docs/b.md": "```\n$ build/trireme gone\n```\n"}, "there is no such command",
                    count=2)

    def test_examples_in_documents(self):
        self.broken({"docs/b.md": "x\n```cpp\nint x;\n```\n"}, "an example without")
        self.broken({"docs/b.md": "<!-- not run: -->\n```sh\nls\n```\n"}, "an example without")
        self.broken({"docs/b.md": "<!-- run by: gone.py -->\n```sh\nls\n```\n"}, "does not exist")
        self.broken({"docs/b.md": "```text\nmake build\n```\n"}, "begin the block with ```sh")
        run = {"docs/b.md": "<!-- run by: README.md -->\n```sh\nls\n```\n```toml\na = 1\n```\n",
               "notes.md": "```sh\nls\n```\n"}
        self.assertEqual(self.complaints(run), [])

    def test_the_index_lists_all_pages(self):
        self.broken({"docs/index.md": "[c](c/d.md)\n", "docs/c/d.md": "x\n"}, "docs/a.md is not")
        self.broken({"docs/index.md": "[a](a.md)\n", "NOTES.md": "x\n"}, "NOTES.md is not")
        self.assertEqual(self.complaints({"docs/index.md": "[a](a.md#a-part)\n"}), [])

    def test_public_headers(self):
        page = {"docs/api.md": "[`trireme/net/frame.h`](../trireme/net/frame.h)\n"}
        include = '#include "trireme/base/error.h"\n'
        self.assertEqual(self.complaints(page), [])
        self.broken({**page, "examples/02_x.cpp": include}, "does not list trireme/base/error.h")
        code = "<!-- not run: x -->\n```cpp\n" + include + "```\n"
        self.broken({**page, "docs/b.md": code}, "does not list trireme/base/error.h")

    def test_settings_in_documents(self):
        page = {"docs/config.md": "## `[train]`\n| `steps` |\n| `codec.kind` |\n"}
        self.broken({**page, "docs/b.md": "`train.step = 3`\n"}, "train.step: ")
        self.assertEqual(self.complaints({**page, "docs/b.md":
            "`train.steps=3`, `train.codec.kind`, `train.codec`, `train.bin`, `other.key`\n"}), [])

    def test_tested_properties(self):
        row = "| a | `all_test.cpp` | 0 |\n"
        page = properties.INTRODUCTION + "\n## tests\n\n| property | tests in `tests` | number |\n|---|---|---|\n"
        tree = {"tests/tidy/properties.py": "\n"}
        self.assertEqual(self.complaints({**tree, properties.PAGE: page + row}), [])
        self.broken({**tree, properties.PAGE: page}, "render it again")

    def test_records(self):
        page = ("| event | further fields | when |\n|---|---|---|\n"
                "| `ended` | `how` text; `why` text, if it failed | |\n"
                "| `rank started`, `worker started` | `rank` integer; `pid` integer | |\n"
                "| `session cut` | `why` text | |\n")
        code = ('void f() {\n  Record event{{"event", "ended"}, {"how", x}};\n'
                '  if (y) event.add({"why", z});\n}\n'
                'void g() {\n  publish(noun + " started", record.add({"pid", p}));\n}\n')
        server = 'void h() {\n  log.warn("session cut", {{"why", x}});\n}\n'
        tree = {"docs/metrics.md": page, "trireme/net/x.cpp": code, "trireme/net/server.cpp": server}
        self.assertEqual(self.complaints(tree), [])

        def changed(name, old, new):
            return {**tree, name: tree[name].replace(old, new)}

        self.broken(changed("docs/metrics.md", "`how` text; ", ""), "also has the field how")
        self.broken(changed("docs/metrics.md", "`why` text, if", "`what` text, if"), "no field what")
        self.broken(changed("docs/metrics.md", "`ended`", "`begun`"), "no event \"begun\"", count=2)
        self.broken(changed("trireme/net/x.cpp", '"ended"', 'a ? "ended" : "left"'),
                    'does not list the event "left"')
        self.broken(changed("trireme/net/x.cpp", '" started"', '" begun"'),
                    'does not list the event "worker begun"', count=4)
        self.broken(changed("trireme/net/server.cpp", "session cut", "session"), "session cut", count=2)

    def test_metrics(self):
        report = ('void Reporter::write_metrics(int) {\n  Record record{{"loss", 1}};\n'
                  '  if (x) {\n    record.add({"mfu", 1});\n  }\n}\n'
                  'void Reporter::evaluated(int) {\n  Record record{{"eval_loss", 1}};\n}\n')
        table = "| field | type | meaning |\n|---|---|---|\n"
        page = ("## Training metrics\n" + table + "| `step`, `loss`, `mfu` | |\n"
                "| `samples_per_second`, `tokens_per_second` | |\n"
                "## Evaluation metrics\n" + table + "| `step`, `eval_loss`, `eval_TASK_loss` | |\n")
        tree = {"docs/metrics.md": page, "trireme/train/report/reporter.cpp": report,
                "trireme/train/evaluate/scores.cpp": 'void f() {\n  add("loss", x);\n}\n'}
        self.assertEqual(self.complaints(tree), [])
        self.broken({**tree, "docs/metrics.md": page.replace("`mfu`", "`flops`")}, "field mfu", count=2)
        self.broken({**tree, "docs/metrics.md": page.replace(", `eval_TASK_loss`", "")}, "eval_TASK_loss")

    def test_meta_and_manifest(self):
        progress = ('std::string Progress::to_json() const {\n  ordered_json json{{"step", step},\n'
                    '    {"plateau",\n      {{"best", b}, {"bad", c}}}};\n  json["returned"].push_back(1);\n}\n')
        page = ("### The meta of a training job\n\n| field | type | contents |\n|---|---|---|\n"
                "| `step`, `plateau` | | `best` |\n| `returned`, `data` | | |\n")
        tree = {"docs/file_formats.md": page, "trireme/train/report/progress.cpp": progress}
        self.assertEqual(self.complaints(tree), [])
        self.broken({**tree, "docs/file_formats.md": page.replace("`step`, ", "")}, "field step of")
        self.broken({**tree, "docs/file_formats.md": page.replace("`data`", "`data`, `x`")}, "no field x")
        manifest = '  expect_fields(json, "a box",\n                {"begin", "sizes"});\n'
        tree = {"docs/checkpoints.md": "`begin` `sizes`\n",
                "trireme/checkpoint/format/manifest_text.cpp": manifest,
                "tests/tidy/layers.txt": CLEAN["tests/tidy/layers.txt"] + "checkpoint\n"}
        self.assertEqual(self.complaints(tree), [])
        self.broken({**tree, "docs/checkpoints.md": "`begin`\n"}, "does not list the field sizes")

    def test_packages(self):
        setup = "A_PACKAGES=(\n  cmake ninja  # build\n)\nPYTHON_PACKAGES=(torch)\n"
        page = "| Debian package | for |\n|---|---|\n| cmake, ninja | x |\n"
        tree = {"scripts/setup.sh": setup, "docs/building.md": page}
        self.assertEqual(self.complaints(tree), [])
        self.broken({**tree, "docs/building.md": page + "| zstd | y |\n"}, "not install zstd")
        self.broken({**tree, "docs/building.md": page.replace(", ninja", "")}, "ninja, which is not")

    def test_make_variables(self):
        tree = {"Makefile": CLEAN["Makefile"] + "SEED ?= 1\n", "docs/building.md": "`SEED=7`\n"}
        self.assertEqual(self.complaints(tree), [])
        self.broken({**tree, "docs/building.md": "SEEDS=7\n"}, "does not say what SEED= is")

    def test_machine_paths(self):
        path = "/" + "home/somebody/x"
        self.broken({"trireme/net/x.cpp": f'open("{path}");\n'}, "a path of one machine")
        self.broken({"notes.txt": f"in {path}\n"}, "a path of one machine")
        self.assertEqual(self.complaints({"docs/b.md": f"see https://example.org{path}\n"}), [])


if __name__ == "__main__":
    unittest.main()
