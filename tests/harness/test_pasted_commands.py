"""Tests that a shell reads the printed commands as they were given, for any names of folders."""

import json
import os
import pathlib
import shlex
import subprocess
import unittest

from support import PROGRAM, ProgramTest

ODD = "a b; touch stray 'x' $(touch stray)"


class PastedCommands(ProgramTest):
    def setUp(self):
        super().setUp()
        self.odd = self.folder / ODD
        self.odd.mkdir()
        self.out = self.odd / "out"

    def pasted(self, result, *words):
        """Runs the command below `Continue with` in a shell, and checks that it contains these words."""
        lines = result.stderr.splitlines()
        command = lines[next(i for i, line in enumerate(lines) if line.endswith("Continue with")) + 1]
        read = shlex.split(command)
        for word in map(str, words):
            self.assertIn(word, read)
        program = str(pathlib.Path(PROGRAM).parent)
        again = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
                               env=self.environment(PATH=f"{program}:{os.environ['PATH']}"))
        self.assertEqual(list(self.folder.rglob("stray")), [])
        return again

    def test_of_a_run(self):
        config = self.config(rounds=3)
        moved = self.odd / "config.json"
        config.rename(moved)
        result = self.measure(moved, "--minutes", 0, "--workers", self.workers, "--filter", "16|32", expect=1)
        again = self.pasted(result, moved, self.out, "16|32", "--resume")
        self.assertNotIn("was not expected", again.stderr)
        self.assertEqual([event.get("resumed") for event in self.events() if event["event"] == "run"], [None, True])

    def test_of_failed_cells(self):
        """Failed cells that the run did not reach keep their ends, so --resume alone would pass them over."""
        config = self.config(["crashing"], rounds=1)
        self.measure(config, expect=1)
        result = self.measure(config, "--only-failed", "--minutes", 0, expect=1)
        again = self.pasted(result, "--resume", "--only-failed")
        self.assertNotIn("no cells left", again.stderr)

    def test_of_a_study(self):
        configs = self.odd / "configs"
        (configs / "mine").mkdir(parents=True)
        self.config(name="mine/one", rounds=3).rename(configs / "mine" / "one.json")
        result = self.run_program("study", "mine", "--configs", configs, "--out", self.out, "--minutes", 0, "--no-figures", expect=1)
        self.pasted(result, configs, self.out, "--resume", "--no-figures")
        self.assertEqual([event.get("resumed") for event in self.events(self.out / "mine" / "one") if event["event"] == "run"], [None, True])

    COMPARISON = ("--fail-on", "regression", "--allow-missing", "--margin", "5", "--ignore", "workload/blocks", "--all", "--markdown")

    def test_of_a_reference(self):
        kept = self.odd / "kept"
        self.measure(self.config(rounds=3), out=kept)
        result = self.run_program("compare", "--with-reference", kept, "--out", self.out, "--minutes", 0, *self.COMPARISON, expect=2)
        self.pasted(result, kept, self.out, *self.COMPARISON)
        self.assertEqual([event.get("resumed") for event in self.events(self.out / "test" / "figure") if event["event"] == "run"], [None, True])

    def test_a_config_that_only_draws(self):
        config = self.odd / "draws.json"
        config.write_text(json.dumps({"name": "test/draws", "plot": {"kind": "settings_table", "configs": ["one.json"], "printed": {"one": {"runs": "5"}}}}), encoding="utf-8")
        result = self.run_program("--config", config, expect=0)
        self.assertIn(str(config), shlex.split(result.stdout.splitlines()[1]))

    def test_many_selected_configs_stay_short(self):
        configs = self.folder / "configs"
        (configs / "mine").mkdir(parents=True)
        for number in range(6):
            self.config(name=f"mine/fig{number}", rounds=3, seed=number).rename(configs / "mine" / f"fig{number}.json")
        study = ("study", "mine", "--configs", configs, "--out", self.out, "--minutes", 0)
        for count, short in ((3, False), (4, True)):
            with self.subTest(count=count):
                only = [word for number in range(count) for word in ("--only", f"mine/fig{number}")]
                result = self.run_program(*study, *only, *(["--resume"] if short else []), expect=1)
                command = result.stderr.splitlines()[-1]
                self.assertEqual(command.count("--only"), 0 if short else 3)
                self.assertEqual("--started" in command, short)
        again = self.pasted(result, "--started", "--resume")
        self.assertIn("mine/fig3: ", again.stdout)
        self.assertNotIn("mine/fig4", again.stdout)

    def test_started_needs_a_log(self):
        configs = self.folder / "configs"
        (configs / "mine").mkdir(parents=True)
        self.config(name="mine/one").rename(configs / "mine" / "one.json")
        study = ("study", "mine", "--configs", configs, "--out", self.out, "--started")
        self.assertIn("--resume", self.run_program(*study, expect=2).stderr)
        self.assertIn(f"No config of the group \"mine\" has a log in {self.out}. Drop --started",
                      self.run_program(*study, "--resume", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
