"""Includes of the front end point one way, from the program's surface down to its words."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "harness" / "front"

# A folder may include those before it.
ORDER = ["common", "statistics", "config", "plan", "log", "run", "results", "compare", "check", "cli"]
# Not every earlier folder is below: reports need no workers, the search needs no results.
NOT_BELOW = {"results": {"run"}, "compare": {"run"}, "check": {"results", "compare"}}


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
                    self.assertRegex(include, "^harness/(front|protocol)/")
                    if include.startswith("harness/front/"):
                        self.assertIn(include.split("/")[2], below)


class Protocol(unittest.TestCase):
    FOLDER = ROOT / "harness" / "protocol"

    def test_it_is_a_leaf(self):
        for path in sorted(self.FOLDER.glob("*.[ch]pp")):
            for include in includes(path):
                with self.subTest(file=path.name, include=include):
                    self.assertTrue(include.startswith("harness/protocol/"))

    def test_headers_for_plug_ins_are_free_of_json(self):
        def reached(path, seen):
            if path not in seen:
                seen.add(path)
                for include in includes(path):
                    reached(ROOT / include, seen)
            return seen

        for name in ("status", "parameter", "parameter_values", "sample", "command", "event", "description", "version", "model",
                     "checker_command", "checker_event", "checker_description"):
            for path in reached(self.FOLDER / f"{name}.hpp", set()):
                with self.subTest(header=name, reaches=path.name):
                    self.assertNotIn("nlohmann", path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
