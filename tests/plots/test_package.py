"""Tests the package `allocbench` (python/): tables of stored runs for pandas, installed or not."""

import importlib.util
import json
import lzma
import shutil
import subprocess
import sys
import warnings

import pandas
import pytest
import synthetic

import allocbench

CONFIG = {"name": "test/fig", "allocators": ["c_malloc", "halloc"], "sweep": {"threads": [1, 2], "mode": ["a"]}}


def _run(folder, **first):
    axes = ({"threads": 1, "mode": "a"}, {"threads": 2, "mode": "a"})
    cells = [synthetic.cell("c_malloc", axes[0], values={("alloc", "time"): (1e-6, 9e-7, 2e-6), ("", "null_returns"): 0.0},
                            workload_parameters={"threads": 1, "size": 8, "mode": "a", "axes": 3}, **first),
             synthetic.cell("halloc", axes[1], status="timeout", reason="used its deadline", values={("alloc", "time"): 1.0})]
    return synthetic.write(folder, CONFIG, cells, "cuda")


def test_a_row_per_cell_phase_and_metric(tmp_path):
    table = allocbench.read(_run(tmp_path))
    assert list(table["metric"]) == ["time", "null_returns", ""] and list(table["status"]) == ["ok", "ok", "timeout"]
    assert list(table["value"][:2]) == [1e-6, 0.0] and pandas.isna(table["value"][2]), "no number of a cell that is not ok"
    assert (table["low"][0], table["high"][0], table["unit"][0]) == (9e-7, 2e-6, "s")
    assert list(table["threads"]) == [1, 1, 2] and table["threads"].dtype == "int64"
    assert list(table["run"].unique()) == [str(tmp_path)]


def test_pandas_has_nothing_to_warn_of(tmp_path):
    """Makes runs with and without failed cells, with no cell that is ok, and with settings that other runs lack."""
    _run(tmp_path / "both")
    axes = {"threads": 4, "depth": 3, "sorted": True, **{f"setting{number}": number for number in range(150)}}
    synthetic.write(tmp_path / "ok", CONFIG, [synthetic.cell("c_malloc", axes, values={("alloc", "time"): (1e-6, 9e-7, 2e-6)})])
    synthetic.write(tmp_path / "failed", CONFIG, [synthetic.cell("halloc", {"threads": 8}, status="oom", reason="null")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = allocbench.read(tmp_path)
        assert len(allocbench.cells(tmp_path)) == 4
    assert list(table["status"]) == ["ok", "ok", "timeout", "oom", "ok"] and list(table["threads"]) == [1, 1, 2, 8, 4]
    assert list(table["value"].isna()) == [False, False, True, True, False] and table["value"].dtype == table["low"].dtype == "float64"
    assert list(table["metric"]) == ["time", "null_returns", "", "", "time"] and list(table["flags_"]) == [""] * 5


def test_no_column_hides_what_pandas_has(tmp_path):
    table = allocbench.read(_run(tmp_path))
    assert [name for name in table.columns if hasattr(pandas.DataFrame, name)] == []
    assert {"size_", "mode_", "axes_"} <= set(table.columns) and table["axes_"][0] == 3
    assert table.attrs["axes"] == ["threads", "mode_"] and set(table.attrs["settings"]) == {"threads", "size_", "mode_", "axes_"}
    assert table.axes[0].equals(table.index)


def test_cells_say_how_they_ended(tmp_path):
    cells = allocbench.cells(_run(tmp_path))
    assert list(cells["status"]) == ["ok", "timeout"] and list(cells["reason"]) == ["", "used its deadline"]
    assert "value" not in cells.columns and len(cells) == 2


def _with_samples(folder):
    for number in range(2):
        synthetic.change(folder, number, phases=[{"name": "alloc", "samples": [1e-6, 2e-6, 3e-6], "rounds": [2, 1]}])
    return folder


def test_samples_with_their_rounds(tmp_path):
    table = allocbench.samples(_with_samples(_run(tmp_path)))
    assert list(table["seconds"]) == [1e-6, 2e-6, 3e-6] and list(table["round_"]) == [0, 0, 1] and list(table["sample_"]) == [0, 1, 2]
    assert set(table["allocator"]) == {"c_malloc"} and [name for name in table.columns if hasattr(pandas.DataFrame, name)] == []


def test_packed_runs_patterns_and_files(tmp_path):
    for name in ("one", "two"):
        folder = _with_samples(_run(tmp_path / name))
        if name == "two":
            (folder / "results.json.xz").write_bytes(lzma.compress((folder / "results.json").read_bytes()))
            (folder / "results.json").unlink()
    whole = allocbench.read(tmp_path)
    assert list(whole["run"].unique()) == [str(tmp_path / "one"), str(tmp_path / "two")] and len(whole) == 6
    assert whole.equals(allocbench.read(tmp_path / "one", f"{tmp_path}/two/results*")) and whole.equals(allocbench.read(f"{tmp_path}/*"))
    with pytest.raises(allocbench.UsageError, match="does not exist"):
        allocbench.read(tmp_path / "three")


def test_kept_runs_say_where_their_samples_are(root, tmp_path):
    folder = _with_samples(_run(tmp_path))
    document = json.loads((folder / "results.json").read_text())
    del document["allocbench"]["cells"][0]["phases"][0]["samples"]
    (folder / "results.json").write_text(json.dumps(document))
    with pytest.raises(allocbench.NothingToDraw, match="was kept without its samples"):
        allocbench.samples(folder)


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="no pip (python3-pip)")
def test_the_installed_package_needs_nothing_of_the_tree(tmp_path, root):
    shutil.copytree(root / "python", tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    told = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target",
                           str(tmp_path / "site"), str(tmp_path / "python")], capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stderr
    run = _run(tmp_path / "run")
    code = f"import allocbench; print(allocbench.__file__, len(allocbench.read({str(run)!r})))"
    shown = subprocess.run([sys.executable, "-c", code], cwd="/", env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True,
                           timeout=120, check=True).stdout
    assert shown.split() == [str(tmp_path / "site" / "allocbench" / "__init__.py"), "3"]


def test_the_package_knows_nothing_of_figures(root):
    for path in (root / "python" / "allocbench").glob("*.py"):
        text = path.read_text()
        assert "import plots" not in text and "from plots" not in text, path


def test_provisional_numbers_are_told(tmp_path):
    folder = _run(tmp_path, provisional=True)
    cells, table = allocbench.cells(folder), allocbench.read(folder)
    assert list(cells["provisional"]) == [True, False] and list(table["provisional"]) == [True, True, False]
    assert list(table["flags_"]) == ["provisional", "provisional", ""]
    assert list(allocbench.cells(_run(tmp_path / "older"))["provisional"]) == [False, False]
