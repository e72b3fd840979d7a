"""Tests which cells come first, what the short deadline of a first round defers, and what remains when the time of a
run is over.
"""

import json
import pathlib
import re
import time

from support import ProgramTest, ended

NO_TIME = ("--minutes", "0")
ENOUGH = ("--minutes", "10")


class OrderTest(ProgramTest):
    def name_of(self, events):
        """Returns the name of each cell: its label and the values of its axes."""
        return {event["id"]: "/".join([event["label"], *(str(value) for value in event["axes"].values())])
                for event in events if event["event"] == "cell"}

    def ends(self, out=None):
        events = self.events(out)
        names = self.name_of(events)
        return {names[cell]: (end["status"], end["reason"]) for cell, end in ended(events).items()}

    def statuses_by_name(self, out=None):
        return {name: status for name, (status, _) in self.ends(out).items()}

    def opened(self, *folders):
        """Returns the names of cells in the order in which workers opened them, once for each round and process."""
        names = {}
        for folder in folders or (self.out,):
            prefix = f"{folder.name}/" if folders else ""
            names.update({cell: f"{prefix}{name}" for cell, name in self.name_of(self.events(folder)).items()})
        return [names[cell] for *_, cell in self.notes_of("open")]

    def rounds(self):
        """Returns the names of cells in the order of their whole rounds."""
        names = self.name_of(self.events())
        return [names[event["cell"]] for event in self.events() if event["event"] == "round"]

    def slow(self, *seconds, allocators=("steady",), **more):
        """Returns a config with a cell for each of these durations of a sample."""
        return self.config(list(allocators), workload={"id": "pulse", "trouble_from": 32}, repetitions=1,
                           sweep={"seconds": list(seconds)}, **more)


class WithoutLimit(OrderTest):
    def test_likely_failures_come_after_all_rounds_of_the_others(self):
        self.measure(self.config(["crashing", "steady"], rounds=4), expect=1)
        opened = self.opened()
        self.assertEqual(opened[:5], ["crashing/16", "crashing/32", "steady/16", "steady/32", "steady/64"])
        self.assertEqual(opened[-1], "crashing/64")
        self.assertEqual(opened.count("crashing/64"), 1)
        rounds = [event["round"] for event in self.events() if event["event"] == "round"]
        self.assertEqual(sorted(rounds), sorted(4 * [0, 1, 2, 3]))

    def test_two_timeouts_skip_the_larger_cells_of_the_series(self):
        self.measure(self.config(["hanging"], state="reused", deadline_s=0.5, sweep={"request_bytes": [32, 64, 128]}), expect=1)
        told = {cell["axes"]["request_bytes"]: (cell["status"], cell.get("left_out")) for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(told, {32: ("timeout", None), 64: ("timeout", None), 128: ("skipped", False)})
        self.assertIn("series hanging timed out at 32 and 64", self.ends()["hanging/128"][1])


class Deferred(OrderTest):
    def test_a_hang_costs_a_short_deadline_until_all_others_are_done(self):
        config = self.config(["hanging", "steady"], state="reused", deadline_s=1.5, sweep={"request_bytes": [16, 32]}, rounds=3, least_rounds=3)
        result = self.measure(config, *ENOUGH, expect=1)
        self.assertRegex(result.stderr, r"deferred: test/figure/hanging/request_bytes:32: took more than 0\.5[0-9]* s in sample 2")
        self.assertEqual(self.ends()["hanging/32"], ("timeout", "used its deadline of 1.5 s in sample 2"))
        opened = self.opened()
        self.assertEqual(opened[-1], "hanging/32")
        self.assertEqual({name: opened.count(name) for name in opened}, {"hanging/16": 3, "hanging/32": 2, "steady/16": 3, "steady/32": 3})

    def test_what_is_only_slow_gets_its_value_last(self):
        self.measure(self.slow(0.8, 0, 0.01, rounds=1), *ENOUGH)
        self.assertEqual(self.rounds(), ["steady/0.0", "steady/0.01", "steady/0.8"])
        starts = [event for event in self.events() if event["event"] == "start"]
        self.assertEqual(max(event["attempt"] for event in starts), 2, "the deferred try was an attempt")

    def test_a_stage_that_is_not_timed_has_longer(self):
        environment = self.environment(FAKE_WORKER_STAGE="fill")
        arguments = ("--config", self.slow(0.8, 0, rounds=1), "--out", self.out, *ENOUGH)
        result = self.run_program(*arguments, expect=0, environment=environment)
        self.assertNotIn("deferred", result.stderr)

    def test_a_fill_has_a_second_for_each_gib_of_the_pool_and_a_quarter_of_the_deadline(self):
        for pool, deadline, is_deferred in (("1GiB", 4, True), ("3GiB", 4, False), ("1GiB", 8, False)):
            with self.subTest(pool=pool, deadline=deadline):
                out = self.out / f"{pool}-{deadline}"
                arguments = ("--config", self.slow(1.4, rounds=1, pool_bytes=pool, deadline_s=deadline), "--out", out, *ENOUGH)
                environment = self.environment(FAKE_WORKER_STAGE="fill", FAKE_WORKER_MEMORY=str(4 << 30))
                result = self.run_program(*arguments, expect=0, environment=environment)
                self.assertEqual("while the pool was filled" in result.stderr, is_deferred, result.stderr)

    def test_a_fill_takes_no_more_than_a_hundredth_of_the_rest_of_the_run_from_other_cells(self):
        """Without the limit of the run, the fill would get a quarter of the deadline: 15 s."""
        for minutes, is_deferred in (("1.5", True), ("10", False)):
            with self.subTest(minutes=minutes):
                arguments = ("--config", self.slow(1.4, rounds=1, deadline_s=60), "--out", self.out / minutes, "--minutes", minutes)
                result = self.run_program(*arguments, expect=0, environment=self.environment(FAKE_WORKER_STAGE="fill"))
                self.assertEqual("while the pool was filled" in result.stderr, is_deferred, result.stderr)

    def test_the_status_says_when_it_was_the_allocators_own_fill(self):
        config = self.config(["hanging"], state="reused", deadline_s=0.4, sweep={"request_bytes": [32]})
        self.run_program("--config", config, "--out", self.out, *ENOUGH, expect=1,
                         environment=self.environment(FAKE_WORKER_STAGE="fill"))
        self.assertEqual(self.ends()["hanging/32"], ("timeout", "used its deadline of 0.4 s while the pool was filled"))

    def test_the_status_says_so_of_a_cell_that_was_deferred_too(self):
        config = self.config(["hanging"], state="reused", deadline_s=3, sweep={"request_bytes": [32]})
        result = self.run_program("--config", config, "--out", self.out, *ENOUGH, expect=1,
                                  environment=self.environment(FAKE_WORKER_STAGE="fill"))
        self.assertRegex(result.stderr, r"deferred: .* took more than 1[0-9.]* s while the pool was filled")
        self.assertEqual(self.ends()["hanging/32"], ("timeout", "used its deadline of 3 s while the pool was filled"))

    def test_a_cell_that_is_not_tried_again_is_skipped(self):
        begin = time.monotonic()
        self.measure(self.config(["hanging", "steady"], state="reused", deadline_s=60, sweep={"request_bytes": [16, 32]}, rounds=2),
                     "--minutes", "0.04", expect=1)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(self.ends()["hanging/32"],
                         ("skipped", "the time limit of the run was reached before its turn (deferred, because its first round reached a short deadline or certainly would have)"))

    def test_a_resumed_run_knows_what_was_deferred(self):
        """`hanging/32` reached the short deadline of a first round before the run was cut. So the resumed run measures
        it last, with the whole deadline.
        """
        config = self.config(["hanging", "steady"], state="reused", deadline_s=1.5, sweep={"request_bytes": [16, 32]}, rounds=1)
        self.measure(config, *ENOUGH, expect=1)
        log = self.out / "events.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        deferred = next(number for number, event in enumerate(self.events()) if event["event"] == "deferred")
        log.write_text("".join(lines[:deferred + 1]), encoding="utf-8")
        self.notes.unlink()
        result = self.measure(config, *ENOUGH, "--resume", expect=1)
        self.assertNotIn("deferred:", result.stderr)
        self.assertEqual(self.opened()[-1], "hanging/32")
        self.assertEqual(self.ends()["hanging/32"], ("timeout", "used its deadline of 1.5 s in sample 2"))


    def test_a_deferred_cell_that_was_verified_before_the_run_was_killed_begins_anew(self):
        """The log ends between the verification of the first round and the end of that round."""
        config = self.config(rounds=1, deadline_s=20, sweep={"request_bytes": [16]})
        self.measure(config, *ENOUGH)
        log = self.out / "events.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        verified = next(number for number, event in enumerate(self.events()) if event["event"] == "verified")
        log.write_text("".join(lines[:verified + 1]), encoding="utf-8")
        result = self.run_program("--config", config, "--out", self.out, "--resume", "--minutes", "1", expect=0,
                                  environment=self.environment(FAKE_WORKER_FILL='{"steady": 3}'))
        self.assertIn("deferred:", result.stderr)
        last = [(event["event"], event["attempt"]) for event in self.events() if "attempt" in event][-7:]
        self.assertEqual(last, [("start", 3), *3 * [("sample", 3)], ("verified", 3), ("round", 3), ("end", 3)])


class Fills(OrderTest):
    """The first sample of an instance fills the pool, and later samples start from a copy."""

    def fill(self, *arguments, seconds, expect=0):
        return self.run_program(*arguments, "--out", self.out, *ENOUGH, expect=expect,
                                environment=self.environment(FAKE_WORKER_FILL=json.dumps(seconds)))

    def study(self, **configs):
        folder = self.folder / "configs" / "mine"
        folder.mkdir(parents=True)
        for name, more in configs.items():
            self.config(name=f"mine/{name}", **more).rename(folder / f"{name}.json")
        return ("study", "mine", "--configs", folder.parent, "--no-figures")

    def test_the_cells_of_a_batch_share_a_fill_in_each_round(self):
        """After four seconds a process usually leaves further cells to another process. Here a fill alone takes longer."""
        self.fill("--config", self.config(rounds=3, least_rounds=3), seconds={"steady": 4.2})
        self.assertEqual(len(self.notes_of("fill")), 3, "one fill per round")
        self.assertEqual(len(self.rounds()), 9)
        told = {event["cell"]: event["fill_seconds"] for event in self.events() if event["event"] == "round" and "fill_seconds" in event}
        (cell, seconds), = told.items()
        self.assertTrue(4.2 <= seconds < 5.2, seconds)
        walls = [event["seconds"] for event in self.events() if event["event"] == "round" and event["cell"] == cell]
        self.assertGreater(walls[0], seconds, "the seconds of a round contain the fill")

    def test_a_fill_that_reached_the_short_deadline_gets_its_time_next(self):
        result = self.fill("--config", self.config(rounds=1, deadline_s=5), seconds={"steady": 1.7})
        self.assertEqual(result.stderr.count("deferred:"), 1, result.stderr)
        self.assertIn("while the pool was filled", result.stderr)
        deferred, = [event for event in self.events() if event["event"] == "deferred"]
        self.assertTrue(1.2 <= deferred["fill_seconds"] < 1.7, deferred)
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"})

    def test_a_series_whose_fill_was_too_long_is_put_off_untried(self):
        """In a run of a minute a fill has a second, twice the time of the timed kernels."""
        result = self.run_program("--config", self.config(rounds=1, deadline_s=20), "--out", self.out, "--minutes", "1", expect=0,
                                  environment=self.environment(FAKE_WORKER_FILL='{"steady": 3}'))
        self.assertEqual(result.stderr.count("deferred:"), 3, result.stderr)
        self.assertEqual(len(re.findall(r"filling the pool probably takes at least 1(\.\d+)? s", result.stderr)), 2, result.stderr)
        self.assertEqual(len(self.notes_of("fill")), 2, "one trial, and one fill for all deferred cells")
        self.assertEqual([event.get("tried", True) for event in self.events() if event["event"] == "deferred"], [True, False, False])
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"})

    def test_a_dear_fill_of_another_config_comes_behind_cheap_cells(self):
        arguments = self.study(one={"rounds": 1, "sweep": {"request_bytes": [16]}},
                               two={"allocators": ["steady", "noisy"], "rounds": 1, "pool_bytes": "2MiB", "sweep": {"request_bytes": [16, 20]}})
        self.fill(*arguments, seconds={"steady": 2})
        folders = [self.out / "mine" / name for name in ("one", "two")]
        self.assertEqual(self.opened(*folders), ["one/steady/16", "two/noisy/16", "two/noisy/20", "two/steady/16", "two/steady/20"])
        self.assertEqual(len(self.notes_of("fill")), 2)

    def test_a_resumed_run_knows_the_fills(self):
        """The log ends when the first cell is deferred in the fill. The next cell has enough time for the fill."""
        config = self.config(rounds=1, deadline_s=5)
        self.fill("--config", config, seconds={"steady": 1.7})
        log = self.out / "events.jsonl"
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        deferred = next(number for number, event in enumerate(self.events()) if event["event"] == "deferred")
        log.write_text("".join(lines[:deferred + 1]), encoding="utf-8")
        result = self.fill("--config", config, "--resume", seconds={"steady": 1.7})
        self.assertNotIn("deferred:", result.stderr)
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"})

    def test_configs_with_the_same_pool_share_a_fill(self):
        arguments = self.study(a={"rounds": 1}, b={"rounds": 1, "pool_bytes": "2MiB"}, c={"rounds": 1, "sweep": {"request_bytes": [20]}})
        self.run_program(*arguments, "--out", self.out, expect=0, environment=self.environment(FAKE_WORKER_FILL='{"steady": 0.2}'))
        folders = [self.out / "mine" / name for name in "abc"]
        self.assertEqual([name[0] for name in self.opened(*folders)], list("aaacbbb"))
        self.assertEqual(len(self.notes_of("fill")), 2)


class TimeOver(OrderTest):
    def test_nothing_begins_after_the_time_and_resume_goes_on(self):
        config = self.config(["noisy", "steady"], rounds=4, least_rounds=3, precision=0.0001)
        result = self.measure(config, *NO_TIME, expect=1)
        self.assertIn("The time limit (--minutes 0) ended the run: 6 cells not begun. No round ended in this time. Continue with --resume, but with a "
                      "larger --minutes.", result.stdout)
        self.assertRegex(result.stderr, r"time limit reached\. 0 of 6 cells are finished\. Continue with\n  .* --resume\n")
        self.assertNotIn("--minutes", result.stderr, "the same limit would measure nothing again")
        self.assertEqual(set(self.statuses_by_name().values()), {"skipped"})
        self.assertEqual({cell["left_out"] for cell in self.results()["allocbench"]["cells"]}, {True})
        self.assertEqual([line for line in self.notes.read_text(encoding="utf-8").splitlines() if "open" in line] if self.notes.exists() else [], [])
        self.measure(config, "--resume")
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"})

    def test_a_command_under_way_is_ended_and_values_stay(self):
        """Each round takes 0.2 s or a little more, so there is time for some rounds."""
        begin = time.monotonic()
        self.measure(self.slow(0.2, 0.21, 0.22, rounds=9, least_rounds=9), "--minutes", "0.03", expect=1)
        self.assertLess(time.monotonic() - begin, 15)
        results = self.results()["allocbench"]
        with_value = {cell["id"] for cell in results["cells"] if cell["status"] == "ok"}
        self.assertEqual(with_value, {event["cell"] for event in self.events() if event["event"] == "round"})
        self.assertGreater(len(with_value), 0)
        self.assertEqual(results["unfinished"], len(with_value), "they go on with --resume")

    def test_a_command_whose_worker_writes_lines_is_ended_too(self):
        """Without a limit the command would take 30 s, and each of its samples is a line."""
        begin = time.monotonic()
        config = self.config(rounds=1, repetitions=100, deadline_s=60, workload={"id": "pulse", "seconds": 0.3})
        self.measure(config, "--minutes", "0.03", expect=1)
        self.assertLess(time.monotonic() - begin, 15)

    def test_what_was_left_out_and_is_cut_when_it_begins_again_is_left_out_again(self):
        config = self.config(["hanging"], state="reused", deadline_s=60, sweep={"request_bytes": [32]})
        self.measure(config, *NO_TIME, expect=1)
        self.measure(config, "--resume", "--minutes", "0.02", expect=1)
        self.assertEqual(self.ends(), {"hanging/32": (
            "skipped", "the time limit of the run was reached before its turn (deferred, because its first round reached a short deadline or certainly would have)")})
        self.assertEqual(self.results()["allocbench"]["unfinished"], 0)

    def test_a_failure_is_not_replaced_by_a_lack_of_time(self):
        config = self.config(["crashing", "steady"])
        self.measure(config, expect=1)
        before = self.ends()
        self.measure(config, "--only-failed", *NO_TIME, expect=1)
        self.assertEqual(self.ends(), before)

    def test_what_was_left_out_is_measured_by_only_failed(self):
        config = self.config()
        self.measure(config, *NO_TIME, expect=1)
        self.measure(config, "--only-failed")
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"})

    def test_all_cells_get_all_rounds_where_there_is_time(self):
        self.measure(self.slow(0.05, 0.06, 0.07, allocators=("steady", "noisy"), rounds=3, least_rounds=3), *ENOUGH)
        self.assertEqual({name: self.rounds().count(name) for name in self.rounds()}, dict.fromkeys(self.rounds(), 3))
        self.assertEqual(len(set(self.rounds())), 6)


class Verification(OrderTest):
    def limits(self, *arguments, **environment):
        """Returns the seconds for contents and for each stage of all verifications of a run on a GPU."""
        self.add_worker("cuda")
        self.run_program("--config", self.config(rounds=20, repetitions=1), "--backend", "cuda", "--out", self.out, *arguments,
                         environment=self.environment(**environment))
        return [json.loads(line) for line in pathlib.Path(f"{self.notes}.limits").read_text(encoding="utf-8").splitlines()]

    def test_contents_have_50_ms(self):
        for contents, _ in self.limits():
            self.assertGreaterEqual(contents, 0.05)

    def test_contents_have_50_ms_if_there_is_time(self):
        for contents, _ in self.limits("--minutes", "60"):
            self.assertGreaterEqual(contents, 0.05)

    def test_contents_have_an_equal_share_of_a_short_time(self):
        """Each of 3 cells has a verification and 20 rounds, so the first one has at most 1/63 of the time."""
        contents, _ = self.limits("--minutes", "0.02")[0]
        self.assertTrue(0 < contents <= 1.2 / 63, contents)

    def test_stages_have_half_a_second(self):
        self.assertEqual([stage for _, stage in self.limits("--minutes", "10")], [0.5, 0.5, 0.5])

    def test_stages_have_less_time_after_an_unfinished_check(self):
        limits = self.limits("--minutes", "10", FAKE_WORKER_RESET_CHECK="not finished: its calls took longer than 0.5 s")
        self.assertEqual([stage for _, stage in limits], [0.5, 0.1, 0.1])

    def test_stages_keep_their_time_if_the_run_has_no_limit(self):
        limits = self.limits(FAKE_WORKER_RESET_CHECK="not finished: its calls took longer than 0.5 s")
        self.assertEqual([stage for _, stage in limits], [0.5, 0.5, 0.5])


class Processes(OrderTest):
    def test_a_process_goes_on_with_dearer_cells_until_it_had_work_for_four_seconds(self):
        """The rounds of two cells cost about two or three times as much as those of the two others, so each pair shares
        processes. Half of the config's cells come first. Then the second rounds of the cheap pair cost as much per
        worth as the first rounds of the dear pair.
        """
        self.measure(self.slow(0.02, 0.03, 0.06, 0.09, rounds=3, least_rounds=3), *ENOUGH)
        cells_of = {}
        for process, _, _, cell in self.notes_of("sample"):
            cells_of.setdefault(process, set()).add(cell)
        self.assertEqual([len(cells) for cells in cells_of.values()], [2, 4, 2, 2, 2])
        self.assertEqual([self.rounds().count(f"steady/{seconds}") for seconds in (0.02, 0.03, 0.06, 0.09)], [3, 3, 3, 3])


class Memory(OrderTest):
    def test_a_pool_that_the_device_cannot_hold_is_skipped_and_nobody_is_blamed(self):
        config = self.config(sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "4GiB"]})
        result = self.measure(config, expect=1)
        self.assertEqual(self.ends(), {"steady/16/1048576": ("ok", ""),
                                       "steady/16/4294967296": ("skipped", "needs a pool of 4 GiB, but the device has 1 GiB")})
        self.assertIn("1 cell was skipped: the pool needs more memory than the device has (1 GiB).", result.stdout)
        self.assertEqual({cell["pool_bytes"]: cell.get("left_out") for cell in self.results()["allocbench"]["cells"]},
                         {1 << 20: None, 4 << 30: True})

    def test_such_a_cell_is_finished_and_one_without_time_is_not(self):
        config = self.config(sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "4GiB"]})
        result = self.measure(config, *NO_TIME, expect=1)
        self.assertIn("time limit reached. 1 of 2 cells is finished.", result.stderr)
        ends = [(end["left_out"], end.get("too_large")) for end in ended(self.events()).values()]
        self.assertEqual(sorted(ends, key=str), [(True, None), (True, True)])

    def test_an_artificial_limit(self):
        config = self.config(sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "256MiB"]})
        self.measure(config, "--device-memory", "128MiB", expect=1)
        self.assertEqual(self.statuses_by_name(), {"steady/16/1048576": "ok", "steady/16/268435456": "skipped"})
        self.measure(config, "--resume")
        self.assertEqual(set(self.statuses_by_name().values()), {"ok"}, "the device itself has room")
        self.assertIn("must be a size such as 8GiB", self.measure(config, "--device-memory", "much", expect=2).stderr)

    def test_a_pool_that_fits_takes_three_quarters_of_the_memory_at_most(self):
        for wanted, memory, pool in (("12MiB", "16MiB", 12 << 20), ("12MiB", "15MiB", 8 << 20), ("12MiB", "10MiB", 4 << 20),
                                     ("12MiB", "1GiB", 12 << 20)):
            with self.subTest(memory=memory):
                config = self.config(sweep={"request_bytes": [16]}, pool_bytes=wanted, pool="fit")
                self.measure(config, "--device-memory", memory, "--force")
                self.assertEqual({cell["pool_bytes"] for cell in self.results()["allocbench"]["cells"]}, {pool})

    def test_only_one_pool_can_fit(self):
        config = self.config(sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "2MiB"]}, pool="fit")
        self.assertIn('found:   "fit" together with a swept pool', self.measure(config, expect=2).stderr)


class Known(OrderTest):
    def setUp(self):
        super().setUp()
        self.earlier = self.folder / "earlier"

    def make_slow(self, label, seconds, axes=None):
        """Changes the log as if the first rounds of some cells had taken this time. These are all cells of a label, or
        the cell with these axes.
        """
        log = self.earlier / "events.jsonl"
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        slow = {event["id"] for event in events if event["event"] == "cell" and event["label"] == label
                and axes in (None, event["axes"])}
        for event in events:
            if event["event"] == "round" and event["cell"] in slow:
                event["seconds"] = seconds
        log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")

    def test_what_failed_in_earlier_results_comes_last(self):
        config = self.config(["crashing", "steady"], rounds=2)
        self.measure(config, expect=1, out=self.earlier)
        self.notes.unlink()
        self.measure(config, "--known", self.earlier, expect=1)
        self.assertEqual(self.opened()[-2:], ["crashing/32", "crashing/64"])
        self.assertEqual(self.opened()[:2], ["crashing/16", "steady/16"])

    def test_what_took_long_in_earlier_results_comes_behind_the_numbers_of_the_others(self):
        config = self.config(["counting", "steady"], rounds=4, least_rounds=4, sweep={"request_bytes": [16]})
        self.measure(config, out=self.earlier)
        self.make_slow("counting", 90)
        self.measure(config, "--known", self.earlier, *ENOUGH)
        self.assertEqual(self.rounds()[:3], 3 * ["steady/16"])
        self.assertIn("counting/16", self.rounds())

    def test_a_cell_that_is_too_long_for_the_rest_of_a_turn_waits_for_its_pass(self):
        """The cell of 4.5 s is two passes behind, so a turn of 4 s may reach it but not end it."""
        config = self.slow(0.1, 0.11, rounds=2, least_rounds=2)
        self.measure(config, out=self.earlier)
        self.make_slow("steady", 4.5, {"seconds": 0.1})
        self.measure(config, "--known", self.earlier, *ENOUGH)
        self.assertEqual(self.rounds(), 2 * ["steady/0.11"] + 2 * ["steady/0.1"])

    def test_the_plan_says_how_long_the_first_rounds_take(self):
        config = self.config(["steady"], rounds=1)
        self.measure(config, out=self.earlier)
        self.make_slow("steady", 40)
        self.assertIn("According to earlier results the first rounds take about 2 min 00 s",
                      self.measure(config, "--known", self.earlier, "--dry-run").stdout)

    def test_the_costs_of_cells_that_were_left_out_are_handed_on(self):
        config = self.config(["steady"], rounds=1, sweep={"request_bytes": [16]})
        self.measure(config, out=self.earlier)
        self.make_slow("steady", 4.25)
        self.measure(config, "--known", self.earlier, *NO_TIME, expect=1)
        self.assertEqual({cell["expected_seconds"] for cell in self.results()["allocbench"]["cells"]}, {4.25})
        self.assertIn("about 4 s", self.measure(config, "--known", self.out, "--dry-run", out=self.folder / "new").stdout)

    def test_a_folder_without_results(self):
        self.assertIn("--known", self.measure(self.config(), "--known", self.folder, expect=2).stderr)


class WholeStudy(OrderTest):
    def test_a_config_of_which_nothing_has_begun_is_not_finished(self):
        configs = self.folder / "configs" / "mine"
        configs.mkdir(parents=True)
        for name, more in (("a", {}), ("b", {}), ("too_large", {"pool_bytes": "4GiB"})):
            self.config(name=f"mine/{name}", rounds=1, **more).rename(configs / f"{name}.json")
        arguments = ("study", "mine", "--configs", configs.parent, "--out", self.out, "--no-figures")
        self.assertIn("1 of 3 configs is finished.", self.run_program(*arguments, *NO_TIME, expect=1).stderr)
        result = self.run_program(*arguments, "--resume", "--only", "mine/a", expect=0)
        self.assertIn("mine/a: 3 cells, 3 ok", result.stdout)
        self.assertIn("2 of 3 configs are finished.", self.run_program(*arguments, "--resume", *NO_TIME, expect=1).stderr)

    def test_the_cheapest_config_has_its_first_rounds_before_all_others(self):
        configs = self.folder / "configs" / "mine"
        configs.mkdir(parents=True)
        for name, sizes in (("large", [16, 20, 24]), ("small", [17])):
            self.config(["noisy", "steady"], name=f"mine/{name}", rounds=2, least_rounds=2, sweep={"request_bytes": sizes}).rename(configs / f"{name}.json")
        result = self.run_program("study", "mine", "--configs", configs.parent, "--out", self.out, "--no-figures", *ENOUGH, expect=0)
        folders = [self.out / "mine" / name for name in ("large", "small")]
        self.assertEqual(self.opened(*folders)[:2], ["small/noisy/17", "small/steady/17"])
        self.assertIn("mine/small: 2 cells, 2 ok", result.stdout)
