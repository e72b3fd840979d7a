"""Tests seeds.py with a small program in place of the contract suite. This file determines the program's results."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import seeds

# The dictionary has the cases of each seed: the problem, and whether it is listed. Allocator `a` has the cases `churn`
# and `refill`.
PROGRAM = """#!/usr/bin/python3 -B
import json, os, sys
seed = os.environ["ALLOCBENCH_CONTRACT_SEED"]
out = next(argument for argument in sys.argv if argument.startswith("--gtest_output=json:")).partition(":")[2]
ends = json.loads(r'''{ends}''').get(seed, {{}})
tests = []
for case in ("churn", "refill"):
    test = {{"name": "a/" + case}}
    if case in ends:
        problem, listed = ends[case]
        test["problem"] = problem
        if not listed: test["failures"] = [{{"failure": "main.cpp:35\\\\nFailed\\\\n" + problem}}]
    tests.append(test)
json.dump({{"testsuites": [{{"testsuite": tests}}]}}, open(out, "w"))
"""


class Seeds(unittest.TestCase):
    def run_script(self, ends, entries, *more):
        with tempfile.TemporaryDirectory() as folder:
            program, listed, out = (pathlib.Path(folder, name) for name in ("program", "list.json", "seeds.md"))
            program.write_text(PROGRAM.format(ends=json.dumps(ends)), encoding="utf-8")
            program.chmod(0o755)
            listed.write_text(json.dumps(entries), encoding="utf-8")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = seeds.main([str(program), "--seeds", "3", "--list", str(listed), "--out", str(out), *more])
            return code, printed.getvalue(), out.read_text(encoding="utf-8") if out.exists() else None

    def test_a_failure_that_no_entry_lists_fails_the_run(self):
        code, printed, text = self.run_script({"2": {"churn": ["9 of 10 got null", False]}}, [])
        self.assertEqual(code, 1)
        self.assertIn("seed 2: 1 cases fail, 1 of them unlisted", printed)
        self.assertIn("not listed: a/churn, seed 2: 9 of 10 got null", printed)
        self.assertIn("| `a` | `churn` | 2 | 9 of 10 got null | **not listed** |", text)

    def test_listed_failures_pass_and_are_told_with_their_seeds_and_reasons(self):
        entries = [{"allocator": "a", "case": "churn", "backend": "cpu", "varies": True, "reason": "few slabs"},
                   {"allocator": "a", "case": "refill", "reason": "keeps memory"}]
        ends = {seed: {"refill": ["lost", True]} for seed in "123"}
        ends["3"]["churn"] = ["1 null", True]
        ends["1"]["churn"] = ["2 nulls\nand more", True]
        code, _, text = self.run_script(ends, entries)
        self.assertEqual(code, 0)
        self.assertIn("does not list: 0.", text)
        self.assertIn("| `a` | `churn` | 1, 3 | 2 nulls | few slabs |", text)
        self.assertIn("| `a` | `refill` |\n", text)

    def test_an_entry_of_one_case_that_varies_must_be_seen(self):
        entries = [{"allocator": "a", "case": "churn", "backend": "cpu", "varies": True, "reason": "few slabs"},
                   {"allocator": "a", "case": "*", "backend": "cpu", "varies": True, "reason": "unsafe"},
                   {"allocator": "b", "case": "churn", "backend": "cuda", "varies": True, "reason": "elsewhere"}]
        code, printed, _ = self.run_script({"1": {"refill": ["crash", True]}}, entries)
        self.assertEqual(code, 1)
        self.assertIn("listed as varying, but no seed shows it: a/churn", printed)
        self.assertEqual(printed.count("no seed shows it"), 1, printed)
        code, _, text = self.run_script({"1": {"churn": ["1 null", True], "refill": ["crash", True]}}, entries)
        self.assertEqual(code, 0)
        self.assertIn("| `a` | `refill` | 1 | crash | unsafe |", text)

    def test_a_part_of_the_cases_writes_no_summary(self):
        entries = [{"allocator": "c", "case": "churn", "backend": "cpu", "varies": True, "reason": "few slabs"}]
        code, _, text = self.run_script({}, entries, "--only", "a.*")
        self.assertEqual((code, text), (0, None))

    def test_a_program_without_a_report_is_named(self):
        with self.assertRaisesRegex(SystemExit, "wrote no report for seed 1. Run it by hand: ALLOCBENCH_CONTRACT_SEED=1 /bin/false"):
            seeds.main(["/bin/false"])


class KeptList(unittest.TestCase):
    def test_no_entry_has_a_key_twice(self):
        def once(pairs):
            self.assertEqual(len(dict(pairs)), len(pairs), pairs)
            return dict(pairs)

        json.loads(seeds.LIST.read_text(encoding="utf-8"), object_pairs_hook=once)


if __name__ == "__main__":
    unittest.main()
