"""Tests that captions say what a number is based on."""

import dataclasses

import pytest
import synthetic
from plots.figures import lines
from plots.runs import results

CONFIG = {"name": "fig", "allocators": ["halloc"], "workload": {"id": "alloc_free"}, "sweep": {"request_bytes": [16, 64]},
          "plot": {"kind": "lines", "x": "request_bytes", "y": "alloc"}}


def caption(folder, rounds):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, 0.9, 1.1)}, samples=3 * count)
             for size, count in zip((16, 64), rounds)]
    synthetic.write(folder, CONFIG, cells, backend="cuda")
    for number, count in enumerate(rounds):
        synthetic.change(folder, number, phases=[{"name": "alloc", "samples": [1.0] * 3 * count, "rounds": [3] * count}])
    return lines.make(results.read_run(folder), "stem").markdown


def test_rounds_are_told(tmp_path):
    text = caption(tmp_path, (6, 20))
    assert "median of 18 to 60 samples in 6 to 20 rounds" in text
    assert "95 % interval of the rounds' median" in text
    assert "bootstrap" not in text


def test_rounds_of_cells_that_are_not_shown_do_not_count(tmp_path):
    cells = [synthetic.cell(name, {"request_bytes": 16}, values={("alloc", "time"): 1.0, ("free", "time"): 1.0}) for name in ("halloc", "kma")]
    synthetic.write(tmp_path, {**CONFIG, "allocators": ["halloc", "kma"], "plot": {**CONFIG["plot"], "allocators": ["halloc"]}}, cells, backend="cuda")
    for number, rounds in enumerate((6, 20)):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "rounds": [3] * rounds}, {"name": "free", "rounds": [3] * 40}])
    assert "samples in 6 rounds" in lines.make(results.read_run(tmp_path), "stem").markdown


@pytest.mark.parametrize("metric", ["time", "throughput", "relative_time"])
def test_rounds_without_an_interval_count(tmp_path, metric):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, *bounds), ("alloc", "operations"): 1})
             for size, bounds in ((16, (0.9, 1.1)), (64, (None, None)))]
    synthetic.write(tmp_path, {**CONFIG, "plot": {**CONFIG["plot"], "metric": metric, "reference": "halloc"}}, cells, backend="cuda")
    for number, rounds in enumerate((6, 3)):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "samples": [1.0] * 3 * rounds, "rounds": [3] * rounds}])
    assert "median of 9 to 18 samples in 3 to 6 rounds" in lines.make(results.read_run(tmp_path), "stem").markdown


def test_of_means_the_interval_is_that_of_the_median_of_rounds(tmp_path, monkeypatch):
    monkeypatch.setitem(CONFIG, "statistic", "mean")
    text = caption(tmp_path, (6, 20))
    assert "mean of 18 to 60 samples" in text and "95 % interval of the median of the rounds' means" in text


def test_equal_numbers_are_told_once(tmp_path):
    assert "median of 18 samples in 6 rounds" in caption(tmp_path, (6, 6))


def test_bars_are_promised_for_the_values_that_have_them(tmp_path):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, *bounds)}, samples=18)
             for size, bounds in ((16, (0.9, 1.1)), (64, (None, None)), (256, (None, None)))]
    synthetic.write(tmp_path, CONFIG, cells, backend="cuda")
    for number in range(3):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "samples": [1.0] * 18, "rounds": [3] * 6}])
    drawing = lines.make(results.read_run(tmp_path), "stem")
    text = " ".join(" ".join(text.get_text() for text in drawing.page.figure.texts).split())
    some = "95 % interval of the rounds' median, for the 1 of 3 values that have at least six rounds."
    assert f"bars: {some}" in text and f"the farther end of the {some}" in drawing.markdown


def test_times_of_requests_that_got_null_are_told(tmp_path):
    cells = [synthetic.cell(name, {"request_bytes": size}, values={("alloc", "time"): 1e-6, ("", "null_returns"): nulls, ("", "steps_per_malloc"): 2})
             for name, size, nulls in (("halloc", 16, 0), ("halloc", 64, 3), ("kma", 16, 1), ("kma", 64, 1), ("slab", 16, 0))]
    run = results.read_run(synthetic.write(tmp_path, {**CONFIG, "allocators": ["halloc", "kma", "slab"]}, cells, backend="cuda"))
    told = "Some requests got null, which is faster than getting a block: Halloc (1 cell), KMA (2 cells)."
    assert told in lines.make(run, "stem").markdown
    counts = dataclasses.replace(run, config={**run.config, "plot": {**run.plot, "y": "", "metric": "steps_per_malloc"}})
    assert "got null" not in lines.make(counts, "stem").markdown, "a count is no time"


def test_older_code_is_told_below_the_picture(tmp_path):
    claim = {"says": "It is so.", "source": "fig. 1", "older_code": {"revisions": ["0123456789ab"], "because": "Halloc walks in another way"}}
    synthetic.write(tmp_path, {**CONFIG, "claims": [claim, claim]}, [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): 1.0}) for size in (16, 64)])
    run = results.read_run(tmp_path)
    for measured, told in ((["0123456789ab"], 1), (["ba9876543210"], 0), ([], 0)):
        page = lines.make(dataclasses.replace(run, provenance={"measured_revisions": measured}), "stem").markdown
        assert page.count("Halloc walks in another way: to be measured again.") == told
