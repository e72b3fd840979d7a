"""Tests Comb against the best other allocator: limits of each kind, verdicts from intervals, points without a number,
and wrong lists.
"""

import dataclasses
import itertools
import json

import pytest
from allocbench.errors import NothingToDraw, UsageError
import synthetic

from plots.commands import cli
from plots.ledger.effects import Estimate
from plots.runs import configs, few_rounds, kept, results
from plots.studies import points, points_table

CONFIG = {"description": "Test data", "allocators": ["comb", "halloc", "corw_reworked", "atomic_malloc"], "plot": {"kind": "status_matrix"}}


def _run(folder, name, cells, backend="cuda", details=()):
    made = synthetic.write(folder / name, {**CONFIG, "name": name}, cells, backend)
    for number, cell in enumerate(cells):
        synthetic.change(made, number, checks={"leak": "waived: AtomicMalloc never frees" if cell["allocator"] == "atomic_malloc" else "checked"})
    return results.read_run(made)


def _cell(allocator, size, seconds, half=0.01, phase="alloc", **more):
    bounds = (seconds * (1 - half), seconds * (1 + half)) if half is not None else (None, None)
    return synthetic.cell(allocator, {"request_bytes": size}, values={(phase, "time"): (seconds, *bounds)}, **more)


def _sizes(folder, comb=10e-6, half=0.01):
    return _run(
        folder,
        "comb/sizes",
        [
            _cell("comb", 16, comb, half),
            _cell("halloc", 16, 20e-6, half),
            _cell("corw_reworked", 16, 9e-6, half),
            _cell("atomic_malloc", 16, 1e-6, half),
        ],
    )


def _judged(runs, **point):
    data = {"allocator": "comb", "points": [{"name": "p", "config": "comb/sizes", "phase": "alloc", **point}]}
    return points.judge(data, runs)[0]


@pytest.mark.parametrize(
    "limit, verdict, margin",
    [
        ({"times": 1.2, "of": "corw_reworked"}, points.MET, 10 / 9 / 1.2),
        ({"times": 1.05, "of": "corw_reworked"}, points.LOST, 10 / 9 / 1.05),
        ({"times": 1.12, "of": "corw_reworked"}, points.OPEN, 10 / 9 / 1.12),
        ({"times": 1, "of": "best"}, points.LOST, 10 / 9),
        ({"at_most": 11e-6}, points.MET, 10 / 11),
        ({"at_most": 9e-6}, points.LOST, 10 / 9),
        ({"at_least": 9e-6}, points.MET, 9 / 10),
    ],
)
def test_the_interval_decides(tmp_path, limit, verdict, margin):
    place, = _judged([_sizes(tmp_path)], limit=limit).places
    assert (place.verdict, place.margin.number) == (verdict, pytest.approx(margin))
    assert (place.rival, place.ratio.number) == ("CoRW, reworked", pytest.approx(10 / 9)), "a bump pointer that never frees is not a rival"


def test_who_is_left_out_is_no_rival(tmp_path):
    place, = _judged([_sizes(tmp_path)], limit={"times": 1, "of": "best"}, without=["corw_reworked"]).places
    assert (place.rival, place.verdict) == ("Halloc", points.MET)


def test_without_an_interval_nobody_can_tell(tmp_path):
    place, = _judged([_sizes(tmp_path, half=None)], limit={"at_most": 1}).places
    assert (place.verdict, place.why) == (points.OPEN, "no interval: fewer than three rounds")


@pytest.mark.parametrize("seconds, spread, verdict", [(9e-6, 0.05, points.MET), (20e-6, 0.05, points.LOST), (9e-6, 0.5, points.OPEN)])
def test_a_few_rounds_decide_by_their_t_interval_and_it_is_said(tmp_path, seconds, spread, verdict):
    few = {"values": [seconds] * 4, "least_spread": 0.01, "low": seconds / (1 + spread), "high": seconds * (1 + spread)}
    phase = {"name": "alloc", "no_interval": "4 of the 6 rounds that an interval needs", "few_rounds": few}
    run = _run(tmp_path, "comb/sizes", [_cell("comb", 16, seconds, None, phases=[phase]), _cell("corw_reworked", 16, 10e-6)])
    data = {"allocator": "comb", "title": "T", "points": [{"name": "p", "config": "comb/sizes", "phase": "alloc", "limit": {"times": 1.1, "of": "best"}}]}
    judged = points.judge(data, [run])
    assert (judged[0].verdict, judged[0].few) == (verdict, "judged on 4 rounds")
    text = points_table.drawing(data, judged, [run]).markdown
    assert text.count(f"| {verdict} (judged on 4 rounds) |") == 2 and few_rounds.MARKED in text
    assert "rounds" not in points_table.drawing(data, _whole(tmp_path / "whole", data), [run]).markdown


def _whole(folder, data):
    return points.judge(data, [_sizes(folder)])


def test_its_own_value_elsewhere(tmp_path):
    cold = _run(tmp_path, "comb/cold", [_cell("comb", 16, 14e-6), _cell("comb", 64, 14e-6)])
    point = _judged([_sizes(tmp_path), cold], config="comb/cold", limit={"times": 1.5, "of": {"config": "comb/sizes"}})
    assert [(place.at, place.verdict) for place in point.places] == [("request size 16 B", points.MET), ("request size 64 B", points.OPEN)]
    assert point.verdict == points.OPEN and point.worst().why == "its own value is not measured there"


def test_its_own_value_at_another_setting(tmp_path):
    run = _run(tmp_path, "comb/sizes", [_cell("comb", 16, 10e-6), _cell("comb", 64, 40e-6)])
    place, = _judged([run], where={"request_bytes": 64}, limit={"times": 3, "of": {"where": {"request_bytes": 16}}}).places
    assert (place.at, place.verdict, place.margin.number) == ("", points.LOST, pytest.approx(4 / 3))


def test_a_failure_loses_and_says_its_word(tmp_path):
    failed = synthetic.cell("comb", {"request_bytes": 64}, status="timeout", reason="too slow\nmore")
    run = _run(tmp_path, "comb/sizes", [_cell("comb", 16, 10e-6), failed, _cell("halloc", 64, 1e-6), _cell("halloc", 16, 30e-6)])
    point = _judged([run], limit={"times": 1, "of": "best"}, because="it waits")
    assert [place.verdict for place in point.places] == [points.MET, points.LOST]
    assert (point.verdict, point.worst().why, point.reason()) == (points.LOST, "timeout: too slow", "it waits")


def test_higher_may_be_better(tmp_path):
    place = _recovery(tmp_path, (0.97, 0.97))
    assert (place.verdict, place.rival) == (points.MET, "Halloc")


def test_a_share_of_few_rounds_is_not_exact(tmp_path):
    place = _recovery(tmp_path, (None, None))
    assert (place.verdict, place.why) == (points.OPEN, "no interval: fewer than six rounds")


def _recovery(tmp_path, interval):
    cells = [synthetic.cell(name, {"growth": 1}, values={("", "recovered_share"): share}, workload="recovery")
             for name, share in (("comb", (0.97, *interval)), ("halloc", (0.99, None, None)), ("corw_reworked", (0.5, None, None)))]
    run = _run(tmp_path, "comb/recovery", cells)
    place, = _judged([run], config="comb/recovery", phase="", metric="recovered_share", better="higher", limit={"at_least": 0.95}).places
    return place


def test_metadata_are_a_share_of_the_pool(tmp_path):
    run = _run(tmp_path, "comb/sizes", [synthetic.cell("comb", {"request_bytes": 16}, values={("", "metadata_bytes"): (1 << 20, None, None)}, pool_bytes=1 << 26)])
    place, = _judged([run], phase="", metric="metadata_share", limit={"at_most": 0.015}).places
    assert (place.own.number, place.verdict) == (1 / 64, points.LOST)


def test_a_time_of_requests_that_got_null_is_no_value(tmp_path):
    cells = [_cell("comb", 16, 10e-6), _cell("halloc", 16, 1e-6), _cell("corw_reworked", 16, 9e-6)]
    cells[1]["values"]["", "null_returns"] = (5.0, None, None)
    place, = _judged([_run(tmp_path, "comb/sizes", cells)], limit={"times": 1, "of": "best"}).places
    assert (place.rival, place.theirs.number) == ("CoRW, reworked", 9e-6), "Halloc is quick because it gives up"
    place, = _judged([_run(tmp_path, "comb/sizes", cells)], limit={"times": 1, "of": "halloc"}).places
    assert (place.verdict, place.why) == (points.OPEN, "Halloc has no number")
    place, = _judged([_run(tmp_path, "comb/sizes", cells)], phase="", metric="null_returns", limit={"at_most": 9}).places
    assert (place.verdict, place.rival) == (points.UNMEASURED, "Halloc"), "a count stays valid"
    cells[0]["values"]["", "null_returns"] = (1.0, None, None)
    place, = _judged([_run(tmp_path, "comb/sizes", cells)], limit={"times": 1, "of": "best"}).places
    assert (place.verdict, place.why) == (points.OPEN, "requests got null")


def test_what_is_not_measured_is_said(tmp_path):
    point = _judged([_sizes(tmp_path)], where={"request_bytes": 99}, limit={"at_most": 1})
    assert point.verdict == points.UNMEASURED
    data = {"allocator": "comb", "title": "T", "points": [{"name": "p", "config": "comb/sizes", "limit": {"at_most": 1}}]}
    with pytest.raises(NothingToDraw, match="allocbench study comb"):
        points.judge(data, [_run(tmp_path, "other", [_cell("comb", 16, 1e-6)])])


def test_devices_are_not_mixed(tmp_path):
    runs = [_sizes(tmp_path), _run(tmp_path, "comb/cold", [_cell("comb", 16, 1e-6)], "cpu")]
    with pytest.raises(UsageError, match="different devices"):
        points.judge(points.read(), runs)


@pytest.mark.parametrize("change", [{"limits": {}}, {"limit": {"below": 1}}, {"limit": {"times": 1}}])
def test_a_mistake_in_the_list_names_the_point(tmp_path, change):
    path = tmp_path / "points.json"
    path.write_text(json.dumps({"allocator": "comb", "points": [{"name": "first", "config": "c", "limit": {"at_most": 1}, **change}]}))
    with pytest.raises(UsageError, match=r"point 0 \(first\)"):
        points.read(path)
    with pytest.raises(UsageError, match="cannot be read"):
        points.read(tmp_path / "none.json")


def test_every_point_of_comb_is_about_a_config_that_has_it():
    for point in points.read()["points"]:
        config = configs.read(kept.ROOT / "configs" / f"{point['config']}.json")
        axes = {**config.get("sweep", {}), **{name: values for group in config.get("zip", []) for name, values in group.items()}}
        assert "comb" in config["allocators"], point["config"]
        for name, wanted in point.get("where", {}).items():
            if isinstance(axes[name], list):  # any other axis has the powers of two between two ends
                assert all(value in axes[name] for value in (wanted if isinstance(wanted, list) else [wanted])), (point["name"], name)


def test_table_and_picture(tmp_path, capsys):
    _sizes(tmp_path)
    path = tmp_path / "points.json"
    path.write_text(json.dumps({"allocator": "comb", "title": "Comb against the others", "points": [
        {"name": "malloc", "config": "comb/sizes", "phase": "alloc", "limit": {"times": 1.05, "of": "corw_reworked"}, "because": "It reads more."},
        {"name": "not yet", "config": "comb/cold", "limit": {"at_most": 1}}]}))
    assert cli.main(["comb", str(tmp_path / "comb"), "--points", str(path), "--out", str(tmp_path / "made")]) == 0
    text = (tmp_path / "made" / "comb_points.md").read_text()
    assert "| malloc | at most 1.05 × CoRW, reworked | lost | 0 of 1 | request size 16 B | 10 µs | CoRW, reworked 9 µs | 1.11 ±2 % | It reads more. |" in text
    assert "| not yet | at most 1 s | not measured |" in text
    assert (tmp_path / "made" / "comb_points.png").stat().st_size > 1000
    assert "comb_points.png" in capsys.readouterr().out


def test_points_of_a_picture_are_marks_in_the_colour_of_their_verdict(tmp_path):
    run = _sizes(tmp_path)
    data = {"allocator": "comb", "title": "T", "points": [{"name": "p", "config": "comb/sizes", "phase": "alloc", "limit": {"at_most": 9e-6}}]}
    drawing = points_table.drawing(data, points.judge(data, [run]), [run])
    marks = [line for line in drawing.page.figure.axes[0].lines if line.get_marker() == "o"]
    assert [(line.get_xdata()[0], line.get_color()) for line in marks] == [(pytest.approx(10 / 9), "#b00000")]


def _estimate(number, half=0.02):
    return Estimate(number, number * (1 - half), number * (1 + half), "")


def _point(ratios, higher=False, half=0.02):
    places = [points.Place("", _estimate(ratio, half), "Halloc", _estimate(1.0, 0.0), None, points.MET) for ratio in ratios]
    return points.Point("p", "at most 1", "time", "s", tuple(places), "", higher)


def _drawn(tmp_path, made):
    """Returns the axes, the marks and the words of the page."""
    figure = points_table.drawing({"allocator": "comb", "title": "T"}, made, [_sizes(tmp_path)]).page.figure
    return figure.axes[0], [line for line in figure.axes[0].lines if line.get_marker() == "o"], " ".join(" ".join(text.get_text() for text in figure.texts).split())


def test_marks_of_equal_factors_lie_in_lanes_of_their_own(tmp_path):
    axes, drawn, _ = _drawn(tmp_path, [_point([1.2, 1.21, 1.2, 1.19, 1.22, 1.2, 5.0])])
    axes.figure.draw_without_rendering()
    boxes = [line.get_window_extent() for line in drawn]
    assert len(drawn) == 7 and not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert len({round(line.get_ydata()[0], 6) for line in drawn}) == 6, "5.0 has room beside the others"


def test_the_axis_covers_whole_intervals(tmp_path):
    axes, *_ = _drawn(tmp_path, [_point([10.0], half=0.5), _point([0.1], half=0.5)])
    assert axes.get_xlim()[0] < 0.05 and axes.get_xlim()[1] > 15


def test_left_of_one_is_better_where_more_is_better_too(tmp_path):
    for higher, factor in ((True, 1.25), (False, 0.8)):
        _, drawn, words = _drawn(tmp_path, [_point([0.8], higher)])
        assert drawn[0].get_xdata()[0] == pytest.approx(factor)
        assert ("If more is better, the factor is inverted." in words) == higher


def test_a_place_without_a_factor_is_told(tmp_path):
    whole = _point([1.2, 1.3])
    lacking = dataclasses.replace(whole, places=(dataclasses.replace(whole.places[0], theirs=_estimate(0.0)), whole.places[1]))
    axes, _, words = _drawn(tmp_path, [whole, lacking, dataclasses.replace(lacking, places=lacking.places[:1])])
    assert [text.get_text() for text in axes.texts if text.get_gid() == "lacking"] == ["1 of 2 without a factor", "no factor"]
    assert "No factor: a number is missing, or the best other has 0." in words and "No factor" not in _drawn(tmp_path, [whole])[2]


@pytest.mark.full
def test_the_committed_table_is_what_the_committed_results_say(tmp_path):
    folder = kept.REFERENCE / "h200" / "comb"
    assert cli.main(["comb", str(folder), "--out", str(tmp_path)]) == 0
    again = "write it again: python3 -m plots comb results/reference/h200/comb --out results/reference/h200/comb"
    text = (tmp_path / "comb_points.md").read_text()
    assert text == (folder / "comb_points.md").read_text(), again
