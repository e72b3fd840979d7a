"""Compares the kept runs of each A/A config on one card. Every difference is an error of the measurement. In the same runs
with a planted slow-down, every missing difference is an error too.
"""

import itertools
import json
import lzma
import pathlib
import unittest

from support import ProgramTest

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "results" / "reference"
PRECISION = 0.013  # the stopping rule's default
MOST = 0.01        # largest share of the phases for which `compare` may find a difference between such runs
PLANTED = 1.05
FOUND = 0.95


def apart(one, other):
    return one["interval"][1] < other["interval"][0] or other["interval"][1] < one["interval"][0]


def card_of(run):
    """Returns the card that the run's log names."""
    with lzma.open(run / "events.jsonl.xz", "rt", encoding="utf-8") as log:
        return next(event["device"]["uuid"] for event in map(json.loads, log) if event["event"] == "device")


def kept_runs():
    """Returns the runs of each study by config and card. The folders of a study are aa, aa_cycle and so on."""
    found = {}
    for run in sorted(REFERENCE.glob("*/aa*/run*")):
        found.setdefault(run.parent.parent, {}).setdefault((run.parent, card_of(run)), []).append(run)
    return found


@unittest.skipUnless(kept_runs(), "no A/A runs are kept; tools/record-aa.sh records them")
class KeptRuns(ProgramTest):
    def precise(self, a, b):
        """Returns the phases that reached the precision in both runs."""
        document = json.loads(self.run_program("compare", a, b, "--json", expect=0).stdout)
        self.assertEqual(document["a"]["cards"], document["b"]["cards"])
        for phase in itertools.chain.from_iterable(cell["phases"] for cell in document["cells"]):
            if all((phase[side]["relative_half_width"] or 1) <= PRECISION for side in ("a", "b")):
                yield phase

    def slower(self, run):
        """Copies the run's log so that every sample takes 5 % longer."""
        path = self.folder / f"{run.name}.jsonl"
        with lzma.open(run / "events.jsonl.xz", "rt", encoding="utf-8") as log, path.open("w", encoding="utf-8") as copy:
            for event in map(json.loads, log):
                for phase in event.get("phases", []):
                    phase["seconds"] *= PLANTED
                copy.write(json.dumps(event) + "\n")
        return path

    def test_hardly_any_phase_differs_from_itself(self):
        for study, groups in kept_runs().items():
            for config in {folder for folder, _ in groups}:
                counts = [len(runs) for (folder, _), runs in groups.items() if folder == config]
                full = [count for count in counts if count >= 6]
                self.assertGreaterEqual(len(full), min(2, len(counts)), "cards with six runs")
                self.assertGreaterEqual(min(counts), 2, "runs of a further card")
            phases = [phase for runs in groups.values() for pair in itertools.combinations(runs, 2) for phase in self.precise(*pair)]
            self.assertGreater(len(phases), 150)
            differing = sum(phase["verdict"] in ("slower", "faster") for phase in phases)
            disjoint = sum(apart(phase["a"], phase["b"]) for phase in phases)
            with self.subTest(study=str(study), phases=len(phases), differing=differing, disjoint=disjoint):
                self.assertLessEqual(differing, MOST * len(phases))
                self.assertLessEqual(disjoint, MOST * len(phases))

    def test_a_planted_slow_down_is_found(self):
        for study, groups in kept_runs().items():
            phases = [phase for runs in groups.values() for one, other in zip(runs, runs[1:]) for phase in self.precise(one, self.slower(other))]
            found = sum(phase["verdict"] == "slower" for phase in phases)
            with self.subTest(study=str(study), phases=len(phases), found=found):
                self.assertGreaterEqual(found, FOUND * len(phases))


if __name__ == "__main__":
    unittest.main()
