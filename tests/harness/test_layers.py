"""Checks that includes point one way (CONTRIBUTING.md), between the parts of the project and between the folders of a
part. Modules of plots must not import each other in a circle.
"""

import ast
import graphlib
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "harness" / "front"
SOURCES = (".hpp", ".cpp", ".cu", ".in")

# A folder may include the folders before it in its list.
ORDERS = {
    "harness/front": ["common", "statistics", "config", "plan", "log", "workers", "run", "results", "compare", "check", "cli"],
    "allocators/support": ["contract", "common", "adaptors", "saboteur"],
    "workloads/support": ["parallel", "inputs", "random", "requests", "contract", "kernels", "verification", "callers", "occupancy"],
}
# Not every earlier folder may be included: reports need no workers, and the search needs workers but no rounds and results.
NOT_BELOW = {"results": {"workers", "run"}, "compare": {"workers", "run"}, "check": {"run", "results", "compare"}}

# These plug-ins and workloads include others.
OTHERS = {
    "allocators/delayed": {"bump", "comb"},
    "allocators/fdgmalloc": {"circular_malloc", "cuda_malloc", "kma"},
    "allocators/flatter_scatter": {"scatteralloc"},
    "workloads/kd_tree": {"alloc_dealloc"},
    "workloads/scenario": {"pairs"},
    "workloads/work_generation": {"prefix_sum"},
    "workloads/write_performance": {"prefix_sum"},
}

# A part may include these parts besides itself.
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
    return "/".join(folders[:2]) if "/".join(folders[:2]) in PARTS else folders[0]


def includes(path):
    return re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))


def included_by(folder):
    """Yields pairs of a file below `folder` and a project header that it includes, as paths from the root."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in SOURCES:
            for include in includes(path):
                if "/" in include:  # the header is not beside the file, or belongs to a library
                    yield path.relative_to(ROOT).as_posix(), include


def folders_in(folder):
    return sorted(each.name for each in (ROOT / folder).iterdir() if each.is_dir())


def circle_of(graph):
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(map(str, error.args[1]))
    return None


class Parts(unittest.TestCase):
    def test_every_part_has_its_place(self):
        self.assertEqual({part for part in PARTS if part.startswith("harness/")}, {f"harness/{each}" for each in folders_in("harness")})

    def test_includes_point_one_way(self):
        for part, below in PARTS.items():
            for file, include in included_by(part):
                if part_of(file) == part:
                    with self.subTest(file=file, include=include):
                        self.assertIn(part_of(include), below | {part})


class Folders(unittest.TestCase):
    def test_every_folder_has_its_place(self):
        for folder, order in ORDERS.items():
            with self.subTest(folder=folder):
                self.assertEqual(sorted(order), folders_in(folder))

    def test_includes_point_one_way(self):
        for folder, order in ORDERS.items():
            for file, include in included_by(folder):
                if include.startswith(f"{folder}/"):
                    here, there = file[len(folder) + 1 :].split("/")[0], include[len(folder) + 1 :].split("/")[0]
                    with self.subTest(file=file, include=include):
                        self.assertIn(there, set(order[: order.index(here) + 1]) - NOT_BELOW.get(here, set()))

    def test_the_front_end_includes_only_the_protocol(self):
        for file, include in included_by("harness/front"):
            with self.subTest(file=file, include=include):
                self.assertRegex(include, "^(harness/front|protocol|traces)/")

    def test_no_circle(self):
        graph = {}
        for part in PARTS:
            for file, include in included_by(part):
                here, there = Path(file).parent, Path(include).parent
                # simt/ and its back ends are one folder here.
                if here not in (there, *there.parents) and there not in here.parents:
                    graph.setdefault(here, set()).add(there)
        self.assertIn(Path("workloads/support/contract"), graph[Path("workloads/support/verification")])
        self.assertIsNone(circle_of(graph))

    def test_plug_ins_stand_beside_what_serves_them(self):
        for part, line in (("allocators", r"^allocbench_add_allocator\(\w+ HEADER (\w+)/"), ("workloads", r"^allocbench_add_workload\((\w+)")):
            added = re.findall(line, (ROOT / part / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)
            self.assertEqual(sorted({*added, "support"}), folders_in(part))
        for part in ("allocators", "workloads"):
            for file, include in included_by(part):
                here, there = file.split("/")[1], include.split("/")[1]
                if "/" in file[len(part) + 1 :] and include.startswith(f"{part}/"):
                    with self.subTest(file=file, include=include):
                        self.assertIn(there, {"support", here} | OTHERS.get(f"{part}/{here}", set()) if here != "support" else {"support"})


class Protocol(unittest.TestCase):
    FOLDER = ROOT / "protocol"

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
    """Returns the modules of plots that a file imports, including imports for types and inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{each.name}" for each in node.names}
    return found


class Plots(unittest.TestCase):
    FOLDER = ROOT / "plots"
    # A folder may import the folders before it. All may import theory.py, which imports no module of plots.
    ORDER = ["sheet", "runs", "ledger", "figures", "studies", "texts", "advice", "webpage", "reference", "commands"]
    INSIDE_FIGURES = ["model", "panel", ""]  # "" is the folder figures/ itself, with the kinds
    # Not every earlier folder may be imported.
    NOT_BELOW = {"texts": {"figures", "studies"}, "advice": {"ledger", "studies", "texts"}, "webpage": {"studies", "texts"}}

    def setUp(self):
        self.modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted(self.FOLDER.rglob("*.py"))}
        self.graph = {name: (imported(path) & self.modules.keys()) - {name} for name, path in self.modules.items()}

    def test_no_circle(self):
        self.assertIn("plots.runs.results", self.graph["plots.figures.model.chart"])
        self.assertIsNone(circle_of(self.graph))

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
