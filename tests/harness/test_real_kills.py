"""Kills the program and its workers with kill -9 while a real worker measures. No finished result may be lost."""

import collections
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from support import ProgramTest, cell_ids, ended

WORKERS = os.environ.get("ALLOCBENCH_REAL_WORKERS", "")
NO_DEVICE = 3  # exit code of a worker (harness/README.md)
KILLS = 4
ROUNDS = 2


def worker_of(backend):
    return pathlib.Path(WORKERS, f"allocbench-worker-{backend}")


def has_device(backend):
    if not worker_of(backend).exists():
        return False
    served = subprocess.run([worker_of(backend), "--serve"], input='{"command":"quit"}\n', capture_output=True, text=True,
                            timeout=60, check=False)
    return served.returncode != NO_DEVICE


class KillsOf:
    backend = ""

    def add_worker(self, backend):
        (self.workers / f"allocbench-worker-{self.backend}").symlink_to(worker_of(self.backend))

    def long_config(self):
        return self.config(["atomic_malloc", "halloc", "cuda_malloc"], sweep={"request_bytes": [16, 64, 256]},
                           workload={"id": "alloc_free", "threads": 512}, pool_bytes="64MiB", repetitions=20, rounds=ROUNDS)

    def start(self, config, *more):
        self.out.mkdir(exist_ok=True)
        return self.start_program("--config", config, "--backend", self.backend, "--out", self.out, "--resume", *more)

    def wait_for_the_workers_to_die(self):
        limit = time.monotonic() + 20  # a driver needs time to release a process
        while self.worker_processes() and time.monotonic() < limit:
            time.sleep(0.01)
        self.assertEqual(self.worker_processes(), [])

    def check_complete(self, statuses):
        events = self.events()
        cells = cell_ids(events)
        self.assertEqual(len(cells), 9)
        self.assertEqual(len(set(cells)), 9, "a cell was logged twice")
        last = ended(events)
        self.assertEqual(set(last), set(cells))
        self.assertEqual({end["status"] for end in last.values()}, statuses)
        for cell in self.results()["allocbench"]["cells"]:
            if cell["status"] == "ok":  # a round takes as many samples as it has time for
                self.assertEqual(len(cell["phases"][0]["rounds"]), ROUNDS)
                self.assertTrue(all(1 <= samples <= 20 for samples in cell["phases"][0]["rounds"]))

    def test_the_program_at_random_moments(self):
        seed = int(os.environ.get("ALLOCBENCH_TEST_SEED", random.randrange(1 << 32)))
        print(f"ALLOCBENCH_TEST_SEED={seed}", flush=True)
        generator = random.Random(seed)
        config = self.long_config()
        finished = {}
        for _ in range(KILLS):
            program = self.start(config)
            time.sleep(generator.uniform(0.05, 2))
            program.send_signal(signal.SIGKILL)
            program.communicate()
            self.wait_for_the_workers_to_die()
            if (self.out / "events.jsonl").exists():
                now = ended(self.events())
                self.assertEqual({cell: now.get(cell) for cell in finished}, finished, "a finished cell was lost")
                finished = now
        self.measure(config, "--backend", self.backend, "--resume", expect=0)
        self.check_complete({"ok"})
        ends = collections.Counter(event["cell"] for event in self.events() if event["event"] == "end")
        self.assertEqual(set(ends.values()), {1}, "a finished cell was measured again")

    def test_a_worker_at_work(self):
        config = self.long_config()
        program = self.start(config)
        killed = 0
        while program.poll() is None and not killed:
            samples = (self.out / "events.jsonl").exists() and '"sample"' in (self.out / "events.jsonl").read_text()
            for process, _ in self.worker_processes() if samples else []:
                os.kill(int(process), signal.SIGKILL)
                killed += 1
            time.sleep(0.005)
        program.communicate()
        self.assertGreater(killed, 0)
        self.check_complete({"ok", "crashed"})
        self.measure(config, "--backend", self.backend, "--only-failed", expect=0)
        self.check_complete({"ok"})


@unittest.skipUnless(has_device("cpu"), "the CPU worker is not built")
class KillsOnCpu(KillsOf, ProgramTest):
    backend = "cpu"


@unittest.skipUnless(has_device("cuda"), "no CUDA worker, or no device for it")
class KillsOnCuda(KillsOf, ProgramTest):
    backend = "cuda"
