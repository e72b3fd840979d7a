"""Tests `allocbench report`: what it reads of a run that was kept or shortened, and when it writes."""

import gzip
import importlib.util
import json
import lzma
import pathlib
import shutil
import subprocess

from support import PROGRAM, ProgramTest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
GUIDE = TOOLS.parent / "results/reference/h200/guide/small"


class Report(ProgramTest):
    def setUp(self):
        super().setUp()
        self.measure(self.config(["steady", "incorrect"], rounds=7), expect=1)
        self.table = self.report(self.out, expect=1).stdout

    def report(self, *arguments, expect):
        return self.run_program("report", *arguments, expect=expect)

    def keep(self):
        """Makes a run as tools/pack_results.py --without-samples keeps it: failures in the log, and results without
        samples.
        """
        kept = self.folder / "kept"
        kept.mkdir()
        failed = {event["cell"] for event in self.events() if event["event"] == "end" and event["status"] != "ok"}
        log = [event for event in self.events() if event["event"] not in ("sample", "round") and
               event.get("cell", event.get("id")) in failed | {None}]
        log.append({"event": "kept", "time": log[-1]["time"], "without": "samples, and cells that are ok"})
        document = {"allocbench": self.results()["allocbench"]}
        for cell in document["allocbench"]["cells"]:
            for phase in cell.get("phases", []):
                for key in ("samples", "throughput", "confidence"):
                    del phase[key]
        (kept / "events.jsonl.xz").write_bytes(lzma.compress("".join(json.dumps(event) + "\n" for event in log).encode()))
        (kept / "results.json.xz").write_bytes(lzma.compress(json.dumps(document).encode()))
        return kept

    def unpack(self, file):
        file.with_suffix("").write_bytes(lzma.decompress(file.read_bytes()))

    def test_a_run_kept_without_samples_is_read_from_its_results(self):
        kept = self.keep()
        for path in (kept, kept / "events.jsonl.xz", kept / "results.json.xz"):
            with self.subTest(path=path.name):
                result = self.report(path, expect=1)
                self.assertEqual(result.stdout, self.table)
                self.assertEqual(result.stderr, "")
        self.assertIn("6 cells, 4 ok, 2 incorrect\n", self.table)
        self.assertEqual(sorted(each.name for each in kept.iterdir()), ["events.jsonl.xz", "results.json.xz"])

    def test_a_log_without_samples_never_overwrites_results(self):
        kept = self.keep()
        for file in list(kept.iterdir()):
            self.unpack(file)
        before = (kept / "results.json").read_bytes()
        self.assertEqual(self.report(kept, expect=1).stdout, self.table)
        if not [name for name in ("plotly", "markdown", "pandas", "matplotlib", "jsonschema") if importlib.util.find_spec(name) is None]:
            self.report(kept, "--html", "--out", self.folder / "page.html", expect=0)
        self.assertEqual((kept / "results.json").read_bytes(), before)
        self.assertFalse((kept / "results.csv").exists())
        result = self.measure(self.folder / "config.json", "--resume", out=kept, expect=2)
        self.assertIn(f"{kept} contains a run that was kept without samples, so it cannot continue. Choose another --out.", result.stderr)
        self.assertEqual((kept / "results.json").read_bytes(), before)

    def test_a_log_without_samples_alone_has_no_numbers(self):
        kept = self.keep()
        (kept / "results.json.xz").unlink()
        result = self.report(kept, expect=2)
        self.assertEqual(result.stdout, "")
        self.assertIn("was kept without samples and only has the reasons of failures. Put the results.json.xz", result.stderr)

    def test_results_alone_give_the_table(self):
        for name in ("events.jsonl", "results.csv"):
            (self.out / name).unlink()
        self.assertEqual(self.report(self.out, expect=1).stdout, self.table)
        self.assertEqual([each.name for each in self.out.iterdir()], ["results.json"])

    def test_a_folder_that_cannot_be_written_still_gives_the_table(self):
        (self.out / "results.csv").unlink()
        (self.out / "results.csv").mkdir()
        result = self.report(self.out, expect=3)
        self.assertEqual(result.stdout, self.table)
        self.assertEqual(result.stderr, f"allocbench: {self.out}/results.csv cannot be written: Is a directory.\n")
        self.assertEqual(list(self.out.glob("*.new")), [])

    def test_reports_at_once(self):
        for _ in range(5):
            reports = [subprocess.Popen([PROGRAM, "report", self.out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(8)]
            told = [report.communicate()[1] for report in reports]
            self.assertEqual((told, [report.returncode for report in reports]), ([""] * 8, [1] * 8))
        self.assertEqual(list(self.out.glob("*.new")), [])

    def refused_without_force(self, out, words, *more):
        """Measures into a folder with a stored run. Nothing in it may change."""
        before = {path: path.read_bytes() for path in out.rglob("*")}
        self.assertIn(words, self.measure(self.folder / "config.json", *more, out=out, expect=2).stderr)
        self.assertEqual({path: path.read_bytes() for path in out.rglob("*")}, before)

    def test_a_stored_run_is_not_written_over(self):
        log, results = ((self.out / name).read_bytes() for name in ("events.jsonl", "results.json"))
        no_log, packed = "contains a run without an event log", "contains a packed run, which cannot continue. Unpack it first with "
        for name, content, words in (("results.json", results, no_log), ("results.json.xz", lzma.compress(results), no_log),
                                     ("results.json.gz", gzip.compress(results), no_log), ("events.jsonl.xz", lzma.compress(log), packed + "unxz "),
                                     ("events.jsonl.gz", gzip.compress(log), packed + "gunzip ")):
            with self.subTest(name=name):
                stored = self.folder / name.replace(".", "-")
                stored.mkdir()
                (stored / name).write_bytes(content)
                self.refused_without_force(stored, f"{stored} already contains a run ({name}). Use --force or another --out.")
                for option in ("--resume", "--only-failed"):
                    self.refused_without_force(stored, words, option)
                (stored / "events.jsonl").touch()
                self.refused_without_force(stored, "already contains a run")
                self.measure(self.folder / "config.json", "--force", out=stored, expect=1)
                self.assertEqual(sorted(path.name for path in stored.iterdir()), ["events.jsonl", "results.csv", "results.json"])

    def test_an_unpacked_run_can_be_continued(self):
        stored = self.folder / "stored"
        stored.mkdir()
        (stored / "events.jsonl.xz").write_bytes(lzma.compress((self.out / "events.jsonl").read_bytes()))
        self.unpack(stored / "events.jsonl.xz")
        self.assertIn("no cells left to measure", self.measure(self.folder / "config.json", "--resume", out=stored, expect=1).stderr)

    def test_a_run_kept_without_samples_needs_no_unpacking_to_say_so(self):
        self.refused_without_force(self.keep(), "contains a run that was kept without samples, so it cannot continue.", "--resume")

    def change_ends(self, out, reason_of):
        """Makes every cell unsupported. The reason of the n-th is reason_of(n)."""
        log = out / "events.jsonl"
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        for number, event in enumerate(event for event in events if event["event"] == "end"):
            event.update(status="unsupported", reason=reason_of(number))
        log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")

    def test_each_reason_has_a_line(self):
        self.assertIn("\nincorrect: planned incorrect (2 cells, first test/figure/incorrect/request_bytes:32)\n6 cells, ", self.table)
        self.change_ends(self.out, lambda number: f"reason {min(number, 1)}\na table of lanes")
        told = self.report(self.out, expect=0).stdout
        self.assertRegex(told, r"\nunsupported: reason 1 \(5 cells, first test/figure/\S+\)\nunsupported: reason 0 \(test/figure/\S+\)\n6 cells, 6 unsupported\n")
        self.assertNotIn("a table", told)

    def test_many_reasons_are_cut(self):
        out = self.folder / "many"
        self.measure(self.config(["incorrect"], sweep={"request_bytes": [16 * (i + 1) for i in range(12)]}, rounds=1), out=out, expect=1)
        self.change_ends(out, lambda number: f"reason {number}")
        told = self.report(out, expect=0).stdout
        self.assertEqual(told.count("\nunsupported: reason "), 8)
        self.assertIn("\n... and 4 more: see results.csv\n12 cells, 12 unsupported\n", told)

    def test_compare_takes_the_stored_intervals(self):
        kept = self.keep()
        document = json.loads(self.run_program("compare", kept, self.out, "--json", expect=0).stdout)
        self.assertEqual(len(document["cells"]), 6)
        phase = document["cells"][0]["phases"][0]
        self.assertEqual((phase["verdict"], phase["ratio"], phase["from_stored_intervals"]), ("same", 1, True))
        self.assertEqual(phase["a"]["seconds"], phase["b"]["seconds"])
        text = self.run_program("compare", self.out, kept, expect=0).stdout
        self.assertIn("8 of 8 verdicts use stored intervals, because a side was kept without samples.", text)

    def test_a_reference_without_samples_is_measured(self):
        again = self.folder / "again"
        self.run_program("compare", "--with-reference", self.keep(), "--out", again, expect=0)
        self.assertEqual(len([event for event in self.events(again / "test/figure") if event["event"] == "cell"]), 4)

    def test_rows_have_the_order_of_the_config(self):
        out = self.folder / "ordered"
        measured = self.measure(self.config(["crashing", "steady"], rounds=2), out=out, expect=1).stdout
        logged = [(event["label"], event["axes"]["request_bytes"]) for event in self.events(out) if event["event"] == "cell"]
        ordered = [(label, size) for label in ("crashing", "steady") for size in (16, 32, 64)]
        self.assertNotEqual(logged, ordered, "a cell that will probably fail begins late")
        for table in (measured, self.report(out, expect=1).stdout):
            rows = [line.split()[:2] for line in table.splitlines() if line.startswith(("crashing", "steady"))]
            self.assertEqual([(label, int(size)) for label, size in rows], ordered)

    def test_the_guide_that_the_repository_keeps(self):
        copy = self.folder / "small"
        shutil.copytree(GUIDE, copy)
        self.unpack(copy / "events.jsonl.xz")
        for path in (GUIDE, copy):
            result = self.report(path, expect=1)
            told = " ".join(result.stdout.split())
            self.assertTrue(told.endswith("657 cells, 613 ok, 33 skipped, 3 unsupported, 7 timeout, 1 device_fault, 13 of these provisional"), told[-200:])
        self.assertFalse((copy / "results.json").exists())
