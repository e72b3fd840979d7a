"""Tests the command line: what it writes, and its errors."""

import gzip
import json
import re
import subprocess
import sys

import pytest
import synthetic

from plots.commands import cli
from plots.commands.cli import main
from plots.runs import configs, kept

CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "xy"}}


def _ok(threads=1):
    return synthetic.cell("c_malloc", {"threads": threads}, values={("alloc", "time"): 1e-6})


def _failed(threads=2):
    return synthetic.cell("c_malloc", {"threads": threads}, status="timeout", reason="4 s")


def test_writes_every_format_beside_the_run_and_prints_the_paths(tmp_path, capsys):
    folder = synthetic.write(tmp_path / "run", CONFIG, [_ok()])
    assert main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(folder / "figures" / f"test_fig_cpu.{suffix}") for suffix in ("png", "svg", "pdf", "md")]
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "md": b"# A test"}
    for suffix, start in starts.items():
        assert (folder / "figures" / f"test_fig_cpu.{suffix}").read_bytes().startswith(start)


def test_status_matrix_is_added_as_soon_as_a_cell_is_not_ok(tmp_path, capsys):
    synthetic.write(tmp_path / "run", CONFIG, [_ok(), _failed()])
    assert main([str(tmp_path / "run"), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["test_fig_cpu.md", "test_fig_cpu.svg", "test_fig_cpu_status.md", "test_fig_cpu_status.svg"]


def test_a_run_without_any_ok_cell_still_gets_its_status_matrix(tmp_path, capsys):
    synthetic.write(tmp_path / "run", CONFIG, [_failed()])
    assert main([str(tmp_path), "--formats", "svg", "--out", str(tmp_path / "out")]) == 3
    captured = capsys.readouterr()
    assert "no cell of this figure is ok" in captured.err
    assert "test_fig_cpu_status.svg" in captured.out


def test_one_undrawable_run_does_not_stop_the_others(tmp_path, capsys):
    synthetic.write(tmp_path / "a", CONFIG, [_failed()])
    synthetic.write(tmp_path / "b", {**CONFIG, "name": "other"}, [_ok()])
    assert main([str(tmp_path), "--formats", "svg"]) == 3
    assert (tmp_path / "b" / "figures" / "other_cpu.svg").exists()


def test_two_runs_that_would_share_a_file_are_refused(tmp_path, capsys):
    synthetic.write(tmp_path / "a", CONFIG, [_ok()])
    synthetic.write(tmp_path / "b", CONFIG, [_ok()])
    assert main([str(tmp_path), "--formats", "svg", "--out", str(tmp_path / "out")]) == 2
    assert "would both be written" in capsys.readouterr().err


def test_printed_tables_from_their_configs(root, tmp_path, capsys):
    run = synthetic.write(tmp_path / "run", CONFIG, [_ok()])
    configs = [str(root / "configs" / "kma2014" / f"table{number}.json") for number in (1, 2)]
    assert main([*configs, str(run), "--out", str(tmp_path), "--formats", "svg"]) == 0
    assert "| 3 Graph Traversal |" in (tmp_path / "kma2014_table1.md").read_text()
    assert synthetic.DEVICE in (tmp_path / "kma2014_table2.md").read_text()


def test_settings_table_from_its_config(root, tmp_path, capsys):
    config = root / "configs" / "vinkler2015" / "table1.json"
    assert main([str(config), "--out", str(tmp_path), "--formats", "png"]) == 0
    assert (tmp_path / "vinkler2015_table1.md").read_text().startswith("# The settings of the generic tests")


@pytest.mark.parametrize("make, code, message", [
    (lambda tmp: tmp / "absent", 2, "does not exist"),
    (lambda tmp: tmp, 3, "contains no results.json"),
    (lambda tmp: _json(tmp / "figure.json", CONFIG), 2, "allocbench --config"),
    (lambda tmp: _json(tmp / "cut.json", None), 2, "is not JSON"),
    (lambda tmp: synthetic.write(tmp, {**CONFIG, "plot": {"kind": "pie"}}, [_ok()]), 2, "'pie'. Known: "),
    (lambda tmp: synthetic.write(tmp, {**CONFIG, "plot": {"kind": "lines"}}, [_ok()]), 2, "/plot: 'x' is a required property"),
    (lambda tmp: synthetic.write(tmp, CONFIG, []), 3, "contains no cell"),
])
def test_errors_are_one_line_with_a_next_step(tmp_path, capsys, make, code, message):
    assert main([str(make(tmp_path))]) == code
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("plots: ") and captured.err.count("\n") == 1
    assert message in captured.err


def _json(path, document):
    path.write_text("{" if document is None else json.dumps(document))
    return path


def test_help_and_usage_errors_of_the_program(root, tmp_path):
    def program(*arguments):
        return subprocess.run([sys.executable, "-B", "-m", "plots", *arguments], cwd=root, capture_output=True, text=True,
                              timeout=60)

    shown = program("--help")
    assert shown.returncode == 0 and "exit codes" in shown.stdout and "examples" in shown.stdout
    assert program().returncode == 2
    bad = program("--formats", "gif", str(tmp_path))
    assert bad.returncode == 2 and "known: png, svg, pdf" in bad.stderr


def test_one_unreadable_run_does_not_stop_the_others(tmp_path, capsys):
    bad = synthetic.write(tmp_path / "a", CONFIG, [_ok()])
    synthetic.change(bad, 0, phases=[{"name": "alloc", "median": -1e-6}])
    synthetic.write(tmp_path / "b", {**CONFIG, "name": "other"}, [_ok()])
    assert main([str(tmp_path), "--formats", "svg"]) == 2
    captured = capsys.readouterr()
    assert "results.json:1 /allocbench/cells/0/phases/0/median: -1e-06 is less than the minimum of 0" in captured.err and "other_cpu.svg" in captured.out


def test_patterns_single_files_and_packed_runs(tmp_path, capsys):
    for name in ("one", "two"):  # the second run is kept under another name
        folder = synthetic.write(tmp_path / name, {**CONFIG, "name": "one"}, [_ok()])
        (folder / "results.json.gz").write_bytes(gzip.compress((folder / "results.json").read_bytes()))
        (folder / "results.json").unlink()
    for number, path in enumerate((f"{tmp_path}/*", f"{tmp_path}/**/results.json.gz", f"{tmp_path}/t*/results*", f"{tmp_path}/one/results.json.gz")):
        assert main([path, "--formats", "svg", "--out", str(tmp_path / f"out{number}")]) == 0
    assert [sorted(path.name for path in (tmp_path / f"out{number}").glob("*.svg")) for number in range(4)] == [
        ["one_cpu.svg", "two_cpu.svg"], ["one_cpu.svg", "two_cpu.svg"], ["two_cpu.svg"], ["one_cpu.svg"]]
    capsys.readouterr()
    assert main([f"{tmp_path}/nothing*"]) == 2 and "matches nothing" in capsys.readouterr().err


def test_another_config_decides_how_stored_numbers_are_drawn(tmp_path, capsys):
    folder = synthetic.write(tmp_path / "run", {**CONFIG, "plot": {"kind": "pie"}}, [_ok()])
    assert main([str(folder), "--formats", "svg"]) == 2
    (tmp_path / "configs" / "test").mkdir(parents=True)
    mended = _json(tmp_path / "configs" / "test" / "fig.json", {**CONFIG, "plot": {"kind": "table", "x": "threads", "y": "alloc", "title": "Mended"}})
    for config in (mended, tmp_path / "configs"):
        assert main([str(folder), "--config", str(config), "--formats", "svg", "--out", str(tmp_path / config.name)]) == 0
        assert (tmp_path / config.name / "test_fig_cpu.md").read_text().startswith("# Mended")
    capsys.readouterr()
    other = _json(tmp_path / "other.json", {**CONFIG, "name": "other"})
    assert main([str(folder), "--config", str(other)]) == 2 and "is the config 'other', but the run is of the config 'test/fig'" in capsys.readouterr().err
    wrong = _json(tmp_path / "wrong.json", {**CONFIG, "plot": {**CONFIG["plot"], "colour": "red"}})
    assert main([str(folder), "--config", str(wrong)]) == 2
    assert "wrong.json: /plot: Additional properties are not allowed ('colour' was unexpected)" in capsys.readouterr().err
    assert main([str(folder), "--config", str(tmp_path / "absent.json")]) == 2


def _kept_and_today(tmp_path, monkeypatch, **changed):
    """Makes a kept run, and a config of its name with other keys."""
    monkeypatch.setattr(kept, "REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(configs, "FOLDER", tmp_path / "configs")
    (tmp_path / "configs" / "test").mkdir(parents=True)
    _json(tmp_path / "configs" / "test" / "fig.json", {**CONFIG, "cpu": {"repetitions": 3}, "plot": {**CONFIG["plot"], "title": "Mended"}, **changed})
    return synthetic.write(tmp_path / "reference" / "run", {**CONFIG, "repetitions": 3}, [_ok()])


def _title(path):
    return (path / "test_fig_cpu.md").read_text().splitlines()[0]


def test_kept_runs_are_drawn_as_their_configs_say_today_and_others_as_stored(tmp_path, capsys, monkeypatch):
    folder = _kept_and_today(tmp_path, monkeypatch, claims=[], description="Other words", assumed=["Told today."])
    assert main([str(folder), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    assert "- Told today." in next((tmp_path / "out").glob("*.md")).read_text()
    told = capsys.readouterr().err
    assert _title(tmp_path / "out") == "# Mended" and told.count("\n") == 1 and "fig.json, whose plot differs" in told
    own = synthetic.write(tmp_path / "own", {**CONFIG, "repetitions": 3}, [_ok()])
    assert main([str(own), "--formats", "svg"]) == 0
    assert _title(own / "figures") == "# A test" and capsys.readouterr().err == ""
    given = _json(tmp_path / "given.json", {**CONFIG, "plot": {**CONFIG["plot"], "title": "Given"}})
    assert main([str(folder), "--config", str(given), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    assert _title(tmp_path / "out") == "# Given" and capsys.readouterr().err == ""


@pytest.mark.parametrize("changed", [{"repetitions": 4, "cpu": {}}, {"cpu": {"repetitions": 4}}, {"allocators": ["kma"]}])
def test_a_kept_run_whose_config_measures_something_else_today_is_drawn_as_stored(tmp_path, capsys, monkeypatch, changed):
    folder = _kept_and_today(tmp_path, monkeypatch, **changed)
    assert main([str(folder), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    assert _title(tmp_path / "out") == "# A test" and capsys.readouterr().err == ""


def test_a_kept_run_whose_config_sweeps_other_values_today_is_drawn_by_this_config(tmp_path, capsys, monkeypatch):
    _kept_and_today(tmp_path, monkeypatch, sweep={"threads": [1, 32]}, exclude=[{"threads": 1}])
    folder = synthetic.write(tmp_path / "reference" / "run", {**CONFIG, "repetitions": 3, "sweep": {"threads": [1]}}, [_ok()])
    assert main([str(folder), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    assert _title(tmp_path / "out") == "# Mended" and "whose plot differs from the stored one" in capsys.readouterr().err


def test_other_values_are_not_other_settings():
    stored = {"seed": 1, "sweep": {"threads": [1]}, "zip": [{"size": [4], "pool_bytes": [8]}]}
    assert configs.measures_other_values(stored, {**stored, "sweep": {"threads": [1, 2]}}, "cuda")
    assert configs.measures_other_values(stored, {**stored, "exclude": [{"threads": 1}]}, "cuda")
    assert not configs.measures_other_values(stored, stored, "cuda")
    assert not configs.measures_other_values(stored, {**stored, "sweep": {"lanes_per_warp": [1]}}, "cuda")
    assert not configs.measures_other_values(stored, {**stored, "seed": 2, "sweep": {"threads": [2]}}, "cuda")


def test_objects_of_a_part_merge_and_axes_replace():
    today = {"sweep": {"threads": {"range": [1, 2]}, "size": [4]}, "workload": {"id": "x", "a": 1}, "cuda": {"sweep": {"threads": {"log2": [1, 4]}}, "workload": {"a": None}}}
    assert configs.measures_the_same({"sweep": {"threads": {"log2": [1, 4]}, "size": [4]}, "workload": {"id": "x"}}, today, "cuda")
    assert not configs.measures_the_same({"sweep": {"threads": {"log2": [1, 4]}, "size": [4]}, "workload": {"id": "x"}}, today, "cpu")
    assert configs.measures_the_same({"seed": 1}, {"seed": 1, "deadline_s": 60, "pool": "fit", "overrides": {"halloc": {"deadline_s": 60}}}, "cuda")
    assert not configs.measures_the_same({"seed": 1}, {"seed": 1, "overrides": {"halloc": {"deadline_s": 60, "state": "reused"}}}, "cuda")


@pytest.mark.parametrize("command", ["claims", "survival", "comb", "aa"])
@pytest.mark.parametrize("path, message", [("absent", "does not exist"), ("configs/vinkler2015/table1.json", "is a config. Name the folders of runs")])
def test_commands_over_runs_refuse_what_is_none(root, capsys, command, path, message):
    assert main([command, str(root / path)]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.mark.parametrize("command", ["claims", "survival", "comb", "delay", "aa"])
def test_commands_over_runs_refuse_a_run_that_has_only_results_csv(tmp_path, capsys, command):
    (tmp_path / "results.csv").write_text("cell\n")
    assert main([command, str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert f"{tmp_path} has results.csv alone" in told and "copy it, or the log" in told


def test_kept_results_are_written_to_only_by_out(tmp_path, capsys, monkeypatch):
    reference, drawn = tmp_path / "reference", tmp_path / "drawn"
    monkeypatch.setattr(kept, "REFERENCE", reference)
    monkeypatch.setattr(kept, "DRAWN", drawn)
    folder = synthetic.write(reference / "h200" / "run", CONFIG, [_ok()])
    monkeypatch.chdir(reference / "h200")
    assert main(["run", "--formats", "svg"]) == 0
    for command in ("survival", "aa"):
        # Aa needs two runs.
        assert main([command, "run", *(["."] if command == "aa" else []), "--formats", "svg"]) in (0, 2)
    assert main(["page", "run"]) == 0
    assert [path.name for path in reference.rglob("*") if path.is_file()] == ["results.json"]
    written = sorted(str(path.relative_to(drawn)) for path in drawn.rglob("*") if path.is_file())
    assert written == [*(f"h200/run/figures/survival_cpu.{ending}" for ending in ("csv", "md", "svg")),
                       "h200/run/figures/test_fig_cpu.md", "h200/run/figures/test_fig_cpu.svg", "h200/run/report.html"]
    assert main(["run", "--formats", "svg", "--out", str(folder / "figures")]) == 0
    assert (folder / "figures" / "test_fig_cpu.svg").exists()


def test_pictures_over_runs_stand_beside_the_runs_and_are_named(tmp_path, capsys, monkeypatch):
    for name in ("one", "two"):
        synthetic.write(tmp_path / "runs" / name, CONFIG, [_ok()])
    monkeypatch.chdir(tmp_path)
    for path in ("runs", "runs/o*"):
        assert main(["survival", path]) == 0
        assert capsys.readouterr().out.splitlines() == [f"runs/figures/survival_cpu.{ending}" for ending in ("png", "md", "csv")]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize("word, near", [("clams", "claims"), ("servival", "survival"), ("number", "numbers"), ("regen", "regenerate"), ("smoke", "")])
def test_a_mistyped_command_is_named(tmp_path, capsys, monkeypatch, word, near):
    monkeypatch.chdir(tmp_path)
    assert main([word, "results"]) == 2
    told = capsys.readouterr().err
    assert told == (f"plots: {word} is neither a command nor a folder. Did you mean `python3 -m plots {near}`? All commands: python3 -m plots --help\n" if near else
                    f"plots: {word} does not exist. Give the folder that allocbench --out wrote, such as results/smoke.\n")
    synthetic.write(tmp_path / word, CONFIG, [_ok()])
    assert main([word, "--formats", "svg"]) == 0, "a folder may have such a name"


def test_folders_of_kept_results_in_the_examples_exist(root):
    kept_folders = re.findall(r"results/(?:reference/)?h200\S*", cli._EPILOG.replace("'", ""))
    assert len(kept_folders) > 3 and [each for each in kept_folders if not list(root.glob(each))] == []


@pytest.mark.parametrize("out, written", [("page", "page.html"), ("page.v2", "page.v2.html"), ("page.html", "page.html"), ("page.htm", "page.htm")])
def test_a_page_has_the_ending_that_browsers_know(tmp_path, capsys, out, written):
    folder = synthetic.write(tmp_path / "run", CONFIG, [_ok()])
    assert main(["page", str(folder), "--out", str(tmp_path / out)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / written}\n" and (tmp_path / written).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_map_has_the_curves_of_its_paper_beside_it(tmp_path):
    beside = {"kind": "lines", "x": "size", "y": "alloc", "metric": "time", "allocators": ["halloc"]}
    config = {"name": "test/map", "description": "A test", "allocators": ["halloc", "kma"], "workload": {"id": "alloc_free"},
              "plot": {"kind": "heatmap", "x": "size", "y": "alloc", "metric": "time", "reference": "best", "beside": beside}}
    cells = [synthetic.cell(name, {"size": size}, values={("alloc", "time"): 1e-6 * size}) for name in ("halloc", "kma") for size in (1, 2)]
    folder = synthetic.write(tmp_path / "run", config, cells, "cuda")
    assert main([str(folder), "--formats", "svg", "--out", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["test_map_cuda.md", "test_map_cuda.svg", "test_map_cuda_lines.md", "test_map_cuda_lines.svg"]
    lines = (tmp_path / "out" / "test_map_cuda_lines.md").read_text()
    assert "| Halloc | 1.00 µs ±6 % | 2.00 µs ±6 % |" in lines and "KMA" not in lines and "KMA" in (tmp_path / "out" / "test_map_cuda.md").read_text()
