"""Reading results.csv and results.json."""

import gzip

import pytest
import synthetic

from plots import origin, results
from plots.errors import NothingToDraw, UsageError

CONFIG = {"name": "test", "allocators": ["c_malloc", {"id": "aw_malloc"}], "plot": {"kind": "lines", "x": "threads"}}


def test_reads_values_with_intervals_flags_and_samples(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 3e-6)}, flags="throttled")
    run = results.read_run(synthetic.write(tmp_path, CONFIG, [cell]))
    value = run.cells[0].values["alloc", "time"]
    assert (value.value, value.low, value.high, value.unit, value.samples) == (2e-6, 1e-6, 3e-6, "s", 5)
    assert value.flags == {"throttled"}
    assert run.cells[0].setting("threads") == 64
    assert run.cells[0].setting("pool_bytes") == 1 << 26


def test_reads_packed_files(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 3e-6)})
    folder = synthetic.write(tmp_path, CONFIG, [cell])
    plain = results.read_run(folder)
    for name in ("results.csv", "results.json"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    assert results.find_runs(tmp_path) == [folder]
    assert results.read_run(folder) == plain
    (folder / "results.json.gz").write_bytes(b"no archive")
    with pytest.raises(UsageError, match="results.json.gz is not JSON"):
        results.read_run(folder)


def test_a_cell_that_is_not_ok_loses_its_values_even_if_the_file_holds_some(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": 64}, status=status, values={("alloc", "time"): 1.0})
             for status in results.STATUSES]
    run = results.read_run(synthetic.write(tmp_path, CONFIG, cells))
    assert [bool(cell.values) for cell in run.cells] == [status == "ok" for status in results.STATUSES]


def test_one_row_that_is_not_ok_makes_the_cell_not_ok(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, [synthetic.cell(
        "c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0, ("free", "time"): 1.0})])
    text = (folder / "results.csv").read_text().splitlines()
    text[2] = text[2].replace(",ok,", ",crashed,")
    (folder / "results.csv").write_text("\n".join(text) + "\n")
    cell = results.read_run(folder).cells[0]
    assert cell.status == "crashed" and not cell.values


def test_allocators_come_in_config_order_and_unknown_ones_last(tmp_path):
    cells = [synthetic.cell(name, {"threads": 1}, values={("alloc", "time"): 1.0})
             for name in ("other", "aw_malloc", "c_malloc")]
    assert results.read_run(synthetic.write(tmp_path, CONFIG, cells)).allocators() == ["c_malloc", "aw_malloc", "other"]


@pytest.mark.parametrize("old, new, expected", [
    (",alloc,time,s,", ",alloc,time,s,", None),
    ("1.0,0.95", "nan,0.95", "no finite number"),
    ("1.0,0.95", "fast,0.95", "no finite number"),
    ("1.0,0.95", ",0.95", "has no value"),
    (",ok,", ",fine,", "unknown status 'fine'"),
    ("phase", "stage", "lacks the column 'phase'"),
    ('{""threads"": 64}', '{""threads"": 6', "is not JSON"),
])
def test_damaged_files_are_refused_with_the_line(tmp_path, old, new, expected):
    folder = synthetic.write(tmp_path, CONFIG,
                             [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})])
    text = (folder / "results.csv").read_text()
    assert old in text
    (folder / "results.csv").write_text(text.replace(old, new))
    if expected is None:
        results.read_run(folder)
        return
    with pytest.raises(UsageError) as error:
        results.read_run(folder)
    assert expected in str(error.value) and "results.csv:" in str(error.value) and "allocbench report" in str(error.value)


def test_date_and_unfinished_cells_come_from_the_json(tmp_path):
    cell = synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): 1.0})
    run = results.read_run(synthetic.write(tmp_path, CONFIG, [cell], unfinished=3))
    assert (run.date, run.unfinished) == ("2026-01-02", 3)
    assert "unfinished: 3 planned cells" in origin.lines(run)[-1]


def test_a_log_continued_later_names_all_its_revisions(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1.0}, revision=revision)
             for x, revision in ((1, "late"), (2, "early"), (3, "early"))]
    assert "allocbench 0.1.0 (early, late)" in origin.lines(results.read_run(synthetic.write(tmp_path, CONFIG, cells)))[-1]


def test_missing_json_and_empty_csv_say_what_to_do(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, [])
    with pytest.raises(NothingToDraw, match="holds no cell"):
        results.read_run(folder)
    (folder / "results.json").unlink()
    with pytest.raises(UsageError, match="allocbench report"):
        results.read_run(folder)


def test_time_per_batch_is_a_share_of_phases_that_hold_all_batches(tmp_path):
    values = {("init", "time"): 8e-6, ("insert", "time"): (8e-6, 4e-6, 16e-6)}
    cells = [synthetic.cell("c_malloc", {"threads": x}, values=values, workload_parameters={"threads": x, "batches": batches})
             for x, batches in ((1, 4), (2, 0))]
    some, none = results.read_run(synthetic.write(tmp_path, {"name": "test"}, cells)).cells
    value = some.values["insert", "time_per_batch"]
    assert (value.value, value.low, value.high, value.unit) == (2e-6, 1e-6, 4e-6, "s")
    assert ("init", "time_per_batch") not in some.values and ("insert", "time_per_batch") not in none.values


def test_time_per_operation_follows_from_time_and_operations(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": 64}, values={("alloc", "time"): (2e-6, 1e-6, 4e-6), ("alloc", "operations"): 20.0,
                                                                 ("free", "time"): 1e-6, ("", "requested_bytes"): 320.0}),
             synthetic.cell("c_malloc", {"threads": 1}, status="oom", values={("alloc", "time"): 1.0, ("alloc", "operations"): 2.0})]
    ok, failed = results.read_run(synthetic.write(tmp_path, CONFIG, cells)).cells
    value = ok.values["alloc", "time_per_operation"]
    assert (value.value, value.low, value.high) == pytest.approx((1e-7, 5e-8, 2e-7)) and value.unit == "s"
    rate = ok.values["alloc", "allocated_bytes_per_second"]
    assert (rate.value, rate.low, rate.high) == pytest.approx((160e6, 80e6, 320e6)) and rate.unit == "B/s"
    assert ("free", "allocated_bytes_per_second") not in ok.values and ("free", "time_per_operation") not in ok.values
    assert not failed.values
