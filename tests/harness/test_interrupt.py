"""Tests Ctrl-C: the first writes the existing results and says how to continue, and the second aborts."""

import os
import pathlib
import signal
import subprocess
import time

from support import ProgramTest, ended


class Interrupt(ProgramTest):
    def start_and_wait_for_a_sample(self, config):
        program = self.start_program("--config", config, "--out", self.out)
        limit = time.monotonic() + 20
        while time.monotonic() < limit:
            if self.notes.exists() and " sample " in self.notes.read_text(encoding="utf-8"):
                return program
            time.sleep(0.01)
        program.kill()
        self.fail("no sample was ever taken")

    def test_once(self):
        config = self.config(state="reused", workload={"id": "pulse", "seconds": 0.2})
        program = self.start_and_wait_for_a_sample(config)
        program.send_signal(signal.SIGINT)
        output, errors = program.communicate(timeout=20)
        self.assertEqual(program.returncode, 130, errors)
        self.assertIn("interrupted. 0 of 3 cells are finished. Continue with\n  allocbench --config", errors)
        self.assertIn("3 cells, 3 not measured", output)
        self.assertTrue((self.out / "results.csv").exists())
        self.assertEqual(self.worker_processes(), [])
        self.measure(config, "--resume")
        self.assertEqual(len(ended(self.events())), 3)

    def test_a_hanging_command_does_not_hold_it_up(self):
        program = self.start_and_wait_for_a_sample(self.config(["hanging"], workload={"id": "pulse"}, deadline_s=600))
        time.sleep(0.3)
        begin = time.monotonic()
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=20)
        self.assertEqual(program.returncode, 130)
        self.assertLess(time.monotonic() - begin, 6)

    def test_twice(self):
        program = self.start_and_wait_for_a_sample(self.config(["hanging"], workload={"id": "pulse"}, deadline_s=600))
        time.sleep(0.3)
        begin = time.monotonic()
        program.send_signal(signal.SIGINT)
        time.sleep(0.2)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=20)
        self.assertEqual(program.returncode, 130)
        self.assertLess(time.monotonic() - begin, 1.5)
        self.assertIn("aborted. Logs of measurements are intact.", errors)
        self.run_program("report", self.out, expect=1)

    def interrupt_before_the_first_cell(self, *arguments, send, begun, **environment):
        """Interrupts the program when `begun` returns true. Returns the program's output on stderr."""
        program = self.start_program("--config", self.config(), "--out", self.out, *arguments, **environment)
        limit = time.monotonic() + 20
        while not begun():
            self.assertLess(time.monotonic(), limit, "no worker was started")
            time.sleep(0.01)
        time.sleep(0.2)
        send(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=20)
        self.assertEqual(program.returncode, 130, errors)
        self.assertTrue(errors.endswith("allocbench: interrupted\n"), errors)
        return errors

    def begun(self):
        return pathlib.Path(f"{self.notes}.starts").exists()

    def test_before_the_device_is_known(self):
        """A worker that is ready soon after the signal still tells its device, and another one does not."""
        self.measure(self.config())
        before = self.events()
        for seconds, known in ((1, True), (60, False)):
            with self.subTest(seconds=seconds):
                pathlib.Path(f"{self.notes}.starts").unlink()
                errors = self.interrupt_before_the_first_cell("--backend", "cpu", "--force", send=os.kill, begun=self.begun,
                                                              FAKE_WORKER_SLOW_READY=str(seconds))
                self.assertEqual("on Fake device" in errors, known, errors)
                self.assertEqual(self.events(), before, "--force deletes no run that no other one replaces")
                self.assertEqual(self.worker_processes(), [])

    def test_on_a_terminal_while_a_worker_describes_itself(self):
        def described():
            return self.begun() and "--describe" in pathlib.Path(f"{self.notes}.starts").read_text(encoding="utf-8")

        self.interrupt_before_the_first_cell(send=os.killpg, begun=described, FAKE_WORKER_SLOW_DESCRIPTION="1")
        self.assertFalse(self.out.exists())

    def test_a_closed_pipe_is_no_crash(self):
        program = subprocess.Popen(f"{self.command()} | head -1", shell=True, cwd=self.folder, env=self.environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, _ = program.communicate(timeout=30)
        self.assertTrue(output.startswith("test/figure on cpu"))
        self.assertTrue((self.out / "results.json").exists())

    def command(self):
        from support import PROGRAM
        return f"{PROGRAM} --config {self.config()} --out {self.out} --quiet"
