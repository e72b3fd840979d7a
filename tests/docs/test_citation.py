"""Checks that CITATION.cff has the version of the project, and a reference for every paper that has a page.

    test_citation.py ROOT
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def references() -> list[tuple[str, str]]:
    """Returns the title and the year of each reference."""
    return [(re.search(r'title: "(.+)"', entry)[1], re.search(r"^ +year: (\d+)$", entry, re.M)[1])
            for entry in CITATION.split("references:\n")[1].split("  - type: ")[1:]]


class Citation(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self):
        project = re.search(r"project\(allocbench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(re.search(r"^version: (.+)$", CITATION, re.M)[1], project)

    def test_every_paper_with_a_page_is_cited(self):
        pages = list((ROOT / "docs/papers").glob("*[0-9].md"))
        self.assertEqual(sorted(year for _, year in references()), sorted(page.stem[-4:] for page in pages))
        heads = [" ".join(page.read_text(encoding="utf-8").split()[:60]).lower() for page in pages]
        for title, year in references():
            words = re.split(r"[:?] ", title.lower())[-2:]  # pages shorten titles
            self.assertTrue(any(year in head and any(word in head for word in words) for head in heads), title)


if __name__ == "__main__":
    unittest.main()
