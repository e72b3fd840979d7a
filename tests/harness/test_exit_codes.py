"""Tests exit codes: usage errors end with 2 and environment errors with 3, each with a sentence that says what to
do.
"""

import json

from support import HERE, ProgramTest


class Usage(ProgramTest):
    def test_mistakes_of_a_config_are_told_before_anything_runs(self):
        config = self.config(["stedy"], workload={"id": "pulse", "block": 3}, repetitions=0)
        result = self.measure(config, expect=2)
        for text in ("3 mistakes, nothing was run", "/allocators/0", 'did you mean "steady"?', "/workload/block",
                     'did you mean "blocks"?', "/repetitions"):
            self.assertIn(text, result.stderr)
        self.assertFalse(self.out.exists())
        self.assertEqual(result.stdout, "")

    def test_a_size_with_a_unit_of_two_meanings_gets_the_one_that_is_meant(self):
        config = self.config(workload={"id": "pulse", "trouble_from": "32KB"}, pool_bytes="64MB",
                             sweep={"request_bytes": {"log2": ["16", "1 MB"]}})
        text = self.measure(config, expect=2).stderr
        self.assertIn('/pool_bytes\n      found:   "64MB"\n', text)
        for size in ("64MiB", "32KiB", "1MiB"):
            self.assertIn(f'did you mean "{size}"?', text)
        self.assertIn("2 mistakes, nothing was run", self.measure(self.config(pool_bytes="x", sweep={"request_bytes": [16, "2kB"]}), expect=2).stderr)

    def test_a_config_that_only_draws_says_how(self):
        path = self.folder / "table1.json"
        path.write_text('{"name": "paper/table1", "plot": {"kind": "settings_table", "configs": ["fig1.json"]}}', encoding="utf-8")
        self.assertIn(f"python3 -m plots {path} RUN_FOLDER... --out DIR", self.measure(path, expect=0).stdout)
        self.assertFalse(self.out.exists())

    def test_syntax(self):
        path = self.folder / "broken.json"
        path.write_text('{\n  "name": "x"\n  "y": 1\n}', encoding="utf-8")
        self.assertIn("line 3, column 5", self.measure(path, expect=2).stderr)

    def test_command_line(self):
        for arguments in ([], ["--config"], ["--no-such-flag"], ["--config", "missing.json"], ["report", "nowhere"],
                          ["--config", "x", "--backend", "vulkan"], ["describe", "stedy"], ["list", "things"],
                          ["--config", "x", "--force", "--resume"]):
            with self.subTest(arguments=arguments):
                result = self.run_program(*arguments, expect=2)
                self.assertIn("allocbench: ", result.stderr)

    def test_wrong_values_are_told_in_plain_words(self):
        config = self.config()
        self.out.mkdir()
        for arguments, words in (([config, "--device", "x"], "--device: Value x is not a whole number from 0 to 1023."),
                                 ([config, "--seed", "abc"], "--seed: Value abc is not a whole number from 0 to 18446744073709551615."),
                                 ([config, "--minutes", "16667"], "--minutes: Value 16667 not in range 0 to 16666."),
                                 ([self.out], "it is a folder. `allocbench study GROUP` measures all configs of a folder"),
                                 (["report", f"{self.out}t"], f"matches no file. Did you mean {self.out}?")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.run_program(*arguments, expect=2).stderr)

    def test_a_folder_with_a_run_is_not_written_over(self):
        config = self.config()
        self.measure(config)
        result = self.measure(config, expect=2)
        self.assertIn("already contains a run with 3 finished cells. Use --resume", result.stderr)
        self.measure(config, "--force")

    def test_filter(self):
        self.assertIn("no cell matches", self.measure(self.config(), "--filter", "nothing", expect=2).stderr)
        self.measure(self.config(), "--filter", ":32$")
        self.assertEqual(len(self.results()["allocbench"]["cells"]), 1)

    def test_only_failed_needs_a_run(self):
        self.out.mkdir()
        self.assertIn("No earlier run in", self.measure(self.config(), "--only-failed", expect=2).stderr)


class Environment(ProgramTest):
    def test_no_worker(self):
        result = self.run_program("--config", self.config(), "--workers", self.folder, expect=3)
        self.assertEqual(result.stderr, f"allocbench: There is no program allocbench-worker-cpu in {self.folder}. Build it in the source tree with "
                                        "`make build`, or name its folder with --workers.\n")

    def test_a_program_that_is_missing_is_named_with_how_to_build_it(self):
        for arguments, told in ((["--config", self.config(), "--backend", "cuda"], "with `make build` (this needs nvcc of CUDA 12.4 or newer), or"),
                                (["check"], f"allocbench-worker-check in {self.folder}. Build it in the source tree with `make build`, or")):
            with self.subTest(arguments=arguments):
                self.assertIn(told, self.run_program(*arguments, "--workers", self.folder, expect=3).stderr)
        root = HERE.parents[1]
        self.assertIn("\nbuild: ", (root / "Makefile").read_text(encoding="utf-8"))

    def test_no_device(self):
        self.add_worker("cuda")
        environment = self.environment(FAKE_WORKER_ENVIRONMENT="The driver is too old: 11.0 is older than 12.4.")
        result = self.run_program("--config", self.config(), "--backend", "cuda", expect=3, environment=environment)
        self.assertEqual(result.stderr, "allocbench: The driver is too old: 11.0 is older than 12.4.\n")

    def test_a_gpu_that_is_lost_is_no_fault_of_the_allocator(self):
        config = self.config(["steady", "counting"])
        broken = self.environment(FAKE_WORKER_LOSES_GPU_FROM="32")
        result = self.run_program("--config", config, "--out", self.out, expect=3, environment=broken)
        self.assertIn("The machine failed during a measurement, not the allocator: planned loss of the GPU\n", result.stderr)
        self.assertRegex(result.stderr, r"stopped\. .*Continue with\n +\S+ .*--resume\n")
        self.assertEqual({event["status"] for event in self.events() if event["event"] == "end"}, {"ok"})
        left = self.statuses()
        self.assertEqual(sum(left.values(), []), ["ok"])
        # The run is resumed while the worker is missing, and again when it is back.
        self.run_program("--config", config, "--out", self.out, "--resume", expect=3, environment=broken)
        self.measure(config, "--resume", expect=0)
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 3, "counting": ["ok"] * 3})

    def test_other_protocol(self):
        environment = self.environment(FAKE_WORKER_PROTOCOL="2")
        result = self.run_program("--config", self.config(), expect=3, environment=environment)
        self.assertIn("Build both programs from one tree with `make build`.", result.stderr)
        environment = self.environment(FAKE_WORKER_DESCRIPTION="Segmentation fault")
        result = self.run_program("list", expect=3, environment=environment)
        self.assertIn("printed no valid description", result.stderr)

    def test_a_folder_that_cannot_be_written(self):
        # Even root cannot make folders in /proc, and a file is never a folder.
        for folder in ("/proc/allocbench", self.config()):
            result = self.measure(self.config(), expect=3, out=folder)
            self.assertIn("Cannot create the folder", result.stderr)

    def test_a_refused_call_is_told_with_its_path(self):
        self.measure(self.config())
        (self.out / "results.csv").unlink()
        (self.out / "results.csv" / "inside").mkdir(parents=True)
        self.assertTrue(self.measure(self.config(), "--force", expect=3).stderr.endswith(
            f"allocbench: The operating system refused a call for {self.out}/results.csv: Directory not empty.\n"))

    def test_a_broken_worker(self):
        worker = self.workers / "allocbench-worker-cpu"
        worker.unlink()
        worker.write_text("#!/bin/sh\necho out of luck\nexit 9\n", encoding="utf-8")
        worker.chmod(0o755)
        result = self.run_program("--config", self.config(), expect=3)
        self.assertIn("ended with exit code 9 before it was ready. Its last output:\nout of luck", result.stderr)


class Backend(ProgramTest):
    def test_auto_takes_cuda_when_it_answers(self):
        self.add_worker("cuda")
        result = self.measure(self.config(), "--quiet")
        self.assertEqual(result.stderr.splitlines()[0],
                         "allocbench: back end cuda on Fake device (chosen by --backend auto)")
        self.assertEqual({event["backend"] for event in self.events() if event["event"] == "cell"}, {"cuda"})

    def test_the_default_folder_names_config_and_back_end(self):
        self.run_program("--config", self.config(), expect=0)
        self.assertTrue((self.folder / "results/test/figure-cpu/results.csv").exists())


class Plan(ProgramTest):
    def test_dry_run_measures_nothing(self):
        result = self.measure(self.config(["steady", "hanging"]), "--dry-run")
        self.assertIn("6 cells in 2 series and 2 batches", result.stdout)
        self.assertIn("request_bytes:64", result.stdout)
        self.assertFalse(self.out.exists())

    def test_print_config_shows_what_applies(self):
        config = self.config(cpu={"repetitions": 2}, cuda={"repetitions": 100})
        effective = json.loads(self.run_program("--config", config, "--print-config", "--seed", "5", expect=0).stdout)
        self.assertEqual((effective["repetitions"], effective["seed"]), (2, 5))
        self.assertNotIn("cuda", effective)

    def test_the_same_config_gives_the_same_events(self):
        def essence(out):
            # A worker's output comes through its own pipe, so chance decides how much has arrived when a cell ends.
            return [{key: value for key, value in event.items() if key not in ("time", "host", "output_tail", "seconds")}
                    for event in self.events(out)]

        config = self.config(["steady", "incorrect"])
        self.measure(config, expect=1, out=self.folder / "one")
        self.measure(config, expect=1, out=self.folder / "two")
        self.assertEqual(essence(self.folder / "one"), essence(self.folder / "two"))

    def test_pipes_get_no_colour_and_no_carriage_return(self):
        result = self.measure(self.config(["incorrect"]), expect=1)
        for text in (result.stdout, result.stderr):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\r", text)
