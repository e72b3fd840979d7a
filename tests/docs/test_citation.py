"""Checks that CITATION.cff has the version of the project, a reference for every paper that has a page, and otherwise
only papers of allocators.

    test_citation.py ROOT
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def references() -> list[tuple[str, str, str]]:
    """Returns the title, the first author and the year of each reference."""
    return [(re.search(r'title: "(.+)"', entry)[1], re.search(r"family-names: ([^,]+)", entry)[1], re.search(r"^ +year: (\d+)$", entry, re.M)[1])
            for entry in CITATION.split("references:\n")[1].split("  - type: ")[1:]]


class Citation(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self):
        project = re.search(r"project\(allocbench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(re.search(r"^version: (.+)$", CITATION, re.M)[1], project)

    def test_every_paper_with_a_page_is_cited(self):
        for page in (ROOT / "docs/papers").glob("*[0-9].md"):
            head = " ".join(page.read_text(encoding="utf-8").split()[:60]).lower()
            words = [re.split(r"[:?] ", title.lower()) for title, _, year in references() if year == page.stem[-4:]]  # pages shorten titles
            self.assertTrue(any(word in head for each in words for word in each[-2:]), page.stem)

    def test_the_other_references_are_papers_of_allocators(self):
        papers = (ROOT / "docs/catalogue.md").read_text(encoding="utf-8")
        pages = [page.stem[-4:] for page in (ROOT / "docs/papers").glob("*[0-9].md")]
        others = [(name, year) for _, name, year in references() if year not in pages]
        self.assertTrue(others)
        for name, year in others:
            self.assertRegex(papers, rf"{name}[^|]* {year}")



if __name__ == "__main__":
    unittest.main()
