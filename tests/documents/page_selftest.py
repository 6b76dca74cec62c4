"""Goal:   a page whose commands fail, print something else, or quote what is not there is noticed.
Method: small pages, each wrong in one way."""

import os
import pathlib
import tempfile
import unittest

import page


def commands(text):
    return f"{page.MARK}\n```sh\n{text}\n```\n"


def output(text):
    return f"<!-- output -->\n```text\n{text}\n```\n"


class Pages(unittest.TestCase):
    def complaints(self, text):
        with tempfile.TemporaryDirectory() as folder:
            return page.run(text, pathlib.Path(folder), dict(os.environ))

    def test_commands_share_a_shell_and_a_folder(self):
        text = ("<!-- file: a.toml -->\n```toml\nx = 1\n```\n" + commands("name=b; cat a.toml")
                + output("x = 1") + commands("echo $name >c; cat c") + output("b"))
        self.assertEqual(self.complaints(text), [])

    def test_a_failing_command(self):
        found = self.complaints(commands("true") + commands("false; echo more"))
        self.assertEqual(len(found), 1)
        self.assertIn("false", found[0])
        self.assertNotIn("true", found[0])
        self.assertEqual(len(self.complaints(commands("cat gone | wc -l"))), 1)
        self.assertEqual(len(self.complaints(commands("echo $not_set"))), 1)

    def test_numbers_may_differ_and_words_may_not(self):
        printed = commands("echo '[0] loss 0.25, 1.2k samples/s'; echo end")
        self.assertEqual(self.complaints(printed + output("[0] loss 3e-05, 980 samples/s")), [])
        self.assertEqual(self.complaints(printed + output("[0] loss ...\n...\nend")), [])
        self.assertEqual(len(self.complaints(printed + output("[0] loss 3e-05"))), 1)
        self.assertEqual(len(self.complaints(printed + output("end\n[0] loss ..."))), 1)
        self.assertEqual(len(self.complaints(printed + commands("echo a") + output("end"))), 1)

    def test_blocks_without_a_mark_are_not_run(self):
        self.assertEqual(self.complaints("```sh\nfalse\n```\n" + commands("true")), [])

    def test_quotations(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "a.cpp").write_text("int a;  // first\n  int b;\nint c;\n")
            quoted = f"{page.MARK}\n```cpp\n// a.cpp\n%s\n```\n"
            for lines, count in (("int a;\n\nint c;", 0), ("int b;  // why", 0), ("int d;", 1),
                                 ("int c;\nint a;", 1)):
                found = page.quotations_are_exact(quoted % lines, root)
                self.assertEqual(len(found), count, (lines, found))


if __name__ == "__main__":
    unittest.main()
