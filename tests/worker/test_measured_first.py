"""Tests a cell that is measured first and verified afterwards: limits, stages and verdicts."""

import unittest

from worker_process import QUIT, allocator, events, on, open_cell, serve, serve_with_whole_leak_check


class MeasuredFirst(unittest.TestCase):
    """These tests verify a cell after its samples."""

    def verified(self, name, cell, *commands, pool_bytes=1 << 22, **limits):
        """Returns the verification after a sample, and the later events."""
        answers, code = serve(allocator(name, pool_bytes), cell, on("sample"), {**on("verify"), **limits}, *commands, QUIT)
        self.assertEqual(([a["event"] for a in answers[:4]], code),
                         (["allocator_ready", "opened", "sample", "verified"], 0), answers)
        return answers[3], answers[4:]

    def test_few_callers_where_the_passes_take_too_long(self):
        cell = open_cell("alloc_free", threads=5000)
        found, _ = self.verified("comb", cell, contents_seconds=0)
        self.assertEqual({name: found["checks"][name] for name in ("content", "null_returns", "blocks")},
                         {"content": "checked: 1,024 of 5,000 callers", "null_returns": 0, "blocks": 5000})
        self.assertEqual(found["counted"], {"values": {}, "histograms": {}})
        self.assertRegex(found["checks"]["leak"], "^(checked|partial: .*)$")
        self.assertRegex(found["checks"]["reset"], "^(checked|partial): ")
        found, _ = self.verified("comb", open_cell("alloc_free", threads=500), contents_seconds=0)
        self.assertEqual((found["checks"]["content"], found["counted"]["values"]), ("checked", {}))
        large = open_cell("alloc_free", threads=1000, request_bytes=65536)
        found, _ = self.verified("atomic_malloc", large, contents_seconds=0, pool_bytes=1 << 27)
        self.assertEqual(found["checks"]["content"], "checked: 64 of 1,000 callers", "4 MiB")

    def test_all_callers_where_there_is_time(self):
        for limits in ({}, {"contents_seconds": 1000}):
            found, _ = self.verified("comb", open_cell("alloc_free", threads=5000), **limits)
            self.assertEqual((found["checks"]["content"], found["checks"]["blocks"]), ("checked", 5000))
            self.assertEqual(len(found["counted"]["values"]["steps_per_malloc"]), 1)

    def test_the_expected_time_is_that_of_all_passes(self):
        answers, _ = serve(allocator("comb"), open_cell("alloc_free", threads=5000), {**on("sample"), "samples": 2}, QUIT)
        repetition = answers[-1]["wall_seconds"]
        cell = {**open_cell("alloc_free", threads=5000), "counted_passes": 1000}
        found, _ = self.verified("comb", cell, contents_seconds=100 * repetition)
        self.assertEqual(found["checks"]["content"], "checked: 1,024 of 5,000 callers")
        cell["counted_passes"] = 1
        found, _ = self.verified("comb", cell, contents_seconds=100 * repetition)
        self.assertEqual(found["checks"]["content"], "checked")

    def test_a_cell_that_was_not_sampled_is_checked_whole(self):
        answers, _ = serve(allocator("comb"), open_cell("alloc_free", threads=5000), {**on("verify"), "contents_seconds": 0},
                           QUIT)
        self.assertEqual((answers[-1]["checks"]["content"], answers[-1]["checks"]["blocks"]), ("checked", 5000))
        self.assertGreater(len(answers[-1]["counted"]["values"]), 0)

    def test_few_callers_of_designs_with_rules_of_their_own(self):
        # These allocators free in bulk (in the device heap and on a pool), never free, reuse blocks without a free, or
        # have two heaps.
        for name in ("fdgmalloc", "fdgmalloc_reworked_on_kma", "atomic_malloc", "aw_malloc", "halloc"):
            with self.subTest(name):
                found, _ = self.verified(name, open_cell("alloc_free", threads=2048), contents_seconds=0, pool_bytes=1 << 23)
                self.assertEqual(found["checks"]["content"], "checked: 1,024 of 2,048 callers")
                self.assertEqual(found["counted"]["values"], {})

    def test_applications_are_checked_by_their_samples(self):
        cell = open_cell("array_list", threads=4096, iterations=16)
        profile = {"command": "profile"}
        found, after = self.verified("comb", cell, profile, pool_bytes=1 << 26)
        sampled = after[-1]["seconds"]
        answers, _ = serve(allocator("comb", 1 << 26), cell, on("verify"), profile, QUIT)
        self.assertEqual(found["checks"]["content"], "checked")
        for name in ("null_returns", "blocks"):
            self.assertEqual(found["checks"][name], answers[2]["checks"][name], name)
        self.assertLess(sampled["contents"], answers[3]["seconds"]["contents"] / 4, "no pass of its own")

    LATE = "not finished: its calls took longer than 0 s"

    def test_a_stage_that_takes_too_long_takes_no_number_away(self):
        found, after = self.verified("comb", open_cell("alloc_free", threads=96), on("sample"), {**on("verify"), "seconds": 1000},
                                     on("sample"), seconds=0)
        self.assertEqual(found["checks"], {"null_returns": 0, "blocks": 96, "content": self.LATE, "leak": self.LATE,
                                           "reset": self.LATE})
        self.assertEqual(found["counted"], {"values": {}, "histograms": {}})
        self.assertNotIn("stale", found)
        self.assertEqual([a["event"] for a in after], ["sample", "verified", "sample"])
        self.assertEqual(after[1]["checks"]["content"], "checked")
        self.assertRegex(after[1]["checks"]["leak"], "^(checked|partial: .*)$")

    def test_a_deadline_takes_no_number_away_whenever_it_comes(self):
        for seconds in (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05):
            with self.subTest(seconds):
                self.verified("comb", open_cell("alloc_free", threads=3000), on("sample"), seconds=seconds)

    def test_stages_that_call_nothing_have_their_verdicts(self):
        found, _ = self.verified("atomic_malloc", open_cell("alloc_free", threads=96), seconds=0)
        self.assertEqual((found["checks"]["content"], found["checks"]["leak"]), (self.LATE, "waived: AtomicMalloc never frees"))

    # Checks after calls that ended half-way say nothing about the allocator, and the deadline of these calls does not
    # apply to later checks.
    def test_nothing_of_a_late_stage_is_kept_for_later_cells(self):
        late = {**on("verify"), "seconds": 0}
        answers, code = serve(allocator("comb"), open_cell("alloc_free", threads=96), open_cell("alloc_free", "b", threads=96),
                              late, on("sample", "b"), on("verify", "b"), QUIT)
        self.assertEqual(([a["event"] for a in answers[3:]], code), (["verified", "sample", "verified"], 0), answers[-1])
        self.assertEqual(answers[-1]["checks"]["content"], "checked")
        self.assertRegex(answers[-1]["checks"]["leak"], "^(checked|partial: .*)$")
        self.assertRegex(answers[-1]["checks"]["reset"], "^(checked|partial): 512 blocks|^partial: .*512 blocks")

    def test_what_only_a_process_makes_new_is_stale(self):
        found, _ = self.verified("cuda_malloc", open_cell("alloc_free", threads=96), seconds=0)
        after = "not finished: calls of an earlier check ended half-way"
        self.assertEqual([found["checks"][name] for name in ("content", "leak", "reset")], [self.LATE, after, after])
        self.assertIs(found["stale"], True)

    def test_a_wrong_result_is_a_failure_after_a_sample_too(self):
        for fault, words in (("leak", "leak: "), ("reset", "after a reset() of the full pool")):
            with self.subTest(fault):
                answers, _ = serve_with_whole_leak_check(
                    allocator("saboteur_" + fault), open_cell("alloc_free", threads=1000), on("sample"),
                    {**on("verify"), "seconds": 1000, "contents_seconds": 0}, QUIT)
                self.assertEqual([a["event"] for a in answers[2:]], ["sample", "failed"])
                self.assertEqual(answers[-1]["status"], "incorrect")
                self.assertIn(words, answers[-1]["reason"])
