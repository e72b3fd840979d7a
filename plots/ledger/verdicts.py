"""Verdicts: what the intervals of an effect's places say about a sentence.

A place `holds` where all of its interval is as wanted, `does not hold` where none is. Where every place decides together no correction is needed;
where one place is enough, as for "somewhere", or against "everywhere", its p-value is Holm's for all places of the claim. p-values follow from
intervals: how many half-widths a bound lies from the number, as t with one degree of freedom less than there are rounds, of which an
interval that is not one of few rounds has six at least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy
import scipy.stats

from allocbench.errors import UsageError
from plots.ledger.effects import Estimate
from plots.runs import few_rounds
from plots.sheet import provisional

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell"
LEAST_MARGIN = 1.5  # a factor: nearer to what a paper says, few rounds decide nothing
LEVEL = 0.05
_LEAST_ROUNDS = 6   # of an interval that figures show


@dataclass(frozen=True)
class Decision:
    """The verdict about a claim; `places`: that of each estimate; `shown`: the one that decides; `p`: of the verdict, of the likelier one where neither is sure."""

    verdict: str
    places: list[str]
    shown: Estimate
    worst: Estimate | None  # of several places of which all count, the one farthest from what is wanted; None if that is `shown`
    p: float
    unsure: str             # of `cannot tell`: why, as far as places tell


def decide(estimates: Sequence[Estimate], claim: dict) -> Decision:
    over, judged = claim.get("over", "every"), _judged(estimates, claim)
    judge = {"largest": _largest, "most": _most}.get(over, lambda judged, claim: _together(judged, claim, over == "some"))
    verdict, p, lost = judge(judged, claim)
    alike = [each for each in judged if place_verdict(each, claim) == verdict]
    shown = _deciding(alike if alike and over != "largest" else judged, claim)
    worst = min(estimates, key=lambda each: margin(each, claim)) if over in ("every", "mean", "most") else shown
    return Decision(verdict, [place_verdict(each, claim) for each in estimates], shown, worst if worst.number != shown.number else None, p,
                    _unsure(estimates, judged, claim, lost) if verdict == OPEN else "")


def deciding(estimates: Sequence[Estimate], claim: dict) -> Estimate:
    """Of all places the worst, or the best where one is enough, the mean, or the largest number."""
    return _deciding(_judged(estimates, claim), claim)


def _judged(estimates: Sequence[Estimate], claim: dict) -> Sequence[Estimate]:
    return [mean(estimates)] if claim.get("over") == "mean" else estimates


def _deciding(judged: Sequence[Estimate], claim: dict) -> Estimate:
    if claim.get("over") == "largest":
        return max(judged, key=lambda each: each.number)
    return (max if claim.get("over") == "some" else min)(judged, key=lambda each: margin(each, claim))


def _together(estimates: Sequence[Estimate], claim: dict, some: bool) -> tuple[str, float, bool]:
    """The verdict, its p, and whether Holm's correction took it away."""
    verdicts = [place_verdict(each, claim) for each in estimates]
    first, second = (HOLDS, FAILS) if some else (FAILS, HOLDS)  # one of the first decides, or all of the second
    alone = corrected([_p(each, claim, first) if _bounded(each) else 1.0 for each in estimates], [_bounded(each) for each in estimates])
    all_of = max(_p(each, claim, second) for each in estimates)
    decided = [p for p, verdict in zip(alone, verdicts) if verdict == first]
    if decided and min(decided) <= LEVEL:
        return first, min(decided), False
    if set(verdicts) == {second}:
        return second, all_of, False
    return OPEN, min(*alone, all_of), bool(decided)


def _most(estimates: Sequence[Estimate], claim: dict) -> tuple[str, float, bool]:
    """Holds where more than half of the places do, and does not hold where more than half do not. The p of "at least k of n" is n - k + 1 times the
    k-th smallest (Benjamini & Heller, Biometrics 64, 2008, 1215-1222)."""
    verdicts, least = [place_verdict(each, claim) for each in estimates], len(estimates) // 2 + 1
    ps = {verdict: min(1.0, (len(estimates) - least + 1) * sorted(_p(each, claim, verdict) if _bounded(each) else 1.0 for each in estimates)[least - 1])
          for verdict in (HOLDS, FAILS)}
    found = next((verdict for verdict in ps if verdicts.count(verdict) >= least), None)
    if found and ps[found] <= LEVEL:
        return found, ps[found], False
    return OPEN, min(ps.values()), False


def _largest(estimates: Sequence[Estimate], claim: dict) -> tuple[str, float, bool]:
    """The largest number lies between two bounds where some place reaches the lower one and every place keeps to the upper one."""
    least, most, inclusive = bounds_of(claim)
    parts = [_together(estimates, {"between": [least, math.inf]} if inclusive else {"above": least}, True)] if least > -math.inf else []
    parts += [_together(estimates, {"between": [-math.inf, most]} if inclusive else {"below": most}, False)] if most < math.inf else []
    failed = [part for part in parts if part[0] == FAILS]
    if failed:
        return FAILS, min(p for _, p, _ in failed), False
    if all(part[0] == HOLDS for part in parts):
        return HOLDS, max(p for _, p, _ in parts), False
    return OPEN, max(p for _, p, _ in parts), any(lost for _, _, lost in parts)


def place_verdict(estimate: Estimate, claim: dict) -> str:
    verdict = _of_interval(estimate, claim)
    return OPEN if verdict != OPEN and _too_near(estimate, claim) else verdict


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
    """Whether few rounds stand behind an estimate that lies near to what a bound says."""
    return bool(estimate.rounds) and abs(margin(estimate, claim)) < math.log(LEAST_MARGIN)


def bounds_of(claim: dict) -> tuple[float, float, bool]:
    """The range that is wanted, and whether its ends belong to it."""
    if "between" in claim:
        return claim["between"][0], claim["between"][1], True
    return claim.get("above", -math.inf), claim.get("below", math.inf), False


def margin(estimate: Estimate, claim: dict) -> float:
    """How far the number is inside of what is wanted: the logarithm of a factor where numbers are positive; of an exponent, of the factor that
    it makes of the last value; of what a line explains, of the factor between what it leaves unexplained."""
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
    """Two-sided, of what speaks against the verdict: for `holds` the bound that is nearer, for `does not hold` the one that is not kept."""
    if estimate.low == estimate.high is not None:  # a count is what it is
        return 0.0 if _of_interval(estimate, claim) == verdict else 1.0
    least, most, _ = bounds_of(claim)
    number = estimate.number
    if verdict == HOLDS:
        return max(_beyond(estimate, least), _beyond(estimate, most)) if least <= number <= most else 1.0
    return _beyond(estimate, least) if number < least else _beyond(estimate, most) if number > most else 1.0


def _beyond(estimate: Estimate, bound: float) -> float:
    """How often a number as far from the bound comes by chance where the bound is the truth."""
    if not _bounded(estimate):
        return 1.0
    if math.isinf(bound):
        return 0.0
    factors = not estimate.span and min(estimate.low, bound) > 0
    number, low, high, bound = (math.log(each) if factors else each for each in (estimate.number, estimate.low, estimate.high, bound))
    half = (number - low if bound < number else high - number) or (high - low)
    freedom = (estimate.rounds or _LEAST_ROUNDS) - 1
    return float(2 * scipy.stats.t.sf(abs(number - bound) / half * scipy.stats.t.ppf(0.975, freedom), freedom))


def corrected(ps: Sequence[float], tested: Sequence[bool]) -> list[float]:
    """Holm's p-values of one family; what was not tested stays 1. Debian's scipy has none."""
    adjusted = numpy.ones(len(ps))
    chosen = numpy.flatnonzero(tested)
    order = chosen[numpy.argsort(numpy.asarray(ps)[chosen], kind="stable")]
    steps = numpy.asarray(ps)[order] * numpy.arange(len(order), 0, -1)
    adjusted[order] = numpy.minimum(1, numpy.maximum.accumulate(steps)) if len(order) else []
    return adjusted.tolist()


def discoveries(ps: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's p-values (J. R. Stat. Soc. B 57, 1995, 289-300); scipy has them from 1.11 on, Debian 12 has 1.10."""
    if not ps:
        return []
    order = numpy.argsort(ps, kind="stable")[::-1]
    steps = numpy.asarray(ps)[order] * len(ps) / numpy.arange(len(ps), 0, -1)
    adjusted = numpy.empty(len(ps))
    adjusted[order] = numpy.minimum(1, numpy.minimum.accumulate(steps))
    return adjusted.tolist()


def mean(estimates: Sequence[Estimate]) -> Estimate:
    """Geometric, over the paper's places: they are what they are, so errors of rounds make the interval (independent, so the squares of their
    logarithms add up), and the spread between places stands beside it."""
    numbers = [estimate.number for estimate in estimates]
    if min(numbers) <= 0:
        raise UsageError("a claim needs the geometric mean of numbers that are not all positive")
    middle, place = float(scipy.stats.gmean(numbers)), f"mean of {len(estimates)}"
    spread = float(scipy.stats.gstd(numbers)) if len(numbers) > 1 else 0.0
    if any(not _bounded(estimate) or estimate.low <= 0 for estimate in estimates):
        return Estimate(middle, None, None, place, provisional=any(each.provisional for each in estimates), spread=spread)
    error = math.exp(math.sqrt(sum((math.log(each.high / each.low) / 2) ** 2 for each in estimates)) / len(estimates))
    return Estimate(middle, middle / error, middle * error, place, few_rounds.fewest([each.rounds for each in estimates]), spread=spread)


def _unsure(estimates: Sequence[Estimate], judged: Sequence[Estimate], claim: dict, lost: bool) -> str:
    near = sum(_too_near(each, claim) and _of_interval(each, claim) != OPEN for each in judged)
    told = [_without_interval(estimates),
            f"few rounds and a margin below {LEAST_MARGIN:g}{f' in {near} of {len(judged)}' if len(judged) > 1 else ''}" if near else "",
            f"no place is sure among {len(judged)} (Holm)" if lost else ""]
    return ", ".join(filter(None, told))


def _without_interval(estimates: Sequence[Estimate]) -> str:
    """How many, and how many of these are provisional."""
    without = [estimate for estimate in estimates if not _bounded(estimate)]
    doubtful = sum(estimate.provisional for estimate in without)
    counts = (("no interval", len(without) - doubtful), (provisional.WORD, doubtful))
    return ", ".join(word if len(estimates) == 1 else f"{word} in {number} of {len(estimates)}" if word != provisional.WORD else
                     f"{number} of {len(estimates)} places {word}" for word, number in counts if number)
