"""This module decides from the intervals of an effect's places whether a claim holds.

A place is a combination of allocators and settings. Its verdict is `holds` if its whole interval lies within the
claim's bounds, and `does not hold` if the whole interval lies outside. Otherwise the verdict is `cannot tell`.

If the two bounds of a claim are less than a factor of LEAST_MARGIN squared apart, few rounds could refute the claim but
never confirm it. Therefore few rounds give no verdict on such a claim. For an exponent, a bound counts as the factor by
which it changes the last value of the series.

A verdict that all places support needs no correction. If one place decides (it confirms "some" or refutes "every"), its
p-value is corrected by Holm's method for all places of the claim.

A p-value follows from the interval: the distance between the number and a bound, in half-widths of the interval, gives
t. There is one degree of freedom less than there are rounds, or passes of a count. Any other interval counts as an
interval of six rounds, the least number for such an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy

from allocbench.errors import UsageError
from plots.ledger.effects import Estimate
from plots.runs import few_rounds
from plots.sheet import provisional

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell"
LEAST_MARGIN = 1.5  # least factor between the number and a bound for a verdict from few rounds
LEVEL = 0.05
_LEAST_ROUNDS = 6   # least number of rounds of an interval in figures


@dataclass(frozen=True)
class Decision:
    """A decision is the verdict about a claim.

    `places` has the verdict of each estimate, and `shown` is the estimate that decides. `p` belongs to the verdict, or
    to the likelier of the two other verdicts if the verdict is `cannot tell`.
    """

    verdict: str
    places: list[str]
    shown: Estimate
    worst: Estimate | None  # estimate with the smallest margin, if all places count; None if it equals `shown`
    p: float
    unsure: str             # reason for `cannot tell`, empty if the places give none


def decide(estimates: Sequence[Estimate], claim: dict) -> Decision:
    over, judged = claim.get("over", "every"), _judged(estimates, claim)
    judge = {"largest": _largest, "most": _most}.get(over, lambda judged, claim: _together(judged, claim, over == "some"))
    verdict, p, lost = judge(judged, claim)
    if over in ("every", "mean", "largest") and any(_too_narrow(each, claim) for each in judged):
        verdict, lost = OPEN, False
    alike = [each for each in judged if place_verdict(each, claim) == verdict]
    shown = _deciding(alike if alike and over != "largest" else judged, claim)
    worst = min(estimates, key=lambda each: margin(each, claim)) if over in ("every", "mean", "most") else shown
    return Decision(verdict, [place_verdict(each, claim) for each in estimates], shown, worst if worst.number != shown.number else None, p,
                    _unsure(estimates, judged, claim, lost) if verdict == OPEN else "")


def deciding(estimates: Sequence[Estimate], claim: dict) -> Estimate:
    """Returns the estimate that decides.

    It is the worst place, or the best one if one place is enough. For `mean`, it is the mean. For `largest`, it is the
    largest number.
    """
    return _deciding(_judged(estimates, claim), claim)


def _judged(estimates: Sequence[Estimate], claim: dict) -> Sequence[Estimate]:
    return [mean(estimates)] if claim.get("over") == "mean" else estimates


def _deciding(judged: Sequence[Estimate], claim: dict) -> Estimate:
    if claim.get("over") == "largest":
        return max(judged, key=lambda each: each.number)
    return (max if claim.get("over") == "some" else min)(judged, key=lambda each: margin(each, claim))


def _together(estimates: Sequence[Estimate], claim: dict, some: bool) -> tuple[str, float, bool]:
    """Returns the verdict, its p, and whether Holm's correction changed the verdict to `cannot tell`."""
    verdicts = [place_verdict(each, claim) for each in estimates]
    # A single place can prove `first`, but only all places prove `second`.
    first, second = (HOLDS, FAILS) if some else (FAILS, HOLDS)
    alone = corrected([_p(each, claim, first) if _bounded(each) else 1.0 for each in estimates], [_bounded(each) for each in estimates])
    all_of = max(_p(each, claim, second) for each in estimates)
    decided = [p for p, verdict in zip(alone, verdicts) if verdict == first]
    if decided and min(decided) <= LEVEL:
        return first, min(decided), False
    if set(verdicts) == {second}:
        return second, all_of, False
    if set(verdicts) == {first}:
        return first, max(_p(each, claim, first) for each in estimates), False
    return OPEN, min(*alone, all_of), bool(decided)


def _most(estimates: Sequence[Estimate], claim: dict) -> tuple[str, float, bool]:
    """Returns `holds` if the claim holds in more than half of the places, and `does not hold` if it fails in at least
    half. Both verdicts need a p of at most LEVEL. The last value says whether only this p changed the verdict to `cannot tell`.

    The p of "at least k of n" is n - k + 1 times the k-th smallest p (Benjamini & Heller, Biometrics 64, 2008,
    1215-1222).
    """
    verdicts, places = [place_verdict(each, claim) for each in estimates], len(estimates)
    needed = {HOLDS: places // 2 + 1, FAILS: places - places // 2}
    ps = {verdict: min(1.0, (places - least + 1) * sorted(_p(each, claim, verdict) if _bounded(each) else 1.0 for each in estimates)[least - 1])
          for verdict, least in needed.items()}
    found = next((verdict for verdict, least in needed.items() if verdicts.count(verdict) >= least), None)
    if found and ps[found] <= LEVEL:
        return found, ps[found], False
    return OPEN, min(ps.values()), bool(found)


def _largest(estimates: Sequence[Estimate], claim: dict) -> tuple[str, float, bool]:
    """Returns `holds` if some place reaches the lower bound and every place stays below the upper bound."""
    parts = [_together(estimates, part, part["over"] == "some") for part in _parts(claim)]
    failed = [part for part in parts if part[0] == FAILS]
    if failed:
        return FAILS, min(p for _, p, _ in failed), False
    if all(part[0] == HOLDS for part in parts):
        return HOLDS, max(p for _, p, _ in parts), False
    return OPEN, max(p for _, p, _ in parts), any(lost for _, _, lost in parts)


def _parts(claim: dict) -> list[dict]:
    """Returns the claims that a claim about the largest number consists of."""
    least, most, inclusive = bounds_of(claim)
    reached = {"over": "some"} | ({"between": [least, math.inf]} if inclusive else {"above": least})
    kept = {"over": "every"} | ({"between": [-math.inf, most]} if inclusive else {"below": most})
    return [part for part, bound in ((reached, least), (kept, most)) if math.isfinite(bound)]


def place_verdict(estimate: Estimate, claim: dict) -> str:
    verdict = _of_interval(estimate, claim)
    return OPEN if verdict != OPEN and (_too_near(estimate, claim) or _too_narrow(estimate, claim)) else verdict


def _of_interval(estimate: Estimate, claim: dict) -> str:
    if not _bounded(estimate):
        return OPEN
    least, most, inclusive = bounds_of(claim)
    if inclusive:
        inside, outside = least <= estimate.low and estimate.high <= most, estimate.high < least or estimate.low > most
    else:
        inside, outside = least < estimate.low and estimate.high < most, estimate.high <= least or estimate.low >= most
    return HOLDS if inside else FAILS if outside else OPEN


def _bounded(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None


def _too_near(estimate: Estimate, claim: dict) -> bool:
    """Returns whether the estimate comes from few rounds and is less than a factor of LEAST_MARGIN away from a bound."""
    return bool(estimate.rounds) and abs(margin(estimate, claim)) < math.log(LEAST_MARGIN)


def _too_narrow(estimate: Estimate, claim: dict) -> bool:
    """Returns whether the estimate comes from few rounds and no value within the bounds is LEAST_MARGIN away from both."""
    least, most, _ = bounds_of(claim)
    if not estimate.rounds or math.isinf(least) or math.isinf(most) or estimate.explained:
        return False
    width = (most - least) * estimate.span if estimate.span else math.log(most / least) if least > 0 else math.inf
    return width < 2 * math.log(LEAST_MARGIN) - 1e-9


def bounds_of(claim: dict) -> tuple[float, float, bool]:
    """Returns the bounds of the claim, and whether they belong to the range."""
    if "between" in claim:
        return claim["between"][0], claim["between"][1], True
    return claim.get("above", -math.inf), claim.get("below", math.inf), False


def margin(estimate: Estimate, claim: dict) -> float:
    """Returns the distance from the number to the nearer bound, negative if the number lies outside the bounds.

    The distance between positive numbers is the logarithm of their ratio, and between others their difference. For
    exponents, it is the logarithm of the factor by which the last value of the series changes. For `straight`, it is the
    logarithm of the ratio of the unexplained shares.
    """
    def distance(inner: float, outer: float) -> float:
        if math.isinf(inner) or math.isinf(outer) or (estimate.explained and outer >= 1):
            return math.inf
        if estimate.explained:
            return math.log((1 - inner) / (1 - outer))
        if estimate.span:
            return (outer - inner) * estimate.span
        return math.log(outer / inner) if inner > 0 and outer > 0 else outer - inner

    least, most, _ = bounds_of(claim)
    return min(distance(least, estimate.number), distance(estimate.number, most))


def _p(estimate: Estimate, claim: dict, verdict: str) -> float:
    """Returns the two-sided p-value for the verdict. A small p-value supports the verdict.

    For `holds`, the nearer bound counts. For `does not hold`, the violated bound counts.
    """
    if estimate.low == estimate.high is not None:  # an exact count
        return 0.0 if _of_interval(estimate, claim) == verdict else 1.0
    least, most, _ = bounds_of(claim)
    number = estimate.number
    if verdict == HOLDS:
        return max(_beyond(estimate, least), _beyond(estimate, most)) if least <= number <= most else 1.0
    return _beyond(estimate, least) if number < least else _beyond(estimate, most) if number > most else 1.0


def _beyond(estimate: Estimate, bound: float) -> float:
    """Returns the probability that a number lies so far from the bound by chance, if the bound is the true value."""
    if not _bounded(estimate):
        return 1.0
    if math.isinf(bound):
        return 0.0
    from scipy import stats

    factors = not estimate.span and min(estimate.low, bound) > 0
    number, low, high, bound = (math.log(each) if factors else each for each in (estimate.number, estimate.low, estimate.high, bound))
    half = (number - low if bound < number else high - number) or (high - low)
    freedom = (few_rounds.fewest((estimate.rounds, estimate.passes)) or _LEAST_ROUNDS) - 1
    return float(2 * stats.t.sf(abs(number - bound) / half * stats.t.ppf(0.975, freedom), freedom))


def corrected(ps: Sequence[float], tested: Sequence[bool]) -> list[float]:
    """Returns Holm's p-values for one family. A value that was not tested stays 1."""
    adjusted = numpy.ones(len(ps))
    chosen = numpy.flatnonzero(tested)
    order = chosen[numpy.argsort(numpy.asarray(ps)[chosen], kind="stable")]
    steps = numpy.asarray(ps)[order] * numpy.arange(len(order), 0, -1)
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate(steps)) if len(order) else []
    return adjusted.tolist()


def discoveries(ps: Sequence[float]) -> list[float]:
    """Returns the p-values adjusted by the method of Benjamini and Hochberg (J. R. Stat. Soc. B 57, 1995, 289-300). scipy
    before 1.11 lacks this method.
    """
    if not ps:
        return []
    order = numpy.argsort(ps, kind="stable")[::-1]
    steps = numpy.asarray(ps)[order] * len(ps) / numpy.arange(len(ps), 0, -1)
    adjusted = numpy.empty(len(ps))
    adjusted[order] = numpy.minimum(1, numpy.minimum.accumulate(steps))
    return adjusted.tolist()


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Returns the geometric mean of the estimates of all places.

    The paper chooses the places, so only the errors of the rounds make the interval. These errors are independent, so
    the squares of their logarithms add up. `spread` is the geometric standard deviation of the places.
    """
    from scipy import stats

    numbers = [estimate.number for estimate in estimates]
    if min(numbers) <= 0:
        raise UsageError("a claim needs the geometric mean of numbers that are not all positive")
    middle, place = float(stats.gmean(numbers)), f"mean of {len(estimates)}"
    spread = float(stats.gstd(numbers)) if len(numbers) > 1 else 0.0
    if any(not _bounded(estimate) or estimate.low <= 0 for estimate in estimates):
        return Estimate(middle, None, None, place, provisional=any(each.provisional for each in estimates), spread=spread)
    error = math.exp(math.sqrt(sum((math.log(each.high / each.low) / 2) ** 2 for each in estimates)) / len(estimates))
    return Estimate(middle, middle / error, middle * error, place, few_rounds.fewest([each.rounds for each in estimates]), spread=spread,
                    passes=few_rounds.fewest([each.passes for each in estimates]))


def _unsure(estimates: Sequence[Estimate], judged: Sequence[Estimate], claim: dict, lost: bool) -> str:
    narrow = any(_too_narrow(each, claim) for each in judged)
    near = 0 if narrow else sum(_blocking(judged, claim))
    told = [_without_interval(estimates),
            f"few rounds cannot confirm a band whose ends are less than {LEAST_MARGIN ** 2:g} times apart, so they do not refute it" if narrow else "",
            f"few rounds and a margin below {LEAST_MARGIN:g}{f' in {near} of {len(judged)}' if len(judged) > 1 else ''}" if near else "",
            "" if not lost else f"the majority of {len(judged)} places is not sure (Benjamini and Heller)" if claim.get("over") == "most" else
            f"no place is sure among {len(judged)} (Holm)"]
    return ", ".join(filter(None, told))


def _blocking(judged: Sequence[Estimate], claim: dict) -> list[bool]:
    """Returns for each place whether it blocks the verdict because it has few rounds and lies near a bound.

    Such a place blocks the verdict that the intervals alone support, if its own interval supports this verdict.
    """
    if claim.get("over") == "largest":
        supported = [_of_words([_of_interval(each, part) for each in judged], part) for part in _parts(claim)]
        wanted = FAILS if FAILS in supported else OPEN if OPEN in supported else HOLDS
        parts = [part for part, verdict in zip(_parts(claim), supported)
                 if verdict == wanted and _of_words([place_verdict(each, part) for each in judged], part) == OPEN]
        return [any(place) for place in zip(*(_blocking(judged, part) for part in parts))]
    supported = _of_words([_of_interval(each, claim) for each in judged], claim)
    return [supported != OPEN and _too_near(each, claim) and _of_interval(each, claim) == supported for each in judged]


def _of_words(verdicts: Sequence[str], claim: dict) -> str:
    """Returns the verdict that the verdicts of the places give without any correction."""
    if claim.get("over") == "most":
        return HOLDS if 2 * verdicts.count(HOLDS) > len(verdicts) else FAILS if 2 * verdicts.count(FAILS) >= len(verdicts) else OPEN
    alone, together = (HOLDS, FAILS) if claim.get("over") == "some" else (FAILS, HOLDS)
    return alone if alone in verdicts else together if set(verdicts) == {together} else OPEN


def _without_interval(estimates: Sequence[Estimate]) -> str:
    """Describes how many places have no interval, and how many are provisional."""
    without = [estimate for estimate in estimates if not _bounded(estimate)]
    doubtful = sum(estimate.provisional for estimate in without)
    counts = (("no interval", len(without) - doubtful), (provisional.WORD, doubtful))
    return ", ".join(word if len(estimates) == 1 else f"{word} in {number} of {len(estimates)}" if word != provisional.WORD else
                     f"{number} of {len(estimates)} places {word}" for word, number in counts if number)
