"""Tests rounds: new processes, allocators in turns, one verification, and the reasons why a cell stops."""

import collections
import csv
import itertools
import json
import pathlib
import random
import signal
import time

from support import ProgramTest, cell_ids, ended

KILLS = 6


class RoundsTest(ProgramTest):
    def stops(self):
        return {end["stop"] for end in ended(self.events()).values() if end["status"] == "ok"}

    def samples_by_round(self):
        """Returns the number of samples of each round of each cell in the results."""
        return {cell["id"]: cell["phases"][0]["rounds"] for cell in self.results()["allocbench"]["cells"] if "phases" in cell}


class Order(RoundsTest):
    def test_allocators_take_turns_in_new_processes(self):
        self.measure(self.config(["steady", "counting", "noisy"], rounds=4, least_rounds=4, precision=0.0001))
        turns = []
        for process, _, allocator, _ in self.notes_of("sample"):
            if not turns or turns[-1] != (process, allocator):
                turns.append((process, allocator))
        self.assertEqual(len(turns), 3 * 4)
        self.assertEqual(len({process for process, _ in turns}), 3 * 4)
        for first in range(0, len(turns), 3):
            self.assertEqual({allocator for _, allocator in turns[first:first + 3]}, {"steady", "counting", "noisy"})

    def test_one_process_measures_all_pools_of_an_allocator(self):
        config = self.config(sweep={"request_bytes": [16, 64], "pool_bytes": ["1MiB", "2MiB"]}, rounds=2)
        self.measure(config)
        self.assertEqual(len({process for process, *_ in self.notes_of("sample")}), 2)
        self.assertEqual(len(self.notes_of("allocator")), 2 * 2)
        self.assertEqual(len(self.events()[0]["planned"]), 4)

    def test_an_allocator_that_only_a_process_refreshes_gets_one_per_pool(self):
        config = self.config(["per_process"], sweep={"request_bytes": [16, 64], "pool_bytes": ["1MiB", "2MiB"]}, rounds=2,
                             state="reused")
        self.measure(config)
        self.assertEqual(len({process for process, *_ in self.notes_of("sample")}), 2 * 2)

    def test_what_keeps_memory_of_the_device_heap_has_a_process_per_cell_in_every_state(self):
        self.add_worker("cuda")
        full = ("--backend", "cuda", "--verify", "full")
        for state, options in itertools.product(("reused", "aged"), (full[:2], full)):
            with self.subTest(state=state, options=options):
                self.notes.unlink(missing_ok=True)
                config = self.config(["keeping"], sweep={"request_bytes": [16, 64]}, rounds=2, state=state, repetitions=3)
                self.measure(config, "--force", *options)
                verified = [process for process, *_ in self.notes_of("verify")]
                rounds = [process for process, *_ in self.notes_of("sample")]
                self.assertEqual(len(set(verified)), 2)
                self.assertEqual(len(set(rounds)), 2 * 2, "the samples of a cell and round share one")
                self.assertEqual(len(set(verified) & set(rounds)), 0 if options == full else 2, "counts depend on what the samples left")
                self.assertEqual({tuple(each) for each in self.samples_by_round().values()}, {(3, 3)})

    def test_a_sample_with_a_process_of_its_own_stays_alone_in_its_round(self):
        for rounds, samples in ((3, [1, 1, 1]), (1, [4])):
            with self.subTest(rounds=rounds):
                self.measure(self.config(["per_process"], sweep={"request_bytes": [16]}, state="fresh", rounds=rounds,
                                         least_rounds=rounds, repetitions=4), "--force")
                self.assertEqual([len(each) for each in self.samples_by_round().values()], [len(samples)])
                counts = collections.Counter(e["round"] for e in self.events() if e["event"] == "sample")
                self.assertEqual([counts[each] for each in sorted(counts)], samples)

    def test_the_next_worker_starts_while_a_killed_one_ends(self):
        self.measure(self.config(["hanging"], deadline_s=0.5, rounds=1), expect=1)
        waited = ["--wait" in arguments for arguments in self.starts()]
        self.assertEqual(waited[:3], [False, False, True], "the first one asks for the device, the third one follows a hang")

    def test_cells_that_need_no_process_share_one(self):
        config = self.config(["thrifty"], sweep={"request_bytes": [16, 20, 64, 24]}, state="fresh", rounds=2, repetitions=4)
        self.add_worker("cuda")
        self.measure(config, "--backend", "cuda")
        size_of = {event["id"]: event["axes"]["request_bytes"] for event in self.events() if event["event"] == "cell"}
        processes = collections.defaultdict(list)
        for command in ("verify", "sample"):
            for process, _, _, cell in self.notes_of(command):
                processes[size_of[cell], command].append(process)
        samples = {size: processes[size, "sample"] for size in (16, 20, 24, 64)}
        self.assertEqual(processes[16, "verify"], samples[16][:1], "what verified it measures it as well")
        self.assertEqual(processes[64, "verify"], samples[64][:1])
        self.assertEqual(len(set(samples[64])), 2, "a process per sample")
        self.assertEqual(samples[16][0], samples[20][0])
        self.assertEqual(samples[16][-1], samples[20][-1])
        self.assertEqual(len({process for each in processes.values() for process in each}), 4)

    def test_cells_are_verified_in_their_first_round_only(self):
        self.measure(self.config(["steady", "noisy"], rounds=3))
        verified = [cell for *_, cell in self.notes_of("verify")]
        self.assertEqual(len(verified), 6)
        self.assertEqual(len(set(verified)), 6)
        self.assertEqual(len(self.notes_of("open")), 6 * 3)

    def test_results_keep_the_rounds_apart(self):
        self.measure(self.config(["noisy"], rounds=3))
        for cell in self.results()["allocbench"]["cells"]:
            self.assertEqual(cell["phases"][0]["rounds"], [3, 3, 3])
            self.assertEqual(len(cell["phases"][0]["samples"]), 9)
        samples = [event for event in self.events() if event["event"] == "sample"]
        self.assertEqual(collections.Counter((event["round"], event["index"]) for event in samples),
                         {(round_, index): 3 for round_ in range(3) for index in range(3)})


class Processes(RoundsTest):
    def test_a_round_of_a_cell_is_one_run_of_the_measuring_loop(self):
        self.measure(self.config(["steady"], rounds=3, least_rounds=3, repetitions=50, sweep={"request_bytes": [16]}))
        # In the first round, the time of a sample is unknown.
        self.assertEqual([command for _, command, *_ in self.notes_of("sample", "close")],
                         ["sample", "sample", "close", "sample", "close", "sample", "close"])
        self.assertEqual(list(self.samples_by_round().values()), [[50, 50, 50]])

    def test_samples_end_with_the_time_of_a_round(self):
        self.measure(self.config(["steady"], rounds=2, least_rounds=2, repetitions=50, sweep={"request_bytes": [16]},
                                 workload={"id": "pulse", "device_seconds": 0.004}))
        # Each sample reports 8 ms.
        self.assertEqual(list(self.samples_by_round().values()), [[3, 3]])

    def test_workers_load_the_plug_in_of_their_allocator_only(self):
        self.measure(self.config(["steady", "noisy"], rounds=2))
        measuring = [start for start in self.starts() if "--plugin" in start]
        self.assertEqual(collections.Counter(start[start.index("--plugin") + 1] for start in measuring),
                         {"fake_steady": 2, "fake_noisy": 2})
        self.assertEqual(len(self.starts()), 4 + 1)  # one start reads the facts of the device

    def test_a_worker_answers_the_question_about_its_device_heap_when_it_starts(self):
        config = self.config(["heaped"], rounds=2, sweep={"request_bytes": [16, 64], "pool_bytes": ["1MiB", "2MiB"]})
        self.measure(config)
        asked = [start[start.index("--device-heap-for") + 1] for start in self.starts() if "--device-heap-for" in start]
        self.assertEqual(sorted(json.loads(question)["pool_bytes"] >> 20 for question in asked), [1, 1, 2, 2])
        lines = pathlib.Path(f"{self.notes}.starts").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len([line for line in lines if "--describe" not in line]), 4 + 1)
        cells = self.results()["allocbench"]["cells"]
        self.assertEqual({(cell["pool_bytes"] >> 10, cell["metrics"]["device_heap_bytes"] >> 10) for cell in cells},
                         {(1024, 256), (2048, 512)})

    def test_parameters_that_need_the_same_heap_share_a_process_once_that_is_known(self):
        config = self.config(["heaped"], rounds=3, least_rounds=3, sweep={"request_bytes": [16], "allocator.page_bytes": [4096, 8192]})
        self.measure(config)
        rounds = collections.defaultdict(set)
        for event in self.events():
            if event["event"] == "round":
                rounds[event["round"]].add(event["cell"])
        self.assertEqual({len(cells) for cells in rounds.values()}, {2})
        self.assertEqual(len({process for process, *_ in self.notes_of("sample")}), 2 + 1 + 1)

    def test_cells_that_leave_the_device_heap_alone_share_a_process(self):
        config = self.config(["roomy", "thrifty"], rounds=2, sweep={"request_bytes": [16, 64], "pool_bytes": ["1MiB", "2MiB"]},
                             state="reused")
        self.measure(config)
        axes_of = {event["id"]: (event["allocator"], *event["axes"].values()) for event in self.events() if event["event"] == "cell"}
        heap_of = [int(json.loads(start[start.index("--device-heap-for") + 1])["pool_bytes"]) for start in self.starts() if "--device-heap-for" in start]
        processes = collections.defaultdict(list)
        for process, _, _, cell in self.notes_of("sample"):
            if process not in processes[axes_of[cell]]:
                processes[axes_of[cell]].append(process)
        for allocator in ("roomy", "thrifty"):
            small, other_small = processes[allocator, 16, 1 << 20], processes[allocator, 16, 2 << 20]
            large, other_large = processes[allocator, 64, 1 << 20], processes[allocator, 64, 2 << 20]
            self.assertEqual(small, other_small, "one heap is as good as another")
            self.assertEqual(small, large)
            self.assertEqual(len({*large, *other_large}), 2 * 2, "a process per heap and round")
        self.assertEqual(sorted(heap_of), 4 * [1 << 20] + 4 * [2 << 20])

    def test_an_allocator_that_does_not_tell_its_heap_gets_none(self):
        self.measure(self.config(["shy"]))
        self.assertEqual(self.statuses(), {"shy": ["ok"] * 3})


def loads_ahead(order, process):
    """Returns whether a worker loads while another one is at work. A worker reports when it has loaded."""
    return (process, "loaded") in order


class Overlap(RoundsTest):
    """A worker loads while the worker before it starts, and opens the device while that worker ends. The fake worker
    stops a run if two workers may have kernels on the device.
    """

    def setUp(self):
        super().setUp()
        self.more = {"FAKE_WORKER_SLOW_END": "0.1"}

    def environment(self, **more):
        return super().environment(**self.more, **more)

    def order(self):
        """Returns (process, what it did) in the order of the whole run, without the process that only reports the
        device.
        """
        lines = pathlib.Path(f"{self.notes}.order").read_text(encoding="utf-8").splitlines()
        steps = [tuple(line.split(" ")) for line in lines]
        return [step for step in steps if step[0] != steps[0][0]]

    def test_a_worker_is_ready_when_the_last_one_is_gone(self):
        self.more["FAKE_WORKER_SLOW_END"] = "0.3"
        self.measure(self.config(["steady", "per_process", "noisy"], rounds=2))
        present, early = set(), 0
        for process, what in self.order():
            if what == "opens":
                early += bool(present - {process})
            if what == "ready":
                self.assertEqual(present - {process}, set())
                present = {process}
            if what == "gone":
                present.remove(process)
        self.assertGreater(early, 0, "no worker opened the device while another one ended")

    def test_one_by_one_a_worker_starts_when_the_last_one_is_gone(self):
        self.measure(self.config(["steady", "per_process", "noisy"], rounds=2), "--one-by-one")
        present = set()
        for process, what in self.order():
            if what == "starts":
                self.assertEqual(present, set())
                present = {process}
            if what == "gone":
                present.remove(process)
        self.assertFalse([start for start in self.starts() if "--wait" in start])

    def test_nothing_loads_beside_a_sample(self):
        self.more["FAKE_WORKER_SLOW_LOAD"] = "0.1"
        self.measure(self.config(["steady", "noisy", "counting"], rounds=2))
        loading = set()
        for process, what in self.order():
            if what == "starts" and loads_ahead(self.order(), process):
                loading.add(process)
            loading -= {process} if what == "loaded" else set()
            self.assertFalse(what == "samples" and loading)

    def test_a_device_that_serves_one_process_is_opened_late(self):
        self.more.update(FAKE_WORKER_ALONE="1", FAKE_WORKER_SLOW_END="0.5")
        self.measure(self.config(["steady", "noisy"], rounds=2))
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 3, "noisy": ["ok"] * 3})
        self.assertLessEqual(len(self.starts()), 1 + 4 + 1, "no more than one was refused")

    def test_a_worker_that_fails_while_it_waits_is_started_once_more(self):
        self.more["FAKE_WORKER_FAILS_TO_LOAD"] = "1"
        self.measure(self.config(["steady", "noisy"], rounds=2))
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 3, "noisy": ["ok"] * 3})

    def test_a_worker_that_crashes_or_hangs_leaves_the_device_to_the_next_one(self):
        config = self.config(["crashing", "hanging", "steady", "noisy"], rounds=2, deadline_s=0.5)
        self.measure(config, expect=1)
        self.assertEqual(self.statuses(), {"crashing": ["ok", "crashed", "crashed"], "hanging": ["ok", "timeout", "timeout"],
                                           "steady": ["ok"] * 3, "noisy": ["ok"] * 3})
        self.assertEqual(self.worker_processes(), [])

    def test_allocators_of_all_kinds(self):
        config = self.config(["steady", "per_process", "heaped", "crashing", "noisy"], rounds=2,
                             sweep={"request_bytes": [16, 64], "pool_bytes": ["1MiB", "2MiB"]})
        self.measure(config, expect=1)
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 4, "per_process": ["ok"] * 4, "heaped": ["ok"] * 4,
                                           "crashing": ["ok", "ok", "crashed", "crashed"], "noisy": ["ok"] * 4})
        waited = ["--wait" in start for start in self.starts()]
        # All workers wait except three: the one that reports the device, the first that measures, and the one after the
        # first crash.
        self.assertEqual(waited.count(False), 3)
        self.assertEqual(self.worker_processes(), [])


class Stopping(RoundsTest):
    def test_precision(self):
        self.measure(self.config(rounds=30))
        self.assertEqual(self.stops(), {"precision reached"})
        self.assertEqual(set(map(len, self.samples_by_round().values())), {6})

    def test_not_before_the_least_number_of_rounds(self):
        self.measure(self.config(rounds=30, least_rounds=9))
        self.assertEqual(set(map(len, self.samples_by_round().values())), {9})

    def test_rounds(self):
        self.measure(self.config(["noisy"], rounds=7, precision=0.0001))
        self.assertEqual(self.stops(), {"rounds used up"})
        self.assertEqual(set(map(len, self.samples_by_round().values())), {7})

    def test_the_wall_bound(self):
        self.measure(self.config(["noisy"], rounds=7, workload={"id": "pulse", "seconds": 0.05}, wall_bound_s=0.01))
        self.assertEqual(self.stops(), {"wall bound"})
        self.assertEqual(set(map(len, self.samples_by_round().values())), {1})

    def test_long_samples(self):
        self.measure(self.config(["noisy"], rounds=7, workload={"id": "pulse", "device_seconds": 0.2}))
        self.assertEqual(self.stops(), {"three rounds of long samples"})
        self.assertEqual({tuple(rounds) for rounds in self.samples_by_round().values()}, {(1, 1, 1)})

    def test_each_cell_stops_by_itself(self):
        self.measure(self.config(["steady", "noisy"], rounds=8, precision=0.0001))
        rounds = {cell["label"]: len(cell["phases"][0]["rounds"]) for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(rounds, {"steady": 6, "noisy": 8})

    def test_what_hangs_runs_once(self):
        config = self.config(["hanging", "noisy"], rounds=3, deadline_s=2, sweep={"request_bytes": [16, 32]}, state="reused")
        self.measure(config, expect=1)
        ends = collections.Counter(end["status"] for end in ended(self.events()).values())
        self.assertEqual(ends, {"ok": 3, "timeout": 1})
        hung = next(cell for cell, end in ended(self.events()).items() if end["status"] == "timeout")
        self.assertEqual([command for _, command, _, cell in self.notes_of() if cell == hung],
                         ["open", "sample", "sample"])

    def test_larger_cells_of_a_series_that_timed_out_come_last(self):
        config = self.config(["hanging", "steady"], deadline_s=2, state="reused")
        self.measure(config, expect=1)
        self.assertEqual(self.statuses(), {"hanging": ["ok", "timeout", "timeout"], "steady": ["ok"] * 3})
        reasons = [event["reason"] for event in self.events() if event["event"] == "end" and event["status"] == "timeout"]
        self.assertEqual(reasons, 2 * ["used its deadline of 2 s in sample 2"])
        self.assertEqual([allocator for *_, allocator, _ in self.notes_of("open")], ["hanging"] * 2 + ["steady"] * 3 + ["hanging"])

    def test_contradictions_are_refused(self):
        result = self.measure(self.config(rounds=3, least_rounds=4), expect=2)
        self.assertIn("/least_rounds\n", result.stderr)
        self.assertIn("at least 4 rounds, but at most 3", result.stderr)
        result = self.measure(self.config(rounds=9, least_rounds=4, overrides={"steady": {"rounds": 2}}), expect=2)
        self.assertIn("/overrides/steady/rounds\n", result.stderr)
        for key, value in (("precision", 0), ("precision", 2), ("wall_bound_s", 0), ("least_rounds", 0)):
            with self.subTest(key=key, value=value):
                self.assertIn(f"/{key}\n", self.measure(self.config(**{key: value}), expect=2).stderr)


class Resume(RoundsTest):
    def test_kill_9_loses_at_most_the_running_round(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        config = self.config(["noisy", "counting"], rounds=4, precision=0.0001, state="reused",
                             workload={"id": "pulse", "seconds": 0.01})
        self.out.mkdir()
        for _ in range(KILLS):
            program = self.start_program("--config", config, "--out", self.out, "--resume")
            time.sleep(generator.uniform(0.1, 1))
            program.send_signal(signal.SIGKILL)
            program.communicate()
        self.measure(config, "--resume")
        events = self.events()
        rounds = collections.Counter((event["cell"], event["round"]) for event in events if event["event"] == "round")
        self.assertEqual(rounds, {(cell, number): 1 for cell in cell_ids(events) for number in range(4)})
        self.assertEqual(set(map(tuple, self.samples_by_round().values())), {(3, 3, 3, 3)})
        verified = collections.Counter(event["cell"] for event in events if event["event"] == "verified")
        starts = collections.Counter(event["cell"] for event in events if event["event"] == "start")
        self.assertEqual(set(verified.values()), {1})
        # A cell has a second attempt only if the first was killed before its verification was logged.
        self.assertLessEqual(sum(starts.values()), len(starts) + KILLS)

    def keep_rounds(self, count):
        """Cuts the log as if the run had been killed after this number of rounds of every cell."""
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        last = max(place for place, line in enumerate(lines)
                   if line.startswith('{"event":"round"') and json.loads(line)["round"] == count - 1)
        path.write_text("".join(lines[:last + 1]), encoding="utf-8")

    def test_a_cell_that_was_cut_has_numbers_from_its_whole_rounds(self):
        config = self.config(["noisy"], rounds=9, least_rounds=9)
        self.measure(config)
        self.keep_rounds(7)
        self.assertIn("3 cells, 3 ok, 3 of these not finished\n", self.run_program("report", self.out, expect=1).stdout)
        self.assertEqual(self.results()["allocbench"]["unfinished"], 3)
        for cell in self.results()["allocbench"]["cells"]:
            self.assertEqual((cell["status"], cell["stop"], cell["phases"][0]["rounds"]), ("ok", "not finished", [3] * 7))
            self.assertLess(cell["phases"][0]["low"], cell["phases"][0]["high"])
        with open(self.out / "results.csv", encoding="utf-8", newline="") as file:
            times = [row["flags"] for row in csv.DictReader(file) if row["metric"] in ("time", "throughput")]
        self.assertEqual(set(times), {""})
        self.measure(config, "--resume")
        self.assertEqual(set(map(tuple, self.samples_by_round().values())), {(3,) * 9})
        self.assertNotIn("not finished", json.dumps(self.results()["allocbench"]["cells"]))

    def test_three_rounds_have_numbers_without_an_interval_and_fewer_are_provisional(self):
        self.measure(self.config(["noisy"], rounds=9, least_rounds=9))
        self.keep_rounds(3)
        self.assertIn("3 cells, 3 ok, 3 of these not finished\n", self.run_program("report", self.out, expect=1).stdout)
        for cell in self.results()["allocbench"]["cells"]:
            self.assertIsNone(cell["phases"][0]["low"])
            self.assertNotIn("provisional", cell)
        for rounds in (2, 1):
            self.keep_rounds(rounds)
            self.assertIn("3 cells, 3 ok, 3 of these provisional\n", self.run_program("report", self.out, expect=1).stdout)
            for cell in self.results()["allocbench"]["cells"]:
                self.assertEqual((cell["status"], cell["provisional"], cell["phases"][0]["rounds"]), ("ok", True, [3] * rounds))
                self.assertIsNone(cell["phases"][0]["low"])
                self.assertNotIn("few_rounds", cell["phases"][0])
        with open(self.out / "results.csv", encoding="utf-8", newline="") as file:
            flags = {row["flags"] for row in csv.DictReader(file) if row["metric"] in ("time", "throughput")}
        self.assertEqual(flags, {"provisional"})
        self.assertEqual({event["rounds"] for event in self.events() if event["event"] == "cell"}, {9})

    def test_samples_of_a_round_that_was_cut_are_not_used(self):
        config = self.config(["noisy"], rounds=2)
        self.measure(config)
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        samples = [number for number, line in enumerate(lines) if line.startswith('{"event":"sample"') and '"round":1' in line]
        path.write_text("".join(lines[:samples[4]]), encoding="utf-8")
        self.measure(config, "--resume")
        self.assertEqual(set(map(tuple, self.samples_by_round().values())), {(3, 3)})
        self.assertEqual(len(self.notes_of("verify")), 3)
