"""Tests that commands report damaged input and lost output as errors, and cells without a measurement as not measured."""

import json
import os
import shutil
import time

from support import ProgramTest, cell_ids, ended


class Times(ProgramTest):
    def test_a_deadline_longer_than_the_clock_is_refused(self):
        self.assertIn("/deadline_s", self.measure(self.config(deadline_s=1e10), expect=2).stderr)
        self.assertIn("--timeout", self.measure(self.config(), "--timeout", "1e10", expect=2).stderr)
        self.measure(self.config(deadline_s=1e6))


class CutLogs(ProgramTest):
    def cut(self, keep):
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:keep(lines)]), encoding="utf-8")

    def test_a_log_cut_between_batches_is_not_ok(self):
        self.measure(self.config(["steady", "per_process"]))

        def after_the_first_batch(lines):
            ends = [number for number, line in enumerate(lines) if json.loads(line)["event"] == "end"]
            return ends[2] + 1

        self.cut(after_the_first_batch)
        result = self.run_program("report", self.out, expect=1)
        self.assertIn("6 cells, 3 ok, 3 not measured\n", result.stdout)
        self.assertEqual(self.results()["allocbench"]["unfinished"], 3)
        self.measure(self.config(["steady", "per_process"]), "--resume")
        self.assertIn("6 cells, 6 ok\n", self.run_program("report", self.out, expect=0).stdout)

    def test_a_log_cut_behind_the_run_line_is_not_ok(self):
        self.measure(self.config())
        self.cut(lambda lines: 1)
        self.assertIn("3 cells, 3 not measured\n", self.run_program("report", self.out, expect=1).stdout)

    def test_cells_that_a_filter_left_out_are_not_missing(self):
        self.measure(self.config(), "--filter", ":16$")
        self.assertIn("1 cell, 1 ok\n", self.run_program("report", self.out, expect=0).stdout)


class LostOutput(ProgramTest):
    def test_a_deleted_folder_stops_the_run_at_once(self):
        config = self.config(state="reused", workload={"id": "pulse", "seconds": 0.3}, repetitions=1000)
        program = self.start_program("--config", config, "--out", self.out)
        limit = time.monotonic() + 20
        while not (self.notes.exists() and " sample " in self.notes.read_text(encoding="utf-8")):
            self.assertLess(time.monotonic(), limit, "no sample was ever taken")
            time.sleep(0.01)
        shutil.rmtree(self.out)
        start = time.monotonic()
        _, errors = program.communicate(timeout=20)
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(program.returncode, 3, errors)
        self.assertIn("events.jsonl was deleted or replaced during the run", errors)
        self.assertEqual(self.worker_processes(), [])

    def test_a_log_that_is_lost_while_a_worker_starts_starts_no_other(self):
        """The worker asks the allocator for its device heap. If it does not start, another one usually tells why."""
        program = self.start_program("--config", self.config(["heaped"]), "--out", self.out, FAKE_WORKER_SLOW_READY="1")
        limit = time.monotonic() + 20
        while not self.out.exists() or len(self.starts()) < 2:
            self.assertLess(time.monotonic(), limit, "no worker was started")
            time.sleep(0.01)
        shutil.rmtree(self.out)
        _, errors = program.communicate(timeout=20)
        self.assertEqual(program.returncode, 3, errors)
        self.assertIn("events.jsonl was deleted or replaced during the run", errors)
        self.assertEqual(len(self.starts()), 2, "a worker for the device's name, and one for the cells")

    def test_a_full_device_is_an_error(self):
        self.measure(self.config())
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["report", self.out], ["list"]):
                result = self.run_program(*arguments, expect=3, stdout=full)
                self.assertIn("Cannot write to stdout: No space left on device.", result.stderr)


class Daemons(ProgramTest):
    def alive(self):
        process = int((self.folder / "daemon.pid").read_text(encoding="utf-8"))
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        return True

    def test_a_daemon_fails_the_cell_that_left_it_and_does_not_survive(self):
        environment = self.environment(FAKE_WORKER_DAEMON=str(self.folder / "daemon.pid"))
        self.run_program("--config", self.config(["haunting", "steady"]), "--out", self.out, expect=1,
                         environment=environment)
        self.assertFalse(self.alive())
        self.assertEqual(self.statuses(), {"haunting": ["ok", "crashed", "crashed"], "steady": ["ok"] * 3})
        reasons = {end["reason"] for end in ended(self.events()).values() if end["status"] == "crashed"}
        for reason in reasons:
            self.assertRegex(reason, r"^the worker left \S+ \(process \d+\) running in sample [23]$")

    def test_a_daemon_that_hides_until_its_worker_ends_is_killed_and_logged(self):
        environment = self.environment(FAKE_WORKER_DAEMON=str(self.folder / "daemon.pid"))
        result = self.run_program("--config", self.config(["lurking"]), "--out", self.out, expect=0,
                                  environment=environment)
        self.assertFalse(self.alive())
        self.assertIn("killed processes that a worker left behind", result.stderr)
        self.assertEqual([len(event["killed"]) for event in self.events() if event["event"] == "strays"], [1])


class NotCounted(ProgramTest):
    def test_zeros_of_an_allocator_that_does_not_count_are_no_results(self):
        self.measure(self.config(["steady", "counting"]))
        counted = {cell["label"]: cell["counted"] for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(counted["steady"], {})
        self.assertEqual(counted["counting"]["values"], {"operations_per_malloc": [2.0], "operations_per_free": [0.0]})
        rows = (self.out / "results.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual({row.split(",")[3] for row in rows if "operations_per_" in row}, {"counting"})


class Logs(ProgramTest):
    def test_damaged_lines_are_named(self):
        self.measure(self.config())
        path = self.out / "events.jsonl"
        sound = path.read_text(encoding="utf-8")
        for damage, words in (('"seconds":-1.0', '"seconds" must be a number of seconds from 0 to 1000000; found -1.0'),
                              ('"seconds":1e308', '"seconds" must be'), ('"seconds":1e400', "must be a JSON object"),
                              ('"seconds":[[[[', "must be a JSON object")):
            with self.subTest(damage=damage):
                path.write_text(sound.replace('"seconds":1.6e-05', damage, 1), encoding="utf-8")
                result = self.run_program("report", self.out, expect=2)
                self.assertRegex(result.stderr, r"^allocbench: \S+/events.jsonl:\d+: not a valid event: ")
                self.assertIn(words, result.stderr)

    def test_the_log_as_a_folder(self):
        (self.out / "events.jsonl").mkdir(parents=True)
        for arguments in (["report", self.out], ["--config", self.config(), "--out", self.out]):
            self.assertIn("must be a regular file", self.run_program(*arguments, expect=2).stderr)

    def test_every_planned_cell_is_in_the_run_line(self):
        self.measure(self.config(["steady", "refusing"]))
        events = self.events()
        self.assertEqual(sorted(events[0]["planned"]), sorted(cell_ids(events)))
