"""Checks that CITATION.cff has the version of the project, one reference for each paper that has a page, and
otherwise only papers of allocators.

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

    def test_each_paper_with_a_page_is_cited_once_and_the_others_are_papers_of_allocators(self):
        heads = {page.stem: " ".join(page.read_text(encoding="utf-8").split()[:60]).lower() for page in (ROOT / "docs/papers").glob("*[0-9].md")}
        papers = (ROOT / "docs/catalogue.md").read_text(encoding="utf-8")
        cited = []
        for title, name, year in references():
            words = re.split(r"[:?] ", title.lower())[-2:]  # pages shorten titles
            pages = [page for page, head in heads.items() if page.endswith(year) and any(word in head for word in words)]
            cited += pages
            self.assertTrue(pages or re.search(rf"{name}[^|]* {year}", papers), title)
        self.assertEqual(sorted(cited), sorted(heads))



if __name__ == "__main__":
    unittest.main()
