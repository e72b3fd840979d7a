"""Checks that Google Benchmark's own compare.py accepts results.json."""

import pathlib
import subprocess
import unittest

from support import ProgramTest

COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")


@unittest.skipUnless(COMPARE.exists(), "libbenchmark-tools is not installed")
class ComparePy(ProgramTest):
    def test_two_runs(self):
        config = self.config(["steady", "incorrect"])
        paths = []
        for name in ("one", "two"):
            self.measure(config, expect=1, out=self.folder / name)
            paths.append(str(self.folder / name / "results.json"))
        result = subprocess.run(["/usr/bin/python3", "-B", str(COMPARE), "--no-color", "benchmarks", *paths],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("test/figure/steady/request_bytes:16/alloc", result.stdout)
        self.assertIn("test/figure/steady/request_bytes:64/total_median", result.stdout)
        self.assertNotIn("test/figure/incorrect/request_bytes:64", result.stdout)
