"""Tests how much an application depends on its allocator: slopes of hand-made times, their intervals, points without a
time, picture and table.
"""

import math

import numpy
import pytest
import scipy.stats
import synthetic
from allocbench.errors import NothingToDraw, UsageError

from plots.commands import cli
from plots.runs import configs, results
from plots.studies import delays, delays_figure

WAITS = (0, 1000, 2000, 4000)
MHZ = 1980


def _run(folder, name, times, backend="cuda", x="allocator.malloc_delay", phases=("build",), half=0.0, allocators=("delayed_comb",), clock=MHZ):
    """Makes a run. `times` maps a wait to seconds, or to the status of a cell without a time."""
    config = {"name": f"delay/{name}", "description": f"{name}: time against waits", "allocators": list(allocators),
              "plot": {"kind": "lines", "x": x, "y": list(phases), "metric": "time"}}
    cells = []
    for allocator in allocators:
        for wait, time in times.items():
            more = {"allocator_parameters": {x.removeprefix("allocator."): wait}}
            if isinstance(time, str):
                cells.append(synthetic.cell(allocator, {x: wait}, status=time, **more))
                continue
            values = {(phase, "time"): (time, time * (1 - half), time * (1 + half)) for phase in phases}
            values |= {("", "sm_clock"): (clock, clock, clock)} if clock else {}
            cells.append(synthetic.cell(allocator, {x: wait}, values=values, **more))
    return results.read_run(synthetic.write(folder / name, config, cells, backend))


def _line(base, per_cycle, waits=WAITS):
    return {wait: base + per_cycle * wait for wait in waits}


def test_the_slope_of_a_line_is_what_every_call_adds(tmp_path):
    slope, = delays.slopes([_run(tmp_path, "tree", _line(2e-3, 1e-6))])
    assert (slope.application, slope.call, slope.phase, slope.points, slope.base) == ("tree", "malloc", "build", 4, 2e-3)
    assert slope.slope.number == pytest.approx(1e-6)
    assert slope.share.number == pytest.approx(0.5), "1,000 cycles add 1 ms to 2 ms"
    assert slope.in_a_row.number == pytest.approx(1e-6 * MHZ * 1e6)
    assert slope.off_line == pytest.approx(0, abs=1e-9) and slope.seen


def test_points_beside_the_line_widen_its_interval(tmp_path):
    times = dict(zip(WAITS, (1.0e-3, 1.4e-3, 1.3e-3, 2.1e-3)))
    slope, = delays.slopes([_run(tmp_path, "tree", times)])
    fit = scipy.stats.linregress(list(times), list(times.values()))
    half = fit.stderr * scipy.stats.t.ppf(0.975, 2)
    assert (slope.slope.low, slope.slope.high) == pytest.approx((fit.slope - half, fit.slope + half))
    off = max(abs(time - fit.intercept - fit.slope * wait) for wait, time in times.items())
    assert slope.off_line == pytest.approx(off / 1.0e-3)


def test_intervals_of_the_points_count_where_they_are_wider(tmp_path):
    slope, = delays.slopes([_run(tmp_path, "tree", _line(2e-3, 1e-8), half=0.1)])
    xs = numpy.array(WAITS) - numpy.mean(WAITS)
    halves = [0.1 * (2e-3 + 1e-8 * wait) for wait in WAITS]
    half = math.sqrt(sum((x / (xs**2).sum() * own) ** 2 for x, own in zip(xs, halves)))
    assert slope.slope.high - slope.slope.number == pytest.approx(half)
    assert not slope.seen, "the interval includes zero"


def test_frees_phases_and_allocators_have_slopes_of_their_own(tmp_path):
    run = _run(tmp_path, "tree", _line(1e-3, 1e-7), x="allocator.free_delay", phases=("build", "drop"), allocators=("delayed_atomic_malloc", "delayed_comb"))
    made = delays.slopes([run])
    assert {(each.call, each.phase, each.allocator) for each in made} == {
        ("free", phase, allocator) for phase in ("build", "drop") for allocator in ("delayed_atomic_malloc", "delayed_comb")}


def test_what_was_not_measured_has_no_number(tmp_path):
    without, = delays.slopes([_run(tmp_path / "a", "tree", {0: "timeout", 1000: 2e-3, 2000: 3e-3, 4000: 5e-3})])
    assert (without.base, without.share, without.without) == (None, None, ("timeout",)) and without.in_a_row.number > 0
    two, = delays.slopes([_run(tmp_path / "b", "tree", {0: 1e-3, 1000: 2e-3, 2000: "oom"})])
    assert two.slope.low is None and not two.seen, "two points lie on any line"
    one, = delays.slopes([_run(tmp_path / "c", "tree", {0: 1e-3, 1000: "oom"})])
    assert one.slope is None and one.share is None
    no_clock, = delays.slopes([_run(tmp_path / "d", "tree", _line(1e-3, 1e-7), "cpu", clock=0)])
    assert no_clock.in_a_row is None


def test_other_runs_are_left_out_and_devices_are_not_mixed(tmp_path):
    other = results.read_run(synthetic.write(tmp_path / "other", {"name": "smoke", "plot": {"kind": "lines", "x": "threads"}},
                                             [synthetic.cell("comb", {"threads": 1}, values={("alloc", "time"): 1.0})], "cuda"))
    with pytest.raises(NothingToDraw, match="do not sweep malloc_delay or free_delay. Measure configs that do: allocbench study delay"):
        delays.slopes([other])
    tree = _run(tmp_path, "tree", _line(1e-3, 1e-7))
    assert len(delays.slopes([other, tree])) == 1
    with pytest.raises(UsageError, match="different devices"):
        delays.slopes([tree, _run(tmp_path, "list", _line(1e-3, 1e-7), "cpu")])


def test_table_and_picture(tmp_path, capsys):
    _run(tmp_path / "runs", "tree", _line(2e-3, 1e-6))
    _run(tmp_path / "runs", "flat", {wait: 1e-3 * (1 + 0.01 * (-1) ** number) for number, wait in enumerate(WAITS)})
    assert cli.main(["delay", str(tmp_path / "runs"), "--out", str(tmp_path / "made")]) == 0
    text = (tmp_path / "made" / "delay_cuda.md").read_text(encoding="utf-8")
    assert "| tree | build | malloc | Comb, delayed | 2 ms | 1 ms (1 ms to 1 ms) | 50 % (50 % to 50 %) | 1,980 (1,980 to 1,980) |" in text
    assert "delay_cuda.png" in capsys.readouterr().out
    assert (tmp_path / "made" / "delay_cuda.png").stat().st_size > 1000


def test_a_dependence_that_is_not_seen_is_a_mark_at_the_edge(tmp_path):
    seen = _run(tmp_path, "tree", _line(2e-3, 1e-6))
    unseen = _run(tmp_path, "flat", {wait: 1e-3 * (1 + 0.01 * (-1) ** number) for number, wait in enumerate(WAITS)})
    axes = delays_figure.drawing([seen, unseen]).page.figure.axes[0]
    marks = {line.get_gid(): line for line in axes.lines if str(line.get_gid()).startswith(("share", "unseen"))}
    assert marks["share Comb, delayed"].get_xdata()[0] == pytest.approx(0.5)
    assert marks["unseen Comb, delayed"].get_xdata()[0] == axes.get_xlim()[0]


def test_every_config_of_the_group_sweeps_a_wait_from_zero_on():
    paths = sorted((configs.FOLDER / "delay").glob("*.json"))
    assert paths
    for path in paths:
        config = configs.read(path)
        waits = config["sweep"][config["plot"]["x"]]
        assert config["plot"]["x"] in delays.WAITS and config["plot"]["kind"] == "lines" and config["plot"]["metric"] == "time", path
        assert waits[0] == 0 and len(waits) >= 4, path
        assert config["description"].partition(":")[0] != config["description"], "what stands before the colon names the application"
