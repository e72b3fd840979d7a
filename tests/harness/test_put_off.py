"""Cells that will probably fail come last, and are left out when the time is used up."""

import json
import pathlib
import shutil

from support import ProgramTest, ended

TIME_IS_UP = ("--minutes", "0")


class PutOff(ProgramTest):
    def name_of(self, events):
        """By cell: label and the values of its axes."""
        return {event["id"]: "/".join([event["label"], *(str(value) for value in event["axes"].values())])
                for event in events if event["event"] == "cell"}

    def ends(self, out=None):
        events = self.events(out)
        names = self.name_of(events)
        return {names[cell]: (end["status"], end["reason"]) for cell, end in ended(events).items()}

    def statuses_by_name(self, out=None):
        return {name: status for name, (status, _) in self.ends(out).items()}

    def verified(self, *folders):
        """The names of cells in the order in which workers verified them."""
        names = {}
        for folder in folders or (self.out,):
            names.update({cell: f"{folder.name}/{name}" for cell, name in self.name_of(self.events(folder)).items()})
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        return [names[word[3]] for word in words if word[1] == "verify"]


class Order(PutOff):
    def test_they_come_after_all_rounds_of_the_others(self):
        self.measure(self.config(["crashing", "steady"], rounds=4), expect=1)
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        last_steady = max(place for place, word in enumerate(words) if word[1:3] == ["sample", "steady"])
        self.assertEqual(self.verified(), [f"out/{cell}" for cell in (
            "crashing/16", "crashing/32", "steady/16", "steady/32", "steady/64", "crashing/64")])
        self.assertLess(last_steady, max(place for place, word in enumerate(words) if word[1] == "verify"))
        rounds = [event["round"] for event in self.events() if event["event"] == "round"]
        self.assertEqual(sorted(rounds), sorted(4 * [0, 1, 2, 3]))

    def test_a_failure_puts_off_the_cells_that_ask_at_least_as_much(self):
        config = self.config(["crashing"], sweep={"request_bytes": [16, 32, 64], "blocks": [2, 1, 4]})
        result = self.measure(config, *TIME_IS_UP, expect=1)
        ends = self.ends()
        self.assertEqual({name: status for name, (status, _) in ends.items()}, {
            "crashing/16/2": "ok", "crashing/32/2": "crashed", "crashing/64/2": "skipped",
            "crashing/16/1": "ok", "crashing/32/1": "crashed", "crashing/64/1": "skipped",  # fewer blocks than where it crashed
            "crashing/16/4": "ok", "crashing/32/4": "skipped", "crashing/64/4": "skipped"})
        self.assertEqual(ends["crashing/32/4"][1],
                         "put off until all others were measured (test/figure/crashing/request_bytes:32/blocks:2 ended with "
                         "status crashed); then the time of --minutes was used up")
        self.assertIn("4 cells were put off until all others were measured; 4 of them did not run, because --minutes 0 was over "
                      "(--resume runs them)", result.stdout)
        self.assertEqual(self.results()["allocbench"]["unfinished"], 0)
        told = {tuple(cell["axes"].values()): cell.get("left_out") for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual({place: left_out for place, left_out in told.items() if left_out is not None}, {
            place: True for place in ((64, 2), (64, 1), (32, 4), (64, 4))})

    def test_cells_that_are_skipped_for_another_reason_are_not_left_out(self):
        self.measure(self.config(["hanging"], state="reused", deadline_s=0.5, sweep={"request_bytes": [32, 64, 128]}), expect=1)
        told = {cell["axes"]["request_bytes"]: (cell["status"], cell.get("left_out")) for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(told, {32: ("timeout", None), 64: ("timeout", None), 128: ("skipped", False)})

    def test_two_lost_workers_put_off_what_no_number_orders(self):
        config = self.config(["crashing", "steady"], workload={"id": "pulse", "request_bytes": 64},
                             sweep={"shape": ["flat", "steep"], "verify": [True, False]})
        self.measure(config, *TIME_IS_UP, expect=1)
        self.assertEqual([self.statuses_by_name()[f"crashing/{cell}"] for cell in ("flat/True", "steep/True", "flat/False", "steep/False")],
                         ["crashed", "crashed", "skipped", "skipped"])
        self.assertIn("(crashing lost 2 workers in this config)", self.ends()["crashing/flat/False"][1])
        self.assertEqual({status for name, status in self.statuses_by_name().items() if "steady" in name}, {"ok"})

    def test_cells_that_are_put_off_say_so(self):
        result = self.measure(self.config(["crashing", "steady"]), expect=1)
        self.assertIn("allocbench: now 1 cell that was put off: their allocator failed at a cell of the same workload with equal or smaller requests", result.stderr)
        self.assertIn(", 1 put off", result.stderr)
        self.assertIn("1 cell was put off until all others were measured\n", result.stdout)
        result = self.measure(self.config(), out=self.folder / "good")
        self.assertNotIn("put off", result.stdout + result.stderr)


class WholeStudy(PutOff):
    NAMES = ("one", "two", "three", "four")

    def study(self, *more, apart=True):
        """In each config the first cell of `crashing` ends it. Where configs are not apart they ask the same."""
        for number, name in enumerate(self.NAMES):
            path = self.config(["crashing", "steady"], name=f"mine/{name}", seed=number + 1, sweep={"request_bytes": [32, 16, 64]},
                               workload={"id": "pulse", "trouble_from": 32, "lanes": [number + 1 if apart else 1]})
            target = self.folder / "configs" / "mine" / f"{number}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        return self.run_program("study", "mine", "--configs", self.folder / "configs", "--out", self.out, *more, expect=1)

    def folders(self):
        return [self.out / "mine" / name for name in self.NAMES]

    def test_an_allocator_that_lost_workers_in_most_configs_waits_after_one_loss(self):
        result = self.study(*TIME_IS_UP)
        steady = {f"steady/{size}": "ok" for size in (16, 32, 64)}
        for folder in self.folders()[:2]:
            self.assertEqual(self.statuses_by_name(folder), {
                **steady, "crashing/32": "crashed", "crashing/16": "ok", "crashing/64": "skipped"})
        for folder in self.folders()[2:]:
            ends = self.ends(folder)
            self.assertEqual({name: status for name, (status, _) in ends.items()}, {
                **steady, "crashing/32": "crashed", "crashing/16": "skipped", "crashing/64": "skipped"})
            self.assertRegex(ends["crashing/16"][1], r"\(crashing lost workers in [34] configs\)")
        self.assertNotIn("not measured", result.stdout)

    def test_the_stronger_the_doubt_the_later(self):
        self.study()
        order = self.verified(*self.folders())
        self.assertEqual([cell for cell in order if "steady" not in cell], [
            *(f"{name}/crashing/{size}" for name in self.NAMES[:2] for size in (32, 16)),  # the plan's order, until three have lost
            *(f"{name}/crashing/32" for name in self.NAMES[2:]),  # one is tried in each config
            *(f"{name}/crashing/16" for name in self.NAMES[2:]),
            *(f"{name}/crashing/64" for name in self.NAMES)])

    def test_a_failure_in_one_config_puts_off_what_asks_as_much_in_the_others(self):
        self.study(*TIME_IS_UP, apart=False)
        for folder, first in zip(self.folders(), ("crashed", "skipped", "skipped", "skipped")):
            self.assertEqual([self.statuses_by_name(folder)[f"crashing/{size}"] for size in (32, 16, 64)], [first, "ok", "skipped"])

    def test_failures_before_an_interruption_still_count(self):
        self.study(*TIME_IS_UP)
        # As if the last config had not begun.
        shutil.rmtree(self.folders()[-1])
        self.study("--resume", *TIME_IS_UP)
        last = self.statuses_by_name(self.folders()[-1])
        self.assertEqual([last[f"crashing/{size}"] for size in (32, 16, 64)], ["crashed", "skipped", "skipped"])


class LeftOut(PutOff):
    def hanging(self):
        return [self.statuses_by_name()[f"hanging/{size}"] for size in (16, 32, 64)]

    def setUp(self):
        super().setUp()
        self.hangs = self.config(["hanging", "steady"], state="reused", deadline_s=0.5)
        self.measure(self.hangs, *TIME_IS_UP, expect=1)
        self.assertEqual(self.hanging(), ["ok", "timeout", "skipped"])
        self.notes.unlink()

    def test_what_was_left_out_is_measured_by_resume(self):
        self.measure(self.hangs, "--resume", expect=1)
        self.assertEqual(self.hanging(), ["ok", "timeout", "timeout"])
        self.assertEqual(self.verified(), ["out/hanging/64"])

    def test_what_was_left_out_is_measured_by_only_failed(self):
        self.measure(self.hangs, "--only-failed", expect=1)
        self.assertEqual(self.hanging(), ["ok", "timeout", "timeout"])
        self.assertEqual(sorted(self.verified()), ["out/hanging/32", "out/hanging/64"])

    def test_it_is_left_out_again_while_there_is_no_time(self):
        result = self.measure(self.hangs, "--resume", *TIME_IS_UP, expect=1)
        self.assertIn("1 of them did not run, because --minutes 0 was over (--resume runs them)", result.stdout)
        self.assertEqual(self.hanging(), ["ok", "timeout", "skipped"])

    def test_a_failure_is_not_replaced_by_a_lack_of_time(self):
        config = self.config(["crashing", "steady"])
        self.measure(config, "--force", expect=1)
        before = self.ends()
        result = self.measure(config, "--only-failed", *TIME_IS_UP, expect=1)
        self.assertEqual(self.ends(), before)
        self.assertIn("so its earlier status stays", result.stderr)


class Known(PutOff):
    def setUp(self):
        super().setUp()
        self.earlier = self.folder / "earlier"
        self.same = self.config(["crashing", "steady"], rounds=1)
        self.measure(self.same, expect=1, out=self.earlier)
        self.notes.unlink()

    def assert_known(self, words, *more):
        self.measure(self.same, *TIME_IS_UP, *more, expect=1)
        ends = self.ends()
        self.assertEqual([ends[f"crashing/{size}"][0] for size in (16, 32, 64)], ["ok", "skipped", "skipped"])
        self.assertIn(words, ends["crashing/32"][1])

    def test_what_failed_in_earlier_results_comes_last(self):
        self.assert_known(f"(its status was crashed in {self.earlier})", "--known", self.earlier)

    def test_what_was_left_out_in_earlier_results_is_put_off_again(self):
        self.measure(self.same, "--force", *TIME_IS_UP, expect=1, out=self.earlier)
        self.measure(self.same, *TIME_IS_UP, "--known", self.earlier, expect=1)
        ends = self.ends()
        self.assertEqual([ends[f"crashing/{size}"][0] for size in (16, 32, 64)], ["ok", "skipped", "skipped"])
        self.assertIn(f"(left out in {self.earlier})", ends["crashing/64"][1])

    def test_what_was_left_out_in_earlier_results_comes_behind_the_numbers_of_the_others(self):
        self.measure(self.same, "--force", *TIME_IS_UP, expect=1, out=self.earlier)
        self.notes.unlink()
        self.measure(self.config(["crashing", "steady"], rounds=4), "--known", self.earlier, "--minutes", "10", expect=1)
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        names = self.name_of(self.events())
        verified = next(place for place, word in enumerate(words) if word[1] == "verify" and names[word[3]] == "crashing/64")
        samples = [place for place, word in enumerate(words) if word[1:3] == ["sample", "steady"]]
        # The first round of a cell asks for one sample, then for the others; later rounds ask once.
        self.assertEqual([len([place for place in samples if place < verified]), len(samples)], [3 * (2 + 2), 3 * (2 + 3)])

    def make_slow(self, folder, label, seconds):
        """As if the first rounds of its cells had taken so long."""
        log = folder / "events.jsonl"
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        slow = {event["id"] for event in events if event["event"] == "cell" and event["label"] == label}
        for event in events:
            if event["event"] == "round" and event["cell"] in slow:
                event["seconds"] = seconds
        log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")

    def test_what_took_long_in_earlier_results_comes_behind_the_numbers_of_the_others(self):
        only = self.config(["counting", "steady"], rounds=4)
        self.measure(only, "--force", expect=0, out=self.earlier)
        self.make_slow(self.earlier, "steady", 0.51)
        self.notes.unlink()
        self.measure(only, "--known", self.earlier, "--minutes", "10", expect=0)
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        order = [word[2] for word in words if word[1] == "sample"]
        self.assertEqual(order.index("steady"), 3 * (2 + 2), "three cells of the others, one round of two requests and two of one")

    def test_what_took_long_is_left_out_when_the_time_is_over_and_again_the_next_time(self):
        only = self.config(["counting", "steady"], rounds=1)
        self.measure(only, "--force", expect=0, out=self.earlier)
        self.make_slow(self.earlier, "steady", 4.25)
        result = self.measure(only, "--known", self.earlier, *TIME_IS_UP, expect=1)
        ends = self.ends()
        self.assertEqual({name.split("/")[0]: status for name, (status, _) in ends.items()}, {"counting": "ok", "steady": "skipped"})
        self.assertEqual(ends["steady/16"][1], f"put off until all others were measured (its first round took 4.25 s in {self.earlier}); "
                                               "then the time of --minutes was used up")
        self.assertIn("3 cells were put off until all others were measured; 3 of them did not run, because --minutes 0 was over", result.stdout)
        left_out = [event for event in self.events() if event["event"] == "end" and event["status"] == "skipped"]
        self.assertEqual({event["expected_seconds"] for event in left_out}, {4.25})
        self.assertEqual({cell.get("expected_seconds") for cell in self.results()["allocbench"]["cells"]}, {4.25, None})
        again = self.folder / "again"
        self.measure(only, "--known", self.out, *TIME_IS_UP, expect=1, out=again)
        self.assertEqual(self.ends(again)["steady/16"][0], "skipped")
        whole = self.folder / "whole"
        self.measure(only, "--known", self.out, expect=0, out=whole)
        self.assertEqual(set(self.statuses_by_name(whole).values()), {"ok"})

    def test_what_one_earlier_run_left_out_and_another_measured_is_not_put_off(self):
        runs = self.folder / "runs"
        alone = self.config(["steady"], rounds=1)
        self.measure(alone, expect=0, out=runs / "whole")
        shutil.copytree(runs / "whole", runs / "cut")
        log = runs / "cut" / "events.jsonl"
        kept = [line for line in log.read_text(encoding="utf-8").splitlines() if json.loads(line)["event"] in ("run", "device", "cell")]
        last = next(json.loads(line) for line in kept if json.loads(line)["event"] == "cell")
        kept.append(json.dumps({"event": "end", "time": last["time"], "cell": last["id"], "attempt": 1, "status": "skipped",
                                "reason": "put off until all others were measured (x); then the time of --minutes was used up", "output_tail": ""}))
        log.write_text("\n".join(kept) + "\n", encoding="utf-8")
        (runs / "cut" / "results.json").unlink()
        self.measure(alone, *TIME_IS_UP, "--known", runs)
        self.assertEqual(set(self.statuses()["steady"]), {"ok"})
        (runs / "cut").rename(runs / "zz_last")  # whichever is read last
        self.measure(alone, *TIME_IS_UP, "--force", "--known", runs)
        self.assertEqual(set(self.statuses()["steady"]), {"ok"})
        (runs / "zz_last").rename(runs / "cut")
        self.measure(alone, *TIME_IS_UP, "--force", "--known", runs / "cut", expect=1)
        self.assertEqual(sorted(set(self.statuses()["steady"])), ["ok", "skipped"])

    def test_without_a_time_limit_it_is_measured_all_the_same(self):
        self.measure(self.same, "--known", self.earlier, expect=1)
        self.assertEqual(self.verified()[-2:], ["out/crashing/32", "out/crashing/64"])
        self.assertEqual(self.statuses()["crashing"], ["ok", "crashed", "crashed"])

    def test_results_without_a_log_will_do(self):
        (self.earlier / "events.jsonl").unlink()
        self.assert_known("status was crashed", "--known", self.earlier)

    def test_the_reference_of_the_device_is_the_default(self):
        shutil.copytree(self.earlier, self.folder / "results" / "reference" / "cpu" / "test" / "figure")
        self.assert_known("(its status was crashed in results/reference/cpu/test/figure)")
        self.measure(self.same, *TIME_IS_UP, "--no-known", "--force", expect=1)
        self.assertEqual(self.statuses_by_name()["crashing/32"], "crashed")

    def test_a_gpu_is_found_by_a_word_of_its_name(self):
        self.add_worker("cuda")
        self.measure(self.same, "--backend", "cuda", expect=1, out=self.folder / "on_gpu")
        # The worker calls it "Fake device".
        shutil.copytree(self.folder / "on_gpu", self.folder / "results" / "reference" / "fake" / "test" / "figure")
        self.assert_known("reference/fake/", "--backend", "cuda")

    def test_an_unreadable_default_is_only_a_warning(self):
        folder = self.folder / "results" / "reference" / "cpu" / "test" / "figure"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text("garbage\n", encoding="utf-8")
        result = self.measure(self.same, *TIME_IS_UP, expect=1)
        self.assertIn("allocbench: warning: results/reference/cpu/test/figure/events.jsonl:1", result.stderr)
        self.assertEqual(self.statuses_by_name()["crashing/32"], "crashed")

    def test_bad_folders_are_refused_before_anything_runs(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for folder, words in ((pathlib.Path("nowhere"), "--known: nowhere does not exist"), (empty, "contains no run")):
            with self.subTest(folder=folder.name):
                result = self.measure(self.same, "--known", folder, expect=2)
                self.assertIn(words, result.stderr)
                self.assertEqual(result.stderr.count("Name a folder of runs"), 1)
                self.assertFalse(self.out.exists())
        both = self.measure(self.same, "--known", self.earlier, "--no-known", expect=2)
        self.assertIn("--no-known", both.stderr)

    def test_as_many_expensive_cells_begin_as_have_time_and_those_of_a_figure_without_numbers_first(self):
        def study(out, *more):
            for number, (name, allocators) in enumerate((("mixed", ["counting", "steady"]), ("alone", ["steady"]))):
                path = self.config(allocators, name=f"mine/{name}", seed=number + 1, rounds=3, sweep={"request_bytes": [16]})
                target = self.folder / "configs" / "mine" / f"{name}.json"
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
            self.run_program("study", "mine", "--configs", self.folder / "configs", "--out", out, *more, expect=0)

        shutil.rmtree(self.earlier)
        study(self.earlier)
        for name in ("mixed", "alone"):
            self.make_slow(self.earlier / "mine" / name, "steady", 60)
        self.notes.unlink()
        study(self.out, "--known", self.earlier, "--minutes", "3")  # time for the rounds of one, which take 120 s
        self.assertEqual(self.verified(*(self.out / "mine" / name for name in ("mixed", "alone"))),
                         ["mixed/counting/16", "alone/steady/16", "mixed/steady/16"])

    def test_the_plan_of_a_study_counts_them(self):
        target = self.folder / "configs" / "mine" / "one.json"
        target.parent.mkdir(parents=True)
        target.write_text(json.dumps(json.loads(self.same.read_text(encoding="utf-8"))), encoding="utf-8")
        plan = self.run_program("study", "mine", "--configs", self.folder / "configs", "--known", self.earlier, "--dry-run", expect=0)
        self.assertIn("2 cells come last: they failed, took long or were left out in earlier results.\n", plan.stdout)
