"""Goal:   the comparison of example outputs fails when it should.
Method: small expectations against outputs that differ in one way each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import expect


class Compare(unittest.TestCase):
    def test_wildcards_stand_for_any_text_and_only_that(self):
        self.assertTrue(expect.matches("pid * of (4)", "pid 17 of (4)"))
        self.assertFalse(expect.matches("pid * of (4)", "pid 17 of (5)"))
        self.assertFalse(expect.matches("a.c", "abc"))

    def test_ordered_lines_must_come_in_order_and_in_number(self):
        self.assertEqual(expect.compare(False, ["a", "b"], ["a", "b"]), [])
        self.assertEqual(len(expect.compare(False, ["a", "b"], ["b", "a"])), 2)
        self.assertEqual(len(expect.compare(False, ["a", "b"], ["a"])), 1)
        self.assertEqual(len(expect.compare(False, ["a"], ["a", "b"])), 1)

    def test_any_order_pairs_wide_patterns_with_what_is_left(self):
        self.assertEqual(expect.compare(True, ["*", "a*", "ab"], ["ab", "ac", "x"]), [])
        self.assertEqual(expect.compare(True, ["a*", "a*"], ["ab", "x"]),
                         ["never printed: a*", "not expected:  x"])

    def test_directives_are_not_lines(self):
        read = expect.read_expected("# first: a b\n# run: {trireme} run {example}\n"
                                    "# order: any\nhello\n")
        self.assertEqual(read, (["a b"], ["{trireme} run {example}"], True, ["hello"]))
        self.assertEqual(expect.read_expected("hello\n")[:2], ([], ["{example}"]))


class Program(unittest.TestCase):
    def run_with(self, text, example="true"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "x.expected")
            file.write_text(text)
            return subprocess.run([sys.executable, expect.__file__, str(file), "--trireme", "none",
                                   "--example", example], capture_output=True).returncode

    def test_exit_code_follows_output_and_example(self):
        self.assertEqual(self.run_with("# run: echo hello\nhel*\n"), 0)
        self.assertEqual(self.run_with("# run: echo hello\nbye\n"), 1)
        self.assertEqual(self.run_with("", "true"), 0)
        self.assertEqual(self.run_with("", "false"), 1)

    def test_every_command_must_print_it(self):
        self.assertEqual(self.run_with("# run: echo a\n# run: echo a\na\n"), 0)
        self.assertEqual(self.run_with("# run: echo a\n# run: echo b\na\n"), 1)
        self.assertEqual(self.run_with("# run: no-such-program\n# run: echo a\na\n"), 0)

    def test_what_comes_first_must_succeed_and_leaves_its_files(self):
        run = "# first: touch {scratch}/x\n# run: ls {scratch}\n"
        self.assertEqual(self.run_with(run + "x\n"), 0)
        self.assertEqual(self.run_with(run + "y\n"), 1)
        self.assertEqual(self.run_with("# first: false\n# run: echo a\na\n"), 1)

    def test_the_stand_in_for_ssh_runs_the_command_here(self):
        run = "# run: {ssh} node1 'echo $TRIREME_HOST;' echo two\nnode1\ntwo\n"
        self.assertEqual(self.run_with(run), 0)

    def test_warnings_of_the_launcher_are_not_the_examples(self):
        self.assertEqual(self.run_with("# run: echo trireme: warning: few cores\n"), 0)
        self.assertEqual(self.run_with("# run: echo trireme: something else\n"), 1)


if __name__ == "__main__":
    unittest.main()
