"""Tests line figures: every ok cell is drawn with its value, and every other cell with its word and without a
number.
"""

import math
import random

from allocbench import stored
from allocbench.errors import NothingToDraw
import readback
import pandas
import pytest
import synthetic

from plots.figures import lines
from plots.figures.model import series
from plots.figures.panel import failures
from plots.runs import results
from plots.sheet import style, ticks

ALLOCATORS = ["atomic_malloc", "c_malloc", "cuda_malloc"]
CONFIG = {"name": "test/fig", "paper": "Nobody 1999, Fig. 1", "description": "A test", "allocators": ALLOCATORS,
          "workload": {"id": "alloc_free", "lanes_per_warp": 32},
          "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "xy"}}
POISON = 6.66e-2  # value of failed cells in these tests, which no figure may show


def _draw(tmp_path, cells, plot=None, backend="cuda"):
    config = {**CONFIG, "plot": {**CONFIG["plot"], **(plot or {})}}
    return lines.make(results.read_run(synthetic.write(tmp_path, config, cells, backend)), "stem")


def _ok(allocator, threads, seconds=1e-6, **fields):
    fields.setdefault("workload_parameters", {"threads": threads, "lanes_per_warp": 32})
    return synthetic.cell(allocator, {"threads": threads}, values={("alloc", "time"): seconds}, **fields)


def _series(points):
    """Makes a series of (x, word). A point without a word has a value."""
    table = pandas.DataFrame([(float(x), f"{x:016x}", math.nan if word else 1.0, math.nan, math.nan, word) for x, word in points],
                             columns=["x", "cell", "value", "low", "high", "word"])
    return series.Series("c_malloc", "CMalloc", style.look("c_malloc"), table)


def test_any_pattern_of_failures(tmp_path, session_seed):
    for trial in range(25):
        rng = random.Random(f"{session_seed} {trial}")
        xs = sorted(rng.sample(range(1, 5000), rng.randint(1, 9)))
        share = rng.choice((0.1, 0.5, 0.9))
        cells, expected, failed = [], {}, {}
        for allocator in ALLOCATORS:
            name = style.display_name(allocator)
            expected[name] = {}
            for x in xs:
                if rng.random() < share:
                    status = rng.choice(stored.STATUSES[1:])
                    cells.append(synthetic.cell(allocator, {"threads": x}, status=status, reason="planted",
                                                values={("alloc", "time"): POISON}))
                    failed.setdefault(name, {})[float(x)] = status
                else:
                    expected[name][float(x)] = rng.uniform(1e-6, 5e-4)
                    cells.append(_ok(allocator, x, expected[name][float(x)]))
        rng.shuffle(cells)
        where = f"ALLOCBENCH_TEST_SEED={session_seed}, trial {trial}"

        if not any(expected.values()):
            with pytest.raises(NothingToDraw):
                _draw(tmp_path, cells)
            continue
        drawing = _draw(tmp_path, cells)
        assert readback.medians(drawing) == expected, where
        assert readback.failures(drawing) == {name: set(at) for name, at in failed.items()}, where
        for name, points in expected.items():
            assert readback.interval_xs(drawing, name) == set(points), where
        words = {status for at in failed.values() for status in at.values()}
        shown = readback.texts(drawing)
        assert words <= set(shown), where
        assert not any("66.6 ms" in text for text in shown), where
        assert "66.6 ms" not in drawing.markdown, where
        assert drawing.page.figure.axes[0].get_ylim()[1] < POISON, where
        rows = {row.split(" | ")[0].strip("| "): row.strip("| ").split(" | ")[1:]
                for row in drawing.markdown.splitlines() if row.startswith("| ")}
        for name, at in failed.items():
            for x, status in at.items():
                assert rows[name][xs.index(int(x))].strip("| ") == status, where


def test_words_of_one_row_never_overlap(session_seed):
    for trial in range(200):
        rng = random.Random(f"{session_seed} words {trial}")
        xs = sorted(rng.sample(range(1, 200), rng.randint(1, 16)))
        made = _series([(x, rng.choice(stored.STATUSES[1:])) for x in xs])
        row, = failures.rows_of([made], (0.5, 300.0), True, 5.0)
        spans = {}
        for stretch, lane, centre in zip(row.stretches, row.lanes, row.centres):
            half = ticks.text_width(stretch.word, style.LEAST) / 2
            assert -1e-9 <= centre - half and centre + half <= 5.0 + 1e-9
            spans.setdefault(lane, []).append((centre - half, centre + half))
        for lane in spans.values():
            lane.sort()
            assert all(a[1] < b[0] for a, b in zip(lane, lane[1:])), f"ALLOCBENCH_TEST_SEED={session_seed}, trial {trial}"


def test_neighbours_with_the_same_word_share_it():
    words = ["", "timeout", "timeout", "skipped", "", "timeout"]
    stretches = failures.stretches_of(_series(list(enumerate(words, 1))))
    assert [(each.word, each.positions) for each in stretches] == [
        ("timeout", (2.0, 3.0)), ("skipped", (4.0,)), ("timeout", (6.0,))]


def test_an_ok_cell_without_the_metric_is_said_to_have_no_value(tmp_path):
    other = synthetic.cell("c_malloc", {"threads": 2}, values={("free", "time"): 1.0})
    drawing = _draw(tmp_path, [_ok("c_malloc", 1), other])
    assert readback.failures(drawing) == {"CMalloc": {2.0}}
    assert "no value" in readback.texts(drawing)


def test_unknown_metric_or_axis_names_what_there_is(tmp_path):
    with pytest.raises(NothingToDraw, match="Metrics of that phase: time"):
        _draw(tmp_path, [_ok("c_malloc", 1)], {"metric": "speed"})
    with pytest.raises(NothingToDraw, match="Its axes are: threads"):
        _draw(tmp_path, [_ok("c_malloc", 1)], {"x": "colour"})


def test_each_phase_has_a_panel_and_the_legend_each_series_once(tmp_path):
    cells = [synthetic.cell(name, {"threads": x}, values={("alloc", "time"): 1e-6, ("free", "time"): 2e-6})
             for name in ALLOCATORS for x in (1, 2)]
    drawing = _draw(tmp_path, cells, {"y": ["alloc", "free"]})
    assert len(drawing.page.figure.axes) == 2
    legend, = drawing.page.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["AtomicMalloc", "CMalloc", "CudaMalloc"]


def test_one_allocator_with_two_parameter_sets_makes_two_series(tmp_path):
    cells = [_ok("c_malloc", x, allocator_parameters={"max_fragmentation": f, "same": 1}) for f in (2, 4) for x in (1, 2)]
    drawing = _draw(tmp_path, cells)
    assert set(readback.medians(drawing)) == {"max fragmentation 2", "max fragmentation 4"}


def test_a_label_of_the_config_names_its_series(tmp_path):
    config = {**CONFIG, "allocators": [{"id": "c_malloc", "label": "two passes", "parameters": {"max_fragmentation": 4}}, "c_malloc"]}
    cells = [_ok("c_malloc", x, allocator_parameters={"max_fragmentation": f}) for f in (2, 4) for x in (1, 2)] + [_ok("halloc", 1)]
    drawing = lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")
    assert set(readback.medians(drawing)) == {"CMalloc (max fragmentation 2)", "two passes (max fragmentation 4)", "Halloc"}


def test_a_second_swept_axis_splits_the_series(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x, "lanes_per_warp": lanes}, values={("alloc", "time"): 1e-6})
             for lanes in (1, 32) for x in (1, 2)]
    assert set(readback.medians(_draw(tmp_path, cells))) == {"allocating lanes per warp 1", "allocating lanes per warp 32"}


def test_origin_is_printed_and_cpu_figures_carry_a_banner(tmp_path):
    cpu = readback.texts(_draw(tmp_path, [_ok("c_malloc", 1)], backend="cpu"))
    cuda = readback.texts(_draw(tmp_path, [_ok("c_malloc", 1)], backend="cuda"))
    for words in (cpu, cuda):
        everything = " ".join(words)
        for part in (synthetic.DEVICE, "2026-01-02", "abc1234", "seed 7", "lanes per warp 32", "pool 64 MiB"):
            assert part in everything
    assert "CPU executor: not GPU performance" in cpu and "driver 1.2" not in " ".join(cpu)
    assert "CPU executor: not GPU performance" not in cuda and "driver 1.2" in " ".join(cuda)


def test_stated_values_become_a_mark_or_a_sentence(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1e-6, ("", "mallocs"): 100.0 * x})
             for x in (1, 2)]
    marks = [{"metric": "time", "phase": "alloc", "where": {"threads": 2}, "value": 5e-6, "source": "The paper"},
             {"metric": "mallocs", "where": {"threads": 2}, "value": 150, "source": "The paper"},
             {"metric": "frees", "where": {"threads": 2}, "value": 90, "source": "The paper"},
             {"metric": "mallocs", "where": {"threads": 120}, "value": 9000, "source": "The paper"}]
    drawing = _draw(tmp_path, cells, {"marks": marks})
    star, = [line for line in drawing.page.figure.axes[0].get_lines() if line.get_gid() == "stated"]
    assert (list(star.get_xdata()), list(star.get_ydata())) == ([2.0], [5e-6])
    sentence = "The paper states 150 mallocs, 90 frees at threads 2; here: 200 mallocs, frees not measured."
    assert "The paper states 9,000 mallocs at threads 120; not run here." in drawing.markdown
    assert sentence in drawing.markdown and any(sentence in text for text in readback.texts(drawing))


def test_values_of_zero_turn_a_logarithmic_axis_linear(tmp_path):
    drawing = _draw(tmp_path, [_ok("c_malloc", 1, (0.0, 0.0, 0.0)), _ok("c_malloc", 2)])
    assert drawing.page.figure.axes[0].get_yscale() == "linear"
    assert readback.medians(drawing) == {"CMalloc": {1.0: 0.0, 2.0: 1e-6}}


def test_throttled_values_are_counted_in_the_caption(tmp_path):
    drawing = _draw(tmp_path, [_ok("c_malloc", 1, flags="throttled"), _ok("c_malloc", 2)])
    assert "1 of 2 values include samples taken while the device throttled" in " ".join(readback.texts(drawing))


def _two_panels(tmp_path, cells, **plot):
    config = {**CONFIG, "plot": {**CONFIG["plot"], "panels": "pool_bytes", **plot}}
    return lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")


def _pooled(allocator, threads, pool, seconds=None):
    values = {("alloc", "time"): seconds} if seconds else {}
    return synthetic.cell(allocator, {"threads": threads, "pool_bytes": pool}, values=values,
                          status="ok" if seconds else "oom")


def _by_axes(drawing, prefix):
    """Returns for each axes the x of the lines whose gid starts with `prefix`, by label."""
    return [{line.get_gid().removeprefix(prefix): [float(x) for x in line.get_xdata()] for line in axes.get_lines()
             if (line.get_gid() or "").startswith(prefix)} for axes in drawing.page.figure.axes]


def test_each_value_of_an_axis_has_a_panel_with_its_own_failures(tmp_path):
    cells = [_pooled("c_malloc", x, pool, 1e-6 * x * pool) for x in (1, 2) for pool in (1024, 2048)]
    cells += [_pooled("cuda_malloc", x, pool, 1e-5 if pool == 2048 else None) for x in (1, 2) for pool in (1024, 2048)]
    drawing = _two_panels(tmp_path, cells)
    left, right = [axes for axes in drawing.page.figure.axes if any("median" in (line.get_gid() or "")
                                                                    for line in axes.get_lines())]
    at = [{line.get_label(): list(line.get_ydata()) for line in axes.get_lines() if "median" in line.get_gid()}
          for axes in (left, right)]
    assert at[0]["CMalloc"] == [1024e-6, 2048e-6] and at[1]["CMalloc"] == [2048e-6, 4096e-6]
    assert at[1]["CudaMalloc"] == [1e-5, 1e-5]
    assert left.get_ylim() == right.get_ylim()
    failed = [found for found in _by_axes(drawing, "failed ") if found]
    assert failed == [{"CudaMalloc": [1.0, 2.0]}], "the right panel has no cross"
    shown = readback.texts(drawing)
    assert "pool size 1 KiB" in shown and "pool size 2 KiB" in shown
    assert "### pool size 2 KiB, alloc time" in drawing.markdown
    named = _two_panels(tmp_path / "named", cells, panel_names=["small", "large"])
    assert "small" in readback.texts(named) and "large" in readback.texts(named)


def test_stated_values_keep_to_their_panel_and_back_end(tmp_path):
    cells = [_pooled("c_malloc", x, pool, 1e-6) for x in (1, 2) for pool in (1024, 2048)]
    mark = {"metric": "time", "phase": "alloc", "value": 5e-6, "where": {"threads": 2, "pool_bytes": 2048},
            "allocator": "c_malloc", "source": "The paper"}
    drawing = _two_panels(tmp_path, cells, marks=[mark, {**mark, "backend": "cpu"}])
    stars = [[line for line in axes.get_lines() if line.get_gid() == "stated"] for axes in drawing.page.figure.axes]
    assert [len(each) for each in stars] == [0, 1]
    assert stars[1][0].get_color() == style.look("c_malloc").colour


def test_series_of_a_single_allocator_differ_in_shade(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x, "page_bytes": pages}, values={("alloc", "time"): 1e-6})
             for x in (1, 2) for pages in (4096, 16384, 65536)]
    drawing = _draw(tmp_path, cells)
    drawn = [line for line in drawing.page.figure.axes[0].get_lines() if "median" in line.get_gid()]
    assert [line.get_label() for line in drawn] == [f"pages of {pages} KiB" for pages in (4, 16, 64)]
    assert len({line.get_color() for line in drawn}) == 3 and len({line.get_marker() for line in drawn}) == 3


def test_each_metric_has_a_panel_with_an_axis_of_its_own(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("alloc", "time"): 1e-6, ("alloc", "operations"): 10.0 * x,
                                                                ("", "requested_bytes"): 160.0 * x})
             for x in (1, 2)]
    drawing = _draw(tmp_path, cells, {"metric": ["time_per_operation", "allocated_bytes_per_second"]})
    left, right = drawing.page.figure.axes
    assert left.get_ylabel().startswith("time per operation") and right.get_ylabel().startswith("allocated per second")
    assert left.get_ylim() != right.get_ylim()
    shown = [{float(x): float(y) for x, y in zip(*line.get_data())} for axes in (left, right)
             for line in axes.get_lines() if (line.get_gid() or "").startswith("median")]
    assert shown[0] == pytest.approx({1.0: 1e-7, 2.0: 5e-8}) and shown[1] == pytest.approx({1.0: 1.6e8, 2.0: 3.2e8})
    assert readback.interval_xs(drawing, "CMalloc") == {1.0, 2.0}


def test_a_parameter_that_is_on_or_off_is_called_so(tmp_path):
    cells = [_ok("xmalloc", x, allocator_parameters={"coalescing": on}) for on in (True, False) for x in (1, 2)]
    assert set(readback.medians(_draw(tmp_path, cells))) == {"coalescing on", "coalescing off"}


def test_shares_are_written_in_percent_on_a_linear_axis(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": x}, values={("", "internal_waste"): 0.1 * x}) for x in (1, 2)]
    drawing = _draw(tmp_path, cells, {"y": "", "metric": "internal_waste"})
    assert drawing.page.figure.axes[0].get_yscale() == "linear"
    assert "10 %" in drawing.markdown


def _on_graphs(tmp_path, cells, **plot):
    config = {**CONFIG, "zip": [{"graph": ["road", "a_web"], "symmetric": [True, False]}],
              "plot": {**CONFIG["plot"], "x": "graph", **plot}}
    return lines.make(results.read_run(synthetic.write(tmp_path, config, cells, "cuda")), "stem")


def _graph(allocator, graph, seconds=None):
    return synthetic.cell(allocator, {"graph": graph, "symmetric": graph == "road"}, status="ok" if seconds else "oom",
                          values={("alloc", "time"): seconds} if seconds else {})


def test_words_stand_on_the_axis_in_the_order_of_the_config(tmp_path):
    cells = [_graph("c_malloc", "a_web", 2e-6), _graph("c_malloc", "road", 1e-6),
             _graph("cuda_malloc", "road", 3e-6), _graph("cuda_malloc", "a_web")]
    drawing = _on_graphs(tmp_path, cells)
    nearest = {name: {round(x): y for x, y in drawn.items()} for name, drawn in readback.medians(drawing).items()}
    assert nearest == {"CMalloc": {0: 1e-6, 1: 2e-6}, "CudaMalloc": {0: 3e-6}}
    assert min(readback.medians(drawing)["CMalloc"]) < min(readback.medians(drawing)["CudaMalloc"]), "side by side"
    assert readback.failures(drawing) == {"CudaMalloc": {1.0}}
    axes, drawn = next((axes, drawn) for axes in drawing.page.figure.axes
                       if (drawn := [line for line in axes.get_lines() if (line.get_gid() or "").startswith("median")]))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["road", "a_web"]
    assert axes.get_xscale() == "linear"
    assert all(line.get_linestyle() == "None" for line in drawn), "nothing lies between two words"
    assert "| graph | road | a_web |" in drawing.markdown
    assert "| CudaMalloc | 3.00 µs ±6 % | oom |" in drawing.markdown


def test_values_relative_to_a_reference(tmp_path):
    cells = [_ok("atomic_malloc", 10, 2e-6), _ok("c_malloc", 10, 5e-6), _ok("atomic_malloc", 20, 4e-6), _ok("c_malloc", 20, 4e-6),
             _ok("cuda_malloc", 20, 1e-6), _ok("cuda_malloc", 40, 1e-6)]  # there is no value to divide by at 40
    drawing = _draw(tmp_path, cells, {"metric": "relative_time", "reference": "atomic_malloc"})
    assert readback.medians(drawing) == {"AtomicMalloc": {10: 1, 20: 1}, "CMalloc": {10: 2.5, 20: 1}, "CudaMalloc": {20: 0.25}}
    assert any("over that of AtomicMalloc" in axes.get_ylabel() for axes in drawing.page.figure.axes)


def test_series_of_a_registered_variant_look_unlike_those_of_its_base(tmp_path):
    config = {**CONFIG, "allocators": ["kma", "kma_reworked"], "sweep": {"method": ["malloc", "grow"], "threads": [1, 2]}}
    cells = [synthetic.cell(allocator, {"threads": x, "method": method}, values={("alloc", "time"): 1e-6},
                            workload_parameters={"threads": x, "method": method})
             for allocator in config["allocators"] for method in ("malloc", "grow") for x in (1, 2)]
    drawn = series.series_of(results.read_run(synthetic.write(tmp_path, config, cells)), "threads", "alloc", "time")
    assert len({(each.look.colour, each.look.dash, each.look.fill) for each in drawn}) == 4
    forms = {each.allocator: (each.look.dash, each.look.fill) for each in drawn}
    assert len(set(forms.values())) == 2 and all((each.look.dash, each.look.fill) == forms[each.allocator] for each in drawn)
    assert [each.look for each in drawn if each.allocator == "kma_reworked"][0] == style.look("kma_reworked"), "as in figures with one series of it"
