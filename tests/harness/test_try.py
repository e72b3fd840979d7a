"""Tests `allocbench try`: a hand-made trace is replayed under real allocators, and errors in a trace are reported at
once.
"""

import json
import pathlib
import unittest

import numpy
from support import ProgramTest

NO_BLOCK = 0xFFFFFFFF
MALLOC, FREE = 0, 1


class TryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.real = self.real_workers("atomic_malloc", "comb")

    def trace(self, calls, kernels, name="my.trace", lost=0):
        """Writes a trace. `calls` has (thread, operation, bytes, block). `kernels` has the number of calls of each
        kernel. Each kernel has 2 blocks of 32 threads.
        """
        folder = self.folder / name
        folder.mkdir()
        columns = {"thread": "<u4", "operation": "|u1", "bytes": "<u8", "block": "<u4"}
        for (column, kind), values in zip(columns.items(), zip(*calls)):
            numpy.save(folder / f"{column}.npy", numpy.array(values, dtype=kind))
        numpy.save(folder / "alignment.npy", numpy.zeros(len(calls), dtype="|u1"))
        (folder / "trace.json").write_text(json.dumps({
            "format": "allocbench-trace", "version": 1, "allocator": "comb", "pool_bytes": 1 << 20, "clock": None,
            "kernels": [{"name": f"k{number}", "blocks": 2, "threads_per_block": 32, "calls": count, "lost": lost}
                        for number, count in enumerate(kernels)]}), encoding="utf-8")
        return folder

    def good_trace(self, **more):
        mallocs = [(thread, MALLOC, 16 + thread, thread) for thread in range(64)]
        return self.trace([*mallocs, *((thread, FREE, 0, 63 - thread) for thread in range(64))], [64, 64], **more)

    def try_it(self, trace, *more, expect=0):
        return self.run_program("try", trace, "--backend", "cpu", "--workers", self.real, "--out", self.out, *more, expect=expect)

    def test_every_allocator_makes_every_call(self):
        result = self.try_it(self.good_trace())
        self.assertIn("my.trace: 128 calls in 2 kernels, recorded with comb; pool of 64 MiB\n", result.stderr)
        self.assertRegex(result.stdout, r"(?s)^Which allocator for my\.trace\?.*\nrank +allocator.*\n1=? +(Comb|AtomicMalloc)")
        cells = {cell["allocator"]: cell for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(sorted(cells), ["atomic_malloc", "comb"])
        for cell in cells.values():
            self.assertEqual((cell["status"], cell["counters"]["mallocs"], cell["counters"]["frees"]), ("ok", 64, 64), cell["reason"])
            self.assertEqual(cell["counters"]["requested_bytes"], sum(16 + thread for thread in range(64)))
        again = self.try_it(self.folder / "my.trace", expect=2)
        self.assertIn("already contains a run with 2 finished cells. Use --resume", again.stderr)

    def test_a_pool_may_be_chosen_and_null_is_counted(self):
        result = self.try_it(self.trace([(0, MALLOC, 1 << 16, 0), (1, MALLOC, 1 << 20, 1), (1, FREE, 0, 1)], [3]), "--pool", "1MiB", "--quiet", "--filter",
                             "atomic", expect=2)
        self.assertIn("--filter", result.stderr)  # all allocators are tried
        self.try_it(self.folder / "my.trace", "--pool", "1MiB", "--quiet", expect=1)
        cell = next(cell for cell in self.results()["allocbench"]["cells"] if cell["allocator"] == "atomic_malloc")
        self.assertEqual((cell["pool_bytes"], cell["status"], cell["counters"]["null_returns"], cell["counters"]["frees"]), (1 << 20, "ok", 1, 0))

    def test_known_results_are_used(self):
        trace = self.good_trace()
        self.try_it(trace)
        known = self.folder / "known"
        self.out.rename(known)
        (self.folder / "none").mkdir()
        self.assertIn("--known: ", self.try_it(trace, "--known", self.folder / "none", "--dry-run", expect=2).stderr)
        self.assertFalse(self.out.exists())
        self.try_it(trace, "--known", known)

    def test_workers_get_the_folder_of_data(self):
        result = self.run_program("try", self.good_trace(), "--data", self.folder, "--backend", "cpu", "--out", self.out, expect=2)
        self.assertIn('unknown workload "replay"', result.stderr)  # of the fake worker
        self.assertEqual(set(pathlib.Path(f"{self.notes}.data").read_text(encoding="utf-8").splitlines()), {str(self.folder)})

    def test_the_command_to_continue_repeats_the_pool(self):
        result = self.try_it(self.good_trace(), "--pool", "1MiB", "--minutes", 0, expect=1)
        self.assertIn(f" --pool {1 << 20} ", result.stderr.split("Continue with\n")[1])

    def test_lost_calls_are_told(self):
        self.assertIn("14 calls were lost while the trace was recorded", self.try_it(self.good_trace(lost=7)).stderr)

    def test_a_plan_is_printed_and_nothing_is_written(self):
        self.assertIn("try/my/comb", self.try_it(self.good_trace(), "--dry-run").stdout)
        self.assertFalse(self.out.exists())

    def test_wrong_traces_get_one_sentence(self):
        circle = self.trace([(0, FREE, 0, 3), (0, MALLOC, 8, 1), (1, FREE, 0, 1), (1, MALLOC, 8, 3)], [4], name="circle")
        double = self.trace([(0, MALLOC, 8, 0), (0, FREE, 0, 0), (1, FREE, 0, 0)], [3], name="double")
        result = self.try_it(circle, expect=1)
        self.assertIn("No allocator served all requests.", result.stdout)
        self.assertIn("the two wait for each other (call 0 frees block 3)", " ".join(result.stdout.split()))
        for trace, told in ((double, "call 2 (kernel k0): frees block 0, which call 1 freed before.\n"),
                            (self.folder / "nowhere", "trace.json cannot be opened: a trace is a folder with trace.json and NumPy arrays.\n")):
            with self.subTest(told=told):
                errors = self.try_it(trace, "--force", expect=2).stderr
                self.assertTrue(errors.endswith(told), errors)
                self.assertEqual(errors.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
