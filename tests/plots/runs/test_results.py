"""Tests that results.json is read as tables."""

import gzip
import lzma

import pytest
from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError
import synthetic
from readback import has_values, value_of

from plots.runs import origin, results

CONFIG = {"name": "test", "allocators": ["c_malloc", {"id": "aw_malloc"}], "plot": {"kind": "lines", "x": "threads"}}


def test_reads_values_with_intervals_flags_and_samples(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 3e-6)}, flags="throttled")
    run = results.read_run(synthetic.write(tmp_path, CONFIG, [cell]))
    value = value_of(run, 0, "alloc", "time")
    assert (value["value"], value["low"], value["high"], value["unit"], value["samples"]) == (2e-6, 1e-6, 3e-6, "s", 5)
    assert value["flags"] == ["throttled"]
    assert list(run.column("threads")) == [64] and isinstance(run.column("threads").iloc[0], int)
    assert list(run.column("pool_bytes")) == [1 << 26]
    assert list(run.column("no such setting")) == [None]


def test_a_swept_setting_goes_before_one_of_the_workload_or_the_allocator(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, workload_parameters={"threads": 1, "lanes": [1, 2]},
                          allocator_parameters={"threads": 2, "page_bytes": 3}, values={("alloc", "time"): 1.0})
    run = results.read_run(synthetic.write(tmp_path, CONFIG, [cell, synthetic.cell("aw_malloc", {}, workload_parameters={}, status="oom")]))
    assert list(run.column("threads")) == [64, None] and list(run.column("page_bytes")) == [3, None]
    assert run.column("lanes").iloc[0] == (1, 2)


@pytest.mark.parametrize("ending, pack", [("gz", gzip.compress), ("xz", lzma.compress)])
def test_reads_packed_files(tmp_path, ending, pack):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 3e-6)})
    folder = synthetic.write(tmp_path, CONFIG, [cell])
    plain = results.read_run(folder)
    (folder / f"results.json.{ending}").write_bytes(pack((folder / "results.json").read_bytes()))
    (folder / "results.json").unlink()
    assert stored.find_runs(tmp_path) == [folder]
    packed = results.read_run(folder)
    assert packed.values.equals(plain.values) and packed.cells.equals(plain.cells) and packed.config == plain.config
    assert stored.content_of(folder, "results.json").startswith(b"{") and packed.kept_as == folder.name
    (folder / f"results.json.{ending}").write_bytes(b"no archive")
    with pytest.raises(UsageError, match=f"results.json.{ending} cannot be unpacked"):
        results.read_run(folder)


def test_a_cell_that_is_not_ok_loses_its_values_even_if_the_file_holds_some(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": 64}, status=status, values={("alloc", "time"): 1.0})
             for status in stored.STATUSES]
    run = results.read_run(synthetic.write(tmp_path, CONFIG, cells))
    assert [has_values(run, number) for number in range(len(run.cells))] == [status == "ok" for status in stored.STATUSES]


def test_allocators_come_in_config_order_and_unknown_ones_last(tmp_path):
    cells = [synthetic.cell(name, {"threads": 1}, values={("alloc", "time"): 1.0})
             for name in ("other", "aw_malloc", "c_malloc")]
    assert results.read_run(synthetic.write(tmp_path, CONFIG, cells)).allocators() == ["c_malloc", "aw_malloc", "other"]


def test_allocators_chosen_by_a_word_for_all_come_by_name_whatever_the_log_says(tmp_path):
    cells = [synthetic.cell(name, {"threads": 1}) for name in ("rw", "comb", "halloc")]
    assert results.read_run(synthetic.write(tmp_path, {**CONFIG, "allocators": ["halloc", "all"]}, cells)).allocators() == ["halloc", "comb", "rw"]


@pytest.mark.parametrize("old, new, expected", [
    ('"median": 1.0', '"median": 1.0', None),
    ('"median": 1.0', '"median": NaN', "is not JSON (NaN is not a JSON number)"),
    ('"median": 1.0', '"median": "fast"', "/cells/0/phases/0/median: 'fast' is not of type 'number'"),
    ('"median": 1.0', '"median": 1e308', "/median: 1e+308 is greater than the maximum of 10000000.0"),
    ('"median": 1.0', '"median": -1.0', "/median: -1.0 is less than the minimum of 0"),
    ('"low": 0.95', '"low": -0.95', "/low: -0.95 is less than the minimum of 0"),
    ('"median": 1.0', '"median": null', "/median: None is not of type 'number'"),
    ('"median": 1.0, ', '', "/phases/0 has no 'median', the statistic of its config"),
    ('"ok"', '"fine"', "/cells/0/status: 'fine' is not one of ['ok',"),
    ('"axes"', '"axis"', "/cells/0: 'axes' is a required property"),
    ('{"threads": 64}', '{"threads": 64', "is not JSON"),
])
def test_damaged_files_are_refused_with_the_place(tmp_path, old, new, expected):
    folder = synthetic.write(tmp_path, CONFIG,
                             [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})])
    text = (folder / "results.json").read_text()
    assert old in text
    (folder / "results.json").write_text(text.replace(old, new))
    (folder / "events.jsonl").write_text("")
    if expected is None:
        results.read_run(folder)
        return
    with pytest.raises(UsageError) as error:
        results.read_run(folder)
    assert expected in str(error.value) and "results.json" in str(error.value) and "allocbench report" in str(error.value)


def test_date_and_unfinished_cells_come_from_the_json(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})
    run = results.read_run(synthetic.write(tmp_path, CONFIG, [cell], unfinished=3))
    assert (run.date, run.unfinished, run.not_measured) == ("2026-01-02", 3, 3)
    assert "not measured: 3 planned cells of the run" in origin.lines(run)[-1]


def test_a_log_continued_later_names_all_its_revisions(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1.0}, revision=revision)
             for x, revision in ((1, "late"), (2, "early"), (3, "early"))]
    assert "allocbench 0.1.0 (early, late)" in origin.lines(results.read_run(synthetic.write(tmp_path, CONFIG, cells)))[-1]


def test_missing_and_empty_results_say_what_to_do(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, [])
    with pytest.raises(NothingToDraw, match="contains no cell"):
        results.read_run(folder)
    (folder / "results.json").unlink()
    with pytest.raises(NothingToDraw, match="contains no results.json, and no events.jsonl"):
        results.read_run(folder)
    (folder / "events.jsonl").write_text("")
    with pytest.raises(NothingToDraw, match="contains no results.json.*allocbench report"):
        results.read_run(folder)


@pytest.mark.parametrize("document, expected", [
    ("{", r"results.json:1 is not JSON"), ("[]", "was not written by allocbench"), ("{\"benchmarks\": []}", "was not written by allocbench"),
    ("{\"allocbench\": {\"format\": 99}}", "has the format 99; this version reads 2"),
    ("{\"allocbench\": {\"format\": 1}}", "has the format 1; this version reads 2")])
def test_foreign_and_future_documents_are_refused(tmp_path, document, expected):
    folder = synthetic.write(tmp_path, CONFIG, [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})])
    (folder / "results.json").write_text(document)
    with pytest.raises(UsageError, match=expected) as refused:
        results.read_run(folder)
    assert ("is not JSON" in expected) == ("There is no events.jsonl beside it" in str(refused.value)), "where it could come from"


@pytest.mark.parametrize("ending, pack", [("gz", gzip.compress), ("xz", lzma.compress)])
def test_truncated_archives_are_refused(tmp_path, ending, pack):
    folder = synthetic.write(tmp_path, CONFIG, [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})])
    whole = pack((folder / "results.json").read_bytes())
    (folder / "results.json").unlink()
    (folder / f"results.json.{ending}").write_bytes(whole[:len(whole) // 2])
    with pytest.raises(UsageError, match=f"results.json.{ending} cannot be unpacked"):
        results.read_run(folder)


def test_time_per_batch_is_a_share_of_phases_that_hold_all_batches(tmp_path):
    values = {("init", "time"): 8e-6, ("insert", "time"): (8e-6, 4e-6, 16e-6)}
    cells = [synthetic.cell("c_malloc", {"threads": x}, values=values, workload_parameters={"threads": x, "batches": batches})
             for x, batches in ((1, 4), (2, 0))]
    run = results.read_run(synthetic.write(tmp_path, {"name": "test"}, cells))
    value = value_of(run, 0, "insert", "time_per_batch")
    assert (value["value"], value["low"], value["high"], value["unit"]) == (2e-6, 1e-6, 4e-6, "s")
    assert value_of(run, 0, "init", "time_per_batch") is None and value_of(run, 1, "insert", "time_per_batch") is None


def test_time_per_operation_follows_from_time_and_operations(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 4e-6), ("alloc", "operations"): 20.0,
                                                                 ("free", "time"): 1e-6, ("", "requested_bytes"): 320.0}),
             synthetic.cell("c_malloc", {"threads": 1}, status="oom", values={("alloc", "time"): 1.0, ("alloc", "operations"): 2.0})]
    run = results.read_run(synthetic.write(tmp_path, CONFIG, cells))
    value = value_of(run, 0, "alloc", "time_per_operation")
    assert (value["value"], value["low"], value["high"]) == pytest.approx((1e-7, 5e-8, 2e-7)) and value["unit"] == "s"
    rate = value_of(run, 0, "alloc", "allocated_bytes_per_second")
    assert (rate["value"], rate["low"], rate["high"]) == pytest.approx((160e6, 80e6, 320e6)) and rate["unit"] == "B/s"
    assert value_of(run, 0, "free", "allocated_bytes_per_second") is None and value_of(run, 0, "free", "time_per_operation") is None
    assert not has_values(run, 1)


def test_relative_to_an_allocator_and_to_the_best(tmp_path):
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): (seconds, seconds / 2, seconds * 2)})
             for name, x, seconds in (("c_malloc", 1, 2.0), ("aw_malloc", 1, 1.0), ("c_malloc", 2, 3.0), ("aw_malloc", 2, 6.0))]
    to_c, to_best = (results.read_run(synthetic.write(tmp_path / reference, {**CONFIG, "plot": {"kind": "lines", "x": "threads", "reference": reference}}, cells))
                     for reference in ("c_malloc", "best"))
    assert [value_of(to_c, i, "alloc", "relative_time")["value"] for i in range(4)] == [1, 0.5, 1, 2]
    assert [value_of(to_best, i, "alloc", "relative_time")["value"] for i in range(4)] == [2, 1, 1, 2]
    assert value_of(to_c, 3, "alloc", "relative_time")["high"] == 4
    assert value_of(to_c, 3, "alloc", "beyond_reference")["value"] == 0.5


def test_relative_to_the_baseline_of_the_same_cell(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): (seconds, seconds / 2, seconds * 2), ("baseline", "time"): 2.0})
             for x, seconds in ((1, 2.0), (2, 8.0))]
    run = results.read_run(synthetic.write(tmp_path, {**CONFIG, "plot": {"kind": "lines", "x": "threads", "reference": "baseline"}}, cells))
    assert [value_of(run, i, "alloc", "relative_time")["value"] for i in range(2)] == [1, 4]
    assert value_of(run, 1, "alloc", "relative_time")["low"] == 2 and value_of(run, 1, "baseline", "relative_time")["value"] == 1


def test_relative_to_the_median_of_all_baselines(tmp_path):
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): 6.0, ("baseline", "time"): seconds})
             for name, x, seconds in (("c_malloc", 1, 1.0), ("aw_malloc", 1, 3.0), ("halloc", 1, 90.0), ("c_malloc", 2, 2.0))]
    run = results.read_run(synthetic.write(tmp_path, {**CONFIG, "plot": {"kind": "lines", "x": "threads", "reference": "baselines"}}, cells))
    assert [value_of(run, i, "alloc", "relative_time")["value"] for i in range(4)] == [2, 2, 2, 3]


def test_reading_knows_nothing_of_drawing_and_derived_metrics_nothing_of_reading(root):
    text = (root / "plots" / "runs" / "derived.py").read_text()
    assert "plots.runs" not in text and "allocbench" not in text
    assert "plots.figures" not in "".join(path.read_text() for path in (root / "plots" / "runs").glob("*.py"))
    for path in (root / "python" / "allocbench").glob("*.py"):
        assert "plots" not in {word for line in path.read_text().splitlines() if "import " in line for word in line.split()}, path
