"""Claims: sentences of a paper as predicates over stored results, each with a verdict.

A claim names an effect (effects.py) and what it must be: `above`, `below` or `between`. The verdict follows from the
interval of the effect, not from its number: `holds` where all of the interval satisfies it, `does not hold` where none of
it does, `cannot tell` otherwise. With several places the claim must hold in every one, or, with `"over"`, in `some`, or
for their geometric `mean`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from plots import effects, grid, origin, quantity
from plots.effects import Estimate
from plots.errors import UsageError
from plots.results import Run

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell"
CONFIGS = Path(__file__).resolve().parents[1] / "configs"


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict. `effect` is that of the place which decides: the one nearest to the other verdict."""

    says: str
    source: str
    wanted: str
    verdict: str
    effect: str
    interval: str
    detail: str

    def row(self) -> list[str]:
        return [self.says, self.source, self.verdict, f"{self.effect} ({self.wanted})", self.interval, self.detail]


def claims_of(run: Run, configs: Path = CONFIGS) -> list[dict]:
    """Those of the config of that name, which may be younger than the results; else those that were kept with them. A claim
    without a back end is about GPUs."""
    path = configs / f"{run.name}.json"
    config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else run.config
    return [claim for claim in config.get("claims", []) if claim.get("backend", "cuda") == run.backend]


def judge(run: Run, claim: dict) -> Judged:
    found = effects.find(run, claim)
    write = quantity.formatter(found.metric, found.unit) if found.metric else _factor
    wanted = _wanted(claim, write)
    skipped = f"{found.without_value} without a value" if found.without_value else ""
    if not found.estimates:
        reason = "no such point" if found.compared else "not measured"
        verdict = FAILS if found.compared and not found.without_value else OPEN
        return Judged(claim["says"], claim["source"], wanted, verdict, "–", "–",
                      "; ".join(text for text in (reason, skipped) if text))
    over = claim.get("over", "every")
    estimates = [_mean(found.estimates)] if over == "mean" else found.estimates
    verdicts = [_verdict(estimate, claim) for estimate in estimates]
    first, second = (HOLDS, FAILS) if over == "some" else (FAILS, HOLDS)  # one of the first decides, or all of the second
    verdict = first if first in verdicts else second if set(verdicts) == {second} else OPEN
    decisive = (max if over == "some" else min)(estimates, key=lambda estimate: _margin(estimate, claim))
    numbers = [estimate.number for estimate in found.estimates]
    counted = f"{len(numbers)} places, {write(min(numbers))} to {write(max(numbers))}" if len(numbers) > 1 else ""
    if len(estimates) > 1 and verdicts.count(HOLDS) < len(verdicts):
        counted += f", holds in {verdicts.count(HOLDS)}"
    detail = "; ".join(text for text in (decisive.place, counted, skipped) if text)
    return Judged(claim["says"], claim["source"], wanted, verdict, write(decisive.number), _interval(decisive, write), detail)


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
        return Estimate(math.exp(middle), None, None, place)
    spread = math.sqrt(sum((math.log(each.high / each.low) / 2) ** 2 for each in estimates)) / len(estimates)
    return Estimate(math.exp(middle), math.exp(middle - spread), math.exp(middle + spread), place)


def _interval(estimate: Estimate, write) -> str:
    if estimate.low is None or estimate.high is None:
        return "none"
    return f"{write(estimate.low)} to {write(estimate.high)}"


HEADER = ("claim", "source", "verdict", "effect (wanted)", "interval", "where")


def table(judged: Sequence[Judged]) -> str:
    return grid.markdown(grid.Grid(HEADER, [each.row() for each in judged], aligned_left=len(HEADER)))


def section(run: Run) -> str:
    """The claims about one run, for the page of its figure; empty where it has none."""
    judged = [judge(run, claim) for claim in claims_of(run)]
    return f"\n## What the paper says\n\n{table(judged)}" if judged else ""


def document(runs: Sequence[Run], configs: Path = CONFIGS) -> tuple[str, list[dict]]:
    """All claims over the runs as Markdown, and as data."""
    parts, data = ["# Claims of the papers, judged by these results"], []
    parts.append("`holds`: the whole interval of the effect is as the paper says; `does not hold`: none of it is; `cannot tell`: "
                 "in between, or not measured. Written by `python3 -m plots claims`, which plots/README.md explains.")
    for run in runs:
        judged = [judge(run, claim) for claim in claims_of(run, configs)]
        if not judged:
            continue
        parts.append(f"## {run.name}\n\n{run.config.get('paper', '')}. {origin.lines(run)[0]}, {run.date}.")
        parts.append(table(judged))
        data += [{"figure": run.name, "backend": run.backend, "device": run.device.get("name", ""), **vars(each)}
                 for each in judged]
    counts = {verdict: sum(each["verdict"] == verdict for each in data) for verdict in (HOLDS, FAILS, OPEN)}
    parts.insert(2, ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + ".")
    return "\n\n".join(part.rstrip() for part in parts) + "\n", data
