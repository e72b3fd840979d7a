"""Tests the program with the real CPU worker: planted bugs get their status words, and good allocators get numbers."""

import gzip
import os
import pathlib
import unittest

from support import ProgramTest

WORKERS = os.environ.get("ALLOCBENCH_REAL_WORKERS", "")


@unittest.skipUnless(pathlib.Path(WORKERS, "allocbench-worker-cpu").exists(), "the CPU worker is not built")
class RealWorker(ProgramTest):
    def real_config(self, allocators, **more):
        return self.config(allocators, workload={"id": "alloc_free", "threads": 256}, sweep={"request_bytes": [16, 64]},
                           pool_bytes="16MiB", repetitions=2, **more)

    def environment(self, **more):
        return super().environment(ALLOCBENCH_WORKERS=WORKERS, **more)

    def test_planted_bugs(self):
        self.measure(self.real_config(["atomic_malloc", "saboteur_hang", "saboteur_trap", "saboteur_segfault",
                                       "saboteur_null", "saboteur_overlap", "saboteur_misalign"]), expect=1)
        statuses = self.statuses()
        self.assertEqual({label: set(words) for label, words in statuses.items()}, {
            "atomic_malloc": {"ok"}, "saboteur_hang": {"timeout"}, "saboteur_trap": {"device_fault"},
            "saboteur_segfault": {"crashed"}, "saboteur_null": {"oom"}, "saboteur_overlap": {"incorrect"},
            "saboteur_misalign": {"incorrect"}})

    def test_every_config_of_the_project_is_sound(self):
        configs = pathlib.Path(__file__).resolve().parents[2] / "configs"
        for path in sorted(configs.rglob("*.json")):
            if path.parent.name != "schema":
                with self.subTest(config=str(path.relative_to(configs))):
                    self.run_program("--config", path, "--backend", "cpu", "--print-config", expect=0)

    def test_a_device_heap_allocator(self):
        self.measure(self.real_config(["cuda_malloc"]))
        cell = self.results()["allocbench"]["cells"][0]
        self.assertEqual(cell["metrics"]["device_heap_bytes"], 16 << 20)
        self.assertGreater(cell["phases"][0]["median"], 0)

    def test_ablations_do_not_run_in_applications(self):
        for workload in ("graph_build", "graph_arrays", "group_by", "hash_join", "index_nodes", "kd_tree",
                         "particle_frames", "strings"):
            with self.subTest(workload):
                self.measure(self.config(["scatteralloc_no_reset"], workload={"id": workload},
                                         sweep={"pool_bytes": ["64MiB"]}), "--force")
                cell = self.results()["allocbench"]["cells"][0]
                self.assertEqual(cell["status"], "unsupported")
                self.assertIn("runs only in micro tests", cell["reason"])

    def test_the_state_of_the_heap_is_an_axis(self):
        self.measure(self.config(["kma"], workload={"id": "alloc_free", "threads": 128}, pool_bytes="4MiB", repetitions=2,
                                 sweep={"state": ["fresh", "reused", "aged"]}, aged_rounds=20))
        cells = self.results()["allocbench"]["cells"]
        self.assertEqual([(cell["axes"]["state"], cell["state"], cell["status"], cell.get("aged_rounds")) for cell in cells],
                         [("fresh", "fresh", "ok", None), ("reused", "reused", "ok", None), ("aged", "aged", "ok", 20)])

    def test_the_dry_run_knows_the_device_heap(self):
        result = self.measure(self.real_config(["atomic_malloc", "cuda_malloc"]), "--dry-run")
        self.assertIn("cuda_malloc, pool 16 MiB, device heap 16 MiB", result.stdout)
        self.assertIn("atomic_malloc, pool 16 MiB, device heap 0 B", result.stdout)

    def test_files_come_from_the_folder_of_the_data_option(self):
        graphs = self.folder / "mine" / "graphs"
        graphs.mkdir(parents=True)
        (graphs / "ring.txt.gz").write_bytes(gzip.compress("".join(f"{i} {(i + 1) % 50}\n" for i in range(50)).encode()))
        config = self.config(["atomic_malloc"], workload={"id": "graph_arrays", "batches": 0}, sweep={"graph": ["ring"]},
                             pool_bytes="1MiB")
        self.measure(config)
        self.assertEqual([cell["status"] for cell in self.results()["allocbench"]["cells"]], ["unsupported"])
        self.measure(config, "--force", "--data", "mine")
        self.assertEqual([cell["status"] for cell in self.results()["allocbench"]["cells"]], ["ok"])
        missing = self.measure(config, "--force", "--data", "nowhere", expect=2)
        self.assertIn("nowhere", missing.stderr)
