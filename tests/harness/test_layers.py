"""Includes point one way, as CONTRIBUTING.md draws it: between the parts of the project and inside the front end. Modules of plots
do not import each other in a circle."""

import ast
import graphlib
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "harness" / "front"

# A folder may include those before it.
ORDER = ["common", "statistics", "config", "plan", "log", "run", "results", "compare", "check", "cli"]
# Not every earlier folder is below: reports need no workers, the search needs no results.
NOT_BELOW = {"results": {"run"}, "compare": {"run"}, "check": {"results", "compare"}}

# The parts that a part may include besides itself.
DEVICE = {"simt", "protocol"}
PARTS = {
    "simt": set(),
    "traces": set(),
    "protocol": set(),
    "harness/plugins": set(),
    "allocators": DEVICE | {"traces"},
    "containers": {"simt", "allocators"},
    "workloads": DEVICE | {"traces", "allocators", "containers"},
    "check": DEVICE | {"allocators"},
    "harness/worker": DEVICE | {"allocators", "containers", "workloads", "harness/plugins"},
    "check/worker": DEVICE | {"allocators", "check", "harness/plugins"},
    "harness/front": {"traces", "protocol"},
}


def part_of(path):
    folders = path.split("/")
    return "/".join(folders[:2]) if folders[0] == "harness" else folders[0]


def includes(path):
    return re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))


class Parts(unittest.TestCase):
    def test_every_part_has_its_place(self):
        harness = {f"harness/{each.name}" for each in (ROOT / "harness").iterdir() if each.is_dir()}
        self.assertEqual({part for part in PARTS if part.startswith("harness/")}, harness)

    def test_includes_point_one_way(self):
        for part, below in PARTS.items():
            for path in sorted((ROOT / part).rglob("*")):
                if path.suffix not in (".hpp", ".cpp", ".cu", ".in"):
                    continue
                for include in includes(path):
                    if "/" not in include:  # beside the file, or of a library
                        continue
                    with self.subTest(file=str(path.relative_to(ROOT)), include=include):
                        self.assertIn(part_of(include), below | {part})


class FrontEnd(unittest.TestCase):
    def test_every_folder_has_its_place(self):
        self.assertEqual(sorted(ORDER), sorted(each.name for each in FRONT.iterdir() if each.is_dir()))

    def test_includes_point_one_way(self):
        for path in sorted(FRONT.rglob("*.[ch]pp")):
            folder = path.relative_to(FRONT).parts[0]
            below = set(ORDER[: ORDER.index(folder) + 1]) - NOT_BELOW.get(folder, set())
            for include in includes(path):
                with self.subTest(file=str(path.relative_to(ROOT)), include=include):
                    self.assertRegex(include, "^(harness/(front|protocol)|traces)/")
                    if include.startswith("harness/front/"):
                        self.assertIn(include.split("/")[2], below)


class Protocol(unittest.TestCase):
    FOLDER = ROOT / "harness" / "protocol"

    def test_it_is_a_leaf(self):
        for path in sorted(self.FOLDER.glob("*.[ch]pp")):
            for include in includes(path):
                with self.subTest(file=path.name, include=include):
                    self.assertTrue(include.startswith("protocol/"))

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


def imported(path):
    """The modules of plots that a file imports, imports for types and inside functions included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{each.name}" for each in node.names}
    return found


class Plots(unittest.TestCase):
    FOLDER = ROOT / "plots"
    # A folder may import those before it; theory.py, which imports nothing, is below all.
    ORDER = ["sheet", "runs", "ledger", "figures", "studies", "texts", "advice", "webpage", "commands"]
    INSIDE_FIGURES = ["model", "panel", ""]  # "" holds the kinds themselves
    # Not every earlier folder is below.
    NOT_BELOW = {"texts": {"figures", "studies"}, "advice": {"ledger", "studies", "texts"}, "webpage": {"studies", "texts"}}

    def setUp(self):
        self.modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted(self.FOLDER.rglob("*.py"))}
        self.graph = {name: (imported(path) & self.modules.keys()) - {name} for name, path in self.modules.items()}

    def test_no_circle(self):
        self.assertIn("plots.runs.results", self.graph["plots.figures.model.chart"])
        try:
            graphlib.TopologicalSorter(self.graph).prepare()
        except graphlib.CycleError as error:
            self.fail(" -> ".join(error.args[1]))

    def test_every_folder_has_its_place(self):
        def folders(path):
            return sorted(each.name for each in path.iterdir() if any(each.glob("*.py")))

        self.assertEqual(sorted(self.ORDER), folders(self.FOLDER))
        self.assertEqual(sorted(filter(None, self.INSIDE_FIGURES)), folders(self.FOLDER / "figures"))
        self.assertEqual({"__init__.py", "__main__.py", "theory.py"}, {path.name for path in self.FOLDER.glob("*.py")})

    def test_imports_point_one_way(self):
        for name, found in self.graph.items():
            folder, *inside = name.split(".")[1:]
            if folder not in self.ORDER:
                continue
            below = set(self.ORDER[: self.ORDER.index(folder) + 1]) - self.NOT_BELOW.get(folder, set())
            for other in found - {"plots", "plots.theory"}:
                with self.subTest(module=name, imports=other):
                    its_folder, *its_inside = other.split(".")[1:]
                    self.assertIn(its_folder, below)
                    if folder == its_folder == "figures":
                        place, its_place = (self.INSIDE_FIGURES.index(parts[0] if len(parts) > 1 else "") for parts in (inside, its_inside))
                        self.assertLessEqual(its_place, place)


if __name__ == "__main__":
    unittest.main()
