"""Tests heat maps: every ok cell is a factor relative to the reference, and every other cell is a word."""

import readback
import synthetic

from plots.figures import heatmap, heatmap_page
from plots.runs import results
from plots.sheet import rows

CONFIG = {"name": "test/map", "description": "A test", "allocators": ["c_malloc", "halloc"], "sweep": {"graph": ["road", "a_web"]},
          "plot": {"kind": "heatmap", "x": "graph", "y": "alloc", "reference": "c_malloc"}}


def _run(tmp_path, cells, **plot):
    config = {**CONFIG, "plot": {**CONFIG["plot"], **plot}}
    return results.read_run(synthetic.write(tmp_path, config, cells, "cuda"))


def _cell(allocator, graph, seconds=None, spread=0.01, **axes):
    values = {("alloc", "time"): (seconds, seconds * (1 - spread), seconds * (1 + spread))} if seconds else {}
    return synthetic.cell(allocator, {"graph": graph, **axes}, status="ok" if seconds else "timeout", values=values)


CELLS = [_cell("c_malloc", "a_web", 4e-6), _cell("c_malloc", "road", 2e-6), _cell("halloc", "road", 5e-6), _cell("halloc", "a_web")]


def _rows(block):
    return {label: [cell and cell.text for cell in cells] for label, cells in block.rows}


def test_factors_times_of_the_reference_and_words(tmp_path):
    run = _run(tmp_path, CELLS)
    block, = heatmap.blocks_of(run)
    assert [value for _, value in block.columns] == ["road", "a_web"], "in the order of the config"
    assert _rows(block) == {"CMalloc, µs": ["2", "4"], "Halloc": ["2.5", "t.out"]}
    drawing = heatmap.make(run, "stem")
    shown = readback.texts(drawing)
    assert {"2.5", "t.out", "Halloc", "road"} <= set(shown) and any("t.out = timeout" in text for text in shown)
    assert "| Halloc | 5.00 µs ±1 % | timeout |" in drawing.markdown, "the page has times and intervals"


def test_a_setting_that_the_label_of_the_config_tells_is_not_told_again(tmp_path):
    cells = [_cell("halloc", "road", seconds) | {"allocator_parameters": {"offset_count": count}}
             for count, seconds in ((15, 1e-6), (0, 2e-6))] + [_cell("c_malloc", "road", 3e-6)]
    plot = {"kind": "heatmap", "x": "graph", "y": "alloc", "reference": "best", "names": {"15": "15 offsets", "0": "one each"}}
    for label, told in (({}, "Halloc (15 offsets)"), ({"label": "Halloc, 15 offsets"}, "Halloc, 15 offsets")):
        config = {**CONFIG, "allocators": [{"id": "halloc", "parameters": {"offset_count": 15}, **label}, "halloc", "c_malloc"], "plot": plot}
        run = results.read_run(synthetic.write(tmp_path, config, cells, "cuda"))
        block, = heatmap.blocks_of(run)
        assert list(_rows(block)) == [told, "Halloc (one each)", "CMalloc"]
        assert f"| {told} |" in heatmap.make(run, "stem").markdown


def test_close_factors_have_three_digits(tmp_path):
    close = [_cell("c_malloc", "road", 1e-6), _cell("halloc", "road", 1.087e-6)]
    assert _rows(heatmap.blocks_of(_run(tmp_path / "close", close))[0])["Halloc"] == ["1.09"]
    wide = [*close, _cell("xmalloc", "road", 2.5e-6)]
    assert _rows(heatmap.blocks_of(_run(tmp_path / "wide", wide))[0])["Halloc"] == ["1.1"]


def test_the_best_of_each_column(tmp_path):
    block, = heatmap.blocks_of(_run(tmp_path, [*CELLS[:3], _cell("halloc", "a_web", 1e-6)], reference="best"))
    assert _rows(block) == {"CMalloc": ["1", "4"], "Halloc": ["2.5", "1"]}


def test_a_smallest_value_of_zero_is_no_reference(tmp_path):
    def told(folder, *counts):
        cells = [synthetic.cell(name, {"graph": "road"}, values={("", "p99"): (count, None, None)}) for name, count in zip(("c_malloc", "halloc", "kma"), counts)]
        return " ".join(readback.texts(heatmap.make(_run(tmp_path / folder, cells, y="", metric="p99", reference="best"), "stem")))

    assert "over the smallest of the column above 0. Red: larger; blue: 0." in told("zero", 0.0, 2.0, 4.0), "counts have no interval"
    assert "over the smallest of the column. Red: larger." in told("none", 1.0, 2.0, 4.0)
    timed = " ".join(readback.texts(heatmap.make(_run(tmp_path / "timed", CELLS, reference="best"), "stem")))
    assert "Red: larger; grey: the 95 % interval contains 1." in timed


def test_what_an_interval_does_not_tell_from_1_is_grey(tmp_path):
    cells = [_cell("c_malloc", "road", 2e-6), _cell("c_malloc", "a_web", 2e-6), _cell("halloc", "road", 2.2e-6, 0.2), _cell("halloc", "a_web", 2.2e-6)]
    block, = heatmap.blocks_of(_run(tmp_path, cells))
    unsure, sure = dict(block.rows)["Halloc"]
    assert unsure.colour == heatmap._SAME != sure.colour


def test_colours_grow_with_the_factor():
    strength = [int(heatmap._colour(factor)[3:5], 16) for factor in (1, 2, 8, 30)]
    assert strength == sorted(strength, reverse=True)
    assert heatmap._colour(1000) == heatmap._colour(30) and heatmap._colour(0.5) != heatmap._colour(2)


def test_two_settings_across_make_groups_of_columns(tmp_path):
    cells = [_cell(name, graph, seconds * share, share=share) for share in (1, 2) for graph in ("road", "a_web")
             for name, seconds in (("c_malloc", 1e-6), ("halloc", 3e-6))]
    run = _run(tmp_path, cells, x=["graph", "share"])
    block, = heatmap.blocks_of(run)
    assert block.columns == [("road", "1"), ("road", "2"), ("a_web", "1"), ("a_web", "2")]
    assert _rows(block)["Halloc"] == ["3", "3", "3", "3"]
    assert "### graph road, alloc time" in heatmap.make(run, "stem").markdown


def test_panels_make_maps(tmp_path):
    cells = [_cell(name, "road", 1e-6, threads=threads) for name in ("c_malloc", "halloc") for threads in (1, 2)]
    assert [block.title for block in heatmap.blocks_of(_run(tmp_path, cells, panels="threads"))] == ["threads 1", "threads 2"]


def test_narrow_columns_have_short_numbers():
    assert [heatmap_page.narrow(text) for text in ("0.12", "0.056", "0.0012", "2,400", "24,200", "12", "oom", "1.5")] == [
        ".12", ".06", "<.01", "2k", "24k", "12", "oom", "1.5"]
    assert heatmap_page.narrow("2,400", 2) == "2.4k"


def test_several_metrics_are_columns_in_the_order_of_the_plot(tmp_path):
    cells = [synthetic.cell(name, {"graph": graph}, values={("", "p99"): 8.0 * factor, ("", "max"): 100.0 * factor * factor})
             for name, factor in (("c_malloc", 1), ("halloc", 2)) for graph in ("road", "a_web")]
    run = _run(tmp_path, [*cells, _cell("cf_malloc", "road")], y="", metric=["p99", "max"])
    drawing = heatmap.make(run, "stem")
    block, = heatmap.blocks_of(heatmap.metrics_across(run))
    assert block.columns == [("road", "p99"), ("road", "max"), ("a_web", "p99"), ("a_web", "max")]
    assert _rows(block)["Halloc"] == ["2", "4", "2", "4"] and _rows(block)["CFMalloc"] == ["t.out", "t.out", None, None]
    assert "max" in readback.texts(drawing) and "| Halloc | 16" in drawing.markdown


def test_cells_that_metrics_split_are_counted_once(tmp_path):
    cells = [synthetic.cell("halloc", {"graph": "road"}, values={("alloc", "time"): 1e-6, ("", "p99"): 8.0, ("", "null_returns"): 1})]
    drawing = heatmap.make(_run(tmp_path, cells, metric=["time", "p99"], reference="best"), "stem")
    assert "got null, which is faster than getting a block: Halloc (1 cell)." in drawing.markdown


def test_the_legend_has_no_sign_and_the_row_no_unit_that_nothing_has(tmp_path):
    cells = [synthetic.cell(name, {"graph": "road"}, values={("", "p99"): (8.0, None, None)}) for name in ("c_malloc", "halloc")]
    run = _run(tmp_path, cells, y="", metric="p99")
    block, = heatmap.blocks_of(run)
    assert list(_rows(block)) == ["CMalloc", "Halloc"]
    assert "over that of CMalloc. Red: more; blue: less." in heatmap.resolve(run).heading.caption[0]
    assert "blue: less; grey: the 95 % interval contains 1." in heatmap.resolve(_run(tmp_path / "timed", CELLS)).heading.caption[0]


def test_the_numbers_of_a_row_of_columns_are_shortened_alike(tmp_path):
    cells = [_cell("c_malloc", "road", 1e-6, threads=threads) for threads in (10_000, 100_000)]
    assert [name for _, name in heatmap.blocks_of(_run(tmp_path, cells, x="threads"))[0].columns] == ["10 k", "100 k"]
    cells = [_cell("c_malloc", "road", 1e-6, alignment=alignment) for alignment in (32, 128)]
    assert [name for _, name in heatmap.blocks_of(_run(tmp_path / "aligned", cells, x="alignment"))[0].columns] == ["32 B", "128 B"]


def test_groups_of_numbers_and_columns_say_what_they_are(tmp_path):
    cells = [_cell(name, "road", 1e-6, threads=threads, lanes=lanes)
             for name in ("c_malloc", "halloc") for threads in (1, 2) for lanes in (4, 8)]
    run = _run(tmp_path, cells, x=["threads", "lanes"])
    block, = heatmap.blocks_of(run)
    assert block.columns == [("threads 1", "4"), ("threads 1", "8"), ("threads 2", "4"), ("threads 2", "8")]
    assert "lanes" in readback.texts(heatmap.make(run, "stem"))
    named = _run(tmp_path / "named", cells, x=["threads", "lanes"], names={"threads": "{} threads"})
    assert heatmap.blocks_of(named)[0].columns[0] == ("1 thread", "4")


def test_a_reference_of_zero_has_numbers_and_no_factors(tmp_path):
    cells = [synthetic.cell(name, {"graph": "road"}, values={("", "p99"): 8.0 * factor, ("", "max"): 100.0 * factor})
             for name, factor in (("c_malloc", 0), ("halloc", 2))]
    drawing = heatmap.make(_run(tmp_path, cells, y="", metric=["p99", "max"], reference="c_malloc"), "stem")
    assert "nan" not in readback.texts(drawing) and "0" in readback.texts(drawing)


def _many(tmp_path, count, **plot):
    """Makes a map of `count` forms, three of each allocator."""
    names = [f"stranger{number // 3:02}{form}" for number in range(count) for form in ("", "_reworked", "_no_merge")[number % 3:number % 3 + 1]]
    cells = [synthetic.cell(name, {"graph": graph}, values={(phase, "time"): 1e-6 * (1 + number) for phase in ("alloc", "free")})
             for number, name in enumerate(names) for graph in ("road", "a_web")]
    called = {name: name.replace("_", ", ", 1).replace("_", " ") for name in names}
    return names, _run(tmp_path, cells, y=["alloc", "free"], reference="best", names=called, **plot)


def test_many_rows_make_a_page_that_can_be_read_at_once(tmp_path):
    names, run = _many(tmp_path, 66)
    drawing = heatmap.make(run, "stem")
    assert drawing.page.figure.get_size_inches()[1] <= 9.0
    maps = [axes for axes in drawing.page.figure.axes if axes.get_gid() == "heatmap"]
    factors = sum((each.get_gid() == "factor") for axes in maps for each in axes.collections)
    assert len(maps) > 1 and factors == len(names) * 4, "every cell of both phases is drawn once"
    shown = [text.get_text() for axes in maps for text in axes.texts]
    assert shown.count("reworked") == shown.count("no merge") == 22 and shown.count("stranger00") == 1
    assert [axes.texts[1].get_text() for axes in maps if axes.texts[1].get_text() in ("reworked", "no merge")] == [], "no form without its name above"


def test_few_rows_keep_their_order_and_names(tmp_path):
    names, run = _many(tmp_path, 12)
    block = heatmap.blocks_of(run)[0]
    assert block.families == [] and len(block.rows) == 12
    assert "stranger00, reworked" in readback.texts(heatmap.make(run, "stem"))


def test_all_blocks_of_a_map_have_the_same_order(tmp_path):
    """If one block has many rows, a block with few rows has the order of families, too."""
    many = [_cell(f"stranger{number:02}", "road", 1e-6, threads=threads) for number in range(25, 0, -1) for threads in (1, 2)]
    run = _run(tmp_path, many + [_cell(name, "a_web", 1e-6, threads=1) for name in ("stranger09", "stranger08")], x="threads", panels="graph")
    full, small = heatmap.blocks_of(run)
    assert [label for label, _ in full.rows][:2] == ["stranger01", "stranger02"]
    assert [label for label, _ in small.rows] == ["stranger08", "stranger09"] and len(small.families) == 2


def test_names_of_groups_without_room_are_told_once(tmp_path):
    cells = [_cell(name, "road", 1e-6, threads=threads, lanes=lanes) for name in ("c_malloc", "halloc")
             for threads in range(1, 13) for lanes in (1, 2)]
    shown = readback.texts(heatmap.make(_run(tmp_path, cells, x=["threads", "lanes"]), "stem"))
    assert shown.count("threads") == 1 and "12" in shown and "threads 12" not in shown
    shown = readback.texts(heatmap.make(_run(tmp_path / "after", cells, x=["threads", "lanes"], names={"threads": "{} warps that call"}), "stem"))
    assert shown.count("warps that call") == 1 and "12" in shown and "12 warps that call" not in shown


def test_rows_stand_by_family_and_forms_below_their_name():
    ids = ["corw", "rw", "rw_bm", "rw_reworked", "comb", "atomic_malloc", "corw_reworked", "unknown"]
    assert rows.by_family(ids, str) == ["atomic_malloc", "comb", "corw", "corw_reworked", "rw", "rw_reworked", "rw_bm", "unknown"]
    assert rows.below(["A", "A, reworked", "AB, reworked", "AB, reworked, on C"]) == ["", "reworked", "", "on C"]
    assert rows.split([3, 1, 1, 3], 2) == [(0, 4), (4, 8)] and rows.split([5], 3) == [(0, 5)]


def test_names_of_neighbouring_groups_do_not_touch(tmp_path):
    """A name that nearly fills its columns makes all names of the map narrower."""
    names = ["4,096 B, freed", "mixed, not freed", "8,192 B, again"]
    cells = [_cell(name, graph, 2e-6 * number, threads=threads) for number, name in enumerate(("c_malloc", "halloc"), 1)
             for graph in names + ["a", "b", "c", "d", "e"] for threads in (1, 2, 4)]
    axes, = heatmap.make(_run(tmp_path, cells, x=["graph", "threads"]), "stem").page.figure.axes
    axes.figure.canvas.draw()
    shown = [next(text for text in axes.texts if text.get_text() == name) for name in names]
    boxes = sorted((text.get_window_extent() for text in shown), key=lambda box: box.x0)
    assert {text.get_weight() for text in shown} == {"normal"}
    assert all(left.x1 + 2 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_numbers_stand_in_the_middle_of_what_is_drawn_of_their_cell(tmp_path):
    """The gap before a group of columns takes a part of the group's first cells."""
    cells = [_cell(name, graph, 2e-6 * number, threads=threads) for number, name in enumerate(("c_malloc", "halloc"), 1)
             for graph in ("road", "a_web") for threads in (1, 2, 4)]
    axes, = heatmap.make(_run(tmp_path, cells, x=["graph", "threads"]), "stem").page.figure.axes
    middles = [box.get_paths()[0].get_extents() for box in axes.collections if box.get_gid() == "factor"]
    numbers = [text.get_position()[0] for text in axes.texts if text.get_text() in ("2", "4")][-6:]
    drawn = sorted({round((box.x0 + box.x1) / 2, 6) for box in middles})
    assert len(drawn) == 6 and len({round(box.width, 6) for box in middles}) == 2, "one cell of a row is narrower"
    assert sorted({round(x, 6) for x in numbers} - set(drawn)) == []
