"""Tests that the A/A figure counts pairs of runs with disjoint intervals."""

import pytest

from allocbench.errors import UsageError
import synthetic
from plots.commands import cli
from plots.runs import results
from plots.studies import aa

CONFIG = {"name": "aa", "description": "Repeated", "allocators": ["halloc", "kma"], "workload": {"id": "alloc_free"},
          "sweep": {"request_bytes": [16]}, "plot": {"kind": "lines", "x": "request_bytes", "y": ["alloc", "free"]}}


def written(folder, intervals, **config):
    """Makes a run whose phases of halloc have these intervals. The intervals of kma never differ."""
    cells = [synthetic.cell("halloc", {"request_bytes": 16}, values={**{(phase, "time"): each for phase, each in intervals.items()},
                                                                     ("total", "time"): (9.0, 1.0, 20.0)}),
             synthetic.cell("kma", {"request_bytes": 16}, values={("alloc", "time"): (1.0, 0.9, 1.1), ("free", "time"): (1.0, None, None)})]
    return results.read_run(synthetic.write(folder, {**CONFIG, **config}, cells, backend="cuda"))


@pytest.fixture
def runs(tmp_path):
    return [written(tmp_path / "run1", {"alloc": (1.0, 0.99, 1.01), "free": (1.0, 0.9, 1.1)}),
            written(tmp_path / "run2", {"alloc": (1.03, 1.02, 1.04), "free": (1.1, 1.05, 1.2)}),
            written(tmp_path / "run3", {"alloc": (1.01, 1.0, 1.03), "free": (1.5, 1.4, 1.6)})]


def test_pairs_are_counted(runs):
    counts = {(place.name, place.phase): (place.disjoint, len(place.pairs)) for place in aa.find(runs)}
    assert counts == {("Halloc 16 B", "alloc"): (1, 3), ("Halloc 16 B", "free"): (2, 3), ("KMA 16 B", "alloc"): (0, 3)}


def test_only_precise_intervals_count_for_the_goal(runs):
    place = next(each for each in aa.find(runs) if each.phase == "alloc" and each.name.startswith("Halloc"))
    assert [each.value for each in place.precise.times] == [1.0, 1.03]
    assert (place.precise.disjoint, len(place.precise.pairs)) == (1, 1)


def test_names_and_phases_have_room(runs):
    page = aa.make(runs).page
    page.figure.canvas.draw()
    drawn = page.figure.canvas.get_renderer()
    boxes = [label.get_window_extent(drawn) for label in page.figure.axes[0].get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    subtitle = next(text for text in page.figure.texts if text.get_text() == "Repeated").get_window_extent(drawn)
    assert all(axes.title.get_window_extent(drawn).y1 < subtitle.y0 for axes in page.figure.axes)


def test_rows_keep_allocators_together_and_sizes_in_order(tmp_path):
    def run(folder, name, sizes):
        cells = [synthetic.cell(allocator, {"request_bytes": size}, values={("alloc", "time"): (1.0, 0.9, 1.1)})
                 for allocator in ("halloc", "kma") for size in sizes]
        return results.read_run(synthetic.write(tmp_path / folder, {**CONFIG, "name": name, "sweep": {"request_bytes": sizes}}, cells, backend="cuda"))

    page = aa.make([run(f"{name}{number}", name, sizes) for name, sizes in (("aa", [16, 1024]), ("aa_cycle", [256])) for number in (1, 2)]).page
    assert [label.get_text() for label in page.figure.axes[0].get_yticklabels()] == [
        f"{allocator} {size}" for allocator in ("Halloc", "KMA") for size in ("16 B", "256 B", "1 KiB")]


def test_labels_of_neighbouring_panels_do_not_touch(runs):
    page = aa.make(runs).page
    page.figure.canvas.draw()
    drawn = page.figure.canvas.get_renderer()
    left, right = [[label.get_window_extent(drawn) for label in axes.get_xticklabels()] for axes in page.figure.axes]
    assert max(box.x1 for box in left) < min(box.x0 for box in right)


def test_the_command_draws_and_says_how_many(runs, tmp_path, capsys):
    assert cli.main(["aa", str(tmp_path), "--out", str(tmp_path / "out"), "--formats", "png"]) == 0
    assert (tmp_path / "out" / "aa.png").stat().st_size > 1000
    assert "Disjoint: 3 of 9 pairs (33.3 %); of intervals within ±1.3 %: 1 of 1 pairs (100.0 %)." in (tmp_path / "out" / "aa.md").read_text(encoding="utf-8")
    capsys.readouterr()


def test_the_page_says_what_was_measured(runs, tmp_path):
    assert "Measured forms: 2 published. Workloads: alloc_free." in aa.make(runs).markdown
    assert aa.make(runs).markdown.startswith("# One config, 3 times on one card\n")


def test_several_configs_share_a_page(runs, tmp_path):
    others = [written(tmp_path / f"other{number}", {"alloc": (1.0, 0.9, 1.1), "free": (2.0, 1.9, 2.1)}, name="aa_other") for number in (1, 2)]
    made = aa.make([*runs, *others])
    assert made.markdown.startswith("# 2 configs, 2 to 3 times each on one card\n")
    assert "Disjoint: 3 of 12 pairs (25.0 %)" in made.markdown
    assert made.markdown.count("| alloc_free | Halloc 16 B | free |") == 2


def test_pairs_of_different_cards_count_apart(runs):
    runs[2].device["uuid"] = "another card"
    place = next(each for each in aa.find(runs) if each.phase == "free")
    assert (place.disjoint, len(place.pairs), len(place.pairs_of_cards)) == (0, 1, 2)
    told = aa.make(runs).markdown
    assert told.startswith("# One config, 3 times on 2 cards of one model\n")
    # The ratios are 1.01/1.0 and 1.03/1.01 for alloc of Halloc, 1 and 1 for KMA, and 1.5/1.0 and 1.5/1.1 for free of
    # Halloc.
    assert "Between different cards: 2 of 6 pairs (33.3 %); the median ratio of the slower to the faster time is 1.0149." in told


def test_short_times_of_different_cards_count_apart(tmp_path):
    pair = [written(tmp_path / f"run{number}", {"alloc": (1.0 * number, 0.9, 1.1), "free": (5e-6 * number, 5e-6, 6e-6)}) for number in (1, 2)]
    pair[1].device["uuid"] = "another card"
    told = aa.make(pair).markdown.splitlines()[2]
    # The ratios are 2 for alloc of Halloc and 1 for KMA, so their median is 1.5.
    assert told.endswith("For times of at least 100 µs it is 1.5000. Shorter times differ by a median of 5 µs."), told


def test_three_cards_are_compared_two_by_two(tmp_path):
    several = [written(tmp_path / f"run{number}", {"alloc": (time, time, time), "free": (1.0, 0.9, 1.1)}) for number, time in enumerate((5e-6, 7e-6, 8e-6))]
    for number, run in enumerate(several):
        run.device["uuid"] = f"card {number}"
    told = aa.make(several).markdown.splitlines()[2]
    # Only alloc of Halloc is short and differs between the cards.
    assert told.endswith(" in the order of their first runs: 1 and 2: 2 µs; 1 and 3: 3 µs; 2 and 3: 1 µs."), told


def test_a_value_outside_of_the_axis_is_a_triangle_at_its_edge(tmp_path):
    far = [written(tmp_path / f"run{number}", {"alloc": (value, value, value)}) for number, value in enumerate((1.0, 1.0, 2.0))]
    axes = aa.make(far).page.figure.axes[0]
    edge = axes.get_xlim()[1]
    triangles = [(line.get_xdata()[0], line.get_marker()) for line in axes.lines if line.get_marker() in "<>"]
    assert triangles and set(triangles) == {(edge, ">")}


def test_other_runs_are_refused(runs, tmp_path):
    with pytest.raises(UsageError, match=r"at least two runs of each config.*leave their runs out: aa\."):
        aa.find(runs[:1])
    with pytest.raises(UsageError, match=r"leave their runs out: other\."):
        aa.find([*runs, written(tmp_path / "other", {"alloc": (1.0, 0.9, 1.1)}, name="other")])
    runs[1].device["name"] = "another model"
    with pytest.raises(UsageError, match="2 models of cards"):
        aa.find(runs)
