"""Tests the output of `list` and `describe`: names, papers and parameters, for people and programs."""

import json

from support import ProgramTest


class Catalogue(ProgramTest):
    def test_list_hides_what_only_tests_need(self):
        self.assertNotIn("deaf", self.run_program("list", expect=0).stdout)
        self.assertIn("deaf", self.run_program("list", "allocators", "--all", expect=0).stdout)

    def test_list_as_json(self):
        listing = json.loads(self.run_program("list", "--json", expect=0).stdout)
        self.assertEqual(list(listing), ["allocators", "workloads", "metrics"])
        self.assertEqual(listing["workloads"][0]["name"], "pulse")
        self.assertEqual(list(json.loads(self.run_program("list", "metrics", "--json", expect=0).stdout)), ["metrics"])

    def test_both_back_ends_are_named(self):
        self.add_worker("cuda")
        allocators = json.loads(self.run_program("list", "allocators", "--json", expect=0).stdout)["allocators"]
        self.assertEqual(allocators[0]["backends"], ["cpu", "cuda"])

    def test_describe(self):
        text = self.run_program("describe", "steady", expect=0).stdout
        for part in ("steady (Steady), allocator", "paper: Nobody 2026", "page_bytes = 4 KiB",
                     "a power of two, at least 16 B, at most 64 KiB", "source: assumed"):
            self.assertIn(part, text)
        self.assertIn("phases: alloc, free", self.run_program("describe", "pulse", expect=0).stdout)
        self.assertIn("Time of a phase. [s] (lower is better)", self.run_program("describe", "time", expect=0).stdout)
        self.assertEqual(json.loads(self.run_program("describe", "pulse", "--json", expect=0).stdout)["name"], "pulse")

    def test_a_typo_gets_the_nearest_name(self):
        self.assertIn('did you mean "steady"?', self.run_program("describe", "staedy", expect=2).stderr)
