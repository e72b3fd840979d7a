"""Tests `allocbench compare`: its input, its output and its exit codes."""

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

    def test_a_comparison_that_decides_nothing_says_so(self):
        told = self.compare(self.before, self.before, "--margin", "0.001").stdout
        self.assertIn("Nothing could be decided: every phase is unsure.", told)
        self.assertNotIn("o regression", told)

    def test_a_wide_margin_forgives_times_but_no_status(self):
        document = json.loads(self.compare(self.before, self.after, "--margin", "400", "--json", "--fail-on", "regression", expect=4).stdout)
        self.assertEqual(document["verdicts"]["slower"], 0)
        self.assertEqual(document["no_longer_ok"], 1)

    def test_an_unknown_key_is_not_ignored(self):
        for key, nearest in (("sed", "seed"), ("threadz", "workload/threads"), ("workload/request_byts", "workload/request_bytes"), ("something_else", "")):
            with self.subTest(key=key):
                error = self.refused(self.before, self.after, "--ignore", "state", "--ignore", key)
                self.assertIn(f'--ignore: unknown key "{key}".', error)
                self.assertIn(f'Did you mean "{nearest}"?' if nearest else ". Keys of these runs: aged_rounds, ", error)
                self.assertIn("pool_bytes, seed, state, workload", error)
        self.compare(self.before, self.after, "--ignore", "seed", "--ignore", "aged_rounds")
        self.assertIn("unknown key", self.refused("--with-reference", self.before, "--out", self.out, "--ignore", "sed"))
        self.assertFalse(self.out.exists())

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
        config = self.config(["steady", "hanging"], deadline_s=0.5, rounds=3)
        self.measure(config, expect=1)
        packed = self.folder / "packed"
        packed.mkdir()
        (packed / "events.jsonl.xz").write_bytes(lzma.compress((self.out / "events.jsonl").read_bytes()))
        document = json.loads(self.compare(self.out, packed, "--json").stdout)
        self.assertEqual(len(document["cells"]), 6)
        self.assertFalse(document["regression"])

    def test_cells_of_other_starting_states_are_other_cells(self):
        self.measure(self.config(state="aged", rounds=3, sweep={"aged_rounds": [0, 10], "l2": ["warm", "flushed"]}))
        document = json.loads(self.compare(self.out, self.out, "--json").stdout)
        self.assertEqual(len(document["cells"]), 4)

    def test_a_reference_is_measured_again_without_what_failed_in_it(self):
        self.measure(self.config(["steady", "hanging"], deadline_s=0.5, rounds=3), expect=1)
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
        self.assertIn(f"Continue with\n  allocbench compare --with-reference {kept} --out {again}\n", result.stderr)
        self.assertIn(f"No cell of {again} was measured. Run the same command again with a larger --minutes.", result.stderr)
        self.assertNotIn("--resume", result.stderr)
        self.assertIn("not begun. No round ended in this time. Run the same command again, but with a larger --minutes.", result.stdout)
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
            self.measure(self.config(name=f"test/{backend}", rounds=3), "--backend", backend, out=self.folder / "kept" / backend)
        text = self.compare("--with-reference", self.folder / "kept", "--out", self.folder / "again", expect=2).stderr
        self.assertIn("contains runs of the back ends cpu and cuda. Name runs of one back end.", text)

    def test_a_reference_of_other_cells_is_refused(self):
        self.measure(self.config(rounds=3))
        log = self.out / "events.jsonl"
        for cell in cell_ids(self.events()):
            log.write_text(log.read_text(encoding="utf-8").replace(cell, cell[::-1]), encoding="utf-8")
        text = self.compare("--with-reference", self.out, "--out", self.folder / "again", expect=2).stderr
        self.assertIn("this version of allocbench cannot measure any cell of these kept runs. Measure new runs with this version, then keep them with tools/keep-results.sh RUN KEPT.", text)

    def test_several_runs_of_a_side_count_together(self):
        for name in ("one", "two"):
            (self.folder / "runs" / name).mkdir(parents=True)
            shutil.copy(self.before, self.folder / "runs" / name / "results.json")

        def rounds():
            phase = json.loads(self.compare(self.before, self.folder / "runs", "--json").stdout)["cells"][0]["phases"][0]
            return phase["b"]["rounds"] / phase["a"]["rounds"]

        self.assertEqual(rounds(), 1, "a copy counts once")
        run = json.loads(self.before.read_text(encoding="utf-8"))
        for cell in run["allocbench"]["cells"]:
            for phase in cell.get("phases", []):
                phase["samples"] = [float(f"{sample:.7g}") * (1 + 3e-7) for sample in phase["samples"]]
        (self.folder / "runs" / "two" / "results.json").write_text(json.dumps(run), encoding="utf-8")
        self.assertEqual(rounds(), 1, "a kept copy has seven digits")
        for cell in run["allocbench"]["cells"]:
            for phase in cell.get("phases", []):
                phase["samples"][0] *= 1.01
        (self.folder / "runs" / "two" / "results.json").write_text(json.dumps(run), encoding="utf-8")
        self.assertEqual(rounds(), 2)

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
        for path, text in (("nowhere", "nowhere does not exist and matches no file. Name a folder of runs"),
                           (empty, "contains no run. Name a folder of runs"),
                           (table, "is not a results file of allocbench"),
                           (broken, "is not a results file of allocbench: the file must be a JSON object"),
                           (newer, "its format is 7, but this allocbench reads format 2"),
                           (cut, "is damaged: it cannot be unpacked"),
                           (cut_xz, "is damaged: it cannot be unpacked"),
                           (counts, '"rounds" must list positive counts'),
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

    def kept(self, name, keep=lambda cell: True, factor=1.0, rounds=6):
        """Makes a run as tools/keep-results.sh --without-samples keeps it: a log without numbers, and results without
        samples.
        """
        document = json.loads(self.before.read_text(encoding="utf-8"))
        document["allocbench"]["cells"] = [cell for cell in document["allocbench"]["cells"] if keep(cell)]
        for cell in document["allocbench"]["cells"]:
            for phase in cell.get("phases", []):
                middle = phase["samples"][0] * factor
                del phase["samples"]
                few = rounds < 6
                phase.update(rounds=[1] * rounds, median=middle, low=None if few else 0.99 * middle, high=None if few else 1.01 * middle)
                if few:
                    phase["few_rounds"] = {"values": [middle * (1 + 0.001 * number) for number in range(rounds)]}
        folder = self.folder / name
        folder.mkdir()
        (folder / "results.json.xz").write_bytes(lzma.compress(json.dumps(document).encode()))
        config = json.dumps({"name": "golden/fig1"})
        (folder / "events.jsonl").write_text(
            f'{{"event":"run","time":"","format":2,"backend":"cpu","seed":1,"config":{config}}}\n{{"event":"kept","time":"","without":"samples"}}\n',
            encoding="utf-8")
        return folder

    def test_runs_without_samples_are_compared_by_their_intervals(self):
        same, slower = self.kept("same"), self.kept("slower", factor=1.2)
        document = json.loads(self.compare(same, slower, "--json", "--fail-on", "regression", expect=4).stdout)
        phases = [phase for cell in document["cells"] for phase in cell["phases"]]
        self.assertTrue(phases)
        self.assertEqual({phase["verdict"] for phase in phases}, {"slower"})
        self.assertEqual(document["from_stored_intervals"], len(phases))
        for phase in phases:
            self.assertAlmostEqual(phase["ratio"], 1.2, places=6)
            # The interval of each side is ±1 %, so that of the ratio is between ±1 % and ±2 %.
            self.assertTrue(1.2 * 0.98 < phase["interval"][0] < 1.2 * 0.99 and 1.2 * 1.01 < phase["interval"][1] < 1.2 * 1.02, phase)
            self.assertEqual((phase["a"]["rounds"], phase["b"]["rounds"]), (6, 6))
        text = self.compare(same, slower).stdout
        self.assertIn(f"{len(phases)} of {len(phases)} verdicts use stored intervals", text)
        document = json.loads(self.compare(same, same, "--json", "--fail-on", "regression").stdout)
        self.assertEqual({phase["verdict"] for cell in document["cells"] for phase in cell["phases"]}, {"same"})

    def test_the_kept_values_of_few_rounds_are_compared_as_rounds(self):
        document = json.loads(self.compare(self.kept("same", rounds=3), self.kept("slower", rounds=3, factor=1.2), "--json").stdout)
        phases = [phase for cell in document["cells"] for phase in cell["phases"]]
        self.assertEqual({phase["verdict"] for phase in phases}, {"slower"})
        self.assertEqual({(phase["a"]["rounds"], phase["from_stored_intervals"]) for phase in phases}, {(3, False)})

    def test_a_log_without_samples_needs_its_results(self):
        kept = self.kept("same")
        (kept / "results.json.xz").unlink()
        self.assertIn("was kept without samples and only has the reasons of failures. Put the results.json.xz", self.refused(kept, self.after))

    def gate(self, a, b, *more, expect):
        return self.compare(a, b, "--fail-on", "regression", *more, expect=expect)

    def test_the_gate_fails_where_cells_are_missing(self):
        labels = {cell["label"] for cell in json.loads(self.before.read_text(encoding="utf-8"))["allocbench"]["cells"] if cell["status"] == "ok"}
        lost = sorted(labels)[0]
        lacking = self.kept("lacking", keep=lambda cell: cell["label"] != lost)
        whole = self.kept("whole")
        result = self.gate(whole, lacking, expect=4)
        self.assertIn("The cells that both sides measured show no regression. B lacks", result.stdout)
        self.assertRegex(result.stderr, r"exit code 4: B lacks \d+ cells? of A, or has too few rounds there\. Finish the run of B, or pass --allow-missing\.")
        self.gate(whole, lacking, "--allow-missing", expect=0)
        self.compare(whole, lacking)
        self.gate(lacking, whole, expect=0)
        missing = json.loads(self.compare(whole, lacking, "--json").stdout)["missing"]
        self.assertTrue(missing)
        self.assertTrue(all(f"/{lost}/" in cell["name"] for cell in missing))
        self.assertIn("--fail-on", self.refused(whole, lacking, "--allow-missing"))

    def test_the_gate_fails_where_b_was_cut(self):
        config = self.config(rounds=3)
        whole, cut = self.folder / "whole", self.folder / "cut"
        self.measure(config, out=whole)
        cut.mkdir()
        events = self.events(whole)
        last = [event["event"] for event in events].index("end")  # the log looks as if kill -9 came after the first end
        (cut / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events[:last + 1]), encoding="utf-8")
        self.assertIn("B lacks", self.gate(whole, cut, "--margin", 1000, expect=4).stdout)
        self.gate(whole, cut, "--margin", 1000, "--allow-missing", expect=0)

    def test_cells_that_b_left_out_are_missing_and_no_failures(self):
        document = json.loads(self.before.read_text(encoding="utf-8"))
        cells = document["allocbench"]["cells"]
        left_out = next(cell for cell in cells if cell["status"] == "ok")
        left_out.update(status="skipped", reason="no time", left_out=True)
        del left_out["phases"]
        path = self.folder / "left_out.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        found = json.loads(self.gate(self.before, path, "--json", expect=4).stdout)
        self.assertEqual((found["no_longer_ok"], [cell["id"] for cell in found["missing"]]), (0, [left_out["id"]]))
        self.gate(self.before, path, "--allow-missing", expect=0)

    def test_nothing_compared_is_no_success(self):
        self.measure(self.config())
        self.assertRegex(self.refused(self.out, self.out),
                         r"Nothing of .* could be compared: A has 1 of the 3 rounds that a comparison needs\. Measure at least 3 rounds")
        self.measure(self.config(["hanging"], workload={"id": "pulse"}, deadline_s=0.3), "--force", expect=1)
        self.assertIn("could be compared: no cell is ok on both sides. Name runs that share such cells.\n", self.refused(self.out, self.out))

    def test_times_of_zero_are_not_cured_by_more_rounds(self):
        self.measure(self.config(rounds=3, least_rounds=3))
        log = self.out / "events.jsonl"
        events = self.events()
        for event in events:
            for phase in event.get("phases", []):
                phase["seconds"] = 0
        log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        self.assertIn("could be compared: a time of zero. Name runs with longer times.", self.refused(log, log))

    def test_a_reference_is_measured_by_its_cheapest_cells(self):
        self.measure(self.config(["steady", "noisy"], rounds=3, sweep={"request_bytes": {"log2": [16, 4096]}}))
        again = self.folder / "again"
        # The log states how long a first round took. Without a log, the timed phases decide, which grow with the
        # request.
        kept = self.folder / "kept"
        kept.mkdir()
        shutil.move(self.out / "results.json", kept / "results.json")
        result = self.compare("--with-reference", kept, "--out", again, "--cells", 2)
        self.assertIn("measuring the cheapest 4 of 18 cells (--cells selects more or fewer)", result.stderr)
        sizes = [event["axes"]["request_bytes"] for event in self.events(again / "test" / "figure") if event["event"] == "cell"]
        self.assertEqual(sorted(sizes), [16, 16, 32, 32])
        self.assertRegex(result.stdout, r"\n  allocator  noisy  +x[\d.]+  \[x[\d.]+, x[\d.]+\] +2 cells\n")
        self.assertRegex(result.stdout, r"\n  allocator  steady  +x1\.00  \[x1\.00, x1\.00\] +2 cells\n  workload   pulse +x[\d.]+ .* 4 cells\n")
        self.assertNotIn("Only in A", result.stdout)
        self.assertEqual(self.gate_of_reference(kept, again, expect=0)["missing"], [])
        self.compare("--with-reference", kept, "--out", self.folder / "all", "--cells", 0)
        self.assertEqual(len(cell_ids(self.events(self.folder / "all" / "test" / "figure"))), 18)

    def gate_of_reference(self, kept, again, expect):
        return json.loads(self.compare("--with-reference", kept, "--out", again, "--cells", 2, "--margin", 1000, "--json", "--fail-on", "regression",
                                       expect=expect).stdout)

    def test_cells_that_the_card_cannot_hold_are_not_picked(self):
        # The fake device has 1 GiB.
        config = self.config(rounds=3, sweep={"pool_bytes": ["1MiB", "2GiB"]})
        self.run_program("--config", config, "--out", self.out, expect=0, environment=self.environment(FAKE_WORKER_MEMORY=str(4 << 30)))
        result = self.compare("--with-reference", self.out, "--out", self.folder / "again")
        pools = [event["pool_bytes"] for event in self.events(self.folder / "again" / "test" / "figure") if event["event"] == "cell"]
        self.assertEqual(pools, [1 << 20])
        self.assertIn("allocator  steady", result.stdout)

    def test_a_reference_whose_folder_cannot_be_made_is_told(self):
        kept = self.folder / "kept"
        self.measure(self.config(rounds=3), out=kept)
        self.out.write_text("a file", encoding="utf-8")
        result = self.compare("--with-reference", kept, "--out", self.out, expect=3)
        self.assertIn(f"Cannot create the folder {self.out}/test/figure: Not a directory.", result.stderr)

    def test_a_reference_without_rounds_is_refused_before_it_is_measured(self):
        self.measure(self.config())
        text = self.compare("--with-reference", self.out, "--out", self.folder / "again", expect=2).stderr
        self.assertIn(f"No cell of {self.out} has both the 3 rounds that a comparison needs and a pool that fits this device. Name other kept runs.", text)
        self.assertFalse((self.folder / "again").exists())

    def test_usage(self):
        self.assertIn("two sets of results, or --with-reference", self.refused(self.before))
        self.assertIn("excludes", self.refused(self.before, self.after, "--with-reference", self.before))
        self.assertIn("requires", self.refused(self.before, self.after, "--out", self.out))
        for margin in ("-1", "nan", "1001"):
            self.assertIn(f"--margin: Value {margin} not in range 0 to 1000", self.refused(self.before, self.after, "--margin", margin))
        self.assertIn("--fail-on", self.refused(self.before, self.after, "--fail-on", "noise"))
        self.assertIn("4: regression", self.compare("--help").stdout)


if __name__ == "__main__":
    unittest.main()
