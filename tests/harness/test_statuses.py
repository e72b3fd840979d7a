"""Tests that every failure of a worker gets the right status and stops nothing else."""

import collections

from support import ProgramTest, ended


class Statuses(ProgramTest):
    def test_each_failure_has_its_word_and_spares_the_others(self):
        config = self.config(["steady", "crashing", "garbling", "misplacing", "malforming", "confused", "incorrect", "exhausted", "faulting",
                              "exiting", "refusing"])
        self.measure(config, expect=1)
        self.assertEqual(self.statuses(), {
            "steady": ["ok", "ok", "ok"],
            "crashing": ["ok", "crashed", "crashed"],
            "garbling": ["ok", "crashed", "crashed"],
            "misplacing": ["ok", "crashed", "crashed"],
            "malforming": ["ok", "crashed", "crashed"],
            "confused": ["ok", "crashed", "crashed"],
            "incorrect": ["ok", "incorrect", "incorrect"],
            "exhausted": ["ok", "oom", "oom"],
            "faulting": ["ok", "device_fault", "device_fault"],
            "exiting": ["ok", "crashed", "crashed"],
            "refusing": ["unsupported", "unsupported", "unsupported"],
        })
        self.assertEqual(self.worker_processes(), [])

    def test_the_signal_and_the_last_output_are_told(self):
        self.measure(self.config(["crashing"]), expect=1)
        failed = [end for end in ended(self.events()).values() if end["status"] == "crashed"]
        self.assertEqual(len(failed), 2)
        for end in failed:
            self.assertIn("SIGSEGV", end["reason"])
            self.assertEqual(end["output_tail"], "about to crash\n")

    def test_a_hang_is_cut_at_the_deadline(self):
        result = self.measure(self.config(["hanging", "steady"], deadline_s=0.5), expect=1)
        self.assertEqual(self.statuses(), {"hanging": ["ok", "timeout", "timeout"], "steady": ["ok", "ok", "ok"]})
        self.assertIn("used its deadline", result.stderr)
        self.assertEqual(self.worker_processes(), [])

    def test_a_hang_while_setting_up_ends_the_whole_batch(self):
        self.measure(self.config(["stuck", "steady"], deadline_s=0.5), expect=1)
        self.assertEqual(self.statuses(), {"stuck": ["timeout"] * 3, "steady": ["ok"] * 3})

    def test_two_timeouts_skip_the_rest_of_a_series(self):
        config = self.config(["hanging"], deadline_s=0.4, sweep={"request_bytes": {"log2": [16, 256]}},
                             state="reused")
        self.measure(config, expect=1)
        self.assertEqual(self.statuses(), {"hanging": ["ok", "timeout", "timeout", "skipped", "skipped"]})
        reasons = {end["reason"] for end in ended(self.events()).values() if end["status"] == "skipped"}
        self.assertEqual(reasons, {"series hanging timed out at 32 and 64"})

    def test_unsupported_is_no_failure(self):
        self.measure(self.config(["steady", "refusing"]), expect=0)

    def test_a_failed_cell_has_no_number(self):
        self.measure(self.config(["incorrect"]), expect=1)
        rows = (self.out / "results.csv").read_text(encoding="utf-8").splitlines()
        failed = [row for row in rows if ",incorrect,planned" in row]
        self.assertEqual(len(failed), 2)
        for row in failed:
            self.assertTrue(row.endswith("," * 11), row)


class Order(ProgramTest):
    def commands(self, kind):
        words = [line.split() for line in self.notes.read_text(encoding="utf-8").splitlines()]
        return [(word[0], word[3]) for word in words if word[1] == kind]

    def test_the_samples_of_a_cell_stay_together(self):
        for state in ("fresh", "reused"):
            with self.subTest(state=state):
                self.notes.unlink(missing_ok=True)
                self.measure(self.config(state=state), out=self.folder / state)
                cells = [cell for _, cell in self.commands("sample")]
                # Each cell gets two commands, because the first sample shows how many samples fit into a round.
                self.assertEqual([len(set(cells[i:i + 2])) for i in (0, 2, 4)], [1, 1, 1])
                self.assertEqual((len(cells), len(set(cells))), (6, 3))

    def test_survivors_continue_with_the_samples_they_still_need(self):
        self.measure(self.config(["crashing"]), expect=1)
        events = self.events()
        survivor = next(cell for cell, end in ended(events).items() if end["status"] == "ok")
        samples = [event["index"] for event in events if event["event"] == "sample" and event["cell"] == survivor]
        self.assertEqual(samples, [0, 1, 2])
        starts = collections.Counter(event["cell"] for event in events if event["event"] == "start")
        self.assertEqual(set(starts.values()), {1})

    def test_a_state_that_only_a_process_refreshes_gets_one_per_sample(self):
        self.measure(self.config(["per_process"]))
        processes = [process for process, _ in self.commands("sample")]
        self.assertEqual(len(set(processes)), 9)
