"""Tests the way from the configs of a paper to its ledger, as in the reference study: `study GROUP` on the CPU
executor, tools/keep-results.sh, and `python3 -m plots claims`. The configs are cut to few cells, and no claim of these
tests depends on the time of a kernel.
"""

import importlib.util
import json
import lzma
import os
import pathlib
import subprocess
import sys
import unittest

from support import PROGRAM, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKERS = os.environ.get("ALLOCBENCH_REAL_WORKERS", "")
NEEDED = ("allocbench-worker-cpu", "plugins/cpu/halloc.so", "plugins/cpu/halloc_reworked.so")
LACKING = [name for name in NEEDED if not pathlib.Path(WORKERS, name).exists()]
LACKING += [name for name in ("pandas", "scipy", "matplotlib", "jsonschema") if importlib.util.find_spec(name) is None]
RATIO = {"of": {"allocator": "halloc", "where": {"threads": 128}}, "to": {"allocator": "halloc", "where": {"threads": 32}},
         "metric": "time"}
MALLOCS = {"of": "halloc", "phase": "alloc", "metric": "throughput"}
GROWTH = {"says": "Mallocs per second grow with the threads.", "source": "test", "growth": {**MALLOCS, "along": "threads"}, "above": 0.5}
UNMEASURED = {"says": "A million threads make about as many mallocs per second.", "source": "test", "between": [0.75, 1.33],
              "ratio": {"of": {"allocator": "halloc", "where": {"threads": 1048576}, "phase": "alloc", "metric": "throughput"},
                        "to": {"allocator": "halloc", "where": {"threads": 262144}, "phase": "alloc", "metric": "throughput"}}}
OWN = [
    {"says": "A kernel takes time.", "source": "test", "value": {"of": "halloc", "metric": "time"}, "above": 0},
    {"says": "A kernel takes no time.", "source": "test", "value": {"of": "halloc", "metric": "time"}, "below": 0},
    {"says": "Halloc makes some mallocs per second.", "source": "test", "value": MALLOCS, "over": "some", "above": 0},
    {"says": "Four times the threads take some factor of the time.", "source": "test", "ratio": RATIO, "above": 0},
]
SPEED = {"says": "Halloc allocates some bytes per second.", "source": "test",
         "value": {"of": "halloc", "phase": "alloc", "metric": "allocated_bytes_per_second"}, "above": 0}


@unittest.skipIf(LACKING, f"missing: {', '.join(LACKING)}")
class Ledger(ProgramTest):
    """The test has three figures: one with numbers, one with a pool that is too small for any form, and one without the
    published form.
    """

    def environment(self, **more):
        return super().environment(ALLOCBENCH_WORKERS=WORKERS, PYTHON=sys.executable, **more)

    def clip(self, name, own_claims=(), **changes):
        """Returns the config of this figure with few cells. Its claims about GPUs are applied to the CPU."""
        document = json.loads((ROOT / "configs" / f"{name}.json").read_text(encoding="utf-8"))
        document.pop("cpu")
        document["claims"] = [{**claim, "backend": "cpu"} for claim in [*document["claims"], *own_claims]]
        document |= {"repetitions": 1, "rounds": 6, "least_rounds": 6, "pool_bytes": "16MiB", "deadline_s": 60, "wall_bound_s": 1000, **changes}
        path = self.folder / "configs" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")

    def run_tool(self, *command):
        done = subprocess.run([str(each) for each in command], cwd=ROOT, env=self.environment(), capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def keep(self, name):
        run = self.out / name
        document = json.loads((run / "results.json").read_text(encoding="utf-8"))
        document["allocbench"]["provenance"]["dirty"] = False  # sources with changes may be tested too
        (run / "results.json").write_text(json.dumps(document), encoding="utf-8")
        self.run_tool(ROOT / "tools" / "keep-results.sh", run, self.folder / "kept" / name)

    def judge(self):
        """Returns the ledger's rows of each figure."""
        self.run_tool(sys.executable, "-B", "-m", "plots", "claims", self.folder / "kept", "--configs", self.folder / "configs", "--out", self.folder / "ledger")
        rows = {}
        for row in json.loads((self.folder / "ledger" / "claims.json").read_text(encoding="utf-8")):
            rows.setdefault(row["figure"], []).append(row)
        return rows

    def times(self, name, allocator):
        """Returns the kept total times, by threads."""
        with lzma.open(self.folder / "kept" / name / "results.json.xz", "rt", encoding="utf-8") as text:
            return {cell["axes"]["threads"]: phase for cell in json.load(text)["allocbench"]["cells"] if cell["allocator"] == allocator
                    for phase in cell["phases"] if phase["name"] == "total"}

    def test_rows_come_from_the_published_form(self):
        self.clip("halloc2014/throughput_16", own_claims=[GROWTH, UNMEASURED, *OWN], sweep={"mode": ["spree"], "threads": [32, 64, 128]})
        self.clip("halloc2014/throughput_256", own_claims=[GROWTH, UNMEASURED], sweep={"mode": ["spree"], "threads": [64]}, pool_bytes="64KiB")
        mix = {"pool_bytes": "64MiB", "sweep": {"max_bytes": [64]}, "workload": {"id": "two_phase", "threads": 64, "sizes": "uniform", "min_bytes": 16}}
        self.clip("halloc2014/sizes_mix", **mix, allocators=["halloc_reworked"], claims=[])
        self.run_tool(PROGRAM, "study", "halloc2014", "--backend", "cpu", "--no-known", "--configs", self.folder / "configs", "--out", self.out)
        for name in ("throughput_16", "throughput_256", "sizes_mix"):
            self.keep(f"halloc2014/{name}")
        self.clip("halloc2014/sizes_mix", **mix, own_claims=[SPEED])  # the claims are newer than the results
        rows = self.judge()

        def row_of(words):
            return next(row for row in rows["halloc2014/throughput_16"] if words in row["says"])

        growth, at_a_million = row_of(GROWTH["says"]), row_of(UNMEASURED["says"])
        takes_time, takes_none, best, ratio = (row_of(claim["says"]) for claim in OWN)
        for row in (growth, best):
            self.assertIn(row["verdict"], ("holds", "does not hold", "cannot tell"))
            self.assertEqual(row["why"], "")
            self.assertRegex(row["published"], r"^-?\d")  # on a busy machine, the rate may fall
            self.assertRegex(row["reworked"], r"^-?\d")
        self.assertEqual((at_a_million["verdict"], at_a_million["why"]), ("cannot tell", "not measured"))
        published = self.times("halloc2014/throughput_16", "halloc")
        self.assertEqual(set(published), {32, 64, 128})
        # On a busy machine, a sample may take so long that its cell ends after three rounds.
        few = sum(phase["low"] is None for phase in published.values())
        self.assertEqual((takes_time["verdict"], takes_time["holds_in"]), ("holds", "3 of 3"))
        self.assertEqual(takes_time["few_rounds"].partition(" places")[0], f"{few} of 3" if few else "")
        self.assertEqual((takes_none["verdict"], takes_none["cause"]), ("does not hold", "not known"))
        for column, allocator in (("published", "halloc"), ("reworked", "halloc_reworked")):
            times = self.times("halloc2014/throughput_16", allocator)
            quotient = times[128]["median"] / times[32]["median"]
            self.assertAlmostEqual(float(ratio[column].split(" ")[0]) / quotient, 1, delta=0.006, msg="three digits")

        self.assertEqual({(row["verdict"], row["why"], row["published"]) for row in rows["halloc2014/throughput_256"]},
                         {("cannot tell", "published: unsupported", "–"), ("cannot tell", "not measured", "–")})
        self.assertEqual([(row["verdict"], row["why"], row["published"]) for row in rows["halloc2014/sizes_mix"]],
                         [("cannot tell", "published form not measured", "–")])
        self.assertRegex(rows["halloc2014/sizes_mix"][0]["reworked"], r"^\d")

        page = (self.folder / "ledger" / "claims.md").read_text(encoding="utf-8")
        for words in ("cannot tell (published: unsupported)", "cannot tell (published form not measured)", "cannot tell (not measured)",
                      "(holds in 3 of 3", "| halloc2014/throughput_16 | Halloc reaches 1.7 G mallocs per second at best. (Conclusions & Future Work) | An absolute figure of a K20X. |"):
            self.assertIn(words, page)
        self.assertTrue((self.folder / "ledger" / "claims_halloc2014.png").exists())
        self.assertEqual(sorted(path.name for path in (self.folder / "kept" / "halloc2014" / "throughput_256").rglob("*.*")),
                         ["events.jsonl.xz", "halloc2014_throughput_256_cpu_status.md", "results.json.xz"])


if __name__ == "__main__":
    unittest.main()
