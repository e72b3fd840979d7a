"""Claims: sentences of a paper as predicates over stored results, each with a verdict. Together they are the ledger.

A claim names an effect (effects.py) and what it must be: `above`, `below` or `between`. The verdict follows from the
interval of the effect, not from its number: `holds` where all of the interval satisfies it, `does not hold` where none of
it does, `cannot tell` otherwise. A time of three to five rounds has an interval for verdicts alone (few_rounds.py), a provisional
value has none. With several places the claim must hold in every one, or, with `"over"`, in `some`, for the `largest`, or for their geometric `mean`. Only the
published forms are judged; the same effect of reworked forms and originals stands beside them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Collection, Sequence

from allocbench.errors import UsageError
from plots import effects, few_rounds, forms, grid, origin, originals, provisional, quantity, sides, unequal
from plots.effects import Estimate
from plots.results import Run

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell"
NOT_KNOWN = "not known"  # the cause
CONFIGS = sides.CONFIGS


@dataclass(frozen=True)
class Value:
    """An effect as a reader sees it, of the place which decides: of those with the verdict, the one nearest to the other."""

    text: str = "–"
    interval: str = "–"
    estimate: Estimate | None = None

    def __str__(self) -> str:
        return self.text if self.interval in ("–", "none") else f"{self.text} ({self.interval})"


@dataclass(frozen=True)
class Judged:
    """A row of the ledger. `published` is the value that the verdict is about."""

    says: str
    source: str
    wanted: str
    paper: str
    original: Value
    published: Value
    reworked: Value
    verdict: str
    why: str      # of `cannot tell`: what happened to the published form
    holds_in: str
    unsure: str   # of `cannot tell`: how many places have no interval, or are provisional
    few: str      # how many places were judged on three to five rounds
    cause: str    # of `does not hold`
    detail: str
    kind: str     # of the effect
    bounds: tuple[float | None, float | None]  # what the paper states as numbers; None: open to that side
    unequal: str  # what its allocators did not have alike

    def row(self) -> list[str]:
        told = self.why or ", ".join(text for text in (f"holds in {self.holds_in}" if self.holds_in else "", self.unsure, self.few) if text)
        return [f"{self.says} ({self.source})", self.paper, str(self.original), str(self.published), str(self.reworked),
                f"{self.verdict} ({told})" if told else self.verdict, self.unequal, self._cause_and_place()]

    def _cause_and_place(self) -> str:
        if self.cause and self.detail:
            return f"{self.cause.rstrip('.')}. Where: {self.detail}"
        return self.cause or self.detail

    def data(self) -> dict:
        return {"says": self.says, "source": self.source, "wanted": self.wanted, "paper": self.paper, "verdict": self.verdict,
                "why": self.why, "original": str(self.original), "published": str(self.published), "reworked": str(self.reworked),
                "holds_in": self.holds_in, "unsure": self.unsure, "few_rounds": self.few, "unequal": self.unequal, "cause": self.cause, "detail": self.detail}


def claims_of(run: Run, configs: Path = CONFIGS) -> list[dict]:
    """Those of the config of that name, which may be younger than the results; else those that were kept with them. A claim
    without a back end is about GPUs."""
    return _about(_config_of(run, configs), {run.backend})


def _config_of(run: Run, configs: Path) -> dict:
    path = configs / f"{run.name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else run.config


def _about(config: dict, backends: Collection[str]) -> list[dict]:
    return [claim for claim in config.get("claims", []) if claim.get("backend", "cuda") in backends and "not_judged" not in claim]


def _not_judged(run: Run, configs: Path) -> list[list[str]]:
    """Figure, sentence and reason of those that no result can judge."""
    return [[run.name, f"{claim['says']} ({claim['source']})", claim["not_judged"]] for claim in _config_of(run, configs).get("claims", [])
            if "not_judged" in claim and claim.get("backend", "cuda") == run.backend]


def judge(run: Run, claim: dict) -> Judged:
    kind = effects.kind_of(claim)
    run = few_rounds.bounded(run)
    try:
        found = effects.find(run, claim)
    except sides.FormNotMeasured:
        found = None
    write = quantity.formatter(found.metric, found.unit) if found and found.metric else _factor
    wanted = _wanted(claim, write)
    told = dict(says=claim["says"], source=claim["source"], wanted=wanted, paper=_stated(claim, write) or wanted, kind=kind, bounds=_bounds(claim), unequal=_unequal(run, claim),
                original=_original(run, claim, write), reworked=_value_of(run, claim, forms.REWORKED, write))
    if found is None:
        return Judged(**told, published=Value(), verdict=OPEN, why="published form not measured", holds_in="", unsure="", few="", cause="", detail="")
    skipped = f"{found.without_value} without a value" if found.without_value else ""
    if not found.estimates:
        fails = found.compared and not found.without_value
        ended = effects.statuses(run, claim)
        why = "" if fails else f"published: {', '.join(ended)}" if ended else "not measured"
        return Judged(**told, published=Value(), verdict=FAILS if fails else OPEN, why=why, holds_in="", unsure="", few="",
                      cause=_cause(claim) if fails else "", detail="; ".join(text for text in ("no such point" if fails else "", skipped) if text))
    estimates = _judged_places(found, claim)
    verdicts = [_verdict(estimate, claim) for estimate in estimates]
    of_places = [_verdict(estimate, claim) for estimate in found.estimates]  # those of a mean are counted, too
    first, second = (HOLDS, FAILS) if claim.get("over") == "some" else (FAILS, HOLDS)  # one of the first decides, or all of the second
    verdict = first if first in verdicts else second if set(verdicts) == {second} else OPEN
    decisive = _decisive([estimate for estimate, each in zip(estimates, verdicts) if each == verdict], claim)
    numbers = [estimate.number for estimate in found.estimates]
    counted = f"{len(numbers)} places, {write(min(numbers))} to {write(max(numbers))}" if len(numbers) > 1 else ""
    detail = "; ".join(text for text in (decisive.place, counted, skipped) if text)
    return Judged(**told, published=_value(decisive, write), verdict=verdict, why="",
                  holds_in=f"{of_places.count(HOLDS)} of {len(of_places)}" if len(of_places) > 1 and any(each.low is not None for each in found.estimates) else "",
                  unsure=_without_interval(found.estimates) if verdict == OPEN else "",
                  few=few_rounds.sentence([estimate.rounds for estimate in found.estimates]), cause=_cause(claim) if verdict == FAILS else "", detail=detail)


def _unequal(run: Run, claim: dict) -> str:
    try:
        return unequal.told(run, [name for side in effects.sides_of(run, claim) for name in side.allocators])
    except sides.FormNotMeasured:
        return ""


def _without_interval(estimates: Sequence[Estimate]) -> str:
    """How many, and how many of these are provisional."""
    without = [estimate for estimate in estimates if estimate.low is None or estimate.high is None]
    doubtful = sum(estimate.provisional for estimate in without)
    counts = (("no interval", len(without) - doubtful), (provisional.WORD, doubtful))
    return ", ".join(word if len(estimates) == 1 else f"{word} in {number} of {len(estimates)}" if word != provisional.WORD else
                     f"{number} of {len(estimates)} places {word}" for word, number in counts if number)


def _judged_places(found: effects.Found, claim: dict) -> list[Estimate]:
    """The mean, or the place of the largest number, stands for all."""
    if claim.get("over") == "largest":
        return [max(found.estimates, key=lambda estimate: estimate.number)]
    return [_mean(found.estimates)] if claim.get("over") == "mean" else found.estimates


def _decisive(estimates: Sequence[Estimate], claim: dict) -> Estimate:
    return (max if claim.get("over") == "some" else min)(estimates, key=lambda estimate: _margin(estimate, claim))


def _value(estimate: Estimate, write) -> Value:
    return Value(provisional.marked(write(estimate.number), estimate.provisional), _interval(estimate, write), estimate)


def _value_of(run: Run, claim: dict, form: str, write) -> Value:
    """The effect that the claim is about, of another form of its allocators."""
    other = forms.claim_about(claim, effects.kind_of(claim), form, sides.known_to(run))
    if other is None:
        return Value()
    try:
        found = effects.find(run, other)
    except sides.FormNotMeasured:
        return Value()
    if not found.estimates:
        ended = effects.statuses(run, other)
        return Value(", ".join(ended) or "–")
    return _value(_decisive(_judged_places(found, other), other), write)


def _original(run: Run, claim: dict, write) -> Value:
    """Of the same run where it has originals; else what the data file says, marked as measured separately."""
    beside = _value_of(run, claim, forms.ORIGINAL, write)
    if beside.text != "–" or "original" not in claim:
        return beside
    number = originals.ratio(run.device.get("name", ""), claim["original"])
    if number is None:
        return Value()
    place = f"{claim['original']['phase']}, {quantity.in_bytes(claim['original']['request_bytes'])}"
    return Value(f"{write(number)} (separately: {place})", "–", Estimate(number, None, None, place))


def _stated(claim: dict, write) -> str:
    stated = claim.get("paper")
    return "" if stated is None else f"{write(stated[0])} to {write(stated[1])}" if isinstance(stated, list) else write(stated)


def _bounds(claim: dict) -> tuple[float | None, float | None]:
    stated = claim.get("paper", claim.get("between"))
    if stated is None:
        return claim.get("above"), claim.get("below")
    return (stated[0], stated[1]) if isinstance(stated, list) else (stated, stated)


def _cause(claim: dict) -> str:
    """With what shows it, where that is the hardware."""
    if "cause" not in claim:
        return NOT_KNOWN
    shown = f" ({claim['cause']['evidence']})" if "evidence" in claim["cause"] else ""
    return f"{claim['cause']['kind']}{shown}: {claim['cause']['because']}"


def _factor(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _wanted(claim: dict, write) -> str:
    if "between" in claim:
        return f"{write(claim['between'][0])} to {write(claim['between'][1])}"
    return f"above {write(claim['above'])}" if "above" in claim else f"below {write(claim['below'])}"


def _verdict(estimate: Estimate, claim: dict) -> str:
    if estimate.low is None or estimate.high is None:
        return OPEN
    if "between" in claim:  # both ends included
        least, most = claim["between"]
        inside, outside = least <= estimate.low and estimate.high <= most, estimate.high < least or estimate.low > most
    else:
        least, most = _range(claim)
        inside, outside = least < estimate.low and estimate.high < most, estimate.high <= least or estimate.low >= most
    return HOLDS if inside else FAILS if outside else OPEN


def _range(claim: dict) -> tuple[float, float]:
    if "between" in claim:
        return claim["between"][0], claim["between"][1]
    return claim.get("above", -math.inf), claim.get("below", math.inf)


def _margin(estimate: Estimate, claim: dict) -> float:
    """How far the number is inside of what is wanted; by factors where numbers are positive."""
    def distance(inner: float, outer: float) -> float:
        if math.isinf(inner) or math.isinf(outer):
            return math.inf
        return math.log(outer / inner) if inner > 0 and outer > 0 else outer - inner

    least, most = _range(claim)
    return min(distance(least, estimate.number), distance(estimate.number, most))


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Geometric; errors of the places are independent, so the squares of their logarithms add up."""
    if min(estimate.number for estimate in estimates) <= 0:
        raise UsageError("a claim asks for the geometric mean of numbers that are not all positive")
    middle = sum(math.log(estimate.number) for estimate in estimates) / len(estimates)
    place = f"mean of {len(estimates)}"
    if any(estimate.low is None or estimate.high is None or estimate.low <= 0 for estimate in estimates):
        return Estimate(math.exp(middle), None, None, place, provisional=any(each.provisional for each in estimates))
    spread = math.sqrt(sum((math.log(each.high / each.low) / 2) ** 2 for each in estimates)) / len(estimates)
    return Estimate(math.exp(middle), math.exp(middle - spread), math.exp(middle + spread), place,
                    few_rounds.fewest([each.rounds for each in estimates]))


def _interval(estimate: Estimate, write) -> str:
    if estimate.low is None or estimate.high is None:
        return "none"
    return f"{write(estimate.low)} to {write(estimate.high)}"


HEADER = ("claim", "paper", "original", "published form", "reworked form", "verdict", "unequal", "cause, and where")
_INTRODUCTION = """The ledger: sentences of the papers, and what the results say. The verdict is about the published form alone. `holds`: the whole interval of the effect is as the paper says; `does not hold`: none of it is; `cannot tell`: in between, without a number, or without an interval. {few_rounds} ([what it covers](../../../docs/methodology-measurement.md#claims-about-few-rounds)). `unequal`: pool, state or workload that the config overrides for some of the sentence's allocators. The last column names the place that decides. Under the verdict `does not hold` the cause comes first: `hardware` has changed, with what shows it (a count, a profile, a derivation), the `test` differs from the paper's, the paper has a `published error`, the sentence is `stronger` than what the paper shows, or `ours` is not good enough; else it is `not known`, with what is seen. Absolute figures of old GPUs are not judged. Originals were measured "separately", one request for each of 100,000 threads, where they come from [data/originals](../../../data/originals). Written by `python3 -m plots claims`, which plots/README.md explains."""


def table(judged: Sequence[Judged]) -> str:
    return grid.markdown(grid.Grid(HEADER, [each.row() for each in judged], aligned_left=len(HEADER)))


def explained_table(judged: Sequence[Judged]) -> str:
    """For pages without the introduction."""
    note = f"\n{few_rounds.EXPLAINED} (docs/methodology-measurement.md).\n" if any(each.few for each in judged) else ""
    return table(judged) + note


def section(run: Run) -> str:
    """The claims about one run, for the page of its figure; empty where it has none."""
    judged = [judge(run, claim) for claim in claims_of(run)]
    return f"\n## What the paper says\n\n{explained_table(judged)}" if judged else ""


@dataclass(frozen=True)
class Ledger:
    """All claims over some runs: those of each run that has any. `missing`: configs of the same papers without a run, and how
    many claims they make. `not_judged`: what no result can judge."""

    runs: list[tuple[Run, list[Judged]]]
    missing: dict[str, int] = field(default_factory=dict)
    not_judged: list[list[str]] = field(default_factory=list)

    def markdown(self) -> str:
        parts = ["# Claims of the papers, judged by these results", _INTRODUCTION.format(few_rounds=few_rounds.EXPLAINED), *filter(None, [self.cards()]), self._counts()]
        for run, judged in self.runs:
            parts.append(f"## {run.name}\n\n{run.config.get('paper', '')}. {origin.lines(run)[0]}, {run.date}.")
            parts.append(table(judged))
        if self.not_judged:
            parts += ["## Not judged", grid.markdown(grid.Grid(("figure", "sentence", "why no result can judge it"), self.not_judged, aligned_left=3))]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def cards(self) -> str:
        """What was measured on which card; empty where all share one. Runs whose log names no card are left out. A paper on a single card
        is named without its figures."""
        figures: dict[str, dict[str, list[str]]] = {}  # by paper and card
        for run, _ in self.runs:
            if card := run.device.get("uuid"):
                paper, _, figure = run.name.partition("/")
                figures.setdefault(paper, {}).setdefault(card, []).append(figure)
        cards = list(dict.fromkeys(card for of_paper in figures.values() for card in of_paper))
        if len(cards) < 2:
            return ""
        groups = [_listed([f"{paper} ({_listed(of_paper[card])})" if len(of_paper) > 1 else paper for paper, of_paper in figures.items() if card in of_paper])
                  for card in cards]
        told = "; ".join(f"card {number}: {group}" for number, group in enumerate(groups, 1))
        return (f"These results were measured on {len(cards)} different cards. {told[0].upper()}{told[1:]}. Each claim is judged by one run, so its ratios "
                "are those of one card. Do not compare times of different cards.")

    def data(self) -> list[dict]:
        return [{"figure": run.name, "backend": run.backend, "device": run.device.get("name", ""), **each.data()}
                for run, judged in self.runs for each in judged]

    def _counts(self) -> str:
        verdicts = [each.verdict for _, judged in self.runs for each in judged]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in (HOLDS, FAILS, OPEN)) + "."
        if not self.missing:
            return counts
        names = ", ".join(f"{name} ({number})" for name, number in self.missing.items())
        return f"{counts} Not judged, because these results have no cell of them: {names}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def ledger(runs: Sequence[Run], configs: Path = CONFIGS) -> Ledger:
    judged = [(run, [judge(run, claim) for claim in claims_of(run, configs)]) for run in runs]
    return Ledger([(run, each) for run, each in judged if each], _missing(runs, configs), [row for run in runs for row in _not_judged(run, configs)])


def _missing(runs: Sequence[Run], configs: Path) -> dict[str, int]:
    names, backends = {run.name for run in runs}, {run.backend for run in runs}
    missing = {}
    for paper in sorted({name.split("/")[0] for name in names if "/" in name}):
        for path in sorted((configs / paper).glob("*.json")):
            number = len(_about(json.loads(path.read_text(encoding="utf-8")), backends))
            if number and f"{paper}/{path.stem}" not in names:
                missing[f"{paper}/{path.stem}"] = number
    return missing
