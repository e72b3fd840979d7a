"""Tests that captions say what a number is based on."""

import dataclasses

import pytest
import synthetic
from plots.figures import heatmap, lines
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
    assert "Numbers: median of 6 to 20 rounds' medians, 3 samples each, ± the distance to the farther end of the 95 % interval." in text


def test_rounds_of_cells_that_are_not_shown_do_not_count(tmp_path):
    cells = [synthetic.cell(name, {"request_bytes": 16}, values={("alloc", "time"): 1.0, ("free", "time"): 1.0}) for name in ("halloc", "kma")]
    synthetic.write(tmp_path, {**CONFIG, "allocators": ["halloc", "kma"], "plot": {**CONFIG["plot"], "allocators": ["halloc"]}}, cells, backend="cuda")
    for number, rounds in enumerate((6, 20)):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "rounds": [3] * rounds}, {"name": "free", "rounds": [3] * 40}])
    assert "median of 6 rounds' medians, 3 samples each" in lines.make(results.read_run(tmp_path), "stem").markdown


@pytest.mark.parametrize("metric", ["time", "throughput", "relative_time"])
def test_rounds_without_an_interval_count(tmp_path, metric):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, *bounds), ("alloc", "operations"): 1})
             for size, bounds in ((16, (0.9, 1.1)), (64, (None, None)))]
    synthetic.write(tmp_path, {**CONFIG, "plot": {**CONFIG["plot"], "metric": metric, "reference": "halloc"}}, cells, backend="cuda")
    for number, rounds in enumerate((6, 3)):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "samples": [1.0] * 3 * rounds, "rounds": [3] * rounds}])
    assert "median of 3 to 6 rounds' medians, 3 samples each" in lines.make(results.read_run(tmp_path), "stem").markdown


def test_of_means_the_median_of_the_rounds_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setitem(CONFIG, "statistic", "mean")
    text = caption(tmp_path, (6, 20))
    assert "median of 6 to 20 rounds' means, 3 samples each" in text


def test_equal_numbers_are_told_once(tmp_path):
    assert "median of 6 rounds' medians, 3 samples each" in caption(tmp_path, (6, 6))


def test_bars_are_promised_for_the_values_that_have_them(tmp_path):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, *bounds)}, samples=18)
             for size, bounds in ((16, (0.9, 1.1)), (64, (None, None)), (256, (None, None)))]
    synthetic.write(tmp_path, CONFIG, cells, backend="cuda")
    for number in range(3):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "samples": [1.0] * 18, "rounds": [3] * 6}])
    drawing = lines.make(results.read_run(tmp_path), "stem")
    text = " ".join(" ".join(text.get_text() for text in drawing.page.figure.texts).split())
    some = "95 % interval from six rounds on (1 of 3 values)."
    assert f"bars: {some}" in text and f"the farther end of the {some}" in drawing.markdown


def _with_passes(folder, passes, metric):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): 1.0, ("", "utilisation"): (0.5, None, None)},
                            counted={"values": {"steps_per_malloc": [2.0] * count}}) for size, count in zip((16, 64), passes)]
    synthetic.write(folder, {**CONFIG, "statistic": "mean", "plot": {**CONFIG["plot"], "metric": metric, "reference": "best"}}, cells, backend="cuda")
    for number, rounds in enumerate((20, 6)):
        synthetic.change(folder, number, phases=[{"name": "alloc", "rounds": [1] * rounds}])
    return results.read_run(folder)


@pytest.mark.parametrize("passes, told", [((5, 5), "mean of 5 counted passes"), ((3, 5), "mean of 3 to 5 counted passes"), ((1, 1), "counts of one pass")])
@pytest.mark.parametrize("metric", ["steps_per_malloc", "relative_steps_per_malloc"])
def test_counts_have_passes_in_place_of_rounds(tmp_path, passes, told, metric):
    assert f"Numbers: {told}." in lines.make(_with_passes(tmp_path, passes, metric), "stem").markdown


def test_a_counter_has_the_median_of_its_rounds_whatever_the_statistic_of_times(tmp_path):
    assert "Numbers: median of 6 to 20 rounds, one sample each." in lines.make(_with_passes(tmp_path, (1, 1), "utilisation"), "stem").markdown


def test_metrics_of_several_kinds_are_told_apart(tmp_path):
    text = lines.make(_with_passes(tmp_path, (5, 5), ["time", "steps_per_malloc"]), "stem").markdown
    assert "Numbers: median of 6 to 20 rounds, one sample each (time); mean of 5 counted passes (TAS), ±" in text


def test_a_fact_is_read_once(tmp_path):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): 1.0, ("", "metadata_bytes"): 64}) for size in (16, 64)]
    synthetic.write(tmp_path, {**CONFIG, "plot": {**CONFIG["plot"], "metric": "metadata_bytes"}}, cells, backend="cuda")
    assert "Numbers: one reading each." in lines.make(results.read_run(tmp_path), "stem").markdown


@pytest.mark.parametrize("bounds, told", [(((0.9, 1.1), (0.9, 1.1)), ", with 95 % intervals."), (((0.9, 1.1), (None, None)), ", with 95 % intervals from six rounds on (1 of 2 values)."),
                                          (((None, None), (None, None)), "; no intervals: they need six rounds.")])
def test_a_map_promises_the_intervals_that_its_page_has(tmp_path, bounds, told):
    cells = [synthetic.cell("halloc", {"request_bytes": size}, values={("alloc", "time"): (1.0, *ends)}) for size, ends in zip((16, 64), bounds)]
    synthetic.write(tmp_path, {**CONFIG, "plot": {**CONFIG["plot"], "kind": "heatmap", "reference": "best"}}, cells, backend="cuda")
    for number, (low, _) in enumerate(bounds):
        synthetic.change(tmp_path, number, phases=[{"name": "alloc", "rounds": [3] * (6 if low else 5)}])
    assert f"The page beside this image has them{told}" in " ".join(heatmap.resolve(results.read_run(tmp_path)).heading.caption)


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
