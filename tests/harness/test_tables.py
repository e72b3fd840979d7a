"""Checks that results.csv has the same numbers as the tables of the Python package, which reads results.json."""

import csv
import importlib.util
import pathlib
import subprocess
import sys
import unittest

from support import ProgramTest

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"
LACKING = [name for name in ("pandas", "jsonschema") if importlib.util.find_spec(name) is None]
COLUMNS = ("cell", "phase", "metric", "unit", "better", "statistic", "value", "low", "high", "confidence", "samples", "flags", "status")


@unittest.skipIf(LACKING, f"missing: {', '.join(LACKING)}")
class Tables(ProgramTest):
    def rows_of_the_package(self):
        code = f"import allocbench, sys; allocbench.read(sys.argv[1]).rename(columns={{'flags_': 'flags'}}).to_csv(sys.stdout, index=False)"
        told = subprocess.run([sys.executable, "-B", "-c", code, str(self.out)], env=self.environment(PYTHONPATH=str(PYTHON)), capture_output=True,
                              text=True, timeout=60, check=True).stdout
        return self.table(told.splitlines())

    def table(self, lines):
        """Returns the sorted rows with numbers as numbers. Both tables have the same order of cells, but not of
        metrics.
        """
        numbers = ("value", "low", "high", "confidence", "samples")
        return sorted(([row["cell"], row["phase"], row["metric"]],
                       {name: float(row[name]) if name in numbers and row[name] else row[name] for name in COLUMNS}) for row in csv.DictReader(lines))

    def test_numbers_are_the_same(self):
        self.measure(self.config(["noisy", "counting", "crashing"], rounds=7, least_rounds=7), expect=1)
        package = self.rows_of_the_package()
        with open(self.out / "results.csv", encoding="utf-8", newline="") as file:
            table = self.table(file)
        self.assertEqual([key for key, _ in package], [key for key, _ in table])
        for (key, ours), (_, theirs) in zip(package, table):
            for name in COLUMNS:
                if isinstance(theirs[name], float):
                    self.assertAlmostEqual(ours[name] / theirs[name] if theirs[name] else ours[name] + 1, 1, places=9, msg=f"{key} {name}")
                else:
                    self.assertEqual(ours[name], theirs[name], f"{key} {name}")
        statuses = {row["status"] for _, row in table}
        self.assertTrue("ok" in statuses and statuses != {"ok"})
        for metric in ("time", "throughput"):
            self.assertTrue(any(row["low"] != "" for _, row in table if row["metric"] == metric), metric)


if __name__ == "__main__":
    unittest.main()
