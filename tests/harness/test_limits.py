"""Tests the limits of numbers: a value beyond a limit gives one error with exit code 2, within five seconds."""

import json
import os
import time

from support import ProgramTest

# The program must end within this time, in which it starts a worker in Python up to three times.
SECONDS = 5


class Limits(ProgramTest):
    def refused(self, path, words, *more):
        start = time.monotonic()
        result = self.measure(path, *more, expect=2)
        self.assertLess(time.monotonic() - start, SECONDS)
        self.assertIn(words, result.stderr)
        self.assertLess(len(result.stderr), 40_000)
        self.assertFalse(self.out.exists())

    def written(self, text):
        path = self.folder / "config.json"
        path.write_text(text, encoding="utf-8")
        return path

    def test_counts(self):
        for key, value in (("repetitions", 10**9), ("rounds", 10**9), ("warmups", 2**63), ("counted_passes", 10**18),
                           ("deadline_s", 1e10), ("energy_s", 1e4), ("repetitions", 1e300)):
            with self.subTest(key=key):
                self.refused(self.config(**{key: value}), f"/{key}\n")

    def test_whole_numbers_of_the_command_line(self):
        for option, value in (("--seed", -1), ("--seed", 2**64), ("--lockstep", -1), ("--os-threads", -1), ("--os-threads", 2**32), ("--device", -1), ("--device", 2**31)):
            with self.subTest(option=option, value=value):
                self.refused(self.config(), f"{option}: Value {value} is not a whole number from 0 to ", option, value)

    def test_rounds_of_ageing(self):
        self.refused(self.config(state="aged", aged_rounds=10**9), "/aged_rounds\n")

    def test_samples(self):
        self.refused(self.config(rounds=10_000, repetitions=100_000), "samples of all cells and rounds")

    def test_cells(self):
        sweep = {"request_bytes": {"range": [1, 1000, 1]}, "blocks": {"range": [1, 1000, 1]}}
        self.refused(self.config(sweep=sweep), "1000000 cells\n      allowed: at most 100000 cells")

    def test_batches(self):
        self.refused(self.config(sweep={"pool_bytes": {"range": [4096, 40960, 4]}}), "at most 2000, because each needs its own allocator instance")

    def test_values(self):
        self.refused(self.config(sweep={"request_bytes": list(range(1, 100_001))}), "100000 values")
        self.refused(self.config(sweep={"request_bytes": [16] * 9_999}), "duplicate value 16")
        self.refused(self.config(exclude=[{"request_bytes": 16}] * 1000), "at most 100")

    def test_names(self):
        self.refused(self.config(name="a" * 900_000), "length at most 200")
        self.refused(self.config(["a" * 900_000]), "/allocators/0")
        self.refused(self.config(workload={"id": "a" * 900_000}), "/workload/id")
        self.refused(self.config(**{"k" * 900_000: 1}), "unknown key")
        self.refused(self.config(["k" + str(number) for number in range(900)]), "and 800 more")
        self.refused(self.config(**{f"k{number}": 1 for number in range(30_000)}), "more than 1000 keys")

    def test_nesting(self):
        self.refused(self.written("[" * 70_000), "at most 64 levels")
        self.refused(self.written('{"a":' * 70_000 + "1" + "}" * 70_000), "at most 64 levels")

    def test_size(self):
        self.refused(self.config(description="x" * 2_000_000), "must not be larger than 1 MiB")

    def test_numbers(self):
        text = self.config().read_text(encoding="utf-8")
        self.refused(self.written(text.replace('"repetitions": 3', '"repetitions": 1e400')), "the number 1e400")

    def test_filters(self):
        self.refused(self.config(), "at most 200 characters", "--filter", "(" * 50_000)
        self.refused(self.config(), "must be a regular expression", "--filter", "(" * 150)
        self.refused(self.config(), "no cell matches", "--filter", "(.*)*(.*)*(.*)*z")
        self.refused(self.config(), "must be a regular expression", "--filter", "((((.{99}){99}){99}){99}){99}")

    def test_files_that_never_end(self):
        pipe = self.folder / "pipe.json"
        os.mkfifo(pipe)
        self.refused(pipe, "must be a regular file; it is a pipe")
        self.refused("/dev/zero", "must be a regular file; it is a device")
        self.refused(self.folder, "must be a regular file; it is a folder")
        self.refused(self.folder / "none.json", "There is no config")

    def test_what_the_limits_allow_is_planned_in_time(self):
        sweep = {"request_bytes": {"range": [1, 1000, 1]}, "blocks": {"range": [1, 50, 1]}}
        start = time.monotonic()
        result = self.measure(self.config(sweep=sweep), "--dry-run")
        self.assertLess(time.monotonic() - start, 4 * SECONDS)
        self.assertIn("50000 cells", result.stdout)


class BothBackEnds(ProgramTest):
    def test_a_plug_in_of_the_other_back_end_is_not_unknown(self):
        self.add_worker("cuda")
        result = self.measure(self.config(["gpu_only"]), "--backend", "cpu", expect=2)
        self.assertIn('"gpu_only", which works on the cuda back end only', result.stderr)
        self.measure(self.config(["gpu_only"]), "--backend", "cuda")

    def test_the_part_of_the_other_back_end_is_checked(self):
        config = self.config(cuda={"workload": {"blocks": 0}, "repetitions": 0, "rouns": 1})
        for _ in range(2):  # one run without the other worker, and one with it
            result = self.measure(config, "--backend", "cpu", expect=2)
            for words in ("3 mistakes", "/cuda/workload/blocks", "/cuda/repetitions", "/cuda/rouns"):
                self.assertIn(words, result.stderr)
            if not (self.workers / "allocbench-worker-cuda").exists():
                self.add_worker("cuda")

    def test_what_the_plots_read_is_checked_before_the_run(self):
        config = self.config(plot={"kind": "linez"}, notes=5, claims=[{"says": "a", "source": "b"}])
        result = self.measure(config, expect=2)
        for words in ("4 mistakes", 'did you mean "lines"?', "/notes", "0 of the keys ratio, ", "0 of the keys above, "):
            self.assertIn(words, result.stderr)

    def test_every_config_of_the_project_has_the_form_of_the_schema(self):
        # Real workers check names (test_real_worker). The built-in schema checks keys and forms.
        root = os.path.join(os.path.dirname(__file__), "..", "..", "configs")
        for folder, _, files in os.walk(root):
            for name in files:
                if folder.endswith("schema") or not name.endswith(".json"):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    measures = "workload" in json.load(file)
                result = self.run_program("--config", path, "--dry-run", expect=2 if measures else 0)
                self.assertNotIn("unknown key", result.stderr)
                self.assertNotIn("unknown kind", result.stderr)
                self.assertNotIn("of the keys", result.stderr)
