"""Tests output that nobody reads or that does not fit on the disk. Results are written, exit codes are right, and
nothing aborts.
"""

import importlib.util
import os
import pty
import signal
import subprocess
import time
import unittest

from support import PROGRAM, ProgramTest

LACKING = [name for name in ("plotly", "markdown", "pandas", "matplotlib", "jsonschema") if importlib.util.find_spec(name) is None]
NO_SPACE = "allocbench: Cannot write to stdout: No space left on device.\n"


class LostOutputTest(ProgramTest):
    def shell(self, text, **more):
        """Returns the exit codes of a pipe's programs, and the rest of stderr."""
        script = f"{text}; echo ${{PIPESTATUS[*]}} > {self.folder}/codes"
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=True, **more)
        codes = [int(code) for code in (self.folder / "codes").read_text(encoding="utf-8").split()]
        return codes, done.stderr

    def slow_config(self):
        return self.config(workload={"id": "pulse", "seconds": 0.2}, repetitions=100)

    def wait_for_a_sample(self):
        limit = time.monotonic() + 20
        while not (self.notes.exists() and " sample " in self.notes.read_text(encoding="utf-8")):
            self.assertLess(time.monotonic(), limit, "no sample was ever taken")
            time.sleep(0.01)

    def assert_results(self, cells):
        self.assertEqual(len(self.results()["allocbench"]["cells"]), cells)
        self.assertTrue((self.out / "results.csv").exists())
        self.assertEqual(self.worker_processes(), [])


class Runs(LostOutputTest):
    def run_text(self, config):
        return f"{PROGRAM} --config {config} --out {self.out}"

    def test_a_reader_that_leaves(self):
        codes, errors = self.shell(f"{self.run_text(self.config())} 2>&1 | head -1")
        self.assertEqual((codes, errors), ([0, 0], ""))
        self.assert_results(3)

    def test_ctrl_c_that_ends_the_reader_first(self):
        read_end, write_end = os.pipe()
        program = subprocess.Popen([PROGRAM, "--config", self.slow_config(), "--out", self.out], cwd=self.folder,
                                   env=self.environment(), stdout=write_end, stderr=write_end)
        os.close(write_end)
        self.wait_for_a_sample()
        os.close(read_end)  # like `tee`, which the same Ctrl-C ends
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(20), 130)
        self.assert_results(0)

    def test_a_terminal_that_closes(self):
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(PROGRAM, [PROGRAM, "--config", str(self.slow_config()), "--out", str(self.out)], self.environment())
        self.wait_for_a_sample()
        os.close(terminal)  # the kernel sends SIGHUP
        os.kill(child, signal.SIGHUP)  # the shell sends SIGHUP too
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 130)
        self.assert_results(0)

    def test_nohup(self):
        program = subprocess.Popen([PROGRAM, "--config", self.config(workload={"id": "pulse", "seconds": 0.1}), "--out", self.out],
                                   cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_a_sample()
        program.send_signal(signal.SIGHUP)
        self.assertEqual(program.wait(20), 0)
        self.assert_results(3)

    def test_a_full_device(self):
        for redirection, told in (("2>/dev/full", ""), (">/dev/full", NO_SPACE), (">/dev/full 2>&1", "")):
            with self.subTest(redirection=redirection):
                codes, errors = self.shell(f"{self.run_text(self.config())} --quiet --force {redirection}")
                self.assertEqual(codes, [3])
                self.assertTrue(errors.endswith(told), errors)
                self.assert_results(3)

    def test_a_warning_about_a_plug_in_on_a_full_device(self):
        broken = """FAKE_WORKER_BROKEN_PLUGINS='[{"plugin": "slab", "reason": "it is damaged"}]'"""
        self.assertEqual(self.shell(f"{broken} {self.run_text(self.config())} 2>/dev/full")[0], [3])
        self.assert_results(3)

    def test_an_interrupted_run_on_a_full_device(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            program = subprocess.Popen([PROGRAM, "--config", self.slow_config(), "--out", self.out], cwd=self.folder,
                                       env=self.environment(), stdout=full, stderr=full)
            self.wait_for_a_sample()
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.wait(20), 130)
        self.assert_results(0)

    def test_closed_streams(self):
        codes, errors = self.shell(f"{self.run_text(self.config())} >&- 2>&-")
        self.assertEqual((codes, errors), ([0], ""))
        self.assert_results(3)


class Verbs(LostOutputTest):
    def setUp(self):
        super().setUp()
        (self.folder / "configs/mine").mkdir(parents=True)
        self.config(name="mine/one", rounds=3).rename(self.folder / "configs/mine/one.json")
        self.measure("configs/mine/one.json")
        real = os.environ["ALLOCBENCH_REAL_WORKERS"]
        self.answers = {"list": 0, "list --json": 0, "describe steady": 0, f"report {self.out}": 0,
                        f"compare {self.out} {self.out}": 0, "study mine --dry-run": 0, "study mine --slurm 1": 0, "study mine --no-figures --quiet": 0,
                        f"check --workers {real} --print-model ring": 0, f"check --workers {real} --list": 0,
                        "configs/mine/one.json --dry-run": 0, "--help": 0, "help list": 0, "--version": 0, "version": 0, "manual": 0,
                        "completion bash": 0}
        if not os.path.exists(f"{real}/allocbench-worker-check"):
            self.answers = {words: code for words, code in self.answers.items() if "check" not in words}

    def test_a_full_device_is_told_in_one_sentence(self):
        for words in self.answers:
            with self.subTest(words=words):
                codes, errors = self.shell(f"{PROGRAM} {words} >/dev/full")
                self.assertEqual(codes, [3])
                told = [line for line in errors.splitlines() if not line.startswith("allocbench: back end cpu")]
                self.assertEqual(told, [NO_SPACE.strip()])

    @unittest.skipIf(LACKING, f"this Python lacks {', '.join(LACKING)}")
    def test_what_the_python_package_prints(self):
        question = "advise --sizes 48 --threads 1M --pool 1GiB"
        for words in ("advise --help", question):
            with self.subTest(words=words):
                codes, errors = self.shell(f"{PROGRAM} {words} >/dev/full")
                self.assertEqual((codes, errors), ([3], "plots: Cannot write to stdout: No space left on device. Redirect it to another place.\n"))
                for way in (">&-", "| true"):
                    codes, errors = self.shell(f"{PROGRAM} {words} {way}")
                    self.assertEqual((codes[0], errors), (0, ""))

    def test_stdout_that_is_closed_or_has_no_reader_changes_nothing(self):
        for words, code in self.answers.items():
            for way in (">&-", "2>&1 | true"):
                with self.subTest(words=words, way=way):
                    force = " --force" if "--quiet" in words else ""
                    codes, errors = self.shell(f"{PROGRAM} {words}{force} {way}")
                    self.assertEqual(codes[0], code, errors)

    def test_an_error_on_a_full_device_keeps_its_exit_code(self):
        for words, code in (("describe nobody", 2), ("list --workers /", 3), ("no-such-command", 2), ("report nowhere", 2)):
            with self.subTest(words=words):
                self.assertEqual(self.shell(f"{PROGRAM} {words} 2>/dev/full")[0], [code])

    def test_a_study_writes_the_results_of_all_its_configs(self):
        self.config(name="mine/two").rename(self.folder / "configs/mine/two.json")
        codes, _ = self.shell(f"{PROGRAM} study mine --no-figures --out {self.folder}/study 2>&1 | true")
        self.assertEqual(codes[0], 0)
        for name in ("one", "two"):
            self.assertTrue((self.folder / "study/mine" / name / "results.json").exists())

    def test_a_merge_writes_the_results_of_all_its_runs(self):
        for name, way, code in (("full", ">/dev/full 2>&1", 3), ("closed", ">&-", 0), ("left", "2>&1 | true", 0)):
            with self.subTest(way=way):
                self.assertEqual(self.shell(f"{PROGRAM} merge {self.out} --out {self.folder}/{name} {way}")[0][0], code)
                self.assertTrue((self.folder / name / "mine/one/results.json").exists())
