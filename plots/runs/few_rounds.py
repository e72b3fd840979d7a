"""This module adds the t intervals that results.json has for times of three to five rounds, for verdicts on claims and on Comb's
points.

Figures of times do not draw these intervals, because the intervals assume a distribution of the processes' times
(docs/methodology-measurement.md, "Claims about few rounds").

A count whose passes differ, such as the steps of a random walk, also gets a t interval here: that of the mean over its
passes. Other counts are exact and need no interval.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Sequence

import pandas

from plots.runs.results import Run

EXPLAINED = ("`few rounds` and \"judged on 3 rounds\" mean that a cell has three to five rounds. Its t interval assumes a distribution of the times of "
             "processes, and figures do not show this interval. A value within a factor of 1.5 of the paper's bound decides nothing")
MARK = "†"  # mark of a verdict in a picture
MARKED = f"{MARK}: judged on three to five rounds; the t interval is shown (docs/methodology-measurement.md)."
COLUMN = "few_rounds"  # column with the number of rounds of a t interval
_RATES = ("op/s", "B/s")


def bounded(run: Run) -> Run:
    """Returns the same run with t intervals. The intervals also apply to metrics that are proportional to a time or to
    its inverse.
    """
    if COLUMN in run.values:
        return run
    entries = {(cell, phase["name"]): phase["few_rounds"] for cell, entry in run.details.items() for phase in entry.get("phases", [])
               if phase.get("few_rounds", {}).get("low") is not None}
    table = run.values[["cell", "phase", "metric", "unit", "value", "low", "high"]]
    times = {(row.cell, row.phase): row.value for row in table.itertuples() if row.metric == "time"}
    made = []
    for row in table.itertuples():
        low, high, rounds, key = row.low, row.high, math.nan, (row.cell, row.phase)
        if key in entries and math.isnan(low) and row.unit in ("s", *_RATES):
            few = entries[key]
            low, high = few["low"] / times[key], few["high"] / times[key]
            low, high = (1 / high, 1 / low) if row.unit in _RATES else (low, high)
            low, high, rounds = row.value * low, row.value * high, len(few["values"])
        elif not row.phase and math.isnan(low):
            low, high = _of_passes(passes(run, row.cell, row.metric))
        made.append((low, high, rounds))
    bounds = pandas.DataFrame(made, columns=["low", "high", COLUMN], index=run.values.index, dtype=float)
    return dataclasses.replace(run, values=run.values.assign(**{name: bounds[name] for name in bounds}))


def passes(run: Run, cell: str, metric: str) -> Sequence[float]:
    """Returns the counts of the cell's passes, or nothing if the metric is not counted in passes."""
    return run.details.get(cell, {}).get("counted", {}).get("values", {}).get(metric, ())


def of_same_passes(counts: Sequence[float], others: Sequence[float]) -> tuple[float, float] | None:
    """Returns the 95 % t interval of the ratio of two means of the same passes, or None if there are fewer than two.

    What a pass adds to both counts cancels out, so this interval is narrower than that of independent counts.
    """
    if len(counts) < 2 or len(counts) != len(others) or statistics.fmean(others) <= 0:
        return None
    from scipy import stats

    ratio = statistics.fmean(counts) / statistics.fmean(others)
    rests = [count - ratio * other for count, other in zip(counts, others)]
    half = float(stats.t.ppf(0.975, len(counts) - 1)) * statistics.stdev(rests) / math.sqrt(len(counts)) / statistics.fmean(others)
    return ratio - half, ratio + half


def _of_passes(counts: Sequence[float]) -> tuple[float, float]:
    """Returns the 95 % t interval of the mean, but no smaller numbers than the smallest count, because a count is not
    negative. Returns NaN if the counts do not differ.
    """
    if len(set(counts)) < 2:
        return math.nan, math.nan
    from scipy import stats

    low, high = stats.t.interval(0.95, len(counts) - 1, loc=statistics.fmean(counts), scale=statistics.stdev(counts) / math.sqrt(len(counts)))
    return max(float(low), min(counts)), float(high)


def fewest(numbers: Sequence[int]) -> int:
    """Returns the fewest rounds among the parts of an estimate that have few rounds, or 0 if no part has."""
    return min((number for number in numbers if number), default=0)


def sentence(rounds: Sequence[int]) -> str:
    """Returns how many places of a claim were judged on few rounds, or an empty text if none was.

    `rounds` has a number per place, 0 for a place with enough rounds.
    """
    few = sorted(number for number in rounds if number)
    if not few:
        return ""
    told = f"{few[0]}" if few[0] == few[-1] else f"{few[0]} to {few[-1]}"
    return f"judged on {told} rounds" if len(rounds) == 1 else f"{len(few)} of {len(rounds)} places judged on {told} rounds"
