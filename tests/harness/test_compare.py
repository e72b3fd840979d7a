"""`allocbench compare`: what it reads, what it says, and how it ends."""

import gzip
import json
import lzma
import shutil
import unittest

from support import HERE, ProgramTest, cell_ids

GOLDEN = HERE / "golden" / "compare"


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        self.before = self.folder / "before.json"
        self.after = self.folder / "after.json"
        for path in (self.before, self.after):
            shutil.copy(GOLDEN / path.name, path)

    def compare(self, *arguments, expect=0):
        return self.run_program("compare", *arguments, expect=expect)

    def refused(self, *arguments):
        result = self.compare(*arguments, expect=2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_a_regression_fails_only_when_asked_to(self):
        self.assertIn("Regression: ", self.compare(self.before, self.after).stdout)
        self.compare(self.before, self.after, "--fail-on", "regression", expect=4)
        self.assertIn("No regression.", self.compare(self.before, self.before, "--fail-on", "regression").stdout)

    def test_a_wide_margin_forgives_times_but_no_status(self):
        document = json.loads(self.compare(self.before, self.after, "--margin", "400", "--json", "--fail-on", "regression", expect=4).stdout)
        self.assertEqual(document["verdicts"]["slower"], 0)
        self.assertEqual(document["no_longer_ok"], 1)

    def test_three_forms(self):
        self.assertTrue(self.compare(self.before, self.after).stdout.startswith("A  "))
        self.assertIn("| cell | phase |", self.compare(self.before, self.after, "--markdown").stdout)
        self.assertEqual(json.loads(self.compare(self.before, self.after, "--json").stdout)["format"], 1)
        self.assertIn("excludes", self.refused(self.before, self.after, "--markdown", "--json"))

    def test_folders_packed_files_and_patterns(self):
        kept = self.folder / "reference" / "fig1"
        kept.mkdir(parents=True)
        expected = json.loads(self.compare(self.before, self.after, "--json").stdout)["cells"]
        for ending, packed in (("gz", gzip.compress), ("xz", lzma.compress)):
            file = kept / f"results.json.{ending}"
            file.write_bytes(packed(self.before.read_bytes()))
            for name in (kept, file, self.folder / "reference", f"{self.folder}/ref*/f?g1"):
                with self.subTest(name=str(name)):
                    self.assertEqual(json.loads(self.compare(name, self.after, "--json").stdout)["cells"], expected)
            file.unlink()

    def test_runs_of_this_program(self):
        config = self.config(["steady", "hanging"], deadline_s=0.5)
        self.measure(config, expect=1)
        packed = self.folder / "packed"
        packed.mkdir()
        (packed / "events.jsonl.xz").write_bytes(lzma.compress((self.out / "events.jsonl").read_bytes()))
        document = json.loads(self.compare(self.out, packed, "--json").stdout)
        self.assertEqual(len(document["cells"]), 6)
        self.assertFalse(document["regression"])

    def test_cells_of_other_starting_states_are_other_cells(self):
        self.measure(self.config(state="aged", sweep={"aged_rounds": [0, 10], "l2": ["warm", "flushed"]}))
        document = json.loads(self.compare(self.out, self.out, "--json").stdout)
        self.assertEqual(len(document["cells"]), 4)

    def test_a_reference_is_measured_again_without_what_failed_in_it(self):
        self.measure(self.config(["steady", "hanging"], deadline_s=0.5), expect=1)
        again = self.folder / "again"
        arguments = ("--with-reference", self.out, "--out", again)
        document = json.loads(self.compare(*arguments, "--json").stdout)
        self.assertEqual([cell["status"] for cell in document["cells"]], [{"a": "ok", "b": "ok"}] * 4)
        self.assertTrue(all("hanging" in cell["name"] for cell in document["only_in_a"]))
        self.assertEqual(len(document["only_in_a"]), 2)
        self.assertEqual(cell_ids(self.events(again / "test" / "figure")), [cell["id"] for cell in document["cells"]])
        self.assertIn("no cells left to measure", self.compare(*arguments).stderr)

    def test_runs_of_a_reference_are_measured_as_one_plan(self):
        kept, again = self.folder / "kept", self.folder / "again"
        for name in ("one", "two"):
            self.measure(self.config(name=f"test/{name}", seed={"one": 1, "two": 2}[name], rounds=3), out=kept / name)
        result = self.compare("--with-reference", kept, "--out", again, "--minutes", 0, expect=2)
        self.assertIn(f"Continue with\n  allocbench compare --with-reference {kept} --out {again} --minutes 0", result.stderr)
        self.assertIn(f"No cell of {again} was measured. The same command continues.", result.stderr)
        self.assertNotIn("--resume", result.stderr)
        self.compare("--with-reference", kept, "--out", again)
        self.assertEqual([len(cell_ids(self.events(again / "test" / name))) for name in ("one", "two")], [3, 3])
        rounds = [(event["time"], event["round"]) for name in ("one", "two") for event in self.events(again / "test" / name)
                  if event["event"] == "round"]
        self.assertEqual([number for _, number in sorted(rounds)], [0] * 6 + [1] * 6 + [2] * 6, "one plan")
        document = json.loads(self.compare("--with-reference", kept, "--out", again, "--json").stdout)
        self.assertEqual([cell["status"] for cell in document["cells"]], [{"a": "ok", "b": "ok"}] * 6)

    def test_a_reference_on_two_back_ends_is_refused(self):
        self.add_worker("cuda")
        for backend in ("cpu", "cuda"):
            self.measure(self.config(name=f"test/{backend}"), "--backend", backend, out=self.folder / "kept" / backend)
        text = self.compare("--with-reference", self.folder / "kept", "--out", self.folder / "again", expect=2).stderr
        self.assertIn("contains runs of the back ends cpu and cuda. Name runs of one back end.", text)

    def test_a_reference_of_other_cells_is_refused(self):
        self.measure(self.config())
        log = self.out / "events.jsonl"
        for cell in cell_ids(self.events()):
            log.write_text(log.read_text(encoding="utf-8").replace(cell, cell[::-1]), encoding="utf-8")
        text = self.compare("--with-reference", self.out, "--out", self.folder / "again", expect=2).stderr
        self.assertIn("this version defines none of the cells of the reference. Record a new reference with this version: measure it, then tools/keep-results.sh RUN KEPT.", text)

    def test_several_runs_of_a_side_count_together(self):
        for name in ("one", "two"):
            (self.folder / "runs" / name).mkdir(parents=True)
            shutil.copy(self.before, self.folder / "runs" / name / "results.json")
        document = json.loads(self.compare(self.before, self.folder / "runs", "--json").stdout)
        phase = document["cells"][0]["phases"][0]
        self.assertEqual(phase["b"]["rounds"], 2 * phase["a"]["rounds"])

    def test_bad_input_gets_one_sentence(self):
        empty = self.folder / "empty"
        empty.mkdir()
        table = self.folder / "results.csv"
        table.write_text("figure\n", encoding="utf-8")
        broken = self.folder / "broken.json"
        broken.write_text(self.before.read_text(encoding="utf-8")[:-40], encoding="utf-8")
        newer = self.folder / "newer.json"
        newer.write_text(self.before.read_text(encoding="utf-8").replace('"format":2', '"format":7'), encoding="utf-8")
        cut = self.folder / "cut.json.gz"
        cut.write_bytes(gzip.compress(self.before.read_bytes())[:-30])
        cut_xz = self.folder / "cut.json.xz"
        cut_xz.write_bytes(lzma.compress(self.before.read_bytes())[:-30])
        counts = self.folder / "counts.json"
        counts.write_text(self.before.read_text(encoding="utf-8").replace('"rounds":[2,', '"rounds":[3,', 1), encoding="utf-8")
        foreign = self.folder / "foreign.json"
        foreign.write_text('{"benchmarks": []}', encoding="utf-8")
        for path, text in (("nowhere", "nowhere does not exist, and no file matches it. Name a folder of runs"),
                           (empty, "contains no run. Name a folder of runs"),
                           (table, "is not a file of a run"),
                           (broken, "is not a results file of allocbench: the file must be a JSON object"),
                           (newer, "it has format 7, this allocbench reads format 2"),
                           (cut, "is damaged: it cannot be unpacked"),
                           (cut_xz, "is damaged: it cannot be unpacked"),
                           (counts, '"rounds" must be a list of counts that add up'),
                           (foreign, '"allocbench" is missing')):
            with self.subTest(path=str(path)):
                self.assertIn(text, self.refused(path, self.after))
                self.assertIn(text, self.refused(self.before, path))

    def test_no_common_cell_names_the_likely_cause(self):
        other = self.folder / "other.json"
        other.write_text(self.before.read_text(encoding="utf-8").replace('"threads":1000', '"threads":2000'), encoding="utf-8")
        text = self.refused(self.before, other)
        self.assertIn("have no cell in common. 9 pairs of cells differ in workload/threads alone (1000 against 2000).", text)
        self.assertIn("--ignore workload/threads", text)

    def test_usage(self):
        self.assertIn("two sets of results, or --with-reference", self.refused(self.before))
        self.assertIn("excludes", self.refused(self.before, self.after, "--with-reference", self.before))
        self.assertIn("requires", self.refused(self.before, self.after, "--out", self.out))
        self.assertIn("--margin", self.refused(self.before, self.after, "--margin", "-1"))
        self.assertIn("--fail-on", self.refused(self.before, self.after, "--fail-on", "noise"))
        self.assertIn("4 regression", self.compare("--help").stdout)


if __name__ == "__main__":
    unittest.main()
