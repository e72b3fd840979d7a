"""Tests claims: effects with intervals from invented results, verdicts, and the repository's claims about its
results.
"""

import dataclasses
import json
from pathlib import Path

import pytest
from allocbench.errors import UsageError
import synthetic
from judged import COMPARED, CONFIG, cell, forms_run, judge, run_of

from plots.commands import cli
from plots.ledger import claims, effects
from plots.runs import configs, labels, results

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "results" / "reference"


@pytest.mark.parametrize("wanted, verdict", [
    ({"above": 1.5}, "holds"), ({"above": 2}, "cannot tell"), ({"above": 3}, "does not hold"),
    ({"below": 3}, "holds"), ({"below": 2}, "cannot tell"), ({"below": 1.2}, "does not hold"),
    ({"between": [1.5, 3]}, "holds"), ({"between": [1.9, 3]}, "cannot tell"), ({"between": [3, 4]}, "does not hold")])
def test_the_interval_decides_and_not_the_number(tmp_path, wanted, verdict):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    judged = judge(run, ratio=COMPARED, **wanted)
    assert (judged.verdict, judged.published.text, judged.published.interval) == (verdict, "2", "1.64 to 2.44")
    assert judged.detail == "CudaMalloc to CMalloc, threads 1"


def test_without_an_interval_nobody_can_tell(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6, None), cell("cuda_malloc", 1, 9e-6)])
    judged = judge(run, ratio=COMPARED, above=2)
    assert (judged.verdict, judged.published.text, judged.published.interval) == ("cannot tell", "9", "none")
    assert judged.row()[5] == "cannot tell (no interval)"


def test_the_ledger_says_how_many_places_have_no_interval(tmp_path):
    cells = [cell("c_malloc", x, 1e-6, 0.01) for x in (1, 2, 4)]
    sides = [cell("cuda_malloc", x, seconds, spread) for x, seconds, spread in ((1, 4e-6, 0.01), (2, 4e-6, None), (4, 4e-6, None))]
    judged = judge(run_of(tmp_path, cells + sides), ratio=COMPARED, above=2)
    assert judged.row()[5] == "cannot tell (holds in 1 of 3, no interval in 2 of 3)"
    assert judge(run_of(tmp_path, cells + sides), ratio=COMPARED, above=2, over="mean").row()[5] == "cannot tell (holds in 1 of 3, no interval in 2 of 3)"
    unsure = [cell("cuda_malloc", x, 4e-6, None) for x in (1, 2, 4)]
    assert judge(run_of(tmp_path, cells + unsure), ratio=COMPARED, above=2).row()[5] == "cannot tell (no interval in 3 of 3)"
    assert judge(run_of(tmp_path, cells + unsure), ratio=COMPARED, where={"threads": 1}, above=2).unsure == "no interval"
    wide = [cell("cuda_malloc", x, 2e-6, 0.2) for x in (1, 2, 4)]
    assert judge(run_of(tmp_path, cells + wide), ratio=COMPARED, above=2).unsure == ""


def test_without_cells_nobody_can_tell(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1)])
    judged = judge(run, ratio=COMPARED, above=2)
    assert (judged.verdict, judged.why, judged.published.text, judged.detail) == ("cannot tell", "published: timeout", "–", "1 without a value")


def test_a_time_of_requests_that_got_null_is_left_out(tmp_path):
    """With two threads, half of CudaMalloc's requests got null, which is quick. A count of the same cell stays
    valid.
    """
    cells = [cell("c_malloc", x, 1e-6, 0.01) for x in (1, 2)] + [cell("cuda_malloc", 1, 4e-6, 0.01), synthetic.cell("cuda_malloc", {"threads": 2}, values={
        ("alloc", "time"): (1e-9, 9e-10, 1.1e-9), ("", "null_returns"): 1, ("", "steps_per_malloc"): 3})]
    run = run_of(tmp_path, cells)
    judged = judge(run, ratio=COMPARED, above=2)
    assert (judged.verdict, judged.published.text) == ("holds", "4")
    assert judged.detail == "CudaMalloc to CMalloc, threads 1; 1 without a value; 1 cell left out: requests got null"
    assert judge(run, ratio=COMPARED, where={"threads": 2}, above=2).why == "requests got null"
    steps = judge(run, value={"of": "cuda_malloc", "phase": "", "metric": "steps_per_malloc"}, where={"threads": 2}, above=2)
    assert (steps.verdict, steps.published.text) == ("holds", "3")


@pytest.mark.parametrize("paper, told, bounds, ours", [({}, "above 2", (2, None), False), ({"paper": None}, "–", (2, None), True), ({"paper": 5}, "5", (5, 5), False), ({"paper": [3, 6]}, "3 to 6", (3, 6), False)])
def test_the_ledger_shows_what_the_paper_states_and_not_our_bounds(tmp_path, paper, told, bounds, ours):
    judged = judge(_two_places(tmp_path, 4e-6, 4e-6), ratio=COMPARED, above=2, **paper)
    assert (judged.row()[1], judged.bounds, judged.ours, judged.wanted) == (told, bounds, ours, "above 2")


def _two_places(tmp_path, at_1, at_2):
    return run_of(tmp_path, [cell("c_malloc", 1, 1e-6, 0.01), cell("c_malloc", 2, 1e-6, 0.01),
                           cell("cuda_malloc", 1, at_1, 0.01), cell("cuda_malloc", 2, at_2, 0.01)])


def test_every_some_and_mean(tmp_path):
    run = _two_places(tmp_path, 4e-6, 1e-6)
    every = judge(run, ratio=COMPARED, above=1.5)
    assert (every.verdict, every.published.text) == ("does not hold", "1")
    assert every.detail == "CudaMalloc to CMalloc, threads 2; 2 places, 1 to 4" and every.holds_in == "1 of 2"
    some = judge(run, ratio=COMPARED, above=1.5, over="some")
    assert (some.verdict, some.published.text) == ("holds", "4")
    assert judge(run, ratio=COMPARED, above=5, over="some").verdict == "does not hold"
    mean = judge(run, ratio=COMPARED, above=1.5, over="mean")
    assert (mean.verdict, mean.published.text, mean.published.interval) == ("holds", "2", "1.97 to 2.03; places ×/÷ 2.67"), "exp of log(2) times the square root of 2"
    assert mean.row()[5] == "holds (holds in 1 of 2)", "a mean may hold although a place does not"


def test_up_to_is_about_the_largest_number(tmp_path):
    run = _two_places(tmp_path, 4e-6, 1e-6)
    for bounds, verdict in (([3, 5], "holds"), ([0.5, 2], "does not hold"), ([3.99, 5], "cannot tell")):
        judged = judge(run, ratio=COMPARED, between=bounds, over="largest")
        assert (judged.verdict, judged.published.text, judged.detail.split(";")[0]) == (verdict, "4", "CudaMalloc to CMalloc, threads 1")


def test_what_is_zipped_with_a_setting_differs_with_it(tmp_path):
    cells = [synthetic.cell("c_malloc", {"threads": threads, "pool_bytes": 1024 * threads}, values={("alloc", "time"): (seconds, seconds, seconds)})
             for threads, seconds in ((1, 3e-6), (2, 1e-6))]
    run = run_of(tmp_path, cells, zip=[{"threads": [1, 2], "pool_bytes": [1024, 2048]}])
    judged = judge(run, ratio={"of": {"allocator": "c_malloc", "where": {"threads": 1}}, "to": {"allocator": "c_malloc", "where": {"threads": 2}}}, above=1)
    assert (judged.verdict, judged.published.text, judged.detail) == ("holds", "3", "CMalloc, threads 1 to 2, pool size 1 KiB to 2 KiB")


def test_a_ratio_against_that_of_another_allocator(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 3e-6, 0.01), cell("c_malloc", 2, 1e-6, 0.01), cell("cuda_malloc", 1, 4e-6, 0.01), cell("cuda_malloc", 2, 2e-6, 0.01)])
    gain = {"of": {"allocator": "c_malloc", "where": {"threads": 1}}, "to": {"allocator": "c_malloc", "where": {"threads": 2}}, "against": "cuda_malloc"}
    judged = judge(run, ratio=gain, above=1)
    assert (judged.verdict, judged.published.text) == ("holds", "1.5"), "3 times against 2 times"
    assert judged.published.interval == "1.44 to 1.56", "the extremes of four values that are uncertain by 1 %"
    assert judge(run, ratio=gain, below=1).verdict == "does not hold"
    with pytest.raises(UsageError, match="the ratio of 'cuda_malloc', which must be one ratio; found 2"):
        judge(run, ratio={**gain, "to": {"allocator": "c_malloc", "where": {"threads": [1, 2]}}}, above=1)


def test_a_pooled_side_is_the_median_of_all_allocators(tmp_path):
    names = [f"free_{place}" for place in range(1, 10)]
    run = run_of(tmp_path, [cell("c_malloc", 32, 10.0), *(cell(name, 32, float(place)) for place, name in enumerate(names, 1)), cell("free_5", 64, 2.0)],
                 allocators=["c_malloc", *names])
    of_c, of_five = ({"ratio": {"of": name, "to": {"pooled": True}}} for name in ("c_malloc", "free_5"))
    (found,) = effects.find(run, of_c).estimates
    # Of ten values, the second and the ninth enclose the median with 97.9 %.
    assert (found.number, found.low, found.high) == (pytest.approx(10 / 5.5), pytest.approx(9 / 9), pytest.approx(11 / 2))
    assert judge(run, **of_c, below=6).verdict == "holds" and "CMalloc to the median of all" in judge(run, **of_c, below=6).detail
    assert [(each.number, each.low) for each in effects.find(run, {**of_five, "where": {"threads": 64}}).estimates] == [(1, None)], "one value has no interval"


def test_the_place_that_decides_is_one_of_the_verdict(tmp_path):
    cells = [cell("c_malloc", x, 1e-6, 0) for x in (1, 2, 4)]
    sides = [cell("cuda_malloc", 1, 1.5e-6, 0.5), cell("cuda_malloc", 2, 1.2e-6, 0.01), cell("cuda_malloc", 4, 0.5e-6, 0.01)]
    run = run_of(tmp_path, cells + sides)
    judged = judge(run, ratio=COMPARED, below=1)
    assert (judged.verdict, judged.published.text) == ("does not hold", "1.2")
    assert judged.detail == "CudaMalloc to CMalloc, threads 2; worst 1.5 (CudaMalloc to CMalloc, threads 1); 3 places, 0.5 to 1.5"
    assert judge(run, ratio=COMPARED, where={"threads": [1, 4]}, below=1).published.text == "1.5"


def test_where_picks_places(tmp_path):
    run = _two_places(tmp_path, 4e-6, 1e-6)
    assert judge(run, ratio=COMPARED, where={"threads": 1}, above=2).verdict == "holds"
    assert judge(run, ratio=COMPARED, where={"threads": {"from": 2}}, above=2).verdict == "does not hold"
    assert judge(run, ratio=COMPARED, where={"threads": [1, 7]}, above=2).verdict == "holds"


def test_a_series_compared_with_itself_meets_itself_only(tmp_path):
    run = _two_places(tmp_path, 4e-6, 8e-6)
    names = ["c_malloc", "cuda_malloc"]
    judged = judge(run, ratio={"of": {"allocator": names, "where": {"threads": 2}},
                                "to": {"allocator": names, "where": {"threads": 1}}}, between=[0.9, 2.1])
    assert judged.verdict == "holds" and judged.detail == "CudaMalloc, threads 2 to 1; 2 places, 1 to 2"


def _with_parameters(bytes_of_superblock, threads, seconds):
    return cell("kma", threads, seconds, 0.01, allocator_parameters={"superblock_bytes": bytes_of_superblock, "other": 1})


def test_an_allocator_with_several_sets_of_parameters_meets_itself_with_the_same(tmp_path):
    cells = [_with_parameters(size, x, seconds) for size, x, seconds in ((4096, 1, 1e-6), (4096, 2, 2e-6), (65536, 1, 1e-5), (65536, 2, 3e-5))]
    run = run_of(tmp_path, cells, allocators=["kma", {"id": "kma", "parameters": {"superblock_bytes": 65536}}])
    later = {"of": {"allocator": "kma", "where": {"threads": 2}}, "to": {"allocator": "kma", "where": {"threads": 1}}}
    found = effects.find(run, {"ratio": later}).estimates
    assert [(round(each.number, 6), each.place) for each in found] == [
        (2, "KMA (superblocks of 4 KiB), threads 2 to 1"), (3, "KMA (superblocks of 64 KiB), threads 2 to 1")]
    larger = {"of": {"allocator": "kma", "where": {"superblock_bytes": 65536}}, "to": {"allocator": "kma", "where": {"superblock_bytes": 4096}}}
    assert sorted(round(each.number, 6) for each in effects.find(run, {"ratio": larger}).estimates) == [10, 15], "a side may fix a parameter"


def test_sets_of_parameters_are_lines_of_their_own(tmp_path):
    cells = [_with_parameters(size, x, 1e-6 * x ** power) for size, power in ((4096, 1), (65536, 2)) for x in (1, 2, 4)]
    run = run_of(tmp_path, cells, allocators=["kma"])
    assert [round(each.number, 6) for each in effects.find(run, {"growth": {"of": "kma"}}).estimates] == [1, 2]


def _line(allocator, seconds_at, spread=0.01):
    return [cell(allocator, x, seconds_at(x), spread) for x in (1, 2, 4, 8, 16)]


@pytest.mark.parametrize("seconds_at, exponent", [(lambda x: 1e-6, "0"), (lambda x: 1e-6 * x, "1"), (lambda x: 1e-6 * x * x, "2")])
def test_growth_is_the_exponent(tmp_path, seconds_at, exponent):
    run = run_of(tmp_path, _line("c_malloc", seconds_at))
    judged = judge(run, growth={"of": "c_malloc"}, between=[float(exponent) - 0.05, float(exponent) + 0.05])
    assert judged.verdict == "holds"
    assert float(judged.published.text) == pytest.approx(float(exponent), abs=1e-9)
    found = effects.find(run, {"growth": {"of": "c_malloc"}}).estimates[0]
    # The weights are -2 to 2, divided by ten, times log 2. Each logarithm is uncertain by 1 %.
    assert (found.high - found.low) / 2 == pytest.approx(0.01 * 10**0.5 / 10 / 0.693147, rel=1e-3)


@pytest.mark.parametrize("seconds_at, explained", [
    (lambda x: 1e-5 + 1e-6 * x, 1), (lambda x: 1e-6, 0), (lambda x: 1e-3 - 1e-6 * x, 0),
    (lambda x: 1e-6 * x * x, 0.949163)])  # from plain sums over 1, 2, 4, 8, 16
def test_a_straight_line_may_start_above_zero(tmp_path, seconds_at, explained):
    run = run_of(tmp_path, _line("c_malloc", seconds_at))
    found, = effects.find(run, {"straight": {"of": "c_malloc"}}).estimates
    assert found.number == pytest.approx(explained, abs=1e-6) and found.low <= found.number + 1e-9
    assert judge(run, straight={"of": "c_malloc"}, above=0.96).verdict == ("holds" if explained > 0.96 else "does not hold")


def test_two_points_have_no_growth(tmp_path):
    run = _two_places(tmp_path, 1e-6, 2e-6)
    assert judge(run, growth={"of": "cuda_malloc"}, above=0).verdict == "cannot tell"


def test_steps_compare_neighbours(tmp_path):
    rising = run_of(tmp_path, _line("c_malloc", lambda x: 1e-6 * x))
    assert judge(rising, step={"of": "c_malloc"}, above=1).verdict == "holds"
    judged = judge(run_of(tmp_path, _line("c_malloc", lambda x: 1e-6 if x == 4 else 1e-6 * x)), step={"of": "c_malloc"}, above=1)
    assert judged.verdict == "does not hold" and "threads 2 to 4" in judged.detail


def test_a_step_does_not_skip_a_missing_value(tmp_path):
    cells = [cell("c_malloc", x, None if x == 4 else 1e-6 * x, 0.01) for x in (1, 2, 4, 8, 16)]
    judged = judge(run_of(tmp_path, cells), step={"of": "c_malloc"}, above=1)
    assert (judged.verdict, judged.holds_in) == ("holds", "2 of 2") and "2 without a value" in judged.detail


def test_a_crossing_lies_between_what_is_sure(tmp_path):
    cells = _line("c_malloc", lambda x: 1e-6 * x) + _line("cuda_malloc", lambda x: 6e-6)
    crossing = {"of": "c_malloc", "over": "cuda_malloc"}
    judged = judge(run_of(tmp_path, cells), crossing=crossing, between=[4, 8])
    assert (judged.verdict, judged.published.interval) == ("holds", "4 to 8")
    assert 5 < float(judged.published.text) < 7
    never = _line("c_malloc", lambda x: 1e-6) + _line("cuda_malloc", lambda x: 6e-6)
    judged = judge(run_of(tmp_path, never), crossing=crossing, between=[4, 8])
    assert (judged.verdict, judged.published.text, judged.detail) == ("does not hold", "–", "no such point")


def test_a_crossing_may_lie_at_the_first_point(tmp_path):
    crossing = {"of": "c_malloc", "over": "cuda_malloc"}
    above = _line("cuda_malloc", lambda x: 1e-6)
    unsure = [cell("c_malloc", x, 1e-6 * (0.95 if x == 1 else x)) for x in (1, 2, 4, 8)]
    judged = judge(run_of(tmp_path, unsure + above), crossing=crossing, between=[4, 8])
    assert (judged.verdict, judged.published.interval) == ("does not hold", "1 to 2")
    without = [cell("c_malloc", 1, 0.95e-6, None), *unsure[1:]]
    assert judge(run_of(tmp_path, without + above), crossing=crossing, between=[4, 8]).verdict == "cannot tell"


def test_values_and_shares(tmp_path):
    counted = [synthetic.cell("c_malloc", {"threads": x}, values={("", "mallocs"): (150.0, 150.0, 150.0)}) for x in (1, 2)]
    run = run_of(tmp_path, [*counted, cell("c_malloc", 4), cell("cuda_malloc", 4)])
    mallocs = {"of": "c_malloc", "phase": "", "metric": "mallocs"}
    judged = judge(run, value=mallocs, between=[150, 150])
    assert (judged.verdict, judged.published.text) == ("holds", "150")
    assert "1 without a value" in judged.detail
    assert judge(run, share={"of": ["c_malloc", "cuda_malloc"], "status": "timeout"}, above=0.3).verdict == "holds"
    assert judge(run, share={"of": "c_malloc", "status": "oom"}, above=0).verdict == "does not hold"


def test_a_share_does_not_count_cells_that_were_left_out(tmp_path):
    left_out = synthetic.cell("c_malloc", {"threads": 2}, status="skipped", reason="put off until all others were measured")
    run = run_of(tmp_path, [cell("c_malloc", 1), left_out, left_out | {"axes": {"threads": 4}}])
    judged = judge(run, share={"of": "c_malloc", "status": "timeout"}, above=0.9)
    assert (judged.verdict, judged.published.text) == ("holds", "1") and "2 without a value" in judged.detail


def test_steps_are_compared_with_the_formula_at_their_settings(tmp_path):
    cells = [synthetic.cell("rw", {"threads": x, "free_share": 0.5, "page_bytes": 256}, counted={"values": {"steps_per_malloc": [2.0 * factor]}},
                            pool_bytes=256_000_000) for x, factor in ((100, 1.0), (200, 1.01))]
    near = {"of": {"allocator": "rw", "phase": "", "metric": "steps_per_malloc"}, "formula": "rw_steps"}
    run = run_of(tmp_path, cells, allocators=["rw"])
    assert [round(each.number, 3) for each in effects.find(run, {"theory": near}).estimates] == [1.0, 1.01]
    assert judge(run, theory=near, between=[0.95, 1.05]).verdict == "holds"
    assert judge(run, theory=near, between=[0.95, 1.005]).verdict == "does not hold"
    # The value of a formula replaces the counts, which differ from the value of rw_steps.
    assert [each.number for each in effects.find(run, {"theory": {**near, "of_formula": "rw_steps"}}).estimates] == [1.0, 1.0]


@pytest.mark.parametrize("time_of, verdict", [(lambda was, tas: 1e-6 * was, "holds"), (lambda was, tas: 1e-6 * tas, "does not hold")])
def test_the_metric_that_predicts_the_time_leaves_less_unexplained(tmp_path, time_of, verdict):
    # Steps of a warp and of a thread, which are unrelated here.
    steps = [(1.5 ** x, 3.0 + (x * 7 % 5)) for x in range(12)]
    cells = [synthetic.cell("rw", {"threads": x}, values={("alloc", "time"): (time_of(was, tas) * (1 + 0.01 * (x % 3)), None, None),
                                                          ("", "warp_steps_per_malloc"): was, ("", "steps_per_malloc"): tas})
             for x, (was, tas) in enumerate(steps)]
    run = run_of(tmp_path, cells, allocators=["rw"])
    assert judge(run, unexplained={"of": "rw", "by": "warp_steps_per_malloc", "rather_than": "steps_per_malloc"}, below=1).verdict == verdict
    few = run_of(tmp_path / "few", cells[:7], allocators=["rw"])
    assert judge(few, unexplained={"of": "rw", "by": "warp_steps_per_malloc", "rather_than": "steps_per_malloc"}, below=1).verdict == "cannot tell"


@pytest.mark.parametrize("seconds, number, verdict", [(range(1, 13), 1.0, "holds"), (range(12, 0, -1), -1.0, "does not hold"), ((3, 1, 4, 1, 5, 9, 2, 6), 0.4775, None)])
def test_a_correlation_is_that_of_all_cells_together(tmp_path, seconds, number, verdict):
    """The steps are 1, 2, 3 ... The value for the last times is computed by hand: 22.5 / sqrt(42 * 52.875)."""
    cells = [synthetic.cell("rw", {"threads": x}, values={("alloc", "time"): (float(y), None, None), ("", "steps_per_malloc"): float(x)})
             for x, y in enumerate(seconds, 1)]
    run = run_of(tmp_path, cells, allocators=["rw"])
    effect = {"of": "rw", "by": "steps_per_malloc"}
    [estimate] = effects.find(run, {"correlation": effect}).estimates
    assert estimate.number == pytest.approx(number, abs=1e-3) and estimate.place == f"{len(cells)} cells"
    if verdict is not None:
        assert judge(run, correlation=effect, between=[0.9, 1.01]).verdict == verdict
    few = run_of(tmp_path / "few", cells[:7], allocators=["rw"])
    assert judge(few, correlation=effect, between=[0.9, 1.01]).verdict == "cannot tell"


def _steps(tmp_path, steps, seconds):
    cells = [synthetic.cell("rw", {"threads": x}, values={("alloc", "time"): (y, None, None), ("", "steps_per_malloc"): s, ("", "warp_steps_per_malloc"): 2.0 + x % 3})
             for x, (s, y) in enumerate(zip(steps, seconds))]
    return run_of(tmp_path, cells, allocators=["rw"])


def test_a_bootstrap_without_a_number_gives_no_bounds(tmp_path):
    """All steps but one are equal, so about a third of the resamples have equal steps."""
    run = _steps(tmp_path, [1.0] * 8 + [2.0], [1.0 + x % 2 for x in range(8)] + [9.0])
    judged = judge(run, correlation={"of": "rw", "by": "steps_per_malloc"}, above=0)
    assert (judged.verdict, judged.unsure, judged.p, judged.published.interval) == ("cannot tell", "no interval", None, "none")


@pytest.mark.parametrize("steps, seconds", [([3.0] * 9, range(1, 10)), ([2.0**x for x in range(9)], [2.0**x for x in range(9)])])
def test_a_fit_that_explains_nothing_or_all_gives_no_number(tmp_path, steps, seconds):
    run = _steps(tmp_path, steps, [float(y) for y in seconds])
    judged = judge(run, unexplained={"of": "rw", "by": "warp_steps_per_malloc", "rather_than": "steps_per_malloc"}, below=1)
    assert judged.verdict == "cannot tell" and "nan" not in json.dumps(judged.data()).lower()


@pytest.mark.parametrize("verdict, lost", [("holds", True), ("does not hold", True), ("experiment differs", True), ("cannot tell", False)])
def test_every_verdict_is_a_discovery(tmp_path, verdict, lost):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    judged = dataclasses.replace(judge(run, ratio=COMPARED, above=2), says="Barely.", verdict=verdict, p=0.04)
    told = claims.Ledger([(run, [judged, dataclasses.replace(judged, verdict="cannot tell", p=0.9)])]).discoveries()
    assert ("these do not stand: test/claims (Barely.)" in told) == lost


def test_an_allocator_that_the_run_does_not_have_is_a_mistake(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6)])
    with pytest.raises(UsageError, match="'halloc', which is not in the run. Allowed: c_malloc, cuda_malloc"):
        judge(run, ratio={"of": "halloc", "to": "c_malloc"}, above=1)


def test_the_published_form_is_judged_and_the_reworked_form_stands_beside_it(tmp_path):
    judged = judge(forms_run(tmp_path, "ok"), ratio={"of": "cuda_malloc", "to": "kma"}, between=[5, 9],
                    cause={"kind": "hardware", "evidence": "count", "because": "Atomics became faster."})
    assert (judged.verdict, judged.published.text, judged.reworked.text, judged.original.text) == ("does not hold", "4", "8", "–")
    assert judged.cause == "hardware (count): Atomics became faster."
    assert judge(forms_run(tmp_path, "ok"), ratio={"of": "cuda_malloc", "to": "kma"}, above=5).cause == "not known"


def test_a_published_form_without_a_number_gives_no_verdict(tmp_path):
    judged = judge(forms_run(tmp_path), ratio={"of": "cuda_malloc", "to": "kma"}, above=3)
    assert (judged.verdict, judged.why, judged.reworked.text) == ("cannot tell", "published: timeout", "8")
    assert judged.row()[5] == "cannot tell (published: timeout)"


@pytest.mark.parametrize("given, last", [({}, "not known"), ({"cause": {"kind": "hardware", "because": "Atomics are faster."}}, "hardware: Atomics are faster")])
def test_a_sentence_that_does_not_hold_has_its_cause_before_its_place(tmp_path, given, last):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    judged = judge(run, ratio=COMPARED, below=1, **given)
    assert (judged.verdict, judged.row()[-1]) == ("does not hold", f"{last}. Where: CudaMalloc to CMalloc, threads 1")


def test_a_sentence_that_holds_has_the_sentence_of_its_cause_as_a_note(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    judged = judge(run, ratio=COMPARED, above=1, cause={"kind": "hardware", "because": "Atomics are faster."})
    assert (judged.verdict, judged.cause) == ("holds", "note: Atomics are faster.")


def test_a_sentence_that_holds_in_another_test_says_so(tmp_path):
    cause = {"kind": "test", "because": "The heap is warm."}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)],
                 claims=[{"says": says, "source": "fig. 1", "ratio": COMPARED, "above": 1, "cause": cause} for says in ("It is slower.", "It is slower (a test of ours).")])
    other, own = claims.ledger([run]).runs[0][1]
    assert (other.verdict, other.cause, own.cause) == ("holds", "note (our test differs): The heap is warm.", "note: The heap is warm.")
    assert "For 1 of the sentences that hold, the test also differs from the paper's." in claims.ledger([run]).markdown()


def test_a_run_of_the_reworked_form_alone_says_nothing_about_the_paper(tmp_path):
    run = run_of(tmp_path, [cell("kma_reworked", 1, 1e-6, 0.01), cell("cuda_malloc", 1, 4e-6, 0.01)], allocators=["kma_reworked", "cuda_malloc"])
    judged = judge(run, ratio={"of": "cuda_malloc", "to": "kma"}, above=3)
    assert (judged.verdict, judged.why, judged.reworked.text) == ("cannot tell", "published form not measured", "4")


def test_originals_come_from_the_run_or_from_the_data_file(tmp_path):
    asked = {"of": "ouroboros_p_s", "to": "corw", "phase": "free", "request_bytes": 256}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    run.device["name"] = "NVIDIA H200"
    assert judge(run, ratio=COMPARED, above=1, original=asked).original.text == "17.1 (separately: free, 256 B)"
    run.device["name"] = "TITAN V"
    assert judge(run, ratio=COMPARED, above=1, original=asked).original.text == "–"
    cells = [cell(name, 1, seconds) for name, seconds in (("c_malloc", 1e-6), ("c_malloc_original", 5e-7), ("cuda_malloc", 2e-6))]
    assert judge(run_of(tmp_path, cells), ratio=COMPARED, above=1, original=asked).original.text == "4"
    with pytest.raises(UsageError, match="original of 'nobody'"):
        run.device["name"] = "NVIDIA H200"
        judge(run, ratio=COMPARED, above=1, original={**asked, "of": "nobody"})


CLAIM = {"says": "C is fast.", "source": "fig. 1", "ratio": {"of": "c_malloc", "to": "cuda_malloc"}, "below": 1}


def test_claims_come_from_the_config_of_the_name_and_suit_the_back_end(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6)], claims=[CLAIM, {**CLAIM, "backend": "cpu"}])
    assert claims.claims_of(run) == [CLAIM], "kept with the results"
    (tmp_path / "test").mkdir()
    younger = {**CLAIM, "says": "Another."}
    (tmp_path / "test" / "claims.json").write_text(json.dumps({"claims": [younger]}))
    assert claims.claims_of(run, tmp_path) == [younger]
    cpu = run_of(tmp_path, [cell("c_malloc", 1, 1e-6)], "cpu", claims=[CLAIM, {**CLAIM, "backend": "cpu"}])
    assert claims.claims_of(cpu) == [{**CLAIM, "backend": "cpu"}]


def test_what_no_result_can_judge_is_listed_at_the_end(tmp_path, capsys):
    absolute = {"says": "It takes 3 ms.", "source": "sec. 2", "not_judged": "An absolute figure."}
    folder = synthetic.write(tmp_path / "run", {**CONFIG, "claims": [CLAIM, absolute, {**absolute, "backend": "cpu", "says": "On CPUs."}]},
                             [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], "cuda")
    assert cli.main(["claims", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "1 holds, 0 does not hold, 0 cannot tell." in told and "On CPUs." not in told
    assert told.partition("## Not judged")[2].strip().splitlines()[-1] == "| test/claims | It takes 3 ms. (sec. 2) | An absolute figure. |"


def test_the_command_prints_and_writes(tmp_path, capsys):
    folder = synthetic.write(tmp_path / "run", {**CONFIG, "claims": [CLAIM]},
                             [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], "cuda")
    assert cli.main(["claims", str(folder), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "1 holds, 0 does not hold, 0 cannot tell." in printed
    assert "| C is fast. (fig. 1) | below 1 | – | 0.5 (0.409 to 0.611) | – | holds |  | CMalloc to CudaMalloc, threads 1 |" in printed
    assert (tmp_path / "out" / "claims.md").read_text() == printed
    entry, = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert (entry["figure"], entry["verdict"], entry["device"]) == ("test/claims", "holds", synthetic.DEVICE)
    assert cli.main([str(folder), "--formats", "png"]) == 0
    assert "| C is fast. (fig. 1) | below 1 |" in (folder / "figures" / "test_claims_cuda.md").read_text()
    assert cli.main(["claims", str(synthetic.write(tmp_path / "none", CONFIG, [cell("c_malloc", 1, 1e-6)]))]) == 3


def test_a_run_without_cells_is_named_and_stops_nothing(tmp_path, capsys):
    configs = tmp_path / "configs"
    (configs / "test").mkdir(parents=True)
    claiming = {**CONFIG, "claims": [CLAIM, {**CLAIM, "backend": "cpu"}]}
    for name in ("claims", "empty", "never_begun"):
        (configs / "test" / f"{name}.json").write_text(json.dumps({**claiming, "name": f"test/{name}"}))
    runs = tmp_path / "runs"
    synthetic.write(runs / "claims", claiming, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], "cuda")
    synthetic.write(runs / "empty", {**claiming, "name": "test/empty"}, [], "cuda")
    assert cli.main(["claims", str(runs), "--configs", str(configs)]) == 3
    said = capsys.readouterr()
    assert "1 holds, 0 does not hold, 0 cannot tell. Not judged, because these results have no cell of them: test/empty (1), test/never_begun (1)." in said.out
    assert "contains no cell" in said.err


CLAIMING = [path for path in sorted((ROOT / "configs").rglob("*.json")) if "claims" in json.loads(path.read_text())]


@pytest.mark.full
@pytest.mark.parametrize("path", CLAIMING, ids=lambda path: str(path.relative_to(ROOT / "configs")))
def test_claims_of_configs_name_what_their_runs_have(tmp_path, path):
    """Every claim can be evaluated on results without any value, and only the missing cells are reported."""
    config = configs.read(path)
    names = [entry["id"] if isinstance(entry, dict) else entry for entry in config["allocators"]]
    for backend in ("cpu", "cuda"):
        cells = [synthetic.cell(name, {labels.listed(config["plot"].get("x", "scene"))[-1]: 1}, status="timeout") for name in names]
        run = results.read_run(synthetic.write(tmp_path / backend, config, cells, backend))
        for claim in claims.claims_of(run):
            if "share" not in claim:
                assert claims.judge(run, claim).verdict == "cannot tell", claim["says"]


@pytest.mark.full
@pytest.mark.parametrize("device", ["cpu", "h200"])
def test_the_committed_tables_are_what_the_committed_results_say(tmp_path, device):
    kept = REFERENCE / device
    assert cli.main(["claims", str(kept), "--out", str(tmp_path)]) == 0
    again = f"write it again: python3 -m plots claims results/reference/{device} --out results/reference/{device}"
    assert (tmp_path / "claims.md").read_text() == (kept / "claims.md").read_text(), again
    assert (tmp_path / "claims.json").read_text() == (kept / "claims.json").read_text(), again
