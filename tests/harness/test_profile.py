"""Tests `allocbench profile` with a script instead of Nsight Compute."""

import json
import shlex

from support import HERE, ProgramTest


class Profile(ProgramTest):
    def setUp(self):
        super().setUp()
        self.add_worker("cuda")
        self.ncu_notes = self.folder / "ncu.json"
        config = self.config(name="paper/fig1")
        target = self.folder / "configs/paper/fig1.json"
        target.parent.mkdir(parents=True)
        config.rename(target)

    def profile(self, *arguments, expect=0, how=""):
        environment = self.environment(FAKE_NCU_NOTES=str(self.ncu_notes), FAKE_NCU=how)
        return self.run_program("profile", *arguments, "--ncu", HERE / "fake_ncu.py", expect=expect, environment=environment)

    def called_with(self):
        return json.loads(self.ncu_notes.read_text(encoding="utf-8"))

    def test_a_cell(self):
        result = self.profile("paper/fig1/steady/request_bytes:32")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "paper/fig1/steady/request_bytes:32: the kernels of one sample")
        self.assertRegex(lines[1], r"^kernel +time +registers +occupancy +L2 atomics +waits for$")
        self.assertRegex(lines[2], r"^MallocOnce +5.82 µs +40 +61.2 % +352 Mop/s +long scoreboard 80 %$")
        self.assertRegex(lines[3], r"^FreeAll +2.00 µs +22 +12.5 % +50.0 Mop/s +lg throttle 75 %$")
        self.assertNotIn("last sample", result.stdout)
        self.assertNotIn("hold", result.stdout)

    def test_the_command_runs_as_printed(self):
        result = self.profile("paper/fig1/steady/request_bytes:32", "--phase", "alloc")
        command = shlex.split(result.stdout.splitlines()[-1])
        self.assertEqual(command[1:], self.called_with())
        self.assertEqual(command[command.index("--nvtx-include") + 1], "sample/alloc")
        self.assertEqual(command[command.index("--plugin") + 1], "fake_steady")
        cell = json.loads(command[command.index("--run") + 1])
        self.assertEqual((cell["allocator"], cell["parameters"]["request_bytes"], cell["pool_bytes"]), ("steady", 32, 1 << 20))

    def test_a_dry_run_runs_nothing(self):
        self.assertIn("--nvtx-include sample/", self.profile("paper/fig1/steady/request_bytes:16", "--dry-run").stdout)
        self.assertFalse(self.ncu_notes.exists())

    def test_its_table_can_be_kept(self):
        self.profile("paper/fig1/steady/request_bytes:16", "--out", "table.csv")
        self.assertIn("gpu__time_duration.sum", (self.folder / "table.csv").read_text(encoding="utf-8"))

    def test_mistakes(self):
        for arguments, words in ((["paper/fig1/stedy/request_bytes:16"], 'Did you mean "paper/fig1/steady/request_bytes:16"?'),
                                 (["paper/fig9/steady"], "Name the config with --config"),
                                 (["paper/fig1"], 'fig1.json has no cell "paper/fig1".'),
                                 (["paper/fig1/steady/request_bytes:16", "--phase", "build"], "Allowed: alloc, free")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.profile(*arguments, expect=2).stderr)

    def test_what_ncu_says_is_told(self):
        cell = "paper/fig1/steady/request_bytes:16"
        self.assertIn("ERR_NVGPUCTRPERM", self.profile(cell, expect=1, how="refused").stderr)
        self.assertIn("measured no kernel", self.profile(cell, expect=3, how="nothing").stderr)
        for how in ("broken", "no units"):
            self.assertIn("does not fit its header", self.profile(cell, expect=3, how=how).stderr)

    def test_no_ncu(self):
        result = self.run_program("profile", "paper/fig1/steady/request_bytes:16", "--ncu", "/no/such/ncu", expect=3)
        self.assertIn("/no/such/ncu cannot be started", result.stderr)
