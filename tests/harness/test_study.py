"""Tests `allocbench study`: a group of configs as one plan."""

import collections
import fcntl
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import time

from fake_worker import OVERRUN_SECONDS
from support import PROGRAM, ProgramTest, ended


class StudyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.configs = self.folder / "configs"

    def add_config(self, name, allocators, **more):
        path = self.config(allocators, name=name, **more)
        target = self.configs / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    def study(self, group, *more, expect=0):
        return self.run_program("study", group, "--configs", self.configs, "--out", self.out, "--no-figures", *more, expect=expect)

    def processes(self):
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        return {word[0] for word in words if word[1] == "sample"}

    def cells(self, name):
        results = json.loads((self.out / name / "results.json").read_text(encoding="utf-8"))
        return {cell["label"]: cell["status"] for cell in results["allocbench"]["cells"]}


class Study(StudyTest):
    def test_one_process_per_allocator_and_round_for_all_configs(self):
        self.add_config("mine/one", ["steady", "noisy"], rounds=2)
        self.add_config("mine/two", ["steady"], rounds=2, sweep={"request_bytes": [128]})
        result = self.study("mine")
        self.assertEqual(len(self.processes()), 2 * 2)
        self.assertEqual(self.cells("mine/one"), {"steady": "ok", "noisy": "ok"})
        self.assertEqual(self.cells("mine/two"), {"steady": "ok"})
        self.assertIn("mine/one: 6 cells, 6 ok", result.stdout)
        self.assertIn("mine/two: 1 cell, 1 ok", result.stdout)

    def test_every_batch_knows_what_its_allocator_takes(self):
        self.add_config("mine/one", ["steady"])
        self.add_config("mine/two", ["steady"], sweep={"request_bytes": [128]})
        self.study("mine")
        for name in ("mine/one", "mine/two"):
            results = json.loads((self.out / name / "results.json").read_text(encoding="utf-8"))
            for cell in results["allocbench"]["cells"]:
                self.assertEqual(cell["metrics"]["metadata_bytes"], 4096, name)

    def test_two_configs_of_one_name_are_refused_before_anything_runs(self):
        paths = []
        for file in ("one", "two", "three"):
            self.config(["steady"], name="mine/other" if file == "three" else "mine/same", seed=len(file)).rename(self.folder / f"{file}.json")
            paths.append(self.configs / "mine" / f"{file}.json")
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{file}.json").rename(paths[-1])
        for more in ([], ["--dry-run"], ["--resume"], ["--force"], ["--only", "mine/same"]):
            with self.subTest(more=more):
                result = self.study("mine", *more, expect=2)
                self.assertEqual(result.stderr.splitlines()[-1],
                                 f'allocbench: 2 configs have the name "mine/same": {paths[0]} and {paths[1]}. '
                                 "Their results would share one folder. Give each config its own name.")
                self.assertFalse(self.out.exists())
        paths[0].unlink()
        self.study("mine")

    def test_names_that_lead_to_one_folder_are_one_name(self):
        self.add_config("mine/one", ["steady"])
        self.config(["steady"], name="./mine/one").rename(self.configs / "mine/two.json")
        self.assertIn('2 configs have the name "mine/one"', self.study("mine", expect=2).stderr)

    def test_a_study_that_cannot_begin_blocks_no_folder(self):
        for name in ("mine/one", "mine/two"):
            self.add_config(name, ["steady"], seed=len(name))
        (self.out / "mine/two").mkdir(parents=True)
        with open(self.out / "mine/two/events.jsonl", "w", encoding="utf-8") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            self.assertIn(f"Another allocbench is writing to {self.out}/mine/two/events.jsonl", self.study("mine", expect=3).stderr)
        self.study("mine")
        self.assertEqual(self.cells("mine/one"), {"steady": "ok"})

    def test_a_study_that_cannot_begin_deletes_nothing(self):
        for name in ("mine/one", "mine/two"):
            self.add_config(name, ["steady"], seed=len(name))
        self.study("mine")
        before = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        with open(self.out / "mine/two/events.jsonl", "a", encoding="utf-8") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            self.assertIn("Another allocbench is writing to", self.study("mine", "--force", expect=3).stderr)
        self.assertEqual({path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}, before)
        self.study("mine", "--force")

    def test_a_run_that_ended_before_its_first_cell_blocks_no_folder(self):
        self.add_config("mine/one", ["steady"])
        self.study("mine")
        log = self.out / "mine/one/events.jsonl"
        log.write_text(log.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
        self.study("mine")
        self.assertEqual([event["event"] for event in self.events(log.parent)].count("run"), 1)
        self.assertIn("already contains a run with 3 finished cells", self.study("mine", expect=2).stderr)

    def test_a_packed_run_is_not_hidden(self):
        self.add_config("mine/one", ["steady"])
        self.study("mine")
        folder = self.out / "mine/one"
        (folder / "events.jsonl.xz").write_bytes(lzma.compress((folder / "events.jsonl").read_bytes()))
        for name in ("events.jsonl", "results.csv", "results.json"):
            (folder / name).unlink()
        self.assertIn(f"{folder} already contains a run (events.jsonl.xz).", self.study("mine", expect=2).stderr)
        self.assertIn(f"{folder} contains a packed run, which cannot continue.", self.study("mine", "--resume", expect=2).stderr)
        self.assertEqual([path.name for path in folder.iterdir()], ["events.jsonl.xz"])

    def test_papers_are_five_folders(self):
        for folder in ("halloc2014", "kma2014", "pham2025", "vinkler2015", "xmalloc2010", "survey2021"):
            self.add_config(f"{folder}/fig1", ["steady"], workload={"id": "pulse", "blocks": len(folder)})
        result = self.study("papers", "--dry-run")
        self.assertIn("5 configs, 15 cells", result.stdout)
        self.assertIn("1 config, 3 cells", self.study("survey", "--dry-run").stdout)

    def test_mistyped_names_get_the_nearest(self):
        for name in ("kma2014/fig1", "kma2014_reworked/fig1", "mine/small"):
            self.add_config(name, ["steady"])
        self.assertIn('There is no group "kma". Did you mean "kma2014"?', self.study("kma", expect=2).stderr)
        error = self.study("mine", "--only", "mine/smal", expect=2).stderr
        self.assertIn('has no config "mine/smal" that measures something. Did you mean "mine/small"?', error)

    def test_a_study_without_a_folder_cannot_go_on(self):
        self.add_config("mine/one", ["steady"])
        self.add_config("mine/two", ["steady"], seed=2)
        self.assertIn(f"There is no folder {self.out}, so there is nothing to resume.", self.study("mine", "--resume", expect=2).stderr)
        self.study("mine", "--only", "mine/one")
        self.study("mine", "--resume")
        self.assertEqual(self.cells("mine/two"), {"steady": "ok"})

    def test_a_group_that_lacks_a_folder_says_which(self):
        self.add_config("halloc2014/fig1", ["steady"])
        self.assertIn(f'The group "papers" lacks its folder kma2014 in {self.configs}.', self.study("papers", "--dry-run", expect=2).stderr)

    def test_a_study_goes_on_where_it_was_killed(self):
        for name in ("mine/one", "mine/two"):
            self.add_config(name, ["noisy"], rounds=3, seed=len(name), workload={"id": "pulse", "seconds": 0.02},
                            sweep={"request_bytes": [16, 32, 64] if name == "mine/one" else [128, 256]})
        program = self.start_program("study", "mine", "--configs", self.configs, "--out", self.out)
        limit = time.monotonic() + 20
        while not (self.notes.exists() and " sample " in self.notes.read_text(encoding="utf-8")):
            self.assertLess(time.monotonic(), limit, "no sample was ever taken")
            time.sleep(0.01)
        program.send_signal(signal.SIGKILL)
        program.communicate()
        self.assertIn("Use --resume", self.study("mine", expect=2).stderr)
        self.study("mine", "--resume")
        for name, count in (("mine/one", 3), ("mine/two", 2)):
            events = self.events(self.out / name)
            self.assertEqual({end["status"] for end in ended(events).values()}, {"ok"})
            self.assertEqual(len([event for event in events if event["event"] == "round"]), 3 * count)

    def start_and_wait_for(self, path):
        program = self.start_program("study", "mine", "--configs", self.configs, "--out", self.out)
        limit = time.monotonic() + 30
        while not path.exists() or path.stat().st_size == 0:
            self.assertLess(time.monotonic(), limit, f"{path} was never written")
            time.sleep(0.01)
        return program

    def test_a_finished_config_has_its_files_before_the_study_ends(self):
        self.add_config("mine/one", ["steady"])
        self.add_config("mine/two", ["steady"], seed=2, rounds=1000, least_rounds=1000)
        program = self.start_and_wait_for(self.out / "mine/one/results.json")
        program.send_signal(signal.SIGKILL)
        program.communicate()
        self.assertEqual(self.cells("mine/one"), {"steady": "ok"})
        self.assertTrue((self.out / "mine/one/results.csv").exists())
        self.assertFalse((self.out / "mine/two/results.json").exists())

    def test_workers_share_a_folder_that_ends_with_the_study(self):
        self.add_config("mine/one", ["steady", "noisy"])
        self.study("mine")
        scratch = pathlib.Path(f"{self.notes}.scratch").read_text(encoding="utf-8").splitlines()
        self.assertGreaterEqual(len(scratch), 2)
        self.assertEqual(len(set(scratch)), 1)
        self.assertFalse(pathlib.Path(scratch[0]).exists())

    def test_the_folder_of_a_killed_study_ends_with_the_next_one(self):
        self.add_config("mine/one", ["steady"], rounds=1000, least_rounds=1000)
        self.add_config("other/one", ["steady"])
        program = self.start_and_wait_for(pathlib.Path(f"{self.notes}.scratch"))
        left = pathlib.Path(pathlib.Path(f"{self.notes}.scratch").read_text(encoding="utf-8").splitlines()[0])
        self.study("other")
        self.assertTrue(left.exists(), "the folder of a running study was removed")
        program.send_signal(signal.SIGKILL)
        program.communicate()
        self.study("other", "--force")
        self.assertFalse(left.exists())

    def test_an_interrupted_study_writes_the_files_of_every_config(self):
        for number in range(2):
            self.add_config(f"mine/fig{number}", ["steady"], seed=number, rounds=1000, least_rounds=1000)
        program = self.start_and_wait_for(self.out / "mine/fig1/events.jsonl")
        program.send_signal(signal.SIGTERM)
        output, _ = program.communicate(timeout=30)
        self.assertEqual(program.returncode, 130)
        for number in range(2):
            results = json.loads((self.out / f"mine/fig{number}" / "results.json").read_text(encoding="utf-8"))
            self.assertEqual(results["allocbench"]["unfinished"], 3)
            self.assertRegex(output, rf"mine/fig{number}: 3 cells.*, 3 (not measured|of these (not finished|provisional))")

    def test_the_plan_counts_the_processes_that_a_study_starts(self):
        # In a round, all cells of `steady` share a process. `per_process` takes three processes for each cell. The
        # program learns from opened cells whether `heaped` uses its share of the device heap. `heaped` uses it, and so
        # takes a process per pool.
        self.add_config("mine/one", ["steady", "heaped", "per_process"], rounds=2, least_rounds=2, repetitions=1)
        self.add_config("mine/two", ["steady", "heaped"], seed=2, sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "2MiB"]})
        plan = self.study("mine", "--dry-run").stdout
        self.assertIn("All cells together: 22 rounds. At least 13 worker processes for 3 allocators if nothing fails. Allocators with most processes: per_process 9, steady 2, heaped 2.", plan)
        self.study("mine")
        # Both commands also start a worker to read the facts of the device.
        self.assertEqual(len(self.starts()), 14 + 2)

    def test_no_figure_meets_a_device_heap_that_another_one_used(self):
        for number, sizes in enumerate(([16], [16, 20])):
            self.add_config(f"mine/fig{number}", ["per_process", "keeping"], state="reused", seed=number + 1, rounds=2, least_rounds=2,
                            sweep={"request_bytes": sizes})
        self.assertIn("At least 13 worker processes for 2 allocators if nothing fails. Allocators with most processes: keeping 9, per_process 4.",
                      self.study("mine", "--dry-run").stdout)
        self.study("mine")
        self.assertEqual(len(self.starts()), 13 + 2)
        figure_of = {event["id"]: name for name in ("fig0", "fig1") for event in self.events(self.out / "mine" / name) if event["event"] == "cell"}
        figures = collections.defaultdict(set)
        for line in self.notes.read_text(encoding="utf-8").splitlines():
            process, command, _, cell = line.split(" ")
            if command == "open":
                figures[process].add(figure_of[cell])
        self.assertEqual({len(each) for each in figures.values()}, {1})

    def test_only_some_configs(self):
        for number in range(2):
            self.add_config(f"mine/fig{number}", ["steady"])
        self.study("mine", "--only", "mine/fig1")
        self.assertEqual([path.name for path in (self.out / "mine").iterdir()], ["fig1"])
        self.assertIn('has no config "fig1"', self.study("mine", "--only", "fig1", expect=2).stderr)

    def test_mistakes_of_all_configs_are_told_at_once(self):
        self.add_config("mine/one", ["stedy"])
        self.add_config("mine/two", ["steady"], repetitions=0)
        result = self.study("mine", expect=2)
        self.assertIn("mine/one.json", result.stderr)
        self.assertIn("mine/two.json", result.stderr)
        self.assertFalse(self.out.exists())

    def test_many_configs_with_mistakes_are_named_and_three_are_explained(self):
        for number in range(5):
            self.add_config(f"mine/fig{number}", ["stedy"])
        told = self.study("mine", expect=2).stderr
        self.assertEqual(told.count("unknown allocator"), 3)
        self.assertRegex(told, r"2 more configs have mistakes: \S+mine/fig3\.json, \S+mine/fig4\.json\.\n.*`make build` builds all")
        self.assertFalse(self.out.exists())

    def test_mistakes_of_configs_that_are_not_selected_do_not_count(self):
        self.add_config("mine/one", ["stedy"])
        self.add_config("mine/two", ["steady"])
        self.study("mine", "--only", "mine/two")
        self.assertEqual([path.name for path in (self.out / "mine").iterdir()], ["two"])
        self.assertIn("mine/one.json", self.study("mine", "--only", "mine/one", "--only", "mine/two", "--force", expect=2).stderr)

    def test_a_config_without_a_name_is_never_passed_over(self):
        self.add_config("mine/two", ["steady"])
        (self.configs / "mine" / "one.json").write_text('{"name": 5}', encoding="utf-8")
        self.assertIn("mine/one.json", self.study("mine", "--only", "mine/two", expect=2).stderr)

    def test_unknown_groups(self):
        self.add_config("mine/one", ["steady"])
        result = self.study("yours", expect=2)
        self.assertIn('There is no group "yours". Groups in', result.stderr)
        self.assertIn("mine, papers, survey", result.stderr)

    def test_the_plan_counts_no_process_per_cell_where_requests_decide(self):
        # For both allocators, only a new process refreshes everything. One of them serves small requests without the
        # device heap.
        self.add_config("mine/one", ["per_process", "thrifty"], rounds=2, least_rounds=2, repetitions=1, sweep={"request_bytes": [16, 20]})
        self.assertIn("At least 8 worker processes for 2 allocators if nothing fails. Allocators with most processes: per_process 6, thrifty 2.",
                      self.study("mine", "--dry-run").stdout)
        self.study("mine")
        self.assertEqual(len(self.starts()), 8 + 2)

    def test_the_profile_names_deadlines(self):
        self.add_config("mine/one", ["hanging", "steady"], deadline_s=0.5)
        result = self.study("mine", "--profile", expect=1)
        self.assertRegex(result.stdout, r"wall time [0-9.]+ s\n")
        for part in ("kernels", "process starts", "process ends", "deadlines", "workers that died", "front end"):
            self.assertRegex(result.stdout, rf"(?m)^ +[0-9.]+ % +[0-9.]+ s  {part}$")
        self.assertRegex(result.stdout, r"(?m)^ +[0-9.]+ s  of process starts ran while another worker started or ended$")

    def test_the_profile_counts_a_deadline_that_a_worker_ends_itself(self):
        self.add_config("mine/one", ["overrunning"], sweep={"request_bytes": [32]}, rounds=1)
        result = self.study("mine", "--profile", expect=1)
        self.assertIn("planned overrun", result.stdout + result.stderr)
        seconds = re.search(r"(?m)^ +[0-9.]+ % +([0-9.]+) s  deadlines$", result.stdout)
        self.assertGreaterEqual(float(seconds[1]), OVERRUN_SECONDS)

    def test_the_profile_has_what_workers_did_before_they_died(self):
        self.add_config("mine/one", ["crashing"], sweep={"request_bytes": [32]}, rounds=1)
        result = self.run_program("study", "mine", "--configs", self.configs, "--out", self.out, "--profile", expect=1,
                                  environment=self.environment(FAKE_WORKER_PROFILE='{"resets": 7.0, "deadlines": 5.0}'))
        self.assertRegex(result.stdout, r" 7\.0 s  verification of resets\n")
        self.assertRegex(result.stdout, r" 5\.0 s  deadlines\n")  # time of deadlines that ended no worker


class AllDevices(StudyTest):
    """These tests use two GPUs of one host, with a process of the program on each."""

    def setUp(self):
        super().setUp()
        self.add_worker("cuda")
        self.arguments = ("study", "mine", "--configs", self.configs, "--out", self.out, "--device", "all")
        self.two = self.environment(FAKE_WORKER_DEVICES="2")

    def card(self, name):
        results = json.loads((self.out / name / "results.json").read_text(encoding="utf-8"))
        cards = results["allocbench"]["provenance"]["cards"]
        self.assertEqual(len(cards), 1)
        self.assertEqual({cell["device_uuid"] for cell in results["allocbench"]["cells"]}, set(cards))
        return cards[0]

    def start(self):
        for number in range(2):
            self.add_config(f"mine/fig{number}", ["noisy"], seed=number, rounds=1000, least_rounds=1000)
        program = subprocess.Popen([PROGRAM, *map(str, self.arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder, env=self.two, start_new_session=True)
        limit = time.monotonic() + 30
        while not all((self.out / f"mine/fig{number}/events.jsonl").exists() and
                      '"event":"round"' in (self.out / f"mine/fig{number}/events.jsonl").read_text(encoding="utf-8") for number in range(2)):
            self.assertLess(time.monotonic(), limit, "no round was ever measured")
            time.sleep(0.01)
        return program

    def assert_no_process_left(self):
        limit = time.monotonic() + 20
        while self.worker_processes():
            self.assertLess(time.monotonic(), limit, "workers outlived the study")
            time.sleep(0.05)

    def test_each_device_has_its_own_warnings(self):
        for number in range(2):
            self.add_config(f"mine/fig{number}", ["steady"], rounds=2, seed=number)
        result = self.run_program(*self.arguments, expect=0, environment={**self.two, "FAKE_WORKER_MIG": "1"})
        self.assertEqual([line for line in result.stderr.splitlines() if "warning" in line],
                         ["allocbench: warning: device 1: MIG is on, so the device is part of a card. The kept results were measured on whole cards."])

    def test_they_share_the_configs(self):
        for number in range(3):
            self.add_config(f"mine/fig{number}", ["steady"], rounds=2, seed=number)
        result = self.run_program(*self.arguments, expect=0, environment=self.two)
        self.assertIn("measuring on 2 GPUs (there is no device 2", result.stderr)
        self.assertEqual({self.card(f"mine/fig{number}") for number in range(3)}, {"GPU-0", "GPU-1"})
        self.assertEqual(self.study("mine", "--device", "all", "--backend", "cpu", "--resume", expect=2).returncode, 2)

    def test_a_config_stays_on_its_card(self):
        for number in range(3):
            self.add_config(f"mine/fig{number}", ["steady"], rounds=2, seed=number)
        self.run_program(*self.arguments, expect=0, environment=self.two)
        cards = [self.card(f"mine/fig{number}") for number in range(3)]
        # The new config has most of the work, so it would be distributed first.
        self.add_config("mine/large", ["steady", "counting"], rounds=9, least_rounds=9, seed=7)
        self.run_program(*self.arguments, "--resume", expect=0, environment=self.two)
        self.assertEqual([self.card(f"mine/fig{number}") for number in range(3)], cards)
        self.assertEqual(self.card("mine/large"), "GPU-1", "which had one config")

    def test_a_config_without_a_whole_line_in_its_log_begins_anew(self):
        for number in range(2):
            self.add_config(f"mine/fig{number}", ["steady"], seed=number)
            (self.out / f"mine/fig{number}").mkdir(parents=True)
        (self.out / "mine/fig0/events.jsonl").write_text("", encoding="utf-8")
        (self.out / "mine/fig1/events.jsonl").write_text('{"event":"ru', encoding="utf-8")
        self.run_program(*self.arguments, "--resume", expect=0, environment=self.two)

    def test_a_signal_to_end_reaches_both(self):
        program = self.start()
        program.send_signal(signal.SIGINT)
        output, errors = program.communicate(timeout=30)
        self.assertEqual(program.returncode, 130, errors)
        self.assertTrue(errors.splitlines()[-1].endswith(" --resume --device all"))
        self.assertEqual(errors.count("allocbench study mine"), 1, "each process told how to continue its own part")
        self.assertNotIn("--only", errors)
        for number in range(2):
            results = json.loads((self.out / f"mine/fig{number}/results.json").read_text(encoding="utf-8"))
            self.assertEqual(results["allocbench"]["unfinished"], 3)
            self.assertIn(f"mine/fig{number}: ", output)
        self.assert_no_process_left()

    def test_a_study_that_was_killed(self):
        program = self.start()
        children = subprocess.run(["pgrep", "--parent", str(program.pid)], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(len(children), 2)
        os.kill(int(children[1]), signal.SIGKILL)
        os.kill(int(children[0]), signal.SIGINT)
        _, errors = program.communicate(timeout=30)
        self.assertEqual(program.returncode, 130, errors)
        self.assertRegex(errors, r"(?m)^allocbench: device [01]: the study was killed by SIGKILL \(")
        self.assertIn("To continue unfinished runs:", errors)
        self.assert_no_process_left()

    def test_both_end_with_the_program_that_started_them(self):
        program = self.start()
        program.kill()
        program.communicate(timeout=30)
        self.assert_no_process_left()
        for number in range(2):
            self.assertTrue((self.out / f"mine/fig{number}/results.json").exists())
