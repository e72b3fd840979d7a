"""Checks that results.json has the form of python/allocbench/results.schema.json."""

import json
import unittest
from pathlib import Path

import jsonschema

from support import ProgramTest

SCHEMA = Path(__file__).resolve().parents[2] / "python" / "allocbench" / "results.schema.json"


class ResultsSchema(ProgramTest):
    def setUp(self):
        super().setUp()
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        self.validator = jsonschema.Draft7Validator(schema)

    def complaints(self, document):
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300] for error in self.validator.iter_errors(document)]

    def test_runs(self):
        config = self.config(["steady", "noisy", "incorrect", "refusing", "counting"], rounds=7, statistic="mean")
        self.measure(config, expect=1)
        self.assertEqual(self.complaints(self.results()), [])
        self.assertEqual({cell["status"] for cell in self.results()["allocbench"]["cells"]}, {"ok", "incorrect", "unsupported"})

    def test_few_rounds(self):
        self.measure(self.config(["steady", "noisy"], rounds=4, least_rounds=3))
        self.assertEqual(self.complaints(self.results()), [])
        phases = [phase for cell in self.results()["allocbench"]["cells"] for phase in cell["phases"]]
        for phase in phases:
            self.assertEqual(len(phase["few_rounds"]["values"]), len(phase["rounds"]))
            self.assertIsNone(phase["low"])
        written = (self.out / "results.json").read_text(encoding="utf-8")
        (self.out / "results.json").unlink()
        self.run_program("report", self.out)
        self.assertEqual((self.out / "results.json").read_text(encoding="utf-8"), written, "the log has it all")

    def test_a_run_that_was_cut(self):
        self.measure(self.config(["steady"], rounds=8, least_rounds=8))
        path = self.out / "events.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines = [line for line in lines if not line.startswith('{"event":"end"')]
        second_round = next(place for place, line in enumerate(lines) if '"round":1,' in line)
        for kept, provisional in ((lines, {None}), (lines[:second_round], {True})):
            path.write_text("".join(kept), encoding="utf-8")
            self.run_program("report", self.out, expect=1)
            cells = self.results()["allocbench"]["cells"]
            self.assertEqual({cell["stop"] for cell in cells}, {"not finished"})
            self.assertEqual({cell.get("provisional") for cell in cells}, provisional)
            self.assertEqual(self.complaints(self.results()), [])

    def test_what_the_schema_forbids(self):
        self.measure(self.config(["steady", "incorrect"]), expect=1)
        failed = next(i for i, cell in enumerate(self.results()["allocbench"]["cells"]) if cell["status"] == "incorrect")
        for path, value in ((("cells", failed, "phases"), []), (("cells", 0, "status"), "fine"), (("cells", failed, "provisional"), True), (("provenance", "dirty"), 0),
                            (("cells", 0, "phases", 0, "samples", 0), -1.0),
                            (("cells", 0, "phases", 0, "few_rounds"), {"values": [1.0, 1.0, 1.0]}), (("more",), 1)):
            document = self.results()
            part = document["allocbench"]
            for step in path[:-1]:
                part = part[step]
            part[path[-1]] = value
            with self.subTest(path=path):
                self.assertNotEqual(self.complaints(document), [])


if __name__ == "__main__":
    unittest.main()
