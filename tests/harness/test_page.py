"""Tests that `report --html` and `advise` start the Python package, pass on its output and exit codes, and name what is
missing.
"""

import importlib.util
import unittest

from support import ProgramTest

LACKING = [name for name in ("plotly", "markdown", "pandas", "matplotlib", "jsonschema") if importlib.util.find_spec(name) is None]


class Page(ProgramTest):
    def test_the_package_is_named_where_it_is_missing(self):
        result = self.run_program("advise", "--sizes", "16", expect=3, environment=self.environment(ALLOCBENCH_PLOTS=str(self.folder)))
        self.assertIn(f"{self.folder} does not contain the Python package plots. Set ALLOCBENCH_PLOTS", result.stderr)

    def test_python_is_named_where_it_is_missing(self):
        result = self.run_program("advise", expect=3, environment=self.environment(ALLOCBENCH_PYTHON="/no/such/python"))
        self.assertIn("Cannot start /no/such/python: No such file or directory. Install it (apt-get install python3), or set ALLOCBENCH_PYTHON to another Python.", result.stderr)

    def test_out_needs_html(self):
        self.assertIn("--html", self.run_program("report", self.out, "--out", "page.html", expect=2).stderr)

    def test_the_name_of_the_page_needs_out(self):
        result = self.run_program("report", self.out, "--html", "page.html", expect=2)
        self.assertIn("page.html is not a folder of runs. To name the page: --html --out page.html", result.stderr)

    @unittest.skipIf(LACKING, f"this Python lacks {', '.join(LACKING)}")
    def test_a_run_becomes_a_page(self):
        self.measure(self.config())
        (self.out / "results.json").unlink()
        page = self.folder / "page.html"
        result = self.run_program("report", self.out, "--html", "--out", page, expect=0)
        self.assertEqual(result.stdout.split(), [str(page)])
        self.assertTrue(all(line.startswith("allocbench report --html: ") for line in result.stderr.splitlines()), result.stderr)
        text = page.read_text(encoding="utf-8")
        self.assertIn("test/figure", text)
        self.assertIn("Not measured: these results contain no results of the guide.", text)

    @unittest.skipIf(LACKING, f"this Python lacks {', '.join(LACKING)}")
    def test_a_damaged_log_is_listed_and_the_rest_is_shown(self):
        self.measure(self.config())
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "events.jsonl").write_text("no event\n")
        page = self.folder / "page.html"
        result = self.run_program("report", self.out, broken, "--html", "--out", page, expect=2)
        self.assertIn(f"{broken}/events.jsonl:1", result.stderr)
        self.assertNotIn("contains no results.json", result.stderr, "the log is why")
        text = page.read_text(encoding="utf-8")
        self.assertIn(f"{broken}/events.jsonl:1", text)
        self.assertIn("test/figure", text)

    def test_tables_of_readable_runs_are_printed_beside_others(self):
        self.measure(self.config())
        for name, text in (("a", "no event\n"), ("z", "")):
            (self.out / name).mkdir()
            (self.out / name / "events.jsonl").write_text(text)
        result = self.run_program("report", self.out, expect=2)
        self.assertIn(f"{self.out}/a/events.jsonl:1", result.stderr)
        self.assertIn("test/figure", result.stdout)

    @unittest.skipIf(LACKING, f"this Python lacks {', '.join(LACKING)}")
    def test_words_pass_unchanged(self):
        result = self.run_program("advise", "--sizes", "big", "--threads", "1", "--pool", "1GiB", expect=2)
        self.assertIn("--sizes 'big' is not a size in bytes. Write 48, 4KiB or 16-4096", result.stderr)
        for words in (("advise", "--help"), ("help", "advise")):
            self.assertIn("usage: allocbench advise", self.run_program(*words, expect=0).stdout)
        self.assertIn("contains no run", self.run_program("report", self.folder, "--html", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
