"""Tests tools/pack_results.py: the packed files are enough to draw, and packing them again changes nothing."""

import copy
import importlib.util
import json
import subprocess
import sys

from allocbench import stored
import pandas.testing
import pytest
import synthetic

from plots.figures import drawing
from plots.figures.kinds import KINDS
from plots.figures.model import samples
from plots.runs import origin, results

CONFIG = {"name": "test", "description": "A test", "allocators": ["c_malloc"], "statistic": "mean",
          "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}
SAMPLES = ([1e-6, 1e-6, 1e-6, 1e-6, 5e-3], [1e-6, 1e-6, 1e-6, 1e-6, 1e-6])


def _packing(root):
    spec = importlib.util.spec_from_file_location("pack_results", root / "tools" / "pack_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(folder):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1e-6 * x}) for x in (1, 2)]
    synthetic.write(folder, CONFIG, cells, "cuda")
    for number, seconds in enumerate(SAMPLES):
        synthetic.change(folder, number, display_name="CMalloc!", counted={"values": {}, "histograms": {"steps": [[1, 2]]}},
                         phases=[{"name": "alloc", "samples": seconds, "throughput": 1e6, "confidence": 0.95}])
    document = json.loads((folder / "results.json").read_text())
    document["benchmarks"] = [{"name": "x"}]
    (folder / "results.json").write_text(json.dumps(document))
    (folder / "events.jsonl").write_text("{}\n")
    return folder


def test_packed_results_are_drawn_alike(tmp_path, root):
    whole, kept = _run(tmp_path / "test"), tmp_path / "kept" / "test"
    _packing(root).main(whole, kept)
    assert sorted(path.name for path in kept.iterdir()) == ["events.jsonl.xz", "results.json.xz"]
    runs = [drawing.read(folder) for folder in (whole, kept)]
    pandas.testing.assert_frame_equal(runs[0].values, runs[1].values, rtol=1e-6)
    assert runs[1].names == {"c_malloc": "CMalloc!"}
    far = [samples.outliers(run, [("alloc", "time")]) for run in runs]
    assert far[0] == far[1] and len(far[0]) == 1
    pages = [KINDS["lines"](run, "stem").markdown for run in runs]
    assert pages[0] == pages[1]


def test_only_samples_that_decide_a_mean_are_kept(tmp_path, root):
    document = json.loads(stored.content_of(_run(tmp_path / "test"), "results.json"))
    reduced = _packing(root).reduced(copy.deepcopy(document))
    assert [cell["phases"][0].get("samples") for cell in reduced["allocbench"]["cells"]] == [SAMPLES[0], None]
    assert "benchmarks" not in reduced and list(reduced)[0] == "note" and "allocbench report" in reduced["note"]
    assert set(reduced["allocbench"]["cells"][1]["phases"][0]) == {"name", "mean", "low", "high", "rounds", "throttled"}


def test_packing_what_is_packed_changes_nothing(tmp_path, root):
    kept = tmp_path / "kept"
    _packing(root).main(_run(tmp_path / "test"), kept)
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    _packing(root).main(kept, kept)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before and results.read_run(kept)


def test_fractions_lose_what_a_clock_of_floats_has_not(root):
    pack = _packing(root)
    assert pack.rounded({"seconds": 9.056000038981438e-06, "phases": [0.0001500000071246, {"bytes": 123456789.0, "count": 2**60}]}) == {
        "seconds": 9.056e-06, "phases": [0.00015, {"bytes": 123456789.0, "count": 2**60}]}


def test_events_lose_what_follows_from_others(root):
    pack = _packing(root)
    sample = {"event": "sample", "phases": [{"name": "alloc", "seconds": 1e-6}], "wall_seconds": 0.0045678, "loop": {"iterations": 5, "mean_seconds": 1e-6}}
    assert pack.rounded(pack.shortened(sample)) == {"event": "sample", "phases": sample["phases"], "wall_seconds": 0.0046}
    assert pack.shortened({"event": "round", "round": 2, "seconds": 0.0123456}) == {"event": "round", "round": 2, "seconds": 0.0123}


def test_a_log_without_samples_tells_how_cells_failed(tmp_path, root):
    def end(cell, status):
        return [{"event": "cell", "id": cell}, {"event": "start", "time": "1", "cell": cell}, {"event": "sample", "cell": cell},
                {"event": "round", "time": "2", "cell": cell}, {"event": "end", "time": "3", "cell": cell, "status": status}]
    run, kept = _run(tmp_path / "test"), tmp_path / "kept"
    (run / "events.jsonl").write_text("\n".join(map(json.dumps, [{"event": "run"}, *end("a", "timeout"), *end("b", "ok")])))
    assert _keeping(root, "--without-samples", run, kept).returncode == 0
    log = [json.loads(line) for line in stored.content_of(kept, "events.jsonl").splitlines()]
    assert [(event["event"], event.get("cell", event.get("id"))) for event in log] == [
        ("run", None), ("cell", "a"), ("start", "a"), ("end", "a"), ("kept", None)]
    assert log[-1] == {"event": "kept", "time": "3", "without": "samples, and cells that are ok"}
    again = tmp_path / "again"
    assert _keeping(root, "--without-samples", kept, again).returncode == 0
    assert stored.content_of(again, "events.jsonl") == stored.content_of(kept, "events.jsonl")


def _keeping(root, *arguments):
    return subprocess.run([sys.executable, "-B", str(root / "tools" / "pack_results.py"), *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def test_unfinished_runs_are_refused_unless_asked_for(tmp_path, root):
    run, kept = _run(tmp_path / "test"), tmp_path / "kept"
    assert _keeping(root, "--check", run).returncode == 0
    document = json.loads((run / "results.json").read_text())
    document["allocbench"]["unfinished"] = 7
    document["allocbench"]["cells"][0]["stop"] = "not finished"
    (run / "results.json").write_text(json.dumps(document))
    refused = _keeping(root, run, kept)
    assert refused.returncode == 1 and "7 planned cells are not finished" in refused.stderr and "--resume" in refused.stderr
    assert not kept.exists()
    assert _keeping(root, "--unfinished", run, kept).returncode == 0
    drawn = drawing.read(kept)
    assert drawn.unfinished == 7
    assert "unfinished: 1 cell has fewer rounds than planned · not measured: 6 planned cells of the run" in origin.lines(drawn)[-1], "the figure says so"


@pytest.mark.parametrize("flag", ["dirty", "mixed"])
def test_numbers_of_no_single_origin_are_refused(tmp_path, root, flag):
    run = _run(tmp_path / "test")
    document = json.loads((run / "results.json").read_text())
    document["allocbench"]["provenance"] = {flag: True}
    (run / "results.json").write_text(json.dumps(document))
    assert _keeping(root, "--check", "--unfinished", run).returncode == 1


def test_what_to_pack_must_be_named(tmp_path, root):
    assert _keeping(root, tmp_path).returncode == 2
    assert _keeping(root, "--check", tmp_path, tmp_path).returncode == 2
