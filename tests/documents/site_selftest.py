"""Goal:   the site shows every page that docs/index.md lists, under its title and with working links,
        and wide tables fit; comments of headers become comments of Doxygen, and no line moves.
Method: a small tree for the pages; headers as texts; and all pages of this tree are prepared as
        `make docs` does it, without mkdocs and Doxygen."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docs"))
import comments  # noqa: E402
import site_pages  # noqa: E402

TREE = {
    "README.md": "# Top\n[a](docs/a.md#x) [LICENSE](LICENSE) [web](https://example.org)\n",
    "LICENSE": "free\n",
    "docs/index.md": "# All\n[top](../README.md)\n\n## One\n\n[A page](a.md), [Guide](b.md#y)\n\n"
                     "## Two\n\n[A page](a.md) [c](../c.md)\n",
    "docs/a.md": "# A\n<!-- not run: x -->\n```sh\n[no](link.md)\n```\n`trireme/x.h`, `trireme/y.h`, "
                 "[x](../trireme/x.h), [b.md](b.md#y), ![p](p.svg)\n\n| `a\\|b` |\n",
    "docs/b.md": "# B\n",
    "docs/p.svg": "<svg/>\n",
    "c.md": "# C\n",
    "trireme/x.h": "// Functions.\n\n#pragma once\n",
}
API = {"trireme/x.h": "x_8h.html"}


class Pages(unittest.TestCase):
    def site(self, folder, changes=None):
        for name, text in {**TREE, **(changes or {})}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        parts = site_pages.read_parts(pathlib.Path(folder))
        return parts, site_pages.Site(pathlib.Path(folder), site_pages.titles_of(parts), API)

    def test_navigation_is_that_of_the_index(self):
        with tempfile.TemporaryDirectory() as folder:
            parts, _ = self.site(folder)
            self.assertEqual(parts, [
                ("Overview", [("Trireme", "README.md"), ("All pages", "docs/index.md")]),
                ("One", [("A page", "docs/a.md"), ("Guide", "docs/b.md")]), ("Two", [("c", "c.md")])])

    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            _, site = self.site(folder)
            self.assertEqual(site.render("README.md"), "# Top\n[a](docs/a.md#x) "
                             "[LICENSE](LICENSE.txt) [web](https://example.org)\n")
            self.assertEqual(site.render("docs/a.md"), "# A\n```sh\n[no](link.md)\n```\n"
                             "[`trireme/x.h`](../api/x_8h.html), `trireme/y.h`, "
                             "[x](../api/x_8h.html), [Guide](b.md#y), ![p](p.svg)\n\n| `a|b` |\n")
            self.assertEqual(site.files, {"LICENSE", "docs/p.svg"})

    def test_names_in_a_wide_table_may_break(self):
        with tempfile.TemporaryDirectory() as folder:
            _, site = self.site(folder, {"docs/b.md": "| `a.b_c` |" + " |" * site_pages.MAX_COLUMNS})
            page = site.render("docs/b.md")
            self.assertTrue(site_pages.is_wide(page))
            self.assertTrue(page.startswith("| <code>a.<wbr>b_<wbr>c</code> |"), page)
            self.assertFalse(site_pages.is_wide("| `a\\|b` " * site_pages.MAX_COLUMNS + "|"))

    def test_pages_of_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            self.site(root, {"trireme/y.h": "// Noun is one.\n\n#pragma once\n\n"
                                            "namespace trireme {\nclass Noun {\n};\n}\n",
                             "tags.xml": "<tagfile>" + "".join(
                                 f"<compound kind='{kind}'><name>{name}</name><path>{root}/trireme/</path>"
                                 f"<filename>{page}</filename></compound>" for kind, name, page in (
                                     ("file", "x.h", "x_8h.html"), ("file", "y.h", "y_8h.html"),
                                     ("class", "trireme::Noun", "noun.html"))) + "</tagfile>"})
            self.assertEqual(site_pages.read_api(root, root),
                             {"trireme/x.h": "x_8h.html", "trireme/y.h": "noun.html"})

    def test_a_page_that_is_not_listed_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            _, site = self.site(folder, {"docs/b.md": "[d](d.md)\n", "docs/d.md": "# D\n"})
            self.assertRaisesRegex(SystemExit, "docs/d.md", site.render, "docs/b.md")

    def test_the_pages_of_this_tree(self):
        parts = site_pages.read_parts(ROOT)
        site = site_pages.Site(ROOT, site_pages.titles_of(parts), {})
        pages = [site.render(page) for page in site.pages]
        self.assertGreater(len(pages), 30)
        self.assertEqual([heading for heading, _ in parts],
                         ["Overview", "Tutorials", "How-to guides", "Reference", "Internals"])


class Comments(unittest.TestCase):
    def converted(self, text):
        lines = comments.convert(text.split("\n"))
        self.assertEqual(len(lines), len(text.split("\n")))
        return lines

    def test_the_contract_describes_the_type(self):
        lines = self.converted("// A Noun is <one>.\n//\n//   noun.go();  // fast\n//\n"
                               "// Errors:  none;\n//          never.\n\n#pragma once\n\n"
                               "namespace trireme::y {\nclass Far;\n}\n"
                               "namespace trireme::x {\n\nclass Other;\nclass [[nodiscard]] Noun {\n};\n\n}")
        self.assertEqual(lines[:10], [
            "/// @class trireme::x::Noun", r"/// A Noun is \<one\>.", "/// ",
            "///     noun.go();  // fast", "/// ", "/// - **Errors:** none;", "///   never.",
            "", "/// @file", "namespace trireme::y {"])

    def test_the_contract_of_a_file(self):
        self.assertEqual(self.converted("// Functions.\n\n#pragma once\n")[:2],
                         ["/// @file", "/// Functions."])

    def test_comments_of_declarations(self):
        head = "// Functions.\n\n#pragma once\n\n"
        lines = self.converted(head + "// Goes `a<b>` & b.\nvoid go();\n\n// A heading.\n\n"
                               "int x = 0;  // long\n            // and longer\n"
                               "}  // namespace x\nint y;  // NOLINT(x)")
        self.assertEqual(lines[4:], [
            r"/// Goes `a<b>` \& b.", "void go();", "", "// A heading.", "", "int x = 0;  ///< long",
            "            ///< and longer", "}  // namespace x", "int y;  // NOLINT(x)"])

    def test_every_public_header_has_a_contract(self):
        headers = site_pages.listed_headers(ROOT)
        self.assertGreater(len(headers), 50)
        for header in headers:
            lines = comments.convert((ROOT / header).read_text().splitlines())
            self.assertRegex(lines[0], "^/// @(?:file|class|struct|enum)", header)
            self.assertRegex(lines[1], "^/// .", header)


if __name__ == "__main__":
    unittest.main()
