"""Tests the survival matrix (which allocators fail where): every cell of every run is counted once, with its status and reason."""

import csv
import io
from pathlib import Path

from allocbench import stored
from allocbench.errors import NothingToDraw
import readback
import pytest
import synthetic

from plots.commands.cli import main
from plots.runs import kept, results
from plots.sheet import style
from plots.studies import reasons, survival

CONFIG = {"name": "test/fig", "allocators": ["c_malloc", "halloc"], "plot": {"kind": "lines", "x": "threads"}}
ROOT = Path(__file__).resolve().parents[3]


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
    runs = _runs(tmp_path, cells) + _runs(tmp_path / "again", cells) + _runs(tmp_path, [_cell("halloc", 1)], backend="cuda")
    cpu, cuda = survival.matrices(runs)
    assert (cpu.back_end, cpu.counts()) == ("cpu", {"ok": 1, "incorrect": 1})
    assert (cuda.back_end, cuda.counts()) == ("cuda", {"ok": 1})
    assert "CPU executor" not in survival.markdown(cuda)


def _status(runs):
    [matrix] = survival.matrices(runs)
    return matrix.counts()


def test_runs_that_measure_a_cell_in_different_ways_are_not_merged(tmp_path):
    """The cells have the same id."""
    runs = _runs(tmp_path, [_cell("c_malloc", 1)], [_cell("c_malloc", 1, "timeout", "used its deadline")])
    assert _status(runs) == {"ok": 1, "timeout": 1}, "two configs"
    runs[1].config["name"] = runs[0].config["name"]
    assert _status(runs) == {"timeout": 1}
    runs[1].run["executor"] = "--lockstep 1"
    assert _status(runs) == {"ok": 1, "timeout": 1}, "two sets of options of the executor"


def test_the_latest_run_of_a_day_counts(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1)]) + _runs(tmp_path / "again", [_cell("c_malloc", 1, "timeout", "used its deadline")])
    for run, time in zip(runs, ("2026-01-02T05:00:00.000Z", "2026-01-02T04:00:00.000Z")):
        run.run["time"] = time
    assert _status(runs) == {"ok": 1}


def test_allocators_that_fail_on_purpose_are_left_out(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1), _cell("saboteur_trap", 1, "device_fault", "trap")])
    assert list(survival.matrices(runs)[0].allocators) == ["c_malloc"]
    with pytest.raises(NothingToDraw):
        survival.matrices(_runs(tmp_path / "only", [_cell("saboteur_trap", 1, "device_fault", "trap")]))


def test_causes_stand_by_rule_and_what_none_explains_is_said(tmp_path):
    (matrix,) = survival.matrices(_runs(tmp_path, [
        _cell("cm_malloc", 1, "timeout", "used its deadline"), _cell("cfm_malloc", 1, "timeout", "used its deadline"),
        _cell("slab", 1, "crashed", "SIGSEGV"), _cell("comb", 1)]))
    lines = [line for line in survival.markdown(matrix).split("Causes:")[1].splitlines() if line.startswith("- ")]
    assert len(lines) == 2
    assert lines[0].startswith("- timeout: A request walks the list of chunks") and "docs/papers/vinkler2015.md" in lines[0]
    assert lines[1].startswith("- crashed: **No explanation yet.** ")
    rows = {row["allocator"]: row["because"] for row in csv.DictReader(io.StringIO(survival.table(matrix)))}
    assert rows["cm_malloc"] == rows["cfm_malloc"] != ""
    assert rows["slab"] == rows["comb"] == ""


LATE = "put off until all others were measured (series halloc timed out at 4); then the time of --minutes was used up"


def test_cells_for_which_the_time_was_over_are_apart_from_skipped_ones(tmp_path):
    (matrix,) = survival.matrices(_runs(tmp_path, [
        _cell("halloc", 8, "skipped", "series halloc timed out at 2 and 4"), _cell("halloc", 16, "skipped", LATE), _cell("kma", 8, "skipped", LATE)]))
    assert matrix.fields["halloc", "alloc_free"].words() == "1 not measured, 1 skipped"
    assert matrix.fields["kma", "alloc_free"].words() == "not measured" and matrix.fields["kma", "alloc_free"].letters() == "n"
    text = survival.markdown(matrix)
    assert "Not measured: the study's time was over, or the device has too little memory for the pool." in text
    assert [line.split(". ")[0] for line in text.split("Causes:")[1].splitlines() if line.startswith("- ")] == [
        "- not measured: Not measured: the study's time was over, or the device has too little memory for the pool",
        "- skipped: Two smaller cells of the same series timed out"]
    rows = {(row["allocator"], row["status"]): row["because"] for row in csv.DictReader(io.StringIO(survival.table(matrix)))}
    assert rows["kma", "not measured"] == rows["halloc", "not measured"] != rows["halloc", "skipped"]


def test_results_say_what_was_left_out_and_older_ones_by_their_reason(tmp_path):
    cells = [_cell("halloc", threads, "skipped", reason) for threads, reason in ((1, "any"), (2, LATE), (4, LATE), (8, "any"))]
    folder = synthetic.write(tmp_path, CONFIG, [*cells, _cell("halloc", 16, "timeout", LATE)], "cuda")
    synthetic.change(folder, 0, left_out=True)
    synthetic.change(folder, 1, left_out=False)
    assert list(results.read_run(folder).cells["left_out"]) == [True, False, True, False, False]


@pytest.mark.full
def test_every_status_in_the_kept_runs_has_its_rule():
    """The front end skips a cell for two reasons: the time was over, or the series timed out at two smaller values."""
    for folder in stored.find_runs(kept.REFERENCE):
        cells = kept.read(folder).cells
        for cell in cells[(cells["status"] != "ok") & ~cells["allocator"].str.startswith("saboteur_")].itertuples():
            if cell.status == "skipped":
                assert cell.left_out == any(words in cell.reason for words in ("--minutes", "the time of the run was over", "the time limit of the run was reached"))
            status = style.NOT_MEASURED if cell.left_out else cell.status
            assert reasons.why(cell.allocator, cell.workload, status, cell.reason.strip().split("\n")[0], cell.revision), (folder, cell.allocator, cell.reason)


@pytest.mark.parametrize("rule", reasons.rules(), ids=lambda rule: rule.because[:40])
def test_rules_name_statuses_and_files_that_exist(rule):
    assert set(rule.statuses) <= set(survival.SEVERITY) - {"ok"}
    assert not rule.see or (ROOT / rule.see).is_file()
    assert rule.because.endswith(".")


def test_a_cause_that_was_mended_explains_earlier_runs_only(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, [_cell("bulkalloc", threads, "timeout", "used its deadline") for threads in (1, 2)], "cuda")
    synthetic.change(folder, 0, revision="9a89a106")
    (matrix,) = survival.matrices([results.read_run(folder)])
    causes = survival.markdown(matrix).split("Causes:")[1]
    assert "The present code serves one size after the other." in causes and "**No explanation yet.** BulkAlloc" in causes


@pytest.mark.parametrize("rule", reasons.rules(), ids=lambda rule: rule.because[:40])
def test_what_was_measured_before_a_repair_names_its_revisions(rule):
    if rule.revisions:
        assert "present" in rule.because.lower(), "what is different today"
    else:
        assert "present code" not in rule.because.lower()


def test_the_picture_shows_letters_and_shares(tmp_path):
    runs = _runs(tmp_path, [_cell("c_malloc", 1), _cell("c_malloc", 2, "crashed", "SIGSEGV"), _cell("halloc", 1)])
    drawing = survival.drawing(survival.matrices(runs)[0])
    shown = readback.texts(drawing)
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


def test_forms_share_a_row_and_a_run_without_cells_stops_nothing(tmp_path, capsys):
    _runs(tmp_path, [_cell("halloc", 1), _cell("halloc_reworked", 1, "oom", "full")], [_cell("comb", 1)])
    synthetic.write(tmp_path / "none", {**CONFIG, "name": "test/none"}, [], "cpu")
    assert main(["survival", str(tmp_path), "--out", str(tmp_path / "out")]) == 3
    assert "contains no cell" in capsys.readouterr().err and (tmp_path / "out" / "survival_cpu.png").exists()
    matrix, = survival.matrices(_runs(tmp_path / "again", [_cell("halloc", 1), _cell("halloc_reworked", 1, "oom", "full"), _cell("comb", 1)]))
    assert survival._lines(matrix) == [("Comb", ["comb"]), ("Halloc", ["halloc", "halloc_reworked"])]
    drawing = survival.drawing(matrix)
    bars = {each.get_gid(): each.get_paths()[0].vertices[:, 0] for axes in drawing.page.figure.axes for each in axes.collections
            if each.get_gid() == "status oom"}
    assert bars["status oom"].min() > 0.5, "the reworked form stands at the right"
    assert "reworked form at the right" in " ".join(readback.texts(drawing))
