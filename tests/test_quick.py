"""Tests that the target `quick` builds all that the tests of `make test` run, and no device code without a GPU. Usage:
BUILD CTEST WITH_GPU.
"""

import json
import pathlib
import subprocess
import sys
import unittest

BUILD, CTEST, WITH_GPU = sys.argv[1:4]


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def labels(test):
    return next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])


def is_full(test):
    return any(label.startswith("full") for label in labels(test))


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = {str(pathlib.Path(BUILD, word)) for word in output_of("ninja", "-C", BUILD, "-t", "commands", "quick").split()}
        cls.tests = json.loads(output_of(CTEST, "--test-dir", BUILD, "--show-only=json-v1"))["tests"]

    def test_every_program_of_its_tests_is_built(self):
        for test in self.tests:
            if is_full(test):
                continue
            with self.subTest(test["name"]):
                self.assertIn("command", test, "its program is not built")
                program = test["command"][0]
                self.assertTrue(program in self.files or not program.startswith(BUILD), f"{program} is not built for it")

    def test_there_are_full_tests(self):
        self.assertIn("contract.cpu.pools_of_66_gib", [test["name"] for test in self.tests if is_full(test)])

    def test_what_the_rest_leaves_out_was_run(self):
        left_out = [test for test in self.tests if {"device", "alone"} & set(labels(test))]
        self.assertGreater(len(left_out), 100)
        self.assertFalse([test["name"] for test in left_out if is_full(test)])

    @unittest.skipIf(WITH_GPU == "ON", "there is a GPU for it")
    def test_no_device_code_is_compiled(self):
        self.assertEqual([name for name in self.files if name.endswith(".cu.o")], [])

    def test_plugins_of_a_sample_are_built(self):
        plugins = {pathlib.Path(name).name for name in self.files if "/plugins/cpu/" in name and name.endswith(".so")}
        self.assertTrue({"atomic_malloc.so", "atomic_malloc-applications.so", "comb.so"} <= plugins, plugins)
        self.assertNotIn("gallatin.so", plugins)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
