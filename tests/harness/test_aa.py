"""Six kept runs of one config on one card, compared with themselves: what differs is an error of the measurement."""

import itertools
import json
import pathlib
import unittest

from support import ProgramTest

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "results" / "reference"
PRECISION = 0.013  # the stopping rule's default
MOST = 0.01


def apart(one, other):
    return one["interval"][1] < other["interval"][0] or other["interval"][1] < one["interval"][0]


class KeptRuns(ProgramTest):
    def phases(self, runs):
        """Every phase of every pair of runs, where both reached the precision."""
        for a, b in itertools.combinations(runs, 2):
            document = json.loads(self.run_program("compare", a, b, "--json", expect=0).stdout)
            self.assertEqual(document["a"]["devices"], document["b"]["devices"])
            for cell in document["cells"]:
                for phase in cell["phases"]:
                    if all((phase[side]["relative_half_width"] or 1) <= PRECISION for side in ("a", "b")):
                        yield phase

    def test_hardly_any_phase_differs_from_itself(self):
        kept = sorted(REFERENCE.glob("*/aa"))
        if not kept:
            self.skipTest("no A/A runs are kept; tools/record-aa.sh records them")
        for folder in kept:
            with self.subTest(folder=str(folder)):
                runs = sorted(folder.glob("run*"))
                self.assertGreaterEqual(len(runs), 6)
                phases = list(self.phases(runs))
                self.assertGreater(len(phases), 500)
                differing = sum(phase["verdict"] in ("slower", "faster") for phase in phases)
                self.assertLessEqual(differing, MOST * len(phases))
                disjoint = sum(apart(phase["a"], phase["b"]) for phase in phases)
                self.assertLessEqual(disjoint, MOST * len(phases))


if __name__ == "__main__":
    unittest.main()
