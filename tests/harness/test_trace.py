"""Tests `"trace": FOLDER` in a config, and `allocbench try CONFIG`: they record the calls of a real worker's cell, for
any workload.
"""

import json
import pathlib
import sys
import unittest

from support import ProgramTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import allocbench  # noqa: E402

KD_TREE = {"id": "kd_tree", "scene": "terrain", "triangles": 512, "blocks": 4}


class TraceTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.real = self.real_workers("atomic_malloc", "comb")

    def job(self, workload, allocators=("comb",), **more):
        # A recording gets a share of the deadline, and takes seconds under ThreadSanitizer on a busy machine.
        return self.config(allocators, workload=workload, sweep={}, pool_bytes="16MiB", repetitions=1, warmups=0, deadline_s=60, **more)

    def record(self, workload, *options, expect=0, **more):
        return self.run_program("--config", self.job(workload, **{"trace": "a.trace", **more}), "--backend", "cpu", "--workers", self.real, "--out", self.out,
                                "--force", *options, expect=expect)

    def try_it(self, path, *more, expect=0):
        return self.run_program("try", path, "--backend", "cpu", "--workers", self.real, "--out", self.out, *more, expect=expect)

    def test_a_micro_test_is_recorded_under_any_allocator(self):
        for name in ("comb", "atomic_malloc"):
            with self.subTest(name):
                result = self.record({"id": "alloc_free", "threads": 96, "request_bytes": 48}, allocators=(name,), trace=name)
                self.assertIn(f"trace in {name}: 192 calls in 2 kernels\n", result.stderr)
                calls = allocbench.read_trace(self.folder / name)
                self.assertEqual(calls.groupby(["name", "operation"], observed=True).size().to_dict(), {("AllocKernel", "malloc"): 96, ("FreeKernel", "free"): 96})
                self.assertEqual(set(calls[calls.operation == "malloc"].bytes), {48})
                self.assertEqual(self.results()["allocbench"]["cells"][0]["checks"]["trace"], "192 calls in 2 kernels")

    def test_calls_that_are_lost_are_counted_and_told(self):
        result = self.record({"id": "alloc_free", "threads": 1000, "request_bytes": 16}, trace_calls=64)
        kernels = json.loads((self.folder / "a.trace/trace.json").read_text(encoding="utf-8"))["kernels"]
        self.assertTrue(all(kernel["calls"] + kernel["lost"] == 1000 and kernel["lost"] > 0 for kernel in kernels), kernels)
        self.assertIn(f"; lost: {sum(kernel['lost'] for kernel in kernels)} calls, raise trace_calls\n", result.stderr)

    def test_what_cannot_be_recorded_is_said(self):
        for told, code, workload, more in (
                ("/trace: a trace needs a config with one cell; this one makes 2. Choose a cell with --filter", 2, {"id": "alloc_free"},
                 {"allocators": ("comb", "atomic_malloc")}),
                ("no trace in b.trace: unsupported: AtomicMalloc has no form of this workload's kernels that leaves a trace. Record it with comb", 0, KD_TREE, {"allocators": ("atomic_malloc",)}),
                ("/trace_calls\n      found:   no trace is recorded", 2, {"id": "alloc_free"}, {"trace": None, "trace_calls": 5}),
                ("/trace\n      found:   5", 2, {"id": "alloc_free"}, {"trace": 5})):
            with self.subTest(told=told):
                path = self.job(workload, more.pop("allocators", ("comb",)), **{"trace": "b.trace", **more})
                if more.get("trace", "") is None:
                    document = json.loads(path.read_text(encoding="utf-8"))
                    del document["trace"]
                    path.write_text(json.dumps(document), encoding="utf-8")
                result = self.run_program("--config", path, "--backend", "cpu", "--workers", self.real, "--out", self.out, "--force", expect=code)
                self.assertIn(told, result.stderr)
                self.assertFalse((self.folder / "b.trace").exists())
        self.record({"id": "alloc_free", "threads": 32})
        self.assertIn("a.trace already contains a trace. Choose another folder, or remove this trace.", self.record({"id": "alloc_free", "threads": 32}, expect=2).stderr)

    def test_the_only_cell_may_be_chosen(self):
        result = self.record({"id": "alloc_free", "threads": 32}, "--filter", "/comb$", allocators=("comb", "atomic_malloc"))
        self.assertIn("trace in a.trace: 64 calls", result.stderr)

    def test_a_job_is_recorded_and_its_replay_has_its_statistics(self):
        self.try_it(self.job(KD_TREE, ("atomic_malloc",)))
        calls = allocbench.read_trace(self.out / "config.trace")
        served = calls[(calls.operation == "malloc") & (calls.block >= 0)]
        self.assertGreater(len(served), 500)
        cells = {cell["allocator"]: cell for cell in self.results()["allocbench"]["cells"]}
        self.assertEqual(sorted(cells), ["atomic_malloc", "comb"])
        counters = cells["comb"]["counters"]
        self.assertEqual((counters["mallocs"], counters["frees"], counters["requested_bytes"]),
                         (len(served), (calls.operation == "free").sum(), served.bytes.sum()))

    def test_a_config_of_several_jobs_is_refused(self):
        path = self.config(("comb",), workload={"id": "alloc_free"})
        self.assertIn("`try` needs a config with one job, but it makes 3 jobs (/sweep/request_bytes: 3). Give each axis one value, or put the value into `workload`.",
                      self.try_it(path, expect=2).stderr)
        path = self.config(("comb",), workload={"id": "alloc_free"}, sweep={"threads": [32, 64, 96], "request_bytes": [16, 32], "lanes_per_warp": [32]})
        self.assertIn("it makes 6 jobs (/sweep/threads: 3, /sweep/request_bytes: 2).", self.try_it(path, expect=2).stderr)
        path = self.job({"id": "alloc_free", "threads": 0})
        self.assertIn("/workload/threads\n      found:   0\n", self.try_it(path, expect=2).stderr)
        self.assertFalse(self.out.exists())

    def test_a_job_that_fails_names_its_reason(self):
        errors = self.try_it(self.job({"id": "alloc_free", "threads": 4096, "request_bytes": 65536}), expect=3).stderr
        self.assertIn("config.json left no trace: oom: ", errors)

    def test_the_plan_of_the_recording_is_printed(self):
        self.assertIn("test/figure/comb", self.try_it(self.job(KD_TREE, ("atomic_malloc",)), "--dry-run").stdout)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
