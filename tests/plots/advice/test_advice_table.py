"""Tests the table that the advice reads: which runs it is made of, and which runs are refused."""

import shutil

import guide
import pytest
import synthetic
from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError

from plots.advice import newest, table
from plots.commands import advise as cli
from plots.runs import results


def test_two_devices_are_no_table(tmp_path):
    first, second = guide.write(tmp_path / "a"), guide.write(tmp_path / "b")
    for path in second.rglob("results.json"):
        path.write_text(path.read_text().replace("TEST DATA, not measured", "another device"))
    runs = [results.read_run(folder) for root in (first, second) for folder in stored.find_runs(root)]
    with pytest.raises(UsageError, match="come from different devices"):
        table.of(runs)


def test_damaged_results_are_named_and_the_rest_answers(tmp_path, capsys):
    folder = guide.write(tmp_path)
    broken = folder / "guide" / "fill" / "results.json"
    broken.write_text(broken.read_text().replace('"ok"', '"fine"', 1))
    assert cli.main(["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--results", str(folder)]) == 2
    told = capsys.readouterr()
    assert "guide/fill/results.json:1 /allocbench/cells/0/status: 'fine' is not one of ['ok'," in told.err
    assert "Comb" in told.out


def test_a_newer_measurement_on_another_device_replaces_nothing(tmp_path):
    for path in guide.write(tmp_path / "old").rglob("results.json"):
        path.write_text(path.read_text().replace("2026-01-02", "2025-01-02"))
    shutil.copytree(tmp_path / "old" / "guide" / "setup", tmp_path / "new")
    other = tmp_path / "new" / "results.json"
    other.write_text(other.read_text().replace(synthetic.DEVICE, "another device").replace("2025-01-02", "2027-01-02"))
    with pytest.raises(UsageError, match="come from different devices"):
        newest.table_of([str(tmp_path)])
    pytest.importorskip("plotly")
    from plots.webpage import build

    page = build.page_of(*newest.read([str(tmp_path)]))
    assert page.problems == [f"{tmp_path / 'new'}: measured on another device (cuda), while this page is about {synthetic.DEVICE} (cuda). "
                             "Left out: give the results of one device."]


def test_of_two_measurements_the_newer_counts(tmp_path):
    for name, year in (("old", "2025"), ("new", "2027")):
        for path in guide.write(tmp_path / name).rglob("results.json"):
            path.write_text(path.read_text().replace("2026-01-02", f"{year}-01-02"))
    made, failures = newest.table_of([str(tmp_path)])
    assert made["date"] == "2027-01-02" and len(made["cases"]) == len(newest.table_of([str(tmp_path / "new")])[0]["cases"])
    assert all("old/guide" in str(error).split(" is left out")[0] for error in failures) and len(failures) == 9


def test_largest_requests_come_from_unsupported_cells(tmp_path):
    def cell(name, size, limit, pool, parameters):
        told = f"{name} serves requests up to {limit} B here, asked for {size} B"
        return synthetic.cell(name, {"request_bytes": size}, status="unsupported", reason=told, workload_parameters={"threads": 1000, "lanes_per_warp": 32},
                              pool_bytes=pool, allocator_parameters=parameters)

    bulk = synthetic.cell("fdgmalloc", {"request_bytes": 64}, status="unsupported", reason="FDGMalloc frees in bulk",
                          workload_parameters={"threads": 1000, "lanes_per_warp": 32})
    cells = [cell("rw_malloc", 9000, 8192, 1 << 30, {"page_bytes": 4096}), cell("rw_malloc", 512, 256, 1 << 20, {"page_bytes": 64}),
             cell("rw", 9000, 4096, 1 << 30, {"page_bytes": 4096}), cell("slab", 256, 128, 1 << 30, {}), bulk]
    run = synthetic.write(tmp_path, {"name": "guide/large"}, cells)
    for number in (2, 3):
        synthetic.change(run, number, restrictions=[table.ONE_SIZE])
    limits = {entry["id"]: entry["limits"] for entry in table.of([results.read_run(tmp_path)])["allocators"]}
    assert limits == {"rw_malloc": [[1 << 20, 256], [1 << 30, 8192]], "slab": [[1 << 30, 128]], "fdgmalloc": [], "rw": []}, "the page of RW was chosen"


def test_runs_without_a_guide_are_refused(tmp_path):
    synthetic.write(
        tmp_path / "run",
        {"name": "other", "plot": {"kind": "status_matrix"}},
        [synthetic.cell("comb", {"threads": 1}, values={("total", "time"): 1.0})],
    )
    with pytest.raises(NothingToDraw, match="contain no run of the guide"):
        newest.table_of([str(tmp_path)])


@pytest.mark.parametrize("text, part", [("{", ":1 is not JSON"), ("[1]", ":1 is not a table of the guide")])
def test_a_foreign_table_is_refused(tmp_path, text, part):
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        newest.table_of([str(path)])
    assert part in str(error.value)


def test_the_newest_kept_guide_answers_and_a_gpu_goes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(newest.kept, "REFERENCE", tmp_path)
    with pytest.raises(NothingToDraw, match="contains no results of the guide"):
        newest.kept_guide()
    for device, date in (("cpu", "2030"), ("h100", "2027"), ("h200", "2028")):
        guide.write(tmp_path / device)
        for path in (tmp_path / device).rglob("results.json"):
            path.write_text(path.read_text().replace("2026-01-02", f"{date}-01-02"))
    assert newest.kept_guide() == tmp_path / "h200" / "guide"


def test_the_noise_band_of_an_even_number_of_intervals_is_between_the_middle_two():
    entries = [{"results": [{"total": [1.0, 1.0 - half, 1.0 + half]}]} for half in (0.01, 0.02, 0.04, 0.2)]
    assert table._band({"cases": [{"time": "total"}], "allocators": entries}) == pytest.approx(0.03)
