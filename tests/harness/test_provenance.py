"""Tests that a figure has one revision, one card, one driver and one schedule of the CPU executor, unless the user allows
a mix.
"""

import csv

from support import ProgramTest


class Provenance(ProgramTest):
    def cut_after_the_first_cell(self, **origin):
        """Makes an interrupted run of a worker with this origin."""
        config = self.config(["steady", "noisy"])
        self.run_program("--config", config, "--out", self.out, expect=0, environment=self.environment(**origin))
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        ends = [number for number, line in enumerate(lines) if line.startswith('{"event":"end"')]
        path.write_text("".join(lines[:ends[0] + 1]), encoding="utf-8")
        return config

    def resume(self, config, *more, expect, **origin):
        return self.run_program("--config", config, "--out", self.out, "--resume", *more, expect=expect,
                                environment=self.environment(**origin))

    def provenance(self):
        return self.results()["allocbench"]["provenance"]

    def test_another_revision_is_refused(self):
        config = self.cut_after_the_first_cell(FAKE_WORKER_REVISION="one")
        before = self.events()
        result = self.resume(config, expect=2, FAKE_WORKER_REVISION="two")
        self.assertRegex(result.stderr, r"was measured with revision [0-9a-f]{12}\+one \(commit \S+\), but this run would use "
                                        r"revision [0-9a-f]{12}\+two")
        self.assertIn("--allow-mixed", result.stderr)
        self.assertEqual(self.events(), before)
        self.resume(config, expect=0, FAKE_WORKER_REVISION="one")
        self.assertFalse(self.provenance()["mixed"])

    def test_another_card_is_refused(self):
        config = self.cut_after_the_first_cell(FAKE_WORKER_UUID="GPU-1")
        result = self.resume(config, expect=2, FAKE_WORKER_UUID="GPU-2")
        self.assertIn("was measured with Fake device (GPU-1), but this run would use Fake device (GPU-2)", result.stderr)

    def test_another_driver_is_refused(self):
        config = self.cut_after_the_first_cell(FAKE_WORKER_DRIVER="570.1")
        result = self.resume(config, expect=2, FAKE_WORKER_DRIVER="580.2")
        self.assertIn("was measured with driver 570.1, but this run would use driver 580.2", result.stderr)

    def test_a_run_continues_after_cells_were_left_out_before_the_card_was_known(self):
        config = self.config(sweep={"request_bytes": [16], "pool_bytes": ["1MiB", "4GiB"]})
        card = {"FAKE_WORKER_UUID": "GPU-1"}
        self.run_program("--config", config, "--out", self.out, "--minutes", 0, expect=1, environment=self.environment(**card))
        for _ in range(2):
            self.resume(config, expect=1, **card)
            self.assertEqual({cell["status"] for cell in self.results()["allocbench"]["cells"]}, {"ok", "skipped"})
            self.assertFalse(self.provenance()["mixed"])
        self.assertIn("was measured with Fake device (GPU-1)", self.resume(config, expect=2, FAKE_WORKER_UUID="GPU-2").stderr)

    def test_another_schedule_is_refused_and_a_mix_says_so(self):
        config = self.cut_after_the_first_cell()
        result = self.resume(config, "--lockstep", "1", expect=2)
        self.assertIn("was measured with the CPU executor without options, but this run would use the CPU executor with --lockstep 1", result.stderr)
        self.resume(config, "--lockstep", "1", "--allow-mixed", expect=0)
        self.assertEqual(self.provenance()["executors"], ["", "--lockstep 1"])
        self.assertTrue(self.provenance()["mixed"])
        self.assertEqual(self.results()["allocbench"]["run"]["executor"], "--lockstep 1")
        self.assertEqual([cell.get("executor") for cell in self.results()["allocbench"]["cells"]], [None] + 5 * ["--lockstep 1"])

    def test_mixed_results_say_so(self):
        config = self.cut_after_the_first_cell(FAKE_WORKER_UUID="GPU-1")
        self.resume(config, "--allow-mixed", expect=0, FAKE_WORKER_UUID="GPU-2")
        self.assertEqual(self.provenance()["cards"], ["GPU-1", "GPU-2"])
        self.assertTrue(self.provenance()["mixed"])
        self.assertEqual({cell["device_uuid"] for cell in self.results()["allocbench"]["cells"]}, {"GPU-1", "GPU-2"})

    def test_a_cell_is_never_mixed(self):
        config = self.config(["noisy"], rounds=3)
        self.run_program("--config", config, "--out", self.out, expect=0,
                         environment=self.environment(FAKE_WORKER_UUID="GPU-1"))
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        first_of_last_round = next(number for number, line in enumerate(lines)
                                   if line.startswith('{"event":"sample"') and '"round":2' in line)
        path.write_text("".join(lines[:first_of_last_round]), encoding="utf-8")
        self.resume(config, "--allow-mixed", expect=0, FAKE_WORKER_UUID="GPU-2")
        self.assertEqual(self.provenance()["cards"], ["GPU-2"])
        self.assertEqual([cell["phases"][0]["rounds"] for cell in self.results()["allocbench"]["cells"]], [[3, 3, 3]] * 3)


class Rows(ProgramTest):
    def test_a_row_says_what_it_is(self):
        self.run_program("--config", self.config(rounds=6), "--out", self.out, expect=0,
                         environment=self.environment(FAKE_WORKER_UUID="GPU-1", FAKE_WORKER_REVISION="one"))
        with open(self.out / "results.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        time = next(row for row in rows if row["metric"] == "time")
        self.assertEqual((time["label"], time["display_name"], time["form"], time["uuid"], time["better"], time["confidence"]),
                         ("steady", "Steady", "published", "GPU-1", "lower", "0.95"))
        self.assertRegex(time["revision"], r"^[0-9a-f]{12}\+one$")
        registers = next(row for row in rows if row["metric"] == "registers")
        self.assertEqual((registers["confidence"], registers["low"]), ("", ""))
        self.assertIn("wall_time", {row["metric"] for row in rows})
        self.assertIn("local_bytes", {row["metric"] for row in rows})

    def test_nothing_is_stated_that_was_not_observed(self):
        self.measure(self.config())
        self.assertNotIn("cpu_scaling_enabled", self.results()["context"])
