"""Tests what a plot selects and adds: cells left out, phases and parity as series, speed-ups, rivals, limits, bands,
rings, gaps.
"""

import itertools
import math

import readback
import matplotlib.text
import numpy
import pandas
import pytest
import synthetic

from allocbench.errors import UsageError
from plots.figures import lines, status_matrix
from plots.figures.model import samples, series
from plots.figures.panel import apart
from plots.runs import results
from plots.sheet import style

CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc", "halloc"], "workload": {"id": "alloc_free"},
          "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "y"}}


def _run(tmp_path, cells, config=None, **plot):
    return results.read_run(synthetic.write(tmp_path, {**CONFIG, **(config or {}), "plot": {**CONFIG["plot"], **plot}}, cells, "cuda"))


def _cell(allocator, threads, seconds, **axes):
    return synthetic.cell(allocator, {"threads": threads, **axes}, values={("alloc", "time"): seconds, ("free", "time"): 2 * seconds,
                                                                           ("alloc", "operations"): 1})


def _both(threads=(1, 2, 3)):
    return [_cell(name, x, seconds * x) for name, seconds in (("c_malloc", 1e-6), ("halloc", 5e-6)) for x in threads]


def _drawn(drawing, gid):
    return [artist for axes in drawing.page.figure.axes for artist in (*axes.get_lines(), *axes.collections) if artist.get_gid() == gid]


def test_cells_are_left_out(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), without=[{"allocator": "halloc", "threads": [1, 2]}]), "stem")
    assert {name: set(points) for name, points in readback.medians(drawing).items()} == {"CMalloc": {1, 2, 3}, "Halloc": {3}}


def test_phases_become_series_of_one_panel_with_their_marks(tmp_path):
    marks = [{"metric": "time", "phase": "free", "where": {"threads": 2}, "value": 7e-6, "source": "The paper"}]
    run = _run(tmp_path, _both((1, 2))[:2], y=["alloc", "free"], phases="series", names={"free": "giving back"}, marks=marks)
    drawing = lines.make(run, "stem")
    assert readback.medians(drawing) == {"alloc": {1: 1e-6, 2: 2e-6}, "giving back": {1: 2e-6, 2: 4e-6}}
    assert len(_drawn(drawing, "stated")) == 1


def test_cells_that_phases_split_keep_their_counters_and_samples_and_count_once(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1e-6, ("free", "time"): 2e-6, ("", "null_returns"): 1}, provisional=x == 2)
             for x in (1, 2)] + [synthetic.cell("c_malloc", {"threads": 3}, status="timeout", reason="too slow")]
    config = {**CONFIG, "statistic": "mean", "plot": {**CONFIG["plot"], "y": ["alloc", "free"], "phases": "series"}}
    folder = synthetic.write(tmp_path, config, cells, "cuda")
    synthetic.change(folder, 0, phases=[{"name": "free", "samples": [1e-6] * 9 + [1e-3]}])
    run = results.read_run(folder)
    drawing = lines.make(run, "stem")
    assert "got null, which is faster than getting a block: CMalloc (2 cells)." in drawing.markdown
    assert "CMalloc, threads 1, phase free: 1 of 10 samples up to 1 ms" in drawing.markdown
    assert "provisional: 1 cell has fewer" in drawing.markdown
    assert [len(line.get_xdata()) for name in ("alloc", "free") for line in _drawn(drawing, f"ring {name}")] == [0, 1]
    matrix = status_matrix.make(run, "stem").markdown
    assert "3 cells: 2 ok, 1 timeout. 1 of the cells" in matrix and "| CMalloc | ok | ok | timeout |" in matrix


def test_odd_and_even_values_become_series(tmp_path):
    drawing = lines.make(_run(tmp_path, _both((1, 2, 3, 4))[:4], parity="threads"), "stem")
    assert {name: set(points) for name, points in readback.medians(drawing).items()} == {"odd threads": {1, 3}, "even threads": {2, 4}}
    assert not _drawn(drawing, "gap")


def test_speed_up_is_over_the_first_point_of_each_series(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), metric="speed_up"), "stem")
    made = readback.medians(drawing)
    assert made["CMalloc"] == pytest.approx({1: 1, 2: 1 / 2, 3: 1 / 3}) and made["Halloc"] == pytest.approx(made["CMalloc"])


def test_a_series_without_the_first_point_has_no_speed_up_and_the_caption_says_so(tmp_path):
    failed = synthetic.cell("halloc", {"threads": 1}, status="timeout", reason="too slow")
    drawing = lines.make(_run(tmp_path, [cell for cell in _both() if cell["axes"]["threads"] > 1 or cell["allocator"] != "halloc"] + [failed], metric="speed_up"), "stem")
    assert readback.medians(drawing)["CMalloc"] == pytest.approx({1: 1, 2: 1 / 2, 3: 1 / 3}) and readback.medians(drawing)["Halloc"] == {}
    assert {"timeout", "no speed-up"} <= set(readback.texts(drawing)) and readback.failures(drawing)["Halloc"] == {1, 2, 3}
    told = "No speed-up, because there is no value at threads 1: Halloc."
    assert told in " ".join(" ".join(readback.texts(drawing)).split()) and told in drawing.markdown and "| Halloc | timeout | no speed-up | no speed-up |" in drawing.markdown
    assert "No speed-up" not in lines.make(_run(tmp_path / "whole", _both(), metric="speed_up"), "stem").markdown


def test_odd_and_even_values_become_panels_with_ticks_of_their_own(tmp_path):
    drawing = lines.make(_run(tmp_path, _both((1, 2, 9, 10)), parity="threads", panels="threads"), "stem")
    axes = [each for each in drawing.page.figure.axes if each.get_lines()]
    assert [sorted({line.get_label() for line in each.get_lines() if (line.get_gid() or "").startswith("median")}) for each in axes] == [["CMalloc", "Halloc"]] * 2
    assert [list(each.get_xticks()) for each in axes] == [[1, 9], [2, 10]]
    assert [text for text in readback.texts(drawing) if "threads" in text and text.split()[0] in ("odd", "even")] == ["odd threads", "even threads"]


def test_names_and_rivals(tmp_path):
    run = _run(tmp_path, _both(), names={"halloc": "Halloc 1.0", "c_malloc": "a sort by a library"}, rivals=["a sort by a library"])
    drawn = {each.label: each.look for each in series.series_of(run, "threads", "alloc", "time")}
    assert drawn["Halloc 1.0"].colour == style.look("halloc").colour
    assert drawn["a sort by a library"].colour == style.GREY


def test_display_names_come_from_the_results(tmp_path):
    folder = synthetic.write(tmp_path, CONFIG, _both(), "cuda")
    for number in range(3):
        synthetic.change(folder, number, display_name="CMalloc of the results")
    assert set(readback.medians(lines.make(results.read_run(folder), "stem"))) == {"CMalloc of the results", "Halloc"}


def test_values_beyond_the_limits_are_triangles_with_their_number(tmp_path):
    drawing = lines.make(_run(tmp_path, [*_both(), _cell("halloc", 4, 0.75)], limits={"time": [1e-6, 1e-4]}), "stem")
    axes = drawing.page.figure.axes[0]
    assert axes.get_ylim()[1] < 1e-3
    assert [list(mark.get_xdata()) for mark in _drawn(drawing, "beyond Halloc")] == [[4.0]]
    shown = readback.texts(drawing)
    assert "750 ms" in shown and any("1 value lies beyond the axis of time" in text for text in shown)


def test_numbers_beyond_the_limits_that_would_fill_a_panel_become_their_range(tmp_path):
    steep = [_cell("halloc", threads, 0.5 + threads / 100) for threads in range(4, 14)]
    drawing = lines.make(_run(tmp_path, [*_both(), *steep], limits={"time": [1e-6, 1e-4]}), "stem")
    assert [len(mark.get_xdata()) for mark in _drawn(drawing, "beyond Halloc")] == [1] * 10, "a triangle each"
    assert [text.get_text() for text in drawing.page.figure.findobj(matplotlib.text.Annotation) if text.get_gid() == "number beyond"] == ["540 ms to 630 ms"]
    assert "10 values lie beyond the axis of time: triangles at its edge, with their numbers or range." in " ".join(" ".join(readback.texts(drawing)).split())


def test_bands_are_absolute_or_follow_an_allocator(tmp_path):
    bands = [{"metric": "time", "between": [1e-6, 3e-6], "source": "flat"}, {"metric": "time", "between": [2, 4], "of": "c_malloc", "source": "follows"},
             {"metric": "time", "between": [9, 9], "of": "c_malloc", "source": "a line"}, {"metric": "time", "between": [1, 2], "source": "not here", "backend": "cpu"}]
    drawing = lines.make(_run(tmp_path, _both(), bands=bands), "stem")
    made = {artist.get_label(): artist for artist in _drawn(drawing, "band")}
    assert set(made) == {"flat", "follows", "a line"}
    corners = {(round(x), round(y * 1e6, 6)) for x, y in made["follows"].get_paths()[0].vertices}
    assert {(1, 2.0), (1, 4.0), (3, 6.0), (3, 12.0)} <= corners
    assert list(made["a line"].get_ydata()) == pytest.approx([9e-6, 18e-6, 27e-6])
    legend, = drawing.page.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CMalloc", "Halloc", "a line", "flat", "follows"] or \
        {text.get_text() for text in legend.get_texts()} == {"CMalloc", "Halloc", "a line", "flat", "follows"}


def test_a_band_has_an_edge_a_sentence_and_the_places_that_it_is_about(tmp_path):
    bands = [{"metric": "time", "between": [2, 4], "of": "c_malloc", "where": {"threads": {"to": 2}}, "source": "follows"},
             {"metric": "time", "between": [1e-6, 3e-6], "where": {"threads": {"from": 2}}, "source": "flat"}, {"metric": "time", "between": [1, 2], "where": {"threads": 7}, "source": "nowhere"}]
    drawing = lines.make(_run(tmp_path, _both(), bands=bands), "stem")
    made = {artist.get_label(): artist for artist in _drawn(drawing, "band")}
    assert {label: sorted({round(float(x)) for x, _ in artist.get_paths()[0].vertices}) for label, artist in made.items()} == {"follows": [1, 2], "flat": [2, 3]}
    assert all(artist.get_linewidths()[0] > 0 and artist.get_edgecolors()[0][3] > artist.get_facecolors()[0][3] for artist in made.values()), "an edge, unlike noise"
    told = "Grey band with an edge: a range that the paper states."
    assert told in " ".join(" ".join(readback.texts(drawing)).split())
    assert told not in " ".join(" ".join(readback.texts(lines.make(_run(tmp_path / "none", _both()), "stem"))).split())


def test_the_key_of_a_position_is_upright_and_dashed_as_its_line(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), positions=[{"at": 2, "source": "the paper's"}]), "stem")
    drawing.page.figure.draw_without_rendering()
    key, = [line for line in drawing.page.figure.legends[0].get_lines() if len(set(line.get_xdata())) == 1 and len(set(line.get_ydata())) == 2]
    drawn, = _drawn(drawing, "position")
    assert key.is_dashed() and drawn.is_dashed() and key.get_color() == drawn.get_color()


def test_a_mark_of_one_panel_is_not_in_the_other(tmp_path):
    marks = [{"metric": "time", "phase": "alloc", "where": {"threads": 2, "coalescing": False}, "value": 7e-6, "source": "The paper"}]
    cells = [_cell("halloc", x, 1e-6, coalescing=on) for x in (1, 2) for on in (False, True)]
    drawing = lines.make(_run(tmp_path, cells, panels="coalescing", marks=marks), "stem")
    assert [sum(line.get_gid() == "stated" for line in axes.get_lines()) for axes in drawing.page.figure.axes] == [1, 0]
    text = lines.make(_run(tmp_path / "free", cells, panels="coalescing", y="free", marks=marks), "stem").markdown
    assert "The paper states 7 µs (alloc) at threads 2, coalescing off" in text


@pytest.mark.parametrize("names, told", [(("halloc", "halloc_reworked"), "here (published forms): 1 µs to 2 µs (alloc)"), (("halloc_reworked",), "here: 3 µs to 6 µs (alloc)"),
                                         (("halloc",), "here: 1 µs to 2 µs (alloc)")])
def test_a_stated_bound_is_about_published_forms(tmp_path, names, told):
    marks = [{"metric": "time", "phase": "alloc", "where": {"coalescing": False}, "value": 7e-7, "bound": "at least", "source": "The paper"}]
    cells = [_cell(name, x, (1e-6 if name == "halloc" else 3e-6) * x, coalescing=on) for name in names for x in (1, 2) for on in (False, True)]
    text = lines.make(_run(tmp_path, cells, {"allocators": list(names)}, panels="coalescing", y="free", marks=marks), "stem").markdown
    assert f"The paper states at least 700 ns (alloc) at coalescing off; {told}." in text


def test_positions_are_vertical_lines_in_the_panels_that_they_are_about(tmp_path):
    positions = [{"at": 2, "source": "everywhere"}, {"at": 2.5, "source": "in one", "where": {"pool": 1}}, {"at": 10, "source": "frees", "phase": "free"},
                 {"at": 3, "source": "not here", "backend": "cpu"}]
    cells = [_cell(name, x, 1e-6, pool=pool) for name in ("c_malloc", "halloc") for x in (1, 2, 3) for pool in (1, 2)]
    drawing = lines.make(_run(tmp_path, cells, y=["alloc", "free"], panels="pool", positions=positions), "stem")
    drawn = [sorted((line.get_label(), *line.get_xdata()) for line in axes.get_lines() if line.get_gid() == "position")
             for axes in drawing.page.figure.axes]
    everywhere, in_one, frees = ("everywhere", 2, 2), ("in one", 2.5, 2.5), ("frees", 10, 10)
    assert drawn == [[everywhere, in_one], [everywhere], [everywhere, frees, in_one], [everywhere, frees]]
    assert all(axes.get_xlim()[1] > 10 for axes in drawing.page.figure.axes), "a position beyond the values is in sight"
    legend, = drawing.page.figure.legends
    assert {"everywhere", "in one", "frees"} <= {text.get_text() for text in legend.get_texts()}


def test_words_have_no_positions(tmp_path):
    cells = [_cell("c_malloc", word, 1e-6) for word in ("flat", "steep")]
    with pytest.raises(UsageError, match="`positions` of the plot are numbers, but threads has words"):
        lines.make(_run(tmp_path, cells, positions=[{"at": 1, "source": "a"}]), "stem")


def test_relative_figures_show_the_interval_of_the_reference(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), metric="relative_time", reference="c_malloc"), "stem")
    noise, = _drawn(drawing, "noise")
    ys = {round(y, 3) for _, y in noise.get_paths()[0].vertices}
    assert ys == {0.95, 1.06}, "the bounds of synthetic intervals"


def test_lines_grow_faint_where_only_others_were_measured(tmp_path):
    cells = [cell for cell in _both((1, 2, 3)) if not (cell["allocator"] == "halloc" and cell["axes"]["threads"] == 2)]
    drawing, whole, markers = (lines.make(_run(tmp_path / name, own, **more), "stem") for name, own, more in (
        ("gap", cells, {}), ("whole", _both(), {}), ("markers", cells, {"joined": False})))
    gap, = _drawn(drawing, "gap")
    assert list(gap.get_xdata()) == [1, 3]
    assert not _drawn(whole, "gap") and not _drawn(markers, "gap")
    assert ["Pale part of a line: the curve has no cell between these two points." in _words(each) for each in (drawing, whole, markers)] == [True, False, False]


def test_points_that_are_not_joined(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), joined=False), "stem")
    assert all(line.get_linestyle() == "None" for name in ("CMalloc", "Halloc") for line in _drawn(drawing, f"median {name}"))


def _heights(drawing, label):
    """Returns for each x how high the line and the marker are on paper, relative to the height of their value on the
    axis.
    """
    made = []
    for axes in drawing.page.figure.axes:
        for line in axes.get_lines():
            if line.get_gid() in (f"median {label}", f"marker {label}", f"below {label}"):
                wanted = axes.transData.transform(line.get_xydata())
                made += [(line.get_gid().split()[0], *there) for there in line.get_transform().transform(line.get_xydata()) - wanted]
    return made


def test_values_of_coinciding_curves_stay_where_they_are(tmp_path):
    cells = _both() + [_cell("kma", x, 1.0005e-6 * x) for x in (1, 2, 3)]
    run = _run(tmp_path, cells, {"allocators": ["c_malloc", "halloc", "kma"]})
    c_malloc, halloc, kma = apart.moves(series.series_of(run, "threads", "alloc", "time"), (1e-6, 2e-5), True, 2.0)
    assert halloc == apart.Move() and kma.aside == -c_malloc.aside > 0 and c_malloc.wider > kma.wider == 0
    drawing = lines.make(run, "stem")
    drawn = readback.medians(drawing)
    assert drawn["KMA"] == pytest.approx({1: 1.0005e-6, 2: 2.001e-6, 3: 3.0015e-6}) and drawn["CMalloc"] == pytest.approx({1: 1e-6, 2: 2e-6, 3: 3e-6})
    for label, parts in (("CMalloc", {"median", "marker", "below"}), ("KMA", {"median", "marker"}), ("Halloc", {"median"})):
        found = _heights(drawing, label)
        assert {part for part, *_ in found} == parts
        assert all(abs(up) < 1e-6 for _, _, up in found), "nothing is higher or lower than its value"
        assert all(abs(right) < 1e-6 for part, right, _ in found if part != "marker"), "a line stays; its markers stand beside it"
    assert "Markers of curves that coincide stand side by side" in _words(drawing) and "the lower ones are wider; the width means nothing" in _words(drawing)
    interval, = _drawn(drawing, "interval KMA")
    assert sorted(round(y / x, 12) for path in interval.get_paths() for x, y in path.vertices)[0] == pytest.approx(1.0005e-6 * 0.95)


def test_coinciding_markers_stand_beside_each_other(tmp_path):
    cells = _both() + [_cell("kma", x, 1.0005e-6 * x) for x in (1, 2, 3)]
    run = _run(tmp_path, cells, {"allocators": ["c_malloc", "halloc", "kma"]}, joined=False)
    c_malloc, halloc, kma = apart.of_markers(series.series_of(run, "threads", "alloc", "time"), (1e-6, 2e-5), True, 2.0)
    assert not halloc and all(c_malloc.right(x) == -kma.right(x) and kma.right(x) * 2 >= style.RC["lines.markersize"] for x in (1, 2, 3))
    drawing = lines.make(run, "stem")
    assert not _drawn(drawing, "below CMalloc") and all(abs(up) < 1e-6 for label in ("CMalloc", "KMA") for _, _, up in _heights(drawing, label))
    words = _words(drawing)
    assert "Markers that coincide stand side by side, up to 1 mm left or right of their true places." in words and "The lines have" not in words


def test_only_markers_that_cover_each_other_move():
    """The axis has 144 points, so a tenth of it is 14.4 points, and 0.02 is 2.9 points."""
    one, other, third = _points(0.5), _points(0.5), _points(0.5)
    other.points["value"], third.points["value"] = [0.52, 0.6], [0.54, 0.61]
    moves = apart.of_markers([one, other, third], (0, 1), False, 2.0)
    assert [[move.right(x) for x in (1.0, 2.0)] for move in moves] == [[-2.2, 0], [2.2, -2.2], [-2.2, 2.2]], "the first and the third do not touch"


def test_values_at_equal_distances_have_labels_and_columns(tmp_path):
    xs = (1024, 1050, 4096, 4100)
    cells = [_cell(name, x, 1e-6) for name in ("c_malloc", "halloc", "kma", "scatteralloc", "xmalloc") for x in xs]
    drawing = lines.make(_run(tmp_path, cells, {"allocators": ["c_malloc", "halloc", "kma", "scatteralloc", "xmalloc"]}, log="y", evenly=True), "stem")
    axes = drawing.page.figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1,024", "1,050", "4,096", "4,100"]
    assert readback.medians(drawing)["KMA"] == pytest.approx(dict.fromkeys((0, 1, 2, 3), 1e-6))
    column = numpy.diff(axes.transData.transform([(0, 1e-6), (1, 1e-6)])[:, 0])[0]
    asides = {round(right / column, 3) for name in ("CMalloc", "Halloc", "KMA", "ScatterAlloc", "XMalloc") for part, right, _ in _heights(drawing, name) if part == "marker"}
    assert len(asides) == 4 and all(abs(aside) < 0.45 for aside in asides), "two on either side of the one in the middle of the column"
    assert all(line.get_linestyle() == "None" for line in _drawn(drawing, "median Halloc")) and "in the column of their value" in _words(drawing)
    assert "| 1,024 | 1,050 | 4,096 | 4,100 |" in drawing.markdown


def test_a_value_that_one_panel_lacks_keeps_its_column(tmp_path):
    cells = [_cell("c_malloc", x, 1e-6, pool_bytes=pool) for pool in (1024, 2048) for x in (1, 2, 3) if (pool, x) != (2048, 1)]
    drawing = lines.make(_run(tmp_path, cells, {"sweep": {"threads": [1, 2, 3], "pool_bytes": ["1KiB", "2KiB"]}}, log="y", panels="pool_bytes", evenly=True), "stem")
    assert [list(line.get_xdata()) for line in _drawn(drawing, "median CMalloc")] == [[0, 1, 2], [1, 2]]


@pytest.mark.parametrize("more", [{"log": "xy"}, {"positions": [{"at": 2, "source": "a"}]}, {"theory": {"c_malloc": {"time": "queue_steps"}}}, {"metric": "speed_up"}])
def test_equal_distances_take_the_scale(tmp_path, more):
    with pytest.raises(UsageError, match="`evenly`, which takes the scale from threads"):
        lines.make(_run(tmp_path, _both(), **{"log": "y", "evenly": True, **more}), "stem")


def _words(drawing):
    return " ".join(" ".join(readback.texts(drawing)).split())


def test_a_caption_promises_true_places_only_where_a_line_has_them(tmp_path):
    for kma, told in (([1, 2, 3], "The lines have the true places."), ([1], "up to 1 mm left or right of their true places."), ([], "")):
        cells = _both() + [_cell("kma", x, 1.0005e-6 * x) for x in kma]
        words = _words(lines.make(_run(tmp_path / str(len(kma)), cells, {"allocators": ["c_malloc", "halloc", "kma"]}), "stem"))
        assert told in words and words.count("true places") == bool(told)


def test_markers_of_one_position_stay_clear_of_the_next():
    alike = [_points(1.0), _points(1.0), _points(1.0)]
    assert [move.aside for move in apart.moves(alike, (0.5, 2), False, 2.0, spacing=5)] == [-2, 0, 2]
    assert [move.aside for move in apart.moves(alike, (0.5, 2), False, 2.0)] == [-3.0, 0, 3.0]


def test_a_lone_marker_is_not_hidden_and_a_crossing_moves_nothing():
    alone, crossing = _points(1.0, (2.0,)), _points(1.0)
    crossing.points.loc[0, "value"] = 9.0
    assert [move.aside for move in apart.moves([alone, _points(1.0)], (0.5, 10), True, 2.0)] == [-2.2, 2.2]
    assert apart.moves([crossing, _points(1.0, (2.0, 3.0))], (0.5, 10), True, 2.0) == [apart.Move()] * 2


def test_a_marker_that_meets_two_curves_does_not_join_them():
    other = _points(3.0)
    other.points.loc[0, "value"] = 1.02
    alone, one, two = apart.moves([_points(1.0, (1.0,)), _points(1.0), other], (0.5, 10), True, 2.0)
    assert alone.aside == -one.aside != 0 and two == apart.Move()


def test_markers_without_a_line_between_them_are_not_hidden():
    gap = _points(1.0, (1.0, 2.0, 3.0))
    gap.points["value"] = [1.0, math.nan, 3.0]
    assert [move.aside != 0 for move in apart.moves([gap, _points(1.0, (1.0, 2.0, 3.0))], (0.5, 10), True, 2.0)] == [True, True]
    gap.points["value"] = [1.0, 3.0, 3.0]
    assert [move.aside != 0 for move in apart.moves([gap, _points(1.0, (1.0, 2.0, 3.0))], (0.5, 10), True, 2.0)] == [False, False], "lines cross"


def _points(value, xs=(1.0, 2.0)):
    return series.Series("c_malloc", "CMalloc", style.look("c_malloc"), pandas.DataFrame({"x": list(xs), "value": [value] * len(xs)}))


def _with_samples(folder, times):
    folder = synthetic.write(folder, {**CONFIG, "statistic": "mean"}, _both((1, 2)), "cuda")
    synthetic.change(folder, 0, phases=[{"name": "alloc", "samples": times}])
    return results.read_run(folder)


def test_a_mean_that_one_sample_decides_has_a_ring_and_a_sentence(tmp_path):
    run = _with_samples(tmp_path, [1e-6] * 9 + [1e-3])
    found, = samples.outliers(run, [("alloc", "time")])
    assert (found.median, found.largest, found.samples, found.far) == (1e-6, 1e-3, 10, 1)
    drawing = lines.make(run, "stem")
    ring, = [line for line in _drawn(drawing, "ring CMalloc") if len(line.get_xdata())]
    assert list(ring.get_xdata()) == [1.0]
    assert "CMalloc, threads 1: 1 of 10 samples up to 1 ms, median 1 µs" in drawing.markdown
    assert samples.outliers(_with_samples(tmp_path / "calm", [1e-6, 1.1e-6, 1.2e-6, 1e-6, 1e-6]), [("alloc", "time")]) == []


def test_the_caption_says_who_has_fewer_samples(tmp_path):
    cells = _both()
    cells[-1]["samples"] = 2
    assert "median of 5 samples (fewer, at least 2, in some cells of Halloc)" in lines.make(_run(tmp_path, cells), "stem").markdown


def test_stated_values_of_an_allocator_are_set_beside_its_own(tmp_path):
    marks = [{"metric": "time", "phase": "free", "where": {"threads": 1}, "value": 7e-6, "source": "The paper", "allocator": "halloc"}]
    text = lines.make(_run(tmp_path, _both(), marks=marks), "stem").markdown
    assert "The paper states 7 µs (free) at threads 1; here: 10 µs (free) with Halloc." in text


def test_a_word_that_tells_series_apart_may_be_a_rival(tmp_path):
    cells = [synthetic.cell("halloc", {"threads": x}, values={("malloc", "time"): 1e-6, ("prefix_sum", "time"): 2e-6}) for x in (1, 2)]
    run = _run(tmp_path, cells, y=["malloc", "prefix_sum"], phases="series", names={"prefix_sum": "count and scan"}, rivals=["count and scan"])
    drawing = lines.make(run, "stem")
    assert set(readback.medians(drawing)) == {"Halloc (malloc)", "count and scan"}
    grey = next(line for axes in drawing.page.figure.axes for line in axes.get_lines() if line.get_label() == "count and scan")
    assert grey.get_color() == style.GREY and grey.get_markeredgecolor() == style.GREY, "a cross has no face that an outline would frame"


def test_another_form_takes_the_place_of_a_reference_that_was_not_measured(tmp_path):
    cells = [_cell(name, 1, seconds) for name, seconds in (("halloc_reworked", 2e-6), ("c_malloc", 4e-6))]
    run = _run(tmp_path, cells, metric="relative_time", reference="halloc")
    assert run.plot["reference"] == "halloc_reworked"
    assert readback.medians(lines.make(run, "stem"))["CMalloc"] == {1: 2}


def test_rows_of_different_phases_have_axes_of_their_own(tmp_path):
    cells = [synthetic.cell("halloc", {"threads": x, "share": share}, values={("total", "time"): 1e-6, ("build", "time"): 1e-3})
             for x in (1, 2) for share in (1, 2)]
    drawing = lines.make(_run(tmp_path, cells, y=["total", "build"], panels="share", log="y"), "stem")
    limits = [axes.get_ylim() for axes in drawing.page.figure.axes]
    assert limits[0] == limits[1] and limits[2] == limits[3] and limits[0][1] < limits[2][0]


def test_numbers_at_the_edge_do_not_cover_each_other(tmp_path):
    cells = [_cell("halloc", x, 1e-6 if x < 8 else 1.0 + x) for x in range(1, 11)]
    drawing = lines.make(_run(tmp_path, cells, limits={"time": [1e-7, 1e-5]}, log="y"), "stem")
    drawing.page.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for axes in drawing.page.figure.axes for text in axes.texts if text.get_text().endswith(" s")]
    assert len(boxes) == 3 and not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_figure_may_show_some_allocators(tmp_path):
    drawing = lines.make(_run(tmp_path, _both(), allocators=["halloc"]), "stem")
    assert [line.get_label() for axes in drawing.page.figure.axes for line in axes.get_lines() if (line.get_gid() or "").startswith("median")] == ["Halloc"]
