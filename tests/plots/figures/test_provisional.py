"""Tests values of fewer than three rounds: they are hollow and marked, have no interval, and decide no claim."""

import math

import advised
import readback
import guide
import pytest
import synthetic

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from plots.advice import engine, table, text
from plots.figures import drawing, heatmap, lines
from plots.figures.kinds import KINDS
from plots.ledger import claims, forest
from plots.runs import kept, results
from plots.sheet import provisional, style
from plots.studies import delays, delays_figure, points, points_table
from plots.texts import blocks
from plots.webpage import graphs, heat, maps
from webpage_runs import runs_of

CONFIG = {"name": "test/early", "paper": "Nobody 1999, Fig. 1", "allocators": ["c_malloc", "cuda_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}
RATIO = {"of": "cuda_malloc", "to": "c_malloc"}


def _cell(allocator, threads, seconds, early=False, **values):
    """Returns a value with a narrow interval, or a provisional one."""
    bounds = (None, None) if early else (seconds * 0.99, seconds * 1.01)
    measured = {("alloc", "time"): (seconds, *bounds), ("alloc", "operations"): 100, **{("", name): (value, None, None) for name, value in values.items()}}
    return synthetic.cell(allocator, {"threads": threads}, values=measured, **({"provisional": True} if early else {}))


def _run(tmp_path, cells, plot=None, **config):
    plot = {} if plot is None else {"plot": plot}
    return results.read_run(synthetic.write(tmp_path / "run", {**CONFIG, **plot, **config}, cells, "cuda"))


def _mixed(early):
    """Makes a run. With `early`, the second of three points of one allocator and all points of the other are
    provisional.
    """
    return [_cell("c_malloc", x, x * 1e-6, early and x == 2) for x in (1, 2, 4)] + [_cell("cuda_malloc", x, x * 5e-6, early) for x in (1, 2, 4)]


def _hollow(drawn):
    """Returns the x of the hollow marks, by label."""
    return {each.get_gid().removeprefix("provisional "): [float(x) for x, _ in each.get_offsets()] for axes in drawn.page.figure.axes
            for each in axes.collections if (each.get_gid() or "").startswith("provisional ")}


def test_lines_have_hollow_marks_and_no_bars_there(tmp_path):
    drawn = KINDS["lines"](_run(tmp_path, _mixed(True)), "stem")
    assert _hollow(drawn) == {"CMalloc": [2.0], "CudaMalloc": [1.0, 2.0, 4.0]}
    lines = {line.get_gid(): line for axes in drawn.page.figure.axes for line in axes.get_lines()}
    assert lines["median CMalloc"].get_markevery() == [0, 2] and lines["median CudaMalloc"].get_markevery() == []
    assert readback.medians(drawn)["CMalloc"] == {1.0: 1e-6, 2.0: 2e-6, 4.0: 4e-6}, "the line goes through all"
    assert readback.interval_xs(drawn, "CMalloc") == {1.0, 4.0} and readback.interval_xs(drawn, "CudaMalloc") == set()
    mark = next(each for axes in drawn.page.figure.axes for each in axes.collections if each.get_gid() == "provisional CMalloc")
    assert mark.get_facecolors().tolist() == [[1, 1, 1, 1]] and mark.get_linestyles()[0][1] is not None, "white with a dashed edge"


def test_the_legend_shows_the_marker_that_the_panel_has(tmp_path):
    drawn = KINDS["lines"](_run(tmp_path, _mixed(True)), "stem")
    legend, = drawn.page.figure.legends
    hollow = [each for each in legend.findobj(PathCollection) if each.get_linestyles()[0][1] is not None]
    full = {line.get_marker() for line in legend.get_lines()}
    assert [text.get_text() for text in legend.get_texts()] == ["CMalloc", "CudaMalloc"]
    assert len(hollow) == 1 and hollow[0].get_edgecolors().tolist() == [list(to_rgba(style.look("cuda_malloc").colour))], "only CudaMalloc has no other marker"
    assert full == {style.look("c_malloc").marker, "none"}, "its line has no full one"


def test_markers_at_the_edge_are_whole_unless_values_lie_beyond_it(tmp_path):
    for limits, cut in (({}, False), ({"time": [1e-6, 9e-6]}, True)):
        drawn = KINDS["lines"](_run(tmp_path / str(cut), _mixed(True), {**CONFIG["plot"], "limits": limits}), "stem")
        assert {each.get_clip_on() for axes in drawn.page.figure.axes for each in axes.collections if (each.get_gid() or "").startswith("provisional ")} == {cut}


def test_captions_and_tables_say_it_where_it_is_so(tmp_path):
    for early in (True, False):
        run = _run(tmp_path / str(early), _mixed(early))
        drawn = KINDS["lines"](run, "stem")
        told = " ".join(readback.texts(drawn)).replace("\n", " ")
        assert (provisional.HOLLOW in told) == ("provisional: 4 cells have fewer than three rounds" in told) == early
        assert (provisional.MARKED in drawn.markdown) == ("| CudaMalloc | ~5.00 µs | ~10.0 µs | ~20.0 µs |" in drawn.markdown) == early
        assert ("| CMalloc | 1.00 µs ±1 % | ~2.00 µs | 4.00 µs ±1 % |" in drawn.markdown) == early
        if not early:
            assert "~" not in drawn.markdown and _hollow(drawn) == {} and "rovisional" not in told + drawn.markdown
        matrix = KINDS["status_matrix"](run, "stem")
        assert ("4 of the cells that are ok are provisional" in matrix.markdown) == early


def test_heat_maps_write_them_in_italics(tmp_path):
    run = _run(tmp_path, _mixed(True), {"kind": "heatmap", "x": "threads", "y": "alloc", "reference": "c_malloc"})
    drawn = KINDS["heatmap"](run, "stem")
    axes = next(axes for axes in drawn.page.figure.axes if axes.get_gid() == "heatmap")
    styles = {(each.get_text(), each.get_style()) for each in axes.texts if each.get_text() in ("1", "2", "4", "5")}
    assert {("2", "italic"), ("5", "italic")} <= styles and ("5", "normal") not in styles
    assert provisional.LEANING in " ".join(readback.texts(drawn)).replace("\n", " ")
    assert "5, provisional" in str(maps.chart(heatmap.resolve(run))["data"])


def test_what_is_over_a_provisional_value_is_provisional(tmp_path):
    cells = [_cell("c_malloc", 1, 1e-6, True), _cell("cuda_malloc", 1, 5e-6), _cell("c_malloc", 2, 1e-6), _cell("cuda_malloc", 2, 5e-6)]
    for reference in ("c_malloc", "best"):
        run = _run(tmp_path / reference, cells, {**CONFIG["plot"], "reference": reference, "metric": "relative_time"})
        over = [readback.value_of(run, number, "alloc", "relative_time") for number in (1, 3)]
        beyond = [readback.value_of(run, number, "alloc", "beyond_reference") for number in (1, 3)]
        assert [provisional.FLAG in each["flags"] for each in (*over, *beyond)] == [True, False] * 2
        assert math.isnan(over[0]["low"]) and over[1]["low"] == pytest.approx(4.95) and over[0]["value"] == over[1]["value"] == pytest.approx(5)
    run = _run(tmp_path / "speed", cells, {**CONFIG["plot"], "metric": "speed_up"})
    assert provisional.FLAG in KINDS["lines"](run, "stem").markdown


def _judge(run, **claim):
    return claims.judge(run, {"says": "It is so.", "source": "fig. 1", **claim})


def test_no_claim_is_judged_by_them(tmp_path):
    sure = _run(tmp_path / "sure", [_cell("cuda_malloc", 1, 5.0), _cell("c_malloc", 1, 1.0)])
    assert _judge(sure, ratio=RATIO, above=2).verdict == "holds"
    run = _run(tmp_path, [_cell("cuda_malloc", 1, 5.0, True), _cell("c_malloc", 1, 1.0)])
    judged = _judge(run, ratio=RATIO, above=2)
    assert judged.row()[3] == "~5" and judged.row()[5] == "cannot tell (provisional)" and judged.data()["unsure"] == "provisional"
    assert _judge(run, ratio=RATIO, above=9).verdict == "cannot tell", "nor is it refuted"


def test_places_that_are_sure_still_decide(tmp_path):
    cells = [_cell("cuda_malloc", 1, 5.0, True), _cell("cuda_malloc", 2, 5.0), *(_cell("c_malloc", x, 1.0) for x in (1, 2))]
    run = _run(tmp_path, cells)
    assert _judge(run, ratio=RATIO, above=2).row()[5] == "cannot tell (holds in 1 of 2, 1 of 2 places provisional)"
    assert _judge(run, ratio=RATIO, above=9).verdict == "does not hold"
    assert _judge(run, ratio=RATIO, above=2, over="mean").row()[5] == "cannot tell (holds in 1 of 2, 1 of 2 places provisional)"


def test_counts_of_samples_are_not_exact_then_and_facts_are(tmp_path):
    cell = _cell("c_malloc", 1, 1.0, True, null_returns=3.0)
    cell["values"]["alloc", "registers"] = 20
    run = _run(tmp_path, [cell])
    counter = {"of": "c_malloc", "phase": "", "metric": "null_returns"}
    assert _judge(run, value=counter, between=[3, 3]).row()[5] == "cannot tell (provisional)"
    assert _judge(run, value={**counter, "phase": "alloc", "metric": "registers"}, between=[20, 20]).verdict == "holds"
    assert _judge(run, share={"of": "c_malloc", "status": "ok"}, above=0.5).row()[5] == "cannot tell (provisional)"


def test_growth_and_theory_and_crossings_have_no_bounds(tmp_path):
    cells = [_cell("c_malloc", x, x * 1.0, x == 2) for x in (1, 2, 4)] + [_cell("cuda_malloc", x, 3.0) for x in (1, 2, 4)]
    run = _run(tmp_path, cells)
    assert _judge(run, growth={"of": "c_malloc"}, above=0.5).row()[5] == "cannot tell (provisional)"
    crossing = _judge(run, crossing={"of": "c_malloc", "over": "cuda_malloc"}, between=[2, 4])
    assert crossing.published.estimate.provisional and crossing.verdict == "cannot tell"


def test_the_forest_draws_them_hollow(tmp_path):
    claim = {"says": "It is slower.", "source": "fig. 1", "ratio": RATIO, "above": 2}
    for early in (True, False):
        folder = synthetic.write(tmp_path / str(early), {**CONFIG, "claims": [claim]}, [_cell("cuda_malloc", 1, 5.0, early), _cell("c_malloc", 1, 1.0)], "cuda")
        page, = forest.drawings(claims.ledger([drawing.read(folder)], tmp_path))
        told = " ".join(text.get_text() for text in page.page.figure.texts).replace("\n", " ")
        assert (provisional.HOLLOW in told) == ("cannot tell ~5, provisional" in told) == early


def test_points_of_comb_stay_open(tmp_path):
    config = {**CONFIG, "name": "comb/sizes", "allocators": ["comb", "halloc"]}
    for early in (True, False):
        cells = [_cell("comb", 1, 1e-6), _cell("halloc", 1, 2e-6, early)]
        run = results.read_run(synthetic.write(tmp_path / str(early), config, cells, "cuda"))
        data = {"allocator": "comb", "title": "Comb", "points": [{"name": "p", "config": "comb/sizes", "phase": "alloc", "limit": {"times": 1.0, "of": "best"}}]}
        found = points.judge(data, [run])
        assert found[0].verdict == ("cannot tell" if early else "met")
        told = points_table.drawing(data, found, [run]).markdown
        assert ("provisional, fewer than three rounds" in told) == ("~0.5" in told) == ("~2 µs" in told) == early


def test_a_slope_through_them_has_no_interval(tmp_path):
    config = {"name": "delay/tree", "description": "tree: time against waits", "allocators": ["delayed_comb"],
              "plot": {"kind": "lines", "x": "allocator.malloc_delay", "y": ["build"], "metric": "time"}}
    cells = [synthetic.cell("delayed_comb", {"allocator.malloc_delay": wait}, allocator_parameters={"malloc_delay": wait},
                            values={("build", "time"): (1e-3 + 1e-6 * wait, None, None)}, **({"provisional": True} if wait == 0 else {}))
             for wait in (0, 1000, 2000)]
    run = results.read_run(synthetic.write(tmp_path, config, cells, "cuda"))
    slope, = delays.slopes([run])
    assert slope.provisional and slope.slope.low is None and slope.slope.number == pytest.approx(1e-6)
    drawn = delays_figure.drawing([run])
    assert len(_hollow(drawn)) == 1 and provisional.HOLLOW in drawn.markdown and "| ~1 ms |" in drawn.markdown


def test_tables_in_texts_mark_them_and_judge_nothing(tmp_path, monkeypatch):
    config = {**CONFIG, "allocators": ["halloc", "halloc_original"]}
    for early, told in ((True, "~3.00"), (False, "**3.00**")):
        cells = [_cell("halloc", 1, 3e-6, early), _cell("halloc_original", 1, 1e-6)]
        run = results.read_run(synthetic.write(tmp_path / str(early), config, cells, "cuda"))
        monkeypatch.setattr(kept, "run", lambda name, run=run: run)
        assert f"| `halloc` | {told} |" in blocks.table("forms test/early")
        assert f"| Halloc | {'~' if early else ''}3 µs |" in blocks.table("times test/early:alloc:threads=1")


def test_the_advice_says_it_beside_the_factor(tmp_path):
    folder = guide.write(tmp_path)
    small = folder / "guide" / "small"
    for number, name in enumerate(name for name in guide.NAMES for _ in range(4)):
        if name == "comb":
            synthetic.change(small, number, provisional=True, phases=[{"name": phase, "low": None, "high": None} for phase in ("alloc", "free", "total")])
    made = table.of(runs_of(folder))
    found = advised.near(made)
    assert {each.entry["id"]: each.provisional for each in found.ranked}["comb"] and not found.ranked[-1].provisional
    told = text.write(made, advised.asked(), engine.answer(made, advised.asked().data()))
    row = next(line for line in told.split("\n") if " Comb" in line)
    assert " provisional " in row and "provisional: at least one of these cells has fewer than three rounds." in " ".join(told.split())
    assert "fewer than three rounds" in heat.section(made) and ">~" in heat.section(made)


def test_charts_of_the_page_have_dotted_hollow_marks(tmp_path):
    run = _run(tmp_path, _mixed(True))
    first, second = graphs.chart(lines.resolve(run))["data"]
    assert first["marker"]["symbol"] == ["circle", "circle-open-dot", "circle"] and set(second["marker"]["symbol"]) == {"circle-open-dot"}
    assert first["text"][1] == "2: 2 µs, provisional" and "provisional" not in first["text"][0]


def _picture(allocator, early):
    """Returns the pixels of one marker of a figure without lines."""
    figure = Figure(figsize=(0.3, 0.3), dpi=style.PNG_DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    look = style.look(allocator)
    if early:
        provisional.draw(axes, [0], [0], look, look.marker_size)
    else:
        axes.plot([0], [0], marker=look.marker, color=look.colour, markersize=look.marker_size, fillstyle=look.fill, markerfacecoloralt="white")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return bytes(canvas.buffer_rgba())


@pytest.mark.parametrize("base", ["scatteralloc", "halloc", "cuda_malloc", "comb"])
def test_forms_are_told_apart_by_their_marks_alone(base):
    forms = (base, f"{base}_reworked", f"{base}_original")
    assert len({_picture(name, early) for name in forms for early in (True, False)}) == 6
