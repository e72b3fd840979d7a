"""Tests that the tables from results.json equal results.csv of the same run, which the front end's tests write."""

import csv
import json

import pandas
import pytest
import synthetic
from allocbench import frames, stored


@pytest.fixture
def golden(root):
    folder = root / "tests" / "harness" / "golden"
    with (folder / "results.csv").open(newline="", encoding="utf-8") as table:
        return stored.read_document(folder), list(csv.DictReader(table))


def test_numbers_are_those_of_the_table(golden):
    document, rows = golden
    of_cells_that_are_ok = [row for row in rows if row["status"] == "ok"]
    made = frames.values_of(document)
    words = ["cell", "phase", "metric", "unit", "better", "statistic", "flags"]
    order = words[:3]
    expected = pandas.DataFrame(of_cells_that_are_ok)[list(frames.VALUE_COLUMNS)]
    for name in ("value", "low", "high", "confidence", "samples"):
        expected[name] = pandas.to_numeric(expected[name])
    made, expected = (table.sort_values(order, kind="stable", ignore_index=True) for table in (made, expected))
    assert made[words].equals(expected[words])
    pandas.testing.assert_frame_equal(made, expected, check_dtype=False, rtol=1e-9)


def test_cells_are_those_of_the_table(golden):
    document, rows = golden
    expected = {row["cell"]: row for row in rows}
    made = frames.cells_of(document)
    assert list(made.index) == list(expected) and set(made["status"]) > {"ok"}
    for cell, row in made.iterrows():
        for name in ("figure", "series", "allocator", "label", "display_name", "form", "workload", "backend", "device", "uuid", "revision", "state",
                     "status", "reason"):
            assert row[name] == expected[cell][name], name
        assert str(row["pool_bytes"]) == expected[cell]["pool_bytes"]
        for name in frames.OBJECTS:
            assert {key: list(value) if isinstance(value, tuple) else value for key, value in row[name].items()} == json.loads(expected[cell][name])


def test_counters_have_their_intervals(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": 1}, values={("", "steps"): (2.0, 1.0, 3.0), ("", "rounds"): (2.0, None, None)})]
    folder = synthetic.write(tmp_path, {"name": "test", "allocators": ["c_malloc"]}, cells)
    values = frames.values_of(stored.read_document(folder)).set_index("metric")
    assert tuple(values.loc["steps", ["low", "high", "confidence"]]) == (1.0, 3.0, 0.95)
    assert values.loc["rounds", ["low", "high", "confidence"]].isna().all()


def test_the_reason_is_the_first_line_with_words(tmp_path):
    reasons = ["too slow\nlane 3: 7", "\n  too slow \nlane 3: 7", ""]
    cells = [synthetic.cell("c_malloc", {"threads": number}, status="timeout", reason=reason) for number, reason in enumerate(reasons)]
    folder = synthetic.write(tmp_path, {"name": "test", "allocators": ["c_malloc"]}, cells)
    assert list(frames.cells_of(stored.read_document(folder))["reason"]) == ["too slow", "too slow", ""]
