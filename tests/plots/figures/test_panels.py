"""Tests panels in rows and columns, panels of allocators, and axes that advance together."""

import readback
import pytest
import synthetic

from plots.figures import lines, table
from plots.figures.model import series
from plots.runs import results

CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc", "halloc"],
          "workload": {"id": "get_page"}, "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}


def _run(tmp_path, cells, config=None, **plot):
    config = {**CONFIG, **(config or {}), "plot": {**CONFIG["plot"], **plot}}
    return results.read_run(synthetic.write(tmp_path, config, cells, "cuda"))


def _cells(values, allocators=("c_malloc", "halloc"), **axes):
    """Makes every combination of the axes, with two points on x. `values` computes the values from the axes."""
    combinations = [{}]
    for name, each in axes.items():
        combinations = [{**made, name: value} for made in combinations for value in each]
    return [synthetic.cell(allocator, {"threads": x, **made}, values=values({"threads": x, **made}))
            for allocator in allocators for made in combinations for x in (1, 2)]


def _panels(drawing):
    """Returns the axes with lines, from top to bottom and from left to right."""
    found = [axes for axes in drawing.page.figure.axes if any("median" in (line.get_gid() or "") for line in axes.get_lines())]
    return sorted(found, key=lambda axes: (-round(axes.get_position().y0, 3), axes.get_position().x0))


def _first_y(axes):
    return float(axes.get_lines()[0].get_ydata()[0])


def test_rows_and_columns_hold_their_values(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): at["share"] * at["kind"]}, share=(0.1, 0.5), kind=(1, 10, 100))
    drawing = lines.make(_run(tmp_path, cells, panels="share", rows="kind", row_names=["one", "ten", "hundred"]), "stem")
    panels = _panels(drawing)
    assert [_first_y(axes) for axes in panels] == pytest.approx([0.1, 0.5, 1, 5, 10, 50])
    assert len({axes.get_position().x0 for axes in panels}) == 2 and len({axes.get_position().y0 for axes in panels}) == 3
    assert [axes.get_xlabel() for axes in panels] == ["", "", "", "", "threads", "threads"]
    shown = readback.texts(drawing)
    assert {"one", "ten", "hundred"} <= set(shown) and shown.count("share 0.5") == 3
    assert "### ten, share 0.5, alloc time" in drawing.markdown


def test_metrics_make_rows_where_there_are_panels(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): at["share"], ("alloc", "operations"): 7.0 * at["share"]}, share=(1, 2))
    run = _run(tmp_path, cells, panels="share", metric=["time", "operations"])
    assert [(panel.row, panel.column, panel.metric) for panel in series.panels_of(run)] == [
        (0, 0, "time"), (0, 1, "time"), (1, 0, "operations"), (1, 1, "operations")]
    panels = _panels(lines.make(run, "stem"))
    assert [_first_y(axes) for axes in panels] == [1, 2, 7, 14]
    assert panels[0].get_ylim() == panels[1].get_ylim() != panels[2].get_ylim()
    assert panels[0].get_ylabel() and panels[2].get_ylabel() and not panels[3].get_ylabel()


def test_a_panel_without_a_speed_up_stays_and_its_curves_are_named(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): 1e-6 / at["threads"], ("alloc", "operations"): 1.0}, share=(1, 2))
    for cell in cells:
        if cell["axes"]["share"] == 2 and cell["axes"]["threads"] == 1:
            cell.update(status="timeout", values={})
    drawing = lines.make(_run(tmp_path, cells, panels="share", metric="speed_up"), "stem")
    assert "No speed-up, because there is no value at threads 1: CMalloc; Halloc." in drawing.markdown
    assert readback.texts(drawing).count("no speed-up") == 2


def test_metrics_of_cells_stand_beside_those_of_phases(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): 1.0, ("free", "time"): 2.0, ("", "steps_per_malloc"): 3.0})
    run = _run(tmp_path, cells, y=["alloc", "free"], metric=["time", "steps_per_malloc"])
    assert [(panel.phase, panel.metric, panel.phase_name) for panel in series.panels_of(run)] == [
        ("alloc", "time", "alloc"), ("free", "time", "free"), ("", "steps_per_malloc", "")]
    assert [_first_y(axes) for axes in _panels(lines.make(run, "stem"))] == [1, 2, 3]


@pytest.mark.parametrize("count, across", [(4, 4), (5, 3), (6, 3), (7, 4)])
def test_many_panels_go_on_below(tmp_path, count, across):
    cells = _cells(lambda at: {("alloc", "time"): at["kind"]}, kind=range(1, count + 1))
    run = _run(tmp_path, cells, panels="kind")
    assert [(panel.row, panel.column) for panel in series.panels_of(run)] == [divmod(i, across) for i in range(count)]
    panels = _panels(lines.make(run, "stem"))
    assert [_first_y(axes) for axes in panels] == list(range(1, count + 1))
    assert sum(bool(axes.get_xlabel()) for axes in panels) == across, "below every column"


def test_words_keep_the_order_of_the_config(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): 1.0}, kind=("c", "a", "b"))
    run = _run(tmp_path, cells, {"sweep": {"threads": [1, 2], "kind": ["b", "c", "a"]}}, panels="kind")
    assert [panel.name for panel in series.panels_of(run)] == ["kind b", "kind c", "kind a"]


def test_series_of_words_have_the_order_of_the_config(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): 1.0}, kind=("c", "a", "b"))
    drawing = lines.make(_run(tmp_path, cells, {"sweep": {"threads": [1, 2], "kind": ["b", "c", "a"]}}, panels="allocator"), "stem")
    assert [text.get_text() for text in drawing.page.figure.legends[0].get_texts()] == ["b", "c", "a"]


def test_a_panel_for_each_allocator_leaves_its_name_out_of_the_legend(tmp_path):
    cells = _cells(lambda at: {("alloc", "time"): 1.0}, kind=("a", "b", "c"))
    drawing = lines.make(_run(tmp_path, cells, panels="allocator"), "stem")
    assert {"CMalloc", "Halloc"} <= set(readback.texts(drawing))
    legend, = drawing.page.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]


def test_axes_that_advance_with_x_do_not_split_series(tmp_path):
    zipped = {"zip": [{"threads": [1, 2], "lanes": [8, 16], "allocator.page_bytes": [64, 128]}]}
    cells = [synthetic.cell("c_malloc", {"threads": x, "lanes": 8 * x, "allocator.page_bytes": 64 * x},
                            allocator_parameters={"page_bytes": 64 * x}, values={("alloc", "time"): float(x)}) for x in (1, 2)]
    assert readback.medians(lines.make(_run(tmp_path, cells, zipped), "stem")) == {"CMalloc": {1.0: 1.0, 2.0: 2.0}}
    assert len(readback.medians(lines.make(_run(tmp_path / "split", cells), "stem"))) == 2


def test_a_combination_that_was_left_out_has_no_panel(tmp_path):
    cells = [cell for cell in _cells(lambda at: {("alloc", "time"): 1.0}, share=(1, 2), kind=(1, 2))
             if not cell["axes"]["share"] == cell["axes"]["kind"] == 1]
    run = _run(tmp_path, cells, panels="share", rows="kind")
    assert [(panel.row, panel.column) for panel in series.panels_of(run)] == [(0, 1), (1, 0), (1, 1)]
    assert len(_panels(lines.make(run, "stem"))) == 3
    assert "kind 1, share 1" not in table.make(run, "stem").markdown


def test_time_of_a_launch_and_utilisation(tmp_path):
    launched = synthetic.cell("c_malloc", {"threads": 1}, workload_parameters={"threads": 1, "launches": 4},
                              values={("total", "time"): (2.0, 1.0, 3.0)})
    full = synthetic.cell("c_malloc", {"threads": 2}, pool_bytes=1000,
                          values={("", "served_bytes"): (900.0, None, None), ("", "metadata_bytes"): (200.0, None, None)})
    run = _run(tmp_path, [launched, full])
    value = readback.value_of(run, 0, "total", "time_per_launch")
    assert (value["value"], value["low"], value["high"], value["unit"]) == (0.5, 0.25, 0.75, "s")
    assert readback.value_of(run, 1, "", "utilisation")["value"] == pytest.approx(0.75)
    assert readback.value_of(run, 0, "", "utilisation") is None


def test_what_is_zero_everywhere_is_named_beside_a_logarithmic_axis(tmp_path):
    cells = [synthetic.cell(name, {"threads": x}, values={("", "steps_per_malloc"): 0.0 if name == "halloc" else float(x)})
             for name in ("c_malloc", "halloc") for x in (1, 2)]
    drawing = lines.make(_run(tmp_path, cells, y="", metric="steps_per_malloc", log="y"), "stem")
    assert readback.medians(drawing) == {"CMalloc": {1.0: 1.0, 2.0: 2.0}, "Halloc": {}}
    assert readback.failures(drawing) == {"Halloc": {1.0, 2.0}} and "0" in readback.texts(drawing)
    assert next(axes for axes in _panels(drawing)).get_yscale() == "log"
    assert "Crosses with 0: the value is 0, which a logarithmic axis lacks." in " ".join(" ".join(readback.texts(drawing)).split())


def test_a_y_label_is_no_longer_than_its_axis(tmp_path):
    metrics = ["compare_exchanges_per_malloc", "operations_per_malloc", "operations_per_free"]
    cells = _cells(lambda at: {("", metric): 2.0 for metric in metrics}, kind=(1, 2))
    drawing = lines.make(_run(tmp_path, cells, y="", metric=metrics, panels="kind"), "stem")
    drawing.page.figure.draw_without_rendering()
    labelled = [axes for axes in _panels(drawing) if axes.get_ylabel()]
    assert [axes.get_ylabel() for axes in labelled] == ["compare exchanges\nper malloc", "operations per malloc", "operations per free"]
    for axes in labelled:
        label, panel = axes.yaxis.label.get_window_extent(), axes.get_window_extent()
        assert label.height <= panel.height and label.x0 >= 0 and not any(label.overlaps(tick.get_window_extent()) for tick in axes.get_yticklabels())
