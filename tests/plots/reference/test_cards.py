"""Tests the comparison of two models of cards, from results with known ranks and ratios."""

import pytest

import measured
import synthetic
from plots.commands import cli
from plots.reference import cards

NAMES = ("comb", "halloc", "kma", "scatteralloc")


def study(folder, model, times, name="one/small", **fields):
    """Makes a run from the times of the allocators, as lists over the threads. None is a timeout."""
    cells = [measured.ok(allocator, time, threads) if time else measured.failed(allocator, "timeout", threads=threads)
             for allocator, of_threads in zip(NAMES, times) for threads, time in enumerate(of_threads, 1)]
    measured.run(folder, name, cells, model=model, config={"sweep": {"threads": [1, 2]}}, **fields)
    return folder


def compared(one, other):
    return cards.compare(cards.read(one), cards.read(other))


def test_ranks_and_ratios_by_group(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6, 1e-6], [2e-6, 2e-6], [3e-6, 3e-6], [4e-6, 4e-6]])
    other = study(tmp_path / "b", "GPU B", [[2e-6, 8e-6], [4e-6, 5.2e-6], [6e-6, 5e-6], [8e-6, 2e-6]])
    ranks = cards.correlations(compared(one, other).times)
    assert list(ranks["rank"]) == pytest.approx([1, -1]) and list(ranks["same"]) == [True, False]
    told = cards.markdown(compared(one, other))
    # The ratios are 2, 2, 2, 2 and 8, 2.6, 5/3, 1/2. Their median is 2, and two are more than a factor of 1.5 away from
    # it.
    assert "| one | 8 | 2 | 0.00 | -1.00 | 1 of 2 | 2 | 1.92 to 2.15 | 25.0 % |" in told
    assert "GPU A: measured revision 0123456789ab, cards: 1." in told and "may come from the sources" not in told
    first = told.partition("## Largest changes")[2].splitlines()[6]
    assert "threads 2" in first and first.endswith(("| alloc | 1 µs | 8 µs | 8 | 4 |", "| alloc | 4 µs | 2 µs | 0.5 | 0.25 |"))


def test_a_place_has_equal_settings_beside_the_workload(tmp_path):
    for folder, seconds in (("a", 1e-6), ("b", 2e-6)):
        cells = [synthetic.cell(name, {"busy_share": share}, values={("alloc", "time"): seconds * number}, workload_parameters={"threads": 1})
                 for share in (0, 0.5) for number, name in enumerate(NAMES[:2], 1)]
        measured.run(tmp_path / folder, "one/small", cells, model=folder, config={"sweep": {"busy_share": [0, 0.5]}})
    times = compared(tmp_path / "a", tmp_path / "b").times
    assert times.groupby("place")["allocator"].agg(list).tolist() == [list(NAMES[:2])] * 2


def test_three_allocators_make_a_rank(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6], [2e-6]])
    assert cards.correlations(compared(one, study(tmp_path / "b", "GPU B", [[1e-6], [2e-6]])).times).empty
    assert "| one | 2 | 0 | – | – | 0 of 0 | 1 | 1 to 1 | 0.0 % |" in cards.markdown(compared(one, tmp_path / "b"))


def test_cells_that_are_ok_on_one_only(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6, 1e-6], [2e-6, None]])
    other = study(tmp_path / "b", "GPU B", [[1e-6, None], [2e-6, 3e-6]], revision=measured.SECOND)
    told = cards.markdown(compared(one, other))
    assert "| one/small | ok | timeout | 1 | Comb, threads 2 |" in told and "| one/small | timeout | ok | 1 | Halloc, threads 2 |" in told
    assert "**The measured revisions differ, so a change may come from the sources instead of the card.**" in told


def test_a_cell_that_a_study_left_out_did_not_end_otherwise(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6], [2e-6]])
    cells = [measured.ok("comb", 1e-6), measured.failed("halloc", "skipped", "put off until all others were measured")]
    measured.run(tmp_path / "b", "one/small", cells, model="GPU B", config={"sweep": {"threads": [1, 2]}})
    for sides in ((one, tmp_path / "b"), (tmp_path / "b", one)):
        assert cards.markdown(compared(*sides)).rstrip().endswith("## Cells that are ok on one only\n\nNone.")


def test_a_time_without_interval_is_no_change_to_list(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6], [2e-6]])
    cells = [measured.ok("comb", (1e-6, None, None)), measured.ok("halloc", 9e-6)]
    measured.run(tmp_path / "b", "one/small", cells, model="GPU B", config={"sweep": {"threads": [1, 2]}})
    listed = cards.markdown(compared(one, tmp_path / "b")).partition("## Largest changes")[2]
    assert "Halloc" in listed and "Comb" not in listed


def test_configs_of_one_side_are_named(tmp_path):
    one = study(tmp_path / "a", "GPU A", [[1e-6]])
    study(one, "GPU A", [[1e-6]], name="one/alone")
    assert "Only on GPU A: one/alone." in cards.markdown(compared(one, study(tmp_path / "b", "GPU B", [[1e-6]])))


def test_the_command_writes_the_page(tmp_path, capsys):
    one, other = study(tmp_path / "a", "GPU A", [[1e-6]]), study(tmp_path / "b", "GPU B", [[2e-6]])
    assert cli.main(["cards", str(one), str(other), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# What changes between cards: GPU A and GPU B") and (tmp_path / "out/cards.md").read_text() == printed
    study(tmp_path / "c", "GPU B", [[1e-6]], name="two/small")
    assert cli.main(["cards", str(one), str(tmp_path / "c")]) == 3
    assert "share no config" in capsys.readouterr().err
    assert cli.main(["cards", str(one), str(tmp_path / "missing")]) == 2
