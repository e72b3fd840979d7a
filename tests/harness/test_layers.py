"""Includes of the front end point one way, from the program's surface down to its words."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "harness" / "front"

# A folder may include those before it.
ORDER = ["common", "config", "plan", "log", "run", "results", "check", "cli"]
# Not every earlier folder is below: reports need no workers, the search needs no results.
NOT_BELOW = {"results": {"run"}, "check": {"results"}}


def includes(path):
    return re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))


class Layers(unittest.TestCase):
    def test_every_folder_has_its_place(self):
        self.assertEqual(sorted(ORDER), sorted(each.name for each in FRONT.iterdir() if each.is_dir()))

    def test_includes_point_one_way(self):
        for path in sorted(FRONT.rglob("*.[ch]pp")):
            folder = path.relative_to(FRONT).parts[0]
            below = set(ORDER[: ORDER.index(folder) + 1]) - NOT_BELOW.get(folder, set())
            for include in includes(path):
                with self.subTest(file=str(path.relative_to(ROOT)), include=include):
                    self.assertTrue(include.startswith("harness/front/"), "the front end includes only itself")
                    self.assertIn(include.split("/")[2], below)


if __name__ == "__main__":
    unittest.main()
