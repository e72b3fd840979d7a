"""Tests that a figure from results.csv and its config equals the figure from results.json, for each kind."""

import csv
import json
import shutil
from pathlib import Path

import matplotlib.text
import numpy
import pytest
import synthetic
from allocbench import frames, stored
from allocbench.errors import NothingToDraw

from plots.commands import cli
from plots.figures import drawing, inputs, kinds
from plots.runs import csv_run, origin, results

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "results" / "reference" / "h200"
GOLDEN = ROOT / "tests" / "harness" / "golden"
HEADER = ("figure,cell,series,allocator,label,display_name,form,allocator_parameters,workload,workload_parameters,axes,pool_bytes,backend,executor,device,uuid,"
          "sm_clock_max_mhz,revision,seed,state,status,reason,phase,metric,unit,better,statistic,value,low,high,confidence,samples,flags,histograms").split(",")


def _write_table(document, folder):
    """Writes results.csv as the front end does, for a run that was kept without it."""
    cells, values = frames.cells_of(document).reset_index(), frames.values_of(document).groupby("cell")
    entries = {cell["id"]: cell for cell in document["cells"]}
    folder.mkdir(parents=True)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, HEADER, restval="", extrasaction="ignore")
        table.writeheader()
        for cell in cells.to_dict("records"):
            about = {**cell, **{name: json.dumps(cell[name]) for name in frames.OBJECTS}, "executor": entries[cell["cell"]].get("executor", "")}
            own = values.get_group(cell["cell"]).to_dict("records") if cell["cell"] in values.groups else [{}]
            counted = [json.dumps(entries[cell["cell"]].get("counted", {}).get("histograms", {}))] + [""] * len(own)
            for value, histograms in zip(own, counted):
                told = {name: "" if isinstance(held, float) and numpy.isnan(held) else repr(held) if isinstance(held, float) else held for name, held in value.items()}
                table.writerow({**about, **told, "samples": int(value["samples"]) if value else "", "histograms": histograms})


def _shown(made):
    """Returns what the panels of a drawing show: lines, marks and words with their places, and the numbers of its
    table.
    """
    drawn = []
    for axes in made.page.figure.axes:
        drawn += [("line", line.get_gid(), line.get_xydata()) for line in axes.get_lines()]
        drawn += [("marks", each.get_gid(), numpy.concatenate([each.get_offsets(), *(path.vertices for path in each.get_paths())])) for each in axes.collections]
        drawn += [("image", None, numpy.asarray(image.get_array(), float)) for image in axes.get_images()]
        drawn += [("patch", each.get_gid(), each.get_path().vertices) for each in axes.patches]
        drawn += [("word", each.get_text(), numpy.asarray(each.get_position(), float)) for each in axes.findobj(matplotlib.text.Text) if each.get_text()]
    return drawn, [line for line in made.markdown.splitlines() if line.startswith("|")]


def _from_both(tmp_path, name):
    folder = KEPT / name
    document = stored.read_document(folder)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(document["run"]["config"]))
    _write_table(document, tmp_path / "csv")
    overrides = inputs.Overrides(config)
    return [kinds.KINDS[run.plot["kind"]](run, "stem") for run in
            (drawing.read(folder, overrides), csv_run.read(tmp_path / "csv", overrides.config_for(name, document["run"]["backend"])))]


@pytest.mark.full
@pytest.mark.parametrize("kind, name", [
    ("lines", "vinkler2015/fig4"), ("heatmap", "survey2021/mixed"), ("table", "survey2021/registers"), ("scene_table", "vinkler2015/table2"), ("status_matrix", "beyond/misuse"),
    ("histogram", "pham2025/fig6"), ("histogram", "vinkler2015/request_sizes")])
def test_a_figure_of_each_kind_is_the_same(tmp_path, kind, name):
    assert stored.read_document(KEPT / name)["run"]["config"]["plot"]["kind"] == kind
    (drawn, numbers), (again, told) = map(_shown, _from_both(tmp_path, name))
    assert len(drawn) > 10 and len(drawn) == len(again)
    for (what, label, there), (other, its_label, place) in zip(drawn, again):
        assert (what, label) == (other, its_label)
        numpy.testing.assert_allclose(there, place, rtol=1e-9, err_msg=f"{what} {label}")
    assert numbers == told and len(numbers) > 3


def test_a_table_of_the_front_end_gives_the_numbers_of_its_document(tmp_path):
    shutil.copy(GOLDEN / "results.csv", tmp_path)
    document = stored.read_document(GOLDEN)
    run, other = csv_run.read(tmp_path, document["run"]["config"]), results.read_run(GOLDEN)
    for name in ("value", "low", "high", "samples"):
        numpy.testing.assert_allclose(run.values[name].astype(float), other.values[name].astype(float), rtol=1e-9)
    assert run.values[["cell", "phase", "metric", "unit", "statistic", "flags"]].equals(other.values[["cell", "phase", "metric", "unit", "statistic", "flags"]])
    assert run.cells.drop(columns="revision").equals(other.cells.drop(columns="revision")) and run.settings.equals(other.settings)
    assert run.allocators() == other.allocators() and run.names == other.names


def test_the_command_draws_a_table_with_its_config_and_asks_for_one(tmp_path, capsys):
    config = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc"], "workload": {"id": "alloc_free"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1e-6 * x}) for x in (1, 2)]
    _write_table(stored.read_document(synthetic.write(tmp_path / "json", config, cells, "cuda")), tmp_path / "csv")
    path = tmp_path / "fig.json"
    path.write_text(json.dumps(config))
    assert cli.main([str(tmp_path / "csv"), "--out", str(tmp_path / "out"), "--formats", "svg"]) == 2
    assert "does not contain its config, and the results.json that does is missing. Give the config of the run: --config configs/test/fig.json" in capsys.readouterr().err
    assert cli.main([str(tmp_path / "csv" / "results.csv"), "--config", str(path), "--out", str(tmp_path / "out"), "--formats", "svg"]) == 0
    page = (tmp_path / "out" / "test_fig_cuda.md").read_text()
    assert "2.00 µs" in page and "driver unknown" in page


@pytest.mark.parametrize("damage, told", [
    (lambda text: text.replace(",metric,", ",metrics,", 1), ":1 lacks the column 'metric'"),
    (lambda text: text.replace("1e-06", "much", 1), ":2 is damaged (could not convert string to float"),
    (lambda text: text[:text.index("\n") + 1], "contains no cell")])
def test_a_damaged_table_is_refused_with_its_line(tmp_path, capsys, damage, told):
    cells = [synthetic.cell("c_malloc", {"threads": 1}, values={("alloc", "time"): 1e-6})]
    config = {"name": "test/fig", "allocators": ["c_malloc"], "workload": {"id": "alloc_free"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}
    _write_table(stored.read_document(synthetic.write(tmp_path / "json", config, cells, "cuda")), tmp_path / "csv")
    table = tmp_path / "csv" / "results.csv"
    table.write_text(damage(table.read_text()))
    path = tmp_path / "fig.json"
    path.write_text(json.dumps(config))
    assert cli.main([str(tmp_path / "csv"), "--config", str(path), "--out", str(tmp_path / "out")]) in (2, 3)
    assert told in capsys.readouterr().err


def test_the_table_tells_the_options_of_the_cpu_executor(tmp_path):
    document = stored.read_document(KEPT.parent / "cpu" / "xmalloc2010" / "one_warp")
    _write_table(document, tmp_path / "csv")
    told = origin.lines(csv_run.read(tmp_path / "csv", document["run"]["config"]))
    assert told[0].startswith("CPU executor --lockstep 1 · ") and "mixed" not in told[2]
    rows = list(csv.DictReader((tmp_path / "csv" / "results.csv").open(newline="", encoding="utf-8")))
    for row in rows[1:]:
        row.update({"executor": ""} if row["cell"] != rows[0]["cell"] else {})
    with (tmp_path / "csv" / "results.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, HEADER)
        table.writeheader()
        table.writerows(rows)
    told = origin.lines(csv_run.read(tmp_path / "csv", document["run"]["config"]))
    assert "--lockstep" not in told[0] and "mixed: cells of 2 sets of executor options" in told[2]


def test_a_table_of_an_older_program_has_no_distributions(tmp_path):
    document = stored.read_document(KEPT / "pham2025" / "fig6")
    _write_table(document, tmp_path / "csv")
    table = tmp_path / "csv" / "results.csv"
    rows = list(csv.DictReader(table.open(newline="", encoding="utf-8")))
    with table.open("w", newline="", encoding="utf-8") as file:
        older = csv.DictWriter(file, HEADER[:-1], extrasaction="ignore")
        older.writeheader()
        older.writerows(rows)
    run = csv_run.read(tmp_path / "csv", document["run"]["config"])
    with pytest.raises(NothingToDraw, match="A results.csv of an older version has no histograms. Make it again from the log of its run: allocbench report RUN"):
        kinds.KINDS["histogram"](run, "stem")
