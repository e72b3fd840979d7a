"""Tests that ALLOCBENCH_ALLOCATORS chooses the plug-ins of a build. Usage: CMAKE SOURCE."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1:3]


def configure(build, allocators):
    return subprocess.run([CMAKE, "-S", SOURCE, "-B", build, "-G", "Ninja", "-DALLOCBENCH_CUDA=OFF", "-DALLOCBENCH_TESTS=OFF",
                           "-DALLOCBENCH_BENCHMARKS=OFF", f"-DALLOCBENCH_ALLOCATORS={allocators}"],
                          capture_output=True, text=True, check=False)


class Selection(unittest.TestCase):
    def test_chosen_ones_are_built_and_others_removed(self):
        with tempfile.TemporaryDirectory() as build:
            folder = pathlib.Path(build, "bin/plugins/cpu")
            folder.mkdir(parents=True)
            for name in ("halloc.so", "halloc-applications.so", "comb.so", "mine.so"):
                (folder / name).touch()
            result = configure(build, "atomic_malloc;comb")
            self.assertEqual(result.returncode, 0, result.stderr)
            plugins = subprocess.run(["ninja", "-C", build, "-t", "query", "allocators/plugins_cpu"], capture_output=True, text=True,
                                     check=True).stdout
            self.assertEqual({line.strip() for line in plugins.splitlines() if line.endswith(".so")},
                             {f"bin/plugins/cpu/{name}.so" for name in ("atomic_malloc", "atomic_malloc-applications", "comb",
                                                                        "comb-applications")})
            self.assertEqual({path.name for path in folder.iterdir()}, {"comb.so", "mine.so"})

    def test_programs_are_the_front_end_and_all_workers_with_their_plugins(self):
        with tempfile.TemporaryDirectory() as build:
            self.assertEqual(configure(build, "comb").returncode, 0)
            commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "programs"], capture_output=True, text=True, check=True).stdout
            made = {pathlib.Path(build, word) for word in commands.split()}
            for name in ("allocbench", "allocbench-worker-cpu", "allocbench-worker-check", "plugins/cpu/comb.so", "plugins/check/comb.so"):
                self.assertTrue(pathlib.Path(build, "bin", name) in made, name)

    def test_an_unknown_name_is_refused_with_those_that_are_there(self):
        with tempfile.TemporaryDirectory() as build:
            result = configure(build, "comb;hallok")
            words = " ".join(result.stderr.split())
            self.assertNotEqual(result.returncode, 0)
            self.assertIn('ALLOCBENCH_ALLOCATORS names "hallok", which is not a plug-in', words)
            self.assertIn("halloc, halloc_reworked", words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
