"""Provides the common parts of whole-program tests: a folder with a fake worker, a config, and the program under
test.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("ALLOCBENCH_PROGRAM", "allocbench")


def cell_ids(events):
    return [event["id"] for event in events if event["event"] == "cell"]


def ended(events):
    return {event["cell"]: event for event in events if event["event"] == "end"}


class ProgramTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="allocbench-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.workers = self.folder / "workers"
        self.workers.mkdir()
        self.add_worker("cpu")
        self.out = self.folder / "out"
        self.notes = self.folder / "notes.txt"

    def add_worker(self, backend):
        (self.workers / f"allocbench-worker-{backend}").symlink_to(HERE / "fake_worker.py")

    def real_workers(self, *names):
        """Makes a folder with the build's CPU worker and only the plug-ins of these names."""
        built, real = os.environ["ALLOCBENCH_REAL_WORKERS"], self.folder / "real"
        (real / "plugins/cpu").mkdir(parents=True)
        shutil.copy(f"{built}/allocbench-worker-cpu", real)  # a worker looks for plug-ins beside itself
        for name in names:
            for part in ("", "-applications"):
                (real / f"plugins/cpu/{name}{part}.so").symlink_to(f"{built}/plugins/cpu/{name}{part}.so")
        return real

    def config(self, allocators=("steady",), **more):
        """Writes a config with one series per allocator over request_bytes: 16, 32, 64 B. Trouble begins at 32 B."""
        document = {
            "name": "test/figure",
            "allocators": list(allocators),
            "workload": {"id": "pulse", "trouble_from": "32B"},
            "sweep": {"request_bytes": {"log2": [16, 64]}},
            "pool_bytes": "1MiB",
            "repetitions": 3,
            "deadline_s": 20,
        }
        document.update(more)
        path = self.folder / "config.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def environment(self, **more):
        return {**os.environ, "ALLOCBENCH_WORKERS": str(self.workers), "FAKE_WORKER_NOTES": str(self.notes), **more}

    def run_program(self, *arguments, expect=None, environment=None, stdout=subprocess.PIPE):
        result = subprocess.run([PROGRAM, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                                timeout=60, cwd=self.folder, env=environment or self.environment(), check=False)
        if expect is not None:
            self.assertEqual(result.returncode, expect, (result.stdout or "") + result.stderr)
        return result

    def start_program(self, *arguments, **environment):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.folder, env=self.environment(**environment), start_new_session=True)

    def measure(self, config, *more, expect=0, out=None):
        return self.run_program("--config", config, "--out", out or self.out, *more, expect=expect)

    def events(self, out=None):
        """Returns the events of all whole lines of the log."""
        text = ((out or self.out) / "events.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def notes_of(self, *kinds):
        """Returns (process, command, allocator, cell) of every command, in the order in which workers got them."""
        words = [line.split(" ") for line in self.notes.read_text(encoding="utf-8").splitlines()]
        return [tuple(word) for word in words if not kinds or word[1] in kinds]

    def results(self):
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))

    def statuses(self):
        """Returns the statuses of each allocator, in the order of request_bytes."""
        table = {}
        for cell in sorted(self.results()["allocbench"]["cells"], key=lambda cell: cell["axes"]["request_bytes"]):
            table.setdefault(cell["label"], []).append(cell["status"])
        return table

    def starts(self):
        """Returns the arguments of every worker process that serves."""
        lines = pathlib.Path(f"{self.notes}.starts").read_text(encoding="utf-8").splitlines()
        return [arguments for arguments in map(json.loads, lines) if "--serve" in arguments]

    def worker_processes(self):
        """Returns the workers of this test that are alive or zombies."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                line = (entry / "cmdline").read_bytes().decode()
                state = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if str(self.workers) in line:
                found.append((entry.name, state))
        return found
