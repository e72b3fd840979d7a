"""Tests that `--describe` keeps its keys, their order and the values of workloads, on which the front end depends."""

import json
import pathlib
import unittest

from worker_process import run

GOLDEN = pathlib.Path(__file__).parent / "golden"
PARAMETER_KEYS = ["name", "type", "unit", "default", "minimum", "maximum", "choices", "power_of_two", "description", "source"]
OPTIONAL_KEYS = {"minimum", "maximum", "choices", "power_of_two"}
TYPES = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "integers": list}


class Describe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = run("--describe").stdout
        cls.description = json.loads(cls.text)

    def check_parameters(self, owner):
        for parameter in owner["parameters"]:
            with self.subTest(owner=owner["name"], parameter=parameter["name"]):
                present = [key for key in PARAMETER_KEYS if key not in OPTIONAL_KEYS or key in parameter]
                self.assertEqual(list(parameter), present)
                self.assertIsInstance(parameter["default"], TYPES[parameter["type"]])
                self.assertTrue(parameter["description"])
                self.assertTrue(parameter["source"])
                if parameter["type"] in ("integer", "number"):
                    self.assertLessEqual(parameter.get("minimum", parameter["default"]), parameter["default"])
                    self.assertGreaterEqual(parameter.get("maximum", parameter["default"]), parameter["default"])
                if "choices" in parameter:
                    self.assertIn(parameter["default"], parameter["choices"])

    def test_top_level(self):
        self.assertEqual(list(self.description), ["protocol", "backend", "revision", "measured_revision", "compiler", "allocators", "workloads", "metrics",
                                                  "plugins", "broken_plugins"])
        self.assertEqual(self.description["protocol"], 1)

    def test_every_plugin_says_from_which_sources_it_was_linked(self):
        self.assertEqual(self.description["broken_plugins"], [])
        plugins = self.description["plugins"]
        self.assertEqual({allocator["plugin"] for allocator in self.description["allocators"]}, {each["plugin"] for each in plugins})
        for each in plugins:
            self.assertEqual(list(each), ["plugin", "file", "measured_revision"])
            self.assertTrue(pathlib.Path(each["file"]).exists())
            if not each["plugin"].endswith("_original"):
                self.assertRegex(each["measured_revision"], "^[0-9a-f]{12}$")

    def test_allocators(self):
        names = [a["name"] for a in self.description["allocators"]]
        self.assertIn("atomic_malloc", names)
        self.assertEqual(len(names), len(set(names)))
        for allocator in self.description["allocators"]:
            self.assertEqual(list(allocator), ["name", "display_name", "paper", "summary", "form", "based_on", "plugin", "frees", "alignment",
                                               "pool", "fresh", "keeps_device_heap", "test_only", "restrictions", "parameters"])
            self.assertIn(allocator["frees"], ("individually", "never", "in_bulk"))
            self.assertIn(allocator["pool"], ("arena", "device_heap", "arena_and_device_heap", "own"))
            self.assertIn(allocator["fresh"], ("reset", "process"))
            if allocator["keeps_device_heap"]:
                self.assertEqual((allocator["fresh"], allocator["pool"]), ("process", "device_heap"), allocator["name"])
            self.assertEqual("free does nothing" in allocator["restrictions"], allocator["frees"] == "never", allocator["name"])
            self.check_parameters(allocator)

    def test_designs_without_a_paper_are_no_published_form(self):
        forms = {a["name"]: a["form"] for a in self.description["allocators"]}
        for name, form in (("comb", "own"), ("delayed_comb", "delayed"), ("cuda_malloc", "original"), ("atomic_malloc", "published"),
                           ("simple_queue", "published"), ("c_malloc_no_merge", "ablation"), ("scatteralloc_no_reset", "ablation")):
            if name in forms:
                self.assertEqual(forms[name], form, name)

    def test_allocators_of_equal_blocks_say_so(self):
        equal = {a["name"] for a in self.description["allocators"] if "serves one size of block only" in a["restrictions"]}
        walks = {"rw", "rw_bm", "crw", "corw", "simple_queue"}
        known = walks | {f"{name}_reworked" for name in walks} | {f"{name}_64" for name in ("rw_bm", "crw", "corw")} | {"slab"}
        self.assertLessEqual(equal, known)
        self.assertEqual({a["name"] for a in self.description["allocators"]} & known, equal)

    def test_workloads_and_their_defaults_are_the_golden_ones(self):
        for workload in self.description["workloads"]:
            self.assertEqual(list(workload), ["name", "display_name", "paper", "summary", "phases", "untimed_kernels",
                                              "null_expected", "parameters"])
            self.check_parameters(workload)
        short = {w["name"]: {"phases": w["phases"], "defaults": {p["name"]: p["default"] for p in w["parameters"]}}
                 for w in self.description["workloads"]}
        golden = json.loads((GOLDEN / "workloads.json").read_text())
        for name, expected in golden.items():
            self.assertEqual(short[name], expected, name)

    def test_metrics(self):
        names = [m["name"] for m in self.description["metrics"]]
        self.assertEqual(len(names), len(set(names)))
        for metric in self.description["metrics"]:
            self.assertEqual(list(metric), ["name", "unit", "better", "description", "source"])
            self.assertIn(metric["better"], ("lower", "higher", "none"))
            self.assertIn(metric["source"], ("harness", "workload", "counted", "allocator"))


if __name__ == "__main__":
    unittest.main()
