"""This module judges claims. A claim is a sentence of a paper, written as a predicate over stored results. All claims together are
the ledger.

A claim names an effect (effects.py) and its bounds: `above`, `below` or `between`. The verdict follows from the
interval of the effect (verdicts.py). A time of three to five rounds has an interval for verdicts alone (few_rounds.py).
A provisional value has no interval.

A place is one combination of allocators and settings. Without `"over"`, a claim must hold in every place. With it, the
claim must hold in `most` places, in `some`, for the `largest` number, or for the geometric `mean`. Only published forms
are judged. The ledger also shows the same effect for reworked forms and originals.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Collection, Sequence

from plots.ledger import effects, originals, sides, unequal, verdicts
from plots.ledger.effects import Estimate
from plots.runs import few_rounds, forms, labels, origin, passes
from plots.runs.configs import FOLDER, named
from plots.runs.results import Run
from plots.sheet import grid, provisional, quantity

NOTE = "note"
NOTE_ON_TEST = f"{NOTE} (our test differs)"
HOLDS, FAILS, OPEN = verdicts.HOLDS, verdicts.FAILS, verdicts.OPEN
# The sentence fails because the experiment differs from the paper's. This says nothing about the paper.
DIFFERS = "experiment differs"
VERDICTS = (HOLDS, FAILS, DIFFERS, OPEN)
OWN_TEST = "test of ours"  # words in a sentence that the paper does not state; its cause, if it has one, is of the kind `test`
NOT_KNOWN = "not known"  # cause in the ledger if the claim names none


@dataclass(frozen=True)
class Value:
    """An effect in words, for the place that decides."""

    text: str = "–"
    interval: str = "–"
    estimate: Estimate | None = None

    def __str__(self) -> str:
        return self.text if self.interval in ("–", "none") else f"{self.text} ({self.interval})"


@dataclass(frozen=True)
class Judged:
    """A judged claim is a row of the ledger. The verdict is about the value `published`."""

    says: str
    source: str
    wanted: str
    paper: str
    original: Value
    published: Value
    reworked: Value
    verdict: str
    why: str      # reason for `cannot tell` if the published form gave no number or must be measured again
    holds_in: str
    # What keeps the places from a verdict, in words, if the verdict is `cannot tell`: no interval, provisional values,
    # few rounds or Holm's correction.
    unsure: str
    few: str      # how many places were judged on three to five rounds, in words
    cause: str    # cause of `does not hold` and `experiment differs`; with another verdict the sentence of the cause is a note
    detail: str
    kind: str     # kind of the effect
    bounds: tuple[float | None, float | None]  # the paper's numbers, or our bounds if it states none; None for an open side
    unequal: str  # settings that differ between the claim's allocators
    p: float | None = None  # p-value of the verdict, corrected within the claim; None without an interval
    ours: bool = False  # whether the bounds are ours, because the paper states no number

    @property
    def marked(self) -> str:
        """Returns the verdict, with a mark if it comes from few rounds."""
        return f"{self.verdict}, few rounds" if self.few and self.verdict != OPEN else self.verdict

    def row(self) -> list[str]:
        told = self.why or ", ".join(text for text in (f"holds in {self.holds_in}" if self.holds_in else "", self.unsure, self.few) if text)
        return [f"{self.says} ({self.source})", self.paper, str(self.original), str(self.published), str(self.reworked),
                f"{self.marked} ({told})" if told else self.marked, self.unequal, self._cause_and_place()]

    def _cause_and_place(self) -> str:
        if self.cause and self.detail:
            return f"{self.cause.rstrip('.')}. Where: {self.detail}"
        return self.cause or self.detail

    def data(self) -> dict:
        return {"says": self.says, "source": self.source, "wanted": self.wanted, "paper": self.paper, "verdict": self.verdict, "p": None if self.p is None else float(f"{self.p:.2g}"),
                "why": self.why, "original": str(self.original), "published": str(self.published), "reworked": str(self.reworked),
                "holds_in": self.holds_in, "unsure": self.unsure, "few_rounds": self.few, "unequal": self.unequal, "cause": self.cause, "detail": self.detail}


def claims_of(run: Run, configs: Path = FOLDER) -> list[dict]:
    """Returns the claims about the run's back end that results can judge.

    They come from the current config of the run's name, which may be newer than the results. If there is none, they come
    from the stored config. A claim without a back end is about GPUs.
    """
    return _about(_config_of(run, configs), {run.backend})


def _config_of(run: Run, configs: Path) -> dict:
    return named(run.name, configs) or run.config


def _about(config: dict, backends: Collection[str]) -> list[dict]:
    return [claim for claim in config.get("claims", []) if claim.get("backend", "cuda") in backends and "not_judged" not in claim]


def _not_judged(run: Run, configs: Path) -> list[list[str]]:
    """Returns the figure, the sentence and the reason of each claim that no result can judge."""
    return [[run.name, f"{claim['says']} ({claim['source']})", claim["not_judged"]] for claim in _config_of(run, configs).get("claims", [])
            if "not_judged" in claim and claim.get("backend", "cuda") == run.backend]


def _judged(run: Run, configs: Path = FOLDER) -> list[Judged]:
    claims = claims_of(run, configs)
    bounded = few_rounds.bounded(run) if claims else run
    today = _config_of(run, configs)
    return [_of_today(bounded, claim, judge(bounded, claim), today) for claim in claims]


def _of_today(run: Run, claim: dict, judged: Judged, today: dict) -> Judged:
    """Replaces the verdict by `cannot tell` if the results are too old for the sentence. They are too old if they come
    from older code of a form. They are also too old if the current config has another heap state, or equal pools
    instead of different ones, for the sentence's allocators.
    """
    changed = _older_code(run, claim) or unequal.to_measure(run, today, _allocators_of(run, claim)) if judged.verdict != OPEN or judged.published.estimate else ""
    return dataclasses.replace(judged, verdict=OPEN, p=None, why=changed, holds_in="", unsure="", few="", cause="") if changed else judged


def _older_code(run: Run, claim: dict) -> str:
    """Returns why the numbers of this claim must be measured again, if the run has one of the claim's older revisions."""
    older = claim.get("older_code", {"revisions": [], "because": ""})
    return f"{older['because']}: to be measured again" if set(older["revisions"]) & set(run.provenance.get("measured_revisions", [])) else ""


def void(run: Run, allocators: Collection[str], configs: Path = FOLDER) -> str:
    """Returns why numbers about these allocators must be measured again, or an empty text. `older_code` of a claim counts only
    if all allocators of the claim are among these.
    """
    of_claims = [(set(_allocators_of(run, claim)), _older_code(run, claim)) for claim in claims_of(run, configs) if "older_code" in claim]
    return next((why for names, why in of_claims if why and names and names <= set(allocators)), "") or unequal.to_measure(run, _config_of(run, configs), list(allocators))


def judge(run: Run, claim: dict) -> Judged:
    kind = effects.kind_of(claim)
    run = few_rounds.bounded(run)
    try:
        found = effects.find(run, claim)
    except sides.FormNotMeasured:
        found = None
    write = quantity.formatter(found.metric, found.unit) if found and found.metric else _factor
    wanted = _wanted(claim, write)
    told = dict(says=claim["says"], source=claim["source"], wanted=wanted, paper=_stated(claim, write, wanted), kind=kind, bounds=_bounds(claim), ours="paper" in claim and claim["paper"] is None, unequal=_unequal(run, claim),
                original=_original(run, claim, write), reworked=_value_of(run, claim, forms.REWORKED, write))
    if found is None:
        return Judged(**told, published=Value(), verdict=OPEN, why="published form not measured", holds_in="", unsure="", few="", cause="", detail="")
    nulls = effects.with_nulls(run, claim)
    skipped = "; ".join(filter(None, [f"{found.without_value} without a value" if found.without_value else "",
                                      f"{nulls} {'cells' if nulls > 1 else 'cell'} left out: requests got null" if nulls else ""]))
    if not found.estimates:
        fails = found.compared and not found.without_value
        ended = effects.statuses(run, claim)
        why = "" if fails else f"published: {', '.join(ended)}" if ended else "requests got null" if nulls else "not measured"
        return Judged(**told, published=Value(), verdict=_failed(claim) if fails else OPEN, why=why, holds_in="", unsure="", few="",
                      cause=_cause(claim) if fails else "", detail="; ".join(text for text in ("no such point" if fails else "", skipped) if text))
    decision = verdicts.decide(found.estimates, claim)
    bounded = any(each.low is not None for each in found.estimates)
    return Judged(**told, published=_value(decision.shown, write), verdict=_failed(claim) if decision.verdict == FAILS else decision.verdict, why="", p=decision.p if bounded else None,
                  holds_in=f"{decision.places.count(HOLDS)} of {len(decision.places)}" if len(decision.places) > 1 and bounded else "",
                  unsure=decision.unsure, few=few_rounds.sentence([estimate.rounds for estimate in found.estimates]),
                  cause=_cause(claim) if decision.verdict == FAILS else _note(claim), detail=_detail(decision, found, write, skipped))


def _failed(claim: dict) -> str:
    return DIFFERS if claim.get("cause", {}).get("kind") == "test" else FAILS


def _detail(decision: verdicts.Decision, found: effects.Found, write, skipped: str) -> str:
    """Describes the deciding place, the worst place and the range of all numbers."""
    numbers, worst = [estimate.number for estimate in found.estimates], decision.worst
    counted = f"{len(numbers)} places, {write(min(numbers))} to {write(max(numbers))}" if len(numbers) > 1 else ""
    return "; ".join(filter(None, (decision.shown.place, f"worst {write(worst.number)} ({worst.place})" if worst else "", counted, skipped)))


def _unequal(run: Run, claim: dict) -> str:
    counted = any(passes.of(run, cell, side.metric) for side in _sides_of(run, claim) for cell in run.cells.index[run.cells["allocator"].isin(side.allocators)])
    return unequal.told(run, _allocators_of(run, claim), counted)


def _allocators_of(run: Run, claim: dict) -> list[str]:
    return [name for side in _sides_of(run, claim) if not side.pooled for name in side.allocators]


def _sides_of(run: Run, claim: dict) -> list[sides.Side]:
    try:
        return effects.sides_of(run, claim)
    except sides.FormNotMeasured:
        return []


def _value(estimate: Estimate, write) -> Value:
    return Value(provisional.marked(write(estimate.number), estimate.provisional), _interval(estimate, write), estimate)


def _value_of(run: Run, claim: dict, form: str, write) -> Value:
    """Returns the effect of the claim for another form of its allocators."""
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
    return _value(verdicts.deciding(found.estimates, other), write)


def _original(run: Run, claim: dict, write) -> Value:
    """Returns the value of the originals in the same run. Without one, it returns the value from data/originals, marked
    as measured separately.
    """
    beside = _value_of(run, claim, forms.ORIGINAL, write)
    if beside.text != "–" or "original" not in claim:
        return beside
    number = originals.ratio(run.device.get("name", ""), claim["original"])
    if number is None:
        return Value()
    place = f"{claim['original']['phase']}, {quantity.in_bytes(claim['original']['request_bytes'])}"
    return Value(f"{write(number)} (separately: {place})", "–", Estimate(number, None, None, place))


def _stated(claim: dict, write, wanted: str) -> str:
    """Returns what the paper states: the claim's key `paper`, or the bounds of a claim that lacks this key. If the key
    is null, the paper states no number and the result is `–`.
    """
    stated = claim.get("paper", wanted)
    return "–" if stated is None else f"{write(stated[0])} to {write(stated[1])}" if isinstance(stated, list) else stated if isinstance(stated, str) else write(stated)


def _bounds(claim: dict) -> tuple[float | None, float | None]:
    stated = claim.get("between") if claim.get("paper") is None else claim["paper"]
    if stated is None:
        return claim.get("above"), claim.get("below")
    return (stated[0], stated[1]) if isinstance(stated, list) else (stated, stated)


def _cause(claim: dict) -> str:
    """Returns the cause in words, with its evidence if there is any."""
    if "cause" not in claim:
        return NOT_KNOWN
    shown = f" ({claim['cause']['evidence']})" if "evidence" in claim["cause"] else ""
    return f"{claim['cause']['kind']}{shown}: {claim['cause']['because']}"


def _note(claim: dict) -> str:
    """Returns the sentence of the cause for a claim that does not fail. It describes our experiment or single places."""
    if "cause" not in claim:
        return ""
    return f"{NOTE_ON_TEST if claim['cause']['kind'] == 'test' and OWN_TEST not in claim['says'] else NOTE}: {claim['cause']['because']}"


def _factor(number: float) -> str:
    return quantity.count(number)


def _wanted(claim: dict, write) -> str:
    if "between" in claim:
        return f"{write(claim['between'][0])} to {write(claim['between'][1])}"
    return f"above {write(claim['above'])}" if "above" in claim else f"below {write(claim['below'])}"


def _interval(estimate: Estimate, write) -> str:
    if estimate.low is None or estimate.high is None:
        return "none"
    spread = f"; places ×/÷ {_factor(estimate.spread)}" if estimate.spread else ""
    return f"{write(estimate.low)} to {write(estimate.high)}{spread}"


HEADER = ("claim", "paper", "original", "published form", "reworked form", "verdict", "unequal", "cause, and where")
_INTRODUCTION = """This page judges sentences of the papers by these results. The verdict is about the published form alone. A sentence that several figures judge has a row for each of them, and the totals count rows.

* **paper**: the paper's value. If the paper gives no number, the sentence has our bounds in parentheses.
* **verdict**: `holds` if the whole interval agrees with the sentence, and `does not hold` if no part of it agrees. `experiment differs` replaces `does not hold` if our test differs from the paper's test, because the result then says nothing about the paper. `cannot tell` covers all other cases, for example: part of the interval agrees, the value or the interval is missing, the results come from older code of a form, or the current config has another heap state or equal pools instead of different ones.
* **places**: a sentence about every place holds if it holds in each place. One place can decide against it, or for a sentence about some place, if its verdict is sure after Holm's correction for all places of the sentence. "holds in N of M" counts the places whose own verdict is `holds`, without this correction. The interval of a mean comes from its rounds. `places ×/÷` is the geometric standard deviation of the places.
* **rounds**: {few_rounds} ([what the interval covers](../../../docs/methodology-measurement.md#claims-about-few-rounds)).
* **unequal**: the pool, state, workload, or number of warm-ups or samples that the config overrides for some allocators of the sentence.
* **cause**: `hardware` has changed (with a count, a profile or a derivation as evidence), the `test` differs from the paper's test, the paper has a `published error`, the sentence is `stronger` than the paper's evidence, `ours` is not good enough, or the cause is `not known`. After the cause the column names the place that decides, and the worst place.
* **original**: the authors' own code. "Separately" means that it was measured with one request for each of 100,000 threads ([data/originals](../../../data/originals)).

Times of cells in which requests got null do not count. Absolute numbers from old GPUs are not judged. Sentences of the survey (survey2021) are our wording of patterns in the data that its framework publishes. [Sentences without a claim](../../../docs/papers/sentences-without-a-claim.md) have a page of their own. `python3 -m plots claims` writes this page ([how](../../../plots/README.md#claims))."""


def table(judged: Sequence[Judged]) -> str:
    return grid.markdown(grid.Grid(HEADER, [each.row() for each in judged], aligned_left=len(HEADER)))


def section(run: Run) -> str:
    """Returns the claims about one run for the page of its figure, or an empty text if the run has no claims."""
    judged = _judged(run)
    note = f"\n{few_rounds.EXPLAINED} (docs/methodology-measurement.md).\n" if any(each.few for each in judged) else ""
    return f"\n## What the paper says\n\n{table(judged)}{note}" if judged else ""


@dataclass(frozen=True)
class Ledger:
    """A ledger has all claims about some runs. A run without claims is left out.

    `missing` has the configs of the same papers that have no run here, with their numbers of claims. `not_judged` has
    the claims that no result can judge.
    """

    runs: list[tuple[Run, list[Judged]]]
    missing: dict[str, int] = field(default_factory=dict)
    not_judged: list[list[str]] = field(default_factory=list)
    configs: Path = FOLDER

    def markdown(self) -> str:
        parts = ["# Claims of the papers, judged by these results", _INTRODUCTION.format(few_rounds=few_rounds.EXPLAINED), *filter(None, [self.cards()]), self._counts()]
        for run, judged in self.runs:
            changed = unequal.since(run, named(run.name, self.configs) or run.config)
            parts.append(f"## {run.name}\n\n{run.config.get('paper', '')}. {origin.lines(run)[0]}, {run.date}.{f' The current config differs: {changed}.' if changed else ''}")
            parts.append(table(judged))
        if self.not_judged:
            parts += ["## Not judged", grid.markdown(grid.Grid(("figure", "sentence", "why no result can judge it"), self.not_judged, aligned_left=3))]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def cards(self) -> str:
        """Returns which paper was measured on which card. The text is empty if there is only one card.

        Runs whose log names no card are left out. A paper that was measured on one card is named without its figures.
        """
        figures: dict[str, dict[str, list[str]]] = {}  # figures by paper and card
        for run, _ in self.runs:
            if card := run.device.get("uuid"):
                paper, _, figure = run.name.partition("/")
                figures.setdefault(paper, {}).setdefault(card, []).append(figure)
        cards = list(dict.fromkeys(card for of_paper in figures.values() for card in of_paper))
        if len(cards) < 2:
            return ""
        groups = [labels.together([f"{paper} ({labels.together(of_paper[card])})" if len(of_paper) > 1 else paper for paper, of_paper in figures.items() if card in of_paper])
                  for card in cards]
        told = "; ".join(f"card {number}: {group}" for number, group in enumerate(groups, 1))
        return (f"These results were measured on {len(cards)} different cards. {told[0].upper()}{told[1:]}. Each claim is judged by one run, so its ratios "
                "are those of one card. Do not compare times of different cards.")

    def data(self) -> list[dict]:
        lost = {id(each) for _, each in self._lost()}
        return [{"figure": run.name, "backend": run.backend, "device": run.device.get("name", ""), **each.data(), "stands": id(each) not in lost}
                for run, judged in self.runs for each in judged]

    def _counts(self) -> str:
        words = [each.verdict for _, judged in self.runs for each in judged]
        counts = ", ".join(f"{words.count(verdict)} {verdict}" for verdict in (HOLDS, FAILS, OPEN)) + "."
        counts += f" {DIFFERS.capitalize()}: {words.count(DIFFERS)}." if DIFFERS in words else ""
        few = sum(each.marked != each.verdict for _, judged in self.runs for each in judged)
        own = [each.verdict for _, judged in self.runs for each in judged if OWN_TEST in each.says]
        tests = ", ".join(f"{own.count(verdict)} {verdict}" for verdict in (HOLDS, FAILS, DIFFERS, OPEN) if verdict in own)
        other = sum(each.verdict == HOLDS and each.cause.startswith(NOTE_ON_TEST) for _, judged in self.runs for each in judged)
        names = ", ".join(f"{name} ({number})" for name, number in self.missing.items())
        return " ".join(filter(None, (counts, f"Not judged, because these results have no cell of them: {names}." if names else "",
                                      f"{len(own)} of these sentences are tests of ours that the papers do not state: {tests}." if own else "",
                                      f"For {other} of the sentences that hold, the test also differs from the paper's." if other else "",
                                      f"{few} of the verdicts rest on few rounds." if few else "", self.discoveries())))

    def _tested(self) -> list[tuple[Run, Judged]]:
        return [(run, each) for run, judged in self.runs for each in judged if each.p is not None]

    def _lost(self) -> list[tuple[Run, Judged]]:
        """Returns the verdicts that do not remain after the procedure of Benjamini and Hochberg. The p-values of all
        claims form one family.
        """
        tested = self._tested()
        adjusted = verdicts.discoveries([each.p for _, each in tested])
        return [(run, each) for (run, each), p in zip(tested, adjusted) if each.verdict != OPEN and p > verdicts.LEVEL]

    def discoveries(self) -> str:
        tested, lost = self._tested(), [f"{run.name} ({each.says})" for run, each in self._lost()]
        if not tested:
            return ""
        told = "there is no verdict to test" if all(each.verdict == OPEN for _, each in tested) else "all verdicts stand" if not lost else f"these do not stand: {'; '.join(lost)}"
        return f"At a false discovery rate of {100 * verdicts.LEVEL:g} % (Benjamini and Hochberg, over the {len(tested)} sentences with an interval) {told}."


def ledger(runs: Sequence[Run], configs: Path = FOLDER) -> Ledger:
    judged = [(run, _judged(run, configs)) for run in runs]
    return Ledger([(run, each) for run, each in judged if each], _missing(runs, configs), [row for run in runs for row in _not_judged(run, configs)], configs)


def _missing(runs: Sequence[Run], configs: Path) -> dict[str, int]:
    names, backends = {run.name for run in runs}, {run.backend for run in runs}
    missing = {}
    for paper in sorted({name.split("/")[0] for name in names if "/" in name}):
        for path in sorted((configs / paper).glob("*.json")):
            number = len(_about(json.loads(path.read_text(encoding="utf-8")), backends))
            if number and f"{paper}/{path.stem}" not in names:
                missing[f"{paper}/{path.stem}"] = number
    return missing
