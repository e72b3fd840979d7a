"""Checks that `allocbench --dry-run` and the schema accept every example of docs/write-a-config.md.

Usage: test_config_keys.py PROGRAM SOURCE.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path[:0] = [str(SOURCE), str(SOURCE / "python")]
from plots.runs import schema
from plots.texts import config_keys

BASE = {"name": "example", "allocators": ["comb", "halloc", "corw"], "workload": {"id": "alloc_free"}, "sweep": {"request_bytes": [16, 64]}, "pool_bytes": "64MiB"}
# These keys need other keys in the config.
ONE_CELL = {"allocators": ["comb"], "sweep": {}}
WITH = {"least_rounds": {"rounds": 20}, "aged_rounds": {"state": "aged"}, "trace": ONE_CELL, "trace_calls": {**ONE_CELL, "trace": "my.trace"}}
# A plot of each kind needs these keys.
PLOTS = {"lines": {"x": "request_bytes"}, "table": {"x": "request_bytes"}, "heatmap": {"x": "request_bytes", "reference": "comb"}, "histogram": {"histogram": "steps"},
         "scene_table": {"columns": ["request_bytes"], "reference": "comb"}, "status_matrix": {}, "settings_table": {"configs": ["fig3a.json"]},
         "printed_table": {"columns": ["GPU"], "rows": [["GTX 480"]]}}
TABLES = ("settings_table", "printed_table")  # such a config measures nothing
# A config has two axes, of which the second is for panels.
AXES = {"request_bytes": [16, 64], "lanes_per_warp": [1, 32]}
CLAIM = {"says": "Comb is faster.", "source": "sec. 4"}
EFFECTS = ("ratio", "growth", "straight", "step", "crossing", "value", "share", "theory", "unexplained", "correlation")
BOUNDS = ("above", "below", "between")


def config_of(part, key, example):
    if part == "config":
        return {**BASE, **WITH.get(key, {}), key: example}
    if part == "allocator":
        return {**BASE, "allocators": [{"id": "halloc", key: example}]}
    if part == "set":
        return {**BASE, "allocators": [{"set": "one_size", key: example}]}
    if part == "overrides":
        return {**BASE, **WITH.get(key, {}), "overrides": {"halloc": {key: example}}}
    if part == "claim":
        claim = {**CLAIM, key: example}
        if "not_judged" not in claim:
            claim |= {} if any(each in claim for each in EFFECTS) else {"value": {"of": "comb", "phase": "alloc"}}
            claim |= {} if any(each in claim for each in BOUNDS) else {"below": 1}
        return {**BASE, "claims": [claim]}
    plot = {"kind": part, **PLOTS[part], key: example}
    return {"name": "example", "plot": plot} if part in TABLES else {**BASE, "sweep": AXES, "plot": plot}


def examples():
    for part, nodes in config_keys.parts().items():
        for key, node in nodes.items():
            yield part, key, schema.example(node, key)
    for kind, name in schema.kinds().items():
        for key, node in schema.definitions()[name]["properties"].items():
            yield kind, key, schema.example(node, key)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "fig3a.json").write_text(json.dumps(BASE), encoding="utf-8")

    def refusal(self, config):
        """Returns the program's error, or an empty text if it accepts the config."""
        path = self.folder / "example.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        result = subprocess.run([PROGRAM, str(path), "--dry-run", "--backend", "cpu"], capture_output=True, text=True, timeout=120, check=False)
        return "" if result.returncode == 0 else result.stderr

    def test_the_program_and_the_schema_take_every_example(self):
        whole = jsonschema.Draft7Validator(json.loads(schema.PATH.read_text(encoding="utf-8")))
        for part, key, example in examples():
            with self.subTest(part=part, key=key):
                config = config_of(part, key, example)
                self.assertEqual([error.message for error in whole.iter_errors(config)], [])
                self.assertEqual(self.refusal(config), "")

    def test_a_wrong_example_is_refused(self):
        self.assertIn("/overrides/halloc", self.refusal(config_of("overrides", "state", "tired")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
