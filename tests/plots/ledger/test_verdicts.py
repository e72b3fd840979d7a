"""Tests verdicts over several places, corrections for many tests, and verdicts from few rounds, with invented
estimates.
"""

import math

import pytest
from scipy import stats

from plots.ledger import verdicts
from plots.ledger.effects import Estimate


def _estimate(number, error=1.05, rounds=0, **fields):
    return Estimate(number, number / error, number * error, f"at {number}", rounds, **fields)


def _decide(estimates, **claim):
    return verdicts.decide(estimates, claim)


def test_the_p_value_counts_half_widths():
    place = _estimate(2.0, 1.1)
    half_widths = math.log(2 / 1.9) / math.log(1.1)
    assert verdicts._beyond(place, 1.9) == pytest.approx(2 * stats.t.sf(half_widths * 2.5706, 5), rel=1e-4)
    assert verdicts._beyond(place, 2 / 1.1) == pytest.approx(0.05), "a bound at the end of the interval"
    assert verdicts._beyond(_estimate(2.0, 1.1, rounds=3), 1.9) == pytest.approx(2 * stats.t.sf(half_widths * 4.3027, 2), rel=1e-4)
    assert verdicts._beyond(_estimate(2.0, 1.1, passes=30), 1.9) == pytest.approx(2 * stats.t.sf(half_widths * 2.0452, 29), rel=1e-4)
    lopsided = Estimate(2.0, 1.9, 8.0, "")
    assert verdicts._beyond(lopsided, 1.0) < 0.05 < verdicts._beyond(lopsided, 4.0), "each side has its own half-width"


def test_holm_and_benjamini_hochberg():
    assert verdicts.corrected([0.01, 0.04, 0.03, 0.005], [True] * 4) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert verdicts.corrected([0.01, 1.0, 0.04], [True, False, True]) == pytest.approx([0.02, 1.0, 0.04]), "of what was tested alone"
    published = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]  # example of Benjamini & Hochberg 1995
    adjusted = verdicts.discoveries(published[::-1])[::-1]
    assert adjusted[:6] == pytest.approx([0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0298 * 15 / 7]) and adjusted[-1] == 1
    assert sum(p <= 0.05 for p in adjusted) == 4, "as the paper finds"
    assert verdicts.discoveries([]) == []


def _barely(number, bound):
    """Returns an estimate whose interval ends just before the bound, so that p is just below 0.05."""
    error = (number / bound) ** 0.95
    return _estimate(number, error if error > 1 else 1 / error)


def test_every_place_needs_no_correction():
    assert _decide([_barely(1.3, 1)] * 10, above=1).verdict == "holds"


@pytest.mark.parametrize("count, verdict", [(1, "does not hold"), (2, "cannot tell")])
def test_against_everywhere_one_place_is_enough_if_holm_leaves_it(count, verdict):
    decision = _decide([_barely(1 / 1.3, 1), *[_estimate(4.0)] * (count - 1)], above=1)
    assert (decision.verdict, decision.unsure) == (verdict, "" if count == 1 else "no place is sure among 2 (Holm)")
    assert _decide([_estimate(0.5), *[_estimate(4.0)] * 20], above=1).verdict == "does not hold"


@pytest.mark.parametrize("count, verdict", [(1, "holds"), (2, "cannot tell")])
def test_somewhere_is_a_place_that_holm_leaves(count, verdict):
    assert _decide([_barely(1.3, 1), *[_estimate(0.25)] * (count - 1)], above=1, over="some").verdict == verdict
    assert _decide([_barely(1 / 1.3, 1)] * 10, above=1, over="some").verdict == "does not hold", "none holds, and each surely"


def test_a_verdict_that_all_places_support_needs_no_correction():
    failing, holding = [_barely(1 / 1.3, 1)] * 10, [_barely(1.3, 1)] * 10
    assert _decide(failing, above=1).verdict == "does not hold"
    decision = _decide(holding, above=1, over="some")
    assert (decision.verdict, decision.unsure) == ("holds", "") and 0.04 < decision.p < 0.05
    assert _decide([*failing, _estimate(1.0)], above=1).verdict == _decide([*holding, _estimate(1.0)], above=1, over="some").verdict == "cannot tell"


def test_up_to_is_reached_somewhere_and_kept_to_everywhere():
    tiny = [_estimate(0.1)] * 10
    assert _decide([*tiny, _estimate(4.0)], between=[3, 5], over="largest").verdict == "holds"
    assert _decide([*tiny, _barely(4.0, 3)], between=[3, 5], over="largest").verdict == "cannot tell", "the largest of eleven is chosen"
    unsure = Estimate(3.9, 0.1, 50.0, "wide")
    decision = _decide([*tiny, _estimate(4.0), unsure], between=[3, 5], over="largest")
    assert (decision.verdict, decision.shown.number) == ("cannot tell", 4.0), "another place may exceed 5"
    assert _decide([*tiny, _estimate(7.0)], between=[3, 5], over="largest").verdict == "does not hold"
    assert _decide([*tiny, unsure], between=[100, 500], over="largest").verdict == "does not hold"


def test_most_is_more_than_half_of_the_places():
    inside, outside = _estimate(2.0), _estimate(0.5)
    assert _decide([inside, inside, outside], above=1, over="most").verdict == "holds"
    assert _decide([inside, outside, outside], above=1, over="most").verdict == "does not hold"
    assert _decide([inside, outside], above=1, over="most").verdict == "does not hold", "half is not more than half"
    lost = _decide([inside, _barely(1.3, 1), outside], above=1, over="most")
    assert (lost.verdict, lost.unsure) == ("cannot tell", "the majority of 3 places is not sure (Benjamini and Heller)"), "the second of three is not sure among three"
    decision = _decide([_estimate(3.0), inside, outside], above=1, over="most")
    assert (decision.shown.number, decision.worst.number) == (2.0, 0.5)


def test_counts_are_sure_also_at_an_open_end():
    assert _decide([Estimate(0.0, 0.0, 0.0, "")] * 3, above=0).verdict == "does not hold"
    assert _decide([Estimate(3.0, 3.0, 3.0, "")] * 3, between=[3, 3]).verdict == "holds"


@pytest.mark.parametrize("number, rounds, wanted, verdict", [
    (1.45, 3, {"above": 1}, "cannot tell"), (1.45, 0, {"above": 1}, "holds"), (1.55, 3, {"above": 1}, "holds"), (1.45, 5, {"between": [1, 4]}, "cannot tell"),
    (1.55, 5, {"between": [1, 4]}, "holds"), (6.1, 4, {"between": [1, 4]}, "does not hold"), (3.1, 0, {"between": [1, 2]}, "does not hold"), (0.6, 3, {"above": 1}, "does not hold"), (0.7, 3, {"above": 1}, "cannot tell"), (0.7, 0, {"above": 1}, "does not hold")])
def test_few_rounds_decide_nothing_near_to_what_the_paper_says(number, rounds, wanted, verdict):
    decision = _decide([_estimate(number, 1.01, rounds)], **wanted)
    assert (decision.verdict, decision.unsure) == (verdict, "few rounds and a margin below 1.5" if verdict == "cannot tell" else "")


@pytest.mark.parametrize("number", [0.5, 1.2, 1.55, 3.1, 50])
def test_few_rounds_decide_nothing_about_a_band_that_they_could_never_confirm(number):
    decision = _decide([_estimate(number, 1.01, 4)], between=[1, 2])
    assert (decision.verdict, decision.unsure) == (
        "cannot tell", "few rounds cannot confirm a band whose ends are less than 2.25 times apart, so they do not refute it")


@pytest.mark.parametrize("x, verdict", [(4, "cannot tell"), (64, "holds")])
def test_the_margin_of_an_exponent_is_what_it_makes_of_the_last_value(x, verdict):
    growth = Estimate(0.1, 0.09, 0.11, "", 3, span=math.log(x))
    assert _decide([growth], below=0.2).verdict == verdict, f"{x}^0.1 against {x}^0.2"


@pytest.mark.parametrize("number, verdict", [(0.96, "holds"), (0.92, "cannot tell"), (0.88, "cannot tell"), (0.5, "does not hold"), (1.0, "holds")])
def test_the_margin_of_a_straight_line_is_what_it_leaves_unexplained(number, verdict):
    """A tenth may stay unexplained. 0.96 leaves two fifths of it, and 0.92 leaves four fifths."""
    place = Estimate(number, number - 0.001, min(number + 0.001, 1.0), "", 3, explained=True)
    assert _decide([place], above=0.9).verdict == verdict
    assert _decide([Estimate(number, number - 0.001, min(number + 0.001, 1.0), "", 0, explained=True)], above=0.9).verdict == ("holds" if number > 0.9 else "does not hold")


def test_places_stand_beside_a_mean():
    places = [_estimate(2.0, 1.01), _estimate(8.0, 1.01), _estimate(0.5, 1.01)]
    decision = _decide(places, above=1, over="mean")
    assert decision.verdict == "holds" and decision.places == ["holds", "holds", "does not hold"] and decision.worst.number == 0.5
    assert decision.shown.number == pytest.approx(2) and decision.shown.high == pytest.approx(2 * 1.01 ** (3**0.5 / 3))
    assert decision.shown.spread == pytest.approx(4), "the places lie a factor of 4 apart"
    assert _decide(places[:1], above=1, over="mean").shown.spread == 0


def test_the_worst_place_is_named_where_another_one_decides():
    decision = _decide([_estimate(0.5, 3), _estimate(0.8), _estimate(3.0)], above=1)
    assert (decision.verdict, decision.shown.number, decision.worst.number) == ("does not hold", 0.8, 0.5), "0.5 is not sure"
    assert _decide([_estimate(2.0), _estimate(3.0)], above=1).worst is None, "it decides"
    assert _decide([_estimate(2.0), _estimate(0.5)], above=1, over="some").worst is None


@pytest.mark.parametrize("numbers, claim, told", [
    ([4.0, 1.4, 1.4], {"above": 1}, " in 2 of 3"), ([4.0, 1.4, 0.7], {"above": 1}, " in 1 of 3"), ([4.0, 0.2, 1.4, 0.7], {"above": 1, "over": "some"}, None),
    ([0.2, 1.4, 0.7], {"above": 1, "over": "some"}, " in 1 of 3"), ([0.2, 0.7, 0.7], {"above": 1, "over": "some"}, " in 2 of 3"),
    ([4.0, 1.4, 0.7, 0.7], {"above": 1, "over": "most"}, " in 2 of 4"), ([4.0, 1.4, 0.7], {"above": 1, "over": "most"}, " in 1 of 3"),
    ([25.0, 28.0, 120.0, 220.0], {"between": [30, 300], "over": "largest"}, " in 1 of 4"),
    ([25.0, 28.0, 35.0, 5.0], {"between": [30, 300], "over": "largest"}, " in 1 of 4"),
    ([25.0, 28.0, 5.0], {"between": [30, 300], "over": "largest"}, " in 2 of 3"), ([35.0, 220.0, 330.0], {"between": [30, 300], "over": "largest"}, " in 1 of 3")])
def test_only_places_that_block_the_verdict_are_counted(numbers, claim, told):
    """A place of few rounds near a bound counts only if the claim would have a verdict, which this place supports."""
    decision = _decide([_estimate(number, 1.01, 3) for number in numbers], **claim)
    assert decision.unsure == (f"few rounds and a margin below 1.5{told}" if told else "")
    assert (decision.verdict == "cannot tell") == (told is not None)


def test_few_rounds_are_not_the_reason_if_another_place_leaves_the_verdict_open():
    decision = _decide([_estimate(1.4, 1.01, 3), Estimate(1.2, 0.9, 1.6, "wide")], above=1)
    assert (decision.verdict, decision.unsure) == ("cannot tell", "")
