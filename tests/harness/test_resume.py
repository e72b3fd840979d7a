"""Tests kill -9 of the program and its workers at random moments: no cell may be measured twice or lost."""

import collections
import json
import lzma
import os
import random
import shutil
import signal
import time

from support import ProgramTest, cell_ids, ended

KILLS = 12


class Resume(ProgramTest):
    def slow_config(self, **more):
        # Samples take only 10 ms, so a kill can hit the run anywhere, even while it starts or writes results.
        return self.config(["steady", "per_process", "incorrect"], state="reused",
                           workload={"id": "pulse", "trouble_from": "64B", "seconds": 0.01}, **more)

    def check_complete(self):
        events = self.events()
        cells = cell_ids(events)
        self.assertEqual(len(cells), 9)
        self.assertEqual(len(set(cells)), 9, "a cell was logged twice")
        ends = collections.Counter(event["cell"] for event in events if event["event"] == "end")
        self.assertEqual(ends, collections.Counter(cells), "a cell ended twice or never")
        for cell in self.results()["allocbench"]["cells"]:
            if cell["status"] == "ok":
                self.assertEqual(cell["phases"][0]["rounds"], [3])
                self.assertEqual(len(cell["phases"][0]["samples"]), 3)
        statuses = collections.Counter(end["status"] for end in ended(events).values())
        self.assertEqual(statuses, {"ok": 8, "incorrect": 1})

    def test_kill_9_at_random_moments(self):
        seed = int(os.environ.get("ALLOCBENCH_TEST_SEED", random.randrange(1 << 32)))
        print(f"ALLOCBENCH_TEST_SEED={seed}", flush=True)
        generator = random.Random(seed)
        config = self.slow_config()
        self.out.mkdir()
        for _ in range(KILLS):
            program = self.start_program("--config", config, "--out", self.out, "--resume")
            time.sleep(generator.uniform(0.02, 0.5))
            program.send_signal(signal.SIGKILL)
            program.communicate()
            self.assert_workers_die()
            if generator.random() < 0.5 and (self.out / "events.jsonl").exists():
                # A kill in the middle of a write leaves such a torn line.
                with open(self.out / "events.jsonl", "ab") as log:
                    log.write(b'{"event":"sample","ti')
        self.measure(config, "--resume", expect=1)
        self.check_complete()

    def test_a_cell_whose_last_round_was_logged_gets_no_other(self):
        config = self.slow_config(rounds=2)
        self.measure(config, expect=1)
        log = self.out / "events.jsonl"
        kept = [line for line in log.read_text().splitlines(keepends=True) if json.loads(line)["event"] != "end"]
        log.write_text("".join(kept))
        self.measure(config, "--resume", expect=1)
        events = self.events()
        self.assertEqual(sum(event["event"] == "round" for event in events), 2 * 8)
        self.assertEqual({event["status"] for event in ended(events).values()}, {"ok", "incorrect"})

    def assert_workers_die(self):
        # The kernel kills the workers a moment after the program has ended.
        limit = time.monotonic() + 5
        while self.worker_processes() and time.monotonic() < limit:
            time.sleep(0.01)
        self.assertEqual(self.worker_processes(), [])

    def test_kill_9_of_workers_fails_only_the_cell_at_work(self):
        program = self.start_program("--config", self.slow_config(), "--out", self.out)
        killed = 0
        while program.poll() is None and killed < 1:
            for process, state in self.worker_processes():
                if state != "Z" and self.notes.exists() and " sample " in self.notes.read_text(encoding="utf-8"):
                    os.kill(int(process), signal.SIGKILL)
                    killed += 1
            time.sleep(0.005)
        program.communicate(timeout=60)
        self.assertEqual(program.returncode, 1)
        statuses = collections.Counter(end["status"] for end in ended(self.events()).values())
        self.assertEqual(sum(statuses.values()), 9)
        self.assertLessEqual(statuses["crashed"], 1)
        # Failed cells can be measured again alone.
        self.measure(self.slow_config(), "--only-failed", expect=1)
        statuses = collections.Counter(end["status"] for end in ended(self.events()).values())
        self.assertEqual(statuses, {"ok": 8, "incorrect": 1})

    def test_only_failed_leaves_good_cells_alone(self):
        config = self.config(["incorrect"])
        self.measure(config, expect=1)
        self.measure(config, "--only-failed", expect=1)
        attempts = {event["cell"]: event["attempt"] for event in self.events() if event["event"] == "start"}
        statuses = {cell: end["status"] for cell, end in ended(self.events()).items()}
        for cell, attempt in attempts.items():
            self.assertEqual(attempt, 1 if statuses[cell] == "ok" else 2)

    def test_resume_of_a_finished_run_measures_nothing(self):
        config = self.config()
        self.measure(config)
        before = self.events()
        result = self.measure(config, "--resume")
        self.assertIn("no cells left to measure", result.stderr)
        self.assertEqual(self.events(), before)

    def test_a_mistyped_folder_starts_no_run(self):
        self.measure(self.config())
        (self.folder / "results/quick-cpu").mkdir(parents=True)
        for out, flags, words in ((self.folder / "outt", ["--resume"], f"Did you mean {self.out}?"),
                                  (self.folder / "outt", ["--only-failed"], "nothing to rerun"),
                                  ("reslts/quik-cpu", ["--resume"], "Did you mean results/quick-cpu?"),
                                  (self.folder / "quite_different", ["--resume"], "or drop --resume to start a run."),
                                  (self.folder / "outt", ["--resume", "--only-failed"], "or drop --resume and --only-failed")):
            with self.subTest(out=out, flags=flags):
                error = self.measure(self.config(), *flags, out=out, expect=2).stderr
                self.assertIn(f"There is no folder {out}, so there is nothing to ", error)
                self.assertIn(words, error)
                self.assertFalse((self.folder / out).exists())
        self.assertNotIn("Did you mean", self.measure(self.config(), "--resume", out=self.folder / "quite_different", expect=2).stderr)

    def test_resume_refuses_the_log_of_another_config(self):
        self.measure(self.config())
        result = self.measure(self.config(repetitions=4), "--resume", expect=2)
        self.assertIn("contains a run of another config: repetitions differs.", result.stderr)
        result = self.measure(self.config(), "--resume", "--seed", "7", expect=2)
        self.assertIn("another config: seed differs", result.stderr)

    def test_a_run_without_time_for_any_cell_blocks_no_folder(self):
        self.measure(self.config(), "--minutes", 0, expect=1)
        self.measure(self.config())
        self.assertEqual([event["event"] for event in self.events()].count("run"), 1)
        self.assertIn("already contains a run with 3 finished cells", self.measure(self.config(), expect=2).stderr)

    def test_patience_and_drawing_may_change(self):
        self.measure(self.config())
        self.measure(self.config(deadline_s=3, plot={"kind": "lines", "x": "request_bytes"}), "--resume", expect=0)

    def test_report_makes_the_same_files_again(self):
        self.measure(self.config(["steady", "incorrect"]), expect=1)
        before = {name: (self.out / name).read_bytes() for name in ("results.csv", "results.json")}
        for name in before:
            (self.out / name).unlink()
        result = self.run_program("report", self.out, expect=1)
        self.assertIn("incorrect", result.stdout)
        for name, content in before.items():
            self.assertEqual((self.out / name).read_bytes(), content)

    def test_report_of_a_packed_log_writes_nothing_beside_it(self):
        self.measure(self.config(["steady", "incorrect"]), expect=1)
        table = self.run_program("report", self.out, expect=1).stdout
        kept = self.folder / "kept" / "fig1"
        kept.mkdir(parents=True)
        (kept / "events.jsonl.xz").write_bytes(lzma.compress((self.out / "events.jsonl").read_bytes()))
        for name in (kept, kept / "events.jsonl.xz", kept.parent, f"{self.folder}/k*/fig*"):
            with self.subTest(name=str(name)):
                self.assertEqual(self.run_program("report", name, expect=1).stdout, table)
        self.assertEqual([path.name for path in kept.iterdir()], ["events.jsonl.xz"])
        for name in ("results.json", "results.json.xz"):
            with self.subTest(beside=name):
                (kept / name).write_bytes(b"")  # files beside the log are not read
                self.assertEqual(self.run_program("report", kept / name, expect=1).stdout, table)
                (kept / name).unlink()
        (kept.parent / "fig2").mkdir()
        shutil.copy(kept / "events.jsonl.xz", kept.parent / "fig2")
        both = self.run_program("report", kept.parent, expect=1).stdout
        self.assertEqual(both, f"{kept}/events.jsonl.xz\n{table}\n{kept.parent}/fig2/events.jsonl.xz\n{table}")

    def test_report_needs_a_log_or_results(self):
        self.measure(self.config())
        (self.out / "events.jsonl").unlink()
        self.assertIn("3 cells, 3 ok\n", self.run_program("report", self.out, expect=0).stdout)
        (self.out / "results.json").write_text("{}", encoding="utf-8")
        self.assertIn("results.json is not a results file of allocbench", self.run_program("report", self.out, expect=2).stderr)
        (self.out / "results.json").unlink()
        self.assertIn("contains no run", self.run_program("report", self.out, expect=2).stderr)
