"""The survival matrix: every cell of every run is counted once, with its word and its reason."""

import csv
import io

from allocbench.errors import NothingToDraw
import figures
import pytest
import synthetic

from plots import results, survival
from plots.cli import main

CONFIG = {"name": "test/fig", "allocators": ["c_malloc", "halloc"], "plot": {"kind": "lines", "x": "threads"}}


def _cell(allocator, threads, status="ok", reason="", **fields):
    values = {("alloc", "time"): 1e-6} if status == "ok" else {}
    return synthetic.cell(allocator, {"threads": threads}, status=status, reason=reason, values=values, **fields)


def _runs(tmp_path, *cells, backend="cpu"):
    return [results.read_run(synthetic.write(tmp_path / f"{backend}{number}", {**CONFIG, "name": f"test/{number}"}, list(each), backend))
            for number, each in enumerate(cells)]


def test_statuses_are_counted_by_allocator_and_workload(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1), _cell("c_malloc", 2), _cell("c_malloc", 4, "timeout", "used its deadline\ntable of lanes"),
                            _cell("halloc", 1, "oom", "full", workload="churn")])
    [matrix] = survival.matrices(runs)
    assert matrix.workloads == ["alloc_free", "churn"] and list(matrix.allocators) == ["c_malloc", "halloc"]
    there = matrix.fields["c_malloc", "alloc_free"]
    assert (there.words(), there.worst(), there.letters()) == ("2 ok, 1 timeout", "timeout", "t")
    assert matrix.fields["halloc", "churn"].words() == "oom"
    assert ("halloc", "alloc_free") not in matrix.fields
    text = survival.markdown(matrix)
    assert "| CMalloc | 2 ok, 1 timeout | – |" in text and "| Halloc | – | oom |" in text
    assert "- CMalloc, alloc_free: timeout (1): used its deadline\n" in text
    assert "4 cells: 2 ok, 1 oom, 1 timeout." in text and "**CPU executor: not GPU performance**" in text
    rows = list(csv.DictReader(io.StringIO(survival.table(matrix))))
    assert [(row["allocator"], row["workload"], row["status"], row["cells"], row["reason"]) for row in rows] == [
        ("c_malloc", "alloc_free", "ok", "2", ""), ("c_malloc", "alloc_free", "timeout", "1", "used its deadline"),
        ("halloc", "churn", "oom", "1", "full")]


def test_back_ends_are_apart_and_a_cell_of_two_runs_counts_once(tmp_path):
    cells = [_cell("c_malloc", 1), _cell("c_malloc", 2, "incorrect", "overlap")]
    runs = _runs(tmp_path, cells, cells) + _runs(tmp_path, [_cell("halloc", 1)], backend="cuda")
    cpu, cuda = survival.matrices(runs)
    assert (cpu.back_end, cpu.counts()) == ("cpu", {"ok": 1, "incorrect": 1})
    assert (cuda.back_end, cuda.counts()) == ("cuda", {"ok": 1})
    assert "CPU executor" not in survival.markdown(cuda)


def test_allocators_that_fail_on_purpose_are_left_out(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1), _cell("saboteur_trap", 1, "device_fault", "trap")])
    assert list(survival.matrices(runs)[0].allocators) == ["c_malloc"]
    with pytest.raises(NothingToDraw):
        survival.matrices(_runs(tmp_path / "only", [_cell("saboteur_trap", 1, "device_fault", "trap")]))


def test_the_picture_shows_letters_and_shares(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1), _cell("c_malloc", 2, "crashed", "SIGSEGV"), _cell("halloc", 1)])
    drawing = survival.drawing(survival.matrices(runs)[0])
    shown = figures.texts(drawing)
    assert "c" in shown and "alloc_free" in shown and any("2 ok, 1 crashed" in text for text in shown)
    bars = [each for axes in drawing.page.figure.axes for each in axes.collections if (each.get_gid() or "").startswith("status")]
    widths = {}
    for bar in bars:
        [path] = bar.get_paths()
        widths.setdefault(bar.get_gid(), []).append(round(float(path.vertices[:, 0].max() - path.vertices[:, 0].min()), 3))
    assert widths == {"status ok": [0.47, 0.94], "status crashed": [0.47]}


def test_the_command_writes_picture_and_tables(tmp_path, capsys):
    _runs(tmp_path, [_cell("c_malloc", 1, "unsupported", "needs whole warps")])
    assert main(["survival", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == [str(tmp_path / "out" / f"survival_cpu.{suffix}") for suffix in ("png", "md", "csv")]
    assert (tmp_path / "out" / "survival_cpu.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path, message", [("absent", "does not exist"), ("configs/vinkler2015/table1.json", "is a config")])
def test_mistakes_are_one_line(root, capsys, path, message):
    assert main(["survival", str(root / path)]) == 2
    assert message in capsys.readouterr().err
